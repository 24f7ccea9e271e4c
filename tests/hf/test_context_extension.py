"""Ways to read past a trained length, compared on documents; nothing is claimed of too few."""

import json

import numpy as np
import pytest
import torch
from tiny_checkpoint import LENGTH, save_checkpoint, words

import locant
from locant.encodings._rope import scalings
from locant.hf.checkpoints import loading
from locant.hf.checkpoints.tokenizer_files import load_tokenizer
from locant.hf.extending import context_methods, extend_context, passkey, token_scores
from locant.hf.extending.context_methods import (
    Method,
    applied,
    context_of,
    methods_for,
    searched_method,
)
from locant.hf.extending.extension_result import Extension
from locant.hf.extending.factor_search import change, starting_points
from locant.hf.extending.text_documents import read_documents
from locant.hf.swapping.position_sources import find_rotary, find_tables

pytest.importorskip("transformers", reason="pip install 'locant[hf]' brings transformers")

FACTOR = 4.0


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "mine.txt"
    file.write_text(words(127 * 8 + 5))
    return file


def rotary_methods(model):
    context = context_of(model)
    width = context_methods.rotated_width(model)
    factors = [1.0 + number / width for number in range(width // 2)]
    return [
        *methods_for(model, context, FACTOR),
        searched_method(model, context, FACTOR, factors, 1.1),
    ]


def some_ids(length, seed=0):
    return torch.randint(3, 60, (length,), generator=torch.Generator().manual_seed(seed))


def test_a_model_in_train_mode_is_compared_without_dropout_and_stays_in_it(tmp_path, text):
    folder = save_checkpoint(tmp_path, "gpt2", attn_pdrop=0.5, embd_pdrop=0.5, resid_pdrop=0.5)
    given = {"to": 2 * LENGTH, "tokenizer": load_tokenizer(folder), "methods": ["interpolated"]}
    model = loading.load(folder)
    wanted = locant.hf.extend(model, text, **given)
    found = locant.hf.extend(model.train(), text, **given)
    assert found.to_dict() == wanted.to_dict()
    assert model.training


@pytest.mark.parametrize("length", [LENGTH, 4 * LENGTH])
def test_a_methods_entry_in_config_json_gives_the_bits_that_were_measured(llama, tmp_path, length):
    model, ids = loading.load(llama), some_ids(length)
    methods = rotary_methods(model)
    assert len(methods) == 7
    for method in methods:
        with applied(model, method):
            measured = token_scores.token_bits(model, ids)
        model.save_pretrained(tmp_path)
        file = tmp_path / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | method.entry))
        loaded = token_scores.token_bits(loading.load(tmp_path), ids)
        np.testing.assert_allclose(loaded, measured, atol=2e-5, err_msg=method.name)


def test_dynamic_ntk_reads_the_whole_document_as_ntk_does(llama, text):
    model, ids = loading.load(llama), some_ids(4 * LENGTH)
    by_name = {method.name: method for method in rotary_methods(model)}
    measured = {}
    for name in ("none", "ntk", "dynamic-ntk"):
        with applied(model, by_name[name]):
            measured[name] = token_scores.token_bits(model, ids)
    np.testing.assert_array_equal(measured["dynamic-ntk"], measured["ntk"])
    assert np.abs(measured["ntk"] - measured["none"]).max() > 1e-3
    # so that its passes serve for both, and each alone gives the same scores
    both = locant.hf.extend(llama, text, to="4x", methods=["ntk", "dynamic-ntk"], search_steps=0)
    alone = locant.hf.extend(llama, text, to="4x", methods=["dynamic-ntk"], search_steps=0)
    assert by_name["dynamic-ntk"].same_at_target == "ntk"
    for scores in ("near", "far"):
        found, own = (getattr(one, scores)["dynamic-ntk"] for one in (both, alone))
        np.testing.assert_array_equal(found, own)
    np.testing.assert_array_equal(both.far["dynamic-ntk"], both.far["ntk"])


