"""The settings of one run: everything that determines it, as plain values with a digest."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from locant.encodings.registry import describe
from locant.lab.tasks import task_source
from locant.lab.training.identity import PACKAGE, Start, fingerprint

LIBRARIES = ("torch", "numpy", "scipy")
SAME_CODE = Path(__file__).with_name("same_code.json")


class Plain(BaseModel):
    """Settings that cannot change; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelConfig(Plain):
    """The transformer around the encoding."""

    dim: int = Field(64, ge=1)
    heads: int = Field(4, ge=1)
    layers: int = Field(2, ge=1)
    ffn: int = Field(128, ge=1)
    norm: Literal["pre", "post"] = "pre"
    activation: Literal["gelu", "relu"] = "gelu"
    projection_bias: bool = True
    token_size: float = Field(1.0, gt=0)  # standard deviation of token vectors at the start
    head: int = Field(0, ge=0)  # hidden width of the head; 0 is one linear layer
    dropout: float = Field(0.0, ge=0, lt=1)
    dropout_from: Literal["fresh", "bits", "pool"] = "fresh"  # torch's own, or quicker
    # Dropout of the input: always, or only where the encoding adds to it.
    input_dropout: Literal["always", "if added"] = "always"
    # How attention's projections and the output head start.
    initialisation: Literal["torch", "xavier"] = "torch"


class TrainingConfig(Plain):
    """How the model is trained."""

    steps: int = Field(250, ge=1)
    batch: int = Field(32, ge=1)
    rate: float = Field(3e-3, gt=0)  # the learning rate
    positional_rate: float = Field(1.0, gt=0)  # times `rate`, for the encoding's own parameters
    weight_decay: float = Field(0.01, ge=0)
    beta2: float = Field(0.98, gt=0, lt=1)
    warm_up: int = Field(50, ge=0)
    schedule: Literal["constant", "cosine"] = "constant"
    final: float = Field(0.1, ge=0, le=1)  # factor of the learning rate at the end of a cosine
    pace_every: int = Field(1, ge=1)  # steps between updates of the learning rate
    clip: float = Field(1.0, gt=0)
    validate_every: int = Field(50, ge=1)
    validation: int = Field(500, ge=1)  # rows, or series
    test: int = Field(2000, ge=1)  # rows, or series
    # Training ends early when three validations in a row are below this; for scores to lower.
    stop_below: float = Field(0.0, ge=0)
    # A run of a search ends early when its mean over the second half must end above this.
    abandon_above: float | None = None


class RunConfig(Plain):
    """Everything that determines one run."""

    task: str
    task_options: dict[str, Any] = {}
    name: str  # of the row that it belongs to
    encoding: str
    options: dict[str, Any] = {}
    # A control: positions scrambled, or every token sees only itself.
    control: Literal["", "scramble", "alone"] = ""
    baseline: str = ""  # a baseline of the task instead of a model
    match_scale: bool = True  # what an encoding adds to the input gets the scale of the tokens
    # Positions are counted, or are the times in the task's data.
    positions: Literal["order", "times"] = "order"
    seed: int
    device: str = "cpu"
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()

    def digest(self) -> str:
        """Name these settings; counted positions, the default, are no part of the name."""
        unsaid = {"name", "positions"} if self.positions == "order" else {"name"}
        return _short(json.dumps(self.model_dump(exclude=unsaid), sort_keys=True))

    def code(self) -> str:
        """Name the code that would run these settings: when it changes, kept runs do not count.

        A code that was proven to train to the same bits as an earlier one has the earlier name
        (same_code.json, written by benchmarks/same_numbers.py).
        """
        name = fingerprint(self.starts(), *(version(name) for name in LIBRARIES))
        return _same_code().get(name, name)

    def starts(self) -> list[Start]:
        """List the definitions that a run starts from: `execute`, its task, its encoding or
        baseline."""
        starts = [(PACKAGE / "lab" / "training" / "evaluate.py", "execute"), task_source(self.task)]
        if not self.baseline:
            entry = describe(self.encoding)
            return [*starts, (entry.path, entry.class_name)]
        method = PACKAGE / "anomaly" / "baselines" / f"{self.baseline}.py"
        return [*starts, (method, "score")] if method.is_file() else starts


@cache
def _same_code() -> dict[str, str]:
    """Read which codes compute the same bits as an earlier one: name → the earlier name."""
    return dict(json.loads(SAME_CODE.read_text(encoding="utf-8")))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
