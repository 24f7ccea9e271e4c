"""How a case is computed on both sides, and how far its tensors may be apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

import torch
from formulas import Attended
from torch import Tensor, nn

# What an error may be, relative to the largest number of its tensor:
ALLOWED = {
    torch.float64: 1e-9,  # rounding is 1e-16; sums of 10⁵ terms and a few layers leave far less
    torch.float32: 2e-4,  # rounding is 6e-8; sums of 10³ terms of both signs lose three digits
    torch.bfloat16: 5e-2,  # rounding is 4e-3, and it happens after every step
}
# A score of size S is rounded by S·this, and its weight is wrong by as large a share:
ROUNDING = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8}
# Terms cancel in some gradients (that of a key's bias is 0), so all are measured by at least this
# share of the largest gradient of all:
FLOOR = {torch.float64: 1e-2, torch.float32: 0.1, torch.bfloat16: 0.3}
MOST_PAIRS_TWICE = 4000  # queries × keys for which second derivatives are taken
Tensors = dict[str, Tensor]


class Refused(Exception):
    """A backend that was asked for does not serve the case, and said so."""


class How(NamedTuple):
    """In which precision a case is computed, and how often it is differentiated.

    share  of the leaves that require a gradient
    again  whether the first derivatives are taken twice, from one graph
    """

    dtype: torch.dtype
    autocast: bool
    order: int
    share: float
    again: bool

    @property
    def precision(self) -> torch.dtype:
        return torch.bfloat16 if self.autocast else self.dtype

    def context(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", dtype=torch.bfloat16) if self.autocast else nullcontext()

    def grad(self) -> AbstractContextManager[Any]:
        if self.order or self.again:
            return torch.enable_grad()
        return torch.no_grad() if self.share == 1.0 else torch.inference_mode()


class Checked(NamedTuple):
    """The error of one tensor, and what it may be."""

    name: str
    error: float
    allowed: float


class Outcome(NamedTuple):
    """What a case was, and how far each of its tensors is from what it should be."""

    described: str
    checked: list[Checked]


class Sides(NamedTuple):
    """The same leaves twice: the library's, and float64 copies, which all require a gradient."""

    own: Tensors
    twin: Tensors

    def learnt(self) -> set[str]:
        """Name the library's leaves that require a gradient."""
        return {name for name, one in self.own.items() if one.requires_grad}


def draw_how(rng: Random, pairs: int) -> How:
    """Draw precision and the order of derivatives."""
    dtypes = (torch.float64,) * 9 + (torch.float32,) * 7 + (torch.bfloat16,) * 2
    dtype, autocast = rng.choice(dtypes), rng.random() < 0.1
    order = rng.choice((0, 1, 1, 1, 2))
    dtype = torch.float32 if autocast else dtype
    if order == 2 and (dtype != torch.float64 or pairs > MOST_PAIRS_TWICE):
        order = 1
    return How(dtype, autocast, order, rng.choice((1.0, 1.0, 0.5, 0.2)), rng.random() < 0.3)


def leaves_of(tensors: Tensors, how: How) -> Sides:
    """Copy tensors into leaves of both sides; some of them require a gradient."""
    sides = Sides({}, {})
    for name, one in tensors.items():
        wants = how.order > 0 and (how.share == 1.0 or torch.rand(()).item() < how.share)
        sides.own[name] = one.requires_grad_(wants)
        sides.twin[name] = one.detach().double().clone().requires_grad_(how.order > 0)
    return sides


def module_sides(module: nn.Module, more: Tensors, how: How) -> Sides:
    """Take a module's own parameters, and float64 copies of them, with more leaves."""
    return leaves_of({**more, **dict(module.named_parameters())}, how)


def gradients(
    out: Tensor,
    leaves: Tensors,
    order: int,
    among: set[str],
) -> tuple[Tensors, Tensors]:
    """Compute derivatives of a random sum of outputs, and of a random sum of those `among` them."""
    names = [name for name, one in leaves.items() if one.requires_grad]
    tensors = [leaves[name] for name in names]
    if not order or not names:
        return {}, {}
    if not out.requires_grad:
        zeros = {name: torch.zeros_like(leaves[name]) for name in names}
        return zeros, zeros if order > 1 else {}
    first = torch.autograd.grad(
        weighted("out", out),
        tensors,
        retain_graph=True,
        create_graph=order > 1,
        allow_unused=True,
    )
    found = _named(names, tensors, first)
    if order == 1:
        return found, {}
    parts = [weighted(name, found[name]) for name in among if found[name].requires_grad]
    if not parts:
        return found, {name: torch.zeros_like(leaves[name]) for name in names}
    second = torch.autograd.grad(sum(parts), tensors, allow_unused=True)
    return found, _named(names, tensors, second)


