"""Claims, hooks and options are read from source as the classes have them, inherited ones
included."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import locant
from locant.encodings import registry
from locant.encodings.base import Encoding, constructor_options
from locant.encodings.claims import CLAIMS, HOOKS

SMALL = {"dim": 16, "heads": 2, "length": 8}

FILES = {
    "near.py": '''
import locant
from locant.encodings import Rotary
from locant.encodings.base import Encoding, difference

class Turned(Rotary):
    """Rotary by another name."""
    paper = "Me 2026"

class Nearness:
    prefers_near = True
    def bias(self, q_pos, k_pos):
        return -difference(q_pos, k_pos).abs().float()
''',
    "mine.py": """
import locant, near
import locant.encodings.t5 as t5_file
from locant import encodings
from locant.encodings import Rotary, rotary
from locant.encodings.base import Encoding
from near import Nearness
from near import Turned as Other

class Same(Rotary): ...
class Far(Other):
    cacheable_keys = False
    extrapolates = bounded = False
class Farther(Far):
    bounded = True
class Mixed(Nearness, Rotary):
    def __init__(self, shape, *, price=2.0, **options):
        super().__init__(shape, **options)
        self.price = price
class MixedLast(Encoding, Nearness): ...
class Dotted(locant.encodings.Alibi): ...
class ByModule(near.Turned): ...
class ByPackage(encodings.Alibi): ...
class BySubmodule(rotary.Rotary): ...
class ByAlias(t5_file.T5):
    parameter_count = "buckets * heads"
class Restored(Rotary):
    rotate = Encoding.rotate
class Assigned(Encoding):
    bias = Nearness.bias
class Rotary(Rotary):
    shift_invariant = False
""",
    "stars.py": """
from near import *

