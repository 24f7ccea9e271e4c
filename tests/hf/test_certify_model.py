"""Certificates of whole models: each planted fault is caught by its property and by no other that
does not fit; what was not measured never passes."""

from __future__ import annotations

import json

import planted_models as planted
import pytest
import torch
from planted_models import DYNAMIC, KNOWN, tiny_llama
from torch import nn

import locant
from locant.hf.checking.certify_model import certify, model_properties
from locant.hf.checkpoints.loading import build
from locant.hf.checkpoints.random_weights import randomize
from locant.hf.checkpoints.tiny import tiny_config

SCALED = {"after-long", "beside-long", "long-cache"}
PADDING = {"right", "left", "left-mask"}
FAULTS = {
    planted.IgnoresMask: {"left-mask", "generated"},
    planted.CountsPadding: {"right", "left-mask", "generated"},
    planted.SeesRightPadding: {"right"},
    planted.ForgetsPositions: {"obeyed"},
    planted.IgnoresBlocks: {"blocks"},
    planted.PartsNothing: {"packed-off"},
    planted.RestartsFromCache: {"cached", "chunked", "generated"},
    planted.ForgetsChunks: {"chunked"},
    planted.GeneratesFromPadding: {"generated"},
    planted.LooksAhead: {"causal", "packed-off", "blocks", "cached", "chunked", "generated", "sdpa"}
    | PADDING,
    planted.MixesRows: {"batch", "generated", "sdpa"} | PADDING,
    planted.WithSquaredAngles: {"shifted", "left-mask"},  # which counts padding as positions
    planted.ClipsPositions: {"past"},
    planted.WrongSdpa: {"sdpa", "blocks"} | PADDING,
    planted.CrudeBfloat16: {"bfloat16"},
    planted.WithRoundedAngles: {"far"},
}


@pytest.fixture(scope="module")
def llama():
    return certify(tiny_llama())


def test_a_llama_fails_what_every_llama_of_transformers_fails_and_nothing_else(llama):
    assert set(llama.fails) == KNOWN
    for name in ("causal", "batch", "left", "left-mask", "right", "packed-off", "blocks", "cached"):
        assert llama[name].verdict == "holds"
        assert float(llama[name].value) <= 1e-4
    assert {name for name in SCALED if llama[name].verdict == "does not apply"} == SCALED
    assert llama["past"].value == "goes on"
    assert llama["flex"].verdict == "not judged"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_fails_its_properties_and_no_others(fault):
    paper = certify(tiny_llama(fault))
    assert set(paper.fails) - KNOWN == FAULTS[fault], {one: paper[one] for one in paper.fails}


@pytest.mark.parametrize("name", sorted(KNOWN | SCALED))
def test_a_model_without_the_fault_of_transformers_holds(name):
    """The properties that fail in every Llama are seen to pass where the fault is mended."""
    model = tiny_llama(rope_parameters=dict(DYNAMIC)) if name in SCALED else tiny_llama()
    assert certify(model, only=[name]).fails == [name]
    mended = {
        "packed": _without_cache,
        "gaps": _with_mask,
        "cast": _with_float32_frequencies,
        "meta": _with_stored_frequencies,
    }
    better = mended.get(name, _with_linear_scaling)(model)
    finding = certify(better, only=[name]).findings[0]
    assert finding.verdict in ("holds", "does not apply"), finding
    assert finding.verdict == "holds" or name in SCALED


def _without_cache(model):
    model.config.use_cache = False
    return model


class _Masked(planted.Wrong):
    def changed(self, input_ids, given):
        ones = torch.ones_like(input_ids)
        return {**given, "attention_mask": given.get("attention_mask", ones)}


def _with_mask(model):
    return tiny_llama(_Masked)


