"""The page in a real browser: every control, marks, filters, the way back, links, copies, and what a
reader needs who sees or points less. Skipped where Flask, Playwright or Chromium is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from swzverify.apps.explorer.fragments import answer
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.view import shown_of
from tests.browsing import Watched, chromium, needs_chromium, sync_api
from tests.explorer.serving import served

pytest.importorskip("flask", reason="Flask is in the extra explore")
pytestmark = needs_chromium
SIZES = {"desk": (1400, 1000), "phone": (390, 844)}


asked = cache(answer)
"""The server's answers; what is asked again by another test is not computed again."""
view = cache(shown_of)
"""What a state shows, which pages are held against."""


@pytest.fixture(scope="module")
def link() -> Iterator[str]:
    with served(asked) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with chromium() as running:
        yield running


Open = Callable[..., "sync_api.Page"]


@pytest.fixture
def show(browser: sync_api.Browser, link: str) -> Iterator[Open]:
    """Open the page; at the end nothing was complained of, and nothing was asked of another server."""
    watched = Watched(browser)

    def opened(query: str = "", size: str = "desk", scheme: str = "light", **options) -> sync_api.Page:
        return watched.opened(f"{link}?{query}" if query else link, SIZES[size], color_scheme=scheme, **options)

    yield opened
    watched.close()
    assert all(url.startswith(link) for url in watched.requested)


def settled(page: sync_api.Page, state: State) -> None:
    """Wait until the page shows a state, and hold what it says against that state's own view."""
    wanted = view(state)
    page.wait_for_function(
        "text => document.getElementById('text-spec').textContent === text && !document.body.ariaBusy",
        arg=wanted.spec.text,
    )
    page.wait_for_function(
        "words => document.getElementById('verdict').textContent.includes(words)", arg=wanted.headline
    )
    pairs = json.dumps(sorted(map(list, parse_qsl(state.to_query(), keep_blank_values=True))), separators=(",", ":"))
    address = "pairs => JSON.stringify([...new URLSearchParams(location.search)].sort()) === pairs"
    page.wait_for_function(address, arg=pairs)
    page.wait_for_function("() => !document.body.ariaBusy")
    assert State.from_query(urlsplit(page.url).query) == state
    assert page.locator("#problem").inner_text() == ""
    assert page.locator(".stale, [data-copy]:disabled").count() == 0


def change(page: sync_api.Page, name: str, value: str) -> None:
    """Change a control as a person does."""
    control = page.locator(f"#{name}")
    if control.evaluate("each => each.tagName") == "SELECT":
        control.select_option(value)
    else:
        control.fill(value)


STEPS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("rows", "32", {"rows": 32}),
    ("columns", "128", {"columns": 128}),
    ("element", "bf16", {"element": "bf16"}),
    ("pad", "8", {"pad": 8}),
    ("pad", "0", {"pad": 0}),
    ("swizzle", "offset", {"swizzle": "offset"}),
    ("bits", "2", {"bits": 2}),
    ("base", "4", {"base": 4}),
    ("shift", "-3", {"shift": -3}),
    ("swizzle", "address", {"swizzle": "address"}),
    ("threads", "64", {"threads": 64}),
    ("instruction", "ld.shared.v4.b32", {"instruction": "ld.shared.v4.b32"}),
    ("target", "sm_80", {"target": "sm_80"}),
    ("map", "columns", {"map": "columns"}),
    ("map", "rows", {"map": "rows"}),
    ("view", "physical", {"view": "physical"}),
    ("at", "warp=1", {"at": "warp=1"}),
    ("swizzle", "none", {"swizzle": "none"}),
    ("order", "column", {"order": "column", "instruction": "ld.shared.b16"}),
)


def test_every_control_and_the_way_back(show: Open) -> None:
    page = show()
    state = State()
    settled(page, state)
    states = [state]
    for name, value, fields in STEPS:
        if name == "order":
            change(page, "instruction", "ld.shared.b16")
            states.append(state.model_copy(update={"instruction": "ld.shared.b16"}))
            settled(page, states[-1])
        change(page, name, value)
        state = state.model_copy(update=fields)
        settled(page, state)
        states.append(state)
    assert page.locator("#redo").is_disabled()
    page.click("#undo")
    settled(page, states[-2])
    for _ in states[:-2]:
        page.keyboard.press("Control+z")
    settled(page, State())
    assert page.locator("#undo").is_disabled()
    page.keyboard.press("Control+Shift+z")
    settled(page, states[1])
    page.keyboard.press("Control+y")
    settled(page, states[2])
    page.click("#redo")
    settled(page, states[3])
    page.click("#reset")
    settled(page, State())
    page.click("#undo")
    settled(page, states[3])


