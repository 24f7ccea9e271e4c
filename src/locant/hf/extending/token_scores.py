"""How well a model reads a document: bits a token for a causal model, a cosine for an encoder.

A finished pass can be kept in a folder, under a name made from the model's weights, the method and
the tokens. A comparison that was interrupted then goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from locant._internal.files import write_atomically
from locant.hf.extending.context_methods import Method, applied

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Bits = NDArray[np.float32]
LOGIT_TOKENS = 512  # tokens whose logits are computed at once: (512, vocabulary)
SCALED_LOGITS = ("final_logit_softcapping", "logit_scale", "logits_scaling")  # by some configs


def reads_causally(model: PreTrainedModel) -> bool:
    """Tell whether a model's output at a token is untouched by a change of the next one."""
    ids = torch.arange(4, 10)[None] % model.config.vocab_size
    other = ids.clone()
    other[0, -1] = 3
    with torch.no_grad():
        first, second = (model.base_model(one).last_hidden_state[0, :-1] for one in (ids, other))
    return bool((first - second).abs().max() < 1e-5)


def token_bits(model: PreTrainedModel, ids: Tensor) -> Bits:
    """Compute −log2 p of every token after the first, given those before it: (T) → (T − 1)."""
    with torch.no_grad():
        head = model.get_output_embeddings()
        if head is None or any(getattr(model.config, name, None) for name in SCALED_LOGITS):
            logits = model(ids[None], use_cache=False).logits[0, :-1]
            return _bits(logits, ids[1:])
        hidden = model.base_model(ids[None], use_cache=False).last_hidden_state[0, :-1]
        parts = []
        for some, next_ids in zip(
            hidden.split(LOGIT_TOKENS), ids[1:].split(LOGIT_TOKENS), strict=True
        ):
            parts.append(_bits(head(some), next_ids))
    return np.concatenate(parts)


def _bits(logits: Tensor, ids: Tensor) -> Bits:
    nats = nn.functional.cross_entropy(logits.float(), ids, reduction="none")
    return (nats / math.log(2)).numpy()


def embedding(model: PreTrainedModel, ids: Tensor) -> Tensor:
    """Compute the mean of an encoder's output vectors over a document (T): (D)."""
    with torch.no_grad():
        return model.base_model(ids[None]).last_hidden_state[0].mean(0)


def similarity(model: PreTrainedModel, method: Method, ids: Tensor, trained: int) -> float:
    """Compare a long document, read at once, with its parts, read by the model as it is.

    Returns the cosine of the document's embedding and the mean of the embeddings of its parts of at
    most `trained` tokens, each between the tokens that begin and end the document.
    """
    first, middle, last = ids[:1], ids[1:-1], ids[-1:]
    parts = [torch.cat([first, part, last]) for part in middle.split(trained - 2)]
    weights = torch.tensor([float(len(part)) for part in parts])
    vectors = torch.stack([embedding(model, part) for part in parts])
    expected = (vectors * weights[:, None]).sum(0) / weights.sum()
    with applied(model, method), describe_refusal(model, method, ids):
        found = embedding(model, ids)
    return float(nn.functional.cosine_similarity(found, expected, dim=0))


@contextmanager
def describe_refusal(model: PreTrainedModel, method: Method, ids: Tensor) -> Iterator[None]:
    """Turn what a model raises at a length that it cannot read into a sentence."""
    try:
        yield
    except (RuntimeError, IndexError) as problem:
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise ValueError(
            f"{type(model).__name__} cannot read {len(ids):,} tokens, with {method.name}: {first}\n"
            "  Its own code or the memory sets a limit that longer positions do not lift."
        ) from problem


class KeptPasses:
    """Passes of one model, kept in a folder; without a folder nothing is kept."""

    def __init__(self, folder: str | Path | None, model: PreTrainedModel) -> None:
        self.folder = None if folder is None else Path(folder)
        self.model = model
        self._weights = "" if folder is None else digest_weights(model)

    def bits(self, method: Method, ids: Tensor) -> Bits:
        """Return the bits of every token under a method, computed now or read from the folder."""
        if self.folder is None:
            return self._compute(method, ids)
        file = self.folder / f"{self._name(method, ids)}.npy"
        found = _kept(file, len(ids) - 1)
        if found is not None:
            return found
        found = self._compute(method, ids)
        with write_atomically(file) as partial:
            np.save(partial, found)
        return found

    def _compute(self, method: Method, ids: Tensor) -> Bits:
        with applied(self.model, method), describe_refusal(self.model, method, ids):
            return token_bits(self.model, ids)

    def _name(self, method: Method, ids: Tensor) -> str:
        table = method.name if "rope_parameters" not in method.entry else ""
        identity = [self._weights, table, method.entry, ids.tolist()]
        return _digest(json.dumps(identity, sort_keys=True).encode())


def _kept(file: Path, count: int) -> Bits | None:
    """Read a kept pass; None where there is none, or where the file is damaged."""
    try:
        found = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError):
        return None
    whole = isinstance(found, np.ndarray) and found.shape == (count,)
    return found.astype(np.float32) if whole else None


def digest_weights(model: PreTrainedModel) -> str:
    """Name a model by its config and its weights."""
    config: dict[str, Any] = model.config.to_dict()
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    for name, weight in model.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().float().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:32]
