"""One new token against a cache of keys, with each encoding that can keep its keys, against plain attention.

python benchmarks/decoding.py [--keys 8192] [--threads 2]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _timing import keep_memory, machine, medians, table

import locant
from locant.catalog import claiming
from locant.self_attention import Attention, Cache

HEADS, WIDTH = 8, 64


def work(name: str, keys: int) -> Callable[[], None]:
    encoding = locant.make(name, dim=HEADS * WIDTH, heads=HEADS, length=keys + 1)
    layer, draw = Attention(encoding).eval(), torch.Generator().manual_seed(0)
    x = torch.randn(1, 1, HEADS * WIDTH, generator=draw)
    first = torch.randn(1, 2, HEADS * WIDTH, generator=draw)
    with torch.no_grad():
        _, small = layer.step(first, torch.arange(2))  # how wide an encoding's keys are
    k, v = (torch.randn(1, HEADS, keys, part.shape[-1], generator=draw) for part in (small.k, small.v))
    cache, pos = Cache(k, v, torch.arange(keys)), torch.tensor([keys])

    def run() -> None:
        with torch.no_grad():
            layer.step(x, pos, cache)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    names = ["none", *(name for name in claiming("cacheable_keys") if name != "none")]
    times = medians({name: work(name, asked.keys) for name in names}, rounds=41)
    rows = [[name, f"{times[name][0] / times['none'][0]:.2f}", f"{times[name][1]:.0%}"] for name in names]
    table(f"One token over {asked.keys:,} cached keys, × none ({machine()})", ["", "ratio", "spread"], rows)


if __name__ == "__main__":
    keep_memory()
    main()
