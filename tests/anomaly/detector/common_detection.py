"""Small series with a fault in them, as arrays and as files."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from locant.anomaly.series.series import FileSummary, Series
from locant.cli.app import app

SEASON = 24


def wave(rows=360, columns=1, noise=0.1, seed=0):
    """Seasons with noise, (rows, columns)."""
    draw = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(2 * np.pi * time / SEASON + np.arange(columns)) + draw.normal(
        0, noise, (rows, columns)
    )


def as_series(values, times=None, irregular=0.0, labels=None):
    names = tuple(f"x{number}" for number in range(values.shape[1]))
    known = FileSummary("made", "made", *values.shape, None, step=1.0, irregular=irregular)
    return Series(values, names, times, labels, None, known, [])


def csv(values, names=None, start="2014-02-14T00:00"):
    """The text of a CSV with hourly times."""
    names = names or [f"x{number}" for number in range(values.shape[1])]
    times = np.datetime64(start) + np.arange(len(values)) * np.timedelta64(1, "h")
    rows = [
        ",".join([str(time), *(f"{value:.6f}" for value in row)])
        for time, row in zip(times, values, strict=True)
    ]
    return "\n".join([",".join(["time", *names]), *rows]) + "\n"


def run(*arguments, stdin=None):
    return CliRunner().invoke(
        app, ["detect", *map(str, arguments)], input=stdin, env={"COLUMNS": "120"}
    )


def ran(*arguments, stdin=None):
    """What `locant detect …` leaves when all goes well."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done


def refused(*arguments, stdin=None):
    """The sentence of a refusal."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 2, done.output + repr(done.exception)
    assert "Traceback" not in done.stderr
    return done.stderr
