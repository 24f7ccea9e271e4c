"""What every task on a user's own file shares: the file, the digest of what it holds, and that less is better."""

from __future__ import annotations

from dataclasses import dataclass

from locant.lab.tasks import UNSEEN
from locant.lab.tasks.base import Scores


@dataclass(frozen=True)
class Own:
    """A file of the user's. `digest` is of what it holds: other data are another task."""

    path: str = ""
    digest: str = ""

    pool = False
    higher_is_better = False
    tested_on = UNSEEN
    chooses_higher = False
    threshold = 0.0
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError(
                "this study is made for a file of yours, and none is given.\n  locant compare --data FILE"
            )
        if self.digest and self.measured() != self.digest:
            raise ValueError(f"{self.path} does not hold what it held when the study began.")

    def measured(self) -> str:
        """The digest of what the file holds now."""
        raise NotImplementedError

    def ceilings(self) -> Scores:
        """None is known for data that nobody made."""
        return {}
