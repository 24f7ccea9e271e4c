"""A cache gives what a full pass gives: keys turned once stay right when more tokens come."""

from __future__ import annotations

import copy
from itertools import pairwise

import torch

from locant.certification.probe import Probe, PropertyResult, relative, show
from locant.nn.transformer import Transformer

NAME = "cache"
SENTENCE = "Going on from cached keys gives what a full pass gives."
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "the two differ in the order of float32 sums alone"


def measure(probe: Probe) -> PropertyResult:
    """The full pass is made by a copy: what it leaves behind in a module must not reach the
    cache."""
    count = min(24, probe.last + 1)
    net = probe.model(probe.randomized(), causal=True)
    x, length = probe.tokens(count), probe.encoding.shape.length
    error = _error(net, x, probe.positions(count, min(1000, probe.last - count + 1)))
    across = probe.positions(
        count, max(0, length - count // 2)
    )  # its middle is the end of the made length
    if not _refuses(net, x, across):
        error = max(error, _error(net, x, across))
    message = (
        f"Outputs differ by {show(error)} of their size between a cache and a full pass of {count} "
        "tokens."
    )
    return PropertyResult(error <= BOUND, show(error), message, {"error": error})


def _error(net: Transformer, x: torch.Tensor, pos: torch.Tensor) -> float:
    """How far outputs from a cache are from those of a full pass, as a share of their size."""
    full, stepping = copy.deepcopy(net)(x, pos), copy.deepcopy(net)
    caches, outs, count = None, [], x.shape[1]
    cuts = [0, count // 2, count // 2 + 1, count - 1, count]
    for begin, end in pairwise(cuts):
        out, caches = stepping.step(x[:, begin:end], pos[begin:end], caches)
        outs.append(out)
    return relative(torch.cat(outs, 1), full)


def _refuses(net: Transformer, x: torch.Tensor, pos: torch.Tensor) -> bool:
    """Whether positions are refused, in whatever way."""
    try:
        copy.deepcopy(net)(x, pos)
    except Exception:
        return True
    return False
