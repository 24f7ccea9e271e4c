"""Work out `embed`: what is added to the input at one position, dimension by dimension, and how it
changes."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data._sinusoids import amplitudes, frequencies
from locant.figures.data.base import (
    Array,
    added_vectors,
    as_positions,
    observed_positions,
    on_axes,
)
from locant.figures.walkthrough.arithmetic import (
    MIN_FITTED,
    TOLERANCE,
    WorkedPart,
    aligned,
    fixed,
    shortest,
    vector,
)

Written = tuple[str, float]  # a formula as it is written, and its value
STEP = 2.0**-7  # of a position, for derivatives; a power of two, so that positions are exact
CENTRAL, FORWARD = (1, -8, 0, 8, -1), (-25, 48, -36, 16, -3)  # by five points, over 12 steps
NOT_WRITTEN = ("", np.nan)


def work_out(encoding: Encoding, position: float, key: float = 0) -> WorkedPart:
    """Work out every dimension of the vector at `position`, its change, and its wavelength."""
    values = added_vectors(encoding, as_positions(position))[0].numpy()
    change, kind = _change(encoding, position)
    observed = added_vectors(encoding, observed_positions(encoding, MIN_FITTED)).numpy()
    omega = frequencies(observed)
    cosine, sine = amplitudes(observed, np.nan_to_num(omega, nan=1.0))
    rows = []
    for column, value in enumerate(values):
        wave, slope = _formulas(position, omega[column], cosine[column], sine[column])
        wave_text = wave[0] if abs(wave[1] - value) <= TOLERANCE else ""
        slope_text = ""
        if kind == "derivative" and abs(slope[1] - change[column]) <= TOLERANCE:
            slope_text = slope[0]
        rows.append(
            (
                f"dimension {column}",
                f"{wave_text}{fixed(value)}",
                f"{kind}: {slope_text}{fixed(change[column])}",
            )
        )
    lines = [*aligned(rows), _on_a_token(encoding, position), *_wavelengths(omega)]
    title = f"position {shortest(position)} at width {encoding.shape.dim}"
    numbers = {
        "values": values.tolist(),
        kind: change.tolist(),
        "wavelengths": [float(2 * np.pi / one) if np.isfinite(one) else None for one in omega],
    }
    return WorkedPart("embed", title, lines, numbers)


def _formulas(position: float, omega: float, cosine: float, sine: float) -> tuple[Written, Written]:
    """Write `sin(3/100) = ` and its derivative `cos(3/100)/100 = `, if the dimension is a sine or a
    cosine."""
    smaller = min(abs(cosine), abs(sine))
    if not np.isfinite(omega) or smaller > TOLERANCE * (abs(cosine) + abs(sine)):
        return NOT_WRITTEN, NOT_WRITTEN
    angle, period = position * omega, shortest(1 / omega)
    argument = f"({shortest(position)}/{period})"
    if abs(sine) > abs(cosine):
        wave, value = f"{_times(sine)}sin", sine * np.sin(angle)
        slope, change = f"{_times(sine)}cos", sine * np.cos(angle)
    else:
        wave, value = f"{_times(cosine)}cos", cosine * np.cos(angle)
        slope, change = f"{_times(-cosine)}sin", -cosine * np.sin(angle)
    return (f"{wave}{argument} = ", value), (f"{slope}{argument}/{period} = ", change * omega)


def _times(amplitude: float) -> str:
    """Write an amplitude before a wave: nothing for 1, a minus sign for −1, else the number and a
    dot."""
    rounded = round(amplitude, 6)
    if rounded == 1:
        return ""
    return "−" if rounded == -1 else f"{shortest(amplitude)}·"


def _change(encoding: Encoding, position: float) -> tuple[Array, str]:
    """Return the derivative by the position; for integer positions, the step to the next, or from
    the previous."""
    if encoding.real_positions:
        first, weights = (0, FORWARD) if position < 2 * STEP else (-2, CENTRAL)
        points = [position + (first + step) * STEP for step in range(5)]
        values = added_vectors(encoding, torch.tensor(points, dtype=torch.float64)).numpy()
        return np.array(weights) @ values / (12 * STEP), "derivative"
    if not encoding.extrapolates and position + 1 >= encoding.shape.length:
        start, kind = position - 1, f"step from {shortest(position - 1)}"
    else:
        start, kind = position, f"step to {shortest(position + 1)}"
    before, after = added_vectors(encoding, as_positions(start, start + 1)).numpy()
    return after - before, kind


def _on_a_token(encoding: Encoding, position: float) -> str:
    """Write what a token of ones becomes."""
    ones = torch.ones(1, 1, encoding.shape.dim, dtype=torch.float64)
    after = encoding.embed(ones, on_axes(encoding, as_positions(position)))[0, 0]
    return f"a token of ones becomes {vector(after.tolist())}"


def _wavelengths(omega: Array) -> list[str]:
    """Write one full turn of each wave, in positions."""
    turns = {shortest(1 / one): fixed(2 * np.pi / one) for one in omega if np.isfinite(one)}
    if not turns:
        return []
    written = [f"2π·{period} = {turn}" for period, turn in turns.items()]
    return [f"wavelengths in positions: {', '.join(written)}"]
