"""The driver: asks the store what is there, has the rest computed, searches, and writes down what answers a study."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from locant.engine.attempt import Done
from locant.engine.grid import Grid, Point, around, best, points, widened
from locant.results.faults import StoreError, unwritten
from locant.results.store import STALE, Kept, Store
from locant.results.study import RowConfig, SearchConfig, Study
from locant.training.config import RunConfig

Compute = Callable[[list[RunConfig]], Iterator[Done]]


class Watch:
    """What a driver tells while it works; a display overrides what it wants to show."""

    def planned(self, phase: str, runs: int, known: int) -> None:
        """A phase begins: so many runs, of which so many are known already."""

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
        self.any_code, self.retry = any_code, retry  # accept runs of older code; compute failed runs again
        self.retried: set[str] = set()
        self.watch = watch or Watch()

    def finish(self, facts: dict[str, Any], command: str) -> str:
        """Search, run every row over every seed, keep the study; its id."""
        self.sign = 1 if facts["chooses_higher"] else -1
        rows = self.study.rows()
        self.rates: dict[str, Point] = {row.name: (1.0, 1.0) for row in rows}
        self.edges: list[str] = []  # rows whose best rates have neighbours that were not tried
        if self.study.search:
            self._search([row for row in rows if not row.baseline])
        seeds = self.study.seed_list()
        wanted = [(row, self.study.run(row, seed, *self.rates[row.name])) for row in rows for seed in seeds]
        kept = self._ensure("runs", [run for _, run in wanted])
        runs = [(row.name, row.encoding, run.digest(), kept[run.digest()].code) for row, run in wanted]
        choices = {
            "facts": facts,
            "rates": {
                name: dict(zip(("rate", "positional_rate"), point, strict=True)) for name, point in self.rates.items()
            },
            "edges": self.edges,
        }
        plain = self.study.model_dump()
        study_id = (
            f"{self.study.name}-{hashlib.sha256(json.dumps([plain, runs], sort_keys=True).encode()).hexdigest()[:8]}"
        )
        self.store.keep_study(study_id, plain, choices, runs, command)
        return study_id

    def _search(self, rows: list[RowConfig]) -> None:
        """The best rates of every row, on validation, by seeds that are not reported; and whose best has untried neighbours."""
        search = self.study.search
        assert search is not None
        grids = {row.name: self._grid(row, search) for row in rows}
        values: dict[str, dict[Point, float]] = {row.name: {} for row in rows}
        wanted = {name: points(grid) for name, grid in grids.items()}
        for _ in range(1 + search.widen):
            runs = {
                (row.name, point): [self.study.trial(row, number, *point) for number in range(search.seeds)]
                for row in rows
                for point in wanted[row.name]
            }
            kept = self._ensure("search", [run for some in runs.values() for run in some])
            for (name, point), some in runs.items():
                values[name][point] = self._value(kept, some)
            grids = {name: widened(grid, values[name]) for name, grid in grids.items()}
            wanted = {name: around(grid, values[name]) for name, grid in grids.items()}
            self.edges = [name for name, left in wanted.items() if left]
            if not self.edges:
                break
        self.rates |= {name: best(some) for name, some in values.items()}

    def _grid(self, row: RowConfig, search: SearchConfig) -> Grid:
        """Multiples of the rate; and of the positional rate, where there is something to learn."""
        from locant.training.build import learns

        positional = sorted(search.positional_rate) if learns(self.study.trial(row, 0)) else [1.0]
        return tuple(sorted(search.rate)), tuple(positional)

    def _value(self, kept: dict[str, Kept], runs: list[RunConfig]) -> float:
        """The mean validation score of a point, a failed run being the worst of all."""
        found = [kept[run.digest()] for run in runs]
        if any(run.status != "done" for run in found):
            return float("-inf")
        return self.sign * sum(run.metrics["validation"] for run in found) / len(found)

    def _ensure(self, phase: str, runs: list[RunConfig]) -> dict[str, Kept]:
        """Every run, from the store or computed now. Runs that another driver is at are waited for."""
        wanted = {run.digest(): run for run in runs}
        codes = {digest: run.code() for digest, run in wanted.items()}
        if self.retry:
            self.store.forget_failures(list(set(wanted) - self.retried))
            self.retried |= set(wanted)
        kept = {
            d: found for d in wanted if (found := self.store.find(d, None if self.any_code else codes[d])) is not None
        }
        self.watch.planned(phase, len(wanted), len(kept))
        while len(kept) < len(wanted):
            mine = [run for d, run in wanted.items() if d not in kept and self.store.claim(d, codes[d])]
            with self._alive():
                for done in self.compute(mine):
                    if done.refused:
                        raise StoreError(unwritten(done.refused))
                    digest = done.run.digest()
                    status = "failed" if done.error else "done"
                    config = done.run.model_dump()
                    parts = (done.metrics, done.history, done.cost, done.error, done.notes)
                    entry = Kept(digest, codes[digest], config, status, *parts)
                    self.store.keep(entry)
                    kept[digest] = entry
                    self.watch.ended(done.run, entry)
            for digest, run in wanted.items():  # what another driver has finished meanwhile
                if digest not in kept and (found := self.store.find(digest, codes[digest])) is not None:
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
                with suppress(StoreError):  # a lock that passes; one that stays is told when the next run is kept
                    self.store.alive()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            with suppress(StoreError):  # then they fall silent; what went wrong before is what must be told
                self.store.release()
