"""Write docs/published.md: published statements, and what the studies here say of each.

python docs/make_published.py                  # from docs/studies/studies.json.gz
python docs/make_published.py --store STORE    # from a store
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from locant.lab.report.published import judge_statements
from locant.lab.report.rendering import markdown_table
from locant.lab.store.pack import unpack
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.study import Study
from locant.lab.study_files import parts, read_study, study_names

HOME = Path(__file__).parent
PACKED = HOME / "studies" / "studies.json.gz"
PAGE = HOME / "published.md"
HEADER = ("statement", "published", "measured here", "so it")
BEFORE = """# What was published, and what these studies say

The second column of each table is what others published, with its source; the third is measured
here. Models, data and budgets differ: a statement that does not hold here may hold where it was
made. A statement *holds* or *does not hold* if a 95 % t interval over seeds lies entirely on one
side of it; with fewer than six seeds no conclusion is possible, and the table says where the
interval points. The two experiments that are repeated as published are "Positional Encoding in
Self-Attention for Time Series" (faults in series) and "Learnable Positional Encoding Methods for
Self-Attention Models" (patterns in rows); other sources stand in the tables.
Made by `python docs/make_published.py` from the records of finished studies.
"""
AFTER = """
## A survey of encodings for time series

"Positional Encoding in Transformer-Based Time Series Models: A Survey" (Irani and Metsis 2025,
arXiv:2502.12370) compares fixed, learnable, relative and hybrid encodings by the classification of
series, and reports gains of the advanced ones. Its code is public
(github.com/imics-lab/positional-encoding-benchmark).
Whoever builds on its numbers should know what that code does. These notes are from its own files,
as they stood at the commits named; we did not run them.

- **Protocol.** A transformer on patches or on steps says the class of a series; Adam with one
  learning rate from a file of settings, not searched for each encoding; the epoch with the best
  validation accuracy is tested (`src/run_benchmark.py`, commit da174c7).
- **Which axis.** `FixedPositionalEncoding` and `LearnedPositionalEncoding` slice their table by the
  first axis of the input (`src/positional_encodings.py` and
  `src/encodings/positional_encodings.py`). The model on steps puts time first, and the fixed
  encoding is right there. The patch model puts the batch first (`src/patch_embedding_layer.py`,
  commit 1442807): with `fixed` all patches of a series get one vector, chosen by the index of the
  series in its batch. `tAPE` and `AbsolutePositionalEncoding` slice by the second axis: right for
  patches, by the batch in the model on steps. The notebook of RacketSports, which is named below,
  carries code of its own, and that takes the right axis.
- **No run without positions.** The files offer `fixed`, `learned`, `tape` and `absolute`; none of
  them trains the same model without an encoding, or with the order of its vectors destroyed. How
  much of a score is positional cannot be read from it.
- **Small test sets.** The test half of RacketSports is split in two: 76 series choose the epoch,
  76 are tested (`scripts/RacketSports-Transformer-with-patch-embedding.ipynb`, commit 289d6d7). An
  accuracy of .80 on 76 series has a 95 % interval of about ± .09.
- **One run.** These files train each model once, without a seed.

The study `classify` asks the same question with controls, ten paired seeds and plain baselines:
`locant compare classify`.
"""


def section(title: str, study: str, lines: Sequence[Sequence[str]]) -> list[str]:
    """Write the statements that one study judges."""
    return ["", f"## {title}", "", *markdown_table(HEADER, lines), "", study]


def judged(record: StudyRecord) -> list[list[str]]:
    """What a finished study says of its statements."""
    return [list(statement) for statement in judge_statements(record)]


def waiting(study: Study) -> list[list[str]]:
    """Statements of a study whose runs are not finished."""
    return [[one.claim, one.published, "not run yet", "is open"] for one in study.claims]


def page(store: Store) -> str:
    """Write the whole page."""
    kept = {entry.name for entry in store.studies()}
    finished: list[str] = []
    open_ones: list[str] = []
    for name in study_names():
        if len(parts(name)) > 1 or not (study := read_study(name)).claims:
            continue
        if name in kept:
            link = f"From [{name}](studies/{name}.md)."
            finished += section(study.title, link, judged(read_record(store, name)))
        else:
            open_ones += section(study.title, f"`locant compare {name}`", waiting(study))
    return "\n".join([BEFORE.rstrip(), *finished, *open_ones, AFTER.rstrip(), ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, help="a store in place of the packed records")
    asked = parser.parse_args()
    PAGE.write_text(page(Store(asked.store) if asked.store else unpack(PACKED)), encoding="utf-8")
    print(f"{PAGE.name} written")


if __name__ == "__main__":
    main()
