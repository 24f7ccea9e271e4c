"""From a series to what is wrong in it: the clean part, the season, the self-test, the detector, its threshold."""

from __future__ import annotations

from functools import partial

from locant.anomaly.detector.calibration import Calibration
from locant.anomaly.detector.candidates import Candidate, candidates
from locant.anomaly.detector.clock import Clock
from locant.anomaly.detector.detection import Chosen, Detection
from locant.anomaly.detector.detector import SEEN, Detector
from locant.anomaly.detector.held_out import first_block
from locant.anomaly.detector.method import Stretch
from locant.anomaly.detector.progress import Tell
from locant.anomaly.detector.reasons import reasons
from locant.anomaly.detector.scoring import judge
from locant.anomaly.detector.season import find_season
from locant.anomaly.detector.selftest import self_test
from locant.anomaly.detector.settings import Settings
from locant.anomaly.detector.threads import one_thread
from locant.anomaly.metrics.smoothing import usual_width
from locant.anomaly.series import Series
from locant.encodings.registry import describe
from locant.lab.tasks._units import Units

LEAST = 100  # rows to learn from
REHEARSED = 100  # rows, after those that a row is judged by, that a detector keeps for a stream
IRREGULAR = 0.02  # from this share of irregular gaps on, true times are positions
DEFAULT = Settings()


def detect(
    series: Series,
    settings: Settings = DEFAULT,
    *,
    train: Series | None = None,
    progress: Tell | None = None,
) -> Detection:
    """Find anomalies in a series, by a detector that learns from it, or from another one.

    train     a clean series with the same columns to learn from; by default the series itself, or its clean part
    progress  is called with what is being done and the share of it that is done

    >>> from locant.anomaly.series.series import FileSummary
    >>> wave = np.sin(np.arange(400) / 4)[:, None]
    >>> wave[300:304] += 1.5
    >>> series = Series(wave, ("wave",), None, None, None, FileSummary("wave", "made", 400, 1, None), [])
    >>> [(event.start, event.stop) for event in detect(series, Settings(method="harmonic")).events]
    [(300, 304)]
    """
    tell: Tell = progress or (lambda _what, _share: None)
    source = series if train is None else train
    rows = int(settings.clean * len(series.values)) if train is None else len(train.values)
    if rows < LEAST:
        raise ValueError(
            f"detect needs at least {LEAST} rows to learn from. {source.summary.file} gives {rows}."
        )
    for name, asked, most in (
        ("season", settings.season, rows // 2),
        ("smooth", settings.smooth, rows),
    ):
        if asked is not None and asked > most:
            raise ValueError(
                f"detect was asked for {name}={asked}, but {rows} rows are learnt from. Allowed: at most {most}."
            )
    clock, clean = Clock.of(source), source.values[:rows]
    at = clock.at(source.times, len(source.values), again=True)
    units = Units.of(clean)
    season = settings.season or find_season(clean)
    with one_thread():
        outcome = self_test(
            _entrants(source, rows, season, settings), units, clean, at[:rows], settings.seed, tell
        )
        best = outcome.best
        blocks = (first_block(best, units, clean, at[:rows], tell), outcome.held_out)
        method = best.make(partial(tell, f"learning: {best.name}"))
        method.fit(Stretch(units.seen(clean), at[:rows]))
        tell("judging", 0.0)
        mixed = train is None and rows == len(
            series.values
        )  # then all rows together say what is usual
        judged = judge(method, units, clean, at) if mixed else None
        width = usual_width(rows) if settings.smooth is None else settings.smooth
        why = reasons(outcome.trials, settings, season, best, source)
        chosen = Chosen(
            best.method, best.encoding, season, width, bool(best.settings.get("real")), why
        )
        calibration = Calibration.of(
            blocks, judged.away if judged else None, units, width, settings.threshold
        )
        last = Stretch(clean, at[:rows]).part(
            max(0, rows - max(method.least, SEEN) - REHEARSED), rows
        )
        detector = Detector(
            source.names, best, method, units, clock, calibration, chosen, outcome.trials, last
        )
        if train is not None:
            return detector.detect(series)
        return detector.told(
            series, judged or judge(method, units, series.values, at, calibration.limit)
        )


def _entrants(source: Series, rows: int, season: int | None, settings: Settings) -> list[Candidate]:
    irregular = (source.summary.irregular or 0.0) > IRREGULAR
    real = {
        name: irregular and bool(describe(name).claims["real_positions"])
        for name in settings.encodings
    }
    return candidates(
        settings.method,
        settings.encodings,
        length=rows,
        columns=len(source.names),
        season=season,
        known=settings.season,
        real=real,
        steps=settings.steps,
        seed=settings.seed,
    )
