"""Write docs/choosing.md, and the summaries that `locant advise` reads, from finished studies.

python docs/make_choosing.py                  # from docs/studies/studies.json.gz
python docs/make_choosing.py --store STORE    # from a store
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from locant.lab.advice import SUMMARIES, NeedAdvice, Summary, advise_need, read_summaries
from locant.lab.needs import NEEDS
from locant.lab.report.rendering import markdown_table

HOME = Path(__file__).parent
PACKED = HOME / "studies" / "studies.json.gz"
PAGE = HOME / "choosing.md"
INTRODUCTION = """# Which encoding for which need

Made by `python docs/make_choosing.py` from the records of finished studies;
`locant advise --need "exact offset"` prints the same.

- *Best group*: encodings that cannot be distinguished from the leading one (paired sign flips,
  corrected over all pairs) and are surely ahead of a model without positions.
- *Firm*: at least ten seeds, or series, and no single search that chose for all of them.
- Each study is one task and small models: what holds for your data, only they can say
  (`locant compare --data FILE`).
"""


def section(advice: NeedAdvice) -> list[str]:
    """Write one need: a table of its studies, and what has not been measured."""
    lines = ["", f"## {advice.need.capitalize()}", "", advice.sentence, ""]
    rows = []
    for answer in advice.answers:
        best = [f"{one['name']} {one['mean']:.3f}" for one in answer.best]
        cost = [f"{one['parameters']:,}" for one in answer.best]
        sure = "firm" if not answer.doubts else f"not firm: {'; '.join(answer.doubts)}"
        named = f"[{answer.study}](studies/{answer.study}.md)"
        none = "" if answer.none is None else f"{answer.none:.3f}"
        listed = ", ".join(best) or "none is not surely beaten"
        rows.append([named, answer.metric, listed, none, ", ".join(cost), sure])
    header = ["study", "score", "best group", "none", "parameters it adds, in the same order"]
    if rows:
        lines += markdown_table([*header, "how sure"], rows)
    unmeasured = advice.unmeasured
    if unmeasured:
        lines += ["", f"Encodings in none of these studies: {', '.join(unmeasured)}."]
    if advice.missing:
        lines += ["", f"Not measured yet: {', '.join(advice.missing)}."]
    if advice.besides:
        lines += ["", advice.besides]
    return lines


def page(summaries: dict[str, Summary]) -> str:
    """Write the whole page."""
    lines = [INTRODUCTION.rstrip()]
    for need in NEEDS:
        lines += section(advise_need(need, summaries))
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=PACKED)
    summaries = read_summaries(parser.parse_args().store)
    listed = [summaries[name] for name in sorted(summaries)]
    SUMMARIES.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(summaries), encoding="utf-8")
    print(f"{len(listed)} studies in {PAGE.name} and {SUMMARIES.name}")


if __name__ == "__main__":
    main()
