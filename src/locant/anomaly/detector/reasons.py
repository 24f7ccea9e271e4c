"""Why this was chosen, in a sentence each."""

from __future__ import annotations

from locant.anomaly.detector.candidates import Candidate
from locant.anomaly.detector.detection import Trial
from locant.anomaly.detector.settings import ENCODING, WHY, Settings
from locant.anomaly.series import Series


def reasons(
    trials: tuple[Trial, ...],
    settings: Settings,
    season: int | None,
    best: Candidate,
    source: Series,
) -> tuple[str, ...]:
    """Method, encoding, season and positions."""
    said = [_method(trials, settings)]
    if best.encoding == ENCODING and settings.encodings == (ENCODING,):
        said.append(f"Encoding {WHY}.")
    if season is None:
        said.append("No season was found: nothing comes back after a fixed number of rows.")
    else:
        whence = (
            "as given" if settings.season else "found where the series is most like itself again"
        )
        said.append(f"Season: {season} rows, {whence}.")
    if best.encoding and source.times is not None:
        irregular = source.summary.irregular or 0.0
        where = "their true times" if best.settings["real"] else "their count"
        said.append(f"Positions are {where}: {irregular:.1%} of the gaps are irregular.")
    return tuple(said)


def _method(trials: tuple[Trial, ...], settings: Settings) -> str:
    first = trials[0]
    if len(trials) == 1:
        return f"{first.name} was asked for; in the self-test it has an average precision of {first.mean:.2f}."
    second = trials[1]
    return (
        f"{first.name} found the injected faults best: average precision {first.mean:.2f}, "
        f"before {second.name} with {second.mean:.2f}."
    )
