"""The store: one SQLite file keeps every run, known by its settings and the code that ran it."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locant.lab.store.schema import prepare
from locant.lab.store.store_errors import store_error
from locant.lab.training.run_result import RunResult

STALE = 30.0  # seconds without a sign of life after which another driver's lease is void
SELECT_RUNS = "SELECT digest, code, config, status, metrics, history, cost, error, notes FROM runs"


def without_store(command: str) -> str:
    """Leave the path of the store out of a command line.

    >>> without_store("locant compare order --store '/some where/runs.sqlite' --quick")
    'locant compare order --quick'
    >>> without_store("locant compare order --store=runs.sqlite")
    'locant compare order'
    >>> without_store("locant.lab.compare('order', quick=True)")
    "locant.lab.compare('order', quick=True)"
    """
    if not command.startswith("locant "):  # a call in Python, which never says it
        return command
    try:
        words = iter(shlex.split(command))
    except ValueError:  # quotes that were lost on the way
        words = iter(command.split())
    kept = []
    for word in words:
        if word == "--store":
            next(words, None)
        elif not word.startswith("--store="):
            kept.append(word)
    return shlex.join(kept)


@dataclass(frozen=True)
class StudyEntry:
    """A finished study as the store keeps it: what it asked for, and which runs answer it.

    study    the settings, as plain values
    choices  the facts of the task, and what was searched, checked and run for longer
    runs     name, encoding, digest and code of every reported run
    """

    id: str
    name: str
    study: dict[str, Any]
    choices: dict[str, Any]
    runs: list[list[str]]
    command: str
    finished: float

    def run_keys(self) -> list[tuple[str, str]]:
        """List digest and code of every run that the study names, those not reported included."""
        lines: list[list[Any]] = list(self.runs)
        for part in ("search", "checks", "longer"):
            lines += self.choices.get(part, [])
        return [(digest, code) for *_, digest, code in lines]


class Store:
    """Runs and studies in one file. Every write is one transaction, so nothing is half there."""

    timeout = 60.0  # seconds to wait for another program that holds the file

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.owner = f"{socket.gethostname()}/{os.getpid()}"
        with self._as_store_error("opened", self.timeout):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open("opened") as base:
            prepare(base, self.path)

    @contextmanager
    def _open(
        self, purpose: str = "read", timeout: float | None = None
    ) -> Iterator[sqlite3.Connection]:
        """Open one transaction: all of it is written, or nothing and a StoreError is raised."""
        timeout = self.timeout if timeout is None else timeout
        with (
            self._as_store_error(purpose, timeout),
            closing(sqlite3.connect(self.path, timeout=timeout)) as base,
            base,
        ):
            yield base

    @contextmanager
    def _as_store_error(self, purpose: str, timeout: float) -> Iterator[None]:
        """Raise what SQLite and the system raise as a StoreError."""
        try:
            yield
        except (sqlite3.Error, OSError, json.JSONDecodeError) as problem:
            raise store_error(self.path, purpose, problem, timeout) from None

    def find(self, digest: str, code: str | None) -> RunResult | None:
        """Find a run by its settings and code; with code None the newest by any code."""
        query = f"{SELECT_RUNS} WHERE digest = ?"
        values: tuple[str, ...] = (digest,)
        if code is not None:
            query, values = query + " AND code = ?", (digest, code)
        with self._open() as base:
            line = base.execute(query + " ORDER BY finished DESC LIMIT 1", values).fetchone()
            return None if line is None else _read_run(line)

    def runs(self) -> list[RunResult]:
        """List every run that is kept, in the order of their digests."""
        with self._open() as base:
            lines = base.execute(f"{SELECT_RUNS} ORDER BY digest, code").fetchall()
        return [_read_run(line) for line in lines]

    def keep(self, *runs: RunResult) -> None:
        """Write runs that have ended, all or none; a run that is kept already stays as it is."""
        with self._open("written") as base:
            base.executemany(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_write_run(run) for run in runs],
            )
            keys = [(run.digest, run.code) for run in runs]
            base.executemany("DELETE FROM claims WHERE digest = ? AND code = ?", keys)

    def forget_failures(self, digests: list[str]) -> None:
        """Delete failed runs, so that they are tried again when they are next asked for."""
        with self._open("written") as base:
            base.executemany(
                "DELETE FROM runs WHERE digest = ? AND status = 'failed'",
                [(digest,) for digest in digests],
            )

    def lease(self, digest: str, code: str) -> bool:
        """Take a run for this driver; False when another living driver has it or has finished
        it."""
        now = time.time()
        with self._open("written") as base:
            base.execute("BEGIN IMMEDIATE")
            if base.execute(
                "SELECT 1 FROM runs WHERE digest = ? AND code = ?", (digest, code)
            ).fetchone():
                return False
            base.execute("DELETE FROM claims WHERE seen < ?", (now - STALE,))
            base.execute(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (digest, code, self.owner, now)
            )
            (owner,) = base.execute(
                "SELECT owner FROM claims WHERE digest = ? AND code = ?", (digest, code)
            ).fetchone()
        return bool(owner == self.owner)

    def renew_leases(self) -> None:
        """Give a sign of life for all leases of this driver, without a long wait for the file."""
        with self._open("written", STALE / 6) as base:
            base.execute("UPDATE claims SET seen = ? WHERE owner = ?", (time.time(), self.owner))

    def release_leases(self) -> None:
        """Give back the runs that this driver took and did not finish."""
        with self._open("written", STALE / 6) as base:
            base.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def keep_study(
        self,
        study_id: str,
        study: dict[str, Any],
        choices: dict[str, Any],
        runs: list[Any],
        command: str,
        finished: float | None = None,
    ) -> None:
        """Write or renew what a study asked for and which runs answer it; finished now by default.

        command  kept as it was asked, without the path of this machine's store
        """
        texts = [json.dumps(part, sort_keys=True) for part in (study, choices, runs)]
        finished = time.time() if finished is None else finished
        with self._open("written") as base:
            base.execute(
                "INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?, ?, ?, ?)",
                (study_id, study["name"], *texts, without_store(command), finished),
            )

    def studies(self) -> list[StudyEntry]:
        """List every study that is kept, newest first."""
        query = (
            "SELECT id, name, study, choices, runs, command, finished FROM studies"
            " ORDER BY finished DESC"
        )
        with self._open() as base:
            return [_read_study(line) for line in base.execute(query).fetchall()]


def _write_run(run: RunResult) -> tuple[str | float, ...]:
    return (
        run.digest,
        run.code,
        json.dumps(run.config, sort_keys=True),
        run.status,
        json.dumps(run.metrics, sort_keys=True),
        json.dumps(run.history, sort_keys=True),
        json.dumps(run.cost, sort_keys=True),
        run.error,
        time.time(),
        json.dumps(run.notes),
    )


def _read_run(line: tuple[str, ...]) -> RunResult:
    digest, code, config, status, metrics, history, cost, error, notes = line
    return RunResult(
        digest,
        code,
        json.loads(config),
        status,
        json.loads(metrics),
        json.loads(history),
        json.loads(cost),
        error,
        json.loads(notes),
    )


def _read_study(line: tuple[Any, ...]) -> StudyEntry:
    study_id, name, study, choices, runs, command, finished = line
    parts = json.loads(study), json.loads(choices), json.loads(runs)
    return StudyEntry(study_id, name, *parts, command, finished)
