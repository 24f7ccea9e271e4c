"""A run in the middle: weights, optimiser and what has been seen, in one safetensors file. Never pickle.

No random state is kept because there is none: every step draws from seeds of its own (see loop.py).
"""

from __future__ import annotations

import errno
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from locant._internal.files import write_atomically


class Checkpoint(NamedTuple):
    """Tensors by name, and facts that JSON can hold."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def write_tensors(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write a file whole or not at all: a crash leaves the old one."""
    plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    try:
        with write_atomically(path) as partial:
            save_file(plain, partial, metadata={"facts": json.dumps(facts), "sum": _sum(plain)})
    except SafetensorError as problem:
        raise OSError(errno.EIO, str(problem), str(path)) from None


def read_tensors(path: Path) -> Checkpoint:
    """Read a file and make sure that it is what was written."""
    try:
        with safe_open(path, framework="pt") as file:
            said = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if said.get("sum") != _sum(tensors):
            raise ValueError("its contents are not what was written")
        return Checkpoint(tensors, json.loads(said["facts"]))
    except (SafetensorError, OSError, KeyError, ValueError) as problem:
        raise ValueError(f"{path} is damaged or no file of locant's: {problem}.") from None


def _sum(tensors: dict[str, Tensor]) -> str:
    whole = hashlib.sha256()
    for name in sorted(tensors):
        whole.update(name.encode())
        whole.update(tensors[name].contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return whole.hexdigest()


def flat_optimiser(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimiser's tensors by name."""
    state = optimiser.state_dict()["state"]
    return {
        f"optimiser/{index}/{key}": value
        for index, parts in state.items()
        for key, value in parts.items()
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Bring an optimiser back to where `flat_optimiser` found it."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in part(tensors, "optimiser/").items():
        index, key = name.split("/")
        state.setdefault(int(index), {})[key] = value
    optimiser.load_state_dict(
        {"state": state, "param_groups": optimiser.state_dict()["param_groups"]}
    )


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
