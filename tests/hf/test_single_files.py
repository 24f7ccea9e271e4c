"""Checkpoints that are one file, as llama2.c and fairseq write them, without a config.json."""

import argparse
import decimal
import os
import struct

import pytest
import torch
import transformers

import locant
from locant import hf
from locant.hf.checkpoints.tiny import tiny_config
from locant.hf.checkpoints.tokenizer_files import load_tokenizer

IDS = torch.tensor([[5, 9, 7, 30, 8, 11, 6]])
PIECES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
PIECES += [*" abc", "ab", " ab", "abc"]


def logits(model):
    with torch.no_grad():
        return model(IDS).logits


def write_llama2c(file, *, tied):
    """A tiny Llama with grouped heads, written as llama2.c does; returns the model itself."""
    torch.manual_seed(0)
    rope = {"rope_type": "default", "rope_theta": 10_000.0}
    sizes = {"num_hidden_layers": 2, "vocab_size": 270, "rms_norm_eps": 1e-5}
    config = tiny_config("llama", **sizes, rope_parameters=rope, tie_word_embeddings=tied)
    model = transformers.LlamaForCausalLM(config).eval()
    layers = model.model.layers
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    assert heads != groups

    def interleaved(weight, count):
        return locant.permute_for_pairing(weight, heads=count, to="interleaved")

    parts = [
        model.model.embed_tokens.weight,
        *(layer.input_layernorm.weight for layer in layers),
        *(interleaved(layer.self_attn.q_proj.weight, heads) for layer in layers),
        *(interleaved(layer.self_attn.k_proj.weight, groups) for layer in layers),
        *(layer.self_attn.v_proj.weight for layer in layers),
        *(layer.self_attn.o_proj.weight for layer in layers),
        *(layer.post_attention_layernorm.weight for layer in layers),
        *(layer.mlp.gate_proj.weight for layer in layers),
        *(layer.mlp.down_proj.weight for layer in layers),
        *(layer.mlp.up_proj.weight for layer in layers),
        model.model.norm.weight,
        torch.full((config.max_position_embeddings * config.head_dim,), torch.nan),  # rotary
        *([] if tied else [model.lm_head.weight]),
    ]
    numbers = torch.cat([part.detach().flatten() for part in parts]).numpy().tobytes()
    vocabulary = config.vocab_size if tied else -config.vocab_size
    header = (config.hidden_size, config.intermediate_size, 2, heads, groups, vocabulary)
    file.write_bytes(struct.pack("<7i", *header, config.max_position_embeddings) + numbers)
    return model


def write_pieces(file):
    data = struct.pack("<i", 8)
    for number, piece in enumerate(PIECES):
        data += struct.pack("<fi", -float(number), len(piece)) + piece.encode()
    file.write_bytes(data)


@pytest.mark.parametrize("tied", [True, False])
def test_a_file_of_llama2c_computes_what_the_model_in_it_computed(tmp_path, tied):
    model = write_llama2c(tmp_path / "model.bin", tied=tied)
    found = hf.load(tmp_path / "model.bin")
    assert torch.equal(logits(found), logits(model))
    assert not found.training
    assert len(hf.read(found)) == 2


def test_the_tokenizer_of_llama2c_joins_the_pair_with_the_highest_score(tmp_path):
    file = tmp_path / "model.bin"
    write_llama2c(file, tied=True)
    with pytest.raises(ValueError, match=r"Put tok270\.bin or tokenizer\.bin into the folder"):
        load_tokenizer(file)
    write_pieces(tmp_path / "tok270.bin")
    with pytest.raises(ValueError, match="it holds 266 of 270 pieces"):
        load_tokenizer(file)
    PIECES.extend(["d", "e", "f", "g"])
    try:
        write_pieces(tmp_path / "tok270.bin")
    finally:
        del PIECES[-4:]
    tokenizer = load_tokenizer(file)
    ids = tokenizer("abc\nd")["input_ids"]  # " ab" comes before "abc", and a newline is a byte
    assert ids == [1, PIECES.index(" ab"), PIECES.index("c"), 3 + 10, 266]
    assert tokenizer.decode(ids, skip_special_tokens=True) == "abc\nd"


def test_other_bin_files_and_cut_ones_are_refused(tmp_path):
    file = tmp_path / "model.bin"
    write_llama2c(file, tied=True)
    whole = file.read_bytes()
    file.write_bytes(whole[:-4])
    with pytest.raises(ValueError, match=r"cut short: [\d,]+ bytes of [\d,]+"):
        hf.load(file)
    file.write_bytes(struct.pack("<i", 0x616B3432) + whole)
    with pytest.raises(ValueError, match="a later version, which is not read"):
        hf.load(file)
    for other in (whole + b"0000", b"", b"PK\x03\x04" + bytes(100)):
        file.write_bytes(other)
        with pytest.raises(ValueError, match=r"model\.bin is no checkpoint that can be opened"):
            hf.load(file)
    file.write_bytes(whole)
    with pytest.raises(ValueError, match=r"no config\.json.*\n.*holds model\.bin.*give it: .*bin"):
        hf.load(tmp_path)


