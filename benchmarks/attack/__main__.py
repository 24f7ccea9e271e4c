"""Random attention against formulas written anew in float64: every difference is printed.

python benchmarks/attack [--minutes 20] [--only attend,layer,model,cached] [--start N] [--seed N]

Each case is decided by its seed alone; --seed N runs one again. The other side (formulas.py) is
dense, knows only an encoding's name, options and tables, and gets its gradients from torch. The
exit status is 1 when a difference was found.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from random import Random

import torch
from attend_cases import attack_attend
from judging import Outcome, Refused, is_wrong
from module_cases import attack_cached, attack_layer, attack_model

ATTACKS: dict[str, Callable[[Random], Outcome]] = {
    "attend": attack_attend,
    "layer": attack_layer,
    "model": attack_model,
    "cached": attack_cached,
}


class Tally:
    """Count cases, and keep what was found."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.refused = 0
        self.tensors = 0
        self.found: list[tuple[int, str, str]] = []  # seed, kind, what
        self.began = self.told = time.monotonic()

    def progress(self, *, now: bool = False) -> None:
        """Print how far it is, every few seconds."""
        if now or time.monotonic() - self.told > 5:
            self.told = time.monotonic()
            kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.cases.items()))
            seconds = self.told - self.began
            print(
                f"{seconds:5.0f} s: {self.cases.total()} cases ({kinds}), {self.tensors} tensors, "
                f"{self.refused} refused, {len(self.found)} with a difference",
                flush=True,
            )

    def summary(self) -> None:
        """Print all that was found."""
        self.progress(now=True)
        for seed, kind, what in self.found:
            print(f"  --seed {seed}  {kind}: {what}")
        print("no difference" if not self.found else f"{len(self.found)} cases with a difference")


def kind_of(seed: int) -> str:
    """Draw what a seed attacks."""
    return Random(seed).choices(list(ATTACKS), (5, 2, 1.5, 1.5))[0]


def run_case(seed: int, tally: Tally, *, verbose: bool = False) -> None:
    """Run one case and note what differs."""
    kind = kind_of(seed)
    torch.manual_seed(seed)
    try:
        outcome = ATTACKS[kind](Random(seed + 1))
    except Refused:
        tally.refused += 1
        return
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        what = f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"
        tally.found.append((seed, kind, f"{what} ({where.filename}:{where.lineno})"))
        print(f"seed {seed}, {kind}: {what}", flush=True)
        traceback.print_exc()
        return
    tally.cases[kind] += 1
    tally.tensors += len(outcome.checked)
    if verbose:
        print(f"seed {seed}, {kind}: {outcome.described}")
        for one in outcome.checked:
            print(f"  {one.name}: {one.error:.1e} of {one.allowed:.1e} allowed")
    wrong = [one for one in outcome.checked if is_wrong(one)]
    if wrong:
        each = [f"{one.name} is off by {one.error:.1e} > {one.allowed:.1e}" for one in wrong]
        tally.found.append((seed, kind, "; ".join(each[:3])))
        print(f"seed {seed}, {kind}: {outcome.described}", *each, sep="\n  ", flush=True)


def run_for(minutes: float, start: int, only: set[str], tally: Tally) -> None:
    """Run cases of consecutive seeds until time is up."""
    seed, end = start, time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        if kind_of(seed) in only:
            run_case(seed, tally)
            tally.progress()
        seed += 1


def main() -> int:
    """Read the options, run, and say whether a difference was found."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, help="run one case again, and show all its errors")
    parser.add_argument("--start", type=int, help="the first seed; by default from the clock")
    parser.add_argument("--only", default=",".join(ATTACKS), help="which kinds, with commas")
    asked = parser.parse_args()
    only = set(asked.only.split(","))
    if unknown := only - set(ATTACKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(ATTACKS)}")
    torch.set_num_threads(1)
    tally = Tally()
    if asked.seed is not None:
        run_case(asked.seed, tally, verbose=True)
    else:
        start = int(time.time()) * 1000 if asked.start is None else asked.start
        print(f"seeds from {start}", flush=True)
        try:
            run_for(asked.minutes, start, only, tally)
        except KeyboardInterrupt:
            print("stopped")
    tally.summary()
    return 1 if tally.found else 0


if __name__ == "__main__":
    sys.exit(main())
