"""Files that are dropped into the explorer, in a real browser."""

from __future__ import annotations

import json
import urllib.request

import pytest
from common_browser import NEEDS_CHROMIUM, SHOTS

pytestmark = [NEEDS_CHROMIUM, pytest.mark.slow]


def load(hour):
    """A day's rhythm with a little noise, and one fault."""
    return 10 + (hour % 24) / 4 + (hour * 7919 % 11) / 50 + (9 if 300 <= hour < 306 else 0)


SERIES = "time,load\n" + "".join(
    f"2024-01-{1 + hour // 24:02}T{hour % 24:02}:00,{load(hour):.3f}\n" for hour in range(480)
)


def dropped(page, name, body):
    """Drop a file on the page as a hand does."""
    page.evaluate(
        """([name, body]) => {
            const data = new DataTransfer();
            data.items.add(new File([body], name));
            const how = { dataTransfer: data, bubbles: true, cancelable: true };
            const event = new DragEvent('drop', how);
            document.querySelector('.drop').dispatchEvent(event);
        }""",
        [name, body],
    )


def test_a_dropped_file_gives_events(visit):
    seen = visit("#detect")
    seen.page.wait_for_selector(".drop")
    dropped(seen.page, "mine.csv", SERIES)
    seen.until("document.querySelector('[role=status].reason')?.textContent.includes('event')")
    events = seen.page.locator("table").first.inner_text()
    assert "2024-01-13 12:00:00" in events  # hour 300
    seen.page.screenshot(path=SHOTS / "detect-events.png", full_page=True)
    assert seen.complaints == []


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("huge.csv", "1\n" * 2_100_000, "takes up to 4 MB"),
        ("binary.csv", "\u0000\u0001\u0002" * 50, "binary.csv is not text"),
        ("words.csv", "a,b\nx,y\n", "words.csv has no column"),
        ("<img src=x onerror=window.hurt=1>.csv", "", "empty"),
    ],
)
def test_a_huge_or_broken_file_gets_a_message_and_the_server_lives(
    visit, address, name, body, said
):
    seen = visit("#detect")
    seen.page.wait_for_selector(".drop")
    dropped(seen.page, name, body)
    seen.until(
        f"document.querySelector('[role=status].reason').textContent.includes({json.dumps(said)})"
    )
    assert seen.page.evaluate(
        "window.hurt === undefined && document.querySelectorAll('main img').length === 0"
    )
    assert urllib.request.urlopen(f"{address}api/start", timeout=30).status == 200
