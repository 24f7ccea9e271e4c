"""Attention with an encoding: its hooks, in the order in which they act.

    q, k = rotate(q, k)                                        hook: rotate
    scores = q·kᵀ/√d                                           hook: rescore
    scores = scores + bias, −∞ where the mask hides            hook: bias
    out = softmax(scores) · v                                  hook: mix

`attend` takes the quickest exact backend (`locant.attention.dispatch`); `explicit` computes line by
line and returns scores and weights too.
"""

from __future__ import annotations

from torch import Tensor, nn

from locant._internal.checks import finite, one_of, share, warn_renamed
from locant.attention import calls
from locant.attention.backends.reference import AttentionWithWeights, attend_with_weights
from locant.attention.dispatch import NAMES
from locant.attention.inputs import AttentionInputs, prepare
from locant.attention.validation import check_call
from locant.encodings.base import Encoding
from locant.encodings.hooks import rotate
from locant.encodings.none import Nothing
from locant.positions import Mask, densify
from locant.shapes import Shape

LAYOUTS = ("BHTd", "BTHd")


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    encoding: Encoding | None = None,
    q_pos: Tensor | None = None,
    k_pos: Tensor | None = None,
    causal: bool = False,
    mask: Mask | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    backend: str = "auto",
    path: str | None = None,
    layout: str = "BHTd",
    q_state: Tensor | None = None,
    k_state: Tensor | None = None,
) -> Tensor:
    """Attend from queries (B,H,Q,d) to keys and values (B,G,K,d), H a multiple of G: (B,H,Q,d).

    q_pos, k_pos  (Q) or (B,Q), (K) or (B,K); with a last dimension for the axes when the encoding
                  has some
    causal        by order, not by the positions' values: the last query is aligned with the last
                  key
    mask          boolean, True = may be seen, broadcastable to (B,H,Q,K); a query that sees nothing
                  gives 0. Or a `positions.SegmentMask` of packed sequences, which needs no (Q,K)
                  tensor
    scale         of the scores, 1/√d by default
    backend       "auto", or "reference", "fused", "blocked", "tiled", "flex" to force one
    path          an earlier name of `backend`
    layout        of q, k, v and the output: "BHTd", or "BTHd" for (batch, tokens, heads, width);
                  masks, states and the encoding's hooks keep their own order
    q_state,      what `encoding.sense` returned for the tokens of the queries (B,1|H,Q,·) and of
    k_state       the keys (B,1|H,K,·), if the encoding has states

    The encoding's `embed` acts on a model's input and is not called here.

    >>> q, k, v = torch.randn(3, 2, 4, 10, 16).unbind()
    >>> pos = locant.positions.consecutive(10)
    >>> attend(q, k, v, encoding=make("rotary", dim=64, heads=4), q_pos=pos, k_pos=pos).shape
    torch.Size([2, 4, 10, 16])
    >>> q, k, v = torch.randn(3, 2, 10, 4, 16).unbind()
    >>> attend(q, k, v, layout="BTHd").shape
    torch.Size([2, 10, 4, 16])
    """
    if path is not None:
        new = "reference" if path == "explicit" else path
        warn_renamed(f"attend(path={path!r})", f"attend(backend={new!r})")
        if backend not in ("auto", new):
            raise ValueError(
                f"attend was given backend={backend!r} and its earlier name path={path!r}: "
                "leave path out."
            )
        backend = new
    one_of("attend", "backend", backend, ("auto", *NAMES))
    states = (q_state, k_state)
    q, k, v = _heads_first("attend", layout, q, k, v, encoding)
    q, k, inputs, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, states)
    drop = nn.Dropout(share("attend", "dropout", dropout)) if dropout else None
    out = calls.run(q, k, v, inputs, scale=scale, drop=drop, backend=backend)
    return out if layout == "BHTd" else out.transpose(1, 2)


def explicit(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    encoding: Encoding | None = None,
    q_pos: Tensor | None = None,
    k_pos: Tensor | None = None,
    causal: bool = False,
    mask: Mask | None = None,
    scale: float | None = None,
    layout: str = "BHTd",
    q_state: Tensor | None = None,
    k_state: Tensor | None = None,
) -> AttentionWithWeights:
    """Attend as `attend` does, line by line, and return scores and weights (B,H,Q,K) too."""
    states = (q_state, k_state)
    q, k, v = _heads_first("explicit", layout, q, k, v, encoding)
    mask = densify(mask, q)
    q, k, inputs, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, states)
    k, v = calls.repeat_key_heads(q, k, v)
    found = attend_with_weights(q, k, v, inputs, scale=scale)
    return found if layout == "BHTd" else found._replace(out=found.out.transpose(1, 2))


def _heads_first(
    owner: str, layout: str, q: Tensor, k: Tensor, v: Tensor, encoding: Encoding | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values as (B,H,T,d); the checks refuse what is no such tensor."""
    if one_of(owner, "layout", layout, LAYOUTS) == "BHTd":
        return q, k, v
    if not all(isinstance(one, Tensor) and one.dim() == 4 for one in (q, k, v)):
        return q, k, v
    if isinstance(encoding, Encoding) and q.shape[2] != encoding.shape.heads == q.shape[1]:
        raise ValueError(
            f"layout='BTHd' is (batch, tokens, heads, width), but q has the shape "
            f"{tuple(q.shape)} and {encoding.shape.heads} heads: heads and tokens are swapped.\n"
            "  Leave layout out."
        )
    return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)


def _ready(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Encoding | None,
    q_pos: Tensor | None,
    k_pos: Tensor | None,
    causal: bool,
    mask: Mask | None,
    scale: float | None,
    states: tuple[Tensor | None, Tensor | None],
) -> tuple[Tensor, Tensor, AttentionInputs, float]:
    """Check the arguments; return rotated queries and keys, the prepared inputs, and the scale."""
    if encoding is None:
        encoding = Nothing(Shape(q.shape[1] * q.shape[-1], q.shape[1]))
    q_pos, k_pos, mask, own = check_call(encoding, q, k, v, q_pos, k_pos, mask, states)
    scale = q.shape[-1] ** -0.5 if scale is None else finite("attend", "scale", scale)
    inputs = prepare(encoding, q_pos, k_pos, like=q, causal=causal, mask=mask, states=own)
    q, k = rotate(encoding, q, k, q_pos, k_pos, inputs.precomputed)
    q, scale = _with_positive_scale(q, scale)
    return q, k, inputs, scale


def _with_positive_scale(q: Tensor, scale: float) -> tuple[Tensor, float]:
    """Let the queries carry the sign of the scale, so that kernels see a positive one.

    torch's causal kernel for CPUs hides a score by −∞ before it scales: times 0 that is NaN, and
    times a negative number +∞.
    """
    if scale > 0:
        return q, scale
    return (-q, -scale) if scale else (0 * q, 1.0)
