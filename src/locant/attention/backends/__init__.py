"""The kernels that compute attention; `locant.attention.dispatch` says when each of them serves.

Each has `run(q, k, v, bias, scale=, drop=)` for rotated queries and keys, with the bias in the form
that the kernel takes.

flex        a bias by distance on a GPU, by torch's flex_attention
tiled       bias and mask by blocks of queries on a CPU: memory grows with length
blocked     a learned bias, materialized, a few batch rows at a time; also queries wider than the
            values
fused       torch's scaled_dot_product_attention
reference   line by line, with scores and weights: the oracle that all others must equal
"""
