"""The ways to compute attention; `locant.attention.dispatch` chooses among them.

Each module answers three questions about a `Request` and computes attention of rotated queries and
keys:

    NAME
    refuses(request)    why it cannot serve the request, or nothing
    unsuited(request)   why another backend is the better choice, or nothing; heeded unless it is
                        forced by name
    describe(request)   why it is the right choice
    run(q, k, v, inputs, scale=, drop=)

flex        a bias by distance on a GPU, by torch's flex_attention
tiled       bias and mask by blocks of queries on a CPU: memory grows with length
blocked     a learned bias, materialized, a few batch rows at a time; also queries wider than the
            values
fused       torch's scaled_dot_product_attention
reference   line by line, with scores and weights: the oracle that all others must equal
"""
