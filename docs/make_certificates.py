"""Certify every encoding of locant and those of four other libraries, and write docs/certificates.md.

    python docs/make_certificates.py [--effort quick|usual|full] [--out docs/certificates.md] [--date 2026-01-31]

The others are called as their documentation says, with positions wherever their interface takes them, and are held to
what the papers behind them claim. What a sentence states about them is measured here, in the versions it names.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import rotary_embedding_torch as ret
import torch
from positional_encodings.torch_encodings import PositionalEncoding1D, Summer
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama_apply
from transformers.utils import logging
from x_transformers import x_transformers as xt

import locant
from locant.certificate import certify
from locant.report.certificates import LEGEND, failures, markdown_matrix, meanings
from locant.subject import EFFORTS, seeded

SHAPE = {"dim": 64, "heads": 4, "length": 512}
WIDTH = SHAPE["dim"] // SHAPE["heads"]
PACKAGES = ("rotary-embedding-torch", "x-transformers", "positional-encodings", "transformers")

ROTARY = dict.fromkeys(("shift_invariant", "extrapolates", "cacheable_keys", "bounded", "linear_offset"), True)
SINUSOIDAL = dict.fromkeys(("extrapolates", "cacheable_keys", "bounded", "linear_offset"), True)
XPOS = dict.fromkeys(("shift_invariant", "causal_only"), True)
REAL = {"real_positions": True}


# ---------------------------------------------------------------- the others, each called as its documentation says


def ret_angles(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    freqs = rope(pos)  # (…, T, d)
    freqs = freqs if pos.dim() == 1 else freqs[:, None]
    return ret.apply_rotary_emb(freqs, q), ret.apply_rotary_emb(freqs, k)


def ret_offset(rope: ret.RotaryEmbedding, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    offset = 0 if torch.compiler.is_compiling() else int(pos.flatten()[0])  # graphs are captured from position 0
    if offset < 0:
        raise ValueError("an offset counts tokens; it cannot be negative")
    return rope.rotate_queries_or_keys(q, offset=offset), rope.rotate_queries_or_keys(k, offset=offset)


def ret_xpos(rope: ret.RotaryEmbedding, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    return rope.rotate_queries_and_keys(q, k)


def xt_angles(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    freqs, scale = rope(pos)
    return xt.apply_rotary_pos_emb(q, freqs, scale), xt.apply_rotary_pos_emb(k, freqs, scale**-1)


def llama(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = rope(q, pos if pos.dim() == 2 else pos[None])
    return llama_apply(q, k, cosine, sine)


class Added(nn.Module):
    """x-transformers' own sum: x + pos_emb(x, pos)."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        return x + self.inner(x, pos=pos.float() if pos.is_floating_point() else pos)  # it has no place for float64


def ret_rope(**options: bool) -> ret.RotaryEmbedding:
    """The module as it comes, with two changes that leave its numbers alone.

    Its frequencies are a frozen parameter (learned_freq=False): as a buffer nobody asks them for gradients. With xPos
    it holds a staticmethod that no copy.deepcopy gets past; without it the module can be examined.
    """
    rope = ret.RotaryEmbedding(WIDTH, **options)
    vars(rope).pop("apply_rotary_emb", None)
    freqs = rope.freqs.detach()
    del rope.freqs
    rope.register_buffer("freqs", freqs)
    return rope


def llama_rope() -> LlamaRotaryEmbedding:
    return LlamaRotaryEmbedding(LlamaConfig(hidden_size=SHAPE["dim"], num_attention_heads=SHAPE["heads"]))


class Peer(NamedTuple):
    package: str
    called: str  # how it is used
    make: Callable[[], locant.Encoding]
    lacks: str = ""  # what its interface does not take
    follows: tuple[str, ...] = ()  # the properties that fail for that reason, when they fail
    note: str = ""


def adapt(thing: nn.Module | Callable[..., object], module: nn.Module | None = None, **claims: bool) -> locant.Encoding:
    return locant.adapt(thing, module=module, **SHAPE, **claims)