class Star(Turned): ...
""",
}
CLASSES = [
    ("mine.py", name)
    for name in (
        "Same",
        "Far",
        "Farther",
        "Mixed",
        "MixedLast",
        "Dotted",
        "ByModule",
        "ByPackage",
        "BySubmodule",
        "ByAlias",
        "Restored",
        "Assigned",
        "Rotary",
    )
] + [("near.py", "Turned"), ("stars.py", "Star")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("users")
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


@pytest.mark.parametrize(("file", "class_name"), CLASSES)
def test_what_is_read_from_source_is_what_the_class_is(folder, file, class_name):
    name = f"{folder / file}:{class_name}"
    entry, cls = registry.describe(name), registry.load(name)
    assert entry.claims == {claim: getattr(cls, claim) for claim in (*CLAIMS, "axes")}
    assert entry.hooks == tuple(h for h in HOOKS if getattr(cls, h) is not getattr(Encoding, h))
    assert entry.options == constructor_options(cls)
    assert (entry.parameter_count, entry.paper) == (cls.parameter_count, cls.paper)


@pytest.mark.parametrize(
    ("class_name", "hooks", "claims"),
    [
        ("Same", ("rotate",), {"shift_invariant": True, "prefers_near": False}),
        ("Far", ("rotate",), {"cacheable_keys": False, "shift_invariant": True}),
        ("Farther", ("rotate",), {"bounded": True, "extrapolates": False}),
        ("Mixed", ("rotate", "bias"), {"prefers_near": True, "shift_invariant": True}),
        ("MixedLast", (), {"prefers_near": False}),
        ("Restored", (), {"shift_invariant": True}),
        ("Rotary", ("rotate",), {"shift_invariant": False}),
    ],
)
def test_inherited_claims_and_hooks_count(folder, class_name, hooks, claims):
    entry = registry.describe(f"{folder}/mine.py:{class_name}")
    assert entry.hooks == hooks
    assert {claim: entry.claims[claim] for claim in claims} == claims


def test_options_pass_through_a_constructor_that_takes_any(folder):
    name = f"{folder}/mine.py:Mixed"
    made = locant.make(name, **SMALL, base=500.0, price=3.0)
    assert (made.base, made.price) == (500.0, 3.0)
    assert locant.make(**made.config()).base == 500.0
    with pytest.raises(ValueError, match=r"base=10000.0.*price=2.0"):
        locant.make(name, **SMALL, bass=1.0)


def test_listing_a_subclass_runs_neither_the_file_nor_torch(tmp_path):
    (tmp_path / "near.py").write_text("raise SystemExit('run')\n" + FILES["near.py"])
    (tmp_path / "mine.py").write_text("raise SystemExit('run')\n" + FILES["mine.py"])
    code = (
        "import sys\nfrom locant.cli import main\n"
        "try:\n    main()\nfinally:\n    assert 'torch' not in sys.modules"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code, "list", f"{tmp_path}/mine.py:Farther", "--json"],
        capture_output=True,
        text=True,
    )
    (row,) = json.loads(listed.stdout)
    assert row["acts_on"] == ["queries and keys"]
    assert row["claims"]["shift_invariant"]


def test_a_wrong_inherited_claim_fails_its_certificate(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from locant.encodings import Rotary\n"
        "class Mine(Rotary):\n"
        "    def rotate(self, q, k, q_pos, k_pos, precomputed=None):\n"
        "        return super().rotate(q, k, q_pos, q_pos[..., :1] * 0 + k_pos * 2)\n"
    )
    made = locant.make(f"{tmp_path}/mine.py:Mine", **SMALL)
    assert locant.certify(made, only=["shift"]).fails == ["shift"]


def test_a_wrong_inherited_count_fails_its_certificate(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom locant.encodings import T5\n"
        "class Mine(T5):\n"
        "    def __init__(self, shape):\n"
        "        super().__init__(shape)\n"
        "        self.more = torch.nn.Parameter(torch.zeros(3))\n"
        "    def bias(self, q_pos, k_pos):\n"
        "        return super().bias(q_pos, k_pos) + self.more.sum()\n"
    )
    made = locant.make(f"{tmp_path}/mine.py:Mine", **SMALL)
    assert locant.certify(made, only=["cost"]).fails == ["cost"]


def test_an_edited_base_is_read_again(tmp_path):
    import os

    base, mine = tmp_path / "above.py", tmp_path / "below.py"
    base.write_text("from locant.encodings import Rotary\nclass Above(Rotary): ...\n")
    mine.write_text("from above import Above\nclass Below(Above): ...\n")
    assert registry.describe(f"{mine}:Below").claims["shift_invariant"]
    base.write_text(base.read_text().replace("...", "\n    shift_invariant = False"))
    os.utime(base, ns=(1, 1))
    assert not registry.describe(f"{mine}:Below").claims["shift_invariant"]


def test_bases_in_a_circle_and_unknown_bases_are_left_out(tmp_path):
    (tmp_path / "a.py").write_text("from b import B\nclass A(B): ...\n")
    (tmp_path / "b.py").write_text("from a import A\nimport zebra\nclass B(A, zebra.Z[int]): ...\n")
    (tmp_path / "c.py").write_text("from d import C\n")
    (tmp_path / "d.py").write_text("from c import C\nclass D(C): ...\n")
    assert registry.describe(f"{tmp_path}/a.py:A").hooks == ()
    assert registry.describe(f"{tmp_path}/d.py:D").hooks == ()


def test_a_count_under_its_old_name_is_taken_with_a_warning(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom locant.encodings.base import Encoding\n"
        "class Mine(Encoding):\n"
        "    learned = '3'\n"
        "    def __init__(self, shape):\n"
        "        super().__init__(shape)\n"
        "        self.more = torch.nn.Parameter(torch.zeros(3))\n"
    )
    name = f"{tmp_path}/mine.py:Mine"
    with pytest.warns(FutureWarning, match=r"mine.py:Mine: write parameter_count"):
        assert registry.describe(name).parameters(locant.Shape(16, 2)) == 3
    with pytest.warns(FutureWarning, match=r"mine.py:Mine: write parameter_count"):
        assert registry.load(name).parameter_count == "3"
