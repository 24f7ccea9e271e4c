"""Planted bugs: each is an encoding's own file with one passage replaced, and the property that
must say so.

They stand in mutants.txt. `python tests/mutants.py` plants them all and writes what the
certificates say to docs/mutants.md.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import locant
from locant.certification.certificate import Finding
from locant.encodings.registry import FOLDER, describe

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "mutants.md"
SIZE = {"dim": 16, "heads": 2, "length": 64}
HEAD = """\
# Planted bugs, and what catches them

Made by `python tests/mutants.py` from tests/mutants.txt; tests/certification/test_mutants.py plants every bug again.

Each of the {count} bugs is an encoding's own file with one passage changed. Every one is caught by the property named
beside it, and the encodings as they are fail nothing.

| bug | encoding | caught by | what it says |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Mutant:
    """A bug in one sentence, the encoding it is planted in, the passage and what it becomes, and
    who must catch it."""

    bug: str
    stem: str
    old: str
    new: str
    catcher: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The encoding's file with the bug in it."""
        text = (FOLDER / f"{self.stem}.py").read_text(encoding="utf-8")
        times = text.count(self.old)
        assert times == 1, (
            f"{self.bug}: the passage {self.old!r} stands {times} times in {self.stem}.py, not once"
        )
        return text.replace(self.old, self.new)

    def plant(self, folder: Path) -> locant.Encoding:
        """The encoding with the bug in it, built from a file in `folder`."""
        path = folder / f"{self.stem}.py"
        path.write_text(self.source, encoding="utf-8")
        torch.manual_seed(0)
        return locant.make(f"{path}:{describe(self.stem).class_name}", **{**SIZE, **self.options})

    def examine(self, folder: Path) -> Finding:
        """What the property that must catch it says."""
        return locant.certify(self.plant(folder), effort="quick", only=[self.catcher])[self.catcher]

    def row(self, said: str) -> str:
        """A line of the table in docs/mutants.md."""
        said = said if len(said) <= 150 else said[:149].rstrip() + "…"
        cells = [self.bug, self.stem, self.catcher, re.sub(r"([|*_`\\<])", r"\\\1", said)]
        return f"| {' | '.join(cells)} |"


def read(text: str) -> Iterator[Mutant]:
    """Mutants from lines: `encoding(options) · property · bug`, then the passage after "- " and
    what it becomes, "+ ".

    >>> next(read("rotary(width=4) · shift · no turn\\n- angle.sin()\\n+ 0.0"))
    Mutant(bug='no turn', stem='rotary', old='angle.sin()', new='0.0', catcher='shift',
    options={'width': 4})
    """
    for block in text.strip().split("\n\n"):
        head, *lines = block.split("\n")
        where, catcher, bug = head.split(" · ")
        stem, _, options = where.partition("(")
        call = ast.parse(f"dict({options or ')'}", mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        old, new = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        yield Mutant(bug, stem, old, new, catcher, given)


MUTANTS = list(read((HERE / "mutants.txt").read_text(encoding="utf-8")))


def main() -> None:
    rows = []
    for mutant in MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            found = mutant.examine(Path(folder))
        if found.verdict != "fails":
            raise SystemExit(
                f"{mutant.stem}, {mutant.bug}: {mutant.catcher} does not catch it. It says: "
                f"{found.message}"
            )
        rows.append(mutant.row(found.message))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(HEAD.format(count=len(rows)) + "\n".join([*rows, ""]), encoding="utf-8")
    print(f"wrote {PAGE}: {len(rows)} bugs, every one caught")


if __name__ == "__main__":
    main()
