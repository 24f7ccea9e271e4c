"""What kind of bias an encoding has, and whether the backward pass may compute it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding, overrides

T = TypeVar("T")


class BiasFacts(NamedTuple):
    """What can be told about a bias from its positions.

    kind       "none", "toeplitz" (by distance, at evenly spaced positions) or "computed"
    spacing    of the positions, for "toeplitz"
    learns     whether the bias has a gradient
    one_piece  why it must be computed in one piece, or nothing
    """

    kind: str
    spacing: positions.Spacing | None = None
    learns: bool = False
    one_piece: str = ""


def examine_bias(encoding: Encoding, q_pos: Tensor, k_pos: Tensor) -> BiasFacts:
    """Compute the bias of one pair of tokens, and see what it depends on."""
    if not overrides(encoding, "bias"):
        return BiasFacts("none")
    axis = -1 if encoding.axes == 1 else -2
    first_q, first_k = q_pos.narrow(axis, 0, 1), k_pos.narrow(axis, 0, 1)
    found, drew = _watch_random_numbers(lambda: encoding.bias(first_q, first_k), k_pos.device)
    if found is None:
        return BiasFacts("none")
    even = encoding.axes == 1 and encoding.shift_invariant
    spacing = positions.evenly_spaced(q_pos, k_pos) if even else None
    kind = "computed" if spacing is None else "toeplitz"
    one_piece = ""
    if drew:
        one_piece = "its bias draws random numbers"
    elif torch.is_grad_enabled() and (q_pos.requires_grad or k_pos.requires_grad):
        one_piece = "the positions require a gradient"
    elif (
        kind == "computed"
        and found.requires_grad
        and not _repeats(encoding, found, first_q, first_k)
    ):
        one_piece = "its bias has a gradient for something that is no parameter of the encoding"
    return BiasFacts(kind, spacing, found.requires_grad, one_piece)


def _watch_random_numbers(call: Callable[[], T], device: torch.device) -> tuple[T, bool]:
    """Call a function, say whether it drew from torch's generators, and leave them as they were."""
    modules = [torch] if device.type == "cpu" else [torch, torch.get_device_module(device)]
    before = [module.get_rng_state() for module in modules]
    result = call()
    drew = False
    for module, state in zip(modules, before, strict=True):
        if not torch.equal(module.get_rng_state(), state):
            module.set_rng_state(state)
            drew = True
    return result, drew


def _repeats(encoding: Encoding, found: Tensor, q_pos: Tensor, k_pos: Tensor) -> bool:
    """Say whether a second computation gives a new graph that ends in the encoding's parameters."""
    again = encoding.bias(q_pos, k_pos)
    if again is None:
        return False
    own = {id(parameter) for parameter in encoding.parameters()}
    shared = _graph(found) & _graph(again)
    return all(id(getattr(node, "variable", None)) in own for node in shared)


def _graph(tensor: Tensor) -> set[Any]:
    """Collect all nodes of a tensor's autograd graph."""
    if tensor.grad_fn is None:
        return {tensor}
    found, open_nodes = set(), [tensor.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += [other for other, _ in node.next_functions if other is not None]
    return found
