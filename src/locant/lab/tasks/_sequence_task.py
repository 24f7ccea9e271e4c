"""Decoding tasks: a causal model answers at many tokens of a row, and is judged on longer rows too.

A model that has not learned rows of the trained length says nothing about longer ones, so reports
show longer rows only for entrants that have.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy

from locant._internal.checks import whole_number
from locant.lab.tasks._random_positions import check_sampler, position_limit, sampled_positions
from locant.lab.tasks._token_task import TokenTask
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores, generator

IGNORE_INDEX = -100  # torch's own mark of a target that is not scored


@dataclass(frozen=True)
class SequenceTask(TokenTask):
    """Rows of tokens with a target at every token, IGNORE_INDEX where nothing is asked.

    longer   lengths of further test rows; as many tokens are judged at every length
    sampler  "" or a sampler of positions, whose positions the rows tell as their times: entrants
             such as rotary+randomized take them instead of the counted ones
    """

    length: int = 32
    longer: tuple[int, ...] = ()
    sampler: str = ""

    pool = False
    causal = True
    baselines = ()

    def __post_init__(self) -> None:
        check_sampler("the task", self.sampler)
        for longer in self.longer:
            whole_number("the task", "longer", longer, least=self.length + 1)

    @property
    def max_length(self) -> int:
        longest = max(self.length, *self.longer) if self.longer else self.length
        return position_limit(self.sampler, longest)

    def ceilings(self) -> Scores:
        """Return no ceiling: a causal mask tells order by itself, so none is not blind."""
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        rows = self.sample(count, generator("data", seed, step))
        return rows._replace(times=self._times(rows.inputs, "train", seed, step))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output.flatten(0, 1), target.flatten(), ignore_index=IGNORE_INDEX)

    def score(self, output: Tensor, target: Tensor) -> Scores:
        """Compute the accuracy of all answers, and the loss, of outputs (B,T,outputs)."""
        scored = target != IGNORE_INDEX
        right = (output.argmax(-1) == target)[scored].double().mean().item()
        return {"accuracy": right, "loss": self.loss(output, target).item()}

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = self.sample(count, generator("validation", seed))
        times = self._times(rows.inputs, "validation", seed)
        return self.score(predict(rows.inputs, None, times), rows.target)

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score rows of the trained length, and of longer rows what `judged` says."""
        rows = self.sample(count, generator("test", seed))
        output = predict(rows.inputs, None, self._times(rows.inputs, "test", seed))
        scores = self.score(output, rows.target)
        scored = rows.target != IGNORE_INDEX
        columns = {
            "target": rows.target[scored].tolist(),
            "answer": output.argmax(-1)[scored].tolist(),
        }
        for length in self.longer:
            fewer = max(1, count * self.length // length)
            rows = self.lengthened(length).sample(fewer, generator("test", seed, length))
            output = predict(rows.inputs, None, self._times(rows.inputs, "test", seed, length))
            found = self.score(output, self.judged(rows.target))
            scores |= {f"{name} at {length}": found[name] for name in found if name != "loss"}
        return Evaluation(scores, columns)

    def judged(self, target: Tensor) -> Tensor:
        """Leave the targets (B,T) of a longer row's second half: answers far from its start."""
        half = target.clone()
        half[:, : target.shape[1] // 2] = IGNORE_INDEX
        return half

    def example(self, seed: int) -> Batch:
        rows = self.sample(1, generator("example", seed))
        return rows._replace(times=self._times(rows.inputs, "example", seed))

    def _times(self, inputs: Tensor, purpose: str, *numbers: int) -> Tensor | None:
        return sampled_positions(self.sampler, inputs, self.max_length, purpose, *numbers)
