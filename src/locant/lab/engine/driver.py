"""The driver brings a study to its end: it searches, has the missing runs computed, keeps them."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import product
from typing import Any

from locant.lab.engine.rate_search import Point, best, fixed, points
from locant.lab.store.store import STALE, Store
from locant.lab.store.store_errors import StoreError, unwritable_run_files
from locant.lab.store.task_facts import TaskFacts
from locant.lab.store.thresholds import ceiling_of, has_learned
from locant.lab.study import (
    FIRST_CHECK_SEED,
    FIRST_SEARCH_SEED,
    RowConfig,
    SearchConfig,
    Study,
)
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult

Compute = Callable[[list[RunConfig]], Iterator[RunResult]]


class Watch:
    """Hears of every step of a driver; a display overrides the methods that it wants to show."""

    def begun(self, task: TaskFacts) -> None:
        """Hear that a study on this task begins."""

    def planned(self, phase: str, runs: int, known: list[RunResult]) -> None:
        """Hear that a phase of so many runs begins, of which these are known already."""

    def ended(self, run: RunConfig, result: RunResult) -> None:
        """Hear that a run has ended, well or not."""

    def finished(self, study_id: str) -> None:
        """Hear that a study is finished and kept under this id."""

    def close(self) -> None:
        """Hear that nothing more will be shown of a study."""


class Driver:
    """Brings a study to its end. Started again, it goes on where it was.

    any_code  accept runs of older code; retry: compute failed runs again
    """

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
        self.any_code, self.retry = any_code, retry
        self.retried: set[str] = set()
        self.watch = watch or Watch()

    def finish(self, task: TaskFacts, command: str) -> str:
        """Search, run every entrant over every seed, check the search, keep the study; its id."""
        self.watch.begun(task)
        self.sign = -1 if task.selects_higher else 1  # of a value that is to be low
        entrants, seeds = self.study.rows(), self.study.seed_list()
        models = [entrant for entrant in entrants if not entrant.baseline]
        barred = self._barred(models, task)
        able = [one for one in models if one.name not in barred]  # no search could help the others
        self.searched: list[list[Any]] = []  # name, search, both rates, value, digest, code
        self.rates: dict[str, list[Point]] = {}
        for entrant in entrants:
            self.rates[entrant.name] = [(1.0, 1.0)] * len(seeds)
        if self.study.search:
            self.rates |= self._search(able, self.study.search, len(seeds))
        wanted = []
        for entrant in entrants:
            for seed, point in zip(seeds, self.rates[entrant.name], strict=True):
                wanted.append((entrant, self.study.run(entrant, seed, *point)))
        kept = self._ensure("runs", [run for _, run in wanted])
        runs = []
        for entrant, run in wanted:
            digest = run.digest()
            runs.append((entrant.name, entrant.encoding, digest, kept[digest].code))
        checks = self._check(able, self.study.search) if self.study.search else []
        slow = [entrant for entrant in able if self._is_slow(entrant, runs, kept, task)]
        longer = self._look_longer(slow) if self.study.longer else []
        choices = {
            "facts": task.to_stored(),
            "rates": {name: [list(point) for point in some] for name, some in self.rates.items()},
            "search": self.searched,
            "checks": checks,
            "longer": longer,
            "barred": barred,
        }
        settings = self.study.model_dump()
        text = json.dumps([settings, runs], sort_keys=True)
        study_id = f"{self.study.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        self.store.keep_study(study_id, settings, choices, runs, command)
        return study_id

    def _search(
        self, entrants: list[RowConfig], search: SearchConfig, count: int
    ) -> dict[str, list[Point]]:
        """Find the best rates of every entrant for every reported seed, each by its own search.

        All searches try one point after the other, so that a run knows what it has to beat.
        """
        late = search.judged_by == "second half"
        metric = "validation, second half" if late else "validation"
        grid = {entrant.name: self._points(entrant, search) for entrant in entrants}
        found: dict[str, list[dict[Point, float]]] = {}
        for entrant in entrants:
            found[entrant.name] = [{} for _ in range(count)]
        rounds = max((len(some) for some in grid.values()), default=0)
        for turn in range(rounds):
            trials = {}
            for entrant, number in product(entrants, range(count)):
                values, point = found[entrant.name][number], grid[entrant.name][turn]
                bound = min(values.values()) if values and late and self.sign > 0 else None
                trial = self.study.trial(entrant, number, point, _finite(bound))
                trials[entrant.name, number, point] = trial
            kept = self._ensure(f"search {turn + 1} of {rounds}", list(trials.values()))
            for (name, number, point), run in trials.items():
                result = kept[run.digest()]
                value = self._value(result, metric)
                found[name][number][point] = value
                self.searched.append(
                    [name, number, *point, _finite(value), result.digest, result.code]
                )
        return {name: [best(values) for values in some] for name, some in found.items()}

    def _points(self, entrant: RowConfig, search: SearchConfig) -> list[Point]:
        from locant.lab.training.build import learns

        learns_positions = learns(self.study.run(entrant, 0))
        return points(search.rate, search.positional_rate, learns=learns_positions)

    def _value(self, result: RunResult, metric: str) -> float:
        """Return the value of a point, the lower the better; a failed run is the worst of all."""
        return self.sign * result.metrics[metric] if result.status == "done" else math.inf

    def _check(self, entrants: list[RowConfig], search: SearchConfig) -> list[list[Any]]:
        """Run a few fixed points of the grid on fresh seeds for every entrant."""
        wanted = []
        for entrant in entrants:
            for point in fixed(self._points(entrant, search)):
                for number in range(search.check):
                    run = self.study.run(entrant, FIRST_CHECK_SEED + number, *point)
                    wanted.append((entrant, point, run))
        return self._listed("checks", wanted)

    def _barred(self, entrants: list[RowConfig], task: TaskFacts) -> dict[str, float]:
        """Return the entrants that an exact ceiling keeps from learning the task, each with it."""
        from locant.lab.training.build import tells_direction

        barred = {}
        for entrant in entrants:
            directed = tells_direction(self.study.run(entrant, 0))
            ceiling = ceiling_of(entrant, task.ceilings, tells_direction=directed)
            if ceiling is not None and ceiling < task.threshold:
                barred[entrant.name] = ceiling
        return barred

    def _is_slow(
        self, entrant: RowConfig, runs: list[Any], kept: dict[str, RunResult], task: TaskFacts
    ) -> bool:
        """Say whether fewer than half of an entrant's runs have learned the task."""
        own = [kept[digest] for name, _, digest, _ in runs if name == entrant.name]
        learned = [has_learned(run.history, task) for run in own if run.status == "done"]
        return bool(learned) and None not in learned and 2 * sum(map(bool, learned)) < len(learned)

    def _look_longer(self, entrants: list[RowConfig]) -> list[list[Any]]:
        """Run entrants that have not learned the task once more, with more steps at a few rates."""
        assert self.study.longer is not None
        wanted = []
        for entrant in entrants:
            chosen = self.rates[entrant.name]
            positional = max(chosen, key=chosen.count)[1]
            for number, rate in enumerate(self.study.longer.rate):
                point = (rate, positional)
                wanted.append((entrant, point, self.study.longer_run(entrant, number, point)))
        return self._listed("longer runs", wanted)

    def _listed(
        self, phase: str, wanted: list[tuple[RowConfig, Point, RunConfig]]
    ) -> list[list[Any]]:
        """Run what is wanted; list name, both rates, digest and code of each."""
        kept = self._ensure(phase, [run for _, _, run in wanted]) if wanted else {}
        listed = []
        for entrant, point, run in wanted:
            digest = run.digest()
            listed.append([entrant.name, *point, digest, kept[digest].code])
        return listed

    def _ensure(self, phase: str, runs: list[RunConfig]) -> dict[str, RunResult]:
        """Return every run by its digest, from the store or computed now.

        Runs that another driver computes are waited for.
        """
        wanted = {run.digest(): run for run in runs}
        codes = {digest: run.code() for digest, run in wanted.items()}
        if self.retry:
            self.store.forget_failures(list(set(wanted) - self.retried))
            self.retried |= set(wanted)
        kept: dict[str, RunResult] = {}
        for digest in wanted:
            found = self.store.find(digest, None if self.any_code else codes[digest])
            if found is not None:
                kept[digest] = found
        self.watch.planned(phase, len(wanted), list(kept.values()))
        while len(kept) < len(wanted):
            mine = []
            for digest, run in wanted.items():
                if digest not in kept and self.store.lease(digest, codes[digest]):
                    mine.append(run)
            with self._leases_renewed():
                for result in self.compute(mine):
                    kept[result.digest] = self._keep(result, codes[result.digest])
                    self.watch.ended(wanted[result.digest], kept[result.digest])
            for digest, run in wanted.items():  # what another driver has finished meanwhile
                if digest in kept:
                    continue
                found = self.store.find(digest, codes[digest])
                if found is not None:
                    kept[digest] = found
                    self.watch.ended(run, found)
            if not mine and len(kept) < len(wanted):
                time.sleep(1.0)
        return kept

    def _keep(self, result: RunResult, code: str) -> RunResult:
        """Store a result under the code that was planned; notes of reported runs alone are kept."""
        if result.status == "refused":
            raise unwritable_run_files(result.error)
        notes = result.notes if result.config["seed"] < FIRST_SEARCH_SEED else {}
        result = replace(result, code=code, notes=notes)
        self.store.keep(result)
        return result

    @contextmanager
    def _leases_renewed(self) -> Iterator[None]:
        """Renew this driver's leases while runs are computed, however long one takes."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(STALE / 6):
                with suppress(StoreError):  # a lock that stays is met when the next run is kept
                    self.store.renew_leases()

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            with suppress(StoreError):  # then the leases run out; the error before it matters more
                self.store.release_leases()


def _finite(value: float | None) -> float | None:
    """Return a value that settings and JSON can hold; None for one that they cannot."""
    return value if value is not None and math.isfinite(value) else None
