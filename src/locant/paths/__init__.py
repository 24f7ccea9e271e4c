"""The ways that attention takes a bias: the oracle and the choice among them stand in `locant.attention`.

blocked   a bias that learns, written down whole, a few batch rows at a time; also queries wider than the values
tiled     never written down whole, on a CPU: torch's kernel forward, `tiled_gradients` backward
flexed    the same on a GPU, by torch's flex_attention
tiles     a bias a few rows at a time, by distance or by positions; `masked`, the same under a mask
masks     what may be seen as numbers to add, and queries that see nothing
rows      which queries and keys are done at once; `reach`, which of those keys matter at all
"""