def weighted(name: str, values: Tensor) -> Tensor:
    """Sum values with random weights that a name decides, and that every dtype can hold."""
    made = torch.Generator().manual_seed(crc32(name.encode()))
    weights = torch.randn(values.shape, generator=made).to(torch.bfloat16)
    return (values * weights.to(values.dtype)).sum()


def _named(names: list[str], tensors: list[Tensor], found: tuple[Tensor | None, ...]) -> Tensors:
    """Name gradients; what a sum does not depend on has the gradient 0."""
    each = zip(names, tensors, found, strict=True)
    return {name: torch.zeros_like(one) if grad is None else grad for name, one, grad in each}


def compare(got: Tensors, want: Tensors, allowed: float, floor: float = 0.0) -> list[Checked]:
    """Compare tensors by name, relative to the largest number of each or to a floor."""
    checked = []
    for name, one in got.items():
        right = want[name].detach()
        if one.shape != right.shape:
            name = f"{name}, whose shape is {tuple(one.shape)},"
            checked.append(Checked(name, float("inf"), allowed))
            continue
        apart = (one.detach().double() - right).abs().max().item() if one.numel() else 0.0
        size = max(right.abs().max().item() if one.numel() else 0.0, floor, 1e-30)
        error = apart / size
        error = error if error == error else float("inf")
        narrow = 1e-6 if one.dtype == torch.float32 else 0.0  # what its own dtype rounds to
        checked.append(Checked(name, error, max(allowed, narrow)))
    return checked


def largest(tensors: Tensors) -> float:
    """Find the largest number of all."""
    sizes = (one.detach().abs().max().item() for one in tensors.values() if one.numel())
    return max(sizes, default=0.0)


def judge(
    how: How,
    own: Tensors,
    twin_side: Callable[[], Attended],
    sides: Sides,
    *,
    rough: bool,
) -> list[Checked]:
    """Compare outputs and derivatives of both sides, and allow what rounding the inputs changes.

    own    the library's `out`, and other outputs under the names of fields of `Attended`
    rough  whether a bias is computed in float32 whatever the dtype
    """
    precision = torch.float32 if rough and how.dtype == torch.float64 else how.precision
    among = sides.learnt()
    if how.again and how.order == 1:
        gradients(own["out"], sides.own, 1, among)
    first, second = gradients(own["out"], sides.own, how.order, among)
    got = (own, first, second)
    checked = measure(how, precision, got, twin_side(), sides)
    if precision == torch.float64 or not any(map(is_wrong, checked)):
        return checked
    before = measured(own, twin_side(), sides, how)
    with torch.no_grad():
        for leaf in sides.twin.values():
            leaf.mul_(1 + ROUNDING[precision] * torch.randn_like(leaf))
    moved = measure(how, precision, before, twin_side(), sides)
    by = {one.name: 20 * one.error for one in moved}
    return [one._replace(allowed=max(one.allowed, by[one.name])) for one in checked]


def measured(own: Tensors, seen: Attended, sides: Sides, how: How) -> tuple[Tensors, ...]:
    """Give outputs and derivatives of the other side, as the library's are given."""
    want = {name: getattr(seen, name) for name in own}
    return want, *gradients(seen.out, sides.twin, how.order, sides.learnt())


def measure(
    how: How,
    precision: torch.dtype,
    got: tuple[Tensors, ...],
    seen: Attended,
    sides: Sides,
) -> list[Checked]:
    """Measure how far outputs and derivatives are from those of the other side."""
    own, first, second = got
    allowed = ALLOWED[precision] + 8 * ROUNDING[precision] * seen.size
    want, want_first, want_second = measured(own, seen, sides, how)
    checked = compare(own, want, allowed)
    floor = FLOOR[precision] * largest(want_first)
    allowed *= 2 if precision == torch.bfloat16 else 1  # twice as many steps
    if how.dtype == torch.bfloat16:  # torch sums those of a layer norm in bfloat16, term by term
        first = {name: one for name, one in first.items() if "norm" not in name}
    checked += _prefixed("gradient of ", compare(first, want_first, allowed, floor))
    floor = max(floor, FLOOR[precision] * largest(want_second))
    checked += _prefixed("second gradient of ", compare(second, want_second, allowed, floor))
    if allowed > 0.5:  # scores too large for this precision: only that all is finite can be asked
        return [one._replace(allowed=1e30) for one in checked]
    return checked


def is_wrong(one: Checked) -> bool:
    """Say whether an error is larger than it may be."""
    return not one.error <= one.allowed


def _prefixed(prefix: str, checked: list[Checked]) -> list[Checked]:
    return [one._replace(name=prefix + one.name) for one in checked]


def describe(**facts: Any) -> str:
    """Write facts in one line."""
    return ", ".join(f"{name}={value}" for name, value in facts.items())
