"""Attention with positional encodings.

functional   attend and explicit: attention on queries, keys and values
layer        Attention: self-attention with projections and a cache
inputs       what positions and masks alone decide, prepared once for a forward pass
masks        boolean masks and what they become; `validation`, what is refused
kv_cache     keys, values and positions of the tokens so far
request      what a call asks for; `dispatch`, which of the `backends` serves it; `recomputing`,
             what a bias allows
"""

from locant.attention.dispatch import Plan as Plan
from locant.attention.dispatch import plan as plan
from locant.attention.functional import attend as attend
from locant.attention.functional import explicit as explicit
from locant.attention.kv_cache import Cache as Cache
from locant.attention.layer import Attention as Attention
