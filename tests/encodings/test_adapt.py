"""Other people's modules and functions made encodings."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

import locant
from locant.certification.certificate import NOT_CLAIMED, certify
from locant.certification.probe import Probe, learns

SMALL = {"dim": 16, "heads": 2, "length": 32}


class Ramp(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.register_buffer("fixed", torch.ones(1))


class Counts(Ramp):
    def forward(self, x):
        return x + self.weight * torch.arange(x.shape[1])[:, None]


class Takes(Ramp):
    def forward(self, x, pos):
        return x + self.weight * pos[..., None]


class TakesIfGiven(Ramp):
    def forward(self, x, input_pos=None, scale=1.0):
        return x + scale * self.weight * input_pos[..., None]


class Masks(Ramp):
    def forward(self, x, mask=None):
        assert mask is None, "positions are no mask"
        return x


POS, X = torch.tensor([5, 7]), torch.zeros(1, 2, 4)


@pytest.mark.parametrize(
    ("module", "added"),
    [(Counts, [0, 1]), (Takes, [5, 7]), (TakesIfGiven, [5, 7]), (Masks, [0, 0])],
)
def test_a_module_is_given_positions_when_it_takes_them(module, added):
    encoding = locant.adapt(module(), dim=4)
    assert encoding.embed(X, POS)[0, :, 0].tolist() == added
    assert encoding.bias(POS, POS) is None


def test_a_function_is_called_once_for_queries_and_keys_at_their_own_positions():
    encoding = locant.adapt(lambda q, k, pos: (q + pos[:, None], k - pos[:, None]), dim=4, heads=2)
    q, k = encoding.rotate(
        torch.zeros(1, 2, 2, 2), torch.zeros(1, 2, 3, 2), POS, torch.tensor([1, 2, 3])
    )
    assert q[0, 1, :, 0].tolist() == [5, 7]
    assert k[0, 1, :, 0].tolist() == [-1, -2, -3]


def test_casts_and_copies_reach_the_module_that_a_function_works_with():
    ramp = Ramp()
    encoding = locant.adapt(
        lambda ramp, q, k, pos: (q * ramp.fixed, k), module=ramp, dim=4, heads=2
    )
    other = copy.deepcopy(encoding).bfloat16()
    assert (
        encoding.rotate(torch.zeros(1, 2, 2, 2), torch.zeros(1, 2, 2, 2), POS, POS)[0].dtype
        == torch.float32
    )
    assert (ramp.fixed.dtype, other.module.fixed.dtype) == (torch.float32, torch.bfloat16)
    assert [name for name, _ in encoding.named_parameters()] == ["module.weight"]
    encoding.double()
    assert ramp.fixed.dtype == torch.float64


def test_claims_are_what_an_adapted_thing_is_held_to():
    free, held = (
        locant.adapt(Takes(), dim=16, heads=2, **claims)
        for claims in ({}, {"shift_invariant": True})
    )
    assert certify(free, only=["shift"])["shift"].verdict == NOT_CLAIMED
    assert certify(held, only=["shift"]).fails == ["shift"]
    with pytest.raises(
        ValueError,
        match=r"no claim 'shift_invariance'. Did you mean 'shift_invariant'\?\n  Claims: ",
    ):
        locant.adapt(Takes(), dim=4, shift_invariance=True)


def test_what_is_neither_module_nor_function_is_refused():
    with pytest.raises(ValueError, match=r"needs a module or a function\. Got int instead"):
        locant.adapt(3, dim=4)


def test_frozen_numbers_are_examined_as_they_are():
    """Another library's frequencies may be a frozen parameter; to draw them anew would be to
    examine something else."""
    ramp = Takes()
    ramp.weight.requires_grad_(False).fill_(0.25)
    adapted = locant.adapt(ramp, dim=4)
    assert Probe(adapted).randomized().module.weight.item() == 0.25
    assert learns(adapted) == 0


def llama(kind, **claims):
    """The rotary module of transformers, made for 32 positions."""
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "max_position_embeddings": 32}
    said = {
        "rope_type": kind,
        "rope_theta": 10_000.0,
        **({"factor": 2.0} if kind != "default" else {}),
    }

    def turn(module, q, k, pos):
        return apply_rotary_pos_emb(q, k, *module(q, pos if pos.dim() == 2 else pos[None]))

    module = LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=said))
    return locant.adapt(turn, module=module, **SMALL, cacheable_keys=True, **claims)


@pytest.mark.parametrize("claims", [{}, {"extrapolates": True}])
def test_frequencies_that_stay_grown_after_a_far_call_are_caught(claims):
    """Within the made length nothing shows: they go back as soon as a call is short."""
    paper = certify(llama("dynamic", **claims), effort="quick", only=["pure", "cache"])
    assert paper.fails == ["pure", "cache"]
    assert (
        "call at other positions moves the output at positions 32 and on by "
        in paper["pure"].message
    )
    assert paper["cache"].numbers["error"] > 0.01


@pytest.mark.parametrize("kind", ["default", "linear"])
def test_frequencies_that_stay_as_they_are_pass(kind):
    assert (
        certify(llama(kind, extrapolates=True), effort="quick", only=["pure", "cache"]).fails == []
    )


def test_positions_past_the_length_may_be_refused():
    class Ends(Ramp):
        def forward(self, x, pos):
            return x + torch.eye(32, 16)[pos]

    adapted = locant.adapt(Ends(), **SMALL, cacheable_keys=True)
    assert certify(adapted, effort="quick", only=["pure", "cache"]).holds == ["pure", "cache"]