def test_own_expressions_and_a_layout_of_one_s_own(show: Open) -> None:
    page = show()
    settled(page, State())
    assert not page.locator("#coord").is_editable()
    assert not page.locator("#layout").is_editable()
    assert page.locator("#coord").input_value() == "warp*16 + lane % 16, k + lane / 16 * 8"
    change(page, "map", "own")
    own = State(map="own", coord="warp*16 + lane % 16, k + lane / 16 * 8", loops="k=0:64:16")
    settled(page, own)
    change(page, "coord", "lane, k")
    change(page, "loops", "k=0:64:8")
    own = State(map="own", coord="lane, k", loops="k=0:64:8")
    settled(page, own)
    change(page, "order", "layout")
    settled(page, own.model_copy(update={"order": "layout"}))
    assert page.locator("#rows").is_disabled()
    change(page, "layout", "((8,8),64):((512,64),1)")
    settled(page, own.model_copy(update={"order": "layout", "layout": "((8,8),64):((512,64),1)"}))
    change(page, "order", "row")
    settled(page, own)


def test_a_link_restores_the_state(show: Open) -> None:
    state = State(rows=32, swizzle="offset", map="own", coord="lane, k + 0*(1 << 2)", loops="k=0:64:8", bank=4)
    page = show(state.to_query())
    settled(page, state)
    assert page.locator("#coord").input_value() == state.coord
    assert page.locator("#bank").input_value() == "4"
    assert page.locator("#board td.dim").count() > 0
    page.reload()
    settled(page, state)


def test_what_is_not_possible_is_told_at_its_field_and_the_picture_stays(show: Open) -> None:
    page = show()
    settled(page, State())
    board = page.locator("#board").inner_html()
    for name, value, code in (("rows", "300", "SWZ596"), ("pad", "", "SWZ596"), ("at", "warp=9", "SWZ581")):
        change(page, name, value)
        page.wait_for_function("id => document.getElementById(id).ariaInvalid === 'true'", arg=name)
        assert code in page.locator(f"#e-{name}").inner_text()
        label = page.locator(f"label[for={name}]").inner_text()
        assert page.locator("#problem").inner_text().startswith(f"Not possible: {label}.")
        assert page.locator("#result.stale").count() == page.locator("#verdict.stale").count() == 1
        assert page.locator("[data-copy]:disabled").count() == 3
        assert page.locator("#board").inner_html() == board
        assert page.locator(f"#{name}").get_attribute("aria-describedby").endswith(f"e-{name}")  # pyright: ignore[reportOptionalMemberAccess]
        page.click("#undo")
        settled(page, State())
        assert page.locator(f"#e-{name}").inner_text() == ""
    change(page, "columns", "60")
    page.wait_for_function("() => document.getElementById('e-map').textContent.includes('SWZ597')")
    change(page, "columns", "64")
    settled(page, State())


def lists(page: sync_api.Page, selector: str, name: str) -> list[list[str]]:
    """The lists of some elements, in the page's order."""
    return page.eval_on_selector_all(
        selector, f"all => all.map(each => each.dataset.{name} ? each.dataset.{name}.split(' ') : [])"
    )


def test_a_pointer_follows_a_lane_and_marks_its_banks(show: Open) -> None:
    page = show()
    settled(page, State())
    hint = page.locator("#trace").inner_text()
    page.hover("#lanes tr[data-l='3']")
    assert page.locator("#trace").inner_text() == (
        "lane 3 → coord (3, 0) → offset 192 → address 384 (0x180) → word 96 → bank 0 → group 0"
    )
    on = lists(page, "#board td.on", "l")
    assert on == [["3"]]
    assert len(lists(page, "#groups td.on", "l")) == 4
    assert {bank for each in lists(page, "#board td.with", "b") for bank in each} == {"0", "1", "2", "3"}
    assert page.locator("#board td.with").count() == 31  # the first column of the 32 rows that are drawn
    assert page.locator("#lanes tr.with").count() == 15
    page.locator("#board td[data-l='17']").hover()
    assert page.locator("#trace").inner_text() == "(1,8): offset 72, bank 4-7; lane 17"
    assert lists(page, "#lanes tr.on", "l") == [["17"]]
    page.locator("#groups td[data-say]").first.hover()
    assert page.locator("#trace").inner_text() == "bank 0, byte 0: lane 0"
    page.hover("h1")
    assert page.locator("#trace").inner_text() == hint
    assert page.locator("#result .on, #result .with").count() == 0


