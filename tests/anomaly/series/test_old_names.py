"""Names of the last release still work, with a warning that names the new one."""

from __future__ import annotations

import pytest

from locant.anomaly import series as series_room
from locant.anomaly.series import FileSummary, stream_rows, summary_table


@pytest.mark.parametrize(("old", "new"), [("Understood", FileSummary), ("table", summary_table)])
def test_an_old_name_of_the_package_is_the_new_one(old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new.__name__}"):
        assert getattr(series_room, old) is new


def test_old_attributes_are_the_new_ones(read):
    series = read(["x,y", "1,2", "4,3"])
    with pytest.warns(DeprecationWarning, match=r"now Series.summary"):
        assert series.understood is series.summary
    with pytest.warns(DeprecationWarning, match=r"now .format"):
        assert series.summary.kind == "CSV"
    row = list(stream_rows(["a,b", "1,x", "oops,y"], columns=["a"]))[-1]
    with pytest.warns(DeprecationWarning, match=r"now Row.notes"):
        assert row.said == row.notes
