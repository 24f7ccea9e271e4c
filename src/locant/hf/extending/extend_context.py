"""Compare ways to extend a model's context, without training, on the user's own text.

Every method reads the same documents. Scores are bits a token: at the trained length, to see what a
method costs where the model was at home, and past it, to see what it brings. They are paired over
documents, with the intervals and the verdict of the laboratory.

>>> found = locant.hf.extend("checkpoint", "book.txt", to="4x")  # doctest: +SKIP
>>> print(found.verdict)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from locant._internal.checks import one_of, whole_number
from locant.hf.checkpoints.loading import load
from locant.hf.checkpoints.tokenizer_files import load_tokenizer
from locant.hf.extending.context_methods import (
    NONE,
    SEARCHED,
    Context,
    Method,
    context_of,
    longer_tables,
    methods_for,
)
from locant.hf.extending.extension_result import BINS, Extension, Scores
from locant.hf.extending.factor_search import search_factors
from locant.hf.extending.pass_progress import pass_progress
from locant.hf.extending.passkey import DEPTHS, probe_passkey
from locant.hf.extending.text_documents import WINDOWS, DocumentSet, TokenDocument, read_documents
from locant.hf.extending.token_scores import KeptPasses, reads_causally, similarity
from locant.hf.reading.model_state import in_eval_mode, need_weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SEARCH_STEPS = 24
MAX_SEARCH_DOCUMENTS = 2
PROBES = ("passkey",)


def extend(
    model: PreTrainedModel | str | Path,
    data: str | Path | Sequence[str | Path],
    *,
    to: str | float = "2x",
    tokenizer: PreTrainedTokenizerBase | None = None,
    methods: Sequence[str] | None = None,
    cut: str = WINDOWS,
    most: int | None = None,
    trained: int | None = None,
    search_steps: int = SEARCH_STEPS,
    probe: str | None = None,
    keep: str | Path | None = None,
) -> Extension:
    """Compare methods that let a model read further than it was trained to.

    model         a checkpoint folder, a GGUF file, or a loaded model with its `tokenizer`
    data          one or more text files in UTF-8
    to            how far: "4x" the trained length, or a number of tokens
    methods       names of `context_methods`; all that the model can use by default
    cut           what a document is: windows, files, blank-lines, or a separator
    most          how many documents to read at most
    trained       the trained length, where the config does not say it right
    search_steps  candidates of the search for a factor a pair; 0 leaves it out
    probe         "passkey" also plants numbers and asks for them
    keep          a folder that keeps finished passes: the same call goes on there after Ctrl-C
    """
    if probe is not None:
        one_of("extend", "probe", probe, PROBES)
    name = str(model) if isinstance(model, str | Path) else type(model).__name__
    if trained is not None:
        whole_number("extend", "trained", trained, least=2)
    opened, tokenizer = _open(model, tokenizer)
    need_weights("extend", opened)
    context = context_of(opened, trained)
    target = target_length(to, context.trained)
    factor = target / context.trained
    whole_number("extend", "search_steps", search_steps, least=0)
    files = [data] if isinstance(data, str | Path) else list(data)
    found = read_documents(files, tokenizer, target, cut=cut, most=most)
    chosen = _choose(methods_for(opened, context, factor), context, methods)
    search = SEARCHED if methods is None or SEARCHED in methods else ""
    if context.kind == "table" or not search_steps:
        search = ""
    comparison = _Comparison(opened, context, target, chosen, KeptPasses(keep, opened))
    with in_eval_mode(opened):
        if not reads_causally(opened):
            return comparison.encoder(name, found)
        if opened.get_output_embeddings() is None:
            raise ValueError(
                f"{type(opened).__name__} has no head that predicts tokens, so bits a token cannot "
                "be measured: load it with its language-modeling head."
            )
        return comparison.causal(name, found, bool(search), search_steps, probe, tokenizer)


def target_length(to: str | float, trained: int) -> int:
    """Read how far to extend: "4x" the trained length, or a number of tokens.

    >>> target_length("4x", 512), target_length(2048, 512), target_length("1.5x", 512)
    (2048, 2048, 768)
    """
    text = str(to).strip().lower().replace(",", "").replace("_", "")
    try:
        number = float(text[:-1]) * trained if text.endswith("x") else float(text)
        length = round(number)
    except (ValueError, OverflowError):
        raise ValueError(
            f"the length to extend to is written as 4x or as a number of tokens. Got {to!r}."
        ) from None
    if length <= trained:
        raise ValueError(
            f"{to!r} is {length:,} tokens, but the model was trained at {trained:,}: extend to "
            "more than 1x."
        )
    return length


def _open(
    model: PreTrainedModel | str | Path, tokenizer: PreTrainedTokenizerBase | None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    if isinstance(model, str | Path):
        opened = load(model)
        return opened, load_tokenizer(model) if tokenizer is None else tokenizer
    if tokenizer is None:
        raise ValueError("a loaded model needs its tokenizer: extend(model, data, tokenizer=…)")
    return model, tokenizer


def _choose(known: list[Method], context: Context, names: Sequence[str] | None) -> list[Method]:
    """Return the methods that were named, and none, with which all others are compared."""
    if names is None:
        return known
    allowed = [method.name for method in known]
    if context.kind == "rotary":
        allowed.append(SEARCHED)
    for name in names:
        one_of("extend", "method", name, allowed)
    return [method for method in known if method.name in (NONE, *names)]


@dataclass
class _Comparison:
    """A model, what can be extended in it, and the methods to compare."""

    model: PreTrainedModel
    context: Context
    target: int
    methods: list[Method]
    passes: KeptPasses

    def causal(
        self,
        name: str,
        found: DocumentSet,
        search: bool,
        search_steps: int,
        probe: str | None,
        tokenizer: PreTrainedTokenizerBase,
    ) -> Extension:
        """Compare bits a token."""
        reported, held_out, notes = self._split(found.documents, search)
        steps = search_steps * bool(held_out)
        lengths = self._lengths()
        total = len(reported) * (len(self.methods) + bool(steps)) + steps
        if probe:
            total += (len(self.methods) + bool(steps)) * 2 * len(DEPTHS) * len(reported)
        retrieved = []
        with pass_progress(total) as advance:
            if steps:
                ids = [document.ids for document in held_out]
                factor = self.target / self.context.trained
                found_method = search_factors(
                    self.model,
                    self.context,
                    factor,
                    ids,
                    self.passes,
                    steps=steps,
                    advance=advance,
                )
                self.methods.append(found_method)
            bits: dict[str, dict[int, Any]] = {}
            for method in self.methods:
                if self._reaches(method):
                    whole = bits.get(method.same_at_target, {}).get(self.target)
                    bits[method.name] = self._bits(method, reported, lengths, advance, whole)
            if probe:
                usable = [method for method in self.methods if self._reaches(method)]
                at = [self.context.trained, self.target]
                retrieved = probe_passkey(
                    self.model, tokenizer, usable, reported, at, advance=advance
                )
        return self._result(name, found, reported, bits, notes, retrieved)

    def encoder(self, name: str, found: DocumentSet) -> Extension:
        """Compare the embeddings of long documents with those of their parts."""
        methods = [method for method in self.methods if method.name != NONE]
        far: dict[str, Scores] = {}
        near: dict[str, Scores] = {}
        trained = self.context.trained
        with pass_progress(2 * len(methods) * len(found.documents)) as advance:
            for method in methods:
                scores: dict[int, list[float]] = {trained: [], self.target: []}
                for document in found.documents:
                    for length, own in scores.items():
                        ids = _to_length(document, length)
                        own.append(similarity(self.model, method, ids, trained))
                        advance(method.name)
                near[method.name] = np.array(scores[trained])
                far[method.name] = np.array(scores[self.target])
        lengths = {one: {trained: near[one], self.target: far[one]} for one in far}
        note = (
            "Scores are cosines of the embedding of a text with the mean embedding of its parts, "
            f"each of at most {trained:,} tokens and read by the model as it is. A repeated table "
            "gives the parts of a text the positions that they have alone, which this score favors."
        )
        return Extension(
            checkpoint=name,
            trained=trained,
            target=self.target,
            metric="cosine",
            documents=found.describe(self.target),
            names=[document.name for document in found.documents],
            methods=methods,
            near=near,
            far=far,
            lengths=lengths,
            curves={},
            notes=[note],
            longer_tables=longer_tables(self.model, methods),
        )

    def _split(
        self, documents: list[TokenDocument], search: bool
    ) -> tuple[list[TokenDocument], list[TokenDocument], list[str]]:
        """Take documents for the search that are not reported, if there are enough."""
        if not search:
            return documents, [], []
        if len(documents) < 3:
            note = "No factors were searched: that takes documents that are not reported."
            return documents, [], [note]
        count = 1 if len(documents) < 12 else MAX_SEARCH_DOCUMENTS
        names = ", ".join(document.name for document in documents[-count:])
        which = "which is" if count == 1 else "which are"
        note = f"Factors were searched on {names}, {which} not reported."
        return documents[:-count], documents[-count:], [note]

    def _lengths(self) -> list[int]:
        """List the lengths that scores are told for: the trained one, doubled up to the target."""
        lengths = [self.context.trained]
        while 2 * lengths[-1] < self.target:
            lengths.append(2 * lengths[-1])
        return [*lengths, self.target]

    def _reaches(self, method: Method) -> bool:
        """Tell whether a method reads past the trained length at all: a table as it is does not."""
        return self.context.kind == "rotary" or method.name != NONE

    def _bits(
        self,
        method: Method,
        documents: list[TokenDocument],
        lengths: list[int],
        advance: Callable[[str], None],
        known: Any = None,
    ) -> dict[int, Any]:
        """Return by length the bits of every token, (documents, length − 1).

        known  the bits at the target length, where another method has them already
        """
        by_length: dict[int, list[Any]] = {length: [] for length in lengths}
        for number, document in enumerate(documents):
            whole = self.passes.bits(method, document.ids) if known is None else known[number]
            for length in lengths:
                if method.by_length and length < len(document.ids):
                    part = self.passes.bits(method, document.ids[:length])
                else:
                    part = whole[: length - 1]
                by_length[length].append(part)
            advance(method.name)
        return {length: np.stack(parts).astype(float) for length, parts in by_length.items()}

    def _result(
        self,
        name: str,
        found: DocumentSet,
        reported: list[TokenDocument],
        bits: dict[str, dict[int, Any]],
        notes: list[str],
        retrieved: list[Any],
    ) -> Extension:
        trained = self.context.trained
        near = {one: by_length[trained].mean(1) for one, by_length in bits.items()}
        if NONE not in near:
            ids = [document.ids[:trained] for document in reported]
            near[NONE] = np.array([self.passes.bits(Method(NONE), one).mean() for one in ids])
        whole = {one: by_length[self.target] for one, by_length in bits.items()}
        kept = DocumentSet(reported, found.cut, found.too_short)
        return Extension(
            checkpoint=name,
            trained=trained,
            target=self.target,
            metric="bits a token",
            documents=kept.describe(self.target),
            names=[document.name for document in reported],
            methods=self.methods,
            near=near,
            far={one: own[:, trained - 1 :].mean(1) for one, own in whole.items()},
            lengths={
                one: {length: own.mean(1) for length, own in by_length.items()}
                for one, by_length in bits.items()
            },
            curves={one: _curve(own) for one, own in whole.items()},
            notes=notes,
            passkey=retrieved,
            longer_tables=longer_tables(self.model, self.methods)
            if self.context.kind == "table"
            else {},
        )


def _to_length(document: TokenDocument, length: int) -> Tensor:
    """Cut an encoder's document to a length; its last token, which ends a text, stays."""
    return torch.cat([document.ids[: length - 1], document.ids[-1:]])


def _curve(bits: Any) -> Scores:
    """Average bits (documents, T) over stretches of positions."""
    parts = np.array_split(bits, min(BINS, bits.shape[1]), axis=1)
    return np.stack([part.mean(1) for part in parts], 1)
