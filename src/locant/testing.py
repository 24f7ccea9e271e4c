"""For other projects' tests: hold an encoding of one's own, or a model, to its certificate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from locant.certification.certificate import Certificate, Findings, certify, select
from locant.certification.probe import DEFAULT_EFFORT
from locant.encodings.base import Encoding

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from locant.hf.checking.certify_model import ModelCertificate


def assert_certified(
    encoding: Encoding,
    *,
    effort: str = DEFAULT_EFFORT,
    seed: int = 0,
    only: Iterable[str] | None = None,
) -> Certificate:
    """Certify an encoding; an AssertionError names every property that fails, with its measurement.

    >>> assert_certified(make("alibi", dim=16, heads=2), only=["nearness", "shift"]).fails
    []
    """
    paper = certify(encoding, effort=effort, seed=seed, only=only)
    _refuse_failures(paper, paper.encoding)
    return paper


def assert_model_certified(
    model: PreTrainedModel,
    *,
    effort: str = DEFAULT_EFFORT,
    seed: int = 0,
    only: Iterable[str] | None = None,
    known: Iterable[str] = (),
) -> ModelCertificate:
    """Certify a model of transformers; an AssertionError names every property that fails, with its
    measurement and what to do.

    only   some properties by name; all by default
    known  properties that may fail: failures that your project knows of and works around
    """
    from locant.hf.checking.certify_model import certify as certify_model
    from locant.hf.checking.certify_model import model_properties

    known = select(known, list(model_properties())) if known else []
    paper = certify_model(model, effort=effort, seed=seed, only=only)
    _refuse_failures(paper, paper.model, known)
    return paper


def _refuse_failures(paper: Findings, name: str, known: Iterable[str] = ()) -> None:
    """Raise an AssertionError that lists the properties that fail, except those that are known."""
    fails = [paper[one] for one in paper.fails if one not in known]
    if not fails:
        return
    lines = [f"{name} fails {len(fails)} of its properties:"]
    for finding in fails:
        lines.append(f"  {finding.name}: {finding.message}")
        lines.append(f"    It should hold that: {finding.sentence}")
        remedy = getattr(finding, "remedy", "")
        if remedy:
            lines.append(f"    What to do: {remedy}")
    raise AssertionError("\n".join(lines))
