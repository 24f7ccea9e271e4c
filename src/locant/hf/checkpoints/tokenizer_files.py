"""The tokenizer that comes with a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from locant.hf.checkpoints.llama2c import read_sizes, read_tokenizer, tokenizer_file
from locant.hf.checkpoints.single_files import quiet_loading

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def load_tokenizer(source: str | Path) -> PreTrainedTokenizerBase:
    """Open the tokenizer of a checkpoint folder, of a GGUF file, or beside a file of llama2.c."""
    from transformers import AutoTokenizer

    path = Path(source)
    if path.suffix == ".pt" and path.is_file():
        raise ValueError(
            f"{path.name} is a checkpoint of fairseq, which comes with a dictionary, but with no "
            "tokenizer that transformers could open.\n"
            "  Give your own: locant.hf.extend(model, data, tokenizer=…)"
        )
    sizes = read_sizes(path) if path.suffix == ".bin" and path.is_file() else None
    if sizes is not None:
        return read_tokenizer(tokenizer_file(path, sizes), sizes.vocabulary)
    more = {} if path.is_dir() else {"gguf_file": path.name}
    folder = path if path.is_dir() else path.parent
    try:
        with quiet_loading():
            return AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, **more
            )
    except (OSError, ValueError, KeyError, TypeError) as problem:
        reason = _reason(str(problem))
        raise ValueError(
            f"{str(path)!r} has no tokenizer that can be opened: {reason}.\n"
            "  Put tokenizer.json beside the weights, or give your own: "
            "locant.hf.extend(model, data, tokenizer=…)"
        ) from problem


def _reason(text: str) -> str:
    """Say in a few words why transformers opened no tokenizer."""
    if "custom code" in text:
        return "it comes with code of its own, which is never run here"
    if "instantiate the backend tokenizer" in text:
        return "there is no tokenizer.json, and no other file to make one of"
    return (text.strip() or "no reason was given").splitlines()[0].rstrip(" .:")
