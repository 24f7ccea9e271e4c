"""Checkpoints are opened as they are, or refused with a sentence before anything is loaded."""

import json
import os
import struct
import subprocess
import sys

import pytest
import torch
import transformers

from locant import hf
from locant.hf.checkpoints.loading import load_config
from locant.hf.checkpoints.tiny import shrink, tiny_config
from locant.hf.checkpoints.tokenizer_files import load_tokenizer


@pytest.fixture
def folder(tmp_path):
    """A whole checkpoint of a tiny Llama in two shards."""
    model = transformers.LlamaForCausalLM(tiny_config("llama", num_hidden_layers=2))
    model.save_pretrained(tmp_path, max_shard_size="60KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    return tmp_path


def test_a_folder_is_opened_with_its_weights(folder):
    first, second = hf.load(folder), hf.load(folder)
    assert type(first).__name__ == "LlamaForCausalLM"
    assert not first.training
    assert all(map(torch.equal, first.parameters(), second.parameters()))


def test_missing_and_cut_shards_are_named(folder):
    shards = sorted(folder.glob("model-*.safetensors"))
    whole = shards[1].read_bytes()
    shards[1].write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=rf"{shards[1].name} is cut short: .* bytes of"):
        hf.load(folder)
    shards[1].write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(ValueError, match="only a pointer to weights"):
        hf.load(folder)
    shards[1].unlink()
    with pytest.raises(ValueError, match=rf"lacks 1 of its {len(shards)} shards: {shards[1].name}"):
        hf.load(folder)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("model.safetensors", struct.pack("<Q", 7) + b"[1,2,3]", "has no header of safetensors"),
        ("model.safetensors", struct.pack("<Q", 7) + b'{"a":1}', "has no header of safetensors"),
        ("model.safetensors", b"", "is cut short: 0 bytes"),
        ("model.safetensors.index.json", b"{}", "is no index of shards"),
        ("model.safetensors.index.json", b"{", "is no index of shards"),
        ("pytorch_model.bin", b"hello", "no pickle of weights, or cut short"),
        ("pytorch_model.bin", b"", "pytorch_model.bin is empty"),
    ],
)
def test_weights_that_are_no_weights_get_a_sentence(tmp_path, name, content, sentence):
    tiny_config("llama").save_pretrained(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        hf.load(tmp_path)


def test_objects_in_pytorch_model_bin_are_never_made(tmp_path):
    tiny_config("llama").save_pretrained(tmp_path)
    torch.save({"weight": os.system}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match="a pickle with objects in it, which are never made"):
        hf.load(tmp_path)


def test_weights_and_config_must_agree(folder):
    file = folder / "config.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"vocab_size": 50}))
    with pytest.raises(ValueError, match=r"shapes are not those that config\.json says"):
        hf.load(folder)
    file.write_text(json.dumps(values | {"hidden_size": "x"}))
    with pytest.raises(ValueError, match=r"config of this llama is wrong: .*hidden_size"):
        hf.load(folder)


def test_weights_that_a_file_does_not_hold_are_never_random(tmp_path):
    from safetensors.torch import load_file, save_file

    model = transformers.LlamaForCausalLM(tiny_config("llama", num_hidden_layers=2))
    model.save_pretrained(tmp_path)
    held = load_file(tmp_path / "model.safetensors")
    del held["model.layers.1.self_attn.q_proj.weight"]
    save_file(held, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"lack model.layers.1.self_attn.q_proj.weight"):
        hf.load(tmp_path)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no folder or file"):
        hf.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"has no config\.json"):
        hf.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ValueError, match="but no weights"):
        hf.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": ')
    with pytest.raises(ValueError, match="is no JSON"):
        hf.load(tmp_path)
    (tmp_path / "weights.bin").write_bytes(b"0")
    with pytest.raises(ValueError, match=r"weights.bin is no checkpoint"):
        hf.load(tmp_path / "weights.bin")
    (tmp_path / "half.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(ValueError, match=r"half.gguf cannot be opened as a GGUF checkpoint"):
        hf.load(tmp_path / "half.gguf")


def test_code_that_comes_with_a_checkpoint_is_never_run(tmp_path):
    config = {"model_type": "own", "auto_map": {"AutoModelForCausalLM": "model.Own"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(ValueError, match="comes with code of its own"):
        hf.load(tmp_path)


def test_code_under_a_known_model_type_is_not_passed_over(folder):
    file = folder / "config.json"
    values = json.loads(file.read_text()) | {"auto_map": {"AutoModelForCausalLM": "model.Own"}}
    file.write_text(json.dumps(values))
    assert type(hf.load(folder)).__name__ == "LlamaForCausalLM"  # transformers' own class fits
    file.write_text(json.dumps(values | {"architectures": ["OwnForCausalLM"]}))
    with pytest.raises(ValueError, match="'llama' checkpoint comes with code of its own"):
        hf.load(folder)


def test_a_checkpoint_without_a_tokenizer_says_so(folder):
    with pytest.raises(ValueError, match=r"no tokenizer.*there is no tokenizer\.json"):
        load_tokenizer(folder)
    settings = {"tokenizer_class": "T", "auto_map": {"AutoTokenizer": ["model.T", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "model.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(ValueError, match="code of its own, which is never run here"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    "model_type", ["llama", "gemma3_text", "phi3", "bert", "gpt2", "gemma4_text"]
)
def test_a_config_file_gives_a_small_model_that_says_the_same_of_its_positions(
    model_type, tmp_path
):
    config = transformers.CONFIG_MAPPING[model_type]()
    config.to_json_file(tmp_path / "config.json")
    small = shrink(load_config(tmp_path / "config.json"))
    model = hf.load(tmp_path / "config.json")
    assert sum(weight.numel() for weight in model.parameters()) < 60_000_000
    for one, other in zip(hf.read_config(small), hf.read_config(config), strict=False):
        assert one.shape.length == other.shape.length
        assert one.config().keys() == other.config().keys()
        same = [key for key in one.config() if key not in ("dim", "heads")]
        assert [one.config()[key] for key in same] == [other.config()[key] for key in same]


def test_a_config_that_cannot_be_made_small_is_refused(tmp_path):
    transformers.CONFIG_MAPPING["mamba"]().to_json_file(tmp_path / "config.json")
    with pytest.raises(ValueError, match="no small model could be built of this mamba config"):
        hf.load(tmp_path / "config.json")


def test_importing_the_room_imports_no_transformers():
    code = "import sys, locant; locant.hf; dir(locant.hf); assert 'transformers' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_transformers_a_sentence_says_how_to_get_it():
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'transformers' else find(name, *a)\n"
        "import locant\n"
        "try: locant.hf.read\n"
        "except ImportError as problem: print(problem)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'locant[hf]'" in ran.stdout, ran.stderr
