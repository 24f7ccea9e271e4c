"""What an encoding may claim about itself, each in one sentence.

A claim is a class attribute of the encoding. It is believed only after it has been tested.
"""

CLAIMS = {
    "shift_invariant": "moving all positions by the same amount changes no score",
    "extrapolates": "has a value at any position, also past the length it was made for",
    "real_positions": "takes real-valued positions, such as time stamps",
    "causal_only": "is meant for causal attention alone",
    "cacheable_keys": "a key, once rotated, stays right when more tokens come",
    "prefers_near": "a nearer key never scores lower than a farther one on the same side, all else equal",
    "bounded": "what it adds to the input, or multiplies it by, stays in a fixed range at any position",
    "linear_offset": "moving by k positions is one linear map of the vector, the same from every position",
    "tells_order": "the order of the tokens changes the output",
    "tells_direction": "a key before and a key after, equally far, can be told apart",
}

HOOKS = {
    "embed": "input",
    "rotate": "queries and keys",
    "bias": "scores",
    "rescore": "scores, by content",
    "mix": "values",
}
