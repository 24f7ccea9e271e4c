"""Tiny Llamas with one fault each, planted where a real model could have it."""

from __future__ import annotations

import torch
from transformers import LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from locant.hf.checkpoints.random_weights import randomize
from locant.hf.checkpoints.tiny import tiny_config

KNOWN = {"packed", "gaps", "cast", "meta"}  # what every Llama of transformers fails
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}


def tiny_llama(cls=LlamaForCausalLM, **more):
    """A Llama of six small layers whose weights let every token show."""
    config = tiny_config("llama", architectures=[LlamaForCausalLM.__name__], **more)
    torch.manual_seed(0)
    return randomize(cls(config).float().eval())


class Wrong(LlamaForCausalLM):
    """A Llama whose arguments are changed on their way in."""

    def forward(self, input_ids=None, **given):
        return super().forward(input_ids=input_ids, **self.changed(input_ids, given))

    def changed(self, input_ids, given):
        return given


class IgnoresMask(Wrong):
    """attention_mask is dropped: padding is seen."""

    def changed(self, input_ids, given):
        mask = given.get("attention_mask")
        return {**given, "attention_mask": None} if mask is not None and mask.ndim == 2 else given


class ForgetsPositions(Wrong):
    """position_ids are accepted and dropped."""

    def changed(self, input_ids, given):
        return {**given, "position_ids": None}


class CountsPadding(Wrong):
    """Without position_ids, rows with a mask are positioned by a table that counts padding."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        mask = given.get("attention_mask")
        if mask is not None and mask.ndim == 2 and given.get("position_ids") is None:
            out.logits = out.logits * (1 + (mask == 0).sum(1)[:, None, None])
        return out


class SeesRightPadding(Wrong):
    """Rows that end in padding are moved."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        mask = given.get("attention_mask")
        if mask is not None and mask.ndim == 2 and bool((mask[:, -1] == 0).any()):
            out.logits = out.logits * 1.1
        return out


class IgnoresBlocks(Wrong):
    """A 4-D mask is taken for one that hides nothing."""

    def changed(self, input_ids, given):
        mask = given.get("attention_mask")
        if mask is not None and mask.ndim == 4:
            return {**given, "attention_mask": torch.ones_like(input_ids)}
        return given


class PartsNothing(Wrong):
    """position_ids that start anew part no sequences, with a cache or without."""

    def changed(self, input_ids, given):
        if given.get("position_ids") is not None and given.get("attention_mask") is None:
            return {**given, "attention_mask": torch.ones_like(input_ids)}
        return given


class RestartsFromCache(Wrong):
    """A call with a cache counts its tokens from 0 again."""

    def changed(self, input_ids, given):
        if given.get("past_key_values") is not None and given.get("position_ids") is None:
            positions = torch.arange(input_ids.shape[1])[None]
            return {**given, "position_ids": positions}
        return given


class ForgetsChunks(Wrong):
    """Of a chunk that goes on from a cache, only the last token sees the cache's end."""

    def forward(self, input_ids=None, **given):
        chunk = input_ids.shape[1] > 1 and given.get("past_key_values") is not None
        goes_on = chunk and given["past_key_values"].get_seq_length() > 0
        out = super().forward(input_ids=input_ids, **given)
        if goes_on:
            out.logits = out.logits.roll(1, dims=1)
        return out


class GeneratesFromPadding(LlamaForCausalLM):
    """`generate` loses the attention_mask."""

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **given):
        inputs = super().prepare_inputs_for_generation(
            input_ids, attention_mask=attention_mask, **given
        )
        return {**inputs, "attention_mask": None}


class LooksAhead(Wrong):
    """Outputs see the next token."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        out.logits = out.logits + 0.1 * out.logits.roll(-1, dims=1)
        return out


class MixesRows(Wrong):
    """Rows of a batch see each other."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        out.logits = out.logits + 0.1 * out.logits.mean(0, keepdim=True)
        return out


class SquaredAngles(LlamaRotaryEmbedding):
    def forward(self, x, position_ids):
        return super().forward(x, position_ids**2)


class WithSquaredAngles(LlamaForCausalLM):
    """Angles grow with the square of a position: moving all of them changes the outputs."""

    def __init__(self, config):
        super().__init__(config)
        self.model.rotary_emb = SquaredAngles(config)


class ClipsPositions(Wrong):
    """Positions past the length of the config are clipped."""

    def changed(self, input_ids, given):
        if given.get("position_ids") is None:
            return given
        last = self.config.max_position_embeddings - 1
        return {**given, "position_ids": given["position_ids"].clamp(max=last)}


class WrongSdpa(Wrong):
    """Outputs of sdpa are not those of eager."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        if self.config._attn_implementation == "sdpa" and given.get("attention_mask") is not None:
            out.logits = out.logits * 1.01
        return out


class CrudeBfloat16(Wrong):
    """In bfloat16 the logits overflow their range."""

    def forward(self, input_ids=None, **given):
        out = super().forward(input_ids=input_ids, **given)
        if out.logits.dtype == torch.bfloat16:
            out.logits = out.logits.clamp(-0.1, 0.1)
        return out


class RoundedAngles(LlamaRotaryEmbedding):
    """Angles in the dtype of the hidden states, whatever the frequencies are."""

    def forward(self, x, position_ids):
        angles = position_ids[..., None].to(x.dtype) * self.inv_freq.to(x.dtype)
        angles = torch.cat([angles, angles], -1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


class WithRoundedAngles(LlamaForCausalLM):
    """Positions of bfloat16: every position near 1,000 is 1,000."""

    def __init__(self, config):
        super().__init__(config)
        self.model.rotary_emb = RoundedAngles(config)
