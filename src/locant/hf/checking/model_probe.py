"""A pretrained model under examination: its inputs, its forward pass and what is known of it."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from locant.certification.probe import EFFORTS, Effort, relative
from locant.encodings._rope.hf_models import WITHOUT

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CAUSAL, ENCODER, ENCODER_DECODER = "decoder", "encoder", "encoder-decoder"
SOURCE_TOKENS = 7  # what the encoder of an encoder-decoder reads beside the decoder's row
SMALLEST_EFFECT = 1e-5  # a change of the outputs below it is rounding
CACHES = ("past_key_values", "cache_params", "state", "mems")  # what models call their cache
LENGTHS = (
    *("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"),
    *("max_target_positions", "max_sequence_length"),
)
MIXERS = re.compile(
    r"Mamba|Mixer2|Rwkv|Delta|LinearAttention|Lightning|Recurrent|Rglru|ShortConv|LSTM|KDA|Griffin"
    r"|Compressor|Fourier|FunnelAttentionStructure"
)
BERT_KIN = re.compile(r"(?i)bert|electra|ernie|data2vec|roformer|xmod")  # decoders if told to be
ROUTED = re.compile(r"Moe|MoE|Expert|Router|TopK|SparseMLP")


class CannotRebuild(ValueError):
    """A model's config does not build a model with the same weights: it was changed since."""