PEERS = {
    "ret rotary": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16)`: `freqs = rope(pos)`, `apply_rotary_emb(freqs, q)`",
        lambda: adapt(ret_angles, ret_rope(), **ROTARY, **REAL),
    ),
    "ret offset": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16)`: `rope.rotate_queries_or_keys(q, offset=pos[0])`",
        lambda: adapt(ret_offset, ret_rope(), **ROTARY),
        "It takes a first position, not positions",
        ("given", "beyond", "rows", "padding"),
        "`ret rotary`, of the same package, takes positions. pure: a table of angles is filled in forward; "
        "`cache_if_possible=False` turns it off.",
    ),
    "ret xpos": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16, use_xpos=True)`: `rope.rotate_queries_and_keys(q, k)`",
        lambda: adapt(ret_xpos, ret_rope(use_xpos=True), **XPOS),
        "It takes no positions",
        ("given", "beyond", "rows", "padding", "cache"),
        "pure: tables are filled in forward, as above; a longer input in between moves the centre of the scales, "
        "which cancels in the scores up to rounding.",
    ),
    "xt rotary": Peer(
        "x-transformers",
        "`RotaryEmbedding(16)`: `freqs, scale = rope(pos)`, `apply_rotary_pos_emb(q, freqs, scale)`",
        lambda: adapt(xt_angles, xt.RotaryEmbedding(WIDTH), **ROTARY, **REAL),
    ),
    "xt xpos": Peer(
        "x-transformers",
        "`RotaryEmbedding(16, use_xpos=True)`: the same, keys with `scale ** -1`",
        lambda: adapt(xt_angles, xt.RotaryEmbedding(WIDTH, use_xpos=True), **XPOS, **REAL),
    ),
    "xt sinusoidal": Peer(
        "x-transformers",
        "`x + ScaledSinusoidalEmbedding(64)(x, pos=pos)`",
        lambda: adapt(Added(xt.ScaledSinusoidalEmbedding(SHAPE["dim"])), **SINUSOIDAL, **REAL),
        "It takes one row of positions for a whole batch",
        ("rows", "padding"),
    ),
    "xt learned": Peer(
        "x-transformers",
        "`x + AbsolutePositionalEmbedding(64, 512)(x, pos=pos)`",
        lambda: adapt(Added(xt.AbsolutePositionalEmbedding(SHAPE["dim"], SHAPE["length"])), cacheable_keys=True),
    ),
    "pe sinusoidal": Peer(
        "positional-encodings",
        "`Summer(PositionalEncoding1D(64))(x)`",
        lambda: adapt(Summer(PositionalEncoding1D(SHAPE["dim"])), **SINUSOIDAL),
        "It takes no positions",
        ("given", "beyond", "rows", "padding", "cache"),
    ),
    "hf llama": Peer(
        "transformers",
        "`LlamaRotaryEmbedding(config)(q, pos)`, `apply_rotary_pos_emb(q, k, cos, sin)`",
        lambda: adapt(llama, llama_rope(), **ROTARY, **REAL),
    ),
}


# ---------------------------------------------------------------- what a certificate does not ask, measured here


def far(a: Tensor, b: Tensor) -> float:
    """How far a is from b, as a share of b's size."""
    return float((a.float() - b.float()).norm() / b.float().norm())


def facts() -> Iterator[str]:
    """One sentence each."""
    said = {name: f"{name} {version(name)}" for name in PACKAGES}
    q, k = torch.randn(2, 1, 1, 2048, WIDTH).unbind()

    full_q, full_k = ret.RotaryEmbedding(WIDTH, use_xpos=True).rotate_queries_and_keys(q, k)
    one_q, one_k = ret.RotaryEmbedding(WIDTH, use_xpos=True).rotate_queries_with_cached_keys(q[..., -1:, :], k)
    off = far(one_q @ one_k.mT, full_q[..., -1:, :] @ full_k.mT)
    yield (
        f"In {said['rotary-embedding-torch']} with `use_xpos=True`, the scores of the last of 2,048 queries through "
        f"`rotate_queries_with_cached_keys` differ by {off:.0%} of their size from those of the same query in "
        "`rotate_queries_and_keys`: `get_scale` centres on half the number of the positions it is given, "
        "which is 0 for one query and 1,024 for its keys."
    )

    clean, used = ret.RotaryEmbedding(WIDTH), ret.RotaryEmbedding(WIDTH)
    used.rotate_queries_or_keys(q[..., :512, :].bfloat16())
    off = far(used.rotate_queries_or_keys(q[..., :512, :]), clean.rotate_queries_or_keys(q[..., :512, :]))
    yield (
        f"In {said['rotary-embedding-torch']}, `rotate_queries_or_keys` counts positions in the dtype of its input and "
        "keeps the angles: after one bfloat16 call of 512 tokens, a float32 call of 512 tokens differs by "
        f"{off:.0%} of its size from that of a fresh module."
    )

    turns = {
        "ret rotary": (ret_angles, ret_rope()),
        "ret offset": (ret_offset, ret_rope()),
        "ret xpos": (ret_xpos, ret_rope(use_xpos=True)),
        "xt rotary": (xt_angles, xt.RotaryEmbedding(WIDTH)),
        "hf llama": (llama, llama_rope()),
    }
    apart = {name: _apart(*turn) for name, turn in turns.items()}
    yield (
        "Modules kept in float32 and given bfloat16 queries: positions 256 and 257 "
        + " and ".join(
            f"{'differ' if told else 'are the same'} in {', '.join(f'`{name}`' for name in apart if apart[name] is told)}"
            for told in (True, False)
            if told in apart.values()
        )
        + "."
    )

    yield f"In {said['rotary-embedding-torch']}, `copy.deepcopy(RotaryEmbedding(16, use_xpos=True))` " + _outcome(
        lambda: copy.deepcopy(ret.RotaryEmbedding(WIDTH, use_xpos=True)).freqs
    )

    waves = PositionalEncoding1D(SHAPE["dim"])
    waves(torch.zeros(1, 8, SHAPE["dim"]))
    kind = str(waves(torch.zeros(1, 8, SHAPE["dim"], dtype=torch.bfloat16)).dtype).removeprefix("torch.")
    yield (
        f"In {said['positional-encodings']}, `PositionalEncoding1D` keeps its last table and compares shapes alone: "
        f"a bfloat16 input after a float32 one of the same shape gets {kind} vectors."
    )

    yield (
        f"In {said['x-transformers']}, `ScaledSinusoidalEmbedding(x, seq_start_pos=…)`, its way to say where rows "
        + ("that are padded on the left begin, " + _outcome(lambda: _rows_that_start_late()))
    )

    kept, cast = llama_rope(), llama_rope().bfloat16()
    x, pos = q[..., :1, :].bfloat16(), torch.tensor([1000])
    off = far(llama(cast, x, x, pos)[0], llama(kept, x, x, pos)[0])
    yield (
        f"In {said['transformers']}, `model.bfloat16()` rounds the frequencies of `LlamaRotaryEmbedding` with the "
        f"weights: a query at position 1,000 then differs by {off:.0%} of its size. "
        f"`from_pretrained(…, dtype=torch.bfloat16)` keeps them in {_loaded()}."
    )


def _loaded() -> str:
    """The dtype of a Llama's frequencies when it is loaded in bfloat16."""
    config = LlamaConfig(hidden_size=64, num_attention_heads=4, num_hidden_layers=1, vocab_size=8, intermediate_size=8)
    logging.disable_progress_bar()
    with TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(folder)
        model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    return str(model.model.rotary_emb.inv_freq.dtype).removeprefix("torch.")


def _apart(turn: Callable[..., tuple[Tensor, Tensor]], rope: nn.Module) -> bool:
    """Whether equal bfloat16 queries at positions 256 and 257 become different."""
    ones = torch.ones(1, 1, 512, WIDTH, dtype=torch.bfloat16)
    turned = turn(rope, ones, ones, torch.arange(512))[0]
    return not torch.equal(turned[..., 256, :], turned[..., 257, :])


def _rows_that_start_late() -> Tensor:
    waves = xt.ScaledSinusoidalEmbedding(SHAPE["dim"])
    return waves(torch.zeros(2, 5, SHAPE["dim"]), seq_start_pos=torch.tensor([0, 2]))


def _outcome(run: Callable[[], Tensor]) -> str:
    try:
        return f"gives {tuple(run().shape)}."
    except Exception as problem:  # whatever it is, it is what happens
        return f"raises {type(problem).__name__}: {str(problem).splitlines()[0].strip()}"


# ---------------------------------------------------------------- the page


def papers(makers: dict[str, Callable[[], locant.Encoding]], effort: str) -> list[dict]:
    found = []
    for number, (name, make) in enumerate(makers.items(), 1):
        with seeded(0):
            encoding = make()

        def tell(now: str, name: str = name, number: int = number) -> None:
            print(f"\r{number}/{len(makers)} {name}: {now:12}", end="", file=sys.stderr, flush=True)

        found.append(certify(encoding, effort=effort, name=name, progress=tell).to_dict())
        print(f"\r{number}/{len(makers)} {name}: {len(found[-1]['fails'])} fail{' ' * 12}", file=sys.stderr)
    return found


def failed(found: list[dict], none: str) -> str:
    return "\n".join(failures(found)) or none


def because(peer: Peer, fails: list[str]) -> str:
    """Which of its failures follow from what its interface does not take."""
    follows = [name for name in fails if name in peer.follows]
    reason = f"{peer.lacks}: {', '.join(follows)} follow{'s' * (len(follows) == 1)} from that." if follows else ""
    return f"{reason} {peer.note}".strip()


def nearby(found: list[dict]) -> str:
    """How far scores move at everyday distances, where they move too far at a million."""
    moved = {
        one["encoding"]: next(
            line["numbers"].get("float32 +1000") for line in one["findings"] if line["name"] == "shift"
        )
        for one in found
        if "shift" in one["fails"]
    }
    listed = ", ".join(f"{error:.1g} (`{name}`)" for name, error in moved.items() if error is not None)
    return (
        "A failure of shift in float32 is one of positions near a million, where the steps of float32 are 0.06 wide and "
        f"angles are computed in it; moved by 1,000 positions, scores move by {listed}."
    )


def _package(name: str) -> str:
    return f"{PEERS[name].package} {version(PEERS[name].package)}"


def page(effort: str, date: str) -> str:
    ours = papers({name: lambda name=name: locant.make(name, **SHAPE) for name in locant.names()}, effort)
    peers = papers({name: peer.make for name, peer in PEERS.items()}, effort)
    with seeded(0), torch.no_grad():
        measured = "\n".join(f"- {fact}" for fact in facts())
    named = [{**one, "encoding": f"{one['encoding']} ({_package(one['encoding'])})"} for one in peers]
    versions = ", ".join([f"locant {locant.__version__}", f"torch {torch.__version__}"])
    rows = [f"| `{name}` | {_package(name)} | {peer.called} |" for name, peer in PEERS.items()]
    notes = [f"- `{one['encoding']}`: {because(PEERS[one['encoding']], one['fails'])}" for one in peers]
    return f"""# Certificates

Every property that locant can measure, of its own encodings and of {len(PEERS)} from four other libraries. A property
is held against what an encoding claims: ours claim in their files, for the others the claims of the papers behind
them are taken. How each is measured stands in its own file under `src/locant/properties`.

Made on {date} by `python docs/make_certificates.py --effort {effort}`, at dim 64, heads 4, length 512, with
{versions}, on a CPU. The number in a cell is the measurement; times (cost) vary from run to run.

{LEGEND}

## Ours

{markdown_matrix(ours)}

{failed(ours, "None fails.")}

## Others

| column | version | called as |
|---|---|---|
{chr(10).join(rows)}

{markdown_matrix(peers)}

What fails, in sentences:

{failed(named, "None fails.")}

What follows from an interface rather than from the numbers:

{chr(10).join(note for note in notes if not note.endswith(": "))}

A failure of distinct, shift or precision in bfloat16 is that of a module cast as a whole, as `model.bfloat16()` does.
{nearby(peers)}
What asks for far positions (precision, bounded, reach) sees the first few alone where no positions are taken.

Measured beside the certificates, by the same command:

{measured}

## What each property says

{chr(10).join(meanings(ours[0]))}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", choices=list(EFFORTS), default="usual")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("certificates.md"))
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="the day to write on the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.out.write_text(page(asked.effort, asked.date), encoding="utf-8")
    print(f"wrote {asked.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
