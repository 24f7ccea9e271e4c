"""What kind of bias an encoding has, and whether the backward pass may compute it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding, overrides
from locant.encodings.hooks import States, compute_bias

if TYPE_CHECKING:
    from locant.attention.inputs import AttentionInputs

T = TypeVar("T")


class BiasFacts(NamedTuple):
    """Facts about a bias, found by computing it for one pair of tokens.

    kind       "none", "toeplitz" (by distance, at evenly spaced positions) or "computed"
    spacing    of the positions, for "toeplitz"
    learns     whether the bias has a gradient
    one_piece  why it must be computed in one piece, or nothing
    parameters that the bias reads, where states are read too; None when all of them may be
    """

    kind: str
    spacing: positions.Spacing | None = None
    learns: bool = False
    one_piece: str = ""
    parameters: tuple[Tensor, ...] | None = None


def examine_bias(inputs: AttentionInputs) -> BiasFacts:
    """Compute the bias of one pair of tokens, and see what it depends on."""
    encoding, q_pos, k_pos, states = inputs.encoding, inputs.q_pos, inputs.k_pos, inputs.states
    if not overrides(encoding, "bias") and states is None:
        return BiasFacts("none")
    axis = -1 if encoding.axes == 1 else -2
    first_q, first_k = q_pos.narrow(axis, 0, 1), k_pos.narrow(axis, 0, 1)
    first_states = None if states is None else _first_states(states)
    sizes = (*inputs.sizes[:2], 1, 1)

    def compute() -> Tensor | None:
        return compute_bias(encoding, first_q, first_k, sizes, first_states)

    found, drew = _watch_random_numbers(compute, k_pos.device)
    if found is None:
        return BiasFacts("none")
    even = encoding.axes == 1 and encoding.shift_invariant and states is None
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
        and not _repeats(encoding, found, compute, first_states)
    ):
        one_piece = "its bias has a gradient for something that is no parameter of the encoding"
    if states is None or one_piece:
        return BiasFacts(kind, spacing, found.requires_grad, one_piece)
    in_graph = _leaves(found)
    parameters = tuple(p for p in encoding.parameters() if id(p) in in_graph)
    if any(id(p) in _leaves_of_sense(encoding, first_q, states) for p in parameters):
        one_piece = "a parameter acts through `sense` and through the bias at once"
    return BiasFacts(kind, spacing, found.requires_grad, one_piece, parameters)


def _leaves(tensor: Tensor) -> set[int]:
    """Collect the ids of the leaves of a tensor's graph."""
    return {id(getattr(node, "variable", None)) for node in _graph(tensor)}


def _leaves_of_sense(encoding: Encoding, first_q: Tensor, states: States) -> set[int]:
    """Collect the ids of the parameters that `sense` reads, by sensing one empty token."""
    dtype = next((p.dtype for p in encoding.parameters()), torch.float32)
    token = states.q.new_zeros(states.q.shape[0], 1, encoding.shape.dim, dtype=dtype)
    state = encoding.sense(token, first_q)
    return set() if state is None else _leaves(state)


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


def _first_states(states: States) -> States:
    """Cut out the states of the first query and key, as leaves of a graph of their own."""
    first_q, first_k = states.q[..., :1, :].detach(), states.k[..., :1, :].detach()
    first_q.requires_grad_(states.q.requires_grad)
    first_k.requires_grad_(states.k.requires_grad)
    return States(first_q, first_k)


def _repeats(
    encoding: Encoding,
    found: Tensor,
    compute: Callable[[], Tensor | None],
    states: States | None,
) -> bool:
    """Say whether a second computation gives a new graph that ends in parameters or states."""
    again = compute()
    if again is None:
        return False
    own = {id(tensor) for tensor in (*encoding.parameters(), *(states or ()))}
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
