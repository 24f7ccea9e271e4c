"""The certificate: every property of an encoding, measured, and held against what it claims.

>>> paper = certify(make("rotary", dim=16, heads=2, length=32), only=["shift", "causal"])
>>> paper.holds, paper.fails
(['shift', 'causal'], [])
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from locant._internal.checks import did_you_mean, one_of
from locant.certification.probe import EFFORTS, Measured, Subject, seeded
from locant.encodings.base import Encoding

FOLDER = Path(__file__).parent / "properties"
FIRST = (
    "order",
    "solves",
    "distinct",
    "direction",
    "given",
    "rows",
    "shift",
    "examples",
)  # what readers ask first

HOLDS, FAILS, NOT_CLAIMED, SEEN, NOT_JUDGED = "holds", "fails", "not claimed", "seen", "not judged"
MARKS = {HOLDS: "✓", FAILS: "✗", NOT_CLAIMED: "–", SEEN: "·", NOT_JUDGED: "○"}
TWO_SIDED = ("tells_order", "tells_direction")  # to deny these is itself a claim


@dataclass(frozen=True)
class Finding:
    """One line of a certificate."""

    name: str
    sentence: str
    claim: str
    verdict: str
    value: str
    said: str
    bound: str
    why: str
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        return MARKS[self.verdict]


@dataclass(frozen=True)
class Certificate:
    """What was measured of one encoding."""

    encoding: str
    shape: dict[str, int]
    effort: str
    seed: int
    versions: dict[str, str]
    findings: list[Finding]

    @property
    def holds(self) -> list[str]:
        """The properties that are claimed, or must be, and hold."""
        return [finding.name for finding in self.findings if finding.verdict == HOLDS]

    @property
    def fails(self) -> list[str]:
        """The properties that are claimed, or must be, and do not hold."""
        return [finding.name for finding in self.findings if finding.verdict == FAILS]

    def __getitem__(self, name: str) -> Finding:
        known = {finding.name: finding for finding in self.findings}
        _need_known(name, known)
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that can be written as JSON."""
        return {**_plain(asdict(self)), "holds": self.holds, "fails": self.fails}

    def __str__(self) -> str:
        shape = ", ".join(f"{key} {value}" for key, value in self.shape.items())
        lines = [f"Certificate of {self.encoding} ({shape}; {self.effort}, seed {self.seed})", ""]
        for finding in self.findings:
            lines.append(f"  {finding.mark} {finding.name:11} {finding.value:>9}  {finding.said}")
        lines += [
            "",
            f"  {len(self.holds)} hold, {len(self.fails)} fail: {', '.join(self.fails) or 'none'}",
        ]
        return "\n".join(lines)


def property_names() -> list[str]:
    """The properties that there are, those that readers ask first in front."""
    found = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    return [*FIRST, *(name for name in found if name not in FIRST)]


def certify(
    encoding: Encoding,
    *,
    effort: str = "quick",
    seed: int = 0,
    only: Iterable[str] | None = None,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Measure every property of an encoding.

    encoding  any `Encoding`; `locant.adapt` makes one of a plain module or function
    effort    "quick", "usual" or "full": seeds, training steps, and whether graphs are captured
    only      some properties by name; all by default
    """
    if not isinstance(encoding, Encoding):
        raise ValueError(
            f"certify needs an Encoding. Got {type(encoding).__name__} instead.\n"
            "  A plain module or function can be wrapped: locant.adapt(module, dim=…, heads=…)"
        )
    subject = Subject(encoding, seed, EFFORTS[one_of("certify", "effort", effort, EFFORTS)])
    names = (
        property_names()
        if only is None
        else [only]
        if isinstance(only, str)
        else list(dict.fromkeys(only))
    )
    for chosen in names:
        _need_known(chosen, property_names())  # a wrong name is told before anything runs
    findings = []
    for chosen in names:
        if progress is not None:
            progress(chosen)
        findings.append(_examine(chosen, subject))
    shape = encoding.shape
    return Certificate(
        encoding=name or type(encoding).__name__,
        shape={"dim": shape.dim, "heads": shape.heads, "length": shape.length},
        effort=effort,
        seed=seed,
        versions={
            "locant": importlib.import_module("locant").__version__,
            "torch": str(torch.__version__),
        },
        findings=findings,
    )


def _need_known(name: str, known: Iterable[str]) -> None:
    if name not in known:
        hint = did_you_mean(str(name), known)
        raise ValueError(f"no property is called {name!r}.{hint}\n  Known: {', '.join(known)}")


def _plain(value: Any) -> Any:
    """The same with NaN and infinity as words: JSON has no numbers for them."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _examine(name: str, subject: Subject) -> Finding:
    """Measure one property and say what that means for the claim."""
    module = importlib.import_module(f"locant.certification.properties.{name}")
    try:
        with seeded(subject.seed), torch.no_grad():  # an encoding may draw in forward
            measured = module.measure(subject)
    except Exception as problem:  # whatever the encoding raises is a finding about it
        first = str(problem).strip().splitlines()[0] if str(problem).strip() else "no message"
        measured = Measured(False, "error", f"It raised {type(problem).__name__}: {first}")
    return Finding(
        name=name,
        sentence=module.SENTENCE,
        claim=module.CLAIM,
        verdict=judge(module, subject.encoding, measured),
        value=measured.value,
        said=measured.said,
        bound=_bound(module.BOUND),
        why=module.WHY,
        numbers=measured.numbers,
    )


def _bound(bound: Any) -> str:
    """A bound as text.

    >>> _bound({"float32": 1e-4, "bfloat16": 0.1})
    '0.0001 in float32, 0.1 in bfloat16'
    """
    return (
        ", ".join(f"{value:g} in {key}" for key, value in bound.items())
        if isinstance(bound, dict)
        else str(bound)
    )


def judge(module: ModuleType, encoding: Encoding, measured: Measured) -> str:
    """From a measurement and a claim to a verdict."""
    if measured.numbers.get("clips"):
        return FAILS  # neither a value of its own nor a refusal
    if measured.ok is None:
        return NOT_JUDGED
    if module.CLAIM == "seen":
        return SEEN
    if module.CLAIM == "law" or getattr(encoding, module.CLAIM):
        return HOLDS if measured.ok else FAILS
    if (
        module.CLAIM in TWO_SIDED
        and measured.ok
        and module.__name__.rpartition(".")[2] in ("order", "direction")
    ):
        return FAILS  # it denies what it does
    return NOT_CLAIMED
