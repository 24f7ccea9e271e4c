"""What is examined, and how hard: an encoding with all that a property needs to try it out."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from locant.attention.layer import Attention
from locant.encodings.base import Encoding, overrides, senses
from locant.encodings.hooks import check_bias
from locant.nn.transformer import Transformer

FAR = 10**6
BY_ORDER = "It goes by the order of the tokens, not by their positions."


@dataclass(frozen=True)
class Effort:
    """How many seeds, how many training steps, and whether graphs are captured (slow to start)."""

    name: str
    seeds: int
    steps: int
    graphs: bool


EFFORTS = {
    "quick": Effort("quick", seeds=2, steps=300, graphs=False),
    "usual": Effort("usual", seeds=3, steps=400, graphs=True),
    "full": Effort("full", seeds=5, steps=600, graphs=True),
}
DEFAULT_EFFORT = "usual"  # of `locant.certify` and `locant check` alike


@dataclass(frozen=True)
class PropertyResult:
    """What a property found.

    ok       whether the bound is met, or a property that is only seen was measured; None when
             nothing can be message of it
    value    the number for a table, a few characters
    message     a sentence with the numbers
    """

    ok: bool | None
    value: str
    message: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Probe:
    """An encoding under examination. Properties get copies; the encoding itself is never
    touched."""

    encoding: Encoding
    seed: int = 0
    effort: Effort = EFFORTS["quick"]

    @property
    def last(self) -> int:
        """The largest position that may be asked for."""
        return FAR if self.encoding.extrapolates else self.encoding.shape.length - 1

    def generator(self, more: int = 0) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed + 1000 * more)

    def original(self) -> Encoding:
        """A copy with its numbers as they are."""
        return copy.deepcopy(self.encoding).float().eval()

    def randomized(self, dtype: torch.dtype = torch.float32, more: int = 0) -> Encoding:
        """A copy whose learned numbers are drawn anew, large enough to show in the output."""
        one, draw = self.original(), self.generator(more)
        with torch.no_grad():
            for parameter in (p for p in one.parameters() if p.requires_grad):
                parameter.copy_(0.5 * torch.randn(parameter.shape, generator=draw))
        return one.to(dtype)

    def with_effect(self) -> Encoding:
        """A copy with its numbers as they are; drawn anew where all that it learns is 0, so that it
        does nothing yet."""
        return self.randomized() if starts_at_zero(self.encoding) else self.original()

    def at(self, index: Tensor) -> Tensor:
        """Positions for these numbers: themselves, or points of a grid when the encoding has
        several axes."""
        if self.encoding.axes == 1:
            return index
        others = [(index * (axis + 2)) % 7 for axis in range(self.encoding.axes - 1)]
        return torch.stack([index, *others], -1)

    def positions(self, count: int, start: int = 0) -> Tensor:
        """Positions of `count` tokens, one after the other."""
        return self.at(torch.arange(start, start + count))

    def model(
        self,
        encoding: Encoding,
        *,
        layers: int = 2,
        causal: bool = False,
        more: int = 0,
        **parts: Any,
    ) -> Transformer:
        """A fresh transformer around an encoding, in the encoding's precision."""
        with seeded(self.seed + more):
            net = Transformer(
                encoding, layers=layers, causal=causal or encoding.causal_only, **parts
            )
        return net.eval().to(precision(encoding))

    def layer(self, encoding: Encoding, more: int = 0) -> Attention:
        with seeded(self.seed + more):
            return Attention(encoding).eval().to(precision(encoding))

    def tokens(
        self, count: int, batch: int = 2, dtype: torch.dtype = torch.float32, more: int = 0
    ) -> Tensor:
        """Random inputs (B, T, D)."""
        shape = (batch, count, self.encoding.shape.dim)
        return torch.randn(shape, generator=self.generator(more), dtype=torch.float64).to(dtype)

    def heads(
        self, count: int, batch: int = 1, dtype: torch.dtype = torch.float32, more: int = 0
    ) -> Tensor:
        """Random queries, keys or values (B, H, T, d)."""
        size = (batch, self.encoding.shape.heads, count, self.encoding.shape.head)
        return torch.randn(size, generator=self.generator(more), dtype=torch.float64).to(dtype)


