"""Keys whose weights vanish are left out, and none that counts."""

import torch

from common import build
from locant.attention.backends.tiled import blocking, pruning
from locant.attention.backends.tiled.blocking import QueryBlock
from locant.attention.backends.tiled.by_blocks import take_by_blocks
from locant.attention.inputs import prepare
from locant.attention.recomputing import examine_bias


def test_keys_whose_weights_vanish_are_left_out():
    length = 4096
    inputs = prepare(build("alibi"), *[torch.arange(length)] * 2, like=torch.zeros(1), causal=True)
    inputs.facts = examine_bias(inputs)
    bias = take_by_blocks(inputs, torch.float32).bias.block(
        QueryBlock(length - 256, length, length)
    )
    long, most = torch.ones(1, 4), torch.ones(1, 4, length // pruning.KEY_BLOCK)
    ones = pruning.key_ranges(bias, long, most, None)[0]
    assert [one.last for one in ones] == [length] * 4
    by_slope = [length - one.first for one in ones]  # slopes 1/4, 1/16, 1/64, 1/256
    assert by_slope == sorted(by_slope)
    assert (
        by_slope[0] <= 1024
    )  # 61 and what its own block may cost, 128, at 1/4 a step, in whole blocks
    assert by_slope[-1] == length
    assert not ones[-1].fades(length // 2, length - 512)
    assert ones[-1].fades(length - 512, length)  # what lies ahead is hidden
    assert [one.first for one in pruning.key_ranges(bias, long, most, (0 * long, 0 * long))[0]] == [
        3584,
        2816,
        0,
        0,
    ]
    for logs in (None, (0 * long, 0 * long)):
        far = pruning.key_ranges(bias, 1100 * long, most, logs)[
            0
        ]  # content that may outweigh every distance
        nan = pruning.key_ranges(bias, torch.nan * long, most, logs)[0]
        assert {one.first for one in (*far, *nan)} == {0}


def test_every_query_keeps_the_keys_that_matter_to_it():
    bias = torch.full((1, 1, 2, 8 * pruning.KEY_BLOCK), -200.0)
    bias[..., 0, :5] = 0.0
    bias[..., 1, 3 * pruning.KEY_BLOCK] = -100.0  # the best that this query has
    (span,) = pruning.key_ranges(bias, torch.zeros(1, 1), torch.zeros(1, 1, 8), None)[0]
    assert (span.first, span.last) == (0, 8 * pruning.KEY_BLOCK)
    (span,) = pruning.key_ranges(
        bias, torch.zeros(1, 1), torch.zeros(1, 1, 8), (torch.tensor([[-100.0]]), torch.zeros(1, 1))
    )[0]
    assert (span.first, span.last) == (0, 4 * pruning.KEY_BLOCK)


def test_a_line_and_the_matrix_that_it_stands_for_have_the_same_extremes():
    line = torch.randn(3, 700 + 40 - 1)
    bias = line.as_strided((1, 3, 40, 700), (0, line.stride(0), 1, 1))
    for of_line, of_matrix in zip(
        pruning._extremes(bias), pruning._extremes(bias.contiguous()), strict=True
    ):
        assert torch.equal(of_line, of_matrix)


def test_no_weight_is_a_subnormal_number_and_none_that_counts_is_lost():
    lowest = pruning.vanishing_exponent(torch.float32)
    assert torch.tensor(lowest).exp() * 1e-7 > torch.finfo(torch.float32).tiny
    assert torch.tensor(lowest).exp() < torch.finfo(torch.float32).eps ** 3


def test_a_piece_begins_where_a_block_does():
    assert blocking.KEYS_AT_ONCE % pruning.KEY_BLOCK == 0


def test_of_a_piece_all_keys_some_or_none_may_matter():
    keys, long, most = 4 * pruning.KEY_BLOCK, torch.ones(1, 1), torch.ones(1, 1, 8)
    flat = torch.zeros(1, 1, 2, keys)
    steep = flat - torch.arange(keys).flip(0) / 4
    low = high = torch.zeros(1, 1)
    of = lambda bias: pruning.ranges_in_piece(bias, long, most, keys, low, high)[0][0]  # noqa: E731
    assert of(flat) == pruning.KeyRange(0, keys, [False] * 4)
    assert (of(steep).first, of(steep).last) == (
        3 * pruning.KEY_BLOCK,
        keys,
    )  # the block before it begins at −64
    assert of(steep).fading == [True, True, True, True]
    assert of(flat - 100).first == of(flat - 100).last  # nothing
    assert of(torch.where(torch.arange(keys) == 3, -torch.inf, flat)).fading == [
        True,
        False,
        False,
        False,
    ]
    assert of(flat + torch.nan).last == keys  # a NaN matters


def test_a_span_is_cut_at_a_piece_and_counted_from_it():
    wide = pruning.KEY_BLOCK
    span = pruning.KeyRange(wide + 3, 4 * wide, [True, True, False, False])
    assert span.clipped(wide, 3 * wide) == pruning.KeyRange(3, 2 * wide, [True, False])
    assert span.clipped(2 * wide, 4 * wide - 1) == pruning.KeyRange(0, 2 * wide - 1, [False, False])
    nothing = span.clipped(0, wide)
    assert nothing.first == nothing.last
    nothing = span.clipped(4 * wide, 5 * wide)
    assert nothing.first == nothing.last
    nothing = pruning.KeyRange(3 * wide, 4 * wide, [True] * 4).clipped(0, wide)
    assert (
        nothing.first == nothing.last <= wide
    )  # or heads that are done together would need more than the piece


def test_pieces_begin_where_the_queries_are():
    some = QueryBlock(600, 700, 1000)
    assert blocking.nearest_pieces_first(some, 256, 0)[0].start == 512
    assert blocking.nearest_pieces_first(some, 256, 300)[0].start == 768
    assert sorted(blocking.nearest_pieces_first(some, 256, 0)) == [
        QueryBlock(600, 700, 256, 0),
        QueryBlock(600, 700, 512, 256),
        QueryBlock(600, 700, 768, 512),
        QueryBlock(600, 700, 1000, 768),
    ]
