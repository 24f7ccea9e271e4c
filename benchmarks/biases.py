"""Attention with a bias from positions against plain fused attention: time as a ratio, memory in MB, by length.

    python benchmarks/biases.py [--lengths 1024,2048,4096,8192] [--threads 2]

Forward and backward, one row, 8 heads of 64. Every line is measured in a process of its own, so that its peak is its own;
the plain attention beside it in the same process, turn by turn. "whole" is the bias written down as (H,Q,K) numbers.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from multiprocessing import get_context

import torch
from _timing import keep_memory, machine, medians, table

import locant
from locant.attention import attend
from locant.training.memory import forget_peak, peak_megabytes

HEADS, WIDTH = 8, 64
LINES = [  # name, encoding, causal, irregular, path
    ("t5, causal", "t5", True, False, "auto"),
    ("t5, causal, whole", "t5", True, False, "blocked"),
    ("relative, causal", "relative", True, False, "auto"),
    ("alibi, causal", "alibi", True, False, "auto"),
    ("alibi, causal, whole", "alibi", True, False, "fused"),
    ("t5, both sides", "t5", False, False, "auto"),
    ("alibi, both sides", "alibi", False, False, "auto"),
    ("alibi, causal, time stamps", "alibi", True, True, "auto"),
    ("alibi, both sides, time stamps", "alibi", False, True, "auto"),
]
MOST_WHOLE = 4096  # longer ones take gigabytes


def work(encoding: str, length: int, causal: bool, irregular: bool, path: str) -> Callable[[], None]:
    made = locant.make(encoding, dim=HEADS * WIDTH, heads=HEADS, length=length)
    q, k, v = (torch.randn(1, HEADS, length, WIDTH, requires_grad=True) for _ in range(3))
    g, leaves = torch.randn(1, HEADS, length, WIDTH), [q, k, v, *made.parameters()]
    pos = torch.rand(length).cumsum(0) if irregular else torch.arange(length)

    def run() -> None:
        out = attend(q, k, v, encoding=made, q_pos=pos, k_pos=pos, causal=causal, path=path)
        torch.autograd.grad(out, leaves, g)

    return run


def measure(
    line: tuple[str, str, bool, bool, str], length: int, threads: int, rounds: int
) -> tuple[float, float, float]:
    """The ratio to plain attention, its spread, and how many MB one pass adds at its peak."""
    torch.set_num_threads(threads)
    _, encoding, causal, irregular, path = line
    ours, plain = work(encoding, length, causal, irregular, path), work("none", length, causal, False, "auto")
    before = _now()
    forget_peak()
    ours()
    added = peak_megabytes() - before
    times = medians({"ours": ours, "plain": plain}, rounds=rounds, warm=1)
    return times["ours"][0] / times["plain"][0], times["ours"][1] + times["plain"][1], added


def _now() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="1024,2048,4096,8192")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="lines whose name holds this")
    asked = parser.parse_args()
    lengths = [int(length) for length in asked.lengths.split(",")]
    rows = []
    for line in LINES:
        if asked.only not in line[0]:
            continue
        cells = []
        for length in lengths:
            if "whole" in line[0] and length > MOST_WHOLE:
                cells.append("–")
                continue
            with get_context("spawn").Pool(1) as pool:
                ratio, spread, added = pool.apply(measure, (line, length, asked.threads, asked.rounds))
            cells.append(f"{ratio:.2f} (± {spread:.0%}), {added:,.0f} MB")
            print(line[0], length, cells[-1], flush=True)
        rows.append([line[0], *cells])
    title = f"Attention with a bias, forward + backward, × plain fused attention ({machine()})"
    table(title, ["", *map(str, lengths)], rows)


if __name__ == "__main__":
    keep_memory()
    main()
