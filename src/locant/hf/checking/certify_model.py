"""The certificate of a whole pretrained model: padding, packing, caches, far positions.

>>> from locant.hf.checkpoints.loading import build
>>> from locant.hf.checkpoints.random_weights import randomize
>>> from locant.hf.checkpoints.tiny import tiny_config
>>> paper = certify(randomize(build(tiny_config("llama"))), only=["left", "packed"])
>>> paper.holds, paper.fails
(['left'], ['packed'])
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from locant._internal.checks import one_of
from locant.certification.certificate import (
    HOLDS,
    Finding,
    Findings,
    bound_text,
    import_properties,
    select,
)
from locant.certification.probe import DEFAULT_EFFORT, EFFORTS, seeded, show
from locant.encodings._rope.hf_models import WITHOUT
from locant.hf.checking.model_probe import CannotRebuild, ModelProbe
from locant.hf.checking.model_result import BOUND, MODEL_MARKS, ModelResult, not_judged
from locant.hf.reading.model_state import need_weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FOLDER = Path(__file__).parent / "properties"
FIRST = (
    *("causal", "batch", "right", "left", "left-mask", "packed", "packed-off", "blocks", "gaps"),
    *("cached", "chunked", "generated", "obeyed", "shifted", "past", "sdpa", "flex"),
    *("bfloat16", "far", "cast", "meta", "after-long", "beside-long", "long-cache"),
)
MIN_EFFECT = 10 * BOUND  # of an earlier token on the last output; below it, nothing is shown


@dataclass(frozen=True)
class ModelFinding(Finding):
    """One line of a model's certificate; `remedy` says what to do where it fails."""

    remedy: str = ""

    @property
    def mark(self) -> str:
        """The sign of the verdict in a table."""
        return MODEL_MARKS[self.verdict]


@dataclass(frozen=True)
class ModelCertificate(Findings):
    """What was measured of one model."""

    model: str
    architecture: str
    kind: str
    shape: dict[str, int]
    effort: str
    seed: int
    versions: dict[str, str]
    findings: Sequence[ModelFinding]


@cache
def model_properties() -> dict[str, ModuleType]:
    """Import the file of every property of a model."""
    return import_properties(FOLDER, "locant.hf.checking.properties", FIRST)


def certify(
    model: PreTrainedModel,
    *,
    effort: str = DEFAULT_EFFORT,
    seed: int = 0,
    only: Iterable[str] | None = None,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> ModelCertificate:
    """Measure every property of a text model of transformers; it is copied, never touched.

    model     any `PreTrainedModel` that reads token ids: decoder, encoder or encoder-decoder
    effort    "quick", "usual" or "full"; "full" compiles flex attention as well
    seed      seed of the tokens
    only      some properties by name; all by default
    name      the name on the certificate; the class's name by default
    progress  is called with each property's name before it is measured
    """
    chosen = EFFORTS[one_of("certify", "effort", effort, EFFORTS)]
    names = select(only, list(model_properties()))
    _need_text_model(model)
    with _quiet(), seeded(seed):
        probe = ModelProbe(model, seed, chosen)
        effect = probe.context_effect()
        findings = []
        for one in names:
            if progress is not None:
                progress(one)
            findings.append(_examine(model_properties()[one], probe, effect))
    packages = {one: version(one) for one in ("transformers", "torch")}
    return ModelCertificate(
        model=name or type(model).__name__,
        architecture=type(model).__name__,
        kind=probe.kind,
        shape=_shape(probe),
        effort=effort,
        seed=seed,
        versions={"locant": importlib.import_module("locant").__version__, **packages},
        findings=findings,
    )


def _need_text_model(model: Any) -> None:
    """Refuse what cannot be certified, and say why."""
    from transformers import PreTrainedConfig, PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        what_to_do = (
            "locant.hf.load(folder) opens a checkpoint; an encoding is certified by locant.certify."
        )
        if isinstance(model, nn.Module) and isinstance(
            getattr(model, "config", None), PreTrainedConfig
        ):
            what_to_do = (
                "It seems to wrap one: give the model inside, with what was trained beside its "
                "weights merged into them (peft: model.merge_and_unload())."
            )
        raise ValueError(
            f"certify needs a model of transformers. Got {type(model).__name__} instead.\n"
            f"  {what_to_do}"
        )
    need_weights("certify", model)
    refuse_without_attention(model.config)
    if not hasattr(model.get_input_embeddings(), "weight"):
        raise ValueError(
            f"{type(model).__name__} reads no token ids, so it cannot be certified as a text model."
        )


def refuse_without_attention(config: Any) -> None:
    """Refuse a model whose tokens do not attend to each other: it has no positions to certify."""
    model_type = config.get_text_config(decoder=True).model_type
    reason = WITHOUT.get(model_type, "")
    if "no attention" in reason:
        raise ValueError(f"{model_type} {reason}")


def _shape(probe: ModelProbe) -> dict[str, int]:
    config = probe.config
    found = {
        "layers": getattr(config, "num_hidden_layers", None),
        "dim": getattr(config, "hidden_size", None),
        "heads": getattr(config, "num_attention_heads", None),
        "length": probe.length,
    }
    return {key: value for key, value in found.items() if isinstance(value, int)}


def _examine(module: ModuleType, probe: ModelProbe, effect: float) -> ModelFinding:
    """Measure one property; what a model raises is told, and no pass is given unmeasured."""
    try:
        with seeded(probe.seed), torch.no_grad():
            result = module.measure(probe)
    except CannotRebuild as problem:
        result = not_judged(str(problem))
    except Exception as problem:  # whatever the model raises is a finding about it
        first = (str(problem).strip() or "no message").splitlines()[0]
        result = not_judged(f"It raised {type(problem).__name__}: {first}", "raises")
    if result.verdict == HOLDS and effect < MIN_EFFECT:
        result = _barely_seen(result, effect)
    return ModelFinding(
        name=module.NAME,
        sentence=module.SENTENCE,
        claim="law",
        verdict=result.verdict,
        value=result.value,
        message=result.message,
        bound=bound_text(module.BOUND),
        why=module.WHY,
        numbers=result.numbers,
        remedy=module.REMEDY,
    )


def _barely_seen(result: ModelResult, effect: float) -> ModelResult:
    """Withdraw a pass of a model whose outputs hardly depend on earlier tokens."""
    return not_judged(
        f"Not judged: the first token changes the last output by {show(effect)} of its size alone, "
        f"so that little would show. {result.message}"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the warnings of transformers out of the output."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
