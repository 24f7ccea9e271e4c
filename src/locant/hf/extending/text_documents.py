"""Cut text into documents, and documents into tokens: what a comparison is paired over.

A document is one of:

    windows      each file, cut into consecutive stretches as long as the target (the default)
    files        each file, from its beginning
    blank-lines  what stands between blank lines
    other text   what stands between two occurrences of that text, such as <|endoftext|>

A document shorter than the target length is left out, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

WINDOWS, FILES, BLANK_LINES = "windows", "files", "blank-lines"
CHARACTERS_A_TOKEN = 12  # at most; a text is not tokenized further than it can be used


@dataclass(frozen=True)
class TokenDocument:
    """A document by name, as token ids (T)."""

    name: str
    ids: Tensor


@dataclass(frozen=True)
class DocumentSet:
    """The documents that are long enough, how they were cut, and how many were too short."""

    documents: list[TokenDocument]
    cut: str
    too_short: int

    def describe(self, length: int) -> str:
        """Say in a sentence what the documents are."""
        how = {
            WINDOWS: "consecutive windows of the files",
            FILES: "the beginnings of the files",
            BLANK_LINES: "stretches between blank lines",
        }.get(self.cut, f"stretches between {self.cut!r}")
        left_out = f"; {self.too_short} shorter ones were left out" if self.too_short else ""
        return f"{len(self.documents)} documents of {length:,} tokens ({how}{left_out})"


def read_documents(
    files: Sequence[str | Path],
    tokenizer: PreTrainedTokenizerBase,
    length: int,
    *,
    cut: str = WINDOWS,
    most: int | None = None,
) -> DocumentSet:
    """Read text files into documents of exactly `length` tokens each.

    most  how many documents to keep, evenly spread over all; every one by default
    """
    if not files:
        raise ValueError("there is no text: give at least one file.")
    if not cut:
        raise ValueError("documents cannot be cut at an empty text.")
    start, end = special_tokens(tokenizer)
    wanted = length - len(start) - len(end)
    found: list[TokenDocument] = []
    too_short = 0
    for file in map(Path, files):
        for number, text in enumerate(_pieces(_read(file), cut)):
            needed = None if cut == WINDOWS else wanted * CHARACTERS_A_TOKEN
            ids = encode(tokenizer, text[:needed])
            whole = len(ids) // wanted if cut == WINDOWS else min(1, len(ids) // wanted)
            too_short += whole == 0
            for window in range(whole):
                part = ids[window * wanted : (window + 1) * wanted]
                name = file.name if cut == FILES else f"{file.name}:{number + window + 1}"
                found.append(TokenDocument(name, torch.tensor([*start, *part, *end])))
    if not found:
        raise ValueError(
            f"no document has {length:,} tokens, the length to extend to: {too_short} "
            f"{'is' if too_short == 1 else 'are'} shorter.\n"
            "  Give a longer text, cut it otherwise (windows, files, blank-lines, or a separator), "
            "or extend less far."
        )
    if most is not None and most < len(found):
        step = len(found) / most
        found = [found[int(number * step)] for number in range(most)]
    return DocumentSet(found, cut, too_short)


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """Turn a text into token ids, without special tokens."""
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Find the tokens that a tokenizer puts before and after every text."""
    plain, marked = encode(tokenizer, "a"), list(tokenizer("a")["input_ids"])
    for first in range(len(marked) - len(plain) + 1):
        if marked[first : first + len(plain)] == plain:
            return marked[:first], marked[first + len(plain) :]
    return [], []


def _read(file: Path) -> str:
    if not file.is_file():
        raise ValueError(f"there is no text file {str(file)!r}.")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise ValueError(
            f"{file} is no text in UTF-8 (byte {problem.start}): convert it first."
        ) from None


def _pieces(text: str, cut: str) -> list[str]:
    if cut in (WINDOWS, FILES):
        return [text]
    parts = re.split(r"\n\s*\n", text) if cut == BLANK_LINES else text.split(cut)
    return [part for part in parts if part.strip()]
