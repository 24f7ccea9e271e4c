r"""Stretching rotary frequencies so that a model reaches past the length it was trained on.

Each scaling maps the pairs' frequencies θ_c = base^(−2c/d) to new ones, and may scale the rotated
vectors (`scale`, once for queries and once for keys, so the scores by its square:
`Rotary.logit_scale`). s is the factor, L0 the original length, L the length in use, λ = 2π/θ the
wavelength.

    linear       θ/s
    ntk          base → base·s^(d/(d−2))
    dynamic-ntk  base → base·(s·L/L0 − (s−1))^(d/(d−2)),  L ≥ L0
    yarn         θ/s where a pair turns less than β_slow times in L0, θ where more than β_fast
                 times, a ramp between;
                 scale 0.1·ln s + 1
    longrope     θ_c/factor_c, one list up to L0 and one beyond it; scale √(1 + ln s/ln L0)
    llama3       θ where λ < L0/high, θ/s where λ > L0/low, a ramp between
    proportional θ/s for the first ⌊share·d/2⌋ pairs, 0 for the others: p-RoPE (Barbero et al.
                 2024, arXiv:2410.06205; Gemma 4). Not a partial width: the exponents and the
                 pairing go over the whole d
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import build_from_settings, one_of, positive, whole_number
from locant.encodings._waves import frequencies


@dataclass(frozen=True)
class Scaling:
    """What all scalings share."""

    factor: float

    grows = (
        False  # whether the frequencies depend on the length in use, so that rotated keys go stale
    )

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "original_length":
                whole_number("the scaling", "original_length", value, least=2)
            elif field.name in ("short", "long"):
                _positive_list(field.name, value)
            elif field.name == "truncate":
                if not isinstance(value, bool):
                    raise ValueError(
                        f"the scaling needs true or false for truncate. Got {value!r} instead."
                    )
            elif field.name == "share":
                _share_of_pairs(value)
            elif not (field.name == "scale" and value is None):
                positive("the scaling", field.name, value)

    def config(self) -> dict[str, Any]:
        """Give the plain values that `read_scaling` makes it from.

        >>> Linear(factor=4.0).config()
        {'type': 'linear', 'factor': 4.0}
        """
        word = next((word for word, kind in SCALINGS.items() if kind is type(self)), None)
        if word is None:
            raise ValueError(
                f"{type(self).__name__} has no word that rotary knows it by: {', '.join(SCALINGS)}"
            )
        return {"type": word, **asdict(self)}

    @property
    def vector_scale(self) -> float:
        """What rotated queries and keys are multiplied by."""
        return 1.0

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        """The frequencies of a width when `length` positions (a 0-d tensor) are in use:
        (width/2)."""
        raise NotImplementedError(f"{type(self).__name__} must say its frequencies")


def _positive_list(name: str, values: Any) -> None:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"the scaling needs a list of numbers for {name}. Got {values!r} instead.")
    for value in values:
        positive("the scaling", name, value)


def _share_of_pairs(value: Any) -> None:
    if positive("the scaling", "share", value) > 1:
        raise ValueError(
            f"the scaling needs a share of the pairs, above 0 and at most 1. Got {value!r} instead."
        )


def _power(width: int) -> float:
    """d/(d − 2): the slowest of several pairs is then stretched by the factor itself."""
    if width <= 2:
        raise ValueError(
            f"NTK scaling needs more than one pair on each axis. Got a rotated width of {width} "
            "for ntk or dynamic-ntk."
        )
    return width / (width - 2)


@dataclass(frozen=True)
class Linear(Scaling):
    """Positions are squeezed by the factor."""

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        return frequencies(width, base, length.device) / self.factor


@dataclass(frozen=True)
class Ntk(Scaling):
    """The base grows, so that only the slow pairs are stretched."""

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        return frequencies(width, base * self.factor ** _power(width), length.device)


@dataclass(frozen=True)
class DynamicNtk(Scaling):
    """The base grows with the length in use."""

    original_length: int

    grows = True

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        used = length.clamp_min(self.original_length)
        growth = self.factor * used / self.original_length - (self.factor - 1)
        return frequencies(width, base * growth ** _power(width), length.device)


@dataclass(frozen=True)
class Yarn(Scaling):
    """Fast pairs are kept, slow pairs squeezed, those between blended."""

    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    scale: float | None = None
    truncate: bool = True

    @property
    def vector_scale(self) -> float:
        if self.scale is not None:
            return self.scale
        return 0.1 * math.log(self.factor) + 1.0 if self.factor > 1 else 1.0

    def _pair_that_turns(self, times: float, width: int, base: float) -> float:
        if base <= 1:
            raise ValueError(
                f"yarn needs a base above 1, so that pairs turn at different speeds. Got {base!r} "
                "instead."
            )
        return width * math.log(self.original_length / (2 * math.pi * times)) / (2 * math.log(base))

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        low = self._pair_that_turns(self.beta_fast, width, base)
        high = self._pair_that_turns(self.beta_slow, width, base)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        theta = frequencies(width, base, length.device)
        pair = torch.arange(width // 2, device=theta.device, dtype=theta.dtype)
        squeezed = ((pair - low) / (high - low if high != low else 0.001)).clamp(0, 1)
        return theta * (1 - squeezed) + theta / self.factor * squeezed


@dataclass(frozen=True)
class LongRope(Scaling):
    """Each pair has its own factor; another list serves beyond the original length."""

    original_length: int
    short: Sequence[float]
    long: Sequence[float]
    scale: float | None = None

    grows = True

    @property
    def vector_scale(self) -> float:
        if self.scale is not None:
            return self.scale
        return (
            math.sqrt(1 + math.log(self.factor) / math.log(self.original_length))
            if self.factor > 1
            else 1.0
        )

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        theta = frequencies(width, base, length.device)
        for name, factors in (("short", self.short), ("long", self.long)):
            if len(factors) != width // 2:
                raise ValueError(
                    f"longrope's {name} list has {len(factors)} factors, but {width} rotated "
                    f"dimensions need {width // 2}."
                )
        short = torch.tensor(list(self.short), device=theta.device, dtype=theta.dtype)
        long = torch.tensor(list(self.long), device=theta.device, dtype=theta.dtype)
        return theta / torch.where(length > self.original_length, long, short)


@dataclass(frozen=True)
class Llama3(Scaling):
    """Short waves are kept, long waves squeezed, those between blended by wavelength."""

    original_length: int
    low: float = 1.0
    high: float = 4.0

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        theta = frequencies(width, base, length.device)
        turns = self.original_length * theta / (2 * math.pi)  # L0/λ
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return theta * kept + theta / self.factor * (1 - kept)


@dataclass(frozen=True)
class Proportional(Scaling):
    """The fast pairs turn, the slow ones stand still."""

    factor: float = 1.0
    share: float = 1.0

    def frequencies(self, width: int, base: float, length: Tensor) -> Tensor:
        turning = int(self.share * width // 2)
        if not turning:
            raise ValueError(
                f"proportional turns the first ⌊share·width/2⌋ pairs, and with share={self.share} "
                f"and width {width} that is none.\n"
                f"  Use a share of at least {2 / width:g}, or the encoding none."
            )
        theta = frequencies(width, base, length.device) / self.factor
        pair = torch.arange(width // 2, device=theta.device)
        return torch.where(pair < turning, theta, 0.0)


SCALINGS: dict[str, type[Scaling]] = {
    "linear": Linear,
    "ntk": Ntk,
    "dynamic-ntk": DynamicNtk,
    "yarn": Yarn,
    "longrope": LongRope,
    "llama3": Llama3,
    "proportional": Proportional,
}


def read_scaling(settings: Scaling | Mapping[str, Any] | None) -> Scaling | None:
    """A scaling from what a user wrote: {"type": "yarn", "factor": 4.0, "original_length": 2048}.

    >>> read_scaling({"type": "linear", "factor": 4.0})
    Linear(factor=4.0)
    """
    if settings is None or isinstance(settings, Scaling):
        return settings
    if not isinstance(settings, Mapping) or "type" not in settings:
        raise ValueError(
            f"rotary was asked for scaling={settings!r}.\n"
            f'  Write {{"type": "yarn", "factor": 4.0, "original_length": 2048}}; types: '
            f"{', '.join(SCALINGS)}"
        )
    kind = SCALINGS[one_of("rotary", "scaling type", settings["type"], SCALINGS)]
    given = {key: value for key, value in settings.items() if key != "type"}
    return build_from_settings(f"the scaling {settings['type']}", kind, given)
