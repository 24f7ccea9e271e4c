"""A real browser at a real explorer: Debian's chromium through playwright, and `locant explore` as
a user starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from common_explorer import ROOT

LOCANT = Path(sys.executable).with_name("locant")
CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed. On Debian: apt-get install -y chromium"
)
SHOTS = Path(os.environ.get("LOCANT_SCREENSHOTS", ROOT / "dist" / "screenshots"))
WAIT = 120_000  # milliseconds: other work may hold the cores


@contextmanager
def explorer(*arguments, cwd=None):
    """The address of a running `locant explore`."""
    command = [str(LOCANT), "explore", "--no-open", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            yield process.stderr.readline().split()[2]
        finally:
            process.terminate()
            process.wait(30)


class Visit:
    """A page, what it complained of, and where it asked."""

    def __init__(self, browser, address, where="", *, width=1300, dark=False):
        scheme = "dark" if dark else "light"
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.page, self.address = self.context.new_page(), address
        self.complaints, self.asked = [], []
        self.page.set_default_timeout(WAIT)
        self.page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.complaints.append(said.text),
        )
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address + where)

    def foreign(self):
        """What was asked of other hosts."""
        return [url for url in self.asked if not url.startswith((self.address, "data:", "blob:"))]

    def heat(self):
        """Rows and columns of the first figure."""
        self.page.wait_for_selector(".plot .main-svg")
        return self.page.evaluate(
            "(() => { const z = document.querySelector('.plot').data[0].z;"
            " return [z.length, z[0].length]; })()"
        )

    def until(self, text):
        """Wait until an expression is true in the page, asked from outside: the page itself forbids
        eval."""
        last = time.monotonic() + WAIT / 1000
        while not self.page.evaluate(f"Boolean({text})"):
            assert time.monotonic() < last, f"it never came true: {text}"
            self.page.wait_for_timeout(50)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
