"""The HTML report in a real browser: filters, marks under a pointer and the keyboard, and what a
reader needs who sees or points less. Skipped where Playwright or Chromium is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swzverify.report.html.page import render_html
from swzverify.report.result import Report
from tests.browsing import Watched, chromium, needs_chromium, sync_api
from tests.report.html.test_page import conflict, small

pytestmark = needs_chromium
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with chromium() as running:
        yield running


Open = Callable[..., "sync_api.Page"]


@pytest.fixture
def show(browser: sync_api.Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a report; at the end nothing was asked of the network, and nothing was complained of."""
    watched = Watched(browser)
    path = tmp_path / "report.html"

    def opened(report: Report, size: str = "desk", scheme: str = "light", at: str = "", **options) -> sync_api.Page:
        path.write_text(render_html(report), encoding="utf-8")
        return watched.opened(path.as_uri() + at, SIZES[size], color_scheme=scheme, **options)

    yield opened
    watched.close()
    assert {url.partition("#")[0] for url in watched.requested} <= {path.as_uri()}


def visible(page: sync_api.Page) -> list[str]:
    found = page.locator(".claim:visible")
    return [found.nth(place).locator(".subject").inner_text() for place in range(found.count())]


def shown(page: sync_api.Page) -> str:
    return page.locator("#f-shown").inner_text()


def test_filters(show: Open) -> None:
    page = show(small())
    everything = ["read [PAD=0]", "read [PAD = 1 or 2: the same]", "A"]
    assert (visible(page), shown(page)) == (everything, "4 of 4 claims shown")
    page.select_option("#f-outcome", "refuted")
    assert (visible(page), shown(page)) == (everything[:1], "1 of 4 claims shown")
    assert not page.locator("#s-2").is_visible()
    page.select_option("#f-outcome", "unexpected")
    assert visible(page) == everything[:1]
    page.select_option("#f-outcome", "")
    page.select_option("#f-kind", "conflict_free")
    assert (visible(page), shown(page)) == (everything[:2], "3 of 4 claims shown")
    page.fill("#f-text", "DECIDED pad")
    assert (visible(page), shown(page)) == ([], "0 of 4 claims shown")
    page.fill("#f-text", "gf2 pad")
    assert visible(page) == everything[:2]
    page.click("button[type=reset]")
    page.wait_for_function("document.getElementById('f-shown').textContent.startsWith('4 of')")
    assert visible(page) == everything
    page.select_option("#f-spec", "b.swz.yaml")
    assert visible(page) == everything[2:]


def test_all_open_and_close_by_keys(show: Open) -> None:
    page = show(small())
    page.focus("#f-open")
    page.keyboard.press("Enter")
    assert page.locator(".claim[open]").count() == 3
    page.focus("#f-close")
    page.keyboard.press("Space")
    assert page.locator(".claim[open]").count() == 0
    page.locator(".claim > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".claim[open]").count() == 1


TRACE = "lane 0 \u2192 coord (0, 0) \u2192 offset 0 \u2192 address 0 (0x0) \u2192 bank 0; marked alike: lane 1"


def marked(page: sync_api.Page, name: str) -> dict[str, list[str]]:
    """The rows' lanes and the cells' texts with a mark."""
    rows = page.locator(f".lanes tr.{name}")
    cells = page.locator(f".panel td.{name}")
    return {
        "rows": [rows.nth(place).get_attribute("data-lane") or "" for place in range(rows.count())],
        "cells": cells.all_inner_texts(),
    }


def test_a_pointer_follows_a_lane_through_the_table_and_the_picture(show: Open) -> None:
    page = show(small())
    trace = page.locator(".trace").first
    hint = trace.inner_text()
    page.hover(".lanes tbody tr[data-lane='0']")
    assert trace.inner_text() == TRACE
    assert marked(page, "on") == {"rows": ["0"], "cells": ["0*"]}
    assert marked(page, "with") == {"rows": ["1"], "cells": ["1-2*"]}
    page.hover(".panel td[data-lanes='1 2']")
    assert trace.inner_text().endswith("address 128 (0x80) \u2192 bank 0; in the same cell: lane 2")
    assert marked(page, "on") == {"rows": ["1"], "cells": ["1-2*"]}
    assert marked(page, "with")["rows"] == ["2"]
    page.hover("h1")
    assert trace.inner_text() == hint
    assert marked(page, "on") == {"rows": [], "cells": []}


def test_keys_follow_lanes_too(show: Open) -> None:
    page = show(small())
    trace = page.locator(".trace").first
    page.locator(".case > .scroll").first.focus()
    page.keyboard.press("Tab")
    assert trace.inner_text() == TRACE
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert trace.inner_text().startswith("lane 2 \u2192 coord (2, 0)")
    page.keyboard.press("ArrowDown")
    assert marked(page, "on")["rows"] == ["2"]
    page.keyboard.press("Home")
    assert marked(page, "on") == {"rows": ["0"], "cells": ["0*"]}
    page.keyboard.press("End")
    assert marked(page, "on")["rows"] == ["2"]
    # one stop of the Tab key a table; the next is the picture
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "picture"
    assert marked(page, "on")["rows"] == []


def test_a_link_to_a_claim_shows_it_whatever_the_filters_hid(show: Open) -> None:
    page = show(small())
    page.click("#f-close")
    page.select_option("#f-spec", "b.swz.yaml")
    page.locator("a[href^='#c-']").first.click()
    page.wait_for_function("document.querySelector('.claim').open")
    assert visible(page)[0] == "read [PAD=0]"
    name = page.locator(".claim").nth(1).get_attribute("id")
    other = show(small(), at=f"#{name}")
    assert other.locator(f"#{name}").evaluate("claim => claim.open")


def test_it_is_whole_without_scripts(show: Open) -> None:
    page = show(small(), java_script_enabled=False)
    assert page.locator("#filters").is_hidden()
    assert page.locator(".trace").first.is_hidden()
    assert page.locator(".claim").count() == page.locator(".claim:visible").count() == 3
    assert page.locator(".lanes tbody tr:visible").count() == 3
    assert page.locator(".panel td.x:visible").count() == 2
    page.locator(".claim > summary").nth(2).click()
    assert page.locator(".claim dl").nth(2).is_visible()


def test_the_policy_stops_what_is_not_of_the_page(browser: sync_api.Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    added = "<script>window.ran = 1</script><style>body{display:none}</style><img src='data:image/png;base64,AA=='>"
    path.write_text(render_html(small()).replace("<main>", f"{added}<main>"), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    assert shown(page) == "4 of 4 claims shown"
    assert page.evaluate("window.ran === undefined")
    context.close()
    for what in ("script-src", "style-src", "img-src"):
        assert any("Content Security Policy" in each and what in each for each in said), (what, said)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_has_no_barrier(show: Open, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is in the extra test")
    page = show(Report((*small().results, conflict({}, 4, subject="w" * 200)), small().problems), size, scheme)
    page.locator(".lanes tbody tr").first.focus()
    page.click("#f-open")
    page.locator(".lanes tbody tr").first.focus()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    found = axe.Axe().run(page).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert len(found["passes"]) > 20
