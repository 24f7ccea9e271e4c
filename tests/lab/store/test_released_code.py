"""The packed runs of the studies that were run again are runs of the code that is released."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from locant.lab.store.pack import unpack
from locant.lab.training.config import RunConfig

PACKED = Path(__file__).parents[3] / "docs" / "studies" / "studies.json.gz"
CURRENT = ("order", "slot", "parity", "decoy")  # those that are not marked as older


@pytest.mark.slow
def test_every_packed_run_was_made_by_this_code_or_by_one_proven_equal():
    store = unpack(PACKED)
    foreign: Counter[str] = Counter()
    counted = 0
    for entry in store.studies():
        if entry.name not in CURRENT:
            continue
        for digest, code in entry.run_keys():
            run = store.find(digest, code)
            assert run is not None
            config = RunConfig(**run.config)
            counted += 1
            foreign[f"{config.task}, {config.encoding}"] += config.code() != code
    assert counted > 2_500
    assert +foreign == Counter(), (
        "the code that decides these runs has changed. If it computes the same numbers, prove it: "
        "python benchmarks/same_numbers.py REVISION --write"
    )
