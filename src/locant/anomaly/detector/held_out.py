"""Clean rows that the method judging them has not learnt from: what false alarms are counted on.

Two blocks are held out, each judged by a method that learnt from all rows on its other side. The last block is the
self-test's, so this costs one more fit. Rows to learn from stay in one piece: a gap would break a season.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from locant.anomaly.detector.candidates import Candidate
from locant.anomaly.detector.method import Floats, Method, Stretch
from locant.anomaly.detector.progress import Tell
from locant.anomaly.detector.scoring import judge
from locant.lab.tasks._units import Units

HELD_OUT = 0.3  # of the rows: the first ones here, the last ones in the self-test
CONTEXT = 64  # rows beside a block, at least, that it is judged with


class Block(NamedTuple):
    """Held-out rows with the rows beside them, and the method that has not learnt from the held-out ones."""

    method: Method
    values: Floats  # (T,F)
    at: Floats  # (T,)
    start: int  # the rows start..stop−1 of these are held out
    stop: int

    def away(self, units: Units, limit: float | None = None) -> Floats:
        """Judge the block as a new series: the deviations of its held-out rows, (rows, F)."""
        return judge(self.method, units, self.values, self.at, limit).away[self.start : self.stop]


def first_block(best: Candidate, units: Units, clean: Floats, at: Floats, tell: Tell) -> Block:
    """Hold out the first rows, and learn from the others."""
    cut = int(HELD_OUT * len(clean))
    method = best.make(partial(tell, f"measuring false alarms: {best.name}"))
    method.fit(Stretch(units.seen(clean), at).part(cut, len(clean)))
    beside = cut + max(method.least, CONTEXT)
    return Block(method, clean[:beside], at[:beside], 0, cut)
