"""Self-attention as a layer: projections around `attend`, attention weights, decoding with a
cache."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from locant._internal.checks import share, warn_renamed, whole_number
from locant.attention import calls
from locant.attention.backends.reference import attend_with_weights
from locant.attention.inputs import AttentionInputs, prepare, prepare_step
from locant.attention.kv_cache import Cache, append
from locant.attention.validation import check_tokens, need_encoding
from locant.encodings.base import Encoding
from locant.encodings.hooks import rotate, sense
from locant.positions import Mask, densify
from locant.shapes import Shape


class Attention(nn.Module):
    """Self-attention with projections: (B,T,D) → (B,T,D).

    encoding  acts through all its hooks, `embed` included
    kv_heads  fewer key heads than query heads (grouped-query attention); as many by default

    >>> layer = Attention(make("rotary", dim=32, heads=4), kv_heads=2)
    >>> layer(torch.randn(2, 5, 32), locant.positions.consecutive(5), causal=True).shape
    torch.Size([2, 5, 32])
    """

    def __init__(
        self,
        encoding: Encoding,
        *,
        kv_heads: int | None = None,
        projection_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        need_encoding("Attention", encoding)
        self.encoding = encoding
        drop = nn.Dropout(share("Attention", "dropout", dropout))
        self.core = Projections(
            encoding.shape, kv_heads=kv_heads, projection_bias=projection_bias, drop=drop
        )
        width = encoding.shape.dim + encoding.added_width
        self.fuse = nn.Linear(width, encoding.shape.dim) if encoding.added_width else nn.Identity()

    def forward(
        self, x: Tensor, pos: Tensor, *, causal: bool = False, mask: Mask | None = None
    ) -> Tensor:
        """Attend from tokens x (B,T,D) at positions pos (T) or (B,T): (B,T,D)."""
        return self.core(*self._prepare(x, pos, causal, mask))

    def forward_with_weights(
        self, x: Tensor, pos: Tensor, *, causal: bool = False, mask: Mask | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the output of `forward` and the attention weights (B,H,T,T)."""
        mask = densify(mask, x)
        return self.core.forward_with_weights(*self._prepare(x, pos, causal, mask))

    def look(
        self, x: Tensor, pos: Tensor, *, causal: bool = False, mask: Mask | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return what `forward_with_weights` returns; the earlier name of it."""
        warn_renamed("Attention.look", "Attention.forward_with_weights")
        return self.forward_with_weights(x, pos, causal=causal, mask=mask)

    def step(
        self, x: Tensor, pos: Tensor, cache: Cache | None = None, *, mask: Mask | None = None
    ) -> tuple[Tensor, Cache]:
        """Attend causally from new tokens x (B,T,D) to the cache and themselves: output, new
        cache."""
        before = None if cache is None else cache.pos
        mask = check_tokens(self.encoding, x, pos, mask, cached=cached_tokens(cache))
        check_cache(cache, x)
        x = self.fuse(self.encoding.embed(x, pos))
        inputs = prepare_step(self.encoding, pos, before, like=x, mask=mask)
        return self.core.step(x, inputs, cache)

    def _prepare(
        self, x: Tensor, pos: Tensor, causal: bool, mask: Mask | None
    ) -> tuple[Tensor, AttentionInputs]:
        """Check and embed tokens; prepare what positions and the mask decide."""
        mask = check_tokens(self.encoding, x, pos, mask)
        embedded = self.fuse(self.encoding.embed(x, pos))
        return embedded, prepare(self.encoding, pos, pos, like=x, causal=causal, mask=mask)


class Projections(nn.Module):
    """The learned part of attention; what positions decide comes in as `AttentionInputs`."""

    def __init__(
        self,
        shape: Shape,
        *,
        kv_heads: int | None = None,
        projection_bias: bool = True,
        drop: nn.Dropout | None = None,
    ) -> None:
        super().__init__()
        self.shape, self.drop = shape, nn.Dropout(0.0) if drop is None else drop
        self.kv_heads = (
            shape.heads if kv_heads is None else whole_number("Attention", "kv_heads", kv_heads)
        )
        if shape.heads % self.kv_heads:
            raise ValueError(
                f"heads={shape.heads} cannot share kv_heads={self.kv_heads}: the one must divide "
                "the other."
            )
        self.qkv = nn.Linear(
            shape.dim, shape.dim + 2 * self.kv_heads * shape.head, bias=projection_bias
        )
        self.out = nn.Linear(shape.dim, shape.dim, bias=projection_bias)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project x (B,T,D) to q (B,H,T,d), k and v (B,G,T,d)."""
        d, kv = self.shape.head, self.kv_heads
        parts = self.qkv(x).unflatten(-1, (-1, d)).transpose(1, 2)  # (B, H + 2G, T, d)
        q, k, v = parts.split([self.shape.heads, kv, kv], 1)
        return q, k, v

    def forward(self, x: Tensor, inputs: AttentionInputs) -> Tensor:
        q, k, v, inputs = self._rotated(x, inputs)
        return self._finish(q, k, v, inputs)

    def forward_with_weights(self, x: Tensor, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        """Return the output of `forward` and the attention weights (B,H,T,T)."""
        q, k, v, inputs = self._rotated(x, inputs)
        k, v = calls.repeat_key_heads(q, k, v)
        seen = attend_with_weights(q, k, v, inputs, scale=self.shape.head**-0.5)
        return self.out(seen.out.transpose(1, 2).flatten(2)), seen.weights

    def step(self, x: Tensor, inputs: AttentionInputs, cache: Cache | None) -> tuple[Tensor, Cache]:
        """Attend from new tokens to the cache and themselves; `inputs` is from `prepare_step`."""
        encoding, q_pos, k_pos = inputs.encoding, inputs.q_pos, inputs.k_pos
        states = sense(encoding, x, q_pos, None if cache is None else cache.state)
        inputs = inputs if states is None else replace(inputs, states=states)
        q, k, v = self.project(x)
        if encoding.cacheable_keys:  # old keys stay as they were rotated
            q, k = rotate(encoding, q, k, q_pos, q_pos, inputs.precomputed)
        state = None if states is None else states.k
        if cache is None:
            cache = Cache(k, v, k_pos, state)
        else:
            cache = append(cache, k, v, k_pos, state)
        k, v = cache.k, cache.v
        if not encoding.cacheable_keys:
            q, k = rotate(encoding, q, k, q_pos, k_pos, inputs.precomputed)
        return self._finish(q, k, v, inputs), cache

    def _rotated(
        self, x: Tensor, inputs: AttentionInputs
    ) -> tuple[Tensor, Tensor, Tensor, AttentionInputs]:
        """Give rotated q and k, v, and the inputs with the states of these tokens."""
        encoding, q_pos, k_pos = inputs.encoding, inputs.q_pos, inputs.k_pos
        states = sense(encoding, x, q_pos)
        inputs = inputs if states is None else replace(inputs, states=states)
        q, k, v = self.project(x)
        q, k = rotate(encoding, q, k, q_pos, k_pos, inputs.precomputed)
        return q, k, v, inputs

    def _finish(self, q: Tensor, k: Tensor, v: Tensor, inputs: AttentionInputs) -> Tensor:
        drop = self.drop if self.training and self.drop.p else None
        mixed = calls.run(q, k, v, inputs, scale=self.shape.head**-0.5, drop=drop)
        return self.out(mixed.transpose(1, 2).flatten(2))  # (B, H, T, d) → (B, T, D)


def cached_tokens(cache: Cache | None) -> int:
    """Count the tokens in a cache."""
    return 0 if cache is None else cache.k.shape[-2]


def check_cache(cache: Cache | None, x: Tensor) -> None:
    """Refuse a cache of another batch."""
    if cache is not None and cache.k.shape[0] != x.shape[0]:
        raise ValueError(
            f"the cache holds {cache.k.shape[0]} rows, but {x.shape[0]} rows of new tokens were "
            "given."
        )