class ModelProbe:
    """A model under examination. It is a copy in float32: the user's model is never touched."""

    def __init__(self, model: PreTrainedModel, seed: int = 0, effort: Effort = EFFORTS["quick"]):
        self.model = nn.Module.float(copy.deepcopy(model)).eval()  # its own refuses GGUF weights
        self.seed = seed
        self.effort = effort

    # ------------------------------------------------------------ what is known of the model

    @cached_property
    def config(self) -> Any:
        """The config of the text model."""
        return self.model.config.get_text_config(decoder=True)

    @cached_property
    def kind(self) -> str:
        """Whether it is a decoder, an encoder, or both."""
        config = self.config
        if getattr(self.model.config, "is_encoder_decoder", False) and self.takes(
            "decoder_input_ids"
        ):
            return ENCODER_DECODER
        both_ways = config.model_type == "xlnet"  # unless a perm_mask is given
        both_ways |= getattr(config, "causal", None) is False  # xlm
        if BERT_KIN.search(type(self.model).__name__):
            both_ways |= getattr(config, "is_decoder", None) is False
        if self.model.can_generate() and not both_ways:
            return CAUSAL
        return ENCODER

    @cached_property
    def length(self) -> int | None:
        """The number of positions that the model was made for; None where the config has none."""
        found = (getattr(self.config, name, None) for name in LENGTHS)
        return next((size for size in found if isinstance(size, int) and size > 0), None)

    @cached_property
    def rope_types(self) -> set[str]:
        """The kinds of rotary scaling of its layers: default, dynamic, longrope …"""
        found: set[Any] = set()
        for module in self.model.modules():
            kind = getattr(module, "rope_type", None)
            found |= set(kind.values()) if isinstance(kind, dict) else {kind}
        return {kind for kind in found if isinstance(kind, str)}

    @cached_property
    def other_mixers(self) -> list[str]:
        """The classes of its layers that mix tokens by other means than attention."""
        names = {type(one).__name__ for one in self.model.modules() if _mixes_tokens(one)}
        return sorted(names)

    def nature_of_mixers(self, border: str) -> str:
        """Say which layers run across a border that masks make; empty where there are none."""
        if not self.other_mixers:
            return ""
        return (
            f"By nature: its layers {', '.join(self.other_mixers)} mix tokens by a state, a "
            f"convolution or blocks, across {border}."
        )

    @cached_property
    def is_routed(self) -> bool:
        """Whether tokens choose among experts."""
        return any(ROUTED.search(type(one).__name__) for one in self.model.modules())

    @cached_property
    def adds_positions(self) -> bool:
        """Whether it adds a vector for each absolute position to its input."""
        if "to its input" in WITHOUT.get(self.config.model_type, ""):
            return True
        return any(_is_position_table(name, one) for name, one in self.model.named_modules())

    @cached_property
    def scales_by_position(self) -> bool:
        """Whether its queries grow with their absolute position (Llama 4, Ministral 3)."""
        rope = getattr(self.config, "rope_parameters", None) or {}
        return bool(
            getattr(self.config, "attn_temperature_tuning", False) or "llama_4_scaling_beta" in rope
        )

    @cached_property
    def without_positions(self) -> bool:
        """Whether its attention gets no positions at all."""
        return "no positions" in WITHOUT.get(self.config.model_type, "")

    def takes(self, argument: str) -> bool:
        """Tell whether the forward pass names an argument."""
        return argument in inspect.signature(self.model.forward).parameters

    @cached_property
    def takes_more(self) -> bool:
        """Whether the forward pass takes arguments that it does not name."""
        parameters = inspect.signature(self.model.forward).parameters.values()
        return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)

    # ------------------------------------------------------------ inputs

    @cached_property
    def ordinary_tokens(self) -> Tensor:
        """The token ids that stand for nothing special."""
        count = self.model.get_input_embeddings().weight.shape[0]
        count = min(count, getattr(self.config, "vocab_size", None) or count)
        special = {value for key, value in self.model.config.to_dict().items() if "token_id" in key}
        special |= {value for key, value in self.config.to_dict().items() if "token_id" in key}
        special = {one for one in special if isinstance(one, int)} | {0, 1, 2, 3}
        return torch.tensor([one for one in range(count) if one not in special])

    @property
    def pad_token(self) -> int:
        """The token that fills rows up."""
        pad = getattr(self.config, "pad_token_id", None)
        return pad if isinstance(pad, int) and pad >= 0 else 0

    def tokens(self, count: int, more: int = 0) -> Tensor:
        """Draw a row of tokens (1, T); another number `more` gives another row."""
        draw = torch.Generator().manual_seed(self.seed + 1000 * more)
        chosen = torch.randint(len(self.ordinary_tokens), (1, count), generator=draw)
        return self.ordinary_tokens[chosen].to(self.model.device)

    def other_token(self, token: Tensor) -> Tensor:
        """Return an ordinary token that is not this one."""
        first, second = self.ordinary_tokens[:2].to(token.device)
        return second if bool(token == first) else first

    @cached_property
    def source(self) -> Tensor:
        """What the encoder of an encoder-decoder reads, (1, T)."""
        return self.tokens(SOURCE_TOKENS, more=99)

    # ------------------------------------------------------------ the forward pass

    def call(self, ids: Tensor, model: Any = None, **more: Any) -> Any:
        """Run a model on a batch of rows (B, T) with these arguments and no others."""
        if self.kind == ENCODER_DECODER:
            source = more.pop("source", self.source.expand(ids.shape[0], -1))
            mask = more.pop("attention_mask", None)
            given = {"input_ids": source, "decoder_input_ids": ids}
            given |= {} if mask is None else {"attention_mask": mask}
        else:
            given = {"input_ids": ids}
        with torch.no_grad():
            return (model or self.model)(**given, **more)

    def run(self, ids: Tensor, model: Any = None, **more: Any) -> Tensor:
        """Run a model without a cache and return its outputs (B, T, ·): logits, or states."""
        if self.takes("use_cache") or self.takes_more:
            more.setdefault("use_cache", False)
        return outputs(self.call(ids, model, **more))

    def run_default(self, ids: Tensor, **more: Any) -> Tensor:
        """Run the model with default arguments, as `model(input_ids)` does."""
        return outputs(self.call(ids, **more))

    # ------------------------------------------------------------ positions

    @cached_property
    def effect_of_positions(self) -> float | None:
        """How much other position_ids change the outputs; None where the model takes none."""
        if self.kind == ENCODER_DECODER:
            return None
        ids = self.tokens(10)
        ones = torch.ones_like(ids)
        doubled = self.first_position + 2 * torch.arange(10, device=ids.device)[None]
        try:
            moved = self.run(ids, attention_mask=ones, position_ids=doubled)
            return relative(moved, self.run(ids, attention_mask=ones))
        except TypeError:
            return None

    @cached_property
    def obeys_positions(self) -> bool:
        """Whether position_ids change what it computes."""
        effect = self.effect_of_positions
        return effect is not None and effect > SMALLEST_EFFECT

    @cached_property
    def first_position(self) -> int:
        """The position of the first token when none are given: 0, or 2 in RoBERTa and its kin."""
        if self.kind == ENCODER_DECODER:
            return 0
        ids = self.tokens(10)
        try:
            wanted = self.run(ids)
            errors = {
                start: relative(self.run(ids, position_ids=self.positions(10, start)), wanted)
                for start in dict.fromkeys((0, self.pad_token + 1, 1, 2))
            }
        except TypeError:
            return 0
        return min(errors, key=errors.__getitem__)

    def positions(self, count: int, start: int = 0) -> Tensor:
        """Consecutive position_ids (1, T) from `start` on."""
        return torch.arange(start, start + count, device=self.model.device)[None]

    def need_positions(self) -> str:
        """Say why position_ids cannot be given; empty where they can."""
        if self.obeys_positions:
            return ""
        if self.effect_of_positions is None:
            return "Its forward pass takes no position_ids."
        return "It accepts position_ids and does not use them (see obeyed)."

    # ------------------------------------------------------------ copies

    def context_effect(self) -> float:
        """How much the first token changes the output of the last one."""
        ids = self.tokens(10)
        other = ids.clone()
        other[0, 0] = self.other_token(ids[0, 0])
        return relative(self.run(other)[:, -1], self.run(ids)[:, -1])

    def cast(self, dtype: torch.dtype) -> nn.Module:
        """A copy after `.to(dtype)`."""
        return nn.Module.to(copy.deepcopy(self.model), dtype)

    def loaded(self, dtype: torch.dtype) -> nn.Module:
        """A copy as `from_pretrained(dtype=…)` makes it: built in this dtype, weights loaded."""
        other = type(self.model)._from_config(copy.deepcopy(self.model.config), dtype=dtype)
        self.need_weights_of(other)
        other.load_state_dict(self.model.state_dict(), strict=False)
        return other.eval()

    def need_weights_of(self, other: nn.Module) -> None:
        """Raise CannotRebuild unless a model that was built of the config has the same weights."""
        mine, theirs = (
            {name for name, _ in one.named_parameters(remove_duplicate=False)}
            for one in (self.model, other)
        )
        changed = sorted(mine ^ theirs)
        if changed:
            raise CannotRebuild(
                f"Not judged: its config builds a model with other weights than it has "
                f"({changed[0]}{' …' if len(changed) > 1 else ''}), so it cannot be built anew."
            )

    @cached_property
    def exact(self) -> nn.Module:
        """The model; one with frequencies of float32, where they came rounded by a cast."""
        rounded = [one for name, one in self.model.named_buffers() if name.endswith("inv_freq")]
        if any(_looks_rounded(one) for one in rounded):
            return self.loaded(torch.float32)
        return self.model

    @contextmanager
    def attention(self, implementation: str) -> Iterator[None]:
        """Compute attention by another implementation inside the block."""
        before = self.model.config._attn_implementation
        self.model.set_attn_implementation(implementation)
        try:
            yield
        finally:
            self.model.set_attn_implementation(before)


