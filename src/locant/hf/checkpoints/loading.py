"""Opening a checkpoint: a folder, a single file, or a config.json for random weights, built small.

A single file is a GGUF file, a RoBERTa of fairseq (.pt) or a Llama of llama2.c (.bin).

Nothing is downloaded, no code that comes with a checkpoint is run, and pickles are opened with
weights_only. What cannot be opened is a ValueError that says what is missing.
"""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from locant._internal.checks import did_you_mean
from locant.hf.checkpoints.complete import refuse_incomplete
from locant.hf.checkpoints.single_files import load_file, quiet_loading
from locant.hf.checkpoints.tiny import shrink

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


def load(source: str | Path, *, seed: int = 0) -> PreTrainedModel:
    """Open a checkpoint as a model in float32, ready for inference.

    source  a folder with config.json and weights; a file that ends in .gguf; a RoBERTa of fairseq
            (.pt) or a Llama of llama2.c (.bin); or a config file that ends in .json, whose model is
            built small, with random weights (`seed`)
    """
    path = Path(source)
    if not path.exists():
        raise ValueError(
            f"there is no folder or file {str(source)!r}.\n"
            "  Give a folder with config.json and weights, a .gguf file, or a config.json."
        )
    if path.suffix == ".json" and path.is_file():
        return _build_small(load_config(path), seed)
    if path.is_file():
        return load_file(path)
    config = load_config(path)
    refuse_incomplete(path)
    model, seen = _load_folder(path, config)
    missing = sorted(seen["missing_keys"])
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(
            f"the weights in {str(path)!r} lack {missing[0]}{more}, which {type(model).__name__} "
            "needs; random numbers would stand in their place.\n"
            "  Download the checkpoint again, or let config.json name the architecture of its "
            "weights."
        )
    return model.eval()


def _load_folder(path: Path, config: PreTrainedConfig) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Load the weights of a folder; return the model and what transformers says of the weights."""
    try:
        with quiet_loading():
            return model_class(config).from_pretrained(
                path,
                config=config,
                dtype=torch.float32,
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                weights_only=True,
            )
    except (pickle.UnpicklingError, RuntimeError, KeyError, OSError, EOFError) as problem:
        raise ValueError(
            f"the weights in {str(path)!r} cannot be loaded: {_reason(problem)}.\n"
            "  Download the checkpoint again, or load it yourself, and give the model: "
            "locant.hf.certify(model)"
        ) from None


def _reason(problem: Exception) -> str:
    text = str(problem)
    if "ignore_mismatched_sizes" in text:
        return "their shapes are not those that config.json says"
    if "unsupported global" in text.lower():
        return "they are a pickle with objects in it, which are never made here"
    if isinstance(problem, pickle.UnpicklingError | KeyError | EOFError):
        return "they are no pickle of weights, or cut short"
    return text.strip().splitlines()[0].rstrip(".") if text.strip() else type(problem).__name__


def load_config(source: str | Path) -> PreTrainedConfig:
    """Open the config of a checkpoint folder, or a config file; refuse what needs code of its
    own."""
    path = Path(source)
    file = path / "config.json" if path.is_dir() else path
    if not file.exists():
        raise ValueError(
            f"{str(path)!r} has no config.json, so it is no checkpoint of transformers, or only "
            f"half of one was downloaded.{_files_to_give(path)}"
        )
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{file} is no JSON: {problem}.") from None
    return config_from_dict(values)


def _files_to_give(folder: Path) -> str:
    """Name the files of a folder without a config.json that may be checkpoints by themselves."""
    files = [file for file in sorted(folder.glob("*")) if file.suffix in (".gguf", ".pt", ".bin")]
    if not files:
        return ""
    some = ", ".join(file.name for file in files[:4]) + (" …" if len(files) > 4 else "")
    return f"\n  It holds {some}. If one of them is a checkpoint by itself, give it: {files[0]}"


def config_from_dict(values: dict[str, Any]) -> PreTrainedConfig:
    """Build the config object of a config's values; a ValueError for an unknown model type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    model_type = values.get("model_type") if isinstance(values, dict) else None
    if not model_type:
        raise ValueError("the config does not say its model_type, so no model can be built of it.")
    if values.get("auto_map") and not _is_known(model_type, values.get("architectures")):
        raise ValueError(
            f"this {model_type!r} checkpoint comes with code of its own (auto_map), which is never "
            "run here.\n  Load it yourself, and give the model: locant.hf.certify(model)"
        )
    if model_type not in CONFIG_MAPPING:
        raise ValueError(
            f"the installed transformers knows no model_type {model_type!r}."
            f"{did_you_mean(model_type, CONFIG_MAPPING.keys())}"
        )
    try:
        return CONFIG_MAPPING[model_type].from_dict(deepcopy(values))  # it writes into them
    except Exception as problem:  # what a config class raises for wrong values is open
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise ValueError(f"the config of this {model_type} is wrong: {reason}") from None


def _is_known(model_type: str, architectures: Any) -> bool:
    """Tell whether the installed transformers has the model type, and a class of its weights."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    named = architectures if isinstance(architectures, list) else []
    known = not named or any(hasattr(transformers, str(name)) for name in named)
    return model_type in CONFIG_MAPPING and known


def model_class(config: PreTrainedConfig) -> Any:
    """Return the class that a config's weights belong to: the architecture it names, else the
    language model of its model type (one that fills masks unless the config says is_decoder)."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    for name in config.architectures or ():
        if hasattr(transformers, name):
            return getattr(transformers, name)
    heads = ["CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM"]
    if config.is_encoder_decoder:
        heads.reverse()
    elif not getattr(config, "is_decoder", False):
        heads.sort(key="MASKED_LM".__ne__)
    mappings = [getattr(auto, f"MODEL_FOR_{head}_MAPPING") for head in heads]
    for mapping in (*mappings, auto.MODEL_MAPPING):
        if type(config) in mapping:
            cls = mapping[type(config)]
            return cls[0] if isinstance(cls, tuple) else cls
    raise ValueError(f"transformers has no text model for the model_type {config.model_type!r}.")


def _build_small(config: PreTrainedConfig, seed: int) -> PreTrainedModel:
    """Build the model of a config small; what a config class raises then is open, so a sentence
    stands for it."""
    try:
        with quiet_loading():
            return build(shrink(config), seed=seed)
    except Exception as problem:
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise ValueError(
            f"no small model could be built of this {config.model_type} config: {lines[-1]}\n"
            "  Build it yourself at a size that it allows, and give the model."
        ) from problem


def build(config: PreTrainedConfig, *, seed: int = 0) -> PreTrainedModel:
    """Build the model of a config with random weights drawn from a seed, in float32."""
    cls = model_class(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return cls(config).float().eval()
