"""What is added to the input at one position, dimension by dimension, and how it changes with the position."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data.hooks import Array, added, index, places, span
from locant.figures.data.waves import amounts, frequencies
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import CLOSE, MANY, columns, fixed, plain, vector

Sum = tuple[str, float]  # as it is written, and what it gives
STEP = 2.0**-7  # of a position, for derivatives; a power of two, so that positions are exact
CENTRAL, FORWARD = (1, -8, 0, 8, -1), (-25, 48, -36, 16, -3)  # by five points, over 12 steps


def work_out(encoding: Encoding, position: float, key: float = 0) -> Part:
    """Every dimension of the vector at `position`, its change, and its wavelength."""
    values = added(encoding, index(position))[0].numpy()
    change, unit = _change(encoding, position)
    path = added(encoding, span(encoding, MANY)).numpy()
    omega = frequencies(path)
    cosine, sine = amounts(path, np.nan_to_num(omega, nan=1.0))
    rows = []
    for at, value in enumerate(values):
        (wave, gives), (slope, rises) = _written(position, omega[at], cosine[at], sine[at])
        wave = wave if abs(gives - value) <= CLOSE else ""
        slope = slope if unit == "derivative" and abs(rises - change[at]) <= CLOSE else ""
        rows.append(
            (f"dimension {at}", f"{wave}{fixed(value)}", f"{unit}: {slope}{fixed(change[at])}")
        )
    lines = [*columns(rows), *_on_a_token(encoding, position), *_wavelengths(omega)]
    return Part(
        "embed",
        f"position {plain(position)} at width {encoding.shape.dim}",
        lines,
        {
            "values": values.tolist(),
            unit: change.tolist(),
            "wavelengths": [_length(w) for w in omega],
        },
    )


def _written(position: float, omega: float, cosine: float, sine: float) -> tuple[Sum, Sum]:
    """`sin(3/100) = ` and its derivative `cos(3/100)/100 = `, each with its value; nan when the dimension is neither."""
    if not np.isfinite(omega) or min(abs(cosine), abs(sine)) > CLOSE * (abs(cosine) + abs(sine)):
        return ("", np.nan), ("", np.nan)
    angle, period = position * omega, plain(1 / omega)
    of = f"({plain(position)}/{period})"
    if abs(sine) > abs(cosine):
        wave, slope = (
            (f"{_times(sine)}sin", sine * np.sin(angle)),
            (f"{_times(sine)}cos", sine * np.cos(angle)),
        )
    else:
        wave, slope = (
            (f"{_times(cosine)}cos", cosine * np.cos(angle)),
            (f"{_times(-cosine)}sin", -cosine * np.sin(angle)),
        )
    return (f"{wave[0]}{of} = ", wave[1]), (f"{slope[0]}{of}/{period} = ", slope[1] * omega)


def _times(size: float) -> str:
    """Nothing for 1, a minus for −1, else the number and a dot."""
    return {1.0: "", -1.0: "−"}.get(round(size, 6), f"{plain(size)}·")


def _change(encoding: Encoding, position: float) -> tuple[Array, str]:
    """The derivative by the position; where positions are whole numbers, the step to the next, or from the last."""
    if encoding.real_positions:
        start, parts = (0, FORWARD) if position < 2 * STEP else (-2, CENTRAL)
        at = torch.tensor(
            [position + (start + step) * STEP for step in range(5)], dtype=torch.float64
        )
        return np.array(parts) @ added(encoding, at).numpy() / (12 * STEP), "derivative"
    last = not encoding.extrapolates and position + 1 >= encoding.shape.length
    a, b = added(
        encoding, index(*((position - 1, position) if last else (position, position + 1)))
    ).numpy()
    return b - a, f"step from {plain(position - 1)}" if last else f"step to {plain(position + 1)}"


def _on_a_token(encoding: Encoding, position: float) -> list[str]:
    """What a token of ones becomes."""
    ones = torch.ones(1, 1, encoding.shape.dim, dtype=torch.float64)
    after = encoding.embed(ones, places(encoding, index(position)))[0, 0]
    return [f"a token of ones becomes {vector(after.tolist())}"]


def _wavelengths(omega: Array) -> list[str]:
    """One full turn of each wave, in positions."""
    turns = {plain(1 / one): fixed(2 * np.pi / one) for one in omega if np.isfinite(one)}
    return (
        [
            "wavelengths in positions: "
            + ", ".join(f"2π·{of} = {turn}" for of, turn in turns.items())
        ]
        if turns
        else []
    )


def _length(omega: float) -> float | None:
    return float(2 * np.pi / omega) if np.isfinite(omega) else None
