"""One attention, with the five doors of the contract marked.

    q, k = rotate(q, k)                                        door: rotate
    scores = q·kᵀ/√d                                           door: rescore
    scores = scores + bias, −∞ where the mask hides            door: bias
    out = softmax(scores) · v                                  door: mix

`explicit` does this line by line, can return scores and weights, and is the oracle that every quicker path must
equal. `attend` picks the quickest path that an encoding allows (`choose` says which).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.functional import scaled_dot_product_attention as fused

from locant import positions
from locant.checking import check_tensors, positions_for
from locant.dropout import is_quick
from locant.encodings.base import Encoding, needs_scores, overrides
from locant.encodings.none import Nothing
from locant.errors import one_of, share
from locant.paths.blocked import blocked
from locant.paths.flexed import flexed
from locant.paths.masks import hidden
from locant.paths.tiled import tiled
from locant.paths.tiles import ByDistance
from locant.placing import Placed, causal_mask, place, written
from locant.shapes import Shape

PATHS = ("explicit", "blocked", "tiled", "flex", "fused")
MANY = 1 << 16  # numbers of a head's keys that one query is taken through by itself,
TOGETHER = torch.backends.cpu.get_cpu_capability() == "AVX512"  # but where all heads at once are quicker still
FEW = 16  # queries for which nothing as large as the keys should be copied


class Explained(NamedTuple):
    """The output (B,H,Q,d) of attention, and how it came about: scores and weights (B,H,Q,K)."""

    out: Tensor
    scores: Tensor
    weights: Tensor


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    encoding: Encoding | None = None,
    q_pos: Tensor | None = None,
    k_pos: Tensor | None = None,
    causal: bool = False,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    path: str = "auto",
) -> Tensor:
    """Attention of queries (B,H,Q,d) over keys and values (B,G,K,d), H a multiple of G: (B,H,Q,d).

    q_pos, k_pos  (Q) or (B,Q), (K) or (B,K); with a last dimension for the axes when the encoding has some
    causal        by order, not by the positions' values: the last query is aligned with the last key
    mask          boolean, True = may be seen, broadcastable to (B,H,Q,K); a query that sees nothing gives 0
    scale         of the scores, 1/√d by default
    path          "auto", or "explicit", "blocked", "tiled", "flex", "fused" to force one

    The encoding's `embed` acts on a model's input and is not called here.

    >>> q, k, v = torch.randn(3, 2, 4, 10, 16).unbind()
    >>> pos = locant.positions.consecutive(10)
    >>> attend(q, k, v, encoding=make("rotary", dim=64, heads=4), q_pos=pos, k_pos=pos).shape
    torch.Size([2, 4, 10, 16])
    """
    one_of("attend", "path", path, ("auto", *PATHS))
    q, k, placed, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, path)
    drop = nn.Dropout(share("attend", "dropout", dropout)) if dropout else None
    return attend_rotated(q, k, v, placed, scale=scale, drop=drop, path=path)


def explicit(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    encoding: Encoding | None = None,
    q_pos: Tensor | None = None,
    k_pos: Tensor | None = None,
    causal: bool = False,
    mask: Tensor | None = None,
    scale: float | None = None,
) -> Explained:
    """`attend`, line by line, with its scores and weights."""
    q, k, placed, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, "explicit")
    k, v = share_keys(q, k, v)
    return explain_rotated(q, k, v, placed, scale=scale)


def _ready(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Encoding | None,
    q_pos: Tensor | None,
    k_pos: Tensor | None,
    causal: bool,
    mask: Tensor | None,
    scale: float | None,
    path: str,
) -> tuple[Tensor, Tensor, Placed, float]:
    """What was asked, checked: rotated queries and keys, where they are, and the scale."""
    if encoding is None:
        encoding = Nothing(Shape(q.shape[1] * q.shape[-1], q.shape[1]))
    check_tensors(q, k, v, encoding)
    q_pos, k_pos = positions_for(encoding, q, k, q_pos, k_pos)
    placed = place(encoding, q_pos, k_pos, like=q, causal=causal, mask=mask, path=path)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    q, k = rotate(placed, q, k)
    return q, k, placed, scale


class Choice(NamedTuple):
    """One of PATHS, and why it."""

    path: str
    why: str


def choose(placed: Placed, q: Tensor, k: Tensor, drop: nn.Dropout | None = None) -> Choice:
    """The quickest exact path for rotated queries and keys (benchmarks/paths.py)."""
    encoding, width = placed.encoding, placed.encoding.shape.head
    if needs_scores(encoding):
        return Choice("explicit", "it works on the scores or the weights themselves")
    on_cpu = q.device.type == "cpu"
    if is_quick(drop):
        return Choice("explicit", "the fused kernels know only torch's own dropout")
    if on_cpu and drop is not None:
        return Choice("explicit", "the fused kernel of a CPU knows no dropout")
    if on_cpu and positions.in_transform(q):
        return Choice("explicit", "the fused kernel of a CPU knows no transform such as vmap")
    if placed.tiles is not None and k.shape[-1] == width:
        return Choice("tiled" if on_cpu else "flex", f"its bias is {placed.tiles.told}, so memory grows with length")
    if on_cpu and k.shape[-1] > width and q.shape[-2] <= FEW:
        return Choice(
            "explicit", "the fused kernel would copy every value to make it as wide as the keys, for a query or a few"
        )
    placed = written(placed)
    plain = q.dtype in (torch.float32, torch.float64) and positions.visible(q) and torch.is_grad_enabled()
    if on_cpu and plain and placed.add is not None and placed.add.requires_grad:
        return Choice("blocked", "its bias learns, and the fused kernel has no gradient for a bias")
    if on_cpu and plain and k.shape[-1] > width and placed.add is None and not placed.causal:
        return Choice("blocked", "its queries are wider than the values, and the fused kernel wants one width")
    return Choice(
        "fused", "plain attention" if placed.add is None else "plain attention and a bias or a mask, written down"
    )


def attend_rotated(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    placed: Placed,
    *,
    scale: float,
    drop: nn.Dropout | None = None,
    path: str = "auto",
) -> Tensor:
    """Attention of rotated queries and keys by the chosen path; `drop` acts on the weights."""
    shared = q.shape[1] > k.shape[1] and not needs_scores(placed.encoding)
    if shared and q.shape[-2] == 1 and drop is None and path == "auto":
        return _gathered(q, k, v, written(placed), scale)
    k, v = share_keys(q, k, v)
    if placed.tiles is not None and v.shape[-1] != q.shape[-1]:  # the kernel wants one width
        placed = written(placed)
    if path != "auto" and (reason := why_not(path, placed, q, drop)):
        said = f"path={path!r} cannot serve {type(placed.encoding).__name__} here: {reason}."
        raise ValueError(f"{said} Use 'auto' or 'explicit'; locant.plan says what 'auto' takes.")
    chosen = choose(placed, q, k, drop).path if path == "auto" else path
    if chosen == "explicit":
        return explain_rotated(q, k, v, placed, scale=scale, drop=drop).out
    if chosen == "tiled" and placed.tiles is not None:
        out = tiled(q, k, v, placed.tiles, causal=placed.causal, scale=scale)
    elif chosen == "flex" and isinstance(placed.tiles, ByDistance):
        out = flexed(q, k, v, placed.tiles, causal=placed.causal, scale=scale)
    else:
        out = _whole(q, k, v, written(placed), chosen, scale, drop)
    return out if placed.blind is None else out.masked_fill(placed.blind, 0.0)


def _gathered(q: Tensor, k: Tensor, v: Tensor, placed: Placed, scale: float) -> Tensor:
    """One query a head, several heads a key head: as several queries of one head, so that no key is copied."""
    batch, heads, groups = q.shape[0], q.shape[1], k.shape[1]
    add = placed.add
    if add is not None and add.shape[1] > 1:
        add = add.reshape(add.shape[0], groups, -1, add.shape[-1])  # (1|B, H, 1, K) → (1|B, G, H/G, K)
    together = placed._replace(add=add, blind=None)
    out = attend_rotated(q.reshape(batch, groups, -1, q.shape[-1]), k, v, together, scale=scale)
    out = out.reshape(batch, heads, 1, -1)
    return out if placed.blind is None else out.masked_fill(placed.blind, 0.0)


def why_not(path: str, placed: Placed, q: Tensor, drop: nn.Dropout | None = None) -> str:
    """Why a path that is forced cannot serve rotated queries, or nothing."""
    if path != "explicit" and needs_scores(placed.encoding):
        return "it works on scores or weights"
    if path in ("tiled", "flex", "blocked") and drop is not None:
        return "this path knows no dropout"
    if path == "tiled" and (placed.tiles is None or q.device.type != "cpu"):
        return (
            "it needs a bias from positions, some queries and keys, none of the queries before every key, values as wide as "
            "the queries, float32 or float64 on a CPU, no transform or trace around it, and torch's own kernel"
        )
    if path == "flex" and not isinstance(placed.tiles, ByDistance):
        return "it needs a bias by distance, evenly spaced positions and no mask"
    if path == "flex" and q.device.type == "cpu" and torch.is_grad_enabled():
        return "torch's flex_attention has no gradients on a CPU"
    return ""


def _whole(
    q: Tensor, k: Tensor, v: Tensor, placed: Placed, chosen: str, scale: float, drop: nn.Dropout | None
) -> Tensor:
    """With the bias, if there is one, as it is written down."""
    add = None if placed.add is None else placed.add.to(q.dtype)
    if chosen == "blocked":
        add = hidden(causal_mask((q.shape[-2], k.shape[-2]), q.device), q.dtype) if placed.causal else add
        return blocked(q, k, v, add, scale)
    missing = q.shape[-1] - v.shape[-1]  # an encoding may widen q and k; the kernel wants one width
    even = pad(v, (0, missing)) if missing > 0 else v
    share_dropped = 0.0 if drop is None else drop.p
    out = fused(q, k, even, attn_mask=add, is_causal=placed.causal, scale=scale, dropout_p=share_dropped)
    return out[..., : v.shape[-1]]


def explain_rotated(
    q: Tensor, k: Tensor, v: Tensor, placed: Placed, *, scale: float, drop: nn.Dropout | None = None
) -> Explained:
    placed = written(placed)
    q_pos, k_pos = placed.q_pos, placed.k_pos
    precise = torch.promote_types(q.dtype, torch.float32)
    q = q * scale
    scores = _products(q, k).to(precise)  # (B, H, Q, K)
    if overrides(placed.encoding, "rescore"):
        scores = placed.encoding.rescore(scores, q.to(precise), k.to(precise), q_pos, k_pos)
    if placed.add is not None:
        scores = scores + placed.add.to(precise)
    elif placed.causal:
        scores = scores + hidden(causal_mask(scores.shape, scores.device), precise)
    weights = scores.softmax(-1).to(v.dtype)
    if placed.blind is not None:
        weights = weights.masked_fill(placed.blind, 0.0)
    if drop is not None:
        weights = drop(weights)
    return Explained(placed.encoding.mix(weights, v, q_pos, k_pos), scores, weights)


def _products(q: Tensor, k: Tensor) -> Tensor:
    """q·kᵀ, (B,H,Q,K). One query over many keys goes head by head, matrix times vector, where only that is as quick as memory."""
    many = q.device.type == "cpu" and not TOGETHER and k.shape[-2] * k.shape[-1] >= MANY
    if q.shape[-2] != 1 or not many or not k.numel() or not positions.visible(k):
        return q @ k.mT
    keys = [head for row in k.unbind() for head in row.unbind()]  # (K, d) each
    each = [head @ query for head, query in zip(keys, q.flatten(0, 2).unbind(), strict=True)]
    return torch.stack(each).view(*q.shape[:-1], -1)


def rotate(placed: Placed, q: Tensor, k: Tensor, k_pos: Tensor | None = None) -> tuple[Tensor, Tensor]:
    k_pos = placed.k_pos if k_pos is None else k_pos
    if overrides(placed.encoding, "tables"):
        return placed.encoding.rotate(q, k, placed.q_pos, k_pos, tables=placed.tables)  # type: ignore[call-arg]
    return placed.encoding.rotate(q, k, placed.q_pos, k_pos)


def share_keys(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Grouped heads: every key head serves H/G query heads."""
    groups = q.shape[1] // k.shape[1]
    return (k, v) if groups == 1 else (k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1))