def outputs(result: Any) -> Tensor:
    """Return the logits of a model's result, or the last hidden states where it has no logits."""
    for name in ("logits", "prediction_logits", "last_hidden_state"):
        found = getattr(result, name, None)
        if found is not None:
            return found
    return result[0]


def _looks_rounded(frequencies: Tensor) -> bool:
    """Tell whether half precision holds every frequency exactly, as after a cast."""
    kinds = (torch.bfloat16, torch.float16)
    return any(torch.equal(frequencies, frequencies.to(kind).float()) for kind in kinds)


def cache_of(result: Any) -> tuple[str, Any] | None:
    """Return the name and the value of the cache in a model's result; None where it has none."""
    for name in CACHES:
        found = getattr(result, name, None)
        if found is not None:
            return name, found
    return None


def _is_position_table(name: str, module: nn.Module) -> bool:
    """Tell whether a module is a table of absolute positions, by its name and its weight."""
    is_absolute = re.search(r"(wpe|position|pos_emb|embed_pos)[^.]*$", name) is not None
    is_relative = re.search(r"rel|bias|rotary|rope", name) is not None
    weight = getattr(module, "weight", None)
    return is_absolute and not is_relative and isinstance(weight, Tensor) and weight.ndim == 2


def _mixes_tokens(module: nn.Module) -> bool:
    """Tell whether a module mixes tokens by a state, a convolution, pooling or blocks."""
    if isinstance(module, nn.Conv1d):
        return module.kernel_size[0] > 1
    return MIXERS.search(type(module).__name__) is not None
