"""Requests to the explorer, and their limits. What is outside them is refused before any work is
done."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from locant._internal.checks import did_you_mean
from locant.encodings.registry import Entry
from locant.figures.data import catalog
from locant.shapes import Shape

MAX_DIM, MAX_LENGTH, MAX_HEADS = 512, 512, 16
MAX_PARAMETERS = 2_000_000  # that an encoding may learn here
MAX_WORDS, MAX_LETTERS = 16, 400  # of a sentence
MAX_UPLOAD_BYTES = 4_000_000
MAX_VALUES = 200_000  # in a dropped file
MAX_OPTION = {int: 4_096, float: 1e12}  # the largest value of an option, by its type


class BaseRequest(BaseModel):
    """Unknown names are refused, so that a misspelled one does not become a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EncodingRequest(BaseRequest):
    """An encoding with its defaults."""

    encoding: str = Field(max_length=300, description="An encoding of the page's list.")


class SizedRequest(EncodingRequest):
    """An encoding at a size, with its own options."""

    dim: int = Field(64, ge=1, le=MAX_DIM, description="Model width D.")
    heads: int = Field(4, ge=1, le=MAX_HEADS, description="Number of heads H.")
    length: int = Field(100, ge=2, le=MAX_LENGTH, description="Number of positions.")
    options: str = Field("{}", max_length=500, description="The encoding's own options, as JSON.")


class PositionsRequest(SizedRequest):
    """An encoding at a query's and a key's position."""

    position: int = Field(3, ge=0, lt=MAX_LENGTH)
    key: int = Field(1, ge=0, lt=MAX_LENGTH)

    @model_validator(mode="after")
    def _within_length(self) -> PositionsRequest:
        last = max(self.position, self.key)
        if last >= self.length:
            raise ValueError(f"positions go from 0 to {self.length - 1} here. Got {last}")
        return self


class ViewRequest(SizedRequest):
    """The numbers of one picture."""

    view: str = Field(
        "heat",
        max_length=100,
        description="A picture of the page's list.",
        json_schema_extra={"enum": list(catalog())},
    )
    head: int = Field(1, ge=1, le=MAX_HEADS, description="The head whose matrix is shown.")
    image: Literal["", "light", "dark"] = Field(
        "", description="Draw the picture on the server, in this theme, instead of sending numbers."
    )

    @field_validator("view")
    @classmethod
    def _known_view(cls, view: str) -> str:
        if view not in catalog():
            raise ValueError(f"view should be one of {', '.join(catalog())}")
        return view


class SentenceRequest(BaseRequest):
    """A few words."""

    words: str = Field(
        "the cat chased the mouse", max_length=MAX_LETTERS, description="A sentence."
    )

    @model_validator(mode="after")
    def _few_words(self) -> SentenceRequest:
        count = len(self.split())
        if not 2 <= count <= MAX_WORDS:
            raise ValueError(f"a sentence here has 2 to {MAX_WORDS} words. Got {count}")
        return self

    def split(self) -> list[str]:
        return self.words.split()


class ShuffleRequest(SizedRequest, SentenceRequest):
    """A sentence in another order: `order` says which word comes first, second, …"""

    order: str = Field(
        "",
        max_length=200,
        description="Indices of the words, from 0, with commas; two words are swapped by default.",
    )

    @model_validator(mode="after")
    def _is_permutation(self) -> ShuffleRequest:
        count = len(self.split())
        if self.order and sorted(self.indices()) != list(range(count)):
            raise ValueError(
                f"order names every word from 0 to {count - 1} once. Got {self.order[:60]!r}"
            )
        return self

    def indices(self) -> list[int]:
        """Return the index of each word of the shuffled sentence; an empty list leaves it open."""
        parts = self.order.split(",") if self.order else []
        return [int(part) if part.strip().isdecimal() else -1 for part in parts]


class AttentionRequest(EncodingRequest, SentenceRequest):
    """A sentence read by a small model."""

    trained: bool = False
    back: int = Field(
        1, ge=1, le=4, description="How many words back the word is that the model learns to name."
    )


class StudyRequest(BaseRequest):
    """A study of the store."""

    study: str = Field(max_length=200, description="Its id.")


class StudyAttentionRequest(StudyRequest):
    """The attention that a run of a study kept."""

    row: str = Field(max_length=300)
    trained: bool = True


def parse_options(entry: Entry, text: str) -> dict[str, Any]:
    """Read an encoding's own options from JSON, each of the type of its default and within
    limits."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        given = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ValueError(
            'options are written as JSON, such as {"base": 500}. Got something else instead.'
        ) from None
    if not isinstance(given, dict):
        raise ValueError(
            'options are names with values, as in {"base": 500}. Got something else instead.'
        )
    return {option: _check_option(entry, option, value) for option, value in given.items()}


def _check_option(entry: Entry, option: str, value: Any) -> Any:
    if option not in entry.options:
        raise ValueError(
            f"{entry.name} has no option {option[:40]!r}.{did_you_mean(option, entry.options)}\n"
            f"  Its options: {', '.join(entry.options) or 'none at all'}"
        )
    default = entry.options[option]
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < MAX_OPTION[float] else math.inf
    if default is not None and type(value) is not type(default):
        raise ValueError(
            f"{entry.name} needs {_type_in_words(type(default))} for {option}. "
            f"Got {str(value)[:40]!r} instead."
        )
    largest = MAX_OPTION.get(type(value), math.inf)
    if isinstance(value, int | float) and not abs(value) <= largest:
        raise ValueError(
            f"the explorer takes values of {option} up to {largest:,.0f}. "
            f"Got {str(value)[:40]} instead."
        )
    return value


def _type_in_words(kind: type) -> str:
    words = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
    return words.get(kind, kind.__name__)


def check_size(entry: Entry, shape: Shape, options: dict[str, Any]) -> None:
    """Refuse an encoding that would fill the memory."""
    parameters = entry.parameters(shape, **options)
    if parameters > MAX_PARAMETERS:
        raise ValueError(
            f"{entry.name} would learn {parameters:,} parameters at this size; "
            f"the explorer takes up to {MAX_PARAMETERS:,}.\n"
            "  Choose a smaller width, length or option."
        )
