"""The formulas that are shown are read as they are printed, and give what the encodings give."""

from __future__ import annotations

import math
import re

import pytest
import torch
from common_show import WORDS, numbers, show

import locant
from locant.attention import explicit
from locant.encodings.registry import describe

PAIRED = {
    "rotary": "pairing",
    "sinusoidal": "layout",
}  # an encoding of pairs, and its option that says which
SIGNS = {
    "·": "*",
    "−": "-",
    "^": "**",
    "⌈": "math.ceil(",
    "⌉": ")",
    "√d": "math.sqrt(d)",
    "θ_c": "theta",
    "ω_c": "omega",
}


def value(text, **letters):
    """What a printed formula gives when its letters are these."""
    for sign, word in SIGNS.items():
        text = text.replace(sign, word)
    text = re.sub(r"(\d)([a-z])", r"\1*\2", text)  # 2c
    text = re.sub(r"\b([qk])_([abc])\b", r"\1[\2]", text)  # q_a
    known = {
        "math": math,
        "cos": math.cos,
        "sin": math.sin,
        "softplus": lambda x: math.log1p(math.exp(x)),
    }
    return eval(text, known, letters)


def line(text, start):
    """The right side of the printed formula that starts so; it may go on in a line with a +."""
    text = re.sub(r"\n\s*\+ ", " + ", text)
    (found,) = re.findall(rf"{re.escape(start)} = (.+?)(?:,? {{2,}}.*)?$", text, flags=re.MULTILINE)
    return found


def shown_pair(text, name, choice, c, **widths):
    """The pair (a, b) of number c that the printed formula names for this choice of the option."""
    named = dict(re.findall(rf'\(([^()]+)\) for {PAIRED[name]}="(\w+)"', text))
    pairs = {word: pair for pair, word in named.items()}
    return tuple(int(one) for one in value(pairs[choice], c=c, **widths))


@pytest.mark.parametrize("name", locant.names())
def test_positions_are_m_and_n_in_every_formula_and_no_other_letter(name):
    formula = "\n".join(describe(name).formula)
    assert not re.search(r"(?<![A-Za-z])[ij]{1,2}(?![A-Za-z])", formula)
    assert all(positions == "m, n" for positions in re.findall(r"score(?:_h)?\((.*?)\) =", formula))


@pytest.mark.parametrize("name", PAIRED)
def test_the_pairing_called_the_default_is_the_default(name):
    (named,) = re.findall(rf'for {PAIRED[name]}="(\w+)", the default', show(name, *WORDS))
    assert named == describe(name).options[PAIRED[name]]


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("base", [10_000, 1])  # with base 1 all pairs turn alike
@pytest.mark.parametrize("width", [4, 6, 8])
def test_the_pair_that_rotary_names_is_the_pair_that_it_turns(pairing, width, base):
    text = show(
        "rotary", "--width", width, "--set", f"pairing={pairing}", "--set", f"base={base}", *WORDS
    )
    formula = [shown_pair(text, "rotary", pairing, c, d=width) for c in range(width // 2)]
    worked = [(int(a), int(b)) for a, b in re.findall(r"pair \((\d+), (\d+)\) rotates", text)]
    rotary = locant.make("rotary", dim=width, pairing=pairing, base=base)
    one_by_one, pos = torch.eye(width, dtype=torch.float64)[None, None], torch.full((width,), 3)
    turned = rotary.rotate(one_by_one, one_by_one, pos, pos)[0][0, 0]
    changed = [
        tuple(row.nonzero().flatten().tolist()) for row in turned
    ]  # by each coordinate alone
    assert formula == worked
    assert sorted(formula * 2) == sorted(changed)


def given(encoding, q, k, m, n):
    """The score that an encoding of one head gives to a query at m and a key at n."""
    q, k = q.view(1, 1, 1, -1), k.view(1, 1, 1, -1)
    return explicit(
        q, k, k, encoding=encoding, q_pos=torch.tensor([m]), k_pos=torch.tensor([n])
    ).scores.item()


@pytest.fixture
def contents():
    """A query and a key of width 8."""
    return torch.randn(2, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_the_score_that_rotary_shows_is_the_score_that_it_gives(contents, pairing):
    (q, k), d, m, n = contents, 8, 11, 4
    text = "\n".join(describe("rotary").formula)
    term = line(text, "score(m, n)").removeprefix("Σ_c ")
    shown = 0.0
    for c in range(d // 2):
        a, b = shown_pair(text, "rotary", pairing, c, d=d)
        theta = value(line(text, "θ_c"), base=10_000, c=c, d=d)
        shown += value(term, q=q.tolist(), k=k.tolist(), a=a, b=b, theta=theta, m=m, n=n, d=d)
    assert shown == pytest.approx(
        given(locant.make("rotary", dim=d, pairing=pairing), q, k, m, n), abs=1e-9
    )


def test_the_score_that_pope_shows_is_the_score_that_it_gives(contents):
    (q, k), d, m, n = contents, 8, 11, 4
    text = "\n".join(describe("pope").formula)
    term = line(text, "score_h(m, n)").removeprefix("Σ_c ").replace("δ_hc", "delta")
    pope = locant.make("pope", dim=d).double()
    torch.nn.init.constant_(pope.delta, -0.5)
    shown = 0.0
    for c in range(d):
        theta = value(line(text, "θ_c"), base=10_000, c=c, d=d)
        shown += value(
            term, q=q.tolist(), k=k.tolist(), c=c, theta=theta, delta=-0.5, m=m, n=n, d=d
        )
    assert shown == pytest.approx(given(pope, q, k, m, n), abs=1e-9)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("width", [4, 5, 8])
def test_the_dimensions_that_sinusoidal_names_hold_its_sines_and_cosines(layout, width):
    choice = ("--width", width, "--set", f"layout={layout}")
    text = show("sinusoidal", *choice, *WORDS)
    (part,) = numbers("sinusoidal", *choice, *WORDS)["worked"]
    expected = {}
    for c in range(-(-width // 2)):
        omega = value(line(text, "ω_c"), base=10_000, c=c, D=width)
        for letter, at in zip(
            "ab", shown_pair(text, "sinusoidal", layout, c, D=width), strict=True
        ):
            expected[at] = value(line(text, f"PE(p, {letter})"), p=3, omega=omega)
    assert [expected[at] for at in range(width)] == pytest.approx(
        part["numbers"]["values"], abs=1e-9
    )
