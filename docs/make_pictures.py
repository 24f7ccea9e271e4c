"""Make the three pictures of README: of `locant show`, of a report, and of the explorer. Needs
Debian's chromium.

python docs/make_pictures.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HOME = Path(__file__).parent
LOCANT = str(Path(sys.executable).with_name("locant"))
VIEW = "#encodings?a=sinusoidal&b=rotary&views=heat,waves,similarity,score"


def photograph(browser: Browser, address: str, ready: str, out: Path, height: int) -> None:
    """A page as it is when what it waits for is there."""
    page = browser.new_page(viewport={"width": 1100, "height": height})
    page.goto(address)
    page.wait_for_selector(ready)
    page.wait_for_timeout(4000)
    page.screenshot(path=out)


def main() -> None:
    sys.path.append(str(HOME.parent / "tests" / "explorer"))
    from common_browser import CHROMIUM, FLAGS, explorer  # as the tests open a browser

    out = HOME / "pictures"
    out.mkdir(exist_ok=True)
    store = HOME / "studies" / "studies.json.gz"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        subprocess.run(
            [LOCANT, "show", "sinusoidal", "--out", folder], check=True, stdout=subprocess.DEVNULL
        )
        heat = next(Path(folder).rglob("*heat*.png"))
        shutil.copy(heat, out / "show.png")
        page = Path(folder) / "order.html"
        subprocess.run([LOCANT, "report", "order", "--store", store, "--html", page], check=True)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        photograph(browser, page.as_uri(), "h1", out / "report.png", 900)
        with explorer() as address:
            photograph(browser, address + VIEW, ".plot .main-svg", out / "explorer.png", 1000)
        browser.close()
    print(f"wrote {', '.join(sorted(path.name for path in out.iterdir()))} to {out}")


if __name__ == "__main__":
    main()
