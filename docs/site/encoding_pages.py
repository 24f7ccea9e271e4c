"""A page for each encoding: formula, advice, claims, certificate, cost, pictures, references."""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path

import torch
from docstrings import as_markdown
from guidance import Guidance, read, references

import locant
from locant.encodings.base import Encoding
from locant.encodings.claims import CLAIMS, HOOKS
from locant.encodings.registry import Entry, describe, names
from locant.figures.data import catalog, measure_all
from locant.shapes import Shape

HOME = Path(__file__).parents[1]
SIZE = Shape(64, 4, 100)  # of the pictures
LONG = 4096  # tokens, for which the backend is told
HEADINGS = {"When to use it": "When to use it", "Traps": "Traps", "Used by": "Who uses it"}
MISSING = """\
**Not here: FoPE** (Fourier position embedding, arXiv:2412.17739). Its published code leaves open,
by two dozen switches, which mixture of frequencies is meant, and pads the sine of the zero
frequency with 1. What cannot be written down in one formula is not certified here. PaTH, DAPE,
LieRE and GRAPE are not here either."""


def paths() -> list[str]:
    """List the pages in the order of the names."""
    return [f"encodings/{name}.md" for name in names()]


def pages() -> dict[str, str | bytes]:
    """Return every page and picture by its path in the site."""
    made: dict[str, str | bytes] = {"encodings/index.md": _index()}
    for name in names():
        made |= _page(describe(name))
    return made


def _index() -> str:
    lines = ["# Encodings", "", "| encoding | in one line | acts on | when to use it |"]
    lines += ["|---|---|---|---|"]
    for name in names():
        entry = describe(name)
        use = read(entry.doc).advice.get("When to use it", "")
        line = f"| [`{name}`]({name}.md) | {entry.title} | {_acts_on(entry)} | {use} |"
        lines.append(line)
    return "\n".join([*lines, "", MISSING]) + "\n"


def _page(entry: Entry) -> dict[str, str | bytes]:
    torch.manual_seed(0)
    encoding = locant.make(entry.name, dim=SIZE.dim, heads=SIZE.heads, length=SIZE.length)
    said = read(entry.doc)
    lines = [f"# {entry.name}", "", as_markdown(said.about), ""]
    lines += _advice(said)
    lines += ["## Cost", "", *_cost(entry), ""]
    options = ", ".join(f"`{key}={value!r}`" for key, value in entry.options.items())
    lines += ["## Options", "", options or "None.", ""]
    claimed = [f"- `{claim}`: {CLAIMS[claim]}" for claim in CLAIMS if entry.claims[claim] is True]
    lines += ["## Claims", "", "Each is certified.", "", *claimed, ""]
    lines += _certificate(entry.name)
    made = _pictures(entry.name, encoding)
    lines += ["## Pictures", ""]
    lines += [f"At dim {SIZE.dim}, {SIZE.heads} heads, {SIZE.length} positions, untrained.", ""]
    for picture in dict.fromkeys(path.split("-", 1)[1].rsplit("-", 1)[0] for path in made):
        caption = catalog()[picture].caption
        lines += [f"![{caption}]({entry.name}-{picture}-light.png#only-light)"]
        lines += [f"![{caption}]({entry.name}-{picture}-dark.png#only-dark)", "", f"*{caption}*"]
        lines += [""]
    lines += ["## Numbers to check by hand", "", "```python", said.examples, "```", ""]
    cited = [f"- {one}" for one in references(entry.doc, entry.paper)]
    lines += ["## References", "", *cited, f"- The file: `src/locant/encodings/{entry.path.name}`"]
    lines += ["", "## Code", "", f"::: locant.encodings.{entry.path.stem}.{entry.class_name}", ""]
    return {f"encodings/{entry.name}.md": "\n".join(lines)} | {
        f"encodings/{path}": content for path, content in made.items()
    }


def _advice(said: Guidance) -> list[str]:
    lines = []
    for label, text in said.advice.items():
        lines += [f"## {HEADINGS[label]}", "", text, ""]
    return lines


def _acts_on(entry: Entry) -> str:
    return ", ".join(HOOKS[hook] for hook in entry.hooks if hook in HOOKS) or "nothing"


def _cost(entry: Entry) -> list[str]:
    """Return a table: what it acts on and learns, a step's time, which backend serves it."""
    learned = entry.parameters(Shape(64, 4, 512))
    lines = ["| | |", "|---|---|", f"| acts on | {_acts_on(entry)} |"]
    lines += [f"| learns | {learned:,} numbers at dim 64, 4 heads, length 512 |"]
    measured = dict(_certificates().get(entry.name, [])).get("cost")
    if measured:
        step = measured.removeprefix("✓").strip().replace("×", " ×")
        lines += [f"| a small model's step | {step} that of `none`, at 128 tokens, on a CPU |"]
    long = locant.make(entry.name, dim=SIZE.dim, heads=SIZE.heads, length=LONG)
    plan = locant.plan(long, LONG, causal=True)
    return [*lines, f"| at {LONG:,} tokens | backend `{plan.backend}`: {plan.why} |"]


@cache
def _certificates() -> dict[str, list[tuple[str, str]]]:
    """Read the measurements of docs/certificates.md: encoding → (property, result)."""
    text = (HOME / "certificates.md").read_text("utf-8").partition("## Ours")[2]
    table = [line for line in text.partition("## Others")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    heads = [re.sub("`", "", head) for head in cells[0]]
    found: dict[str, list[tuple[str, str]]] = {}
    for column, name in enumerate(heads[1:], 1):
        found[name] = [(row[0].strip("*"), row[column]) for row in cells[2:]]
    return found


def _certificate(name: str) -> list[str]:
    lines = ["## Certificate", ""]
    results = _certificates().get(name)
    if results is None:
        return [*lines, f"Not measured here yet: `locant check {name}` does it.", ""]
    lines += [
        "✓ holds; – not claimed; · measured, nothing is claimed; ○ not judged. The bounds, and"
    ]
    lines += ["the numbers of all: [certificates](../certificates.md).", ""]
    lines += ["| property | measured | it asks |", "|---|---|---|"]
    meant = _meanings()
    return [*lines, *(f"| **{prop}** | {result} | {meant[prop]} |" for prop, result in results), ""]


@cache
def _meanings() -> dict[str, str]:
    """Read what each property says in docs/certificates.md: property → sentence."""
    text = (HOME / "certificates.md").read_text("utf-8").partition("## What each")[2]
    return dict(re.findall(r"^- \*\*(\w+)\*\*[^:]*: (.+)$", text, flags=re.MULTILINE))


def _pictures(name: str, encoding: Encoding) -> dict[str, str | bytes]:
    """Draw every picture that fits the encoding, for light and for dark pages."""
    drawn: dict[str, str | bytes] = {}
    for picture in measure_all(encoding)[0]:
        for theme in ("light", "dark"):
            file = io.BytesIO()
            figure = locant.figures.draw(picture, encoding, theme=theme)
            figure.savefig(file, format="png", dpi=90)
            drawn[f"{name}-{picture}-{theme}.png"] = file.getvalue()
    return drawn
