"""Bias and mask by blocks of queries on a CPU: exact gradients, memory that grows with length.

backend     when it serves, and how it is called
forward     torch's fused kernel, block by block; `backward`, the gradients
block_bias  a bias that is never materialized as a whole, by distance or by positions, under a mask
blocking    which queries, keys and heads are computed at once; `pruning`, which of the keys matter
            at all
"""