def test_methods_turn_by_the_frequencies_of_locants_own_scalings(llama):
    model = loading.load(llama)
    width, base = context_methods.rotated_width(model), model.config.rope_parameters["rope_theta"]
    own = {
        "linear": scalings.Linear(FACTOR),
        "ntk": scalings.Ntk(FACTOR),
        "yarn": scalings.Yarn(FACTOR, LENGTH),
    }
    by_name = {method.name: method for method in rotary_methods(model)}
    for name, scaling in own.items():
        with applied(model, by_name[name]):
            found = find_rotary(model)[0][2].inv_freq
        expected = scaling.frequencies(width, base, torch.tensor(0.0)).float()
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)
    with applied(model, by_name["dropped"]):
        assert find_rotary(model)[0][2].inv_freq.max() < 1e-20


@pytest.mark.parametrize("model_type", ["llama", "gpt2", "bert"])
def test_a_model_is_as_it_was_after_every_method(tmp_path, model_type):
    model = loading.load(save_checkpoint(tmp_path, model_type))
    ids = some_ids(LENGTH)[None]
    before = model(ids)[0]
    for method in methods_for(model, context_of(model), FACTOR):
        with pytest.raises(KeyError), applied(model, method):
            raise KeyError
    assert torch.equal(model(ids)[0], before)
    assert context_of(model).trained == LENGTH


def test_bits_are_those_of_the_whole_logits(llama):
    model, ids = loading.load(llama), some_ids(40)
    logits = model(ids[None]).logits[0, :-1].double()
    expected = -logits.log_softmax(-1).gather(-1, ids[1:, None])[:, 0] / np.log(2)
    np.testing.assert_allclose(token_scores.token_bits(model, ids), expected.detach(), atol=1e-5)


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "roberta"])
def test_a_longer_table_begins_and_ends_as_the_trained_one(tmp_path, model_type):
    model = loading.load(save_checkpoint(tmp_path, model_type))
    _, _, table = find_tables(model)[0]
    first = context_methods.first_row(table)
    assert first == (2 if model_type == "roberta" else 0)
    trained = table.weight.detach()
    _, interpolated, repeated = methods_for(model, context_of(model), FACTOR)
    longer = context_methods.longer_table(table, interpolated).weight
    again = context_methods.longer_table(table, repeated).weight
    rows = len(trained) - first
    assert len(longer) == len(again) == first + FACTOR * rows
    assert torch.equal(longer[: first + 1], trained[: first + 1])
    torch.testing.assert_close(longer[-1], trained[-1])
    assert torch.equal(again[first : first + 2 * rows], trained[first:].repeat(2, 1))


@pytest.mark.parametrize(
    ("cut", "content", "count"),
    [
        ("windows", words(35), 3),
        ("files", words(35), 1),
        ("blank-lines", f"{words(12)}\n\n{words(3)}\n \n{words(30)}", 2),
        ("=====", f"{words(12)}====={words(12)}====={words(12)}", 3),
    ],
)
def test_a_text_is_cut_as_the_user_says(llama, tmp_path, cut, content, count):
    file = tmp_path / "a.txt"
    file.write_text(content)
    tokenizer = load_tokenizer(llama)
    found = read_documents([file], tokenizer, 11, cut=cut)
    assert len(found.documents) == count
    assert all(len(document.ids) == 11 for document in found.documents)
    assert all(document.ids[0] == 1 for document in found.documents)
    assert found.too_short == (cut == "blank-lines")
    assert str(count) in found.describe(11)


def test_windows_are_consecutive_and_never_overlap(llama, text):
    tokenizer = load_tokenizer(llama)
    found = read_documents([text], tokenizer, 11)
    joined = torch.cat([document.ids[1:] for document in found.documents]).tolist()
    assert joined == tokenizer(text.read_text()).input_ids[1:][: len(joined)]
    assert len(read_documents([text], tokenizer, 11, most=4).documents) == 4


