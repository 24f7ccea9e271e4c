"""`locant check` of checkpoints, as a user runs it: what it prints, writes and refuses."""

from __future__ import annotations

import json

import pytest
from planted_models import tiny_llama
from typer.testing import CliRunner

import locant
from locant.cli import check as check_command
from locant.cli.app import app
from locant.hf.checkpoints import single_files
from locant.hf.checkpoints.tiny import tiny_config


def check(*arguments):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def refused(*arguments):
    done = check(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    return done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "tiny"
    tiny_llama().save_pretrained(path)
    return path


def test_a_checkpoint_is_certified_and_failures_come_with_what_to_do(folder, tmp_path):
    page = tmp_path / "page.html"
    done = check(folder, "--only", "left,packed", "--html", page)
    assert done.exit_code == 1
    assert done.stdout.startswith("Certificate of tiny\nLlamaForCausalLM, decoder · layers 6")
    joined = " ".join(done.stdout.split())
    assert "✗ packed" in joined
    assert "What to do: Pass use_cache=False" in joined
    assert done.stdout.endswith("tiny: 1 holds, 1 FAIL: packed\n")
    text = page.read_text(encoding="utf-8")
    assert "What to do: Pass use_cache=False" in text
    assert "~ differs by nature" in text


def test_json_and_markdown_hold_the_same_findings(folder):
    (paper,) = json.loads(check(folder, "--only", "left", "--json").stdout)
    assert (paper["model"], paper["holds"], paper["fails"]) == ("tiny", ["left"], [])
    assert paper["versions"].keys() == {"locant", "transformers", "torch"}
    assert "| **left** | ✓" in check(folder, "--only", "left", "--markdown").stdout


def test_a_config_gives_a_small_model_with_random_weights(tmp_path):
    config = tmp_path / "config.json"
    tiny_config("gpt2").to_json_file(config)
    done = check("--config", config, "--only", "left,left-mask")
    assert done.exit_code == 1
    assert done.stdout.startswith("Certificate of gpt2 (small, random weights)")
    assert "1 FAIL: left-mask" in done.stdout


def test_bad_input_gets_a_sentence_and_nothing_is_written(folder, tmp_path):
    page = tmp_path / "page.html"
    assert "there is no folder or file" in refused("./nowhere", "--html", page)
    assert "no config.json" in refused(tmp_path, "--html", page)
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "lamma"}')
    assert "Did you mean" in refused(tmp_path, "--html", page)
    config.write_text('{"model_type": "mine", "auto_map": {"AutoModel": "mine.Mine"}}')
    assert "code of its own" in refused("--config", config, "--html", page)
    config.write_text(tiny_config("mamba").to_json_string())
    assert "no attention between tokens" in refused("--config", config, "--html", page)
    config.write_text((folder / "config.json").read_text())
    assert "no weights" in refused(tmp_path, "--html", page)
    weights = (folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    assert "cut short" in refused(tmp_path, "--html", page)
    assert not page.exists()


def test_without_transformers_or_gguf_a_sentence_says_what_to_install(
    folder, tmp_path, monkeypatch
):
    text = tmp_path / "mine.txt"
    text.write_text("some words")

    def hide(package, module):
        find = module.find_spec
        monkeypatch.setattr(
            module, "find_spec", lambda name: None if name == package else find(name)
        )

    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    hide("gguf", single_files)
    assert "GGUF files need gguf" in refused(tmp_path / "model.gguf")
    hide("transformers", locant.hf)
    assert "needs transformers, which is not installed" in refused(folder)
    done = CliRunner().invoke(app, ["extend", str(folder), "--data", str(text)])
    assert done.exit_code == 2
    assert "pip install 'locant[hf]'" in done.stderr


def test_a_file_that_exists_is_no_name_of_an_encoding(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "weights").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert "model.safetensors is no checkpoint" in refused("model.safetensors")
    assert "weights is no checkpoint" in refused("weights")
    (tmp_path / "rope").mkdir()
    assert check("rope", "--only", "order", "--quick").stdout.startswith("Certificate of rotary")


def test_a_checkpoint_takes_no_options_of_encodings_and_no_encodings_beside_it(folder):
    assert "a checkpoint has its own" in refused(folder, "--dim", "32")
    assert "Check them in two calls" in refused(folder, "rotary")
    assert "leave the other names out" in refused(folder, "--config", folder / "config.json")
    assert "no property is called 'lefft'" in refused(folder, "--only", "lefft")


def test_progress_names_a_checkpoint_by_the_last_part_of_its_path():
    seen = []
    show = check_command._reporter(
        lambda steps, text: seen.append((steps, text)), "/a/long/way/to/a.gguf"
    )
    show("left")
    assert seen == [(0, "a.gguf: left")]
