"""Whether the weights of a checkpoint folder are all there, before anything is loaded."""

from __future__ import annotations

import json
from pathlib import Path

WHOLE = ("model.safetensors", "pytorch_model.bin")
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
LFS_POINTER = b"version https://git-lfs"


def refuse_incomplete(folder: Path) -> None:
    """Raise a ValueError if weights are missing, cut short, or only pointers to weights."""
    files = weight_files(folder)
    if not files:
        unfinished = sorted(folder.glob("*.incomplete")) + sorted(folder.glob("*.part"))
        partly = f" ({unfinished[0].name} is half-downloaded)" if unfinished else ""
        raise ValueError(
            f"{str(folder)!r} has a config.json, but no weights{partly}.\n"
            f"  Looked for: {', '.join((*WHOLE, *INDEXES))}. For random weights at a small size, "
            f"give the config itself: {folder / 'config.json'}"
        )
    missing = [file.name for file in files if not file.exists()]
    if missing:
        raise ValueError(
            f"{str(folder)!r} lacks {len(missing)} of its {len(files)} shards: "
            f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}.\n"
            "  Download them again; nothing was loaded."
        )
    for file in files:
        problem = _problem(file)
        if problem:
            raise ValueError(f"{file.name} {problem}.\n  Download it again; nothing was loaded.")


def weight_files(folder: Path) -> list[Path]:
    """List the files that hold a checkpoint's weights, also those that are named and missing."""
    for name, index in zip(WHOLE, INDEXES, strict=True):
        if (folder / name).exists():
            return [folder / name]
        if (folder / index).exists():
            return [folder / shard for shard in _shards(folder / index)]
    return []


def _shards(index: Path) -> list[str]:
    """Read the names of the shards from their index."""
    try:
        shards = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        return sorted(set(shards.values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{index.name} is no index of shards (weight_map).\n"
            "  Download it again; nothing was loaded."
        ) from None


def _problem(file: Path) -> str | None:
    """Say what is wrong with a file of weights; None when nothing is seen."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = opened.read(32)
        if start.startswith(LFS_POINTER):
            return "is only a pointer to weights (Git LFS)"
        if file.suffix != ".safetensors":
            return None if size else "is empty"
        length = int.from_bytes(start[:8], "little")
        if size < 8 or size < 8 + length:
            return f"is cut short: {size:,} bytes are less than its own header"
        opened.seek(8)
        try:
            header = json.loads(opened.read(length))
            header.pop("__metadata__", None)
            ends = [entry["data_offsets"][1] for entry in header.values()]
        except (ValueError, KeyError, TypeError, AttributeError):
            return "has no header of safetensors"
    expected = 8 + length + max(ends, default=0)
    if size < expected:
        return f"is cut short: {size:,} bytes of {expected:,}"
    return None
