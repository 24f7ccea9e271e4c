"""Show the progress of a study: a bar in a terminal or a notebook, a line a tenth elsewhere."""

from __future__ import annotations

import html
import sys
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from locant.lab.engine.driver import Watch
from locant.lab.store.task_facts import TaskFacts
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult


class Display(Watch):
    """Counts runs and failures and remembers the best so far; a subclass shows them."""

    def __init__(self) -> None:
        self.sign, self.metric = 1, "score"  # of validation: the higher, the better
        self.best: tuple[float, str] = (float("-inf"), "")
        self.phase, self.done, self.runs, self.failed = "", 0, 0, 0

    def begun(self, task: TaskFacts) -> None:
        self.sign, self.metric = (1 if task.selects_higher else -1), task.selection_metric
        self.best, self.failed = (float("-inf"), ""), 0

    def planned(self, phase: str, runs: int, known: list[RunResult]) -> None:
        for result in known:
            self._count(result)
        self.phase, self.done, self.runs = phase, len(known), runs
        self.start_phase(f"{len(known)} known" if known else "")

    def ended(self, run: RunConfig, result: RunResult) -> None:
        self._count(result)
        self.done += 1
        value = abs(self.best[0])
        note = f"best validation {self.metric} so far: {self.best[1]} {value:.3f}"
        self.advance(f"{note}, {self.failed} failed" if self.failed else note)

    def _count(self, result: RunResult) -> None:
        if result.status != "done":
            self.failed += 1
        elif "validation" in result.metrics:
            value = self.sign * result.metrics["validation"]
            if value > self.best[0]:
                self.best = (value, result.config["name"])

    def start_phase(self, note: str) -> None:
        """Show that a phase begins."""

    def advance(self, note: str) -> None:
        """Show that one more run has ended."""

    def close(self) -> None:
        """Leave the screen as it is."""


class TerminalDisplay(Display):
    """A bar with the time left."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
        )

    def start_phase(self, note: str) -> None:
        self.bar.start()
        self.task = self.bar.add_task(self.phase, total=self.runs, completed=self.done, note=note)

    def advance(self, note: str) -> None:
        self.bar.update(self.task, advance=1, note=note)

    def close(self) -> None:
        self.bar.stop()


class LineDisplay(Display):
    """One line for each tenth of the runs."""

    def advance(self, note: str) -> None:
        if self.done * 10 // self.runs > (self.done - 1) * 10 // self.runs:
            line = f"{self.phase}: {self.done} of {self.runs} runs, {note}"
            print(line, file=sys.stderr, flush=True)


class NotebookDisplay(Display):
    """A live bar in the output of a notebook's cell."""

    handle: Any = None

    def start_phase(self, note: str) -> None:
        self._show(note)

    def advance(self, note: str) -> None:
        self._show(note)

    def _show(self, note: str) -> None:
        from IPython.display import HTML, display

        bar = f'<progress value="{self.done}" max="{self.runs}"></progress>'
        count = f"{self.done} of {self.runs} runs"
        shown = HTML(f"{html.escape(self.phase)} {bar} {count} {html.escape(note)}")
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)


def choose_display() -> Display:
    """Return the display that fits: a notebook's, a terminal's, or lines."""
    if in_notebook():
        return NotebookDisplay()
    console = Console(stderr=True)
    return TerminalDisplay(console) if console.is_terminal else LineDisplay()


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
