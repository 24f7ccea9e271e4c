"""Every encoding against known numbers, and against its formula written a second way: plain loops,
no locant helper."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import locant
from locant.attention import explicit

REAL = torch.tensor(
    [[0.0, -1.5, 2.25, 7.0, 1000.5], [3.0, 3.5, -80.0, 0.125, 12.0]], dtype=torch.float64
)  # (B, T)
WHOLE = torch.tensor([[0, 3, 4, 9, 40], [7, 6, 0, 30, 2]])  # (B, T)


def make64(name, **options):
    """An encoding in float64 whose learned numbers are all large enough to matter."""
    enc = locant.make(name, **options).double()
    for number in enc.parameters():
        torch.nn.init.normal_(number)
    return enc


def qkv(heads=2, queries=5, keys=5, width=4):
    sizes = ((2, heads, queries, width), (2, heads, keys, width), (2, heads, keys, width))
    return tuple(torch.randn(size, dtype=torch.float64) for size in sizes)


def close(ours, loops, rtol=1e-12, atol=1e-12):
    assert_close(
        ours.detach(), torch.as_tensor(np.array(loops), dtype=ours.dtype), rtol=rtol, atol=atol
    )


def table(function, *sizes):
    """function(i, j, …) for every index, as an array."""
    return np.array([function(*index) for index in np.ndindex(*sizes)], dtype=float).reshape(sizes)


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def sinusoid(place, dim, layout="interleaved", base=10_000.0):
    """The waves of one position (a list with a number for each axis)."""
    width = dim if len(place) == 1 else 2 * math.ceil(dim / (2 * len(place)))
    row = []
    for p in place:
        angle = [p / base ** (2 * c / width) for c in range(math.ceil(width / 2))]
        pairs = [(math.sin(a), math.cos(a)) for a in angle]
        if layout == "halves":
            pairs = [*zip(*pairs, strict=True)]
        row += [wave for pair in pairs for wave in pair][:width]
    return row[:dim]


def test_a_width_of_four_has_the_numbers_of_the_lecture():
    lecture = (
        [0, 1, 0, 1],
        [0.8415, 0.5403, 0.01, 0.99995],
        [0.9093, -0.4161, 0.02, 0.9998],
        [0.1411, -0.99, 0.03, 0.9996],
    )
    ours = locant.make("sinusoidal", dim=4).embed(torch.zeros(1, 4, 4), torch.arange(4))
    close(ours, [lecture], rtol=0, atol=5.1e-5)


def test_the_gram_row_of_width_eight_is_a_sum_of_cosines():
    waves = locant.make("sinusoidal", dim=8).vectors(torch.arange(5))
    close(
        waves @ waves[0], [4, 3.535256, 2.563718, 1.964890, 2.266610], rtol=0, atol=6e-7
    )  # the last is 2.2666095


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize(
    ("dim", "axes"), [(1, 1), (4, 1), (7, 1), (16, 1), (16, 2), (10, 2), (7, 2), (12, 3), (11, 3)]
)
def test_sinusoidal_is_its_formula(dim, axes, layout):
    pos = REAL if axes == 1 else torch.stack([REAL, REAL.flip(1), REAL + 2][:axes], -1)
    loops = [[sinusoid(np.atleast_1d(p), dim, layout, 100.0) for p in row.numpy()] for row in pos]
    x = torch.randn(2, 5, dim, dtype=torch.float64)
    added = locant.make("sinusoidal", dim=dim, axes=axes, layout=layout, base=100.0)
    close(added.embed(x, pos), x.numpy() + loops)
    beside = locant.make("sinusoidal", dim=dim, axes=axes, layout=layout, base=100.0, join="concat")
    close(beside.embed(x, pos), np.concatenate([x.numpy(), loops], -1))


@pytest.mark.parametrize("dim", [6, 7])
def test_hybrid_is_the_waves_plus_alpha_times_the_table(dim):
    enc, x = (
        make64("hybrid", dim=dim, length=50, base=100.0),
        torch.randn(2, 5, dim, dtype=torch.float64),
    )
    alpha, rows = enc.alpha.item(), enc.table.detach().numpy()
    loops = table(
        lambda b, t, c: (
            sinusoid([p := WHOLE[b, t].item()], dim, base=100.0)[c] + alpha * rows[p, c]
        ),
        2,
        5,
        dim,
    )
    close(enc.embed(x, WHOLE), x.numpy() + loops)


def test_learned_is_the_row_of_its_table():
    enc, x = make64("learned", dim=3, length=50), torch.randn(2, 5, 3, dtype=torch.float64)
    rows = enc.table.detach().numpy()
    close(enc.embed(x, WHOLE), x.numpy() + table(lambda b, t, c: rows[WHOLE[b, t], c], 2, 5, 3))


def layer(x, linear):
    return x @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()


@pytest.mark.parametrize(("dim", "axes"), [(6, 1), (5, 1), (6, 2), (8, 3)])
def test_fourier_is_waves_of_learned_frequency_through_a_network(dim, axes):
    enc, x = (
        make64("fourier", dim=dim, hidden=9, axes=axes),
        torch.randn(2, 5, dim, dtype=torch.float64),
    )
    places = torch.stack([REAL, REAL.flip(1), REAL + 2][:axes], -1)  # (B, T, axes)
    frequency, pairs = enc.frequency.detach().numpy(), math.ceil(dim / 2)
    angle = table(
        lambda b, t, c: sum(places[b, t, a] * frequency[a, c] for a in range(axes)), 2, 5, pairs
    )
    wave = np.concatenate([np.cos(angle), np.sin(angle)], -1) / math.sqrt(dim)
    hidden = layer(wave, enc.mlp[0])
    loops = layer(
        hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2, enc.mlp[2]
    )  # GELU
    close(enc.embed(x, REAL if axes == 1 else places), x.numpy() + loops, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("depth", [1, 3])
def test_continuous_is_a_network_of_the_share_of_the_length(depth):
    enc, x = (
        make64("continuous", dim=5, length=20, hidden=9, depth=depth),
        torch.randn(2, 5, 5, dtype=torch.float64),
    )
    y = REAL.numpy()[..., None] / 20
    for step in range(depth):
        y = np.maximum(layer(y, enc.mlp[2 * step]), 0)
    close(enc.embed(x, REAL), x.numpy() + layer(y, enc.mlp[-1]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("backend", ["reference", "blocked", "fused"])
@pytest.mark.parametrize("name", ["alibi", "none", "relative", "t5"])
def test_a_bias_is_added_to_the_scaled_scores_by_every_backend(name, backend):
    enc, (q, k, v) = make64(name, dim=8, heads=2), qkv()
    bias = torch.zeros(2, 2, 5, 5) if name == "none" else enc.bias(WHOLE, WHOLE).detach()
    scores = table(lambda b, h, i, j: q[b, h, i] @ k[b, h, j] / 2 + bias[b, h, i, j], 2, 2, 5, 5)
    close(
        locant.attend(q, k, v, encoding=enc, q_pos=WHOLE, k_pos=WHOLE, backend=backend),
        softmax(scores) @ v.numpy(),
    )


def test_relative_looks_up_query_minus_key_and_clips_it():
    enc = make64("relative", dim=6, heads=3, max_distance=4)
    q_pos, k_pos, rows = WHOLE, WHOLE[:, :3] + 1, enc.table.detach().numpy()
    loops = table(
        lambda b, h, i, j: rows[max(-4, min(4, q_pos[b, i] - k_pos[b, j])) + 4, h], 2, 3, 5, 3
    )
    close(enc.bias(q_pos, k_pos), loops)


OFFSETS = [0, -1, -7, -8, -15, -16, -20, -32, -64, -127, -128, -1000, 1, 8, 127, 128]
BOTH = [0, 1, 7, 8, 9, 10, 10, 12, 14, 15, 15, 15, 17, 24, 31, 31]
BEHIND = [0, 1, 7, 8, 15, 16, 17, 21, 26, 31, 31, 31, 0, 0, 0, 0]


@pytest.mark.parametrize(("sides", "buckets"), [("both", BOTH), ("behind", BEHIND)])
def test_t5_has_the_known_buckets(sides, buckets):
    assert locant.make("t5", dim=8, sides=sides).bucket(torch.tensor(OFFSETS)).tolist() == buckets


def t5_bucket(offset, buckets, furthest, sides):
    """The bucket in whole numbers alone: log(r/e)/log(m/e)·(n−e) ≥ s is the same as (r/e)^(n−e) ≥
    (m/e)^s."""
    n = buckets // 2 if sides == "both" else buckets
    e, r = n // 2, abs(offset) if sides == "both" else max(-offset, 0)
    far = [s for s in range(1, n - e) if r ** (n - e) * e**s >= furthest**s * e ** (n - e)]
    return (r if r < e else e + len(far)) + n * (sides == "both" and offset > 0)


@pytest.mark.parametrize("sides", ["both", "behind"])
@pytest.mark.parametrize(
    ("buckets", "furthest"), [(32, 128), (4, 20), (10, 1000), (16, 64), (33, 100), (64, 512)]
)
def test_t5_looks_up_the_bucket_of_key_minus_query(buckets, furthest, sides):
    enc = make64("t5", dim=6, heads=3, buckets=buckets, max_distance=furthest, sides=sides)
    offsets, rows = range(-1100, 1101), enc.table.detach().numpy()
    assert enc.bucket(torch.tensor(offsets)).tolist() == [
        t5_bucket(o, buckets, furthest, sides) for o in offsets
    ]
    q_pos, k_pos = WHOLE.tolist(), (3 * WHOLE[:, :3]).tolist()
    bucket = table(
        lambda b, i, j: t5_bucket(k_pos[b][j] - q_pos[b][i], buckets, furthest, sides), 2, 5, 3
    ).astype(int)
    close(enc.bias(WHOLE, 3 * WHOLE[:, :3]), np.moveaxis(rows[bucket], -1, 1))


@pytest.mark.parametrize("causal", [False, True])
def test_shaw_adds_a_vector_for_the_distance_to_every_key_and_value(causal):
    enc, (q, k, v) = make64("shaw", dim=8, heads=2, max_distance=3), qkv(queries=4)
    q_pos, k_pos = WHOLE[:, :4] + 1, WHOLE
    a_k, a_v = enc.keys.detach(), enc.values.detach()

    def row(b, i, j):
        return max(-3, min(3, k_pos[b, j].item() - q_pos[b, i].item())) + 3

    scores = table(
        lambda b, h, i, j: q[b, h, i] @ (k[b, h, j] + a_k[row(b, i, j)]) / math.sqrt(4), 2, 2, 4, 5
    )
    if causal:
        scores += table(
            lambda i, j: -np.inf if j > i + 1 else 0, 4, 5
        )  # the last query is the last key
    weights = softmax(scores)
    loops = np.zeros((2, 2, 4, 4))
    for b, h, i, j in np.ndindex(2, 2, 4, 5):
        loops[b, h, i] += weights[b, h, i, j] * (v[b, h, j] + a_v[row(b, i, j)]).numpy()
    close(explicit(q, k, v, encoding=enc, q_pos=q_pos, k_pos=k_pos, causal=causal).scores, scores)
    close(locant.attend(q, k, v, encoding=enc, q_pos=q_pos, k_pos=k_pos, causal=causal), loops)


@pytest.mark.parametrize("hidden", ["none", "causal", "causal and padding", "a query sees nothing"])
def test_cope_counts_the_gates_of_the_keys_that_may_be_seen(hidden):
    enc, (q, k, v) = make64("cope", dim=8, heads=2, max_position=2), qkv(queries=4)
    causal, e = hidden.startswith("causal"), enc.vectors.detach().numpy()
    mask = torch.ones(2, 1, 4, 5, dtype=torch.bool)
    mask[0, :, :, [0, 3]] = hidden != "causal and padding"
    mask[1, :, 2] = hidden != "a query sees nothing"
    queries, keys = q.numpy(), k.numpy()

    def seen(b, i, j):
        return mask[b, 0, i, j] and (not causal or j <= i + 1)  # the last query is the last key

    def product(b, h, i, j):
        return queries[b, h, i] @ keys[b, h, j] / 2

    def score(b, h, i, j):
        gates = [1 / (1 + math.exp(-product(b, h, i, t))) for t in range(j, 5) if seen(b, i, t)]
        count = min(sum(gates), 2)
        low = min(math.floor(count), 1)
        vector = (1 - (count - low)) * e[low] + (count - low) * e[low + 1]
        return product(b, h, i, j) + queries[b, h, i] @ vector / 2

    given = {"encoding": enc, "q_pos": WHOLE[:, :4], "k_pos": WHOLE, "causal": causal}
    given["mask"] = None if hidden in ("none", "causal") else mask
    found = explicit(q, k, v, **given)
    scores, shown = table(score, 2, 2, 4, 5), table(lambda b, h, i, j: seen(b, i, j), 2, 2, 4, 5)
    close(found.scores.where(torch.tensor(shown != 0), 0.0), scores * shown)
    loops = np.zeros((2, 2, 4, 4))
    for b, h, i in np.ndindex(2, 2, 4):
        visible = [j for j in range(5) if seen(b, i, j)]
        if visible:
            loops[b, h, i] = softmax(scores[b, h, i, visible]) @ v[b, h, visible].numpy()
    close(locant.attend(q, k, v, **given), loops)


@pytest.mark.parametrize("hidden", ["none", "causal", "causal and padding", "a query sees nothing"])
def test_erpe_adds_its_numbers_to_the_weights_of_keys_that_may_be_seen(hidden):
    enc, (q, k, v) = make64("erpe", dim=8, heads=2, length=6), qkv(queries=4)
    causal, b_h = hidden.startswith("causal"), enc.table.detach().numpy()
    q_pos, k_pos = torch.tensor([[2, 3, 4, 5], [5, 1, 0, 2]]), torch.tensor([0, 2, 3, 4, 5])
    mask = torch.ones(2, 1, 4, 5, dtype=torch.bool)
    mask[0, :, :, [0, 3]] = hidden != "causal and padding"
    mask[1, :, 2] = hidden != "a query sees nothing"
    loops = np.zeros((2, 2, 4, 4))
    for b, h, i in np.ndindex(2, 2, 4):
        visible = [j for j in range(5) if mask[b, 0, i, j] and (not causal or j <= i + 1)]
        if not visible:
            continue
        weights = softmax((q[b, h, i] @ k[b, h, visible].T / 8**0.5).numpy())  # 1/√D, as ConvTran
        for weight, j in zip(weights, visible, strict=True):
            distance = int(q_pos[b, i] - k_pos[j])
            loops[b, h, i] += (weight + b_h[distance + 5, h]) * v[b, h, j].numpy()
    given = {"encoding": enc, "q_pos": q_pos, "k_pos": k_pos.expand(2, -1), "causal": causal}
    given["mask"] = None if hidden in ("none", "causal") else mask
    close(locant.attend(q, k, v, **given, scale=8**-0.5), loops)


EIGHT = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
TWELVE = [*EIGHT, 0.707107, 0.353553, 0.176777, 0.088388]


@pytest.mark.parametrize("known", [[0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125], EIGHT, TWELVE])
def test_alibi_has_the_known_slopes(known):
    assert locant.make("alibi", dim=24, heads=len(known)).slope.tolist() == pytest.approx(
        known, abs=5e-7
    )


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 13])
@pytest.mark.parametrize("sides", ["symmetric", "causal", "two-sided"])
def test_alibi_charges_its_slope_for_each_step(heads, sides):
    floor = 2 ** int(math.log2(heads))
    exponents = [8 * h / floor for h in range(1, floor + 1)] + [
        8 * h / (2 * floor) for h in range(1, 2 * floor, 2)
    ]
    slope = [0.5**e for e in exponents][:heads]

    def price(b, h, i, j):
        step = (REAL[b, i] - WHOLE[b, j]).item()
        ahead = {"symmetric": slope[h], "causal": -slope[h], "two-sided": slope[heads - 1 - h]}[
            sides
        ]
        return -step * slope[h] if step > 0 else step * ahead

    enc = locant.make("alibi", dim=heads, heads=heads, sides=sides)
    close(enc.bias(REAL, WHOLE), table(price, 2, heads, 5, 5), rtol=1e-6, atol=1e-6)


def turn_by_matrices(x, places, width, pairing, base=10_000.0):
    """Every pair of one vector times its own 2×2 matrix; the axes share the pairs, one block after
    the other."""
    out, pairs, each = x.numpy().copy(), width // 2, width // (2 * len(places))
    for c in range(pairs):
        angle = places[c // each] / base ** (c % each / each)
        two = [2 * c, 2 * c + 1] if pairing == "interleaved" else [c, c + pairs]
        matrix = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        out[two] = matrix @ x.numpy()[two]
    return out


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize(("width", "axes"), [(12, 1), (8, 1), (2, 1), (12, 2), (8, 2), (12, 3)])
def test_rotary_turns_each_pair_by_a_matrix(width, axes, pairing):
    enc = locant.make("rotary", dim=24, heads=2, width=width, axes=axes, pairing=pairing, base=50.0)
    q, k, v = qkv(width=12)
    q_pos, k_pos = (
        torch.stack([p, p.flip(1), p + 2][:axes], -1) for p in (REAL, WHOLE.double())
    )  # (B, T, axes)

    def turned(x, pos):
        rows = [
            turn_by_matrices(x[i], pos[i[0], i[2]].tolist(), width, pairing, 50.0)
            for i in np.ndindex(2, 2, 5)
        ]
        return np.reshape(rows, (2, 2, 5, 12))

    at = (q_pos, k_pos) if axes > 1 else (REAL, WHOLE)
    close(torch.stack(enc.rotate(q, k, *at)), [turned(q, q_pos), turned(k, k_pos)])
    scores = turned(q, q_pos) @ np.swapaxes(turned(k, k_pos), -1, -2) / math.sqrt(12)
    close(explicit(q, k, v, encoding=enc, q_pos=at[0], k_pos=at[1]).scores, scores)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize(
    ("options", "angle"),
    [
        (
            {"sections": [3, 1, 2], "base": 50.0},
            lambda c, p: p[[0, 0, 0, 1, 2, 2][c]] * 50.0 ** (-c / 6),
        ),
        (
            {"sections": [3, 1, 2], "base": 50.0, "section_layout": "interleaved"},
            lambda c, p: p[[0, 1, 2, 0, 0, 2][c]] * 50.0 ** (-c / 6),
        ),
        (
            {"axes": 3, "base": [50.0, 7.0, 3.0]},
            lambda c, p: p[c // 2] * [50.0, 7.0, 3.0][c // 2] ** (-(c % 2) / 2),
        ),
        (
            {"axes": 3, "base": [50.0, 7.0, 3.0], "scaling": {"type": "linear", "factor": 2.0}},
            lambda c, p: p[c // 2] * [50.0, 7.0, 3.0][c // 2] ** (-(c % 2) / 2) / 2,
        ),
    ],
    ids=["chunked", "interleaved", "three bases", "three bases scaled"],
)
def test_rotary_gives_each_pair_its_axis_and_its_base(options, angle, pairing):
    enc, (q, k, _) = (
        locant.make("rotary", dim=24, heads=2, pairing=pairing, **options),
        qkv(width=12),
    )
    pos = torch.stack([REAL, REAL.flip(1), REAL + 2], -1)  # (B, T, 3)
    for x, got in zip((q, k), enc.rotate(q, k, pos, pos), strict=True):
        want = x.numpy().copy()
        for b, h, t, c in np.ndindex(2, 2, 5, 6):
            one, two = (2 * c, 2 * c + 1) if pairing == "interleaved" else (c, c + 6)
            turn = complex(x[b, h, t, one], x[b, h, t, two]) * np.exp(
                1j * angle(c, pos[b, t].tolist())
            )
            want[b, h, t, [one, two]] = turn.real, turn.imag
        close(got, want)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_xpos_fades_each_pair_with_the_distance_that_it_turns_by(pairing):
    enc = locant.make(
        "xpos", dim=24, heads=2, width=8, pairing=pairing, base=50.0, length=900, scale_base=30.0
    )
    q, k, v = qkv(width=12)
    q_pos, k_pos = REAL.abs() % 900, WHOLE * 20

    def score(b, h, i, j):
        step, total = (q_pos[b, i] - k_pos[b, j]).item(), 0.0
        for c in range(4):
            two = [2 * c, 2 * c + 1] if pairing == "interleaved" else [c, c + 4]
            one, other = (complex(*x[b, h, t, two]) for x, t in ((q, i), (k, j)))
            turn = np.exp(1j * step * 50.0 ** (-c / 4))
            fade = ((2 * c / 8 + 0.4) / 1.4) ** (step / 30.0)
            total += fade * (one * turn * other.conjugate()).real
        return (total + (q[b, h, i, 8:] @ k[b, h, j, 8:]).item()) / math.sqrt(12)

    close(
        explicit(q, k, v, encoding=enc, q_pos=q_pos, k_pos=k_pos).scores,
        table(score, 2, 2, 5, 5),
        rtol=1e-9,
    )


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("groups", [4, 2, 1])
def test_rope_mixed_turns_every_head_by_its_own_frequencies(axes, pairing, groups):
    enc = make64("rope_mixed", dim=32, heads=4, axes=axes, pairing=pairing)
    q, k, _ = qkv(heads=4, width=8)
    k = k[:, :groups]
    f = enc.frequency.detach().numpy()  # (axes, H, pairs)
    pos = torch.stack([REAL, REAL.flip(1)][:axes], -1)  # (B, T, axes)
    at = REAL if axes == 1 else pos

    def turned(x, shared):
        out = x.numpy().copy()
        for b, h, t, c in np.ndindex(2, x.shape[1], 5, 4):
            first = h * shared // (4 // groups) * (4 // groups)  # of the heads with these keys
            angle = sum(pos[b, t, a].item() * f[a, first, c] for a in range(axes))
            two = [2 * c, 2 * c + 1] if pairing == "interleaved" else [c, c + 4]
            z = complex(*x[b, h, t, two]) * np.exp(1j * angle)
            out[b, h, t, two] = z.real, z.imag
        return out

    got_q, got_k = enc.rotate(q, k, at, at)
    close(got_q, turned(q, 1), rtol=1e-9)
    close(got_k, turned(k, 4 // groups), rtol=1e-9)


@pytest.mark.parametrize("join", ["add", "concat"])
def test_time2vec_is_a_line_and_waves(join):
    enc, x = make64("time2vec", dim=5, length=20, join=join), torch.randn(2, 5, 5).double()
    omega, phi = enc.frequency.detach().numpy(), enc.phase.detach().numpy()

    def value(b, t, c):
        p = REAL[b, t].item()
        return p / 20 * omega[0] + phi[0] if c == 0 else math.sin(omega[c] * p + phi[c])

    added = table(value, 2, 5, 5)
    want = x.numpy() + added if join == "add" else np.concatenate([x.numpy(), added], -1)
    close(enc.embed(x, REAL), want)


def test_proportional_turns_the_fast_pairs_by_the_ladder_of_the_whole_head():
    for share, known in [(0.5, [1, 0.1, 0, 0]), (0.25, [1, 0, 0, 0]), (1.0, [1, 0.1, 0.01, 1e-3])]:
        scaling = {"type": "proportional", "share": share, "factor": 2.0}
        close(locant.make("rotary", dim=8, scaling=scaling).frequencies(), np.array(known) / 2)


@pytest.mark.parametrize("name", ["rotary", "none"])
@pytest.mark.parametrize("backend", ["reference", "blocked", "fused"])
def test_a_query_temperature_multiplies_the_scores_of_far_queries(name, backend):
    settings = {"beta": 0.3, "length": 8, "offset": 1}
    enc, plain = (
        locant.make(name, dim=8, heads=2, **options)
        for options in ({"query_temperature": settings}, {})
    )
    q, k, v = qkv()
    at = {"q_pos": WHOLE, "k_pos": WHOLE}
    scores = explicit(q, k, v, encoding=plain, **at).scores.numpy()
    grown = [[1 + 0.3 * math.log(1 + (p + 1) // 8) for p in row] for row in WHOLE.tolist()]
    want = scores * np.array(grown)[:, None, :, None]
    close(explicit(q, k, v, encoding=enc, **at).scores, want)
    got = locant.attend(q, k, v, encoding=enc, **at, backend=backend)
    close(got, softmax(want) @ v.numpy())
    close(
        enc.temperature(torch.tensor([-9, -1, 0, 6, 7, 15])), 1 + 0.3 * np.log([1, 1, 1, 1, 2, 3])
    )


@pytest.mark.parametrize("tokens", [1, 3])
def test_interleaved_pairs_may_begin_at_an_odd_place_in_memory(tokens):
    enc, pos = locant.make("rotary", dim=5, width=4, pairing="interleaved"), torch.arange(tokens)
    flat = torch.randn(5 * tokens + 1, dtype=torch.float64, requires_grad=True)
    odd = flat[1:].view(1, 1, tokens, 5)
    results = []
    for x in (odd, odd.clone()):
        turned = torch.cat(
            [enc.rotate(x, x, pos, pos)[0] for _ in range(2)], -2
        )  # as two steps with a cache do
        results.append([turned, *torch.autograd.grad((turned * torch.arange(5).cos()).sum(), flat)])
    torch.testing.assert_close(*results)
    whole = locant.make("rotary", dim=4, pairing="interleaved")
    even = flat[1:5].view(1, 1, 1, 4)
    torch.testing.assert_close(
        *(whole.rotate(x, x, pos[:1], pos[:1])[0] for x in (even, even.clone()))
    )


def test_pope_is_a_sum_of_cosines_weighted_by_sizes():
    enc, (q, k, v) = make64("pope", dim=8, heads=2, base=50.0), qkv(keys=3)
    enc.delta.data = torch.tensor(
        [[-1.0, -6.0, 0.5, -7.0], [-0.1, 0.0, -3.0, -2.0]], dtype=torch.float64
    )
    delta = np.clip(enc.delta.detach().numpy(), -2 * math.pi, 0)
    size_q, size_k = (np.log1p(np.exp(x.numpy())) for x in (q, k))

    def score(b, h, i, j):
        angle = [
            (WHOLE[b, j] - REAL[b, i]).item() * 50.0 ** (-c / 4) + delta[h, c] for c in range(4)
        ]
        return sum(
            size_q[b, h, i, c] * size_k[b, h, j, c] * math.cos(angle[c]) for c in range(4)
        ) / math.sqrt(4)

    close(
        explicit(q, k, v, encoding=enc, q_pos=REAL, k_pos=WHOLE[:, :3]).scores,
        table(score, 2, 2, 5, 3),
    )


AT = [0, 1, 8, 16, 24, 31]  # the pairs whose scaled frequencies are known
YARN = {"type": "yarn", "factor": 4.0, "original_length": 2048}
LLAMA3 = {"type": "llama3", "factor": 8.0, "original_length": 8192}
LONG = {
    "type": "longrope",
    "factor": 4.0,
    "original_length": 2048,
    "short": [1.0] * 32,
    "long": [2.0] * 31 + [5.0],
}
DYNAMIC = {"type": "dynamic-ntk", "factor": 2.0, "original_length": 2048}
SCALED = [
    (
        1e4,
        {"type": "linear", "factor": 4.0},
        1,
        [0.25, 0.187474, 0.025, 0.0025, 0.00025, 3.3338e-5],
    ),
    (1e4, YARN, 1.138629, [1, 0.749894, 0.1, 0.00538462, 0.00025, 3.3338e-5]),
    (5e5, LLAMA3, 1, [1, 0.663601, 0.037606, 5.24846e-4, 6.64787e-6, 3.76732e-7]),
    (1e4, LONG, 1.087115, [10_000 ** (-c / 32) for c in AT]),
]


@pytest.mark.parametrize(
    ("base", "scaling", "scale", "known"), SCALED, ids=["linear", "yarn", "llama3", "longrope"]
)
def test_a_scaling_has_the_known_frequencies_and_multiplies_each_vector_once(
    base, scaling, scale, known
):
    enc = locant.make("rotary", dim=64, base=base, scaling=scaling)
    assert enc.frequencies()[AT].tolist() == pytest.approx(known, rel=2e-5)
    assert (enc.scale, enc.logit_scale) == (
        pytest.approx(scale, abs=5e-7),
        pytest.approx(scale**2, abs=2e-6),
    )
    q, k, _ = qkv(heads=1, width=64)
    for before, after in zip((q, k), enc.rotate(q, k, WHOLE, WHOLE), strict=True):
        assert_close(after.norm(dim=-1), scale * before.norm(dim=-1), rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("width", [64, 16])
def test_ntk_grows_the_base_and_dynamic_ntk_grows_it_with_the_length(width):
    def row(growth):
        return [
            (10_000 * growth ** (width / (width - 2))) ** (-2 * c / width)
            for c in range(width // 2)
        ]

    close(
        locant.make("rotary", dim=width, scaling={"type": "ntk", "factor": 4.0}).frequencies(),
        row(4.0),
    )
    dynamic = locant.make("rotary", dim=width, scaling=DYNAMIC)
    for length, growth in [(0, 1), (2048, 1), (2049, 1 + 2 / 2048), (3072, 2), (8192, 7)]:
        close(dynamic.frequencies(length), row(growth))


@pytest.mark.parametrize(
    ("last", "long", "dynamic"), [(2047, 1, 1), (2048, 5, 1 + 2 / 2048), (4095, 5, 3)]
)
def test_the_length_in_use_is_the_largest_position_plus_one(last, long, dynamic):
    slowest = torch.eye(64, dtype=torch.float64)[None, None, 31:32]
    for scaling, stretch in [(LONG, long), (DYNAMIC, dynamic)]:
        enc = locant.make("rotary", dim=64, scaling=scaling)
        q, k = enc.rotate(slowest, slowest, torch.tensor([7]), torch.tensor([last]))
        for position, vector in [(7, q), (last, k)]:
            angle = (
                position * 10_000 ** (-31 / 32) / stretch
            )  # both divide the slowest pair, (31, 63), by so much
            close(
                vector.flatten()[[31, 63]],
                [enc.scale * math.cos(angle), enc.scale * math.sin(angle)],
            )
