"""The certificate: every property of an encoding, measured, and held against what it claims.

>>> paper = certify(make("rotary", dim=16, heads=2, length=32), only=["shift", "causal"])
>>> paper.holds, paper.fails
(['shift', 'causal'], [])
"""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import did_you_mean, one_of
from locant.certification.probe import DEFAULT_EFFORT, EFFORTS, Probe, PropertyResult, seeded
from locant.encodings.base import Encoding, constructor_options

FOLDER = Path(__file__).parent / "properties"
FIRST = ("order", "solves", "distinct", "direction", "given", "rows", "shift", "examples")

HOLDS, FAILS, NOT_CLAIMED, SEEN, NOT_JUDGED = "holds", "fails", "not claimed", "seen", "not judged"
MARKS = {HOLDS: "✓", FAILS: "✗", NOT_CLAIMED: "–", SEEN: "·", NOT_JUDGED: "○"}
TWO_SIDED = (
    "tells_order",
    "tells_direction",
    "goes_by_positions",
)  # to deny these is itself a claim


@dataclass(frozen=True)
class Finding:
    """One line of a certificate."""

    name: str
    sentence: str
    claim: str
    verdict: str
    value: str
    message: str
    bound: str
    why: str
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """The sign of the verdict in a table."""
        return MARKS[self.verdict]

    @property
    def said(self) -> str:
        """The message, by its earlier name."""
        warnings.warn("Finding.said is now Finding.message", DeprecationWarning, stacklevel=2)
        return self.message


class Findings:
    """What the certificates of encodings and of models share: findings, by name and by verdict."""

    findings: Sequence[Finding]

    @property
    def holds(self) -> list[str]:
        """The properties that are claimed, or laws for all, and hold."""
        return [finding.name for finding in self.findings if finding.verdict == HOLDS]

    @property
    def fails(self) -> list[str]:
        """The properties that are claimed, or laws for all, and do not hold."""
        return [finding.name for finding in self.findings if finding.verdict == FAILS]

    def __getitem__(self, name: str) -> Finding:
        known = {finding.name: finding for finding in self.findings}
        _need_known(name, known)
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that can be written as JSON."""
        fields = asdict(self)  # type: ignore[call-overload]
        return {**_plain(fields), "holds": self.holds, "fails": self.fails}


@dataclass(frozen=True)
class Certificate(Findings):
    """What was measured of one encoding; `options` are those that differ from their defaults."""

    encoding: str
    options: dict[str, Any]
    shape: dict[str, int]
    effort: str
    seed: int
    versions: dict[str, str]
    findings: Sequence[Finding]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that can be written as JSON."""
        plain = super().to_dict()
        for finding in plain["findings"]:
            finding["said"] = finding["message"]  # the key's earlier name
        return plain

    def __str__(self) -> str:
        shape = ", ".join(f"{key} {value}" for key, value in self.shape.items())
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        effort = f"{self.effort}, seed {self.seed}"
        lines = [f"Certificate of {self.encoding}{options} ({shape}; {effort})", ""]
        for finding in self.findings:
            lines.append(
                f"  {finding.mark} {finding.name:11} {finding.value:>9}  {finding.message}"
            )
        lines += [
            "",
            f"  {_sentence(self.holds, 'hold')}, {_sentence(self.fails, 'fail')}: "
            f"{', '.join(self.fails) or 'none'}",
        ]
        return "\n".join(lines)


def _sentence(properties: list[str], verb: str) -> str:
    """Say how many properties do something: "1 holds", "3 fail"."""
    return f"{len(properties)} {verb}{'s' if len(properties) == 1 else ''}"


def property_names() -> list[str]:
    """List the properties by name, those that readers ask about first in front."""
    return list(properties())


@cache
def properties() -> dict[str, ModuleType]:
    """Import the file of every property; the name of a property is its NAME."""
    return import_properties(FOLDER, "locant.certification.properties", FIRST)


def import_properties(folder: Path, package: str, first: Sequence[str]) -> dict[str, ModuleType]:
    """Import every file of a folder of properties, those named in `first` in front."""
    found = {}
    for path in sorted(folder.glob("[!_]*.py")):
        module = importlib.import_module(f"{package}.{path.stem}")
        found[module.NAME] = module
    names = [*first, *sorted(name for name in found if name not in first)]
    return {name: found[name] for name in names}


def select(only: Iterable[str] | None, known: list[str]) -> list[str]:
    """Return the names of the properties to measure; refuse a wrong name before anything runs."""
    if only is None:
        return known
    names = [only] if isinstance(only, str) else list(dict.fromkeys(only))
    if not names:
        raise ValueError(
            "certify was asked for no property at all: only=[]. Leave `only` out for all of "
            f"them.\n  Known: {', '.join(known)}"
        )
    for chosen in names:
        _need_known(chosen, known)
    return names


