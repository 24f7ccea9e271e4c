"""JSON lines: keys that some lines do not have."""

from __future__ import annotations


def test_a_key_that_some_json_lines_do_not_have_is_a_missing_value(read):
    lines = [
        '{"a": 1, "b": 1}',
        '{"a": 2}',
        '{"a": 4, "b": 3, "c": 1}',
        '{"a": 3, "b": null, "c": 4}',
    ]
    series = read(lines, "mine.jsonl")
    assert series.names == ("a", "b", "c")
    assert series.values.tolist() == [[1, 1, 1], [2, 2, 1], [4, 3, 1], [3, 3, 4]]


def test_keys_that_first_appear_in_a_later_block_are_missing_before_it(read, monkeypatch):
    monkeypatch.setattr("locant.anomaly.series.file_formats.BLOCK_ROWS", 2)
    series = read(['{"a": 1}', '{"a": 5}', '{"a": 2, "b": 7}', '{"a": 2, "b": 9}'], "mine.jsonl")
    assert series.values[:, 1].tolist() == [7, 7, 7, 9]
