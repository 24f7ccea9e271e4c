"""The driver: asks the store what is there, has the rest computed, searches, and writes down what answers a study."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

from locant.lab.engine.attempt import Done
from locant.lab.engine.search import Point, best, fixed, points
from locant.lab.store.faults import StoreError, unwritten
from locant.lab.store.learning import barred, has_learnt
from locant.lab.store.store import STALE, Kept, Store
from locant.lab.store.study import (
    FIRST_CHECK_SEED,
    FIRST_SEARCH_SEED,
    RowConfig,
    SearchConfig,
    Study,
)
from locant.lab.training.config import RunConfig

Compute = Callable[[list[RunConfig]], Iterator[Done]]


class Watch:
    """What a driver tells while it works; a display overrides what it wants to show."""

    def planned(self, phase: str, runs: int, known: list[Kept]) -> None:
        """A phase begins: so many runs, of which these are known already."""

    def ended(self, run: RunConfig, kept: Kept) -> None:
        """A run has ended, well or not."""


class Driver:
    """Brings a study to its end. Started again, it goes on where it was."""

    def __init__(
        self,
        study: Study,
        store: Store,
        compute: Compute,
        *,
        any_code: bool = False,
        retry: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.study, self.store, self.compute = study, store, compute
        self.any_code, self.retry = (
            any_code,
            retry,
        )  # accept runs of older code; compute failed runs again
        self.retried: set[str] = set()
        self.watch = watch or Watch()

    def finish(self, facts: dict[str, Any], command: str) -> str:
        """Search, run every row over every seed, check the search, look longer, keep the study; its id."""
        self.sign = -1 if facts["chooses_higher"] else 1  # of a value that is to be low
        rows, seeds = self.study.rows(), self.study.seed_list()
        models = [row for row in rows if not row.baseline]
        bars = self._bars(models, facts)
        open_ = [row for row in models if row.name not in bars]  # no search could help the others
        self.searched: list[
            list[Any]
        ] = []  # row, search, rate, positional rate, value, digest, code
        self.rates: dict[str, list[Point]] = {row.name: [(1.0, 1.0)] * len(seeds) for row in rows}
        if self.study.search:
            self.rates |= self._search(open_, self.study.search, len(seeds))
        pairs = [(row, at, seed) for row in rows for at, seed in enumerate(seeds)]
        wanted = [
            (row, self.study.run(row, seed, *self.rates[row.name][at])) for row, at, seed in pairs
        ]
        kept = self._ensure("runs", [run for _, run in wanted])
        runs = [
            (row.name, row.encoding, run.digest(), kept[run.digest()].code) for row, run in wanted
        ]
        checks = self._check(open_, self.study.search) if self.study.search else []
        slow = [row for row in open_ if self._is_slow(row, runs, kept, facts)]
        longer = self._look_longer(slow) if self.study.longer else []
        choices = {
            "facts": facts,
            "rates": {name: [list(point) for point in some] for name, some in self.rates.items()},
            "search": self.searched,
            "checks": checks,
            "longer": longer,
            "barred": bars,
        }
        plain = self.study.model_dump()
        study_id = f"{self.study.name}-{hashlib.sha256(json.dumps([plain, runs], sort_keys=True).encode()).hexdigest()[:8]}"
        self.store.keep_study(study_id, plain, choices, runs, command)
        return study_id

    def _search(
        self, rows: list[RowConfig], search: SearchConfig, count: int
    ) -> dict[str, list[Point]]:
        """The best rates of every row for every reported seed, each by a search of its own.

        One point after the other in all searches at once, so that a run knows what it has to beat.
        """
        late = search.judged_by == "second half"
        grid = {row.name: self._points(row, search) for row in rows}
        found: dict[str, list[dict[Point, float]]] = {
            row.name: [{} for _ in range(count)] for row in rows
        }
        rounds = max((len(some) for some in grid.values()), default=0)
        for turn in range(rounds):
            trials = {}
            for row, number in product(rows, range(count)):
                values, point = found[row.name][number], grid[row.name][turn]
                bound = min(values.values()) if values and late and self.sign > 0 else None
                trials[row.name, number, point] = self.study.trial(
                    row, number, point, _finite(bound)
                )
            kept = self._ensure(f"search {turn + 1} of {rounds}", list(trials.values()))
            for (name, number, point), run in trials.items():
                entry = kept[run.digest()]
                value = self._value(entry, "validation, second half" if late else "validation")
                found[name][number][point] = value
                self.searched.append(
                    [name, number, *point, _finite(value), entry.digest, entry.code]
                )
        return {name: [best(values) for values in some] for name, some in found.items()}

    def _points(self, row: RowConfig, search: SearchConfig) -> list[Point]:
        from locant.lab.training.build import learns

        return points(search.rate, search.positional_rate, learns=learns(self.study.run(row, 0)))

    def _value(self, kept: Kept, metric: str) -> float:
        """What a point came to; a failed run is the worst of all."""
        return self.sign * kept.metrics[metric] if kept.status == "done" else math.inf

    def _check(self, rows: list[RowConfig], search: SearchConfig) -> list[list[Any]]:
        """A few fixed points of the grid on fresh seeds, for every row: row, rate, positional rate, digest, code."""
        wanted = [
            (row, point, self.study.run(row, FIRST_CHECK_SEED + number, *point))
            for row in rows
            for point in fixed(self._points(row, search))
            for number in range(search.check)
        ]
        return self._listed("checks", wanted)

    def _bars(self, rows: list[RowConfig], facts: dict[str, Any]) -> dict[str, float]:
        """The rows that an exact ceiling keeps from learning the task, each with it."""
        from locant.lab.training.build import tells_direction

        bars = {}
        for row in rows:
            directed = tells_direction(self.study.run(row, 0))
            bars[row.name] = barred(row, facts["ceilings"], tells_direction=directed)
        return {
            name: bar for name, bar in bars.items() if bar is not None and bar < facts["threshold"]
        }

    def _is_slow(
        self, row: RowConfig, runs: list[Any], kept: dict[str, Kept], facts: dict[str, Any]
    ) -> bool:
        """Whether fewer than half of a row's runs have learnt the task, by the score that decides."""
        own = [kept[digest] for name, _, digest, _ in runs if name == row.name]
        learnt = [has_learnt(run.history, facts) for run in own if run.status == "done"]
        return bool(learnt) and None not in learnt and 2 * sum(map(bool, learnt)) < len(learnt)

    def _look_longer(self, rows: list[RowConfig]) -> list[list[Any]]:
        """Rows that were not learnt, once more with more steps at a few rates, in the same form."""
        assert self.study.longer is not None
        wanted = []
        for row in rows:
            own = max(self.rates[row.name], key=self.rates[row.name].count)[1]
            for number, rate in enumerate(self.study.longer.rate):
                wanted.append((row, (rate, own), self.study.longer_run(row, number, (rate, own))))
        return self._listed("longer runs", wanted)

    def _listed(
        self, phase: str, wanted: list[tuple[RowConfig, Point, RunConfig]]
    ) -> list[list[Any]]:
        kept = self._ensure(phase, [run for _, _, run in wanted]) if wanted else {}
        return [
            [row.name, *point, run.digest(), kept[run.digest()].code] for row, point, run in wanted
        ]

    def _ensure(self, phase: str, runs: list[RunConfig]) -> dict[str, Kept]:
        """Every run, from the store or computed now. Runs that another driver is at are waited for."""
        wanted = {run.digest(): run for run in runs}
        codes = {digest: run.code() for digest, run in wanted.items()}
        if self.retry:
            self.store.forget_failures(list(set(wanted) - self.retried))
            self.retried |= set(wanted)
        kept = {
            d: found
            for d in wanted
            if (found := self.store.find(d, None if self.any_code else codes[d])) is not None
        }
        self.watch.planned(phase, len(wanted), list(kept.values()))
        while len(kept) < len(wanted):
            mine = [
                run for d, run in wanted.items() if d not in kept and self.store.claim(d, codes[d])
            ]
            with self._alive():
                for done in self.compute(mine):
                    if done.refused:
                        raise StoreError(unwritten(done.refused))
                    digest = done.run.digest()
                    status = "failed" if done.error else "done"
                    config = done.run.model_dump()
                    notes = (
                        done.notes if done.run.seed < FIRST_SEARCH_SEED else {}
                    )  # pictures show reported runs
                    parts = (done.metrics, done.history, done.cost, done.error, notes)
                    entry = Kept(digest, codes[digest], config, status, *parts)
                    self.store.keep(entry)
                    kept[digest] = entry
                    self.watch.ended(done.run, entry)
            for digest, run in wanted.items():  # what another driver has finished meanwhile
                if (
                    digest not in kept
                    and (found := self.store.find(digest, codes[digest])) is not None
                ):
                    kept[digest] = found
                    self.watch.ended(run, found)
            if not mine and len(kept) < len(wanted):
                time.sleep(1.0)
        return kept

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Signs of life for this driver's claims while runs are computed, however long one takes; then give them back."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(STALE / 6):
                with suppress(
                    StoreError
                ):  # a lock that passes; one that stays is told when the next run is kept
                    self.store.alive()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            with suppress(
                StoreError
            ):  # then they fall silent; what went wrong before is what must be told
                self.store.release()


def _finite(value: float | None) -> float | None:
    """None for what no settings and no JSON can hold."""
    return value if value is not None and math.isfinite(value) else None
