"""Rebuild docs/studies and README's front table from the packed records, without training.

python docs/make_studies.py                                        # from
                                                                   docs/studies/studies.json.gz
python docs/make_studies.py --store locant-results/runs.sqlite     # take in what a store holds
first
"""

from __future__ import annotations

import argparse
from pathlib import Path

from locant.lab.report.score_table import side_by_side
from locant.lab.report.search_audit import searched_once
from locant.lab.report.study_page import markdown_overview, write_folder
from locant.lab.store.pack import pack, unpack
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.study_files import designs, parts, read_study, study_names

HOME = Path(__file__).parent
PACKED = HOME / "studies" / "studies.json.gz"
README = HOME.parent / "README.md"
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


def front_table(found: list[StudyRecord]) -> str:
    """README's table: encodings and controls against the controlled studies."""
    shown = [record for name in FRONT for record in found if record.settings.name == name]
    heads, rows = side_by_side(shown)
    plain = {name for record in shown for name in record.settings.baselines}
    old = {record.settings.name for record in shown if searched_once(record)}
    heads = ["", *[f"[{name}](docs/studies/{name}.md){' †' * (name in old)}" for name in heads[1:]]]
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
    asked = parser.parse_args()
    if asked.store is not None:
        take_in(Store(asked.store))
    found = records(unpack(PACKED))
    write_folder(found, PACKED.parent)
    write_designs(found)
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    README.write_text(
        before + BEGIN + front_table(found) + END + rest.split(END, 1)[1], encoding="utf-8"
    )
    print(f"{len(found)} studies in {PACKED.parent}, and the front table of README.md")


if __name__ == "__main__":
    main()