def starts_at_zero(encoding: Encoding) -> bool:
    """Tell whether an encoding learns something, and all of it is 0."""
    learned = [parameter for parameter in encoding.parameters() if parameter.requires_grad]
    return bool(learned) and not any(bool(parameter.any()) for parameter in learned)


def precision(encoding: Encoding) -> torch.dtype:
    """The dtype of an encoding's numbers; float32 when it has none."""
    return next((p.dtype for p in encoding.parameters()), torch.float32)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from torch's own generator with a seed, and leave it as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def states(
    encoding: Encoding, pos: Tensor, batch: int = 1, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """Return the states of fixed random tokens as arguments of `attend`; none without a `sense`."""
    if not senses(encoding):
        return {}
    size = (1, pos.shape[0], encoding.shape.dim)
    x = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(dtype)
    state = encoding.sense(x.expand(batch, -1, -1), pos)
    assert state is not None
    return {"q_state": state, "k_state": state}


def signature(
    encoding: Encoding, pos: Tensor, keys: Tensor, dtype: torch.dtype = torch.float32
) -> Tensor:
    """All that an encoding makes of each position, with fixed content, side by side: (T, ·).

    What it adds to the input, what it turns a fixed key into, the row of what it adds to scores
    against `keys`, and the mean of fixed values at `keys`.
    """
    draw = torch.Generator().manual_seed(0)
    shape, count = encoding.shape, pos.shape[0]
    parts = []
    if overrides(encoding, "embed"):
        parts.append(encoding.embed(torch.zeros(1, count, shape.dim, dtype=dtype), pos)[0])
    content = torch.randn(1, shape.heads, 1, shape.head, generator=draw).to(dtype)
    if overrides(encoding, "rotate"):
        same = content.expand(-1, -1, count, -1)
        parts.append(encoding.rotate(same, same, pos, pos)[1][0].transpose(0, 1).flatten(1))
    bias = check_bias(encoding, encoding.bias(pos, keys), (1, shape.heads, count, keys.shape[0]))
    if bias is not None:
        parts.append(bias.to(dtype)[0].transpose(0, 1).flatten(1))
    if senses(encoding):
        same_token = torch.randn(1, 1, shape.dim, generator=draw).to(dtype)
        q_state = encoding.sense(same_token.expand(-1, count, -1), pos)
        k_state = encoding.sense(same_token.expand(-1, keys.shape[0], -1), keys)
        assert q_state is not None
        assert k_state is not None
        found = encoding.state_bias(pos, keys, q_state, k_state)
        if found is not None:
            parts.append(found[0].transpose(0, 1).flatten(1))
    if overrides(encoding, "rescore"):
        q, k = content.expand(-1, -1, count, -1), content.expand(-1, -1, keys.shape[0], -1)
        parts.append(encoding.rescore(q @ k.mT, q, k, pos, keys)[0].transpose(0, 1).flatten(1))
    if overrides(encoding, "mix"):
        v = content.expand(-1, -1, keys.shape[0], -1)
        weights = v.new_full((1, shape.heads, count, keys.shape[0]), 1 / keys.shape[0])
        parts.append(encoding.mix(weights, v, pos, keys)[0].transpose(0, 1).flatten(1))
    if not parts:
        return torch.zeros(count, 1, dtype=dtype)
    return torch.cat([part.to(dtype) for part in parts], 1)


def largest(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference; infinite when a number is missing, so that no comparison
    lets it pass.

    >>> largest(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 1.0]))
    inf
    """
    most = float((a.double() - b.double()).abs().max())
    return most if most == most else float("inf")


def relative(a: Tensor, b: Tensor) -> float:
    """The largest difference as a share of b's own size (root mean square)."""
    size = float(b.double().square().mean().sqrt())
    return largest(a, b) / max(size, 1e-30)


def show(number: float) -> str:
    """A number in a few characters.

    >>> show(0.0), show(1.5), show(1.23e-7), show(123456.0)
    ('0', '1.5', '1.2e-07', '1.2e+05')
    """
    return f"{number:.2g}"


def learns(module: nn.Module) -> int:
    """How many numbers it learns; frozen ones are not learned."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
