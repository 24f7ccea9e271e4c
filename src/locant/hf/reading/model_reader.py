"""Reading the encodings of a loaded model: what its config describes, with the weights it learned.

Tables are found by the names of their modules and copied into `learned`; T5's bias into `t5`, and
what DeBERTa and Inkling learn about distances into encodings of these names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from locant.encodings.base import Encoding
from locant.encodings.learned import Learned
from locant.encodings.t5 import T5
from locant.hf.reading.config_reader import described, family
from locant.hf.reading.content_layers import read_deberta, read_inkling
from locant.hf.reading.families import text_config
from locant.shapes import Shape

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SWAPPED = "_locant_encodings"  # of a model that attends with other encodings
TABLE_NAMES = re.compile(
    r"(^|\.)(position_embeddings?|embed_positions|positions_embed|wpe)(\.emb)?$"
)


def read(model: PreTrainedModel) -> list[Encoding]:
    """Read the encodings of a model, one for each layer, the first layer first.

    Equal layers share one encoding, and encoders come before decoders. An encoding with a table
    stands at the input: its `embed` is called once. Its positions are the rows of the model's table
    (`first_position` says where they start: 2 for RoBERTa). Of a swapped model, the encodings that
    were swapped in. What cannot be read right is a ValueError with the reason.
    """
    if not hasattr(model, "config") or not isinstance(model, nn.Module):
        raise ValueError(
            f"a model of transformers is needed. Got {type(model).__name__} instead.\n"
            "  locant.hf.load(path) opens a checkpoint; locant.hf.read_config reads a config."
        )
    swapped = encodings_in_force(model)
    if swapped is not None:
        return swapped
    config = text_config(model.config)
    kind = family(config)
    encodings = described(config, kind)
    return read_modules(model, kind) if encodings is None else encodings


def encodings_in_force(model: nn.Module) -> list[Encoding] | None:
    """Return the encodings that were swapped into a model; None where it has its own."""
    swapped = getattr(model, SWAPPED, None)
    return None if swapped is None else list(swapped)


def read_modules(model: Any, kind: str) -> list[Encoding]:
    """Read what stands in a model's modules: tables at the input, or what acts on the scores."""
    config = text_config(model.config)
    if kind == "deberta":
        return read_deberta(model)
    if kind == "inkling":
        return read_inkling(model)
    return _read_t5(model, config) if kind == "t5" else _read_tables(model, config)


def position_tables(model: nn.Module) -> dict[str, nn.Module]:
    """Find the modules that hold a table of positions, encoders before decoders, by name."""
    found = {
        name: part
        for name, part in model.named_modules()
        if TABLE_NAMES.search(name) and table_of(part) is not None
    }
    return dict(sorted(found.items(), key=lambda item: "decoder" in item[0]))


def table_of(module: nn.Module) -> Tensor | None:
    """Return the vectors that a module holds, one a row: (rows, D)."""
    for name in ("weight", "weights"):
        table = getattr(module, name, None)
        if isinstance(table, Tensor) and table.dim() == 2:
            return table
    return None


def first_position(model: Any) -> int:
    """Return the row of its table that a model gives to the first token: 0, and 2 for RoBERTa."""
    for module in position_tables(model).values():
        padding: int | None = getattr(module, "padding_idx", None)
        offset: int | None = getattr(module, "offset", None)
        counts = hasattr(module, "create_position_ids_from_input_ids")
        if offset is not None and not counts:
            return offset
        if padding is not None:
            return padding + 1
    return STARTS.get(text_config(model.config).model_type, 0)


STARTS = {"yoso": 2}  # models that count from elsewhere without saying so in a module


def _read_tables(model: nn.Module, config: Any) -> list[Encoding]:
    tables = position_tables(model)
    if not tables:
        raise ValueError(
            f"no table of positions was found in {type(model).__name__}, though {config.model_type}"
            " should have one."
        )
    encodings: list[Encoding] = []
    for name, module in tables.items():
        table = table_of(module)
        assert table is not None
        encodings += [_learned(table, config)] * _layers(config, name, len(tables))
    return encodings


def _layers(config: Any, name: str, tables: int) -> int:
    """Count the layers of the stack that a table belongs to."""
    if tables == 1 and not config.is_encoder_decoder:
        return int(config.num_hidden_layers)
    stack = "decoder_layers" if "decoder" in name else "encoder_layers"
    return int(getattr(config, stack))


def _learned(table: Tensor, config: Any) -> Learned:
    rows, dim = table.shape
    heads = int(getattr(config, "num_attention_heads", 1))
    encoding = Learned(Shape(dim, heads if dim % heads == 0 else 1, rows))
    if not table.is_meta:
        encoding.table.data = table.detach().clone()
    return encoding


def _read_t5(model: nn.Module, config: Any) -> list[Encoding]:
    encodings: list[Encoding] = []
    current: Encoding | None = None
    blocks = re.compile(r"block\.\d+\.layer\.0\.SelfAttention$")
    for name, attention in model.named_modules():
        if not blocks.search(name):
            continue
        if attention.has_relative_attention_bias:
            current = _t5(attention, config)
        assert current is not None
        encodings.append(current)
    return encodings


def _t5(attention: Any, config: Any) -> T5:
    table = attention.relative_attention_bias.weight
    encoding = T5(
        Shape(config.num_heads * config.d_kv, config.num_heads),
        buckets=config.relative_attention_num_buckets,
        max_distance=config.relative_attention_max_distance,
        sides="behind" if attention.is_decoder else "both",
    )
    if not table.is_meta:
        encoding.table.data = table.detach().clone()
    return encoding
