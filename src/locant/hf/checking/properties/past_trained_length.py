"""Past the length that it was made for, a model refuses or goes on; it never clips."""

from __future__ import annotations

import torch

from locant.certification.certificate import FAILS, HOLDS
from locant.certification.probe import relative, show
from locant.hf.checking.model_probe import ENCODER_DECODER, SMALLEST_EFFECT, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, not_judged, seen

NAME = "past"
SENTENCE = (
    "Past the length of its config it refuses, or goes on; it does not repeat its last position."
)
BOUND = "refuses: holds · goes on: seen, nothing is promised · clips: fails"
WHY = "a position that is clipped or wraps around gives outputs of another position in silence"
REMEDY = (
    "Cut rows at the length of the config; `locant extend` measures what becomes of longer ones."
)
LONGEST_RUN = 2_048  # tokens that are still run where positions cannot be given
COUNT = 6


def measure(probe: ModelProbe) -> ModelResult:
    length = probe.length
    if length is None:
        return does_not_apply("Its config names no length.")
    if probe.kind == ENCODER_DECODER:
        return not_judged("Not measured: source and target have lengths of their own.")
    if probe.obeys_positions:
        return _by_positions(probe, length)
    if length > LONGEST_RUN:
        return not_judged(
            f"Not measured: it takes no position_ids, and {length:,} tokens are many."
        )
    try:
        probe.run(probe.tokens(length + 8))
    except (IndexError, ValueError, RuntimeError) as problem:
        return _refuses(problem, length)
    return seen("goes on", f"It goes on past {length:,} tokens without a word.")


def _by_positions(probe: ModelProbe, length: int) -> ModelResult:
    """Move the last token of a short row: past the length, is it where its position says?"""
    last = length + probe.first_position
    effects = {}
    for name, far in (("within", last // 2), ("past", last + 16)):
        try:
            one, two = (_with_last_at(probe, position) for position in (far, far + 8))
        except (IndexError, ValueError, RuntimeError) as problem:
            if name == "past":
                return _refuses(problem, length)
            raise
        effects[name] = relative(one, two)
    numbers = {f"effect of 8 positions, {name} the length": one for name, one in effects.items()}
    if effects["within"] <= SMALLEST_EFFECT:
        return not_judged("The position of a single token has no effect on its output.")
    if effects["past"] <= SMALLEST_EFFECT:
        message = (
            f"Positions {last + 16:,} and {last + 24:,} give the same outputs: it clips in silence."
        )
        return ModelResult(FAILS, "clips", message, numbers)
    message = (
        f"It goes on past position {last:,} without a word; 8 positions more change the output by "
        f"{show(effects['past'])} of its size."
    )
    return seen("goes on", message)


def _with_last_at(probe: ModelProbe, position: int) -> torch.Tensor:
    ids = probe.tokens(COUNT)
    positions = probe.positions(COUNT, probe.first_position)
    positions[0, -1] = position
    ones = torch.ones_like(ids)
    return probe.run(ids, attention_mask=ones, position_ids=positions)[:, -1]


def _refuses(problem: Exception, length: int) -> ModelResult:
    first = (str(problem).strip() or "no message").splitlines()[0]
    message = f"It refuses more than {length:,} positions: {type(problem).__name__}: {first}"
    return ModelResult(HOLDS, "refuses", message)
