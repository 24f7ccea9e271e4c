"""Worked examples: what an encoding does to one position, or to a query and a key, with the arithmetic written out.

Nothing here knows a formula: waves, slopes and buckets are found in what the hooks give, and what is written is checked
against it first. So a user's own encoding is worked out like ours.

>>> (part,) = work_out(make("sinusoidal", dim=4), position=3)
>>> for dimension in part.lines[:4]:
...     print(dimension)
dimension 0   sin(3/1) = 0.1411     derivative: cos(3/1)/1 = −0.9900
dimension 1   cos(3/1) = −0.9900    derivative: −sin(3/1)/1 = −0.1411
dimension 2   sin(3/100) = 0.0300   derivative: cos(3/100)/100 = 0.0100
dimension 3   cos(3/100) = 0.9996   derivative: −sin(3/100)/100 = −0.0003
"""

from __future__ import annotations

from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.parts import HOOKS, work_out

__all__ = ["HOOKS", "Part", "work_out"]
