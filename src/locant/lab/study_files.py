"""Studies from files: shipped ones are TOML in `studies/`; a user's own is given by its path."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from locant._internal.checks import did_you_mean
from locant._internal.text import counted
from locant.encodings.registry import canonical, describe
from locant.lab.study import Study

FOLDER = Path(__file__).parent / "studies"


def study_names() -> list[str]:
    """The studies that come with locant.

    >>> "order" in study_names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_studies(
    name: str,
    *,
    quick: bool = False,
    design: str | None = None,
    changes: dict[str, Any] | None = None,
) -> list[Study]:
    """The studies behind a name: one, or several when its file lists `parts`, or variations of one
    (`designs`).

    >>> [study.name for study in read_studies("order")]
    ['order']
    """
    fields, stem = _fields(name)
    if design is None:
        return [
            read_study(part, quick=quick, changes=changes) for part in fields.get("parts", [name])
        ]
    return [
        read_study(
            name, quick=quick, changes={"name": f"{stem}-{part}", **other, **(changes or {})}
        )
        for part, other in _design(fields, stem, design).items()
    ]


def read_study(name: str, *, quick: bool = False, changes: dict[str, Any] | None = None) -> Study:
    """One study by name or path; `changes` are dotted fields with new values, such as
    {"training.steps": 100}.

    >>> read_study("order", changes={"seeds": 3}).seeds
    3
    """
    fields, stem = _fields(name)
    if "parts" in fields:
        raise ValueError(
            f"{stem} is several studies: {', '.join(fields['parts'])}. Ask for one of them."
        )
    fields.pop("designs", None)
    shortcuts = fields.pop("quick", {})
    return _validated(stem, fields, {**(shortcuts if quick else {}), **(changes or {})})


def change_study(study: Study, changes: dict[str, Any]) -> Study:
    """Return a study with other values in dotted fields, such as {"training.steps": 100}.

    >>> change_study(read_study("order"), {"training.steps": 7}).training.steps
    7
    """
    return _validated(study.name, study.model_dump(), changes)


def _validated(stem: str, fields: dict[str, Any], changes: dict[str, Any]) -> Study:
    """Set fields to their new values and make a study of all."""
    for field, value in changes.items():
        _set(fields, field, _own_rows(fields, value) if field == "encodings" else value)
    study = Study(**{"name": stem, **fields})
    for row in study.rows():
        describe(row.encoding)  # a wrong name is told before anything trains
    return study


def parts(name: str, design: str | None = None) -> list[str]:
    """The names of the studies behind a name: its parts, its variations in a design, or itself.

    >>> parts("slots")
    ['slot', 'decoy', 'order', 'parity', 'gap']
    >>> parts("real-anomalies", "irregular")
    ['real-anomalies-irregular']
    """
    fields, stem = _fields(name)
    if design is None:
        return list(fields.get("parts", [stem]))
    return [f"{stem}-{part}" for part in _design(fields, stem, design)]


def designs(name: str) -> list[str]:
    """The designs that a study offers.

    >>> designs("anomaly")
    ['full']
    """
    return list(_fields(name)[0].get("designs", {}))


def about(name: str) -> str:
    """One line on a study, for a list.

    >>> about("order").startswith("Which of two markers")
    True
    """
    fields, _ = _fields(name)
    if "parts" in fields:
        return f"{fields['title']} ({', '.join(fields['parts'])})"
    study = read_study(name)
    repeats = f"all {study.unit}"
    if study.seeds != "all":
        repeats = counted(len(study.seed_list()), study.unit)
    return f"{study.title} ({counted(len(study.rows()), 'rows')} × {repeats})"


def _fields(name: str) -> tuple[dict[str, Any], str]:
    """A study's file as it is, and its name."""
    path = Path(name).expanduser() if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(study_names())
        raise ValueError(
            f"no study is called {name!r}.{did_you_mean(name, study_names())}\n  Known: {known}; "
            "or give a path.toml"
        )
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")), path.stem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path.name} is not a TOML file that can be read: {problem}") from None


def _design(fields: dict[str, Any], stem: str, design: str) -> dict[str, dict[str, Any]]:
    """What each variation of a design changes."""
    offered = fields.get("designs", {})
    if design not in offered:
        known = ", ".join(offered) or "none"
        raise ValueError(
            f"the study {stem} has no design {design!r}.{did_you_mean(design, list(offered))}\n  "
            f"Its designs: {known}"
        )
    return dict(offered[design])


def _set(fields: dict[str, Any], dotted: str, value: Any) -> None:
    *path, last = dotted.split(".")
    inner = fields
    for part in path:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{dotted!r} goes through {part!r}, which holds no fields.")
    inner[last] = value


def _own_rows(fields: dict[str, Any], requested: Any) -> Any:
    """Rows that are asked for by name, with the options that the study's file gives them."""
    listed = fields.get("encodings", [])
    rows = {row["name"]: row for row in listed if isinstance(row, dict) and "name" in row}
    if not isinstance(requested, list):
        return requested
    return [
        rows.get(one, rows.get(canonical(one), one)) if isinstance(one, str) else one
        for one in requested
    ]
