"""The slides of the lecture: one file, every slide inside its frame, on wide and narrow screens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from common_browser import CHROMIUM, FLAGS, NEEDS_CHROMIUM

ROOT = Path(__file__).parent.parent
SOURCE = (ROOT / "course" / "lecture" / "slides.md").read_text("utf-8")
COUNT = SOURCE.count("\n---\n") + 1
SIZES = [(1280, 720, "light"), (1280, 720, "dark"), (390, 844, "light")]
# what of the slide that is shown lies outside of its frame, or under the buttons
OUTSIDE = """() => {
  const frame = document.querySelector('.slide.shown').getBoundingClientRect();
  const buttons = document.querySelector('footer').getBoundingClientRect();
  const outside = [];
  for (const part of document.querySelectorAll('.slide.shown > *, .slide.shown > :not(.notes) *')) {
    const box = part.getBoundingClientRect();
    if (box.width && (box.right > frame.right + 1 || box.left < frame.left - 1
        || box.top < frame.top - 1 || box.bottom > buttons.top + 1))
      outside.push(part.tagName + ': ' + part.textContent.slice(0, 40));
  }
  return outside;
}"""


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    file = tmp_path_factory.mktemp("slides") / "slides.html"
    command = [sys.executable, "course/lecture/build.py", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return file


def test_every_slide_has_a_title_and_notes_for_the_speaker():
    assert 38 <= COUNT <= 46
    for slide in re.split(r"^---\n", SOURCE, flags=re.MULTILINE):
        assert re.match(r"#{1,2} \S", slide), slide[:80]
        assert re.search(r"\nNote: \S", slide), slide[:80]


@NEEDS_CHROMIUM
@pytest.mark.slow
@pytest.mark.xdist_group("slides")
def test_every_slide_fits_its_frame_without_an_error_or_another_host(slides):
    playwright = pytest.importorskip("playwright.sync_api")
    complaints, asked, wrong = [], [], []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, height, theme in SIZES:
            view = {"width": width, "height": height}
            page = browser.new_page(viewport=view, color_scheme=theme)
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(slides.as_uri())
            assert page.evaluate("document.documentElement.dataset.theme") == theme
            for number in range(1, COUNT + 1):
                assert page.inner_text("#number") == f"{number} / {COUNT}"
                wrong += [(width, number, part) for part in page.evaluate(OUTSIDE)]
                shown = page.locator(".slide.shown img:visible").count()
                assert shown == page.locator(".slide.shown img").count() / 2
                page.keyboard.press("ArrowRight")
            page.close()
        browser.close()
    assert wrong == []
    assert complaints == []
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


@NEEDS_CHROMIUM
@pytest.mark.slow
@pytest.mark.xdist_group("slides")
def test_keys_turn_pages_show_notes_and_print_a_page_for_each_slide(slides):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(f"{slides.as_uri()}#7")
        for key, number in {"ArrowLeft": 6, " ": 7, "End": COUNT, "PageUp": COUNT - 1}.items():
            page.keyboard.press(key)
            assert page.inner_text("#number") == f"{number} / {COUNT}"
        notes = page.locator(".slide.shown .notes")
        assert not notes.is_visible()
        page.keyboard.press("n")
        assert notes.is_visible()
        page.keyboard.press("d")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == COUNT
        browser.close()
