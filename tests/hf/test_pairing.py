"""Which pairing weights have is said only where a text can tell."""

import pytest
import torch
import transformers

from locant import hf
from locant.hf.checkpoints.tiny import tiny_config
from locant.hf.reading.architectures import build_small


def test_random_weights_have_no_pairing():
    model = build_small(tiny_config("llama"))
    tokens = torch.randint(3, 90, (64,), generator=torch.Generator().manual_seed(0))
    seen = hf.pairing(model, tokens)
    assert (seen.pairing, seen.expected, seen.tokens) == (None, "half", 64)
    assert "cannot tell the pairings apart" in seen.message


def test_a_pairing_that_the_weights_learned_is_seen():
    """A tiny model is trained with its own, interleaved pairs on rows that repeat with a lag."""
    torch.manual_seed(0)
    model = build_small(tiny_config("cohere", num_hidden_layers=2)).train()
    rows = torch.randint(3, 90, (32, 8)).repeat(1, 3)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        model(input_ids=rows, labels=rows).loss.backward()
        optimizer.step()
    seen = hf.pairing(model.eval(), rows[0])
    assert (seen.pairing, seen.expected) == ("interleaved", "interleaved")
    assert seen.message.startswith("the weights have interleaved pairs, as the model runs them")


def test_a_model_without_pairs_and_a_short_text_are_refused():
    with pytest.raises(ValueError, match="gpt2 has no rotary encoding"):
        hf.pairing(build_small(tiny_config("gpt2")), list(range(3, 40)))
    with pytest.raises(ValueError, match="the text has 5 tokens; at least 16 are needed"):
        hf.pairing(build_small(tiny_config("llama")), [3, 4, 5, 6, 7])


def test_dropout_has_no_part_in_the_scores_and_the_mode_comes_back():
    model = build_small(tiny_config("llama", attention_dropout=0.5))
    tokens = torch.randint(3, 90, (64,), generator=torch.Generator().manual_seed(0))
    wanted = hf.pairing(model, tokens)
    model.train()
    model.lm_head.eval()
    assert hf.pairing(model, tokens) == wanted
    assert model.model.layers[0].training
    assert not model.lm_head.training


def test_a_model_without_values_is_refused():
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(tiny_config("llama"))
    with pytest.raises(ValueError, match=r"pairing runs the model, but .* on the meta device"):
        hf.pairing(model, list(range(3, 40)))
