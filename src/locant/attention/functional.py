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
from locant.attention import dispatch
from locant.attention.backends.reference import AttentionWithWeights, attend_with_weights
from locant.attention.inputs import AttentionInputs, prepare, rotate
from locant.attention.validation import check_states, check_tensors, positions_for
from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.shapes import Shape


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
    backend: str = "auto",
    path: str | None = None,
    q_state: Tensor | None = None,
    k_state: Tensor | None = None,
) -> Tensor:
    """Attend from queries (B,H,Q,d) to keys and values (B,G,K,d), H a multiple of G: (B,H,Q,d).

    q_pos, k_pos  (Q) or (B,Q), (K) or (B,K); with a last dimension for the axes when the encoding
                  has some
    causal        by order, not by the positions' values: the last query is aligned with the last
                  key
    mask          boolean, True = may be seen, broadcastable to (B,H,Q,K); a query that sees nothing
                  gives 0
    scale         of the scores, 1/√d by default
    backend       "auto", or "reference", "fused", "blocked", "tiled", "flex" to force one
    path          an earlier name of `backend`
    q_state,      what `encoding.sense` returned for the tokens of the queries (B,1|H,Q,·) and of
    k_state       the keys (B,1|H,K,·), if the encoding has states

    The encoding's `embed` acts on a model's input and is not called here.

    >>> q, k, v = torch.randn(3, 2, 4, 10, 16).unbind()
    >>> pos = locant.positions.consecutive(10)
    >>> attend(q, k, v, encoding=make("rotary", dim=64, heads=4), q_pos=pos, k_pos=pos).shape
    torch.Size([2, 4, 10, 16])
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
    one_of("attend", "backend", backend, ("auto", *dispatch.NAMES))
    states = _states(q_state, k_state)
    q, k, inputs, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, states)
    drop = nn.Dropout(share("attend", "dropout", dropout)) if dropout else None
    return dispatch.run(q, k, v, inputs, scale=scale, drop=drop, backend=backend)


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
    q_state: Tensor | None = None,
    k_state: Tensor | None = None,
) -> AttentionWithWeights:
    """Attend as `attend` does, line by line, and return scores and weights too."""
    states = _states(q_state, k_state)
    q, k, inputs, scale = _ready(q, k, v, encoding, q_pos, k_pos, causal, mask, scale, states)
    k, v = dispatch.repeat_key_heads(q, k, v)
    return attend_with_weights(q, k, v, inputs, scale=scale)


def _states(q_state: Tensor | None, k_state: Tensor | None) -> tuple[Tensor, Tensor] | None:
    """Return both states, or None when there are none."""
    if q_state is None and k_state is None:
        return None
    if q_state is None or k_state is None:
        raise ValueError("q_state and k_state are given together, or neither of them.")
    return q_state, k_state


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
    states: tuple[Tensor, Tensor] | None,
) -> tuple[Tensor, Tensor, AttentionInputs, float]:
    """Check the arguments; return rotated queries and keys, the prepared inputs, and the scale."""
    if encoding is None:
        encoding = Nothing(Shape(q.shape[1] * q.shape[-1], q.shape[1]))
    check_tensors(q, k, v, encoding)
    q_pos, k_pos = positions_for(encoding, q, k, q_pos, k_pos)
    inputs = prepare(encoding, q_pos, k_pos, like=q, causal=causal, mask=mask)
    check_states(encoding, states, inputs.sizes)
    if states is not None:
        inputs = inputs.with_states(*states)
    scale = q.shape[-1] ** -0.5 if scale is None else finite("attend", "scale", scale)
    q, k = rotate(inputs, q, k)
    return q, k, inputs, scale
