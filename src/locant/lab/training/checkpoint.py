"""Write and read a run in progress: weights, optimizer and history in one safetensors file, never
pickle.

No random state is stored because there is none: every step draws from seeds of its own (see
loop.py).
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

OPTIMIZER = "optimizer/"  # the prefix of the optimizer's tensors


class Checkpoint(NamedTuple):
    """Tensors by name, and facts that JSON can hold."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def write_tensors(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write tensors and facts atomically: after a crash the old file is still there."""
    plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    metadata = {"facts": json.dumps(facts), "sum": _checksum(plain)}
    try:
        with write_atomically(path) as partial:
            save_file(plain, partial, metadata=metadata)
    except SafetensorError as problem:
        raise OSError(errno.EIO, str(problem), str(path)) from None


def read_tensors(path: Path) -> Checkpoint:
    """Read a file of `write_tensors` and check its contents against their checksum."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("sum") != _checksum(tensors):
            raise ValueError("its contents do not match their checksum")
        return Checkpoint(tensors, json.loads(metadata["facts"]))
    except (SafetensorError, OSError, KeyError, ValueError) as problem:
        raise ValueError(f"{path} is damaged or not a file of locant's: {problem}.") from None


def _checksum(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def flat_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Name the tensors of an optimizer's state."""
    state = optimizer.state_dict()["state"]
    return {
        f"{OPTIMIZER}{index}/{key}": value
        for index, values in state.items()
        for key, value in values.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the state that `flat_optimizer` named."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in with_prefix(tensors, OPTIMIZER).items():
        index, key = name.split("/")
        state.setdefault(int(index), {})[key] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Select the tensors whose names start with a prefix, and strip the prefix."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
