"""`locant extend`: a table, a verdict, files; bad input is a sentence, and nothing is written."""

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("transformers", reason="pip install 'locant[hf]' brings transformers")

from tiny_checkpoint import save_checkpoint, words

from locant.cli.app import app
from locant.hf.extending import extend_context


def run(*given):
    return CliRunner().invoke(app, ["extend", *map(str, given)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extend")
    save_checkpoint(folder / "llama")
    save_checkpoint(folder / "bloom", "bloom")
    save_checkpoint(folder / "neo", "gpt_neo")
    (folder / "mine.txt").write_text(words(127 * 7))
    (folder / "short.txt").write_text(words(20))
    (folder / "other.txt").write_bytes(b"\xff\xfe\x00w")
    return folder


def test_the_command_prints_a_table_and_writes_its_files(folder, tmp_path):
    out = tmp_path / "out"
    given = ["--data", folder / "mine.txt", "--to", "4x", "--search", "4", "--out", out]
    result = run(folder / "llama", *given, "--probe", "passkey")
    assert result.exit_code == 2, result.output  # a planted number does not fit into 32 tokens
    assert not out.exists()
    result = run(folder / "llama", *given)
    assert result.exit_code == 0, result.output
    for word in ("searched", "dynamic-ntk", "32 → 128 tokens", "6 documents", "documents"):
        assert word in result.stdout
    assert json.loads((out / "extension.json").read_text())["target"] == 128
    assert (out / "extension.png").stat().st_size > 10_000


def test_json_holds_every_entry(folder):
    given = ["--data", folder / "mine.txt", "--to", "64", "--methods", "yarn,linear"]
    result = run(folder / "llama", *given, "--search", "0", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found["methods"]) == {"none", "yarn", "linear"}
    assert found["methods"]["yarn"]["entry"]["rope_parameters"]["rope_type"] == "yarn"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["nowhere", "--data", "mine.txt"], "no folder or file"),
        (["llama", "--data", "nowhere.txt"], "no text file"),
        (["llama", "--data", "other.txt"], "no text in UTF-8"),
        (["llama", "--data", "short.txt"], "no document has 64 tokens"),
        (["llama", "--data", "mine.txt", "--to", "0.5x"], "more than 1x"),
        (["llama", "--data", "mine.txt", "--to", "wide"], "written as 4x"),
        (["llama", "--data", "mine.txt", "--methods", "yearn"], "Did you mean 'yarn'"),
        (["llama", "--data", "mine.txt", "--probe", "passport"], "passkey"),
        (["llama", "--data", "mine.txt", "--most", "0"], "leaves no document"),
        (["bloom", "--data", "mine.txt"], "no positions that could be extended"),
        (["neo", "--data", "mine.txt"], "GPTNeoForCausalLM cannot read 64 tokens"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(
    folder, tmp_path, monkeypatch, given, problem
):
    monkeypatch.chdir(folder)
    result = run(*given, "--out", tmp_path / "out", "--keep", tmp_path / "kept")
    assert result.exit_code == 2, result.output
    assert problem in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_architecture_is_named(folder, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "lama"}')
    result = run(tmp_path, "--data", folder / "mine.txt")
    assert result.exit_code == 2
    assert "lama" in result.stderr


def test_ctrl_c_leaves_nothing_behind(folder, tmp_path, monkeypatch):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(extend_context, "methods_for", interrupt)
    given = ["--data", folder / "mine.txt", "--out", tmp_path / "out"]
    result = run(folder / "llama", *given)
    assert result.exit_code == 130
    assert "nothing was written" in result.stderr
    assert list(tmp_path.iterdir()) == []
