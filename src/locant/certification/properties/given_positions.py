"""It goes by the positions it is given, not by where a token happens to stand in the tensor."""

from __future__ import annotations

import torch

from locant.attention import attend
from locant.certification.probe import Probe, PropertyResult, relative, show, states
from locant.nn.transformer import Transformer

NAME = "given"
SENTENCE = (
    "It goes by the positions it is given: tokens that keep their positions may stand anywhere."
)
CLAIM = "goes_by_positions"
BOUND = 1e-4
WHY = "shuffling tokens together with their positions changes the order of float32 sums alone"


def measure(probe: Probe) -> PropertyResult:
    count = min(12, probe.last + 1)
    net, x = probe.model(probe.randomized()), probe.tokens(count)
    net.causal = False  # a causal mask goes by order, as it should
    step = max(1, min(3, probe.last // count))
    pos = probe.at(torch.arange(count) * step)
    shuffle = torch.randperm(count, generator=probe.generator())
    error = relative(net(x[:, shuffle], pos[shuffle]), net(x, pos)[:, shuffle])
    moved = relative(net(x, probe.at(torch.arange(count))), net(x, pos)) if step > 1 else 1.0
    message = (
        f"Tokens shuffled together with their positions move the outputs by {show(error)} of their "
        "size."
    )
    apart = _queries_alone(probe, pos, shuffle)
    ignored = probe.encoding.tells_order and moved < 1e-6
    unseen = [axis for axis in range(probe.encoding.axes) if not _axis_is_seen(probe, net, x, axis)]
    if ignored:
        message = "Other positions give the same output: the positions given are not used."
    elif error > BOUND:
        message += " It goes by the order in the tensor instead."
    elif not probe.encoding.goes_by_positions:
        message += " It goes by the positions, and denies it."
    elif apart > BOUND:
        message = (
            "Queries shuffled with their positions, keys left in place, move the outputs by "
            f"{show(apart)} of their "
        )
        message += "size: queries and keys do not each go by their own positions."
    elif unseen:
        message = (
            f"Other positions on axis {unseen[0]} give the same output: that axis is not used."
        )
    ok = error <= BOUND and apart <= BOUND and not ignored and not unseen
    return PropertyResult(
        ok, show(max(error, apart)), message, {"error": error, "queries": apart, "moved": moved}
    )


def _queries_alone(probe: Probe, pos: torch.Tensor, shuffle: torch.Tensor) -> float:
    """How far the outputs move when queries are shuffled with their positions, and keys stay."""
    encoding, (q, k, v) = (
        probe.randomized(),
        (probe.heads(len(pos), more=seed) for seed in range(3)),
    )
    given = states(encoding, pos)
    still = attend(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, **given)
    if given:
        given["q_state"] = given["q_state"][..., shuffle, :]
    q = q[:, :, shuffle]
    moved = attend(q, k, v, encoding=encoding, q_pos=pos[shuffle], k_pos=pos, **given)
    return relative(moved, still[:, :, shuffle])


def _axis_is_seen(probe: Probe, net: Transformer, x: torch.Tensor, axis: int) -> bool:
    """Whether positions that differ on one of several axes give another output."""
    if probe.encoding.axes == 1 or not probe.encoding.tells_order:
        return True
    pos = probe.positions(x.shape[1])
    other = pos.clone()
    other[:, axis] = pos[:, axis].flip(0)
    return relative(net(x, other), net(x, pos)) > 1e-6
