"""The result of a comparison: verdict, table, pictures and runs, read from the store. No torch."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locant._internal.checks import one_of
from locant._internal.files import check_file, write_atomically
from locant.lab.report import export
from locant.lab.report.conclusion import conclusion
from locant.lab.report.score_table import scores, text_table
from locant.lab.report.study_page import html as html_page
from locant.lab.report.study_page import markdown, write_folder
from locant.lab.report.study_pictures import pictures
from locant.lab.store import STORE
from locant.lab.store.open import open_store
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.study_files import parts, study_names

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


class StudyResult:
    """One finished study, or several that were asked for together.

    verdict     what the runs allow to say, in words
    table()     one line for each entrant, best first
    runs()      one line for each reported run
    plot()      a picture; `pictures` lists those that the study has the numbers for
    to_html()   the whole report as one page; to_folder(): as Markdown with pictures
    to_dict()   all of it as plain values; to_csv(), to_markdown(): as text
    to_parquet(), to_tensorboard(): every run, for other programs

    A result of several studies is a sequence of results: `for one in result`, `result["order"]`.
    """

    def __init__(self, records: Sequence[StudyRecord]) -> None:
        self.records = list(records)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[StudyResult]:
        return (StudyResult([record]) for record in self.records)

    def __getitem__(self, name: str) -> StudyResult:
        names = [record.settings.name for record in self.records]
        return StudyResult([self.records[names.index(one_of("the result", "study", name, names))]])

    @property
    def verdict(self) -> str:
        """What the runs allow to say; of several studies one line each, with its name."""
        if len(self.records) == 1:
            return conclusion(self.records[0])
        lines = []
        for record in self.records:
            lines.append(f"{record.settings.name}: {conclusion(record)}")
        return "\n".join(lines)

    def table(self) -> polars.DataFrame:
        """Return one line for each entrant, best first, with its interval, group and cost."""
        lines = []
        for record in self.records:
            for score in scores(record):
                line = score.to_dict(record.facts.metric)
                lines.append({**self._study_column(record), **line})
        return _frame(lines)

    def runs(self) -> polars.DataFrame:
        """Return one line for each reported run that ended well: entrant, seed and every metric."""
        lines = []
        for record in self.records:
            for one in record.entrants:
                names = {"name": one.name, "encoding": one.encoding}
                for seed, *values in zip(one.seeds, *one.metrics.values(), strict=True):
                    metrics = dict(zip(one.metrics, values, strict=True))
                    lines.append({**self._study_column(record), **names, "seed": seed, **metrics})
        return _frame(lines)

    @property
    def pictures(self) -> list[str]:
        """The names of the pictures that `plot` draws."""
        return list(pictures(self._single("pictures")))

    def plot(self, picture: str = "metric", *, theme: str = "light") -> Figure:
        """Draw a picture of the study; by default every entrant's scores with its interval."""
        offered = pictures(self._single("plot"))
        axes = offered[one_of("plot", "picture", picture, offered)].draw(theme)
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        return figure

    def to_html(self, path: str | Path) -> Path:
        """Write the report as one page that needs no other file; return its path."""
        path = Path(path)
        check_file("to_html:", path)
        text = html_page(self.records)
        with write_atomically(path) as partial:
            partial.write_text(text, encoding="utf-8")
        return path

    def to_dict(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return verdict, entries of the table, groups and every seed's scores as plain values."""
        plain = [export.to_dict(record) for record in self.records]
        return plain[0] if len(plain) == 1 else plain

    def to_csv(self) -> str:
        """Return one line for each entrant as CSV; several studies one after the other."""
        return "\n".join(export.to_csv(record) for record in self.records)

    def to_markdown(self) -> str:
        """Return the whole report as Markdown, without pictures."""
        return "\n".join(markdown(record) for record in self.records)

    def to_folder(self, path: str | Path, *, picture_format: str = "png") -> list[Path]:
        """Write NAME.md and the pictures of each study to a folder; return the Markdown files."""
        return write_folder(self.records, Path(path), [picture_format])

    def to_parquet(self, path: str | Path) -> list[Path]:
        """Write one line for each run; several studies to NAME-STUDY.parquet each."""
        return self._write_each(Path(path), export.write_parquet)

    def to_tensorboard(self, path: str | Path) -> list[Path]:
        """Write folders that TensorBoard opens; several studies to NAME-STUDY each."""
        from locant.lab.report.tensorboard import write_events

        return self._write_each(Path(path), write_events)

    def _write_each(self, path: Path, write: Callable[[StudyRecord, Path], None]) -> list[Path]:
        """Write every study to a path of its own, a single one to the path itself."""
        paths = [path]
        if len(self.records) > 1:
            names = [record.settings.name for record in self.records]
            paths = [path.with_stem(f"{path.stem}-{name}") for name in names]
        for record, own in zip(self.records, paths, strict=True):
            write(record, own)
        return paths

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.table()}"

    def _repr_html_(self) -> str:
        """Show verdict and table in a notebook; every text is escaped."""
        shown = []
        for record in self.records:
            shown.append(f"<h4>{html.escape(record.settings.title)}</h4>")
            shown.append(f"<p><b>{html.escape(conclusion(record))}</b></p>")
            header, lines = text_table(record)
            shown.append("<table>")
            shown.append(_html_line("th", header))
            shown += [_html_line("td", cells) for cells in lines]
            shown.append("</table>")
        return "\n".join(shown)

    def _study_column(self, record: StudyRecord) -> dict[str, str]:
        return {"study": record.settings.name} if len(self.records) > 1 else {}

    def _single(self, requested: str) -> StudyRecord:
        if len(self.records) > 1:
            names = ", ".join(record.settings.name for record in self.records)
            raise ValueError(
                f"{requested} is for one study, and these are several: {names}.\n"
                f'  Choose one: result["{self.records[0].settings.name}"].{requested}'
            )
        return self.records[0]


def read_result(
    store: str | Path, study: str | None = None, design: str | None = None
) -> StudyResult:
    """Read a result from a store or from a file of packed studies.

    store   the SQLite file that keeps every run, or studies.json.gz
    study   an id, or a name (then the newest of that name); the newest of all by default
    design  the study's variations in this design, such as "full"
    """
    kept = open_store(Path(store).expanduser())
    return StudyResult([read_record(kept, name) for name in study_parts(study, design)])


def runs(store: str | Path = STORE) -> polars.DataFrame:
    """List the studies of a store, newest first: id, title, when it ended, runs and command.

    `finished` is in seconds since 1970.
    """
    lines = []
    for entry in open_store(Path(store).expanduser()).studies():
        line = {"id": entry.id, "title": entry.study["title"], "finished": entry.finished}
        lines.append({**line, "runs": len(entry.runs), "command": entry.command})
    return _frame(lines)


def study_parts(study: str | None, design: str | None = None) -> list[str | None]:
    """List the studies behind a name: itself, its parts, or its variations in a design."""
    if study is not None and design is not None:
        return list(parts(study, design))
    if design is not None:
        raise ValueError(
            f"the design {design!r} needs the study that offers it: "
            "locant report anomaly --design full"
        )
    return list(parts(study)) if study in study_names() and study else [study]


def _frame(lines: list[dict[str, Any]]) -> polars.DataFrame:
    """Make a frame whose columns are those of all lines together."""
    import polars

    columns = dict.fromkeys(name for line in lines for name in line)
    return polars.DataFrame(
        [{name: line.get(name) for name in columns} for line in lines], infer_schema_length=None
    )


def _html_line(tag: str, cells: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
