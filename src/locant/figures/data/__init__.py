"""The numbers behind the pictures of an encoding, measured through its hooks; no formula is known here.

`pictures(encoding)` gives what `locant.figures.plots` draws: for each picture its numbers, or why there is none. An encoding
is never asked for its name, so that a user's own gets every picture that fits it.

>>> drawn, left_out = pictures(make("alibi", dim=8, heads=2, length=16))
>>> list(drawn)
['numbers', 'score', 'bias', 'resolution', 'mixing']
>>> left_out["heat"]
'it adds no vectors to the input and turns none'
"""

from __future__ import annotations

from locant.figures.data.gallery import PICTURES, pictures

__all__ = ["PICTURES", "pictures"]
