"""Which backend of attention is the quickest at which length: the ground for `unsuited` in
locant.attention.dispatch.

python benchmarks/backends.py [--threads 1]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _table import table

import locant
from locant.bench.alone import alone
from locant.bench.ratio import Ratio, ratios

LENGTHS = (32, 64, 100, 128, 192, 256, 512)
BACKENDS = {"none": ("fused",), "alibi": ("fused",), "t5": ("fused", "blocked")}


def work(name: str, backend: str, length: int, batch: int) -> Callable[[], None]:
    encoding = locant.make(name, dim=128, heads=8, length=length)
    q, k, v = (torch.randn(batch, 8, length, 16, requires_grad=True) for _ in range(3))
    pos, leaves = locant.positions.consecutive(length), [q, k, v, *encoding.parameters()]

    def run() -> None:
        out = locant.attend(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, backend=backend)
        torch.autograd.grad(out.sum(), leaves)

    return run


def measure(name: str) -> list[dict[str, Ratio]]:
    found = []
    for length in LENGTHS:
        backends = ("reference", *BACKENDS[name])
        found.append(
            ratios(
                {
                    backend: work(name, backend, length, max(1, 2048 // length))
                    for backend in backends
                },
                "reference",
            )
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    rows = []
    for name in BACKENDS:
        for length, found in zip(LENGTHS, alone(measure, threads, name), strict=True):
            best = min(found, key=lambda backend, found=found: found[backend].value)
            rows.append(
                [
                    name,
                    str(length),
                    *(str(found.get(backend, "")) for backend in ("fused", "blocked")),
                    best,
                ]
            )
    title = (
        f"Attention forward + backward, × reference: 8 heads of 16, 2,048 tokens, {threads} "
        "thread(s)"
    )
    table(title, ["", "length", "fused", "blocked", "quickest"], rows)


if __name__ == "__main__":
    main()
