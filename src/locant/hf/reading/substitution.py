"""Running a model's own layers with locant's encodings where its positions are computed.

The model's rotary functions, tables and biases are replaced for the time of a `with`, each layer's
by the encoding that was read for it; all else is the model's own. Equal logits then prove that
nothing was read wrongly.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from locant.encodings.base import Encoding, overrides, senses
from locant.encodings.hooks import States, compute_bias
from locant.hf.reading.content_layers import deberta_attentions, inkling_attentions
from locant.hf.reading.model_reader import first_position, position_tables

LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?|albert_layers)\.(\d+)$")
ROTARY_FUNCTION = re.compile(r"^apply_rotary(_pos)?_emb(_interleave)?$")
ROTARY_METHOD = "apply_rotary_position_embeddings"
ASIDE = re.compile(r"Indexer|Compressor")  # chooses tokens, and does not attend to them
TEMPERATURE_FUNCTION = "get_llama_4_attn_scale"


@dataclass
class Substitution:
    """What was replaced while it lasted: `layers`, the numbers of the layers that were served."""

    model: Any
    encodings: Sequence[Encoding]
    positions: Tensor  # (B, T) or (B, T, axes)
    layers: set[int] = field(default_factory=set)
    found: set[int] = field(default_factory=set)  # the numbers of the layers that the model has
    current: int = 0  # the layer that is running
    aside: bool = False  # inside of what chooses tokens, with a rotary step of its own

    @property
    def tokens(self) -> int:
        return self.positions.shape[1]

    def encoding(self) -> Encoding:
        self.layers.add(self.current)
        return self.encodings[self.current]

    def turn(self, x: Tensor) -> Tensor:
        """Turn queries or keys of the running layer, (B,H,T,d) or (B,T,H,d)."""
        swapped = x.shape[-2] != self.tokens
        rows = x.transpose(1, 2) if swapped else x
        turned = self.encoding().rotate(rows, rows, self.positions, self.positions)[0]
        return turned.transpose(1, 2) if swapped else turned


@contextmanager
def substituted(
    model: nn.Module, encodings: Sequence[Encoding], positions: Tensor
) -> Iterator[Substitution]:
    """Replace what a model does with positions by encodings, one for each layer.

    positions  what the model is given: position_ids (B,T), or (B,T,axes) for several axes
    """
    served = Substitution(model, encodings, positions)
    with ExitStack() as undo:
        for name, part in model.named_modules():
            if found := LAYER.search(name):
                served.found.add(int(found[1]))
                hook = part.register_forward_pre_hook(_entering(served, int(found[1])))
                undo.callback(hook.remove)
            if ASIDE.search(type(part).__name__):
                undo.callback(part.register_forward_pre_hook(_stepping(served, True)).remove)
                undo.callback(part.register_forward_hook(_stepping(served, False)).remove)
        for module in {sys.modules[type(part).__module__] for part in model.modules()}:
            if module.__name__.startswith("transformers.models."):
                _replace_functions(module, served, undo)
        _replace_temperatures(served, undo)
        _replace_tables(served, undo)
        _replace_biases(served, undo)
        _replace_deberta_terms(served, undo)
        _replace_inkling_biases(served, undo)
        yield served


def _entering(served: Substitution, layer: int) -> Callable[..., None]:
    def enter(*_: Any) -> None:
        served.current = layer

    return enter


def _stepping(served: Substitution, aside: bool) -> Callable[..., None]:
    def step(*_: Any) -> None:
        served.aside = aside

    return step


def _replace(owner: Any, name: str, value: Any, undo: ExitStack) -> None:
    """Set an attribute until the end, and bring back what was there."""
    before = vars(owner).get(name)
    setattr(owner, name, value)
    if before is None:
        undo.callback(delattr, owner, name)
    else:
        undo.callback(setattr, owner, name, before)


def _replace_functions(module: Any, served: Substitution, undo: ExitStack) -> None:
    """Replace the rotary, temperature and ALiBi functions of a modeling file."""
    for name, value in list(vars(module).items()):
        if ROTARY_FUNCTION.match(name):
            _replace(module, name, _turning(served, value, 0), undo)
        elif name == TEMPERATURE_FUNCTION:
            _replace(module, name, _tempering(served), undo)
        elif name == "build_alibi_tensor":
            _replace(module, name, _bloom_bias(served), undo)
        elif name == "build_mpt_alibi_tensor":
            _replace(module, name, _mpt_bias(served), undo)
        elif inspect.isclass(value) and ROTARY_METHOD in vars(value):
            turning = _turning(served, getattr(value, ROTARY_METHOD), 1)
            _replace(value, ROTARY_METHOD, staticmethod(turning), undo)


def _turning(served: Substitution, function: Any, skip: int) -> Callable[..., Any]:
    """Make a rotary function that turns as the encoding of the running layer does.

    The model's own function says how many of its tensors are turned and how they are laid out.
    """

    def turn(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        if served.aside:
            return result
        results = result if isinstance(result, tuple) else (result,)
        given = [x for x in (*args, *options.values()) if isinstance(x, Tensor)][skip:]
        turned = [
            None if after is None else served.turn(before)
            for before, after in zip(given, results, strict=False)
        ]
        return tuple(turned) if isinstance(result, tuple) else turned[0]

    return turn


def _tempering(served: Substitution) -> Callable[..., Tensor]:
    def temperature(*_: Any, **__: Any) -> Tensor:
        scale = served.encoding().temperature(served.positions)
        scale = torch.ones(served.positions.shape) if scale is None else scale
        return scale[:, None, :, None].float()  # (B, 1, T, 1)

    return temperature


def _replace_temperatures(served: Substitution, undo: ExitStack) -> None:
    """Let the queries of Llama 4's layers without rope be multiplied by an encoding's temperature.

    The model counts its positions from 0, whatever position_ids say.
    """
    part: Any
    for part in served.model.modules():
        if getattr(part, "attn_temperature_tuning", None) and not getattr(part, "use_rope", True):
            _replace(part, "attn_temperature_tuning", False, undo)
            undo.callback(part.q_proj.register_forward_hook(_heating(served)).remove)


def _heating(served: Substitution) -> Callable[..., Tensor]:
    def heat(module: nn.Module, args: Any, queries: Tensor) -> Tensor:
        scale = served.encoding().temperature(torch.arange(queries.shape[1]))
        return queries if scale is None else queries * scale[:, None].to(queries.dtype)

    return heat


def _bloom_bias(served: Substitution) -> Callable[..., Tensor]:
    def bias(*_: Any, **__: Any) -> Tensor:
        served.layers |= set(range(len(served.encodings)))
        made = served.encodings[0].bias(served.positions, served.positions)
        assert made is not None
        if served.model.config.model_type == "falcon":  # it takes one row and divides it by √d
            made = made[:, :, -1:] * served.encodings[0].shape.head ** 0.5
        return made.flatten(0, 1)  # (B·H, Q, K)

    return bias


def _mpt_bias(served: Substitution) -> Callable[..., Tensor]:
    def bias(heads: int, length: int, *_: Any, **__: Any) -> Tensor:
        served.layers |= set(range(len(served.encodings)))
        every = torch.arange(length)
        made = served.encodings[0].bias(every, every)
        assert made is not None
        return made[0]  # (H, L, L), of which the model takes the last rows and columns

    return bias


def _replace_tables(served: Substitution, undo: ExitStack) -> None:
    """Let the tables of a model answer with the `embed` of an encoding."""
    stacks = list(position_tables(served.model).values())
    if not stacks:
        return
    start = first_position(served.model)
    firsts = [0] if len(stacks) == 1 else [0, len(served.encodings) - 1]
    for first, module in zip(firsts, stacks, strict=False):
        hook = module.register_forward_hook(_embedding(served, first, start))
        undo.callback(hook.remove)


def _embedding(served: Substitution, first: int, start: int) -> Callable[..., Tensor]:
    def embed(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        served.layers |= set(range(len(served.encodings)))
        rows = torch.arange(output.shape[-2]) + start
        shape = (output.shape[0] if output.dim() == 3 else 1, *output.shape[-2:])
        made = served.encodings[first].embed(torch.zeros(shape, dtype=output.dtype), rows)
        return made if output.dim() == 3 else made[0]

    return embed


def _replace_biases(served: Substitution, undo: ExitStack) -> None:
    """Let T5's attention ask an encoding for its bias."""
    attentions = [
        part
        for name, part in served.model.named_modules()
        if name.endswith(".layer.0.SelfAttention") and hasattr(part, "compute_bias")
    ]
    for layer, attention in enumerate(attentions):
        _replace(attention, "compute_bias", _t5_bias(served, layer), undo)


