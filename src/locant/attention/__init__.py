"""Attention with positional encodings.

functional   attend and explicit: attention on queries, keys and values
layer        Attention: self-attention with projections and a cache
validation   what is refused, and in which words
inputs       what positions and masks alone decide, prepared once for a forward pass
calls        one call on rotated queries and keys: a `request`, a backend, its kernel
dispatch     which of the `backends` serves a request; `planning`, the same asked beforehand
masks        mask, causal order and bias as one tensor; `recomputing`, what a bias allows
kv_cache     keys, values and positions of the tokens so far
"""

from locant.attention.functional import attend as attend
from locant.attention.functional import explicit as explicit
from locant.attention.kv_cache import Cache as Cache
from locant.attention.layer import Attention as Attention
from locant.attention.planning import Plan as Plan
from locant.attention.planning import plan as plan
