"""What the catalog reads from source files equals what the classes are, and `make` refuses in
sentences."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

import locant
from locant.anomaly.detector.settings import Settings
from locant.encodings import registry as catalog
from locant.encodings.base import Encoding, overrides
from locant.encodings.claims import CLAIMS, HOOKS
from locant.lab.study import RowConfig
from locant.lab.study_files import read_study

NAMES = [
    "alibi",
    "continuous",
    "cope",
    "deberta",
    "dynamic",
    "erpe",
    "fire",
    "forgetting",
    "fourier",
    "hybrid",
    "inkling",
    "kerple",
    "learned",
    "log_cpb",
    "none",
    "pope",
    "relative",
    "rope_mixed",
    "rotary",
    "sandwich",
    "shaw",
    "sinusoidal",
    "swin",
    "t5",
    "tape",
    "time2vec",
    "transformer_xl",
    "xpos",
]
SMALL = {"dim": 16, "heads": 2, "length": 8}
every_name = pytest.mark.parametrize("name", locant.names())


def refused(call, *fragments):
    """The call is refused with a ValueError that says all of the fragments."""
    with pytest.raises(ValueError) as caught:
        call()
    assert [one for one in fragments if one not in str(caught.value)] == [], str(caught.value)


# ---------------------------------------------------------------- what is read is what is


def test_the_names_are_these():
    assert locant.names() == NAMES


def test_describing_every_encoding_imports_no_torch():
    code = (
        "import sys, locant.encodings.registry as c; [c.describe(n).parameters(c.Shape(64, 4)) "
        "for n in c.names()]"
    )
    subprocess.run(
        [sys.executable, "-c", f"{code}; assert not {{'torch', 'numpy'}} & set(sys.modules)"],
        check=True,
    )


@every_name
def test_what_describe_says_is_what_the_class_is(name):
    cls, said = catalog.load(name), catalog.describe(name)
    module = inspect.getmodule(cls)
    options = [p for p in inspect.signature(cls).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert said.claims == {claim: getattr(cls, claim) for claim in (*CLAIMS, "axes")}
    assert said.hooks == tuple(
        hook for hook in HOOKS if getattr(cls, hook) is not getattr(Encoding, hook)
    )
    assert said.hooks == tuple(
        hook for hook in HOOKS if overrides(locant.make(name, **SMALL), hook)
    )
    assert said.options == {option.name: option.default for option in options}
    assert (said.parameter_count, said.paper, said.class_name) == (
        cls.parameter_count,
        cls.paper,
        cls.__name__,
    )
    assert said.title == inspect.getdoc(module).split("\n")[0]
    assert said.path.samefile(module.__file__)
    assert "arXiv:" in said.paper


def test_the_claims_are_the_true_or_false_attributes_of_an_encoding():
    assert {key for key, value in vars(Encoding).items() if isinstance(value, bool)} == set(CLAIMS)
    assert set(HOOKS) <= set(vars(Encoding))


def test_claiming_lists_those_whose_class_claims_it():
    for claim in CLAIMS:
        assert catalog.claiming(claim) == [
            name for name in NAMES if getattr(catalog.load(name), claim)
        ]


def other_values(name, option, default):
    """Allowed values that are not the default: those a message lists for a word, larger ones for a
    number."""
    if isinstance(default, str):
        with pytest.raises(ValueError) as caught:
            locant.make(name, **SMALL, **{option: "?"})
        return [
            word for word in str(caught.value).split("Allowed: ")[1].split(", ") if word != default
        ]
    return [] if default is None else [default + 1, 2 * default]


@every_name
def test_the_learned_formula_counts_the_parameters_at_every_size_and_option(name):
    said = catalog.describe(name)
    settings = [
        {},
        *({o: value} for o, d in said.options.items() for value in other_values(name, o, d)),
    ]
    for dim, heads, length in [(16, 2, 8), (24, 3, 5), (8, 1, 33), (36, 3, 1)]:
        for options in settings:
            made = locant.make(name, dim=dim, heads=heads, length=length, **options)
            count = sum(weight.numel() for weight in made.parameters())
            assert said.parameters(locant.Shape(dim, heads, length), **options) == count, (
                dim,
                heads,
                length,
                options,
            )


@pytest.mark.parametrize(
    "name", [name for name in locant.names() if name not in ("rope_mixed", "rotary", "xpos")]
)  # which have no odd widths
def test_the_learned_formula_counts_the_parameters_of_odd_widths(name):
    count = sum(
        weight.numel() for weight in locant.make(name, dim=15, heads=3, length=7).parameters()
    )
    assert catalog.describe(name).parameters(locant.Shape(15, 3, 7)) == count


# ---------------------------------------------------------------- other words for a name

WORDS = {
    "rope": "rotary",
    "RoPE": "rotary",
    "NoPE": "none",
    "Sinusoid": "sinusoidal",
    "ALiBi": "alibi",
    "PoPE": "pope",
}


@pytest.mark.parametrize(
    ("word", "name"), [*WORDS.items(), *((name.upper(), name) for name in NAMES)]
)
def test_words_that_people_know_are_names_too(word, name):
    assert type(locant.make(word, **SMALL)) is catalog.load(name) is catalog.load(word)
    assert catalog.describe(word) == catalog.describe(name)


def test_no_other_word_is_a_name_of_another_encoding():
    assert set(catalog.ALIASES.values()) <= set(NAMES)
    assert not set(catalog.ALIASES) & set(NAMES)


def test_rows_of_a_study_go_by_the_name_whatever_word_was_asked_for():
    asked, meant = (
        read_study("order", changes={"encodings": rows})
        for rows in (["RoPE", "T5"], ["rotary", "t5"])
    )
    assert asked.rows() == meant.rows()
    row = RowConfig(name="turned", encoding="RoPE")
    assert (row.name, row.encoding) == ("turned", "rotary")
    assert Settings(encodings=("rope", "Rotary", "t5")).encodings == ("rotary", "t5")


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("rop", "rotary"), ("rotery", "rotary"), ("T-5", "t5"), ("sinusoids", "sinusoidal")],
)
def test_a_misspelt_name_is_answered_with_the_nearest(asked, meant):
    refused(
        lambda: locant.make(asked, dim=8), repr(asked), f"Did you mean {meant!r}?", ", ".join(NAMES)
    )


@pytest.mark.parametrize("asked", ["", "zebra", "base", "_tables", None, 5, "mine.txt:Mine"])
def test_a_name_that_is_none_is_refused(asked):
    refused(lambda: locant.make(asked, dim=8), repr(asked))


@every_name
def test_an_unknown_option_is_answered_with_the_list_of_options(name):
    listed = [f"{option}={default!r}" for option, default in catalog.describe(name).options.items()]
    refused(lambda: locant.make(name, dim=8, zebra=1), name, "'zebra'", *listed)


def test_a_misspelt_option_is_answered_with_the_nearest():
    refused(lambda: locant.make("rotary", dim=8, bse=1.0), "'bse'", "Did you mean 'base'?")


WRONG = ["x", "", -1, math.nan, -math.inf, True, None, [1], {}, 1j, b"half"]
NONE_TOO = {("deberta", "max_distance")}  # options that may be None though a number is the default
OPTIONS = [(name, option) for name in locant.names() for option in catalog.describe(name).options]


@pytest.mark.parametrize(
    ("name", "option"), OPTIONS, ids=[f"{name}.{option}" for name, option in OPTIONS]
)
def test_a_wrong_value_of_any_option_is_refused_by_its_name(name, option):
    default = catalog.describe(name).options[option]
    none_too = default is None or (name, option) in NONE_TOO
    wrong = [value for value in WRONG if not (value is None and none_too)]
    for value in wrong + ([0, 1.5] if isinstance(default, int) else [0]):
        refused(
            lambda value=value: locant.make(name, **SMALL, **{option: value}),
            name,
            option,
            repr(value),
        )


@pytest.mark.parametrize("option", ["dim", "heads", "length"])
@pytest.mark.parametrize("value", [*WRONG, 0, 1.5], ids=repr)
def test_a_wrong_size_is_refused_by_its_name(option, value):
    refused(lambda: locant.make("none", **{**SMALL, option: value}), option, repr(value))


SCALINGS = {
    "no length": ("original_length", {"type": "yarn", "factor": 2.0}),
    "length 0": ("original_length", {"type": "yarn", "factor": 2.0, "original_length": 0}),
    "length a word": (
        "original_length",
        {"type": "llama3", "factor": 2.0, "original_length": "long"},
    ),
    "negative length": (
        "original_length",
        {"type": "dynamic-ntk", "factor": 2.0, "original_length": -4},
    ),
    "beta a word": (
        "beta_fast",
        {"type": "yarn", "factor": 2.0, "original_length": 64, "beta_fast": "x"},
    ),
    "factor NaN": ("factor", {"type": "linear", "factor": math.nan}),
    "factor a word": ("factor", {"type": "ntk", "factor": "2"}),
    "short list": (
        "short",
        {"type": "longrope", "factor": 2.0, "original_length": 4, "short": [1.0], "long": [1.0]},
    ),
    "unknown type": ("Did you mean 'yarn'?", {"type": "yarm", "factor": 2.0}),
    "unknown setting": ("Did you mean 'factor'?", {"type": "linear", "factor": 2.0, "facter": 2.0}),
}


@pytest.mark.parametrize(("fragment", "scaling"), SCALINGS.values(), ids=SCALINGS)
def test_a_wrong_scaling_is_refused_when_it_is_made(fragment, scaling):
    refused(lambda: locant.make("rotary", **SMALL, scaling=scaling), fragment)


def test_a_scaling_of_two_dimensions_gives_finite_frequencies_or_is_refused():
    refused(
        lambda: locant.make("rotary", dim=2, scaling={"type": "ntk", "factor": 2.0}), "ntk", "width"
    )


def test_numbers_of_numpy_are_numbers():
    assert (
        locant.make("rotary", dim=np.int64(16), heads=np.int32(2), base=np.float32(500.0)).base
        == 500.0
    )


# ---------------------------------------------------------------- a user's own encoding

MINE = """
import torch
from locant.encodings.base import Encoding, difference

