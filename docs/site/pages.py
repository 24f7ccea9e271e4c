"""The pages of the documentation site that are made, not written; mkdocs calls `on_…`.

A page for each encoding comes from its docstring, claims and certificate, the command line from
`--help`, the course from its notebooks. Links out of docs/ stay readable on a code host and become
plain file names in the site. Formulas in dollar signs become MathML, so that no script is needed.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

HOME = Path(__file__).parents[1]
ROOT = HOME.parent
sys.path.insert(0, str(Path(__file__).parent))

import command_pages  # noqa: E402
import course_pages  # noqa: E402
import encoding_pages  # noqa: E402
from formulas import FENCE, as_mathml  # noqa: E402

GUIDES = {
    "your-attention": "Your own attention",
    "models": "Pretrained models",
    "cache-padding-packing": "Cache, padding, packing",
    "time-stamps": "Time stamps",
    "grids": "Images and grids",
    "write-an-encoding": "Write an encoding",
    "extend-locant": "Properties, tasks, studies",
    "statistics": "Statistics for readers",
    "store": "The store",
    "questions": "Questions",
    "coming-from": "Coming from another library",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
SHORT_CELL = re.compile(r"<td( style=\"[^\"]*\")?>([^<]{1,14})</td>")
PAGES = {  # what lies elsewhere in a clone → its page in the site
    "GLOSSARY.md": "glossary.md",
    "README.md#the-encodings": "encodings/index.md",
    "course": "course/index.md",
    "course/lecture/slides.md": "course/slides.html",
    "examples/demo.ipynb": "course/demo.md",
}


def on_config(config: Any) -> Any:
    """Write the navigation: what is written by hand, then what is made."""
    guides = [
        {title: f"guides/{name}.md"}
        for name, title in GUIDES.items()
        if (HOME / "guides" / f"{name}.md").exists()
    ]
    guides.insert(-2, {"The command line": "command-line.md"})
    guides.insert(-2, {"Speed": "performance.md"})
    guides.insert(-2, {"Speed, all tables": "speed.md"})
    studies = [{"Overview": "studies/README.md"}, {"Which for which need": "choosing.md"}]
    studies.append({"What was published": "published.md"})
    studies += [
        {path.stem: f"studies/{path.name}"}
        for path in sorted((HOME / "studies").glob("*.md"))
        if path.stem != "README"
    ]
    more = {"models": "Models", "architectures": "Architectures", "detect": "Anomaly detection"}
    config.nav = [
        {"Start": "index.md"},
        {"Guides": guides},
        {"Encodings": ["encodings/index.md", *encoding_pages.paths()]},
        {"Course": ["course/index.md", *course_pages.paths(), {"Checklist": "checklist.md"}]},
        {"Studies": studies},
        {"Certificates": ["certificates.md", {"Planted bugs": "mutants.md"}]},
        *[{title: f"{name}.md"} for name, title in more.items() if (HOME / f"{name}.md").exists()],
        {"API": "api.md"},
        {"Glossary": "glossary.md"},
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures that are made."""
    made: dict[str, str | bytes] = {}
    made |= encoding_pages.pages()
    made |= course_pages.pages()
    made |= {"command-line.md": command_pages.page()}
    made |= {"glossary.md": (ROOT / "GLOSSARY.md").read_text("utf-8")}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links out of docs/ into file names, and formulas into MathML; code stays as it is."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [_text(markdown[end : fence.start()], page.file.src_uri), fence.group()]
        end = fence.end()
    return "".join([*parts, _text(markdown[end:], page.file.src_uri)])


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Mark the short cells of tables, so that a number is not broken over two lines."""
    return SHORT_CELL.sub(r'<td class="short"\1>\2</td>', html)


def _text(text: str, source: str) -> str:
    return as_mathml(LINK.sub(lambda link: _link(link, source), text))


def _link(link: re.Match[str], source: str) -> str:
    picture, words, target = link.groups()
    if target.startswith(("#", "http://", "https://", "data:")):
        return link.group()
    path = target.partition("#")[0]
    there = posixpath.normpath(posixpath.join("docs", posixpath.dirname(source), path))
    page = PAGES.get(f"{there}#{target.partition('#')[2]}".rstrip("#"))
    if there.startswith("course/") and there.endswith(".ipynb"):
        page = there.replace(".ipynb", ".md")
    if page:
        return f"{picture}[{words}]({posixpath.relpath(page, posixpath.dirname(source) or '.')})"
    if there.startswith("docs/") and not there.endswith((".py", ".gz", ".json")):
        return link.group()
    return words if there.split("/")[-1] in words or "`" in words else f"{words} (`{there}`)"