def test_keys_follow_lanes_too(show: Open) -> None:
    page = show()
    settled(page, State())
    page.locator("#lanes tr[tabindex='0']").focus()
    assert page.locator("#trace").inner_text().startswith("lane 0 →")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#trace").inner_text().startswith("lane 2 →")
    page.keyboard.press("ArrowUp")
    assert lists(page, "#board td.on", "l") == [["1"]]
    page.locator("#board td[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator("#trace").inner_text() == "(1,8): offset 72, bank 4-7; lane 17"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#trace").inner_text().startswith("(1,0): offset 64")
    page.locator("#board td[data-l='5']").click()
    assert page.evaluate("document.activeElement.dataset.l") == "5"
    for table in ("#board table", "#lanes table"):
        assert page.locator(f"{table} [tabindex='0']").count() == 1


def test_filters_by_bank_and_by_group_of_lanes(show: Open) -> None:
    page = show()
    settled(page, State())
    change(page, "bank", "4")
    shown = lists(page, "#board td[data-say]:not(.dim)", "b")
    assert shown
    assert all("4" in each for each in shown)
    assert all("4" not in each for each in lists(page, "#board td.dim", "b"))
    change(page, "bank", "-1")
    change(page, "group", "2")
    assert lists(page, "#lanes tbody tr:not([hidden])", "l") == [[str(lane)] for lane in range(16, 24)]
    assert {lane for each in lists(page, "#board td[data-say]:not(.dim)", "l") for lane in each} == set(
        map(str, range(16, 24))
    )
    assert State.from_query(urlsplit(page.url).query) == State(group=2)
    assert page.locator("#group option:not([hidden])").count() == 5
    change(page, "instruction", "ldmatrix.x1")
    settled(page, State(instruction="ldmatrix.x1"))  # it has one group
    assert page.locator("#board td.dim").count() == 0
    page.keyboard.press("Control+z")
    settled(page, State(group=2))


def test_copies(show: Open, link: str) -> None:
    state = State(swizzle="offset")
    page = show(state.to_query(), permissions=["clipboard-read", "clipboard-write"])
    settled(page, state)
    shown = view(state)
    wanted = {
        "link": (f"{link}?swizzle=offset", "Copied link."),
        "spec": (shown.spec.text, "Copied as spec."),
        "cute": (shown.cute, "Copied as CuTe C++."),
        "cuda": (shown.cuda, "Copied as CUDA."),
    }
    for name, (text, words) in wanted.items():
        page.click(f"[data-copy={name}]")
        page.wait_for_function("words => document.getElementById('told').textContent === words", arg=words)
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_what_to_try_is_a_link_that_the_page_takes(show: Open) -> None:
    page = show()
    settled(page, State())
    page.click("text=Swizzle<3,3,3> on offsets")
    settled(page, State(swizzle="offset"))
    page.wait_for_function("() => document.getElementById('explanation').textContent.includes('Without a swizzle')")
    assert page.locator("a.try").count() == 0
    page.click("#undo")
    settled(page, State())
    page.wait_for_selector("a.try")
    assert parse_qs(urlsplit(page.locator("a.try").nth(1).get_attribute("href") or "").query) == {"pad": ["8"]}


def test_while_somebody_types_the_last_value_counts(show: Open) -> None:
    page = show()
    settled(page, State())
    page.locator("#rows").press_sequentially("", delay=0)
    page.locator("#rows").fill("")
    page.locator("#rows").press_sequentially("128", delay=30)
    settled(page, State(rows=128))
    for value in ("ld.shared.b32", "ld.shared.b16", "st.shared.b8", "ldmatrix.x2"):
        change(page, "instruction", value)  # without waiting for an answer
    settled(page, State(rows=128, instruction="ldmatrix.x2"))


def test_it_works_without_scripts(show: Open) -> None:
    page = show(java_script_enabled=False)
    assert "refuted: at most 32 wavefronts" in page.locator("#verdict").inner_text()
    assert page.locator("#tools").is_hidden()
    page.select_option("#swizzle", "offset")
    page.click("noscript button, form button[type=submit]")
    assert "proved free of bank conflicts" in page.locator("#verdict").inner_text()
    page.fill("#at", "warp=9")
    page.click("noscript button, form button[type=submit]")
    assert "SWZ581" in page.locator("#problem").inner_text()


def test_a_server_that_has_ended_is_told(browser: sync_api.Browser) -> None:
    with served(asked) as found:
        context = browser.new_context()
        page = context.new_page()
        page.goto(found)
        page.wait_for_selector("a.try")
        page.route("**/view?*", lambda route: route.abort())
        change(page, "swizzle", "offset")
        page.wait_for_function("() => document.getElementById('problem').textContent.includes('still running')")
        assert page.locator("#board td").count() > 0
        page.unroute("**/view?*")
        change(page, "bits", "2")
        settled(page, State(swizzle="offset", bits=2))
        context.close()


def test_the_policy_stops_what_is_not_of_the_page(browser: sync_api.Browser, link: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(link)
    page.evaluate(
        "document.getElementById('claims').innerHTML = '<img src=http://192.0.2.1/a.png onerror=\"window.ran = 1\">'"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran === undefined")
    assert any("Content Security Policy" in each for each in said)
    context.close()


@pytest.mark.parametrize(
    ("query", "size", "scheme"),
    [
        ("rows=16&columns=32&view=physical&bank=3", "desk", "light"),
        ("rows=16&columns=32&threads=32", "phone", "dark"),
        ("rows=0", "phone", "light"),
    ],
)
def test_it_fits_and_has_no_barrier(show: Open, query: str, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is in the extra dev")
    page = show(query, size, scheme)
    if query == "rows=0":
        assert "SWZ596" in page.locator("#e-rows").inner_text()
    else:
        page.locator("#lanes tr[tabindex='0']").focus()
        change(page, "columns", "60")  # which is not possible: the last pictures stay
        page.wait_for_selector("#result.stale")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    found = axe.Axe().run(page).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert len(found["passes"]) > 20
