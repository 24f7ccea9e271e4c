"""The shell completes commands, encodings and studies after Tab."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = "import sys; sys.argv[0] = 'locant'; from locant.cli import main; main()"
OFFERS = {
    "locant sh": ["show"],
    "locant show rot": ["rotary"],
    "locant check rotary kerp": ["kerple"],
    "locant compare ord": ["order"],
    "locant compare order --encodings rotary,kerp": ["rotary,kerple"],
    "locant show nothing": [],
}


@pytest.mark.parametrize("typed", OFFERS)
def test_tab_offers_what_fits(typed):
    asked = {"_LOCANT_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    asked["COMP_CWORD"] = str(len(typed.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-c", START],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == OFFERS[typed], done.stderr[-800:]
