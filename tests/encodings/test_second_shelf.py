"""The second shelf of encodings against their formulas written a second way, and other
libraries."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import locant
from locant.attention import explicit

WHOLE = torch.tensor([[0, 3, 4, 9, 40], [7, 6, 0, 30, 700]])  # (B, T)
REAL = torch.tensor([[0.0, 1.5, 2.25, 7.0, 1000.5], [3.0, 3.5, 80.0, 0.125, 12.0]]).double()


def make64(name, **options):
    """An encoding in float64 whose learned numbers are all large enough to matter."""
    encoding = locant.make(name, **options).double()
    for number in encoding.parameters():
        torch.nn.init.normal_(number)
    return encoding


def loops(function, pos, heads):
    """function(head, m, n) for every pair of every row: (B, H, T, T)."""
    rows = pos.tolist()
    return torch.tensor(
        [[[[function(h, m, n) for n in row] for m in row] for h in range(heads)] for row in rows],
        dtype=torch.float64,
    )


def softplus(x):
    return math.log1p(math.exp(x))


@pytest.mark.parametrize("pos", [WHOLE, REAL], ids=["whole", "real"])
@pytest.mark.parametrize("kernel", ["log", "power"])
def test_kerple_is_its_formula(kernel, pos):
    kerple = make64("kerple", dim=6, heads=3, kernel=kernel)
    raw_p, raw_a = kerple.raw_p.tolist(), kerple.raw_a.tolist()

    def price(h, m, n):
        a = softplus(raw_a[h])
        if kernel == "power":
            return -a * abs(m - n) ** (2 / (1 + math.exp(-raw_p[h])))
        return -softplus(raw_p[h]) * math.log(1 + a * abs(m - n))

    assert_close(kerple.bias(pos, pos).detach(), loops(price, pos, 3), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_kerple_stays_positive_and_finite_whatever_is_learned(kernel):
    kerple = locant.make("kerple", dim=6, heads=6, kernel=kernel)
    for raw in kerple.parameters():
        raw.data = torch.tensor([-200.0, -20.0, -1.0, 1.0, 20.0, 200.0])
    bias = kerple.bias(torch.tensor([0]), torch.tensor([0, 1, 1000]))
    bias.sum().backward()
    assert (bias <= 0).all()
    assert bias.isfinite().all()
    assert all(raw.grad.isfinite().all() for raw in kerple.parameters())
    assert kernel == "log" or kerple.p.max() <= 2


def test_sandwich_is_the_dot_product_of_sinusoidal_vectors():
    sandwich = locant.make("sandwich", dim=6, heads=3, width=16, base=100.0)
    waves = locant.make("sinusoidal", dim=16, base=100.0).vectors(REAL)  # (B, T, 16)
    scale = torch.tensor([3 / 8, 3 / 16, 3 / 24], dtype=torch.float64)[:, None, None]
    want = scale * (waves @ waves.mT)[:, None]
    assert_close(sandwich.bias(REAL, REAL).double(), want, rtol=1e-6, atol=1e-6)


def test_an_odd_width_of_sandwich_counts_as_the_even_one_below():
    odd = locant.make("sandwich", dim=6, heads=3, width=7, base=50.0)
    even = locant.make("sandwich", dim=6, heads=3, width=6, base=50.0)
    assert torch.equal(odd.bias(REAL, REAL), even.bias(REAL, REAL))


def test_dynamic_is_the_published_module_without_its_last_constant():
    from x_transformers.x_transformers import DynamicPositionBias

    ours = locant.make("dynamic", dim=16, heads=4, hidden=8, depth=3)
    theirs = DynamicPositionBias(8, heads=4, depth=3, log_distance=True)
    linears = [module for module in theirs.modules() if isinstance(module, torch.nn.Linear)]
    torch.nn.init.zeros_(linears[-1].bias)
    for mine, their in zip(
        [layer for layer in ours.mlp if isinstance(layer, torch.nn.Linear)], linears, strict=True
    ):
        mine.weight.data = their.weight.data
        if mine.bias is not None:
            mine.bias.data = their.bias.data
    pos = torch.arange(20)
    assert_close(ours.bias(pos[8:], pos)[0], theirs(12, 20), rtol=1e-5, atol=1e-6)


def test_dynamic_evaluates_each_distance_once_where_positions_are_whole_numbers(monkeypatch):
    dynamic, seen = locant.make("dynamic", dim=8, heads=2), []
    plain = dynamic.by_offset
    monkeypatch.setattr(dynamic, "by_offset", lambda x: seen.append(x.shape) or plain(x))
    pos = torch.arange(50)
    whole, real = dynamic.bias(pos, pos), dynamic.bias(pos.double(), pos.double())
    assert seen == [(99, 1), (1, 1, 50, 50, 1)]
    assert_close(whole, real, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pos", [WHOLE, REAL], ids=["whole", "real"])
def test_fire_is_its_formula(pos):
    fire = make64("fire", dim=6, heads=3, hidden=4, threshold=20.0)
    weights = [number.detach().numpy() for number in fire.mlp.parameters()]
    c, far = abs(fire.c.item()), abs(fire.l.item()) * 20.0

    def network(h, m, n):
        share = math.copysign(math.log(1 + c * abs(m - n)), m - n) / math.log(1 + c * max(m, far))
        hidden = np.maximum(weights[0][:, 0] * share + weights[1], 0)
        return float(weights[2][h] @ hidden)

    assert_close(fire.bias(pos, pos).detach(), loops(network, pos, 3), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("constant", [None, 50.0, -50.0], ids=["as drawn", "all on", "all off"])
@pytest.mark.parametrize("k_pos", [torch.arange(1024), 700 * torch.rand(2, 1024).double()])
def test_fire_is_its_network_over_many_keys_too(monkeypatch, k_pos, constant):
    fire = make64("fire", dim=6, heads=3, threshold=100.0)
    if constant is not None:
        torch.nn.init.constant_(fire.mlp[0].bias, constant)
    q_pos = torch.tensor([0, 40, 600])
    weight = torch.randn(3, 3, 1024, dtype=torch.float64)

    def bias_and_gradients():
        bias = fire.bias(q_pos, k_pos)
        return bias.detach(), *torch.autograd.grad((weight * bias).sum(), list(fire.parameters()))

    evaluated = []
    with monkeypatch.context() as patch:
        patch.setattr("locant.encodings.fire.through", lambda *_: evaluated.append(1))
        got = bias_and_gradients()
    monkeypatch.setattr("locant.encodings.fire.MANY_KEYS", 10**9)
    assert not evaluated
    for ours, every_unit in zip(got, bias_and_gradients(), strict=True):
        assert_close(ours, every_unit, rtol=1e-10, atol=1e-10)


def test_fire_over_many_keys_hides_no_number_that_is_none():
    fire = locant.make("fire", dim=6, heads=3)
    torch.nn.init.constant_(fire.mlp[0].weight, math.nan)
    assert fire.bias(torch.arange(3), torch.arange(1024)).isnan().all()
    assert fire.bias(torch.arange(0), torch.arange(1024)).shape == (1, 3, 0, 1024)


def test_fire_reads_no_share_above_one_however_long_the_sequence():
    fire = locant.make("fire", dim=2, hidden=1)
    for number in fire.mlp.parameters():
        torch.nn.init.ones_(number)
    pos = torch.tensor([0, 10, 511, 512, 5000, 10**6])
    share = fire.bias(pos, pos[:1]).flatten() - 1
    assert (share <= 1).all()
    assert share[-3:].tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("dim", [6, 7])
def test_tape_is_the_published_formula(dim):
    tape = locant.make("tape", dim=dim, length=30)
    position = np.arange(30)[:, None]
    divided = np.exp(np.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    want = np.zeros((30, 2 * len(divided)))
    want[:, 0::2] = np.sin(position * divided * (dim / 30))
    want[:, 1::2] = np.cos(position * divided * (dim / 30))
    got = tape.embed(torch.zeros(1, 30, dim, dtype=torch.float64), torch.arange(30))
    assert_close(got[0], torch.from_numpy(want[:, :dim]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kerple", "distance"),
        ("sandwich", "distance"),
        ("dynamic", "distance"),
        ("fire", "block"),
        ("swin", "distance"),
        ("log_cpb", "distance"),
    ],
)
def test_no_bias_of_the_shelf_fills_the_memory_at_a_long_sequence(name, words):
    plan = locant.plan(locant.make(name, dim=64, heads=4), 8192, causal=True)
    assert words in plan.why
    assert "memory grows with length" in plan.why


GRID = torch.tensor([[[0, 0], [0, 3], [2, 1], [5, 9]], [[1, 0], [4, 4], [3, 3], [0, 2]]])


def on_grid(function, heads):
    """function(head, m, n) for every pair of points: (B, H, T, T)."""
    return loops(function, GRID, heads)


def test_swin_is_its_formula():
    swin = make64("swin", dim=6, heads=3, window=4, axes=2)
    table = swin.table.detach().view(7, 7, 3)

    def number(h, m, n):
        down, right = (max(-3, min(3, a - b)) + 3 for a, b in zip(m, n, strict=True))
        return table[down, right, h].item()

    assert_close(swin.bias(GRID, GRID).detach(), on_grid(number, 3), rtol=0, atol=0)


def test_log_cpb_is_the_module_of_transformers():
    from transformers import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    theirs = Swinv2SelfAttention(Swinv2Config(), 12, 3, 4).eval()
    ours = locant.make("log_cpb", dim=12, heads=3, window=4, axes=2)
    linears = theirs.continuous_position_bias_mlp
    ours.mlp[0].load_state_dict(linears[0].state_dict())
    ours.mlp[2].load_state_dict(linears[2].state_dict())
    rows = linears(theirs.relative_coords_table).view(-1, 3)
    want = 16 * rows[theirs.relative_position_index.view(-1)].view(16, 16, 3).sigmoid()
    pos = locant.positions.grid(4, 4)
    assert_close(ours.bias(pos, pos)[0], want.permute(2, 0, 1), rtol=1e-5, atol=1e-5)


def test_log_cpb_has_the_numbers_of_its_formula_past_the_window():
    cpb = make64("log_cpb", dim=6, heads=3, window=3, hidden=5, axes=2)
    first, constant, last = (number.detach().numpy() for number in cpb.mlp.parameters())

    def number(h, m, n):
        near = np.array([8 * (a - b) / 2 for a, b in zip(m, n, strict=True)])
        read = np.sign(near) * np.log2(1 + abs(near)) / 3
        return 16 / (1 + math.exp(-float(last[h] @ np.maximum(first @ read + constant, 0))))

    assert_close(cpb.bias(GRID, GRID).detach(), on_grid(number, 3), rtol=1e-12, atol=1e-12)
    many = locant.positions.grid(6, 7)  # so many pairs that every offset is evaluated once
    real = cpb.bias(many.double(), many.double())
    assert_close(cpb.bias(many, many), real, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["swin", "log_cpb"])
def test_biases_on_a_grid_fail_nothing(name):
    encoding = locant.make(name, dim=16, heads=2, length=64, axes=2)
    judged = ("given", "shift", "distinct", "fused", "gradients", "cost", "precision", "rows")
    assert locant.certify(encoding, only=list(judged)).fails == []


@pytest.mark.parametrize(("dim", "heads"), [(8, 2), (6, 2), (9, 3)])
@pytest.mark.parametrize("pos", [WHOLE, REAL], ids=["whole", "real"])
def test_transformer_xl_is_its_formula(pos, dim, heads):
    xl = make64("transformer_xl", dim=dim, heads=heads, base=50.0)
    q, k = torch.randn(2, 2, heads, 5, dim // heads, dtype=torch.float64)
    u, v, w = (number.detach() for number in (xl.content, xl.position, xl.weight))

    def waves(x):
        angle = [x * 50.0 ** (-2 * c / dim) for c in range(math.ceil(dim / 2))]
        row = [math.sin(a) for a in angle] + [math.cos(a) for a in angle]
        return torch.tensor(row[:dim], dtype=torch.float64)

    got = explicit(q, k, k, encoding=xl, q_pos=pos, k_pos=pos).scores.detach()
    for b in range(2):
        for h in range(heads):
            for i, m in enumerate(pos[b].tolist()):
                for j, n in enumerate(pos[b].tolist()):
                    content = (q[b, h, i] + u[h]) @ k[b, h, j]
                    distance = (q[b, h, i] + v[h]) @ (w[h] @ waves(m - n))
                    want = (content + distance) / math.sqrt(dim // heads)
                    assert_close(got[b, h, i, j], want, rtol=1e-11, atol=1e-11)
