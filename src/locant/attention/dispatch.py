"""Which backend serves a call of attention: the first of one ordered list that does not refuse.

`attend`, a backend that is forced, and `locant.plan` all decide by this list, for prefill and
decoding alike. A condition is asked about a `Request`, and answers with the one reason that holds,
or with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from locant.attention.backends import blocked, flex, fused, reference
from locant.attention.backends.tiled import forward as tiled
from locant.attention.request import Request

MIN_PAIRS = 512 * 512  # queries × keys, from which a bias by distance is better not materialized,
MIN_PAIRS_MATERIALIZED = 1024 * 1024  # and any other bias or mask
FEW_QUERIES = 16  # for which nothing as large as the keys should be copied
FLEX_MIN_WIDTH = 16  # of a head
ON_SCORES = "the encoding works on the scores or the weights themselves"
NO_DROPOUT = "this backend knows no dropout"


class Backend(NamedTuple):
    """One way to compute attention.

    refuses   why it cannot serve a request, or nothing
    unsuited  why another backend is the better choice, or nothing; heeded unless it is forced
    describe  why it is the right choice
    takes     the bias "materialized" or by "blocks", or the "inputs" of which it makes what it
              needs
    run       the kernel: run(q, k, v, what it takes, scale=, drop=)
    """

    name: str
    refuses: Callable[[Request], str]
    unsuited: Callable[[Request], str]
    describe: Callable[[Request], str]
    takes: Literal["materialized", "blocks", "inputs"]
    run: Callable[..., Tensor]


def choose(request: Request, backend: str = "auto") -> Backend:
    """Choose the first backend that neither refuses nor is unsuited.

    A backend that is forced by its name must not refuse; whether it is suited does not matter.
    """
    if backend == "auto":
        return next(
            one for one in BACKENDS if not one.refuses(request) and not one.unsuited(request)
        )
    forced = BACKENDS[NAMES.index(backend)]
    if reason := forced.refuses(request):
        raise ValueError(
            f"backend={backend!r} cannot serve {request.encoding} here: {reason}.\n"
            "  Use 'auto' or 'reference'; locant.plan says what 'auto' takes."
        )
    return forced


def _flex_refuses(request: Request) -> str:
    if request.needs_scores:
        return ON_SCORES
    if request.dropout != "none":
        return NO_DROPOUT
    if not request.eager:
        return "a graph is being traced, so positions cannot be read"
    if request.bias != "toeplitz":
        return "it needs a bias by distance at evenly spaced positions"
    if request.one_piece:
        return request.one_piece
    if request.mask != "none":
        return "this backend knows no mask"
    if request.causal and request.queries > request.keys:
        return "some queries come before every key"
    if not request.key_width == request.head_width == request.value_width:
        return "queries, keys and values must have one width"
    if request.device == "cpu" and request.grad:
        return "torch's flex_attention has no gradients on a CPU"
    return ""


def _flex_unsuited(request: Request) -> str:
    if request.device != "cuda":
        return "it is for CUDA devices"
    if request.dtype == torch.float64:
        return "torch's flex_attention knows no float64"
    if request.head_width < FLEX_MIN_WIDTH or not math.log2(request.head_width).is_integer():
        return f"the width of a head must be a power of two, at least {FLEX_MIN_WIDTH}"
    if request.queries * request.keys < MIN_PAIRS:
        return "so short a bias is better materialized"
    return ""


def _describe_flex(request: Request) -> str:
    return "its bias depends on distance, so that memory grows with length"


def _tiled_refuses(request: Request) -> str:
    if request.needs_scores:
        return ON_SCORES
    if request.dropout != "none":
        return NO_DROPOUT
    if request.device != "cpu":
        return "it is for CPUs"
    if not request.eager or request.transformed:
        return "a graph is traced or transformed, so positions cannot be read"
    if not hasattr(torch.ops.aten, tiled.KERNEL):
        return "this torch lacks the kernel that it builds on"
    if 0 in (request.batch, request.queries, request.keys):
        return "there are no queries or keys"
    if request.bias == "none" and not request.added:
        return "there is no bias and no mask to take by blocks"
    if request.one_piece:
        return request.one_piece
    if request.causal and request.queries > request.keys:
        return "some queries come before every key"
    if not request.key_width == request.head_width == request.value_width:
        return "queries, keys and values must have one width"
    return ""


def _tiled_unsuited(request: Request) -> str:
    if request.bias == "materialized":
        return "so short a bias is better materialized"
    by_distance = request.bias == "toeplitz" and request.mask == "none"
    least = MIN_PAIRS if by_distance else MIN_PAIRS_MATERIALIZED
    if request.queries * request.keys < least:
        return "so short a bias or mask is better materialized"
    return ""


def _describe_tiled(request: Request) -> str:
    what = {
        "toeplitz": "its bias depends on distance and is shown to the kernel as one line",
        "computed": "its bias is computed a block of queries at a time",
        "none": "its mask is taken a block of queries at a time",
    }[request.bias]
    if request.bias != "none" and request.mask != "none":
        what = "bias and mask are taken a block of queries at a time"
    return f"{what}, so that memory grows with length"


def _blocked_refuses(request: Request) -> str:
    if request.needs_scores:
        return ON_SCORES
    if request.dropout != "none":
        return NO_DROPOUT
    return ""


def _blocked_unsuited(request: Request) -> str:
    if request.device != "cpu":
        return "it is for CPUs"
    precise = request.dtype in (torch.float32, torch.float64)
    if not (precise and request.grad and request.eager) or request.transformed:
        return "only gradients in float32 or float64 need it, outside of traced graphs"
    scores = request.batch * request.heads * request.queries * request.keys
    if scores >= reference.MAX_SCORES and request.one_piece:
        return "all weights would fill the memory"
    wide = request.key_width > request.head_width
    if request.bias_learns or (wide and not request.added and not request.causal):
        return ""
    return "the fused kernel serves it as well, and quicker"


def _describe_blocked(request: Request) -> str:
    if request.bias_learns:
        return "its bias learns, and the fused kernel has no gradient for a bias"
    return "its queries are wider than the values, and the fused kernel wants one width"


def _fused_refuses(request: Request) -> str:
    return ON_SCORES if request.needs_scores else ""


def _fused_unsuited(request: Request) -> str:
    if request.dropout == "module":
        return "torch's kernels know only torch's own dropout"
    if request.device != "cpu":
        return ""
    if request.dropout != "none":
        return "torch's kernel for a CPU knows no dropout"
    if request.transformed:
        return "torch's kernel for a CPU knows no transform such as vmap"
    if request.key_width > request.head_width and request.eager and request.queries <= FEW_QUERIES:
        return "it would copy every value to make it as wide as the keys, for a query or a few"
    return ""


def _describe_fused(request: Request) -> str:
    if not request.added:
        return "plain attention"
    return "plain attention and a materialized bias or mask"


def _never(request: Request) -> str:
    return ""


def _describe_reference(request: Request) -> str:
    if request.needs_scores:
        return ON_SCORES
    if request.dropout == "module":
        return "the fused kernels know only torch's own dropout"
    if request.dropout != "none":
        return "the fused kernel of a CPU knows no dropout"
    if request.transformed:
        return "the fused kernel of a CPU knows no transform such as vmap"
    if request.key_width > request.head_width:
        return "the keys are wider than the values, and the fused kernel would copy every value"
    return "its bias must be computed in one piece, and all of it would fill the memory"


BACKENDS = (
    Backend("flex", _flex_refuses, _flex_unsuited, _describe_flex, "blocks", flex.run),
    Backend("tiled", _tiled_refuses, _tiled_unsuited, _describe_tiled, "blocks", tiled.run),
    Backend(
        "blocked",
        _blocked_refuses,
        _blocked_unsuited,
        _describe_blocked,
        "materialized",
        blocked.run,
    ),
    Backend("fused", _fused_refuses, _fused_unsuited, _describe_fused, "materialized", fused.run),
    Backend("reference", _never, _never, _describe_reference, "inputs", reference.run),
)
NAMES = tuple(backend.name for backend in BACKENDS)