def certify(
    encoding: Encoding,
    *,
    effort: str = DEFAULT_EFFORT,
    seed: int = 0,
    only: Iterable[str] | None = None,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Measure every property of an encoding.

    encoding  any `Encoding`; `locant.adapt` makes one of a plain module or function
    effort    "quick", "usual" (the default, as in `locant check`) or "full": seeds, training
              steps, and whether graphs are captured
    seed      seed of everything that is random
    only      some properties by name; all by default
    name      the name on the certificate; the class's name by default
    progress  is called with each property's name before it is measured
    """
    if not isinstance(encoding, Encoding):
        raise ValueError(
            f"certify needs an Encoding. Got {type(encoding).__name__} instead.\n"
            "  A plain module or function can be wrapped: locant.adapt(module, dim=…, heads=…)"
        )
    probe = Probe(encoding, seed, EFFORTS[one_of("certify", "effort", effort, EFFORTS)])
    findings = []
    for chosen in select(only, property_names()):
        if progress is not None:
            progress(chosen)
        findings.append(_examine(properties()[chosen], probe))
    shape = encoding.shape
    return Certificate(
        encoding=name or type(encoding).__name__,
        options=changed_options(encoding),
        shape={"dim": shape.dim, "heads": shape.heads, "length": shape.length},
        effort=effort,
        seed=seed,
        versions={
            "locant": importlib.import_module("locant").__version__,
            "torch": str(torch.__version__),
        },
        findings=findings,
    )


def changed_options(encoding: Encoding) -> dict[str, Any]:
    """Return the options of an encoding that are not at their defaults, as plain values.

    >>> changed_options(make("rotary", dim=16, base=500.0, pairing="half"))
    {'base': 500.0}
    """
    defaults = constructor_options(type(encoding))
    if encoding._requested is not None:
        given = encoding._requested[1]
    else:  # not made by name: an attribute whose default is None may have been filled in
        given = {name: getattr(encoding, name, None) for name in defaults}
        given = {name: value for name, value in given.items() if defaults[name] is not None}
    changed = {}
    for name, value in given.items():
        if isinstance(value, Tensor) or value == defaults[name]:
            continue
        plain = value.config() if callable(getattr(value, "config", None)) else value
        changed[name] = plain if _is_plain(plain) else repr(plain)
    return changed


def _is_plain(value: Any) -> bool:
    """Tell whether JSON can hold a value."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _need_known(name: str, known: Iterable[str]) -> None:
    if name not in known:
        hint = did_you_mean(str(name), known)
        raise ValueError(f"no property is called {name!r}.{hint}\n  Known: {', '.join(known)}")


def _plain(value: Any) -> Any:
    """Return the value with NaN and infinity as words: JSON has no numbers for them."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _examine(module: ModuleType, probe: Probe) -> Finding:
    """Measure one property and judge what the result means for the claim."""
    try:
        with seeded(probe.seed), torch.no_grad():  # an encoding may draw in forward
            measured = module.measure(probe)
    except Exception as problem:  # whatever the encoding raises is a finding about it
        text = str(problem).strip() or "no message"
        first = text.splitlines()[0]
        measured = PropertyResult(False, "error", f"It raised {type(problem).__name__}: {first}")
    return Finding(
        name=module.NAME,
        sentence=module.SENTENCE,
        claim=module.CLAIM,
        verdict=judge(module, probe.encoding, measured),
        value=measured.value,
        message=measured.message,
        bound=bound_text(module.BOUND),
        why=module.WHY,
        numbers=measured.numbers,
    )


def bound_text(bound: Any) -> str:
    """Format a bound as text.

    >>> bound_text({"float32": 1e-4, "bfloat16": 0.1})
    '0.0001 in float32, 0.1 in bfloat16'
    """
    if isinstance(bound, dict):
        return ", ".join(f"{value:g} in {key}" for key, value in bound.items())
    return str(bound)


def judge(module: ModuleType, encoding: Encoding, measured: PropertyResult) -> str:
    """Judge a measurement against the encoding's claim."""
    if measured.numbers.get("clips"):
        return FAILS  # neither a value of its own nor a refusal
    if measured.ok is None:
        return NOT_JUDGED
    if module.CLAIM == "seen":
        return SEEN
    if module.CLAIM == "law" or getattr(encoding, module.CLAIM):
        return HOLDS if measured.ok else FAILS
    if module.CLAIM in TWO_SIDED and measured.ok and module.NAME in ("order", "direction", "given"):
        return FAILS  # it denies what it does
    return NOT_CLAIMED
