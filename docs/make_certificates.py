"""Certify every encoding of locant and those of four other libraries, and write
docs/certificates.md.

    python docs/make_certificates.py [--effort quick|usual|full] [--out docs/certificates.md]
    [--date 2026-01-31]

The others are called as their documentation says, with positions wherever their interface takes
them, and are held to what the papers behind them claim. What a sentence states about them is
measured here, in the versions it names.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import torch
from peer_facts import facts
from peers import PEERS, SHAPE, Peer

import locant
from locant.certification.certificate import certify
from locant.certification.probe import EFFORTS, seeded
from locant.lab.report.certificate_pages import LEGEND, failures, markdown_matrix, meanings


def papers(makers: dict[str, Callable[[], locant.Encoding]], effort: str) -> list[dict]:
    found = []
    for number, (name, make) in enumerate(makers.items(), 1):
        with seeded(0):
            encoding = make()

        def tell(now: str, name: str = name, number: int = number) -> None:
            print(f"\r{number}/{len(makers)} {name}: {now:12}", end="", file=sys.stderr, flush=True)

        found.append(certify(encoding, effort=effort, name=name, progress=tell).to_dict())
        print(
            f"\r{number}/{len(makers)} {name}: {len(found[-1]['fails'])} fail{' ' * 12}",
            file=sys.stderr,
        )
    return found


def failed(found: list[dict], none: str) -> str:
    return "\n".join(failures(found)) or none


def because(peer: Peer, fails: list[str]) -> str:
    """Which of its failures follow from what its interface does not take."""
    follows = [name for name in fails if name in peer.follows]
    reason = (
        f"{peer.lacks}: {', '.join(follows)} follow{'s' * (len(follows) == 1)} from that."
        if follows
        else ""
    )
    return f"{reason} {peer.note}".strip()


def nearby(found: list[dict]) -> str:
    """How far scores move at everyday distances, where they move too far at a million."""
    moved = {
        one["encoding"]: next(
            line["numbers"].get("float32 +1000")
            for line in one["findings"]
            if line["name"] == "shift"
        )
        for one in found
        if "shift" in one["fails"]
    }
    listed = ", ".join(
        f"{error:.1g} (`{name}`)" for name, error in moved.items() if error is not None
    )
    return (
        "A failure of shift in float32 is one of positions near a million, where the steps of "
        "float32 are 0.06 wide and "
        f"angles are computed in it; moved by 1,000 positions, scores move by {listed}."
    )


def _package(name: str) -> str:
    return f"{PEERS[name].package} {version(PEERS[name].package)}"


def page(effort: str, date: str) -> str:
    ours = papers(
        {name: lambda name=name: locant.make(name, **SHAPE) for name in locant.names()}, effort
    )
    peers = papers({name: peer.make for name, peer in PEERS.items()}, effort)
    with seeded(0), torch.no_grad():
        measured = "\n".join(f"- {fact}" for fact in facts())
    named = [
        {**one, "encoding": f"{one['encoding']} ({_package(one['encoding'])})"} for one in peers
    ]
    versions = ", ".join([f"locant {locant.__version__}", f"torch {torch.__version__}"])
    rows = [f"| `{name}` | {_package(name)} | {peer.called} |" for name, peer in PEERS.items()]
    notes = [
        f"- `{one['encoding']}`: {because(PEERS[one['encoding']], one['fails'])}" for one in peers
    ]
    return f"""# Certificates

Every property that locant can measure, of its own encodings and of {len(PEERS)} from four other libraries. A property
is held against what an encoding claims: ours claim in their files, for the others the claims of the papers behind
them are taken. How each is measured stands in its own file under `src/locant/certification/properties`.

Made on {date} by `python docs/make_certificates.py --effort {effort}`, at dim 64, heads 4, length 512, with
{versions}, on a CPU. The number in a cell is the measurement; times (cost) vary from run to run.

{LEGEND}

## Ours

{markdown_matrix(ours)}

{failed(ours, "None fails.")}

## Others

| column | version | called as |
|---|---|---|
{chr(10).join(rows)}

{markdown_matrix(peers)}

What fails, in sentences:

{failed(named, "None fails.")}

What follows from an interface rather than from the numbers:

{chr(10).join(note for note in notes if not note.endswith(": "))}

A failure of distinct, shift or precision in bfloat16 is that of a module cast as a whole, as `model.bfloat16()` does.
{nearby(peers)}
What asks for far positions (precision, bounded, reach) sees the first few alone where no positions are taken.

Measured beside the certificates, by the same command:

{measured}

## What each property says

{chr(10).join(meanings(ours[0]))}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--effort", choices=list(EFFORTS), default="usual")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("certificates.md"))
    parser.add_argument(
        "--date", default=datetime.date.today().isoformat(), help="the day to write on the page"
    )
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.out.write_text(page(asked.effort, asked.date), encoding="utf-8")
    print(f"wrote {asked.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