class _Frequencies(nn.Module):
    """Rotary angles from float32 frequencies that are no buffer: no cast reaches them."""

    def __init__(self, rotary):
        super().__init__()
        self.exact = [rotary.inv_freq.float().clone()]
        self.register_buffer("inv_freq", rotary.inv_freq.clone(), persistent=True)

    def forward(self, x, position_ids):
        angles = position_ids[..., None].float() * self.exact[0]
        angles = torch.cat([angles, angles], -1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def _with_float32_frequencies(model):
    model.model.rotary_emb = _Frequencies(model.model.rotary_emb)
    return model


def _with_stored_frequencies(model):
    rotary = model.model.rotary_emb
    rotary._non_persistent_buffers_set.clear()
    return StoresFrequencies.of(model)


class StoresFrequencies(planted.LlamaForCausalLM):
    """A Llama whose frequencies are among its weights."""

    def __init__(self, config):
        super().__init__(config)
        self.model.rotary_emb._non_persistent_buffers_set.clear()

    @classmethod
    def of(cls, model):
        made = cls(model.config)
        made.load_state_dict(model.state_dict())
        return made.eval()


def _with_linear_scaling(model):
    return tiny_llama(rope_parameters={**DYNAMIC, "rope_type": "linear"})


# ---------------------------------------------------------------- other kinds of models


@pytest.mark.parametrize(
    ("model_type", "kind", "fails"),
    [
        ("gpt2", "decoder", {"left-mask", "packed", "gaps"}),
        ("bloom", "decoder", {"obeyed"}),
        ("t5", "encoder-decoder", set()),
        ("roberta", "encoder", {"meta"}),
    ],
)
def test_other_architectures_fail_what_was_confirmed_by_hand(model_type, kind, fails):
    paper = certify(randomize(build(tiny_config(model_type))))
    assert paper.kind == kind
    assert set(paper.fails) == fails


def test_a_table_of_positions_and_a_recurrent_state_differ_by_nature():
    table = certify(randomize(build(tiny_config("gpt2"))), only=["shifted", "past"])
    assert table["shifted"].verdict == "by nature"
    assert "absolute position" in table["shifted"].message
    assert table["past"].value == "refuses"
    state = certify(randomize(build(tiny_config("lfm2"))), only=["packed", "cached"])
    assert state["packed"].verdict == "by nature"
    assert "ShortConv" in state["packed"].message
    assert state["cached"].verdict == "holds"


def test_nothing_passes_where_no_token_sees_another():
    model = tiny_llama()
    for layer in model.model.layers:
        nn.init.zeros_(layer.self_attn.o_proj.weight)
    paper = certify(model, only=["causal", "right", "cached"])
    assert paper.holds == []
    assert {finding.verdict for finding in paper.findings} == {"not judged"}
    assert "so that little would show" in paper["right"].message


# ---------------------------------------------------------------- what users get


def test_the_model_is_left_as_it_was():
    model = tiny_llama(rope_parameters=dict(DYNAMIC)).train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    frequencies = model.model.rotary_emb.inv_freq.clone()
    certify(model, only=["left", "after-long", "cast", "sdpa"])
    assert model.training
    assert torch.equal(model.model.rotary_emb.inv_freq, frequencies)
    assert all(torch.equal(before[name], one) for name, one in model.state_dict().items())


def test_a_certificate_is_json_with_a_remedy_for_each_property(llama):
    plain = json.loads(json.dumps(llama.to_dict(), allow_nan=False))
    assert plain["model"] == plain["architecture"] == "LlamaForCausalLM"
    assert plain["fails"] == llama.fails
    assert [one["name"] for one in plain["findings"]] == list(model_properties())
    assert all(one["remedy"] and one["sentence"] and one["bound"] for one in plain["findings"])


def test_every_property_says_what_it_means_what_bounds_it_and_what_to_do():
    for name, module in model_properties().items():
        assert name == module.NAME
        assert module.SENTENCE.endswith(".")
        assert module.REMEDY.endswith(".")
        assert not module.WHY.endswith(".")
        assert len(name) <= 11


def test_assert_model_certified_names_failures_with_what_to_do():
    model = tiny_llama()
    paper = locant.testing.assert_model_certified(model, only=["left", "cached"])
    assert paper.fails == []
    with pytest.raises(AssertionError, match="use_cache=False") as raised:
        locant.testing.assert_model_certified(model, only=["left", "packed"])
    assert "LlamaForCausalLM fails 1 of its properties" in str(raised.value)
    locant.testing.assert_model_certified(model, only=["left", "packed"], known=["packed"])
    with pytest.raises(ValueError, match="no property is called 'pack'"):
        locant.testing.assert_model_certified(model, known=["pack"])


def test_what_cannot_be_certified_is_refused_with_a_reason():
    with pytest.raises(ValueError, match=r"needs a model of transformers. Got Linear"):
        certify(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="mamba has no attention between tokens"):
        certify(build(tiny_config("mamba")), only=["left"])
    with pytest.raises(ValueError, match="no property is called 'lefft'"):
        certify(tiny_llama(), only=["lefft"])


# ---------------------------------------------------------------- models in other states


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_frequencies_that_came_rounded_are_seen(dtype):
    """A model that was cast before it is certified has nothing exact left to be compared with."""
    model = tiny_llama().to(dtype)
    paper = certify(model, only=["far", "cast"])
    assert (paper["far"].verdict, paper["cast"].verdict) == ("holds", "fails")
    assert certify(model.float(), only=["cast"]).fails == ["cast"]


def test_a_model_with_changed_layers_is_not_compared_with_random_weights():
    """Adapters inside of its layers: the class builds anew only what the config says."""
    model = tiny_llama()
    inner = model.model.layers[0].self_attn
    inner.q_proj = nn.Sequential(inner.q_proj, nn.Linear(64, 64, bias=False))
    paper = certify(model, only=["left", "bfloat16", "far", "meta"])
    assert paper.holds == ["left"]
    assert not paper.fails
    assert "its config builds a model with other weights" in paper["bfloat16"].message


def test_a_model_without_values_or_inside_a_wrapper_is_refused_with_what_to_do():
    with torch.device("meta"):
        empty = planted.LlamaForCausalLM(tiny_llama().config)
    with pytest.raises(ValueError, match="weights are on the meta device and have no values"):
        certify(empty)
    wrapper = nn.Sequential(tiny_llama())
    wrapper.config = wrapper[0].config
    with pytest.raises(ValueError, match=r"wrap one: give the model inside.*merge_and_unload"):
        certify(wrapper)
