"""Rebuild docs/studies and the table on its first page from the packed records, without training.

python docs/make_studies.py                                    # from docs/studies/studies.json.gz
python docs/make_studies.py --store locant-results/runs.sqlite # take in what a store holds first
python docs/make_studies.py --into locant-results/runs.sqlite  # fill a store with all packed runs

Filled by `--into`, a store goes on from them: `locant compare order --set search.check=20 --store
…` trains what is new in it alone. Runs of studies that are not finished lie in unfinished.json.gz.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from locant.lab.report.score_table import side_by_side
from locant.lab.report.search_audit import searched_once
from locant.lab.report.study_page import markdown_overview, write_folder
from locant.lab.store.pack import pack, pack_runs, unpack
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.study_files import about, designs, parts, read_study, study_names
from locant.lab.training.run_result import RunResult

HOME = Path(__file__).parent
PACKED = HOME / "studies" / "studies.json.gz"
UNFINISHED = HOME / "studies" / "unfinished.json.gz"
OVERVIEW = HOME / "studies" / "README.md"
BEGIN, END = "<!-- made by docs/make_studies.py -->\n", "<!-- end -->\n"
FRONT = ("anomaly", "slot", "decoy", "order", "parity", "gap")


def take_in(store: Store) -> None:
    """Pack the shipped studies of a store beside those that are packed already; the newest of a
    name counts."""
    both = unpack(PACKED)
    found = {record.id for record in records(store)}
    for entry in reversed(store.studies()):
        if entry.id in found:
            runs = [store.find(digest, code) for digest, code in entry.run_keys()]
            both.keep(*(run for run in runs if run is not None))
            both.keep_study(
                entry.id, entry.study, entry.choices, entry.runs, entry.command, entry.finished
            )
    pack(both, [record.id for record in records(both)], PACKED)
    begun = unnamed_runs(store, unpack(PACKED))
    if begun:
        pack_runs(begun, UNFINISHED)
    else:
        UNFINISHED.unlink(missing_ok=True)


def unnamed_runs(store: Store, packed: Store) -> list[RunResult]:
    """The runs of a store that no packed study names."""
    named = {key for entry in packed.studies() for key in entry.run_keys()}
    return [run for run in store.runs() if (run.digest, run.code) not in named]


def fill(store: Store) -> None:
    """Put every packed run and study into a store."""
    for path in (PACKED, UNFINISHED):
        if path.exists():
            unpack(path, store)


def records(store: Store) -> list[StudyRecord]:
    """The newest record of every shipped study and of every variation in a design that the store
    holds."""
    kept = {entry.name for entry in store.studies()}
    varied = [
        part for name in study_names() for design in designs(name) for part in parts(name, design)
    ]
    return [read_record(store, name) for name in [*study_names(), *varied] if name in kept]


def write_designs(found: list[StudyRecord]) -> None:
    """A page for every design of several variations: STUDY-DESIGN.md."""
    kept = {record.settings.name: record for record in found}
    for name in study_names():
        for design in designs(name):
            names = parts(name, design)
            if len(names) > 1 and all(part in kept for part in names):
                page = markdown_overview(
                    f"{read_study(name).title} Design: {design}", [kept[part] for part in names]
                )
                (PACKED.parent / f"{name}-{design}.md").write_text(page, encoding="utf-8")


def write_parts(found: list[StudyRecord]) -> None:
    """A page for every study of several parts, such as lengths, of which all parts are kept."""
    kept = {record.settings.name: record for record in found}
    for name in study_names():
        names = parts(name)
        if len(names) > 1 and all(part in kept for part in names):
            page = markdown_overview(about(name), [kept[part] for part in names])
            (PACKED.parent / f"{name}.md").write_text(page, encoding="utf-8")


def front_table(found: list[StudyRecord]) -> str:
    """The overview's table: encodings and controls against the controlled studies."""
    shown = [record for name in FRONT for record in found if record.settings.name == name]
    heads, rows = side_by_side(shown)
    plain = {name for record in shown for name in record.settings.baselines}
    old = {record.settings.name for record in shown if searched_once(record)}
    heads = ["", *[f"[{name}]({name}.md){' †' * (name in old)}" for name in heads[1:]]]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows if row[0] not in plain]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--store", type=Path, help="take in the shipped studies of this store first"
    )
    parser.add_argument(
        "--into", type=Path, help="fill this store with all packed runs, and make nothing"
    )
    asked = parser.parse_args()
    if asked.into is not None:
        fill(Store(asked.into))
        print(f"{asked.into} holds all packed runs")
        return
    if asked.store is not None:
        take_in(Store(asked.store))
    found = records(unpack(PACKED))
    write_folder(found, PACKED.parent)
    write_designs(found)
    write_parts(found)
    text = OVERVIEW.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    OVERVIEW.write_text(
        before + BEGIN + front_table(found) + END + rest.split(END, 1)[1], encoding="utf-8"
    )
    print(f"{len(found)} studies in {PACKED.parent}, and the table of {OVERVIEW.name}")


if __name__ == "__main__":
    main()
