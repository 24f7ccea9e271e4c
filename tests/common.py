"""What all tests share: encodings small enough to be quick, and attention inputs that fit them."""

from __future__ import annotations

import pytest
import torch

import locant
from locant.encodings.base import senses

VARIANTS = {  # options that change the formula, beside every encoding as it comes
    "sinusoidal halves": ("sinusoidal", {"layout": "halves"}),
    "t5 behind": ("t5", {"sides": "behind"}),
    "kerple power": ("kerple", {"kernel": "power"}),
    "alibi causal": ("alibi", {"sides": "causal"}),
    "alibi two-sided": ("alibi", {"sides": "two-sided"}),
    "alibi learned": ("alibi", {"slopes": "learned"}),
    "rotary interleaved": ("rotary", {"pairing": "interleaved"}),
    "rotary partial": ("rotary", {"width": 4}),
    "rotary linear": ("rotary", {"scaling": {"type": "linear", "factor": 4.0}}),
    "rotary ntk": ("rotary", {"scaling": {"type": "ntk", "factor": 4.0}}),
    "rotary dynamic": (
        "rotary",
        {"scaling": {"type": "dynamic-ntk", "factor": 4.0, "original_length": 8}},
    ),
    "rotary yarn": ("rotary", {"scaling": {"type": "yarn", "factor": 4.0, "original_length": 64}}),
    "rotary longrope": (
        "rotary",
        {
            "scaling": {
                "type": "longrope",
                "factor": 4.0,
                "original_length": 12,
                "short": [1.0, 1.0, 1.5, 2.0],
                "long": [1.0, 2.0, 3.0, 4.0],
            }
        },
    ),
    "rotary proportional": ("rotary", {"scaling": {"type": "proportional", "share": 0.5}}),
    "rotary temperature": ("rotary", {"query_temperature": {"beta": 0.5, "length": 100}}),
    "none temperature": ("none", {"query_temperature": {"beta": 0.5, "length": 100}}),
    "rotary llama3": (
        "rotary",
        {"scaling": {"type": "llama3", "factor": 8.0, "original_length": 64}},
    ),
}
EVERY = [*locant.names(), *VARIANTS]


def build(name: str, *, dim: int = 32, heads: int = 4, length: int = 64, seed: int = 0):
    """An encoding by name or variant, its learned numbers drawn large enough to matter."""
    base, options = VARIANTS.get(name, (name, {}))
    torch.manual_seed(seed)
    encoding = locant.make(base, dim=dim, heads=heads, length=length, **options)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return encoding.eval()


def some_every_day(*names: str) -> list:
    """Every encoding and variant as parameters, of which only these are tested every day; the
    others are slow."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]


def claimants(claim: str) -> list[str]:
    """Every encoding and variant that makes a claim."""
    return [name for name in EVERY if getattr(build(name), claim)]


def deniers(claim: str) -> list[str]:
    return [name for name in EVERY if not getattr(build(name), claim)]


def qkv(
    *, batch=2, heads=4, queries=11, keys=None, width=8, groups=None, dtype=torch.float32, seed=1
):
    """Queries, keys and values for attention."""
    draw = torch.Generator().manual_seed(seed)
    keys = queries if keys is None else keys
    sizes = [(batch, heads, queries, width), *[(batch, groups or heads, keys, width)] * 2]
    return [torch.randn(size, generator=draw, dtype=torch.float64).to(dtype) for size in sizes]


def states_of(encoding, queries, keys, batch=2, dtype=torch.float32):
    """States of fixed random tokens as arguments of `attend`; none for an encoding without `sense`.

    The queries are the last of the tokens.
    """
    if not senses(encoding):
        return {}
    count, draw = max(queries, keys), torch.Generator().manual_seed(4)
    x = torch.randn(1, count, encoding.shape.dim, generator=draw).to(dtype)
    state = encoding.sense(x.expand(batch, -1, -1), torch.arange(count))
    return {"q_state": state[..., count - queries :, :], "k_state": state[..., count - keys :, :]}
