"""Wavelengths: how many positions one full turn takes in each dimension; linear, and
logarithmic."""

from __future__ import annotations

import numpy as np

from locant.encodings.base import Encoding
from locant.figures.data._sinusoids import vector_frequencies
from locant.figures.data.base import NotApplicable, Numbers

ORDER = 30


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the wavelength of each dimension that is a sinusoid."""
    omega = vector_frequencies(encoding)
    dimensions = np.flatnonzero(np.isfinite(omega))
    if not len(dimensions):
        raise NotApplicable("none of its dimensions is a plain wave")
    return {
        "dimensions": dimensions,
        "wavelengths": 2 * np.pi / omega[dimensions],
        "length": encoding.shape.length,
    }
