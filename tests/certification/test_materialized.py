"""Encodings and other people's modules that were made on meta and then given memory."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import locant
from common import EVERY, build
from locant.encodings.base import Encoding


class Waves(nn.Module):
    """Frequencies in a buffer that no checkpoint holds, as many libraries keep them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("frequency", torch.rand(8), persistent=False)

    def forward(self, x, pos):
        return x + (pos[..., None] * self.frequency).sin()


class Reset(Waves):
    def reset_parameters(self):
        self.frequency.copy_(torch.ones(8))


class Rewritten(Waves):
    def __init__(self):
        super().__init__()
        self.reset_parameters()

    def reset_parameters(self):
        self.frequency.copy_(torch.arange(8.0))


class Window(Rewritten):
    """A buffer that is not finite on purpose, and is in the checkpoint."""

    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", torch.full((3,), -torch.inf))


def found(module):
    encoding = locant.adapt(module, dim=8, extrapolates=True)
    return locant.certify(encoding, only=["materialized"])["materialized"]


def test_a_buffer_that_nothing_writes_again_is_found_by_its_name():
    assert found(Waves()).verdict == "fails"
    assert "leaves module.frequency as memory has it" in found(Waves()).message


def test_a_module_that_resets_itself_holds_if_it_gives_the_same_numbers():
    assert found(Rewritten()).verdict == "holds"
    assert found(Window()).verdict == "holds"
    assert found(Reset()).verdict == "fails"  # other frequencies than the constructor's


@pytest.mark.parametrize("name", EVERY)
def test_reset_draws_what_the_constructor_draws(name):
    encoding = build(name)
    torch.manual_seed(5)
    fresh = locant.make(**encoding.config())
    torch.manual_seed(5)
    encoding.reset_parameters()
    pairs = zip(encoding.parameters(), fresh.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_reset_keeps_dtype_and_identity_of_the_parameters():
    encoding = locant.make("learned", dim=8).bfloat16()
    table = encoding.table
    encoding.reset_parameters()
    assert encoding.table is table
    assert table.dtype == torch.bfloat16


def test_an_encoding_that_cannot_be_built_again_says_so():
    class Needy(Encoding):
        def __init__(self, shape, table):
            super().__init__(shape)
            self.table = nn.Parameter(table)

    needy = Needy(locant.Shape(8), torch.zeros(3))
    with pytest.raises(ValueError, match=r"Needy cannot be built again.*\n.*of its own"):
        needy.reset_parameters()
