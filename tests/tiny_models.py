"""Causal models of transformers, built tiny, with what goes into their rotary step and what comes
out of it."""

import contextlib
import importlib
import inspect
import re
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from locant.hf.checkpoints.tiny import causal_types as causal_types
from locant.hf.checkpoints.tiny import sizes_for as sizes_for
from locant.hf.checkpoints.tiny import tiny_config as tiny_config

TOKENS = 7
POSITIONS = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [3, 4, 9, 10, 30, 31, 40]])


@dataclass
class Turn:
    """One use of a model's rotary step: queries and keys (or one of them) before and after, each
    (B, H, T, d)."""

    layer: str
    before: list[Tensor]
    after: list[Tensor]


@dataclass
class Seen:
    """What one forward pass showed."""

    positions: Tensor
    turns: list[Turn] = field(default_factory=list)
    layers: dict[str, bool] = field(
        default_factory=dict
    )  # every attention over tokens, and whether it turned
    scalings: list[float] = field(
        default_factory=list
    )  # what the scores are multiplied by, layer by layer


TURNS = re.compile(r"^apply_rotary(_pos)?_emb(_interleave)?$")
ATTENDS = re.compile(r"Attentions?$|Attn$|MLA$")
OTHERWISE = re.compile(
    r"Lightning|Linear|Delta|Mamba|Rwkv"
)  # attention without scores between tokens
ASIDE = re.compile(r"Indexer|Compressor")  # chooses tokens, with a rotary step of its own


def run(config):
    """Build the model of a config, run it on a few tokens and tell what its rotary step did."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    cls = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    asked = inspect.signature(cls.forward).parameters
    seen = Seen(POSITIONS if "position_ids" in asked else torch.arange(TOKENS).expand(2, TOKENS))
    given = {
        "input_ids": torch.randint(3, 90, (2, TOKENS), generator=torch.Generator().manual_seed(0))
    }
    given |= {"position_ids": POSITIONS} if "position_ids" in asked else {}
    given |= {"use_cache": False} if "use_cache" in asked else {}
    inside = []
    with _watched(importlib.import_module(cls.__module__), seen, inside), torch.no_grad():
        config._attn_implementation = "eager"
        with torch.device("meta"):
            weights = sum(weight.numel() for weight in cls(config).parameters())
        if weights > 20_000_000:
            raise MemoryError(f"{weights:,} weights with the small sizes")
        torch.manual_seed(0)
        model = cls(config).eval()
        _hook(model, seen, inside)
        if hasattr(model, "set_default_language"):
            model.set_default_language("en_XX")
        model(**given)
    return seen


def _hook(model, seen, inside):
    for name, part in model.named_modules():
        kind = type(part).__name__
        if not (ATTENDS.search(kind) or ASIDE.search(kind)):
            continue
        if ATTENDS.search(kind) and not OTHERWISE.search(kind):
            seen.scalings.append(getattr(part, "scaling", None))
        part.register_forward_pre_hook(partial(_enter, name, kind, seen, inside))
        part.register_forward_hook(partial(_leave, inside))


def _enter(name, kind, seen, inside, *_):
    inside.append((name, kind))
    if ATTENDS.search(kind) and not OTHERWISE.search(kind):
        seen.layers.setdefault(name, False)


def _leave(inside, *_):
    inside.pop()


@contextlib.contextmanager
def _watched(module, seen, inside):
    """Note what goes into the rotary functions of a modeling module, and what comes out."""
    kept = []

    def watch(owner, name, function, skip=0):
        def noted(*args, **kwargs):
            result = function(*args, **kwargs)
            after = [
                x for x in (result if isinstance(result, tuple) else (result,)) if x is not None
            ]
            given = [x for x in (*args, *kwargs.values()) if torch.is_tensor(x)][
                skip : skip + len(after)
            ]
            if inside and not ASIDE.search(inside[-1][1]):
                seen.turns.append(
                    Turn(inside[-1][0], [_rows(x) for x in given], [_rows(x) for x in after])
                )
                seen.layers.update({layer: True for layer, _ in inside})
            return result

        kept.append((owner, name, vars(owner)[name]))
        setattr(owner, name, noted)

    for name, value in list(vars(module).items()):
        if TURNS.match(name):
            watch(module, name, value)
        elif inspect.isclass(value) and "apply_rotary_position_embeddings" in vars(value):
            watch(
                value,
                "apply_rotary_position_embeddings",
                value.apply_rotary_position_embeddings,
                skip=1,
            )
            value.apply_rotary_position_embeddings = staticmethod(
                vars(value)["apply_rotary_position_embeddings"]
            )
    try:
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)


def _rows(x):
    """A copy with the tokens in the last dimension but one."""
    return (x if x.shape[-2] == TOKENS else x.transpose(1, 2)).detach().clone()
