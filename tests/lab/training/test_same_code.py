"""Codes that were proven to compute the same bits as an earlier one keep its name."""

import json

from locant.lab.training import config
from locant.lab.training.config import RunConfig

RUN = RunConfig(task="order", name="rotary", encoding="rotary", seed=0)


def test_a_code_that_is_listed_has_the_earlier_name_and_any_other_its_own(tmp_path, monkeypatch):
    listed = tmp_path / "same_code.json"
    listed.write_text("{}")
    monkeypatch.setattr(config, "SAME_CODE", listed)
    config._same_code.cache_clear()
    own = RUN.code()
    other = RunConfig(task="order", name="alibi", encoding="alibi", seed=0).code()
    listed.write_text(json.dumps({own: "an earlier name"}))
    config._same_code.cache_clear()
    assert RUN.code() == "an earlier name"
    assert RunConfig(task="order", name="alibi", encoding="alibi", seed=0).code() == other
    config._same_code.cache_clear()


def test_the_list_is_a_plain_mapping_without_chains():
    listed = json.loads(config.SAME_CODE.read_text())
    assert not set(listed) & set(listed.values())