def write_fairseq(file, *, joint=False, args=True):
    """A tiny RoBERTa, written as fairseq does; returns the model itself."""
    torch.manual_seed(0)
    sizes = {"num_hidden_layers": 2, "pad_token_id": 1, "type_vocab_size": 1}
    config = tiny_config("roberta", **sizes, layer_norm_eps=1e-5)
    model = transformers.RobertaForMaskedLM(config).eval()
    model.roberta.embeddings.token_type_embeddings.weight.data.zero_()
    for weight in model.parameters():
        weight.data.add_(0.1 * torch.randn(weight.shape) * (weight.abs().sum() > 0))
    own = model.state_dict()
    held = {
        "decoder.sentence_encoder.embed_tokens.weight": own[
            "roberta.embeddings.word_embeddings.weight"
        ],
        "decoder.sentence_encoder.embed_positions.weight": own[
            "roberta.embeddings.position_embeddings.weight"
        ],
        "decoder.lm_head.weight": own["lm_head.decoder.weight"],
        "decoder.lm_head.bias": own["lm_head.bias"],
        "decoder.version": torch.tensor([3.0]),
    }
    for kind in ("weight", "bias"):
        held[f"decoder.sentence_encoder.emb_layer_norm.{kind}"] = own[
            f"roberta.embeddings.LayerNorm.{kind}"
        ]
        held[f"decoder.lm_head.dense.{kind}"] = own[f"lm_head.dense.{kind}"]
        held[f"decoder.lm_head.layer_norm.{kind}"] = own[f"lm_head.layer_norm.{kind}"]
        for layer in range(2):
            old = f"roberta.encoder.layer.{layer}."
            new = f"decoder.sentence_encoder.layers.{layer}."
            q, k, v = (
                own[f"{old}attention.self.{name}.{kind}"] for name in ("query", "key", "value")
            )
            if joint:
                held[f"{new}self_attn.in_proj_{kind}"] = torch.cat([q, k, v])
            else:
                for letter, weight in zip("qkv", (q, k, v), strict=True):
                    held[f"{new}self_attn.{letter}_proj.{kind}"] = weight
            held[f"{new}self_attn.out_proj.{kind}"] = own[f"{old}attention.output.dense.{kind}"]
            held[f"{new}self_attn_layer_norm.{kind}"] = own[
                f"{old}attention.output.LayerNorm.{kind}"
            ]
            held[f"{new}fc1.{kind}"] = own[f"{old}intermediate.dense.{kind}"]
            held[f"{new}fc2.{kind}"] = own[f"{old}output.dense.{kind}"]
            held[f"{new}final_layer_norm.{kind}"] = own[f"{old}output.LayerNorm.{kind}"]
    named = argparse.Namespace(encoder_attention_heads=config.num_attention_heads)
    whole = {"args": named, "model": held} if args else held
    torch.save(whole, file)
    return model


@pytest.mark.parametrize("joint", [True, False])
def test_a_roberta_of_fairseq_computes_what_the_model_in_it_computed(tmp_path, joint):
    model = write_fairseq(tmp_path / "checkpoint.pt", joint=joint)
    found = hf.load(tmp_path / "checkpoint.pt")
    assert torch.equal(logits(found), logits(model))
    assert hf.first_position(found) == 2
    with pytest.raises(ValueError, match="with no tokenizer that transformers could open"):
        load_tokenizer(tmp_path / "checkpoint.pt")


def test_an_output_head_of_its_own_stays_its_own(tmp_path):
    file = tmp_path / "checkpoint.pt"
    write_fairseq(file)
    held = torch.load(file, weights_only=False)
    head = torch.randn_like(held["model"]["decoder.lm_head.weight"])
    held["model"]["decoder.lm_head.weight"] = head
    torch.save(held, file)
    found = hf.load(file)
    assert torch.equal(found.lm_head.decoder.weight, head)
    assert not torch.equal(found.get_input_embeddings().weight, head)


@pytest.mark.parametrize("thing", [os.system, pytest.Cache, decimal.Decimal(1)])
def test_objects_in_a_pickle_are_never_made(tmp_path, thing):
    file = tmp_path / "checkpoint.pt"
    torch.save({"args": thing, "model": {}}, file)
    with pytest.raises(ValueError, match=r"holds objects.*never unpickled here"):
        hf.load(file)


def test_other_pt_files_and_cut_ones_are_refused(tmp_path):
    file = tmp_path / "checkpoint.pt"
    write_fairseq(file, args=False)
    with pytest.raises(ValueError, match="holds weights, but not what model they belong to"):
        hf.load(file)
    write_fairseq(file)
    whole = file.read_bytes()
    for cut in (whole[: len(whole) // 2], b"", b"hello"):
        file.write_bytes(cut)
        with pytest.raises(ValueError, match="it is cut short, or no file of PyTorch"):
            hf.load(file)
    file.write_bytes(whole)
    held = torch.load(file, weights_only=False)
    held["args"].activation_fn = "relu"
    torch.save(held, file)
    with pytest.raises(ValueError, match="trained with the activation 'relu'"):
        hf.load(file)
    del held["args"].activation_fn
    held["model"]["decoder.sentence_encoder.layer_norm.weight"] = torch.ones(64)
    torch.save(held, file)
    with pytest.raises(ValueError, match=r"differs from a RoBERTa in 1 weights, roberta"):
        hf.load(file)
    del held["model"]["decoder.sentence_encoder.embed_positions.weight"]
    torch.save(held, file)
    with pytest.raises(ValueError, match="the only one that is read"):
        hf.load(file)
