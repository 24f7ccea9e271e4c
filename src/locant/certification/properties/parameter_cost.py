"""Cost: learned numbers, seconds and bytes against a model without positions."""

from __future__ import annotations

import ast
import time

import torch

from locant.certification.probe import Probe, PropertyResult, learns, show
from locant.encodings.base import Encoding, constructor_options
from locant.encodings.claims import evaluate_count
from locant.encodings.none import Nothing

NAME = "cost"
SENTENCE = "It learns as many numbers as it says; and what a training step costs against none."
CLAIM = "law"
BOUND = "the count must be exact; time and memory are seen, not judged"
WHY = "a wrong count misleads every table that quotes it"


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.original()
    count = learns(encoding)
    stated = _stated(encoding)
    length = min(128, probe.last + 1)
    x, pos = probe.tokens(length, batch=4), probe.positions(length)
    plain = Nothing(encoding.shape, axes=encoding.axes)
    nets = {"none": probe.model(plain), "it": probe.model(encoding)}
    times: dict[str, list[float]] = {name: [] for name in nets}
    for _ in range(3 + 2 * probe.effort.seeds):
        for name, net in nets.items():
            with torch.enable_grad():
                start = time.perf_counter()
                torch.autograd.grad(
                    net(x, pos).square().mean(),
                    [p for p in net.parameters() if p.requires_grad],
                    allow_unused=True,
                )
                times[name].append(time.perf_counter() - start)
    middle = {name: sorted(seconds)[len(seconds) // 2] for name, seconds in times.items()}
    ratio = middle["it"] / middle["none"]
    held = _held(encoding, pos)
    numbers = {
        "parameters": count,
        "bytes": 4 * count,
        "bytes_a_pass": held,
        "seconds": middle["it"],
        "ratio": ratio,
    }
    message = (
        f"{count:,} learned numbers ({4 * count:,} bytes); {held:,} bytes a pass for {length} "
        "positions, shared by all "
    )
    message += f"layers; a training step takes {ratio:.2f}× that of none."
    wrong = stated is not None and stated[0] != stated[1]
    if stated is not None and wrong:
        message = (
            f"It says that it learns {stated[0]:,} numbers ({encoding.parameter_count}), but it "
            f"learns {stated[1]:,}."
        )
    return PropertyResult(not wrong, f"{show(ratio)}×", message, numbers)


def _held(encoding: Encoding, pos: torch.Tensor) -> int:
    """Bytes of what depends on positions alone: tables and biases."""
    precomputed = encoding.precompute(pos, pos, torch.float32)
    parts = [*(precomputed if isinstance(precomputed, tuple) else ()), encoding.bias(pos, pos)]
    return sum(
        part.numel() * part.element_size() for part in parts if isinstance(part, torch.Tensor)
    )


def _stated(encoding: Encoding) -> tuple[int, int] | None:
    """The count that the class states, when it states one, and the count there is."""
    cls, shape = type(encoding), encoding.shape
    own = cls.__mro__[: cls.__mro__.index(Encoding)]
    if not any("parameter_count" in vars(owner) for owner in own):
        return None
    sizes = {"dim": shape.dim, "heads": shape.heads, "length": shape.length, "head": shape.head}
    formula = ast.parse(encoding.parameter_count)
    used = {node.id for node in ast.walk(formula) if isinstance(node, ast.Name)}
    if used <= sizes.keys() | vars(encoding).keys():
        return evaluate_count(encoding.parameter_count, sizes | vars(encoding)), learns(encoding)
    try:  # an option is not kept: the formula is tried with all of them at their defaults
        common = cls(shape)
    except (TypeError, ValueError):
        return None
    numbers = constructor_options(cls) | vars(common) | sizes
    return evaluate_count(encoding.parameter_count, numbers), learns(common)
