"""What may be asked of the explorer, and its bounds. What is outside them is refused before any work is done."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from locant._internal.checks import did_you_mean
from locant.encodings.registry import Entry
from locant.explorer.orders import default_order
from locant.shapes import Shape

WIDEST, LONGEST, MANY_HEADS = 512, 512, 16
LEARNED = 2_000_000  # numbers that an encoding may learn here
WORDS, LETTERS = 16, 400  # of a sentence
UPLOAD, CELLS = 4_000_000, 200_000  # bytes of a dropped file, and values in it
LARGEST = {int: 4_096, float: 1e12}  # values of options
VIEWS = ("heat", "waves", "wavelengths", "similarity", "product", "score", "bias")


class Asked(BaseModel):
    """Names that are not known are refused, so that a misspelt one is no silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Named(Asked):
    """An encoding as it comes."""

    encoding: str = Field(max_length=300, description="An encoding of the page's list.")


class Made(Named):
    """An encoding at a size, with options of its own."""

    dim: int = Field(64, ge=1, le=WIDEST, description="Model width D.")
    heads: int = Field(4, ge=1, le=MANY_HEADS, description="Number of heads H.")
    length: int = Field(100, ge=2, le=LONGEST, description="Positions.")
    options: str = Field("{}", max_length=500, description="The encoding's own options, as JSON.")


class View(Made):
    """The numbers of one picture."""

    view: Literal["heat", "waves", "wavelengths", "similarity", "product", "score", "bias"] = "heat"
    head: int = Field(1, ge=1, le=MANY_HEADS, description="The head whose matrix is shown.")


class Worked(Made):
    """The arithmetic at a query's and a key's position."""

    position: int = Field(3, ge=0, lt=LONGEST)
    key: int = Field(1, ge=0, lt=LONGEST)

    @model_validator(mode="after")
    def _within(self) -> Worked:
        if max(self.position, self.key) >= self.length:
            raise ValueError(
                f"positions go from 0 to {self.length - 1} here. Got {max(self.position, self.key)}"
            )
        return self


class Sentence(Asked):
    """A few words."""

    words: str = Field("the cat chased the mouse", max_length=LETTERS, description="A sentence.")

    @model_validator(mode="after")
    def _some(self) -> Sentence:
        if not 2 <= len(self.split()) <= WORDS:
            raise ValueError(f"a sentence here has 2 to {WORDS} words. Got {len(self.split())}")
        return self

    def split(self) -> list[str]:
        return self.words.split()


class Shuffled(Made, Sentence):
    """A sentence in another order: `order` says which word stands first, second, …"""

    order: str = Field(
        "",
        max_length=200,
        description="Places of the words, from 0, with commas; two words are swapped by default.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Shuffled:
        if sorted(self.places()) != list(range(len(self.split()))):
            raise ValueError(
                f"order names every place from 0 to {len(self.split()) - 1} once. Got {self.order[:60]!r}"
            )
        return self

    def places(self) -> list[int]:
        """For each place of the shuffled sentence, the word that stands there."""
        if not self.order:
            return default_order(self.split())
        return [int(part) if part.strip().isdecimal() else -1 for part in self.order.split(",")]


class Attended(Named, Sentence):
    """A sentence read by a small model."""

    trained: bool = False
    back: int = Field(
        1, ge=1, le=4, description="Trained to name the word that stands so many places back."
    )


class OfStudy(Asked):
    """A study of the store."""

    study: str = Field(max_length=200, description="Its id.")


class OfRun(OfStudy):
    """The attention that a run of a study kept."""

    row: str = Field(max_length=300)
    trained: bool = True


def options_of(entry: Entry, text: str) -> dict[str, Any]:
    """An encoding's own options from JSON, each of the kind of its default and within bounds."""
    try:
        given = json.loads(
            text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word))
        )
    except (ValueError, RecursionError):
        raise ValueError(
            'options are written as JSON, such as {"base": 500}. Got something else instead.'
        ) from None
    if not isinstance(given, dict):
        raise ValueError(
            'options are names with values, as in {"base": 500}. Got something else instead.'
        )
    return {option: _fitting(entry, option, value) for option, value in given.items()}


def _fitting(entry: Entry, option: str, value: Any) -> Any:
    if option not in entry.options:
        raise ValueError(
            f"{entry.name} has no option {option[:40]!r}.{did_you_mean(option, entry.options)}\n"
            f"  Its options: {', '.join(entry.options) or 'none at all'}"
        )
    default = entry.options[option]
    kind = type(default)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < LARGEST[float] else math.inf
    if default is not None and type(value) is not kind:
        raise ValueError(
            f"{entry.name} needs {_words(kind)} for {option}. Got {str(value)[:40]!r} instead."
        )
    most = LARGEST.get(type(value), math.inf)
    if isinstance(value, int | float) and not abs(value) <= most:
        raise ValueError(
            f"the explorer takes values of {option} up to {most:,.0f}. Got {str(value)[:40]} instead."
        )
    return value


def _words(kind: type) -> str:
    return {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}.get(
        kind, kind.__name__
    )


def check_size(entry: Entry, shape: Shape, options: dict[str, Any]) -> None:
    """Refuse what would fill the memory."""
    learned = entry.parameters(shape, **options)
    if learned > LEARNED:
        raise ValueError(
            f"{entry.name} would learn {learned:,} numbers at this size; the explorer takes up to {LEARNED:,}.\n"
            "  Choose a smaller width, length or option."
        )
