"""Nothing changes in forward: no growing tables, no counters; and graphs can be captured."""

from __future__ import annotations

import copy
from functools import partial

import torch
from torch import nn

from locant.attention import attend
from locant.certification.probe import Probe, PropertyResult, largest, show, states
from locant.encodings.base import Encoding
from locant.nn.transformer import Transformer

NAME = "pure"
SENTENCE = (
    "Nothing changes in forward: the same input gives the same output, whatever came between."
)
CLAIM = "law"
BOUND = "bit for bit; vmap, compile and export to 1e-4"
WHY = "state that changes in forward breaks compilation, vmap and reproducibility"

LONGEST_EXPORT = 4096
FURTHER = 500  # positions from just past the made length to far past it


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.randomized()
    net = probe.model(encoding)
    count = min(9, probe.last + 1)
    longer = min(4 * count, probe.last + 1)
    x, pos = probe.tokens(count), probe.positions(count)
    before, given, unused = _state(encoding), x.clone(), copy.deepcopy(net)
    first = net(x, pos)
    broken = []
    if not torch.equal(x, given):
        broken.append("forward writes into its input")
        x = given
    elif not torch.equal(net(x, pos), first):
        broken.append("the same input gives two outputs")
    net(probe.tokens(longer), probe.positions(longer))
    if not broken and not torch.equal(net(x, pos), first):
        broken.append("a longer input in between changes the output")
    if not broken and (moved := _moved_by_other_calls(probe, net, unused, x)):
        broken.append(moved)
    after = _state(encoding)
    changed = sorted(
        key for key in before.keys() | after.keys() if not _same(before.get(key), after.get(key))
    )
    if changed:
        broken.append(f"forward changes {', '.join(changed)}")
    for name, check in {
        "vmap": _vmap,
        **({"compile": _compile, "export": _export} if probe.effort.graphs else {}),
    }.items():
        problem = check(probe, encoding, x, pos)
        if problem:
            broken.append(f"{name}: {problem}")
    if broken:
        message = "; ".join(broken)
        return PropertyResult(
            False, "changes", f"{message[0].upper()}{message[1:]}.", {"broken": broken}
        )
    tried = "vmap, compile and export" if probe.effort.graphs else "vmap"
    return PropertyResult(
        True,
        "0",
        f"Twice the same, bit for bit; no attribute changed; {tried} give the same numbers.",
    )


def _moved_by_other_calls(
    probe: Probe, net: Transformer, unused: Transformer, x: torch.Tensor
) -> str:
    """What calls within the made length, past it and far past it do to each other, in both orders;
    or nothing.

    Every call is held against the same call on a copy that was never called. What is refused is
    left out.
    """
    length = probe.encoding.shape.length
    alone = {
        start: _out(probe, copy.deepcopy(unused), x, start)
        for start in (0, length, length + FURTHER)
    }
    for start in (*alone, *reversed(alone)):
        want, got = alone[start], _out(probe, net, x, start)
        if want is None and got is None:
            continue
        if want is None or got is None:
            return f"a call at other positions decides whether positions {start} and on are refused"
        if not torch.equal(got, want):
            by = show(largest(got, want))
            return f"a call at other positions moves the output at positions {start} and on by {by}"
    return ""


def _out(probe: Probe, net: Transformer, x: torch.Tensor, start: int) -> torch.Tensor | None:
    """The output at positions from `start` on; None when they are refused, each module in its own
    way."""
    try:
        return net(x, probe.positions(x.shape[1], start))
    except Exception:
        return None


def _state(encoding: Encoding) -> dict[str, object]:
    """Everything a module holds: weights, buffers and plain attributes."""
    held: dict[str, object] = {
        key: value.detach().clone() for key, value in encoding.state_dict().items()
    }
    for name, module in encoding.named_modules():
        own = {
            key: value for key, value in vars(module).items() if key not in vars(nn.Module())
        }  # private ones too
        plain = {f"{name}.{key}".strip("."): value for key, value in own.items()}
        held |= {
            key: value.clone() if isinstance(value, torch.Tensor) else repr(value)
            for key, value in plain.items()
        }
        held |= {
            f"{name}.{key}".strip("."): value.clone()
            for key, value in module._buffers.items()
            if value is not None
        }
    return held


def _same(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and torch.equal(a, b)
    return type(a) is type(b) and a == b


def _vmap(probe: Probe, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    q = torch.stack([probe.heads(len(pos), more=seed) for seed in range(3)])

    given = states(encoding, pos)

    def one(q: torch.Tensor) -> torch.Tensor:
        moved = encoding.embed(q.transpose(1, 2).flatten(2), pos).unflatten(
            -1, (-1, encoding.shape.head)
        )
        k = moved[..., : encoding.shape.heads, :].transpose(1, 2)
        return attend(q, k, q, encoding=encoding, q_pos=pos, k_pos=pos, **given)

    return _compare(lambda: torch.func.vmap(one)(q), torch.stack([one(each) for each in q]))


def _compile(probe: Probe, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    net = probe.model(encoding, layers=1)
    torch._dynamo.reset()
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    return _compare(lambda: compiled(x, pos), net(x, pos))


def _export(probe: Probe, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    """Export with a dynamic length, and compare at lengths that were not traced, past every
    threshold of speed."""
    net = probe.model(encoding, layers=1)
    most = min(LONGEST_EXPORT, probe.last + 1)
    if most <= len(pos):
        return _compare(lambda: torch.export.export(net, (x, pos)).module()(x, pos), net(x, pos))
    length = torch.export.Dim("length", min=2, max=most)
    try:
        program = torch.export.export(
            net, (x, pos), dynamic_shapes=({1: length}, {0: length})
        ).module()
    except Exception as problem:  # the graph tools raise anything
        return _first_line(problem)
    for count in dict.fromkeys((2, len(pos), min(700, most))):
        some, at = probe.tokens(count), probe.positions(count)
        if wrong := _compare(partial(program, some, at), net(some, at)):
            return f"at length {count}, {wrong}"
    return ""


def _compare(run, want: torch.Tensor) -> str:  # type: ignore[no-untyped-def]
    """What is wrong, or nothing. Whatever a capture raises is a finding, not an accident."""
    try:
        error = largest(run(), want)
    except Exception as problem:  # the graph tools raise anything
        return _first_line(problem)
    return "" if error <= 1e-4 else f"differs by {error:.2g}"


def _first_line(problem: Exception) -> str:
    return f"{type(problem).__name__}: {(str(problem).strip().splitlines() or [''])[0][:120]}"
