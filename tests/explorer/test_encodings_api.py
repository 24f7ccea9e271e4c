"""What the explorer answers about encodings is what the library computes."""

from __future__ import annotations

import math
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from common_explorer import MINE

import locant
from locant.figures.data import catalog
from locant.figures.plots.colors import COLORS


def test_the_page_starts_with_every_encoding_the_users_own_first(ask):
    start = ask("start")
    listed = {one["name"]: one for one in start["encodings"]}
    assert list(listed) == [MINE, *locant.names()]
    assert [name for name, one in listed.items() if one["own"]] == [MINE]
    assert {name: one["color"] for name, one in listed.items() if name in COLORS} == {
        name: COLORS[name] for name in locant.names()
    }
    assert listed["rotary"]["file"] == "locant/encodings/rotary.py"
    assert all(one["formula"] for name, one in listed.items() if name not in (MINE, "none"))


def test_the_heat_map_holds_sines_and_cosines(ask):
    values = np.array(
        ask("view", encoding="sinusoidal", view="heat", dim=64, length=100)["numbers"]["values"]
    )
    place, pair = np.arange(100)[:, None], np.arange(32)[None]
    angle = place / 10_000 ** (pair / 32)
    assert values.shape == (100, 64)
    np.testing.assert_allclose(values[:, 0::2], np.sin(angle), atol=2e-6)
    np.testing.assert_allclose(values[:, 1::2], np.cos(angle), atol=2e-6)


def test_options_change_the_numbers(ask):
    usual, other = (
        ask("view", encoding="rotary", options=text)["numbers"] for text in ("{}", '{"base": 500}')
    )
    assert usual["values"] != other["values"]


def test_a_picture_that_says_nothing_is_told_so(ask):
    assert ask("view", encoding="alibi", view="heat") == {
        "reason": "it adds no vectors to the input and rotates no keys"
    }


def test_the_bias_of_one_head_falls_with_distance(ask):
    numbers = ask("view", encoding="alibi", view="bias", heads=8, head=2, length=16)["numbers"]
    assert numbers["head"] == 2
    assert numbers["values"][0][:3] == [0.0, -0.25, -0.5]


@pytest.mark.parametrize("view", catalog())
@pytest.mark.parametrize("name", [*locant.names(), MINE])
def test_every_encoding_has_an_answer_to_every_view(ask, name, view):
    got = ask("view", encoding=name, view=view, dim=16, length=12)
    assert ("numbers" in got) != ("reason" in got)


@pytest.mark.parametrize("view", catalog())
def test_every_picture_can_be_drawn_on_the_server(ask, view):
    got = ask("view", encoding="rotary", view=view, dim=16, length=12, image="dark")
    if "reason" not in got:
        start = "data:image/svg+xml;base64,"
        assert got["image"].startswith(start)
        assert b"#15181d" in b64decode(got["image"].removeprefix(start))


def test_the_arithmetic_is_written_out(ask):
    (part,) = ask("worked", encoding="sinusoidal", dim=4, heads=1, position=3)["parts"]
    assert part["lines"][0].startswith("dimension 0   sin(3/1) = 0.1411")


def test_an_answer_has_no_number_that_json_lacks(client):
    text = client.get(
        "/api/view", params={"encoding": "hybrid", "view": "wavelengths", "dim": 2, "heads": 1}
    ).text
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize(
    ("name", "follow"), [("none", True), ("rotary", False), ("alibi", False), ("learned", False)]
)
def test_outputs_follow_shuffled_words_only_without_positions(ask, name, follow):
    got = ask("shuffle", encoding=name, words="a dog bites a man", order="4,2,0,1,3")
    assert got["follow"] is follow
    assert (max(got["change"]) < 1e-5) is follow


SENTENCES = [
    "one two three",
    "the cat chased the mouse",
    "a b c a",
    "the dog saw the dog",
    " ".join("abcdefghijklmnop"),
]


@pytest.mark.parametrize("words", SENTENCES)
@pytest.mark.parametrize("name", [one for one in locant.names() if one != "none"])
def test_the_first_order_shown_is_seen_by_every_encoding_that_has_positions(ask, name, words):
    got = ask("shuffle", encoding=name, words=words)
    assert not got["follow"]
    assert got["verdict"].endswith("order is seen.")
    assert ("drawn at random" in got["verdict"]) == (name == "erpe")  # it does nothing yet


@pytest.mark.parametrize("words", SENTENCES)
def test_without_positions_the_first_order_shown_is_lost(ask, words):
    assert ask("shuffle", encoding="none", words=words)["verdict"].endswith("order is lost.")


@pytest.mark.parametrize("words", SENTENCES[:2])
def test_a_reversed_sentence_is_not_taken_for_lost_order(ask, words):
    order = ",".join(map(str, reversed(range(len(words.split())))))
    for name in ("alibi", "none"):
        got = ask("shuffle", encoding=name, words=words, order=order)
        assert got["follow"]
        assert "keeps every distance between its words" in got["verdict"]
        assert got["verdict"].endswith(
            "cannot tell this order from the original. Try another order."
        )
        assert "lost" not in got["verdict"]
    assert ask("shuffle", encoding="rotary", words=words, order=order)["verdict"].endswith(
        "order is seen."
    )


def test_a_cyclic_shift_changes_distances_and_is_seen(ask):
    assert ask("shuffle", encoding="alibi", words="one two three", order="1,2,0")[
        "verdict"
    ].endswith("order is seen.")


def test_two_words_have_no_order_that_shows_whether_distances_are_seen(ask):
    said = ask("shuffle", encoding="alibi", words="one two")["verdict"]
    assert said.endswith(
        "cannot tell this order from the original. Add a different word, then try another order."
    )


@pytest.mark.parametrize(
    ("words", "order"),
    [("one two three", "0,1,2"), ("a b b a", "3,1,2,0"), ("the the the", "1,2,0")],
)
@pytest.mark.parametrize("name", ["alibi", "none"])
def test_a_sentence_that_reads_as_before_says_nothing_about_order(ask, name, words, order):
    said = ask("shuffle", encoding=name, words=words, order=order)["verdict"]
    assert "reads as before, so this says nothing about order" in said


def test_words_in_the_same_order_change_nothing(ask):
    assert ask("shuffle", encoding="rotary", words="one two three", order="0,1,2")["change"] == [
        0,
        0,
        0,
    ]


def test_the_source_is_the_encodings_own_file(client):
    text = client.get("/api/source", params={"encoding": "alibi"}).text
    assert text == (Path(locant.__file__).parent / "encodings" / "alibi.py").read_text(
        encoding="utf-8"
    )


def test_the_same_request_gives_the_same_numbers(ask):
    first, second = (ask("view", encoding="learned", dim=16, length=8) for _ in range(2))
    assert first == second
    assert math.isclose(np.std(first["numbers"]["values"]), 0.02, rel_tol=0.5)


def test_the_server_itself_imports_no_torch_and_no_matplotlib():
    code = (
        "import sys; from locant.explorer.server import make_app;"
        "from locant.explorer.state import ExplorerState; make_app(ExplorerState())"
    )
    end = "sys.exit(', '.join({'torch', 'matplotlib'} & set(sys.modules)) or 0)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {end}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
