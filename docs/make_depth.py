"""Measure stacked layers, and write docs/depth.md from what was measured.

python docs/make_depth.py --run --seeds 10 --workers 2     # about two hours of one core
python docs/make_depth.py                                  # the page again, without training

Runs are kept one by one in docs/studies/depth.jsonl: the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from locant._internal.text import number_text
from locant.lab.depth import MEASURES, DepthRun, measure, planned_runs
from locant.lab.report.rendering import markdown_table, mean_text
from locant.lab.statistics.verdict import MIN_SEEDS, MIN_SEEDS_FOR_CLAIM

HOME = Path(__file__).parent
KEPT = HOME / "studies" / "depth.jsonl"
PAGE = HOME / "depth.md"
SETTINGS = tuple(DepthRun.__dataclass_fields__)
DIGITS = 4

STATEMENTS = (  # what is often said of stacks with positions, in our words; which tables answer it
    (
        "Positions that are added at the input alone fade on the way through the layers.",
        "probe",
        "Compare the last layer of a stack with its input, and *input* with *every layer*. A "
        "probe that still reads positions contradicts fading; one that does not may also mean that "
        "the model has used them up.",
    ),
    (
        "Time and memory grow with the square of the length.",
        "",
        "Measured elsewhere: time and memory of attention against length are in "
        "[speed](speed.md). With a blocked kernel memory grows with the length alone.",
    ),
    (
        "Without residual connections gradients of deep stacks vanish or explode.",
        "gradient",
        "The ratio is that of the first layer's gradient to the last layer's, before training.",
    ),
    (
        "At first, attention treats all positions alike.",
        "entropy",
        "Before training; 1 means that all tokens are seen alike.",
    ),
    (
        "In deep layers attention becomes uniform and tokens become the same (rank collapse).",
        "similarity",
        "1 means that all tokens of a row have the same direction.",
    ),
    (
        "Longer sequences than those of training fail.",
        "",
        "Measured elsewhere, by encoding: [lag](studies/lag.md), [copy](studies/copy.md), "
        "[text](studies/text-lengths.md) and the other studies of `locant compare lengths`.",
    ),
)


def read_kept() -> list[dict[str, Any]]:
    """Read every run that was measured."""
    if not KEPT.exists():
        return []
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def run_missing(seeds: int, workers: int, depths: list[int], steps: int) -> None:
    """Measure what is planned and not kept yet; each result is written as it comes."""
    known = {tuple(run[name] for name in SETTINGS) for run in read_kept()}
    wanted = []
    for run in planned_runs(seeds, depths):
        run = DepthRun(**{**asdict(run), "steps": steps})
        if tuple(asdict(run).values()) not in known:
            wanted.append(run)
    with ProcessPoolExecutor(workers) as pool, KEPT.open("a", encoding="utf-8") as file:
        for number, done in enumerate(as_completed([pool.submit(measure, one) for one in wanted])):
            file.write(json.dumps(_rounded(done.result())) + "\n")
            file.flush()
            print(f"{number + 1} of {len(wanted)}", flush=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def page(runs: list[dict[str, Any]]) -> str:
    """Write the page: each statement beside its table."""
    seeds = len({run["seed"] for run in runs})
    steps = max(run["steps"] for run in runs)
    few = ""
    if seeds < MIN_SEEDS_FOR_CLAIM:
        word = "no conclusion is possible" if seeds < MIN_SEEDS else "a hint at most"
        few = f" {seeds} seeds: {word}."
    lines = [
        "# What stacked layers do with positions",
        "",
        "What is often said about deep stacks of self-attention with positional encodings, "
        'sentence by sentence (after the list in "Learnable Positional Encoding Methods for '
        'Self-Attention Models", in our words), beside what was measured here.',
        "",
        f"Encoders of width 64 with four heads on the task `slot` (32 tokens), {steps} steps at "
        f"one learning rate for all, {seeds} seeds, mean ± half a 95 % t interval.{few} One task, "
        "one width and one rate: another rate may train what did not train here.",
        "",
        "## Accuracy",
        "",
        *markdown_table(*_table(runs, lambda run: run["accuracy"])),
    ]
    for sentence, measure_name, how in STATEMENTS:
        lines += ["", f"## {sentence}", "", how]
        for title, value in _views(measure_name):
            lines += ["", f"{title}:", "", *markdown_table(*_table(runs, value))]
    return "\n".join([*lines, ""])


def _views(name: str) -> list[tuple[str, Any]]:
    """List the tables that answer a sentence: their titles, and what they show of a run."""
    if name == "gradient":
        ratio = lambda run: _ratio(run["before"][name])  # noqa: E731
        return [("First layer's gradient over the last layer's, before training, log10", ratio)]
    if name == "entropy":
        return [("Entropy of the first layer before training", _at(name, "before", 0))]
    if name not in MEASURES:
        return []
    return [
        (f"{name.capitalize()} of the input, after training", _at(name, "after", 0)),
        (f"{name.capitalize()} of the last layer, before training", _at(name, "before", -1)),
        (f"{name.capitalize()} of the last layer, after training", _at(name, "after", -1)),
    ]


def _at(name: str, when: str, layer: int) -> Any:
    return lambda run: run[when][name][layer] if run[when] else None


def _ratio(norms: list[float]) -> float | None:
    """Return log10 of first over last; None where a gradient is 0."""
    first, last = norms[0], norms[-1]
    return float(np.log10(first / last)) if first > 0 and last > 0 else None


def _table(runs: list[dict[str, Any]], value: Any) -> tuple[list[str], list[list[str]]]:
    """Show a value of every stack (down) at every depth (across); how many runs have none."""
    depths = sorted({run["layers"] for run in runs})
    names: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        own = DepthRun(**{name: run[name] for name in SETTINGS})
        names.setdefault(own.name, []).append(run)
    lines = []
    for name, some in names.items():
        line = [name]
        for depth in depths:
            found = [value(run) for run in some if run["layers"] == depth]
            kept = np.array([one for one in found if one is not None], float)
            missing = len(found) - len(kept)
            text = mean_text(kept) if len(kept) != 1 else number_text(float(kept[0]), "share")
            line.append(text + (f" ({missing} without)" if missing else ""))
        lines.append(line)
    return ["", *[f"{depth} layers" for depth in depths]], lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="measure what is missing first")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--depths", default="2,4,8,12")
    parser.add_argument("--steps", type=int, default=250)
    options = parser.parse_args()
    if options.run:
        depths = [int(part) for part in options.depths.split(",")]
        run_missing(options.seeds, options.workers, depths, options.steps)
    runs = read_kept()
    if not runs:
        raise SystemExit(f"{KEPT} holds no run yet: python docs/make_depth.py --run")
    PAGE.write_text(page(runs), encoding="utf-8")
    print(f"{len(runs)} runs in {PAGE}")


if __name__ == "__main__":
    main()
