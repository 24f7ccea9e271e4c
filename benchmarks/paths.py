"""Which path of attention is the quickest at which length: the ground for `choose` in attention.py.

python benchmarks/paths.py [--threads 1]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _timing import keep_memory, machine, medians, table

import locant


def work(name: str, path: str, length: int, batch: int) -> Callable[[], None]:
    encoding = locant.make(name, dim=128, heads=8, length=length)
    q, k, v = (torch.randn(batch, 8, length, 16, requires_grad=True) for _ in range(3))
    pos, leaves = locant.positions.consecutive(length), [q, k, v, *encoding.parameters()]

    def run() -> None:
        out = locant.attend(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, path=path)
        torch.autograd.grad(out.sum(), leaves)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)
    rows = []
    for name in ("none", "alibi", "t5"):
        for length in (32, 64, 100, 128, 192, 256, 512):
            paths = ("explicit", "fused") if name != "t5" else ("explicit", "fused", "blocked")
            times = medians({path: work(name, path, length, max(1, 2048 // length)) for path in paths}, rounds=15)
            ratios = {path: times[path][0] / times["explicit"][0] for path in paths}
            best = min(ratios, key=ratios.__getitem__)
            rows.append(
                [name, str(length), *[f"{ratios[p]:.2f}" if p in ratios else "" for p in ("fused", "blocked")], best]
            )
    table(
        f"Attention forward + backward, × explicit: 8 heads of 16, 2,048 tokens ({machine()})",
        ["", "length", "fused", "blocked", "quickest"],
        rows,
    )


if __name__ == "__main__":
    keep_memory()
    main()
