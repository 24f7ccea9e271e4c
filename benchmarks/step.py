"""One training step of a transformer with each encoding, as a multiple of the same step with none, in one run.

python benchmarks/step.py [--threads 2] [--dim 128 --heads 8 --length 256 --layers 4 --batch 8]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _timing import keep_memory, machine, medians, table

import locant
from locant.attention import choose
from locant.encodings.base import overrides
from locant.placing import place


def stepping(encoding: locant.Encoding, args: argparse.Namespace) -> Callable[[], None]:
    torch.manual_seed(0)
    model = locant.Transformer(encoding, layers=args.layers)
    x, pos = torch.randn(args.batch, args.length, args.dim), locant.positions.consecutive(args.length)
    parameters = list(model.parameters())

    def step() -> None:
        torch.autograd.grad(model(x, pos).square().mean(), parameters)

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("threads", 2), ("dim", 128), ("heads", 8), ("length", 256), ("layers", 4), ("batch", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    made = {
        name: locant.make(name, dim=args.dim, heads=args.heads, length=args.length)
        for name in ("none", *[n for n in locant.names() if n != "none"])
    }
    made["rotary, interleaved"] = locant.make("rotary", dim=args.dim, heads=args.heads, pairing="interleaved")
    times = medians({name: stepping(encoding, args) for name, encoding in made.items()}, rounds=args.rounds)
    q = torch.randn(args.batch, args.heads, args.length, args.dim // args.heads)
    pos = locant.positions.consecutive(args.length)
    rows = []
    for name, encoding in made.items():
        content = any(overrides(encoding, door) for door in ("rescore", "mix"))
        path = choose(place(encoding, pos, pos, like=q), *encoding.rotate(q, q, pos, pos)).path
        ratio, spread = times[name][0] / times["none"][0], times[name][1]
        rows.append([name, f"{ratio:.2f} ± {spread:.0%}", path, "n × n content terms" if content else ""])
    shape = f"dim {args.dim}, {args.heads} heads, length {args.length}, {args.layers} layers, batch {args.batch}"
    table(f"A training step, × none: {shape} ({machine()})", ["", "× none", "path", "needs"], rows)


if __name__ == "__main__":
    keep_memory()
    main()
