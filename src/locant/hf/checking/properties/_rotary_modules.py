"""The modules of a model that turn positions into cosines and sines, called on their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from locant.certification.probe import relative
from locant.hf.checking.model_probe import ModelProbe

FAR = (1_000, 8_000, 64_000)
COUNT = 8
Call = tuple[tuple[Any, ...], dict[str, Any]]


def frequencies(model: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that hold rotary frequencies, by name."""
    return {name: one for name, one in model.named_buffers() if name.endswith("inv_freq")}


def rotary_calls(probe: ModelProbe) -> dict[str, Call]:
    """Run the model once and return how its rotary modules were called, by their name."""
    calls: dict[str, Call] = {}

    def keep(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            calls[name] = (args, kwargs)

        return hook

    handles = []
    owners = {name.rpartition(".")[0] for name in frequencies(probe.model)}
    for name, module in probe.model.named_modules():
        if name in owners:
            handles.append(module.register_forward_pre_hook(keep(name), with_kwargs=True))
    try:
        probe.run(probe.tokens(COUNT))
    finally:
        for handle in handles:
            handle.remove()
    return {name: call for name, call in calls.items() if _positions(call)}


def far_errors(
    probe: ModelProbe, other: nn.Module, calls: dict[str, Call], distances: Iterable[int] = FAR
) -> dict[str, float]:
    """How far the cosines and sines of another model are from those of float32 frequencies."""
    exact = probe.exact
    errors = {}
    for far in distances:
        worst = 0.0
        for name, call in calls.items():
            wanted = _turned(exact.get_submodule(name), call, far, torch.float32)
            got = _turned(other.get_submodule(name), call, far, torch.bfloat16)
            pairs = zip(got, wanted, strict=True)
            worst = max([worst, *(relative(a.float(), b) for a, b in pairs)])
        errors[f"at position {far:,}"] = worst
    return errors


def _positions(call: Call) -> list[Tensor]:
    """The integer tensors of a call: its position_ids."""
    args, kwargs = call
    return [one for one in (*args, *kwargs.values()) if _is_positions(one)]


def _is_positions(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and not value.is_floating_point()
        and value.shape[-1:] == (COUNT,)
        and value.dtype != torch.bool
    )


def _turned(module: nn.Module, call: Call, far: int, dtype: torch.dtype) -> list[Tensor]:
    """Call a rotary module at positions from `far` on; complex numbers become pairs."""

    def moved(value: Any) -> Any:
        if _is_positions(value):
            return value + far
        if isinstance(value, Tensor) and value.is_floating_point():
            return value.to(dtype)
        return value

    args, kwargs = call
    with torch.no_grad():
        result = module(*map(moved, args), **{key: moved(one) for key, one in kwargs.items()})
    parts = result if isinstance(result, tuple | list) else (result,)
    return [torch.view_as_real(one) if one.is_complex() else one for one in parts]
