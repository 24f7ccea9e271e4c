"""Cost: learned numbers, seconds and bytes against a model without positions."""

from __future__ import annotations

import inspect
import time

import torch

from locant.catalog import arithmetic
from locant.encodings.none import Nothing
from locant.subject import Measured, Subject, learns, show

SENTENCE = "It learns as many numbers as it says; and what a training step costs against none."
CLAIM = "law"
BOUND = "the count must be exact; time and memory are seen, not judged"
WHY = "a wrong count misleads every table that quotes it"


def measure(subject: Subject) -> Measured:
    encoding = subject.as_given()
    count = learns(encoding)
    said_count = _said(encoding)
    length = min(128, subject.last + 1)
    x, pos = subject.tokens(length, batch=4), subject.places(length)
    plain = Nothing(encoding.shape, axes=encoding.axes)
    nets = {"none": subject.model(plain), "it": subject.model(encoding)}
    times: dict[str, list[float]] = {name: [] for name in nets}
    for _ in range(3 + 2 * subject.effort.seeds):
        for name, net in nets.items():
            with torch.enable_grad():
                start = time.perf_counter()
                torch.autograd.grad(
                    net(x, pos).square().mean(), [p for p in net.parameters() if p.requires_grad], allow_unused=True
                )
                times[name].append(time.perf_counter() - start)
    middle = {name: sorted(seconds)[len(seconds) // 2] for name, seconds in times.items()}
    ratio = middle["it"] / middle["none"]
    numbers = {"parameters": count, "bytes": 4 * count, "seconds": middle["it"], "ratio": ratio}
    said = (
        f"{count:,} learned numbers ({4 * count:,} bytes in float32); a training step takes {ratio:.2f}× that of none."
    )
    if said_count is not None and said_count != count:
        said = f"It says that it learns {said_count:,} numbers ({encoding.learned}), but it learns {count:,}."
    return Measured(said_count is None or said_count == count, f"{show(ratio)}×", said, numbers)


def _said(encoding) -> int | None:  # type: ignore[no-untyped-def]
    """The count that the class states, when it states one."""
    if "learned" not in vars(type(encoding)):
        return None
    shape = encoding.shape
    keywords = {p.name: p.default for p in inspect.signature(type(encoding)).parameters.values()}
    numbers = {"dim": shape.dim, "heads": shape.heads, "length": shape.length, "head": shape.head, **vars(encoding)}
    numbers |= {key: value for key, value in keywords.items() if key not in numbers}
    return arithmetic(encoding.learned, numbers)
