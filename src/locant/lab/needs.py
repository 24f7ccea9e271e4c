"""What people need of positions, and which study answers each need. No torch."""

from __future__ import annotations

from typing import NamedTuple

from locant._internal.checks import did_you_mean


class Need(NamedTuple):
    """A need in a sentence, and what answers it.

    studies  names of studies; with far=True their longest rows decide, where they have them
    besides  what to do where no study can answer, or beside what studies say
    """

    sentence: str
    studies: tuple[str, ...]
    far: bool = False
    besides: str = ""


NEEDS: dict[str, Need] = {
    "absolute slot": Need("What stands at a given position?", ("slot", "decoy", "join")),
    "exact offset": Need("What stands at an exact distance?", ("gap", "lag")),
    "order": Need("Which comes before which?", ("order", "parity")),
    "recency": Need("What came last, among much to skip?", ("flipflop",)),
    "long context": Need(
        "Longer rows than those of training.",
        ("text-lengths", "lag", "flipflop", "copy", "reverse", "missing-duplicate", "bucket-sort"),
        far=True,
        besides="A pretrained model is made longer by: locant extend DIR --data mine.txt",
    ),
    "irregular time": Need("Steps at uneven times.", ("irregular", "real-anomalies-irregular")),
    "two dimensions": Need("Tokens on a grid, of changing size.", ("grid",)),
    "seasons": Need("Hidden or faulty steps of seasonal series.", ("anomaly", "phase")),
    "real series": Need("Series that people recorded.", ("real-anomalies", "classify")),
    "small data": Need("Few examples to learn from.", ("classify",)),
    "real text": Need("Text, byte by byte.", ("text-lengths", "byte-lm")),
    "pretrained checkpoint": Need(
        "A model that is trained already.",
        (),
        besides="Its encoding is part of its weights: keep it. Check how it is read: "
        "locant check DIR; give it a longer context: locant extend DIR --data mine.txt",
    ),
}


def find_needs(text: str) -> list[str]:
    """Read needs that are listed with commas.

    >>> find_needs("exact offset, Long context")
    ['exact offset', 'long context']
    """
    found = []
    for word in text.split(","):
        name = " ".join(word.lower().split())
        if not name:
            continue
        if name not in NEEDS:
            raise ValueError(
                f"no need is called {name!r}.{did_you_mean(name, NEEDS)}\n"
                f"  Known: {', '.join(NEEDS)}"
            )
        found.append(name)
    if not found:
        raise ValueError(f"name at least one need.\n  Known: {', '.join(NEEDS)}")
    return list(dict.fromkeys(found))
