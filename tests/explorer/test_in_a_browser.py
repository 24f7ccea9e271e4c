"""The explorer in a real browser: every tab, both themes, phone width, keyboard, links, broken
input."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from common_browser import NEEDS_CHROMIUM, SHOTS, Visit, explorer

pytestmark = [NEEDS_CHROMIUM, pytest.mark.slow]


TABS = {  # what is there when a tab has drawn itself
    "encodings": ".worked li",
    "attention": ".many .main-svg",
    "certificates": ".matrix td.holds",
    "studies": ".plot .main-svg",
    "detect": ".drop",
}


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_loads_without_complaint_from_here_alone_and_fits(visit, tab):
    SHOTS.mkdir(parents=True, exist_ok=True)
    for name, how in {"light": {}, "dark": {"dark": True}, "phone": {"width": 390}}.items():
        seen = visit(f"#{tab}", **how)
        seen.page.wait_for_selector(TABS[tab])
        seen.page.wait_for_timeout(500)
        seen.page.screenshot(path=SHOTS / f"{tab}-{name}.png", full_page=True)
        assert seen.complaints == []
        assert seen.foreign() == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"{tab} is too wide: {name}"
        )
        paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"dark": "rgb(21, 24, 29)"}.get(name, "rgb(255, 255, 255)")


def test_a_slider_moved_by_the_keyboard_changes_the_picture(visit):
    seen = visit("#encodings?views=heat")
    assert seen.heat() == [100, 64]
    slider = seen.page.get_by_label("length", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    seen.until("document.querySelector('.plot').data[0].z.length === 101")
    assert "length=101" in seen.page.url


def test_heads_keep_the_width_a_multiple(visit):
    seen = visit("#encodings?views=heat&dim=40")
    seen.heat()
    seen.page.get_by_label("heads", exact=True).press("End")
    seen.until("document.querySelector('.plot').data?.[0].z[0].length % 32 === 0")
    assert "heads=16" in seen.page.url


def test_an_option_changes_the_picture(visit):
    seen = visit("#encodings?views=heat")
    seen.heat()
    before = seen.page.evaluate("document.querySelector('.plot').data[0].z[7][20]")
    seen.page.get_by_label("base", exact=True).press("ArrowLeft")
    seen.until(f"document.querySelector('.plot').data[0].z[7][20] !== {before}")


def test_the_arithmetic_follows_the_pointer(visit):
    seen = visit("#encodings?views=heat")
    seen.heat()
    seen.page.wait_for_selector(".worked li")
    seen.page.locator(".plot .nsewdrag").first.hover(position={"x": 150, "y": 120})
    seen.page.wait_for_selector(".lines .now")
    marked = seen.page.locator(".lines .now").first.inner_text()
    position = seen.page.evaluate(
        "Number(new URLSearchParams(location.hash.split('?')[1]).get('position'))"
    )
    assert marked.startswith("dimension ")
    assert position != 3
    seen.until(
        f"document.querySelector('.worked').textContent.includes('position {position} at width 64')"
    )


@pytest.mark.parametrize(
    ("name", "said"), [("none", "just follow their words"), ("rotary", "the outputs change")]
)
def test_a_shuffled_sentence_is_followed_only_without_positions(visit, name, said):
    seen = visit(f"#encodings?a={name}&views=score")
    seen.page.get_by_label("sentence", exact=True).fill("a dog bites a man")
    seen.page.get_by_role("button", name="Shuffle").click()
    seen.until(f"document.querySelector('.verdict')?.textContent.includes({json.dumps(said)})")
    assert "order=" in seen.page.url


def shuffled_words(seen):
    """The words of the shuffled sentence, in the order shown."""
    return seen.page.get_by_label("the shuffled sentence").locator("li").all_inner_texts()


def test_an_encoding_of_distances_is_shown_to_see_order(visit):
    seen = visit("#encodings?a=alibi&views=score")
    seen.until("document.querySelector('.verdict')?.textContent")
    assert shuffled_words(seen) == ["the", "mouse", "chased", "the", "cat"]
    assert seen.page.locator(".verdict").inner_text().endswith("order is seen.")


def test_an_order_that_keeps_every_distance_is_said_to_tell_nothing(visit):
    seen = visit("#encodings?a=alibi&b=rotary&views=score&order=4,3,2,1,0")
    seen.until(
        "[...document.querySelectorAll('.verdict')].filter((one) => one.textContent).length === 2"
    )
    assert shuffled_words(seen) == ["mouse", "the", "chased", "cat", "the"]
    by_distance, by_both = seen.page.locator(".verdict").all_inner_texts()
    assert "cannot tell this order from the original. Try another order." in by_distance
    assert "lost" not in by_distance
    assert by_both.startswith("rotary: the outputs change.")
    assert by_both.endswith("The words get other vectors in another order: order is seen.")


def test_an_order_that_does_not_fit_the_sentence_gives_way_to_one_that_tells(visit):
    seen = visit("#encodings?a=alibi&views=score&words=one+two+three&order=4,3,2,1,0")
    seen.until("document.querySelector('.verdict')?.textContent")
    assert shuffled_words(seen) == ["one", "three", "two"]
    assert seen.page.locator(".verdict").inner_text().endswith("order is seen.")


TWO_PANELS = """[...document.querySelectorAll('.js-plotly-plot')]
  .filter((plot) => plot._fullLayout?.yaxis2 && plot.querySelector('.legend2text'))"""
LEGEND_GAPS = """.map((plot) => {
  const names = [...plot.querySelectorAll('.legend2text, .legend2titletext')];
  const boxes = names.map((one) => one.getBoundingClientRect());
  const { yaxis, yaxis2 } = plot._fullLayout, { top } = plot.getBoundingClientRect();
  const above = Math.min(...boxes.map((box) => box.top)) - top - yaxis._offset - yaxis._length;
  return [names.length, above, yaxis2._offset + top - Math.max(...boxes.map((box) => box.bottom))];
})"""


@pytest.mark.parametrize("width", [360, 940, 1300])
@pytest.mark.parametrize("pair", ["a=rotary&b=sinusoidal", "a=transformer_xl&b=pope"])
def test_the_names_of_a_lower_panel_lie_between_the_panels(visit, width, pair):
    seen = visit(f"#encodings?views=waves&length=512&dim=256&{pair}", width=width)
    seen.until(f"{TWO_PANELS}.length === 2")
    seen.page.wait_for_timeout(500)
    gaps = seen.page.evaluate(TWO_PANELS + LEGEND_GAPS)
    assert [names for names, _, _ in gaps] == [5, 5]  # four lines, and what they are
    assert min(min(above, below) for _, above, below in gaps) >= 0


def test_a_link_restores_the_view(visit):
    first = visit("#encodings?views=heat")
    first.heat()
    first.page.get_by_label("compare with", exact=True).select_option("alibi")
    first.page.get_by_label("encoding", exact=True).select_option("learned")
    first.page.get_by_label("length", exact=True).press("Home")
    first.page.get_by_text("bias per head").click()
    first.until("document.querySelectorAll('.plot .main-svg').length >= 2")
    second = visit(first.page.url.removeprefix(first.address))
    assert second.heat() == [2, 64]
    assert second.page.get_by_label("compare with", exact=True).input_value() == "alibi"
    assert second.page.get_by_label("encoding", exact=True).input_value() == "learned"
    second.until(
        "[...document.querySelectorAll('figure')]"
        ".some((one) => one.ariaLabel?.includes('alibi: added to the scores'))"
    )


def test_the_users_own_encoding_stands_beside_the_others(visit):
    seen = visit("#encodings?views=score")
    seen.page.get_by_label("encoding", exact=True).select_option(label="Mine (yours)")
    seen.until("document.querySelector('figure').ariaLabel?.startsWith('Mine')")


def test_tabs_are_walked_with_the_arrow_keys(visit):
    seen = visit("#encodings?views=heat")
    seen.page.get_by_role("tab", name="Encodings").focus()
    seen.page.keyboard.press("ArrowLeft")
    seen.page.wait_for_selector(".drop")
    assert seen.page.url.endswith("#detect")
    seen.page.keyboard.press("Home")
    seen.page.wait_for_selector(".worked")


def test_a_tab_that_loads_late_does_not_replace_the_one_chosen_since(visit):
    seen = visit("#detect")
    seen.page.wait_for_selector(".drop")

    def late(route):
        time.sleep(1.5)
        route.continue_()

    seen.page.route("**/tabs/studies.js", late)
    seen.page.get_by_role("tab", name="Studies").click()
    seen.page.get_by_role("tab", name="Detect").click()
    seen.page.wait_for_timeout(2500)
    assert seen.page.locator("#panel").get_attribute("aria-label") == "Detect"
    assert seen.page.locator(".drop").is_visible()


def test_figures_and_their_numbers_can_be_kept(visit):
    seen = visit("#encodings?views=heat&length=5&dim=8&heads=4")
    seen.heat()
    for label, ending in (("PNG", ".png"), ("SVG", ".svg"), ("CSV", ".csv")):
        with seen.page.expect_download() as waiting:
            seen.page.locator("figure").first.get_by_role("button", name=label).click()
        assert waiting.value.suggested_filename == f"sinusoidal-heat{ending}"
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert lines[0] == "position,0,1,2,3,4,5,6,7"
    assert [float(number) for number in lines[2].split(",")[:3]] == [1, 0.841471, 0.540302]
    assert seen.complaints == []


def test_the_theme_can_be_turned(visit):
    seen = visit("#encodings?views=heat")
    seen.heat()
    seen.page.get_by_role("button", name="Dark").click()
    seen.until("document.querySelector('.plot').layout.paper_bgcolor === '#15181d'")
    assert (
        seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 29)"
    )


def test_a_cell_of_the_matrix_opens_its_measurement(visit):
    seen = visit("#certificates?encoding=none&property=order")
    seen.page.wait_for_selector("dialog[open]")
    text = seen.page.locator("dialog").inner_text()
    assert "none, order" in text
    assert "Outputs move by" in text
    seen.page.keyboard.press("Escape")
    seen.until("!document.querySelector('dialog').open")


def test_attention_is_drawn_for_every_encoding_and_head(visit):
    seen = visit("#attention?words=one+two+three")
    seen.until("document.querySelectorAll('.many .main-svg').length >= 13")
    first = "document.querySelector('.many .plot').data[0].z[2]"
    before = seen.page.evaluate(f"JSON.stringify({first})")
    seen.page.get_by_label("head", exact=True).press("ArrowRight")
    seen.until(f"JSON.stringify({first}) !== {json.dumps(before)}")


def test_a_study_is_described_only_when_its_attention_is_chosen(visit):
    seen = visit("#attention?words=one+two+three&rows=rotary")
    seen.until("document.querySelector('.many .plot')?.data?.[0].z.length === 3")
    assert not [url for url in seen.asked if "/api/study?" in url]
    seen.page.get_by_label("input", exact=True).select_option(label="example of slot-774a3af3")
    seen.until("document.querySelector('.many .plot')?.data?.[0].z.length === 32")
    assert len([url for url in seen.asked if "/api/study?" in url]) == 1


def test_a_study_can_be_filtered(visit):
    seen = visit("#studies")
    seen.page.wait_for_selector(".plot .main-svg")
    rows = seen.page.locator("tbody tr").count()
    assert rows > 10
    seen.page.get_by_label("rotary", exact=True).uncheck()
    assert seen.page.locator("tbody tr").count() == rows - 1
    assert "rotary" not in seen.page.evaluate(
        "document.querySelector('.plot').layout.yaxis.ticktext"
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("#encodings?length=99999999", "length should be less than or equal to 512"),
        ("#encodings?of_a=%7B%22base%22%3A-5%7D", "above 0 for base"),
        ("#encodings?of_a=%7Bbroken", "sinusoidal"),
        ("#encodings?a=zebra&views=heat", "sinusoidal"),
        ("#zebra", "sinusoidal"),
        ("#studies?study=zebra", "against none"),
    ],
)
def test_a_broken_link_is_told_or_mended(visit, where, said):
    seen = visit(where)
    seen.until(f"document.body.innerText.includes({json.dumps(said)})")


def test_names_and_texts_of_a_users_file_are_shown_as_text(browser, tmp_path):
    name = "a<img src=x onerror=window.hurt=1>.py"
    code = "from locant.encodings.base import Encoding\nclass Mine(Encoding):\n    pass\n"
    (tmp_path / name).write_text(f'"""<img src=x onerror=window.hurt=1><b>bold</b>."""\n{code}')
    with (
        explorer(f"{name}:Mine", cwd=tmp_path) as address,
        Visit(browser, address, "#encodings?views=score") as seen,
    ):
        seen.page.get_by_label("encoding", exact=True).select_option(label="Mine (yours)")
        seen.until("document.body.innerText.includes('<b>bold</b>')")
        seen.page.wait_for_selector(".plot .main-svg")
        seen.page.get_by_role("tab", name="Studies").click()
        seen.until(
            "document.body.innerText.includes('locant compare order --quick')"
        )  # an empty store says what fills it
        assert seen.page.evaluate(
            "window.hurt === undefined && document.querySelectorAll('main img').length === 0"
        )


MEASURE = """async () => {
    const plot = document.querySelector('.plot');
    const slider = document.querySelectorAll('input[type=range]')[1];
    const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
    const empty = [], redrawn = [];
    for (let at = 0; at < 15; at += 1) {
        let begun = performance.now();
        await fetch('api/empty');
        empty.push(performance.now() - begun);
        const done = new Promise((resolve) => plot.once('plotly_afterplot', resolve));
        begun = performance.now();
        slider.value = at % 2 ? '100' : '99';
        slider.dispatchEvent(new Event('input'));
        await done;
        redrawn.push(performance.now() - begun);
        await new Promise((resolve) => setTimeout(resolve, 400));
    }
    return [median(empty), median(redrawn)];
}"""


def test_the_time_from_slider_to_picture_is_told(visit, capsys):
    seen = visit("#encodings?views=heat")
    assert seen.heat() == [100, 64]
    seen.page.wait_for_timeout(1500)
    empty, redrawn = seen.page.evaluate(MEASURE)
    with capsys.disabled():
        print(
            f"\nslider to redraw, 100 × 64: {redrawn:.0f} ms, "
            f"{redrawn / empty:.1f} × an empty request ({empty:.1f} ms)"
        )
    assert redrawn > 0