def test_every_method_is_compared_and_search_documents_are_not_reported(llama, text):
    found = locant.hf.extend(llama, text, to="4x", search_steps=5)
    assert found.target == 4 * LENGTH
    methods = {"none", "linear", "ntk", "dynamic-ntk", "yarn", "dropped", "searched"}
    assert set(found.far) == set(found.near) == methods
    assert len(found.names) == 7
    assert not any(name in found.notes[0] for name in found.names)
    assert found.near["dynamic-ntk"] == pytest.approx(found.near["none"])
    header, lines = found.table()
    assert len(lines) == 7
    assert all(len(line) == len(header) for line in lines)
    assert len(found.plot()) == 2


def test_scores_are_of_the_tokens_before_and_past_the_trained_length(llama, text):
    found = locant.hf.extend(llama, text, to="4x", methods=["ntk"], search_steps=0)
    model, tokenizer = loading.load(llama), load_tokenizer(llama)
    ids = read_documents([text], tokenizer, 4 * LENGTH).documents[2].ids
    bits = token_scores.token_bits(model, ids)
    assert found.near["none"][2] == pytest.approx(bits[: LENGTH - 1].mean(), abs=1e-5)
    assert found.far["none"][2] == pytest.approx(bits[LENGTH - 1 :].mean(), abs=1e-5)


def test_fewer_than_six_documents_claim_nothing(llama, text, tmp_path):
    found = locant.hf.extend(llama, text, to="4x", search_steps=0, most=5)
    assert "No conclusion is possible with 5 documents" in found.verdict
    assert found.winner is None
    assert found.entry is None
    files = found.save(tmp_path)
    assert sorted(file.name for file in files) == ["extension.json", "extension.png"]


def test_kept_passes_are_not_computed_again(llama, text, tmp_path, monkeypatch):
    settings = {"to": "4x", "search_steps": 4, "keep": tmp_path, "most": 4}
    first = locant.hf.extend(llama, text, **settings)
    unkept = locant.hf.extend(llama, text, **(settings | {"keep": None}))
    assert first.to_dict() == unkept.to_dict()

    def refuse(*given):
        raise AssertionError("a pass was computed again")

    monkeypatch.setattr(token_scores, "token_bits", refuse)
    again = locant.hf.extend(llama, text, **settings)
    assert again.to_dict() == first.to_dict()
    monkeypatch.undo()
    files = sorted(tmp_path.glob("*.npy"))
    files[0].write_bytes(b"")
    files[1].write_bytes(files[1].read_bytes()[:-9])
    np.save(files[2], np.zeros(3))
    assert locant.hf.extend(llama, text, **settings).to_dict() == first.to_dict()
    monkeypatch.setattr(token_scores, "token_bits", refuse)
    with pytest.raises(AssertionError):
        locant.hf.extend(llama, text, **(settings | {"to": "3x"}))


@pytest.mark.parametrize("model_type", ["bert", "gpt2"])
def test_tables_are_extended_and_written(tmp_path, text, model_type):
    found = locant.hf.extend(save_checkpoint(tmp_path / "m", model_type), text, to="4x")
    assert set(found.far) == {"interpolated", "repeated"}
    assert found.metric == ("bits a token" if model_type == "gpt2" else "cosine")
    if model_type == "bert":
        assert found.near["repeated"] == pytest.approx(1.0, abs=1e-5)
    tables = found.longer_tables["interpolated"]
    assert next(iter(tables.values())).shape[0] == 4 * LENGTH


def test_the_legend_of_the_picture_lies_beside_the_lines(llama, text):
    found = locant.hf.extend(llama, text, to="4x", search_steps=0, most=2)
    panel = found.plot()[-1]
    panel.figure.canvas.draw()
    legend, lines = panel.get_legend().get_window_extent(), panel.get_window_extent()
    assert legend.x0 >= lines.x1


