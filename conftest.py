"""What every doctest may use without importing it."""

import numpy as np
import pytest
import torch

import locant

torch.set_num_threads(1)  # the tests run one process a core


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    torch.manual_seed(0)
    doctest_namespace |= {
        "torch": torch,
        "np": np,
        "locant": locant,
        "make": locant.make,
        "Shape": locant.Shape,
    }
