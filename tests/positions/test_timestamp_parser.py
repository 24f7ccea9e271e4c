"""One parser, two doors: `positions.timestamps` and a file's time column read the same moments."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.anomaly.series import read_series, stream_rows
from locant.positions import timestamps
from locant.positions.timestamp_formats import FORMATS
from locant.positions.timestamp_parser import Parts, assemble, parse, parse_all

NOON = np.datetime64("2014-02-14T12:00:00", "ns")
HALF_A_MINUTE = {  # noon and half a minute later
    "ISO 8601": ["2014-02-14 12:00:00", "2014-02-14 12:00:30"],
    "ISO 8601 with T": ["2014-02-14T12:00:00", "2014-02-14T12:00:30"],
    "fractions": ["2014-02-14T12:00:00.000", "2014-02-14T12:00:30.000000"],
    "fractions with a comma": ["2014-02-14T12:00:00,0", "2014-02-14T12:00:30,0"],
    "Z": ["2014-02-14T12:00:00Z", "2014-02-14T12:00:30Z"],
    "UTC": ["2014-02-14 12:00 UTC", "2014-02-14 12:00:30 UTC"],
    "offsets": ["2014-02-14T14:00:00+02:00", "2014-02-14T06:30:30-0530"],
    "offsets with seconds": ["2014-02-14T13:00:30+01:00:30", "2014-02-14T13:01:00+01:00:30"],
    "named zones": ["2014-02-14T13:00:00+01[Europe/Paris]", "2014-02-14T13:00:30+01[Europe/Paris]"],
    "hour alone": ["2014-02-14T12", "2014-02-14T12:00:30"],
    "slashes": ["2014/02/14 12:00", "2014/02/14 12:00:30"],
    "p.m.": ["2014/2/14 12:00 PM", "2014/2/14 12:00:30 p.m."],
    "day first": ["14/02/2014 12:00", "14/02/2014 12:00:30"],
    "dots": ["1.2.2014 12:00", "1.2.2014 12:00:30"],
    "month first": ["2/14/2014 12:00:00 PM", "2/14/2014, 12:00:30 PM"],
    "month by name": ["14 Feb 2014 12:00", "14 February 2014 12:00:30"],
    "RFC 2822": ["Fri, 14 Feb 2014 12:00:00 GMT", "Fri, 14 Feb 2014 12:00:30 GMT"],
    "web server logs": ["14/Feb/2014:12:00:00 +0000", "14/Feb/2014:12:00:30 +0000"],
    "American": ["Feb 14, 2014 12:00 pm", "Feb 14, 2014 12:00:30 pm"],
    "digits": ["20140214T120000", "20140214T120030"],
    "digits alone": ["20140214120000", "20140214120030"],
    "seconds since 1970": ["1392379200", "1392379230"],
    "seconds with a fraction": ["1392379200.0", "1392379230.0"],
    "milliseconds since 1970": ["1392379200000", "1392379230000"],
    "microseconds since 1970": ["1392379200000000", "1392379230000000"],
    "nanoseconds since 1970": ["1392379200000000000", "1392379230000000000"],
}
DAYS = {
    "dates": (["2016-02-28", "2016-03-01"], 2),
    "digits": (["20160228", "20160301"], 2),
    "months": (["2014-01", "2014-02"], 31),
    "days first": (["28/02/2016", "01/03/2016"], 2),
    "years apart": (["1800-01-01", "2000-01-01"], 73048),
}


@pytest.fixture
def read_times(tmp_path):
    """Write timestamps to a file and read its time column."""

    def reads(texts):
        path = tmp_path / "mine.csv"
        rows = [f'"{text}",{row % 3}' for row, text in enumerate(texts)]
        path.write_text("\n".join(["when,x", *rows]))
        return read_series(path, time="when", columns=["x"]).times

    return reads


@pytest.mark.parametrize("texts", HALF_A_MINUTE.values(), ids=HALF_A_MINUTE)
def test_every_format_is_read_alike_through_every_door(read_times, texts):
    times = read_times(texts)
    assert (times[1] - times[0]) == np.timedelta64(30, "s")
    assert timestamps(texts, unit="s").tolist() == [0, 30]
    assert [np.datetime64(one, "ns") for one in parse_all(texts)] == list(times)
    if "1.2.2014" not in texts[0]:
        assert times[0] == NOON


@pytest.mark.parametrize(("texts", "days"), DAYS.values(), ids=DAYS)
def test_dates_are_as_many_days_apart_through_every_door(read_times, texts, days):
    times = read_times(texts)
    assert (times[1] - times[0]) / np.timedelta64(1, "D") == days
    assert timestamps(texts, unit="D").tolist() == [0, days]


@pytest.mark.parametrize("texts", HALF_A_MINUTE.values(), ids=HALF_A_MINUTE)
def test_a_stream_reads_the_later_rows_as_a_file_does(read_times, texts):
    if "/" in texts[0] and texts[0].startswith("2/"):
        texts = texts[:1] * 2  # the first row must settle the order of day and month
    lines = ["when,x", *(f'"{text}",{row % 3}' for row, text in enumerate(texts))]
    streamed = [row.time for row in stream_rows(lines, time="when")]
    whole = [np.datetime64(one, "ns") for one in parse_all(texts)]
    assert streamed == whole


@pytest.mark.parametrize(
    ("texts", "fragment"),
    [
        (["01/02/2014", "02/02/2014"], "may have the day or the month first"),
        (["14/02/2014", "02/14/2014"], "has the day second, but '14/02/2014' has it first"),
        (["2014-02-30", "2014-03-01"], "2014-02-30"),
        (["2014-02-14 25:00", "2014-02-15"], "2014-02-14 25:00"),
        (["2/14/2014 13:00 PM", "2/15/2014"], "2/14/2014 13:00 PM"),
        (["14 Foo 2014", "15 Foo 2014"], "14 Foo 2014"),
        (["soon", "2014-02-14"], "soon"),
    ],
)
def test_what_one_door_refuses_the_other_refuses_too(read_times, texts, fragment):
    for read in (read_times, timestamps):
        with pytest.raises(ValueError) as caught:
            read(texts)
        assert fragment in str(caught.value)


def test_texts_of_a_list_may_have_different_formats_and_zones():
    mixed = ["2014-02-14", "14 Feb 2014 06:00", "2014-02-14T12:00Z", "20140214T180000"]
    assert timestamps(mixed, unit="h").tolist() == [0, 6, 12, 18]


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["2023", "2024", "2025"], [0, 365, 731]),
        (["1850-01", "1850-02"], [0, 31]),
        (["12024-01-01", "12024-01-02"], [0, 1]),
        (["2024-W01-1T00:00Z", "2024-W02-1T00:00Z"], [0, 7]),
    ],
)
def test_what_numpy_and_python_read_is_read_in_a_list(texts, days):
    assert timestamps(texts, unit="D").tolist() == days


def test_digits_are_dates_only_when_all_of_them_are():
    assert timestamps(["20140214", "20140216"], unit="D").tolist() == [0, 2]
    with pytest.raises(ValueError, match="0x10"):
        timestamps(["20140214", "0x10"])


def test_nine_digits_of_a_second_are_kept_and_reach_beyond_nanoseconds():
    near = ["2014-02-14T00:00:00.123456789", "2014-02-14T00:00:00.123456790"]
    assert timestamps(near, unit="ns").tolist() == [0, 1]
    far = ["0001-01-01T00:00:00.000000001", "9999-01-01T00:00:00.000000001"]
    assert timestamps(far, unit="D").tolist() == [0, 3651694]


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@settings(max_examples=200, deadline=None)
@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.none() | ZONES))
def test_parsing_agrees_with_python_for_every_moment_it_writes(moment):
    parsed = parse(moment.isoformat(), FORMATS[0])
    utc = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    since = utc - datetime(1970, 1, 1)
    assert parsed.valid
    assert parsed.zoned == (moment.tzinfo is not None)
    assert parsed.seconds == since.days * 86400 + since.seconds
    assert parsed.nanoseconds == since.microseconds * 1000


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.datetimes(datetime(1, 1, 1)), min_size=1, max_size=4),
    st.sampled_from(["auto", "minutes", "seconds", "milliseconds", "microseconds"]),
)
def test_plain_iso_texts_have_the_same_numbers_on_the_short_way(moments, timespec):
    texts = [moment.isoformat(timespec=timespec) for moment in moments]
    short, long = parse_all(texts), parse_all([*texts, "14 Feb 2014"])[:-1]
    assert short.tolist() == long.tolist()
    assert timestamps(texts, unit="s").tolist() == timestamps(long, unit="s").tolist()


def test_arrays_and_integers_take_the_same_arithmetic():
    year, month, day = (axis.ravel() for axis in np.mgrid[1890:2110, 0:14, 0:33])
    found = assemble(Parts(year, month, day))
    for one in range(0, len(year), 97):
        alone = assemble(Parts(int(year[one]), int(month[one]), int(day[one])))
        assert (found.seconds[one], found.valid[one]) == (alone.seconds, alone.valid)


def test_a_day_is_valid_exactly_when_the_calendar_has_it():
    year, month, day = (axis.ravel() for axis in np.mgrid[1890:2110, 0:14, 0:33])
    in_calendar = []
    for one in zip(year.tolist(), month.tolist(), day.tolist(), strict=True):
        try:
            in_calendar.append(bool(datetime(*one)))
        except ValueError:
            in_calendar.append(False)
    assert assemble(Parts(year, month, day)).valid.tolist() == in_calendar


def test_the_parser_needs_neither_torch_nor_polars():
    code = "import sys, locant.positions.timestamp_parser\n"
    code += "assert not {'torch', 'polars'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
