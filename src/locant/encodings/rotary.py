r"""Rotary: queries and keys are rotated by their positions, so that scores see differences alone.

    (q_a, q_b) at position m rotates by the angle m·θ_c,  (k_a, k_b) at position n by n·θ_c
    (a, b) = (c, c + d/2) for pairing="half", the default, or (2c, 2c + 1) for pairing="interleaved"
    θ_c = base^(−2c/d),  c = 0..d/2−1
    score(m, n) = Σ_c ((q_a·k_a + q_b·k_b)·cos((m − n)·θ_c)
                       + (q_a·k_b − q_b·k_a)·sin((m − n)·θ_c))/√d

Su et al. 2021, arXiv:2104.09864, §3.2. The paper interleaves its pairs; Llama pairs the two halves.
The pairings are not interchangeable (`permute_for_pairing` converts weights). width < d turns only
the first dimensions, and stands for d in pairs and angles. With axes > 1 the pairs are split over
the axes, each with frequencies of its own, from one base or from a list with a base for each axis.
With sections=[t, h, w] (M-RoPE) there is one row of frequencies over the width instead, and each
pair takes one axis: in chunks (Qwen2-VL) or interleaved (Qwen3-VL), see _rope/sections.py. The
scalings stand in _rope/scalings.py; what multiplies far queries, in _temperature.py.

When to use it: as the first choice for a decoder, and for an encoder too: relative positions at
every layer, no parameters, plain fused kernels, any real position.

Traps: the two pairings are not interchangeable, and the wrong one fails in silence. Angles computed
in bfloat16 are a whole radian off at position 257. It has a value past the trained length, but a
model rarely works there without a scaling. Dynamic scalings make cached keys stale. YaRN and
LongRoPE also scale the vectors. It does not, by itself, prefer near tokens.

Used by: GPT-NeoX, GPT-J, PaLM, Llama, Mistral, Qwen, Gemma, ModernBERT and most large language
models since 2022.

>>> def turned(x, pos, **options):
...     x, pos = torch.tensor(x).view(1, 1, 1, -1), torch.tensor([pos])
...     q, _ = make("rotary", dim=x.numel(), **options).rotate(x, x, pos, pos)
...     return [round(value, 4) for value in q.flatten().tolist()]
>>> turned([1.0, 0.0, 1.0, 0.0], 3, pairing="interleaved")     # cos 3, sin 3, cos 0.03, sin 0.03
[-0.99, 0.1411, 0.9996, 0.03]
>>> turned([1.0, 1.0, 0.0, 0.0], 3, pairing="half", base=100.0)     # cos 3, cos 0.3, sin 3, sin 0.3
[-0.99, 0.9553, 0.1411, 0.2955]
>>> # the exponent is over the width
>>> turned([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 3, pairing="interleaved", width=4)
[-0.99, 0.1411, 0.9996, 0.03, 1.0, 0.0]
>>> turned([1.0, 0.0, 1.0, 0.0], [3, 0], pairing="interleaved", axes=2)
[-0.99, 0.1411, 1.0, 0.0]
>>> # sin 3 with base 10000, sin 2·0.1 with base 100
>>> turned([1.0, 0.0] * 4, [3, 2], pairing="interleaved", axes=2, base=[10_000.0, 100.0])[1::2]
[0.1411, 0.03, 0.9093, 0.1987]
>>> # the angles are 3, 3·0.1, 2·0.01, 5·0.001
>>> turned([1.0, 0.0] * 4, [3, 2, 5], pairing="interleaved", sections=[2, 1, 1])[1::2]
[0.1411, 0.2955, 0.02, 0.005]
>>> # θ = 1, 0.1, 0, 0: the slow half of the pairs stands still
>>> turned([1.0, 0.0] * 4, 3, pairing="interleaved", scaling={"type": "proportional", "share": 0.5})
[-0.99, 0.1411, 0.9553, 0.2955, 1.0, 0.0, 1.0, 0.0]
>>> # times 0.1·ln 4 + 1
>>> turned([1.0, 0.0], 3, scaling={"type": "yarn", "factor": 4.0, "original_length": 2048})
[-1.1272, 0.1607]
>>> # 8 in use: base·2², so θ = 1, 0.005
>>> dynamic = {"type": "dynamic-ntk", "factor": 1.0, "original_length": 4}
>>> # cos 7, sin 7, cos 0.035, sin 0.035
>>> turned([1.0, 0.0, 1.0, 0.0], 7, pairing="interleaved", scaling=dynamic)
[0.7539, 0.657, 0.9994, 0.035]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._rope.half_pairs import serves, turn_blocks
from locant.encodings._rope.hf_config import rotary_options
from locant.encodings._rope.scalings import Scaling, read_scaling
from locant.encodings._rope.sections import axis_of_each_pair, check_sections
from locant.encodings._temperature import QueryTemperature, read_temperature
from locant.encodings._waves import axial_angles, frequencies
from locant.encodings.base import Encoding, wide
from locant.positions import visible
from locant.shapes import Shape

PAIRINGS = ("half", "interleaved")
SECTION_LAYOUTS = ("chunked", "interleaved")


class Rotary(Encoding):
    """Pairs of dimensions turn with the position."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    paper = "Su et al. 2021, arXiv:2104.09864"

    def __init__(
        self,
        shape: Shape,
        *,
        base: float | Sequence[float] = 10_000.0,
        pairing: str = "half",
        width: int | None = None,
        axes: int = 1,
        scaling: Scaling | Mapping[str, Any] | None = None,
        sections: Sequence[int] | None = None,
        section_layout: str = "chunked",
        query_temperature: QueryTemperature | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(shape)
        self.pairing = one_of("rotary", "pairing", pairing, PAIRINGS)
        self.width = shape.head if width is None else whole_number("rotary", "width", width)
        self.axes = whole_number("rotary", "axes", axes)
        self.scaling = read_scaling(scaling)
        self.section_layout = one_of("rotary", "section_layout", section_layout, SECTION_LAYOUTS)
        _check_width(self.width, self.axes if sections is None else 1, shape)
        self.sections: tuple[int, ...] | None = None
        if sections is not None:
            self.sections = check_sections(sections, section_layout, self.width, self.axes)
            self.axes = len(self.sections)
        self.base = _check_base(base, self.axes, self.sections)
        self.query_temperature = read_temperature("rotary", query_temperature, self.axes)
        self.frequencies()  # what a scaling cannot do with this width shows now
        if self.scaling is not None and self.scaling.grows:
            # more tokens, or larger positions, change all angles
            self.cacheable_keys = self.shift_invariant = False
        if self.query_temperature is not None:
            # it grows in steps with the position itself
            self.shift_invariant = self.bounded = False
            self.linear_offset = self.real_positions = False

    @classmethod
    def from_hf_config(cls, config: Any, *, pairing: str | None = None) -> Rotary:
        """Read the rotary encoding of a transformers config, or of its dict; what cannot be read
        right is a ValueError.

        pairing  that of the config's model_type; "half" for a dict without one; needed for model
                 types not compared yet
        """
        shape, options = rotary_options(config, pairing)
        return cls(shape, **options)

    @property
    def scale(self) -> float:
        """What rotated queries and rotated keys are each multiplied by (YaRN, LongRoPE)."""
        return 1.0 if self.scaling is None else self.scaling.vector_scale

    @property
    def logit_scale(self) -> float:
        """What the scores are multiplied by in the end: scale²."""
        return self.scale**2

    def frequencies(self, length: int | Tensor = 0, device: torch.device | None = None) -> Tensor:
        """θ of every pair of one axis, in float64: (width/(2·axes)); (axes, width/(2·axes)) where
        each axis has its base, (width/2) with sections. Some scalings depend on the length in
        use."""
        used = torch.as_tensor(length, device=device)
        if isinstance(self.base, tuple):
            return torch.stack([self._frequencies(base, used) for base in self.base])
        return self._frequencies(self.base, used)

    def _frequencies(self, base: float, used: Tensor) -> Tensor:
        width = self.width // self.axes if self.sections is None else self.width
        if self.scaling is None:
            return frequencies(width, base, used.device)
        return self.scaling.frequencies(width, base, used.to(wide(used.device)))

    def temperature(self, q_pos: Tensor) -> Tensor | None:
        return None if self.query_temperature is None else self.query_temperature.at(q_pos)

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """What turns the queries and what turns the keys, each (…, 1, T, ·)."""
        theta = self.frequencies(self._length(q_pos, k_pos), q_pos.device)
        for_q = self._table(q_pos, theta, dtype)
        return for_q, for_q if k_pos is q_pos else self._table(k_pos, theta, dtype)

    def _length(self, q_pos: Tensor, k_pos: Tensor) -> int | Tensor:
        """How many positions are in use: the largest, plus one."""
        if self.scaling is None or not self.scaling.grows:
            return 0
        if not q_pos.numel() or not k_pos.numel():
            return 0
        largest = [
            pos.max() if pos.is_floating_point() else pos.long().max() for pos in (q_pos, k_pos)
        ]
        return torch.maximum(*largest) + 1

    def _table(self, pos: Tensor, theta: Tensor, dtype: torch.dtype) -> Tensor:
        angle = self._angles(pos, theta).unsqueeze(-3)  # (…, 1, T, pairs)
        cosine, sine = angle.cos() * self.scale, angle.sin() * self.scale
        return turning_table(cosine, sine, self.pairing, dtype)

    def _angles(self, pos: Tensor, theta: Tensor) -> Tensor:
        """The angle of every pair: (…, T, pairs)."""
        if self.sections is None:
            return axial_angles(pos, theta, self.axes)
        axis = axis_of_each_pair(self.sections, self.section_layout, self.width // 2)
        return pos[..., axis].to(theta.dtype) * theta

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        precomputed: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        for_q, for_k = (
            self.precompute(q_pos, k_pos, q.dtype) if precomputed is None else precomputed
        )
        return self._turn(q, for_q), self._turn(k, for_k)

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Rotate keys on by the difference of the positions; their scale is in them already."""
        moved = new_pos.to(wide(k.device)) - old_pos.to(wide(k.device))
        table = self._table(moved, self.frequencies(device=k.device), k.dtype)
        return self._turn(k, table / self.scale)

    def _turn(self, x: Tensor, table: Tensor) -> Tensor:
        turn = turn_interleaved if self.pairing == "interleaved" else turn_half
        if self.width == x.shape[-1]:
            return turn(x, table)
        return torch.cat([turn(x[..., : self.width], table), x[..., self.width :]], -1)


def _check_width(width: int, axes: int, shape: Shape) -> None:
    """Refuse a rotated width that does not come in pairs for each axis, or is wider than a head."""
    if width <= shape.head and width % (2 * axes) == 0:
        return
    fits = min(width, shape.head) // (2 * axes) * (2 * axes)
    what = "pairs" if axes == 1 else f"pairs for each of {axes} axes"
    hint = f"Use width={fits} to turn only the first {fits}, or another" if fits else "Use another"
    raise ValueError(
        f"rotary turns dimensions in {what}: the rotated width {width} must be a "
        f"multiple of {2 * axes} "
        f"and at most the head width {shape.head} (= dim {shape.dim} / heads {shape.heads}).\n"
        f"  {hint} dim or heads."
    )


def _check_base(base: Any, axes: int, sections: Any) -> float | tuple[float, ...]:
    """The base as a number, or as one number for each axis."""
    if not isinstance(base, list | tuple):
        return positive("rotary", "base", base)
    if axes == 1 or len(base) != axes or sections is not None:
        why = "sections share one row of frequencies" if sections else f"there are axes={axes}"
        raise ValueError(
            f"rotary was asked for base={base!r}, a base for each axis, but {why}.\n"
            "  Give one number, or as many numbers as there are axes (axes=2 and more)."
        )
    return tuple(positive("rotary", "base", one) for one in base)


def turning_table(cosine: Tensor, sine: Tensor, pairing: str, dtype: torch.dtype) -> Tensor:
    """What `turn_half` or `turn_interleaved` multiplies vectors of a dtype by, (…, T, ·), from the
    cosine and the sine of every pair, (…, T, pairs)."""
    real = torch.promote_types(dtype, torch.float32)
    cosine, sine = cosine.to(real), sine.to(real)
    if pairing == "interleaved":
        return torch.complex(cosine, sine)
    return torch.stack([torch.cat([cosine, cosine], -1), torch.cat([-sine, sine], -1)])


def turn_interleaved(x: Tensor, table: Tensor) -> Tensor:
    """(x_2c, x_2c+1) times e^{iφ_c}: one complex product, at the speed of memory."""
    wide_x = x.to(torch.promote_types(x.dtype, torch.float32))
    pairs = torch.view_as_complex(_in_pairs(wide_x.unflatten(-1, (-1, 2))))  # (…, T, d/2)
    turned = torch.view_as_real(pairs * table)
    if turned.requires_grad and visible(turned):
        turned.register_hook(_in_pairs)  # torch reads a gradient as complex numbers wherever it is
    return turned.flatten(-2).to(x.dtype)


def _in_pairs(x: Tensor) -> Tensor:
    """x where its neighbours can be read as complex numbers; what is contiguous may still begin at
    an odd place."""
    return x if _lies_in_pairs(x) else x.clone(memory_format=torch.contiguous_format)


def _lies_in_pairs(x: Tensor) -> bool:
    """Whether neighbours can be read as complex numbers where they are (a graph that is traced
    cannot tell)."""
    return (
        visible(x)
        and x.stride(-1) == 1
        and not any(step % 2 for step in (*x.stride()[:-1], x.storage_offset()))
    )


def turn_half(x: Tensor, table: Tensor) -> Tensor:
    """(x_c, x_c+d/2) turned: x·[cos, cos] + [x_2, x_1]·[−sin, sin]."""
    wide_x = x.to(table.dtype)
    if serves(wide_x, table):
        return turn_blocks(wide_x, table).to(x.dtype)
    swapped = wide_x.roll(x.shape[-1] // 2, -1)
    return torch.addcmul(wide_x * table[0], swapped, table[1]).to(x.dtype)


def permute_for_pairing(weight: Tensor, *, heads: int, to: str, width: int | None = None) -> Tensor:
    """Reorder the rows of a query or key projection, (H·d, …), from the other pairing to `to`.

    A model trained with one pairing then gives the same scores with the other. For grouped heads,
    give the number of key heads for the key projection; `width` is the rotated width of a partial
    rotary.

    >>> permute_for_pairing(torch.arange(4), heads=1, to="half").tolist()
    [0, 2, 1, 3]
    """
    one_of("permute_for_pairing", "to", to, PAIRINGS)
    rows = weight.shape[0]
    if rows % heads:
        raise ValueError(f"a weight with {rows} rows cannot be shared among heads={heads}.")
    head = rows // heads
    width = head if width is None else width
    if width % 2 or width > head:
        raise ValueError(
            f"the rotated width {width} must be even and at most the head width {head}."
        )
    order = torch.arange(head, device=weight.device)
    grid = order[:width].view(-1, 2).T if to == "half" else order[:width].view(2, -1).T
    order = torch.cat([grid.reshape(-1), order[width:]])
    return weight.unflatten(0, (heads, head))[:, order].flatten(0, 1)