def extension_of(far, near=None):
    near = {name: values - 0.1 for name, values in far.items()} if near is None else near
    return Extension(
        checkpoint="m",
        trained=10,
        target=40,
        metric="bits a token",
        documents="",
        names=[],
        methods=[Method("none"), Method("ntk", {"max_position_embeddings": 40}), Method("yarn")],
        near=near,
        far=far,
        lengths={name: {10: near[name], 40: values} for name, values in far.items()},
        curves={},
    )


def test_the_winner_is_better_than_none_in_more_than_a_few_documents():
    none = np.linspace(3.0, 4.0, 10)
    clear = extension_of({"none": none, "ntk": none - 0.5, "yarn": none - 0.1})
    assert clear.winner == "ntk"
    assert clear.entry == {"max_position_embeddings": 40}
    assert "ntk is best" in clear.verdict
    assert "At the trained length ntk changes the score by -0.500" in clear.verdict
    few = {"none": none[:5], "ntk": none[:5] - 0.5, "yarn": none[:5] - 0.1}
    assert extension_of(few).winner is None
    noise = np.array([0.3, -0.3] * 5)
    open_ = extension_of({"none": none, "ntk": none + noise, "yarn": none + 0.5})
    assert open_.winner is None
    assert "nconclusive" in open_.verdict
    worse = extension_of({"none": none, "ntk": none + 0.5, "yarn": none + 0.7})
    assert worse.winner is None
    assert "No method helps" in worse.verdict


def test_searched_factors_never_fall_with_slower_pairs():
    random = np.random.default_rng(0)
    candidate = starting_points(16, 10_000.0, 4.0, 64)[1]
    for _ in range(50):
        candidate = change(candidate, 4.0, random)
        assert (np.diff(candidate.factors) >= 0).all()
        assert min(candidate.factors) >= 1.0
        assert candidate.scale >= 1.0


def test_a_planted_number_stands_at_its_depth_and_ends_the_text():
    class Letters:
        """A tokenizer of single characters."""

        def __call__(self, text, **more):
            return {"input_ids": [ord(letter) for letter in text]}

    document = torch.full((400,), ord("."))
    ids, count = passkey.planted(Letters(), document, 300, 0.5, 12345)
    text = "".join(chr(number) for number in ids)
    assert len(ids) == 300
    assert text[-count:] == " 12345"
    assert text.endswith("The pass key is 12345")
    assert 60 < text.index("The pass key is 12345") < 180

    class Copies:
        """A model whose first choice is right for the tokens that it is told."""

        def __init__(self, ids, right):
            self.ids, self.right = ids, right

        def __call__(self, given, use_cache, logits_to_keep):
            logits = torch.zeros(1, logits_to_keep, 128)
            wanted = self.ids[-logits_to_keep + 1 :] + (not self.right)
            logits[0, torch.arange(len(wanted)), wanted] = 1.0
            return type("Answer", (), {"logits": logits})

    assert passkey.retrieves(Copies(ids, True), ids, count)
    assert not passkey.retrieves(Copies(ids, False), ids, count)


@pytest.mark.parametrize("to", ["1x", "0.5x", "16", "-4x", "far", "nanx"])
def test_a_length_that_is_no_extension_is_refused(to):
    with pytest.raises(ValueError, match="extend"):
        extend_context.target_length(to, 512)


def test_a_trained_length_that_cannot_be_is_refused(llama, text, tmp_path):
    with pytest.raises(ValueError, match=r"at least 2 for trained\. Got 0"):
        locant.hf.extend(llama, text, trained=0)
    model = loading.load(save_checkpoint(tmp_path, "gpt2"))
    assert context_of(model, LENGTH).trained == LENGTH
    with pytest.raises(ValueError, match=f"has a table of {LENGTH} positions"):
        context_of(model, 2 * LENGTH)
