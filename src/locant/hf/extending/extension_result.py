"""What a comparison of context extensions found: tables, a verdict, a picture, an entry to use."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from locant._internal.files import write_atomically
from locant._internal.text import plus_minus
from locant.hf.extending.context_methods import NONE, Method
from locant.hf.extending.passkey import Retrieval
from locant.lab.statistics.paired import compare, interval
from locant.lab.statistics.ranking import Ranking, rank
from locant.lab.statistics.verdict import MIN_SEEDS, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scores = NDArray[np.float64]  # one for each document
BINS = 16  # stretches of positions that a picture shows


@dataclass(frozen=True)
class Extension:
    """A model's reading of the same documents under several methods.

    metric   "bits a token" (fewer are better) or "cosine" (of an encoder's embeddings)
    near     by method: the score of every document at the trained length
    far      by method: the score of every document past the trained length, read to the target
    lengths  by method: length → the score of every document when it is read to that length
    curves   by method: (documents, stretches of positions); empty for an encoder
    longer_tables  by method, for a model with a table of positions: weights by name
    """

    checkpoint: str
    trained: int
    target: int
    metric: str
    documents: str
    names: list[str]
    methods: list[Method]
    near: Mapping[str, Scores]
    far: Mapping[str, Scores]
    lengths: Mapping[str, Mapping[int, Scores]]
    curves: Mapping[str, Scores]
    notes: Sequence[str] = ()
    passkey: Sequence[Retrieval] = field(default_factory=list)
    longer_tables: Mapping[str, Mapping[str, NDArray[np.float32]]] = field(default_factory=dict)

    @cached_property
    def ranking(self) -> Ranking:
        """Rank the methods by their scores past the trained length; `none` is the reference."""
        references = [NONE] if NONE in self.far else []
        return rank(self.far, references=references, higher_is_better=self.metric != "bits a token")

    @property
    def leading(self) -> str:
        """Name the method with the best mean past the trained length, other than none."""
        return next(one.name for one in self.ranking.entrants if one.name != NONE)

    @property
    def winner(self) -> str | None:
        """Name the leading method if it is surely better than none, or than every other method."""
        ranking, first = self.ranking, self.leading
        if ranking.seeds < MIN_SEEDS:
            return None
        rivals = [NONE] if NONE in self.far else [name for name in self.far if name != first]
        order = [one.name for one in ranking.entrants]
        for rival in rivals:
            ahead = order.index(first) < order.index(rival)
            if not ahead or not ranking.distinguishable(first, rival):
                return None
        return first

    @property
    def verdict(self) -> str:
        """Say what the documents allow to be said of the methods past the trained length."""
        sentences = [
            # the statistics compare encodings; here they are ways to extend one
            verdict(self.ranking, (NONE,), unit="documents").replace("encoding", "method")
        ]
        first = self.winner
        if first is not None and NONE in self.near:
            cost = compare(self.near[first], self.near[NONE])
            text = plus_minus(cost.mean, cost.half_width, "signed", half_style="fixed")
            sentences.append(
                f"At the trained length {first} changes the score by {text} {self.metric}."
                if np.any(self.near[first] != self.near[NONE])
                else f"At the trained length {first} changes nothing."
            )
        return " ".join(sentences)

    @property
    def entry(self) -> dict[str, Any] | None:
        """Return the winner's entry for config.json; None where no method won."""
        first = self.winner
        return None if first is None else self.entry_of(first)

    def entry_of(self, name: str) -> dict[str, Any]:
        """Return what config.json says for a method."""
        return next(method.entry for method in self.methods if method.name == name)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one line for each method, best first."""
        lengths = list(next(iter(self.lengths.values())))
        header = ["method", f"to {self.trained:,}", "− none", f"{self.trained:,}–{self.target:,}"]
        header += ["− none", *(f"read to {length:,}" for length in lengths[1:])]
        lines = []
        for name in self._order():
            line = [name]
            for scores in (self.near, self.far):
                line.append(_mean(scores.get(name)))
                line.append("" if name == NONE else _difference(scores, name))
            by_length = self.lengths.get(name, {})
            line += [_mean(by_length.get(length)) for length in lengths[1:]]
            lines.append(line)
        return header, lines

    def passkey_table(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one line for each method: how many planted numbers it retrieved."""
        columns = list(dict.fromkeys((one.length, one.depth) for one in self.passkey))
        header = ["method", *(f"{length:,}, depth {depth:g}" for length, depth in columns)]
        lines = []
        for name in dict.fromkeys(one.method for one in self.passkey):
            own = {(one.length, one.depth): one for one in self.passkey if one.method == name}
            cells = [f"{own[at].retrieved} of {own[at].trials}" for at in columns]
            lines.append([name, *cells])
        return header, lines

    def _order(self) -> list[str]:
        """Order the methods from best to worst; those without a far score come last."""
        ranked = [one.name for one in self.ranking.entrants]
        return ranked + [name for name in self.near if name not in ranked]

    def plot(self, theme: str = "light") -> tuple[Axes, ...]:
        """Draw bits by position and by length."""
        from locant.figures.plots import extension
        from locant.figures.plots.frame import Frame

        return extension.draw(
            {name: self.curves[name] for name in self._order() if name in self.curves},
            {name: self.lengths[name] for name in self._order() if name in self.lengths},
            trained=self.trained,
            target=self.target,
            metric=self.metric,
            frame=Frame(theme=theme),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        scores = {}
        for name in self._order():
            by_length = self.lengths.get(name, {})
            scores[name] = {
                "entry": self.entry_of(name),
                "near": _plain(self.near.get(name)),
                "far": _plain(self.far.get(name)),
                "lengths": {str(length): _plain(own) for length, own in by_length.items()},
            }
        return {
            "checkpoint": self.checkpoint,
            "trained": self.trained,
            "target": self.target,
            "metric": self.metric,
            "documents": self.documents,
            "names": self.names,
            "methods": scores,
            "verdict": self.verdict,
            "winner": self.winner,
            "entry": self.entry,
            "notes": list(self.notes),
            "passkey": [asdict(one) for one in self.passkey],
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write extension.json, extension.png and, where a method won, config-entry.json.

        A longer table of positions is no matter of the config alone: longer-table.safetensors then
        holds the weights that replace those of the same names.
        """
        from locant.figures.plots.saving import save

        folder = Path(folder)
        files = [folder / "extension.json", folder / "extension.png"]
        _write_json(files[0], self.to_dict())
        with write_atomically(files[1]) as partial:
            save(self.plot(), partial, title=f"{self.checkpoint}: context extension")
        if self.entry is not None:
            files.append(folder / "config-entry.json")
            _write_json(files[-1], self.entry)
        tables = self.longer_tables.get(self.winner or "")
        if tables:
            files.append(folder / "longer-table.safetensors")
            with write_atomically(files[-1]) as partial:
                save_file(dict(tables), partial)
        return files


def _write_json(file: Path, value: Any) -> None:
    with write_atomically(file) as partial:
        partial.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _mean(scores: Scores | None) -> str:
    if scores is None:
        return "–"
    low, high = interval(scores)
    return plus_minus(float(np.mean(scores)), (high - low) / 2, "fixed")


def _difference(scores: Mapping[str, Scores], name: str) -> str:
    if name not in scores or NONE not in scores:
        return "–"
    apart = compare(scores[name], scores[NONE])
    half = apart.half_width if math.isfinite(apart.half_width) else None
    return plus_minus(apart.mean, half, "signed", half_style="fixed")


def _plain(scores: Scores | None) -> list[float] | None:
    return None if scores is None else [round(float(one), 6) for one in scores]
