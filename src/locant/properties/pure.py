"""Nothing changes in forward: no growing tables, no counters; and graphs can be captured."""

from __future__ import annotations

import torch
from torch import nn

from locant.attention import attend
from locant.encodings.base import Encoding
from locant.subject import Measured, Subject, largest

SENTENCE = "Nothing changes in forward: the same input gives the same output, whatever came between."
CLAIM = "law"
BOUND = "bit for bit; vmap, compile and export to 1e-4"
WHY = "state that changes in forward breaks compilation, vmap and reproducibility"


def measure(subject: Subject) -> Measured:
    encoding = subject.stirred()
    net = subject.model(encoding)
    count = min(9, subject.last + 1)
    longer = min(4 * count, subject.last + 1)
    x, pos = subject.tokens(count), subject.places(count)
    before, given = _state(encoding), x.clone()
    first = net(x, pos)
    broken = []
    if not torch.equal(x, given):
        broken.append("forward writes into its input")
        x = given
    elif not torch.equal(net(x, pos), first):
        broken.append("the same input gives two outputs")
    net(subject.tokens(longer), subject.places(longer))
    if not broken and not torch.equal(net(x, pos), first):
        broken.append("a longer input in between changes the output")
    after = _state(encoding)
    changed = sorted(key for key in before.keys() | after.keys() if not _same(before.get(key), after.get(key)))
    if changed:
        broken.append(f"forward changes {', '.join(changed)}")
    for name, check in {
        "vmap": _vmap,
        **({"compile": _compile, "export": _export} if subject.effort.graphs else {}),
    }.items():
        problem = check(subject, encoding, x, pos)
        if problem:
            broken.append(f"{name}: {problem}")
    if broken:
        said = "; ".join(broken)
        return Measured(False, "changes", f"{said[0].upper()}{said[1:]}.", {"broken": broken})
    tried = "vmap, compile and export" if subject.effort.graphs else "vmap"
    return Measured(True, "0", f"Twice the same, bit for bit; no attribute changed; {tried} give the same numbers.")


def _state(encoding: Encoding) -> dict[str, object]:
    """Everything a module holds: weights, buffers and plain attributes."""
    held: dict[str, object] = {key: value.detach().clone() for key, value in encoding.state_dict().items()}
    for name, module in encoding.named_modules():
        own = {key: value for key, value in vars(module).items() if key not in vars(nn.Module())}  # private ones too
        plain = {f"{name}.{key}".strip("."): value for key, value in own.items()}
        held |= {key: value.clone() if isinstance(value, torch.Tensor) else repr(value) for key, value in plain.items()}
        held |= {
            f"{name}.{key}".strip("."): value.clone() for key, value in module._buffers.items() if value is not None
        }
    return held


def _same(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and torch.equal(a, b)
    return type(a) is type(b) and a == b


def _vmap(subject: Subject, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    q = torch.stack([subject.heads(len(pos), more=seed) for seed in range(3)])

    def one(q: torch.Tensor) -> torch.Tensor:
        moved = encoding.embed(q.transpose(1, 2).flatten(2), pos).unflatten(-1, (-1, encoding.shape.head))
        k = moved[..., : encoding.shape.heads, :].transpose(1, 2)
        return attend(q, k, q, encoding=encoding, q_pos=pos, k_pos=pos)

    return _compare(lambda: torch.func.vmap(one)(q), torch.stack([one(each) for each in q]))


def _compile(subject: Subject, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    net = subject.model(encoding, layers=1)
    torch._dynamo.reset()
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    return _compare(lambda: compiled(x, pos), net(x, pos))


def _export(subject: Subject, encoding: Encoding, x: torch.Tensor, pos: torch.Tensor) -> str:
    net = subject.model(encoding, layers=1)
    return _compare(lambda: torch.export.export(net, (x, pos)).module()(x, pos), net(x, pos))


def _compare(run, want: torch.Tensor) -> str:  # type: ignore[no-untyped-def]
    """What is wrong, or nothing. Whatever a capture raises is a finding, not an accident."""
    try:
        error = largest(run(), want)
    except Exception as problem:  # the graph tools raise anything
        return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0][:120]}"
    return "" if error <= 1e-4 else f"differs by {error:.2g}"
