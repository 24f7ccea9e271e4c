"""Make the pictures of README and docs: of `locant show`, of a report, and the explorer, moving.
Needs Debian's chromium.

python docs/make_pictures.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

HOME = Path(__file__).parent
LOCANT = str(Path(sys.executable).with_name("locant"))
VIEWS = [  # of the explorer, one after the other
    "#encodings?a=sinusoidal&b=rotary&views=heat,waves",
    "#encodings?a=sinusoidal&b=rotary&views=heat,waves&of_a={%22base%22:100}&of_b={%22base%22:100}",
    "#encodings?a=sinusoidal&b=rotary&views=similarity,product",
    "#encodings?a=alibi&b=sandwich&views=score,bias",
]
SIZE = {"width": 1000, "height": 640}
MILLISECONDS = 1800  # that each view stays


def photograph(
    browser: Browser, address: str, ready: str, out: Path, top: str = "", **size: int
) -> None:
    """A page as it is when what it waits for is there, scrolled until `top` is at its top."""
    page = browser.new_page(viewport={"width": 1100, "height": 900} | size)
    page.goto(address)
    page.wait_for_selector(ready)
    page.wait_for_timeout(4000)
    if top:
        page.evaluate("top => document.querySelector(top).scrollIntoView()", top)
        page.wait_for_timeout(500)
    page.screenshot(path=out)
    page.close()


def film(browser: Browser, address: str, folder: Path, out: Path) -> None:
    """The views of the explorer, one after the other, in one moving picture."""
    frames = []
    for number, view in enumerate(VIEWS):
        still = folder / f"{number}.png"
        photograph(browser, address + view, ".plot .main-svg", still, top=".plot", **SIZE)
        frames.append(Image.open(still).convert("RGB").quantize(96, dither=Image.Dither.NONE))
    first, *rest = frames
    first.save(out, save_all=True, append_images=rest, duration=MILLISECONDS, loop=0, optimize=True)


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
        photograph(browser, page.as_uri(), "h1", out / "report.png")
        with explorer() as address:
            film(browser, address, Path(folder), out / "explorer.gif")
        browser.close()
    print(f"wrote {', '.join(sorted(path.name for path in out.iterdir()))} to {out}")


if __name__ == "__main__":
    main()
