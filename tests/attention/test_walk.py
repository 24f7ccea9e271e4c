"""From `locant.attend` to the kernel a call walks through at most eight files, each once."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn

import locant
from common import qkv
from locant.encodings.base import Encoding
from locant.positions import SegmentMask
from locant.shapes import Shape

ROOM = Path(locant.__file__).parent / "attention"
MAX_FILES = 8


class Gate(Encoding):
    """A bias from the state of every token."""

    def __init__(self, shape):
        super().__init__(shape)
        self.gate = nn.Linear(shape.dim, shape.heads)

    def sense(self, x, pos, past=None):
        return self.gate(x).mT[..., None]  # (B, H, T, 1)

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state - k_state.mT


def file_of(frame):
    """The file of a frame inside the room of attention, or nothing."""
    path = Path(frame.f_code.co_filename)
    return path.relative_to(ROOM).as_posix() if path.is_relative_to(ROOM) else ""


def walk(call):
    """The files of the room that `call` enters from another file, in order, up to the kernel."""
    entered = []

    def watch(frame, event, _):
        if event != "call" or (entered and is_kernel(entered[-1])) or not file_of(frame):
            return
        before = frame.f_back
        while before is not None and not file_of(before):
            before = before.f_back
        if before is None or file_of(before) != file_of(frame):
            entered.append((file_of(frame), frame.f_code.co_name))

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def is_kernel(entry):
    file, function = entry
    return file.startswith("backends/") and function == "run"


def attend(name, queries, keys=None, *, groups=4, padded=False, **options):
    keys = queries if keys is None else keys
    encoding = locant.make(name, dim=32, heads=4, length=keys)
    tensors = qkv(queries=queries, keys=keys, groups=groups)
    mask = torch.ones(2, 1, 1, keys, dtype=torch.bool)
    mask[0, ..., :5] = False
    pos = torch.arange(keys)
    given = {"q_pos": pos[-queries:], "k_pos": pos, "mask": mask if padded else None} | options
    return lambda: locant.attend(*tensors, encoding=encoding, **given)


def attend_with_states(length):
    encoding, pos = Gate(Shape(32, 4, length)), torch.arange(length)
    state = encoding.sense(torch.randn(2, length, 32), pos)
    given = {"q_pos": pos, "k_pos": pos, "q_state": state, "k_state": state}
    tensors = qkv(queries=length)
    return lambda: locant.attend(*tensors, encoding=encoding, causal=True, **given)


def forward(encoding, length):
    layer, pos = locant.Attention(encoding, kv_heads=2), torch.arange(length)
    x, mask = torch.randn(2, length, 32), torch.ones(length, dtype=torch.bool)
    return lambda: layer(x, pos, causal=True, mask=mask)


CALLS = {
    "rotary": attend("rotary", 32),
    "rotary, padded": attend("rotary", 32, padded=True),
    "rotary, causal": attend("rotary", 32, causal=True),
    "rotary, long, causal and padded": attend("rotary", 1100, causal=True, padded=True),
    "t5, learned": attend("t5", 100, causal=True),
    "t5, long": attend("t5", 1100, causal=True),
    "t5, long and padded": attend("t5", 1100, causal=True, padded=True),
    "alibi": attend("alibi", 600),
    "alibi, padded": attend("alibi", 600, padded=True),
    "shaw": attend("shaw", 64),
    "a cache with shared key heads": attend("rotary", 1, 50, groups=2, causal=True, padded=True),
    "t5 over a long cache with shared key heads": attend("t5", 1, 3000, groups=1, causal=True),
    "t5, dropout": attend("t5", 600, dropout=0.1),
    "t5, forced by name": attend("t5", 100, backend="tiled"),
    "t5, packed": attend("t5", 1300, causal=True, mask=SegmentMask((1100, 200))),
    "states": attend_with_states(32),
    "states, long": attend_with_states(1100),
    "a layer": forward(locant.make("rotary", dim=32, heads=4), 32),
    "a layer of t5, long": forward(locant.make("t5", dim=32, heads=4), 1100),
    "a layer with states": forward(Gate(Shape(32, 4, 32)), 32),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_walks_through_at_most_eight_files_and_enters_none_twice(name):
    entered = walk(CALLS[name])
    files = Counter(file for file, _ in entered)
    assert is_kernel(entered[-1])
    assert len(files) <= MAX_FILES
    assert {file: count for file, count in files.items() if count > 1} == {}


def test_contributing_tells_the_walk():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paragraph = text.split("**From `locant.attend` to the kernel**")[1].split("\n\n")[0]
    calls = [call for name, call in CALLS.items() if "layer" not in name]
    for file in {file for call in calls for file, _ in walk(call)}:
        if not file.startswith("backends/"):
            assert f"(src/locant/attention/{file})" in paragraph
