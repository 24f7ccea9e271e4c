"""What is wrong with the fields of a study, in sentences: the field, its value, what is allowed."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from locant._internal.checks import did_you_mean

PLAIN = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
BOUNDS = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}


def describe_problem(name: str, problem: ValidationError, model: type[BaseModel]) -> str:
    """Say which fields of a study are wrong and what each may hold; one sentence a field."""
    sentences: dict[str, str] = {}
    for error in problem.errors():
        path, sentence = _sentence(error, model)
        sentences.setdefault(path, sentence)  # every branch of a union has an error of its own
    lines = [f"the study {name} cannot be used:", *(f"  {one}" for one in sentences.values())]
    lines.append("  Change this in the study's file or in `changes`, and start again.")
    return "\n".join(lines)


def _sentence(error: Any, model: type[BaseModel]) -> tuple[str, str]:
    """Return the path of the field that one of pydantic's errors is about, and a sentence."""
    path, owner, field = _find(error["loc"], model)
    if error["type"] == "extra_forbidden":
        last = str(error["loc"][-1])
        known = list(owner.model_fields)
        hint = did_you_mean(last, known)
        return path, f"{path} is no field of a study.{hint} Allowed there: {', '.join(known)}"
    if error["type"] == "missing":
        return path, f"{path} is missing. It is {_allowed(field)}."
    got = f"{path} is {error['input']!r}"
    if error["type"] == "value_error":
        reason = error["msg"].removeprefix("Value error, ")
        return path, f"{got}: {reason}." if path else f"{reason}."
    return path, f"{got}, which is not allowed. Allowed: {_allowed(field)}."


def _find(
    location: tuple[Any, ...], model: type[BaseModel]
) -> tuple[str, type[BaseModel], FieldInfo | Any]:
    """Follow an error's location: the dotted path, the table that it is in, and the field."""
    path: list[str] = []
    owner, field = model, None
    kind: Any = model
    for part in location:
        if isinstance(part, int):
            path.append(str(part))
            kind = _inside(kind)
            field = kind
            continue
        table = _table(kind)
        if table is None:  # the name of a branch of a union, such as "list[int]"
            break
        path.append(part)
        owner = table
        field = table.model_fields.get(part)
        kind = None if field is None else field.annotation
    return ".".join(path), owner, field


def _branches(kind: Any) -> list[Any]:
    """Return the types of a union, or the type itself."""
    if get_origin(kind) in (Union, types.UnionType):
        return list(get_args(kind))
    return [kind]


def _table(kind: Any) -> type[BaseModel] | None:
    """Return the table of fields that a type is, or allows."""
    for one in _branches(kind):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None


def _inside(kind: Any) -> Any:
    """Return the type of what a list holds."""
    for one in _branches(kind):
        if get_origin(one) is list:
            return get_args(one)[0]
    return None


def _allowed(field: FieldInfo | Any) -> str:
    """Say in words what a field may hold, its bounds included."""
    if not isinstance(field, FieldInfo):
        return _in_words(field)
    bounds = []
    for limit in field.metadata:
        for key, word in BOUNDS.items():
            if (value := getattr(limit, key, None)) is not None:
                bounds.append(f"{word} {value:g}")
    words = _in_words(field.annotation)
    return f"{words} {' and '.join(bounds)}" if bounds else words


def _in_words(kind: Any) -> str:
    """Name a type as someone who writes a study would.

    >>> _in_words(int | list[int] | Literal["all"])
    "a whole number, a list of whole numbers or 'all'"
    """
    found = []
    for one in _branches(kind):
        if one is types.NoneType:
            continue  # a field that may be left out
        table = _table(one)
        if table is not None:
            found.append(f"a table with the fields {', '.join(table.model_fields)}")
        elif get_origin(one) is Literal:
            found += [repr(word) for word in get_args(one)]
        elif get_origin(one) is list:
            found.append(f"a list of {_plural(_in_words(get_args(one)[0]))}")
        elif one is dict or get_origin(one) is dict:
            found.append("a table")
        else:
            found.append(PLAIN.get(one, "another value"))
    *first, last = found
    return f"{', '.join(first)} or {last}" if first else last


def _plural(words: str) -> str:
    """Turn "a whole number" into "whole numbers"; words that are given stay as they are."""
    if words.startswith("a table"):
        return f"tables{words.removeprefix('a table')}"
    return f"{words.removeprefix('a ')}s" if words in PLAIN.values() else words
