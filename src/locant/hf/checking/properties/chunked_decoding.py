"""Reading a prompt in chunks gives what a full pass gives."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._decoding import COUNT, decode

NAME = "chunked"
SENTENCE = (
    "Chunks of several tokens, each from the cache of those before, give what a full pass gives."
)
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Read the prompt in one pass, then go on token by token (see cached)."


def measure(probe: ModelProbe) -> ModelResult:
    return decode(probe, (0, 5, 6, 10, COUNT))