def _t5_bias(served: Substitution, layer: int) -> Callable[..., Tensor]:
    def bias(queries: int, keys: int, *_: Any, **__: Any) -> Tensor:
        encoding = served.encodings[layer]  # later layers that share it are given the same bias
        served.layers |= {n for n, other in enumerate(served.encodings) if other is encoding}
        made = encoding.bias(torch.arange(queries), torch.arange(keys))
        assert made is not None
        return made

    return bias


def _replace_deberta_terms(served: Substitution, undo: ExitStack) -> None:
    """Let DeBERTa's attention ask an encoding for what it adds to q·k/√(3d)."""
    for attention in deberta_attentions(served.model):
        for name in ("disentangled_attention_bias", "disentangled_att_bias"):
            if hasattr(attention, name):
                _replace(attention, name, _deberta_terms(served, attention), undo)


def _deberta_terms(served: Substitution, attention: Any) -> Callable[..., Tensor]:
    def terms(query: Tensor, key: Tensor, *_: Any, **__: Any) -> Tensor:
        encoding, heads = served.encoding(), attention.num_attention_heads
        joined = query.dim() == 3  # later ones join rows and heads, the first has scaled queries
        scale = key.shape[-1] ** -0.5 if joined else 3**0.5
        q, k = (t.view(-1, heads, *t.shape[-2:]) for t in (query * scale, key))
        pos, scores = torch.arange(k.shape[-2]), q @ k.mT
        added = torch.zeros_like(scores)
        if overrides(encoding, "rescore"):  # or nothing stands in place
            added = encoding.rescore(scores, q, k, pos, pos) - scores * 3**-0.5
        return added.flatten(0, 1) if joined else added

    return terms


def _replace_inkling_biases(served: Substitution, undo: ExitStack) -> None:
    """Let Inkling's attention ask an encoding for its bias, from the input of its layer."""
    for attention in inkling_attentions(served.model):
        inputs: list[Tensor] = []
        undo.callback(attention.r_proj.register_forward_hook(_remembering(inputs)).remove)
        _replace(attention.rel_logits_proj, "forward", _inkling_bias(served, inputs), undo)


def _remembering(inputs: list[Tensor]) -> Callable[..., None]:
    def remember(module: nn.Module, args: Any, output: Tensor) -> None:
        inputs[:] = [args[0]]

    return remember


def _inkling_bias(served: Substitution, inputs: list[Tensor]) -> Callable[..., Tensor]:
    def bias(states: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        encoding, x = served.encoding(), inputs[0]
        own = encoding.sense(x, q_pos) if senses(encoding) else None
        sizes = (x.shape[0], encoding.shape.heads, len(q_pos), len(k_pos))
        both = None if own is None else States(own, own)
        made = compute_bias(encoding, q_pos, k_pos, sizes, both)
        assert made is not None
        return made.to(states.dtype)

    return bias
