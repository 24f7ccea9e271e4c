"""Colors that can be told apart, by color-blind readers too, on white and on dark."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

import locant
from locant.figures.plots.colors import COLORS, SPARE, THEMES, color_of, dash, mixed, shades

ALL = [*COLORS.values(), *SPARE]
# what is seen of linear red, green and blue: Machado, Oliveira and Fernandes 2009, severity 1
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(code):
    """#rrggbb as light."""
    share = np.array([int(code[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(light):
    x = np.clip(light, 0, 1) @ XYZ.T / WHITE
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other):
    """CIEDE2000 of two CIELAB colors: Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    a1, a2 = (a * (1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))) for a in (a1, a2))
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    lightness, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360
    cos = lambda degrees: np.cos(np.radians(degrees))  # noqa: E731
    t = (
        1
        - 0.17 * cos(hue - 30)
        + 0.24 * cos(2 * hue)
        + 0.32 * cos(3 * hue + 6)
        - 0.2 * cos(4 * hue - 63)
    )
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    swing = (
        -2
        * np.sqrt(chroma**7 / (chroma**7 + 25**7))
        * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    )
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + swing * dc * dh))


def contrast(one, other):
    """Of WCAG 2: 1 for equal colors, 21 for black on white."""
    low, high = sorted(float(linear(code) @ XYZ[1]) for code in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(  # published pairs, from the paper's table
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_of_colors_is_the_published_one(one, other, expected):
    assert difference(one, other) == pytest.approx(expected, abs=5e-5)


def test_every_encoding_and_control_has_a_color_of_its_own():
    assert {*locant.names(), "none", "scrambled"} <= set(COLORS)
    assert len(set(ALL)) == len(ALL)


@pytest.mark.parametrize(
    ("sight", "least", "least_of_all"),
    [("normal", 14.0, 7.0), ("protanopia", 8.9, 4.4), ("deuteranopia", 8.9, 4.4)],
)
def test_any_two_colors_can_be_told_apart(sight, least, least_of_all):
    """The first shelf and the spare ones by far; all of them by half as much."""
    first = [*list(COLORS.values())[:13], *SPARE]
    for codes, bound in ((first, least), (ALL, least_of_all)):
        seen = {code: lab(linear(code) @ SIGHT[sight].T) for code in codes}
        apart = {pair: difference(seen[pair[0]], seen[pair[1]]) for pair in combinations(codes, 2)}
        closest = min(apart, key=apart.__getitem__)
        assert apart[closest] >= bound, closest


@pytest.mark.parametrize("theme", THEMES)
def test_colors_and_words_are_readable_on_the_paper(theme):
    look = THEMES[theme]
    assert min(contrast(code, look.paper) for code in ALL) >= 3.0
    assert min(contrast(ink, look.paper) for ink in (look.ink, look.muted)) >= 4.5
    assert (
        min(contrast(code, look.paper) for name in COLORS for code in shades(name, 4, theme)) >= 3.0
    )


def test_lines_that_are_close_in_color_differ_in_their_dashes_too():
    assert len({(color_of(name), dash(name)) for name in COLORS}) == len(COLORS)
    assert len({dash(name) for name in COLORS}) >= 5


def test_a_name_of_a_users_own_has_the_same_color_in_every_run_and_folder():
    names = [f"mine.py:{letter}" for letter in "ABCDEFGHIJ"]
    code = (
        "from locant.figures.plots.colors import color_of\n"
        f"print([color_of('some/where/' + name) for name in {names}])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {f"{[color_of(name) for name in names]}\n"}
    assert {color_of(name) for name in names} == set(SPARE)


def test_shades_go_from_near_the_ink_to_the_color():
    assert shades("rotary", 1) == [color_of("rotary")]
    for theme, look in THEMES.items():
        several = shades("t5", 5, theme)
        assert len(set(several)) == 5
        assert several[0] == mixed(color_of("t5"), look.ink, 0.6)
        assert several[-1] == color_of("t5")


def test_colors_are_plain_values_that_need_no_library():
    code = (
        "import sys, locant.figures.plots.colors\n"
        "assert not {'matplotlib', 'numpy', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