class Near(Encoding):
    shift_invariant = True
    parameter_count = "heads"
    def __init__(self, shape, *, price=1.0):
        super().__init__(shape)
        self.price = torch.nn.Parameter(torch.full((shape.heads, 1, 1), price))
    def bias(self, q_pos, k_pos):
        return -self.price * difference(q_pos, k_pos).abs()

class Plain:
    pass

class Count(Encoding):
    def bias(self, q_pos, k_pos):
        return -difference(q_pos, k_pos).abs()
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "mine.py"


def test_a_users_file_is_found_by_any_path_to_it(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv("HOME", str(mine.parent))
    for path in (mine, "mine.py", "./mine.py", f"../{mine.parent.name}/mine.py", "~/mine.py"):
        made = locant.make(f"{path}:Near", **SMALL, price=2.0)
        assert made.price.flatten().tolist() == [2.0, 2.0]
        said = catalog.describe(f"{path}:Near")
        assert (said.hooks, said.options, said.parameters(made.shape)) == (
            ("bias",),
            {"price": 1.0},
            2,
        )


def test_two_files_of_one_name_are_two_encodings(tmp_path):
    for folder, price in (("a", "3.0"), ("b", "5.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(MINE.replace("price=1.0", f"price={price}"))
    a, b = (locant.make(f"{tmp_path / folder}/mine.py:Near", **SMALL) for folder in "ab")
    assert (a.price[0].item(), b.price[0].item()) == (3.0, 5.0)
    assert [sys.modules[type(one).__module__].__file__[-9:] for one in (a, b)] == [
        "a/mine.py",
        "b/mine.py",
    ]


@pytest.mark.parametrize("asked", ["Near", "Count"])
@pytest.mark.parametrize("causal", [False, True])
def test_a_users_encoding_acts_in_attention(mine, asked, causal):
    q, k, v = torch.randn(3, 2, 2, 6, 8, dtype=torch.float64).unbind()
    pos = torch.tensor([0, 1, 2, 5, 6, 9])
    made = locant.make(f"{mine}:{asked}", **SMALL)
    scores = q @ k.mT / 8**0.5 - (pos[:, None] - pos).abs()
    if causal:
        scores = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -math.inf)
    out = locant.attend(q, k, v, encoding=made, q_pos=pos, k_pos=pos, causal=causal)
    assert torch.allclose(out, scores.softmax(-1) @ v)


def test_a_users_encoding_learns_in_a_transformer(mine):
    made = locant.make(f"{mine}:Near", **SMALL)
    model = locant.Transformer(
        made, layers=2, embed=nn.Embedding(7, 16), head=nn.Linear(16, 7), causal=True
    )
    tokens, before = torch.randint(7, (4, 9)), made.price.detach().clone()
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.05), []
    for _ in range(2):
        losses.append(
            nn.functional.cross_entropy(
                model(tokens, torch.arange(9)).flatten(0, 1), tokens.flatten()
            )
        )
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[1] < losses[0]
    assert not made.price.equal(before)


FILES = {
    "no file": (None, "Mine", "there is no file"),
    "no class": ("", "", "names no class", "mine.py:Mine"),
    "another class": (MINE, "Nier", "'Nier'", "Did you mean 'Near'?", "Near, Plain, Count"),
    "not an encoding": (
        MINE,
        "Plain",
        "Plain is not an encoding",
        "class Mine(Encoding)",
        "locant.adapt(",
    ),
    "bad syntax": ("class Mine(:\n", "Mine", "file.py", "invalid syntax", "line 1"),
    "raises": (
        "raise RuntimeError('no luck')\nclass Mine: pass\n",
        "Mine",
        "file.py",
        "RuntimeError: no luck",
    ),
    "exits": ("raise SystemExit(3)\nclass Mine: pass\n", "Mine", "file.py", "SystemExit"),
    "imports what is missing": (
        "import zebra_\nclass Mine: pass\n",
        "Mine",
        "file.py",
        "No module named 'zebra_'",
    ),
    "binary": (bytes(range(256)), "Mine", "file.py"),
    "empty": ("", "Mine", "file.py", "'Mine'", "none"),
    "needs an option": (MINE.replace("price=1.0", "price"), "Near", "Near", "price"),
    "formula of unknown names": (MINE.replace('"heads"', '"zebras"'), "Near", "zebras", "heads"),
    "formula that is none": (MINE.replace('"heads"', '"2 *"'), "Near", "2 *", "formula"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_users_file_that_cannot_serve_is_refused_in_a_sentence(tmp_path, case):
    text, class_name, *fragments = FILES[case]
    path = tmp_path / "file.py"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def use():
        name = f"{path}:{class_name}" if class_name else str(path)
        locant.make(name, **SMALL)
        catalog.describe(name).parameters(locant.Shape(16, 2))

    refused(use, *fragments)


def test_a_default_that_is_a_named_number_is_read(tmp_path):
    (tmp_path / "mine.py").write_text("PRICE = 4.0\n" + MINE.replace("price=1.0", "price=PRICE"))
    assert locant.make(f"{tmp_path}/mine.py:Near", **SMALL).price[0].item() == 4.0


def test_a_users_bias_of_a_wrong_shape_is_named(tmp_path):
    (tmp_path / "mine.py").write_text(
        MINE.replace("-self.price * difference(q_pos, k_pos).abs()", "torch.zeros(3)")
    )
    q, pos = torch.randn(1, 2, 4, 8), torch.arange(4)
    made = locant.make(f"{tmp_path}/mine.py:Near", **SMALL)
    refused(
        lambda: locant.attend(q, q, q, encoding=made, q_pos=pos, k_pos=pos),
        "Near.bias",
        "(3,)",
        "4, 4",
    )
