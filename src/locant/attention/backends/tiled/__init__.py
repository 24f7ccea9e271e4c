"""Bias and mask by blocks of queries on a CPU: exact gradients, memory that grows with length.

forward     torch's fused kernel, block by block; `backward`, the gradients
block_bias  what a bias by blocks must answer: `toeplitz_bias` by distance, `computed_bias` by
            positions and states, `masked_bias` under a mask; `by_blocks` makes the one that fits
blocking    which queries, keys and heads are computed at once; `pruning`, which of the keys matter
            at all
"""
