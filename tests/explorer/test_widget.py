"""The widget of `explore()`: its script runs in a real browser, against the real Python object. The test stands in
for what carries messages between the two, which is Jupyter's, marimo's or VS Code's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import swzverify
from swzverify import Layout, Swizzle, Tile
from swzverify.apps.explorer.fragments import answer
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.view import shown_of
from swzverify.errors import SwzError
from tests.browsing import Watched, chromium, needs_chromium, sync_api

TILE = Tile("A", 16, Layout("(64,64):(64,1)"), Swizzle("Swizzle<3,3,3>"))
READ = TILE.read("ldmatrix.x4", coord=["warp*16 + lane%16", "lane/16*8"], threads=128)
MODEL = """
async ([script, query]) => {
  const on = {};
  const tell = (name, value) => (on[name] || []).forEach((each) => each(value));
  const state = { query };
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { if (state[name] !== value) { state[name] = value; tell(`change:${name}`); } },
    save_changes: () => window.saved(state.query),
    send: async (content) => { for (const each of await window.sent(content)) tell("msg:custom", each); },
    on: (name, call) => { (on[name] ||= []).push(call); },
    off: (name, call) => { on[name] = on[name].filter((each) => each !== call); },
  };
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const module = (await import(url)).default;
  window.show = () => {
    const el = document.body.appendChild(document.createElement("section"));
    return module.render({ model: window.model, el });
  };
  window.show();
}
"""


def test_without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "swzverify.apps.explorer.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(SwzError, match=r"SWZ611: anywidget is not installed[^']*'swzverify\[widget\]'"):
        swzverify.explore()


@pytest.fixture
def made() -> Callable[..., Any]:
    pytest.importorskip("anywidget", reason="anywidget is in the extra widget")
    return swzverify.explore


def test_an_access_is_what_it_begins_with(made: Callable[..., Any]) -> None:
    widget = made(READ)
    state = State.from_query(widget.query)
    assert (state.layout, state.swizzle, state.coord) == (str(TILE.layout), "offset", "warp*16 + lane%16, lane/16*8")
    assert widget.spec == shown_of(state).spec.text
    assert made().query == ""
    with pytest.warns(UserWarning, match="not in the widget: stages"):
        made(Tile("A", 32, Layout("(32,32):(33,1)"), stages=2).read("ld.shared.b32", coord=["lane", 0], threads=32))
    with pytest.raises(SwzError, match="SWZ597"):
        made(TILE.read("ld.shared.b16", coord=["lane", 0], threads=64, predicate="tid < 32"))


def test_what_is_no_question_is_not_answered(made: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    widget = made()
    told: list[object] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: told.append((content, buffers)))
    for each in ({}, [], {"number": 1, "what": "view", "query": ""}, {"number": "1", "what": "shell", "query": ""}):
        widget._handle_custom_msg(each, [])
    assert told == []
    widget._handle_custom_msg({"number": "1", "what": "view", "query": "rows=0"}, [])
    assert told == [({"number": "1", "answer": answer("rows=0", "view")}, None)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("anywidget", reason="anywidget is in the extra widget")
    with chromium() as running:
        yield running


class Cell:
    """A cell that shows a widget; what the page sends arrives at the Python object."""

    def __init__(self, watched: Watched, widget: Any) -> None:
        self.widget, self.told, self.asked = widget, [], []
        widget.send = self.told.append
        self.page = watched.opened("about:blank", (1100, 900))
        self.page.expose_function("sent", self._sent)
        self.page.expose_function("saved", lambda query: widget.set_trait("query", query))
        self.page.evaluate(MODEL, [widget._esm, widget.query])

    def _sent(self, content: Any) -> list[Any]:
        self.asked.append((content["what"], content["query"]))
        self.widget._handle_custom_msg(content, [])
        told = [*self.told]
        self.told.clear()
        return told

    def shows(self, state: State, place: int = 0) -> None:
        """Wait for a state, and hold the widget against the state's own view."""
        wanted = shown_of(state)
        sync_api.expect(self.page.locator("#text-spec").nth(place)).to_have_text(wanted.spec.text)
        sync_api.expect(self.page.locator("#verdict").nth(place)).to_contain_text(wanted.headline)
        sync_api.expect(self.page.locator(".explore").nth(place)).not_to_have_attribute("aria-busy", "true")
        assert self.page.locator("#board [data-say]").count() > 0
        assert State.from_query(self.widget.query) == state
        assert self.widget.spec == wanted.spec.text


@pytest.fixture
def cell(browser: Any) -> Iterator[Callable[[Any], Cell]]:
    watched = Watched(browser)
    yield lambda widget: Cell(watched, widget)
    watched.close()
    assert all(url.startswith(("about:blank", "blob:")) for url in watched.requested)


@needs_chromium
def test_sliders_move_the_tile_and_the_access(made: Callable[..., Any], cell: Callable[[Any], Cell]) -> None:
    shown = cell(made())
    state = State()
    shown.shows(state)
    for name, value in (("rows", 32), ("pad", 8)):
        shown.page.locator(f"[data-of={name}]").fill(str(value))
        state = state.model_copy(update={name: value})
        shown.shows(state)
        assert shown.page.locator(f"#{name}").input_value() == str(value)
    shown.page.locator("[data-of=pad]").press("ArrowRight")
    state = state.model_copy(update={"pad": 9})
    shown.shows(state)
    assert shown.page.locator("[data-of=bits]").is_disabled()
    shown.page.locator("#swizzle").select_option("offset")
    state = state.model_copy(update={"swizzle": "offset"})
    shown.shows(state)
    shown.page.locator("#undo").click()
    shown.shows(state.model_copy(update={"swizzle": "none"}))
    # A number that no slider stands at stays as it is.
    shown.page.locator("#threads").fill("48")
    shown.page.locator("[data-of=pad]").fill("0")
    sync_api.expect(shown.page.locator(".explore")).not_to_have_attribute("aria-busy", "true")
    assert State.from_query(shown.asked[-1][1]).threads == 48
    assert shown.page.locator("#threads").input_value() == "48"
    assert {what for what, _ in shown.asked} == {"view", "changes"}


@needs_chromium
def test_an_access_and_the_kernel_s_own_changes(made: Callable[..., Any], cell: Callable[[Any], Cell]) -> None:
    shown = cell(made(READ))
    begin = State.from_query(shown.widget.query)
    shown.shows(begin)
    shown.widget.query = "rows=16&swizzle=address"
    shown.page.evaluate("query => model.set('query', query)", shown.widget.query)
    shown.shows(State(rows=16, swizzle="address"))
    assert shown.page.locator("#rows").input_value() == "16"


@needs_chromium
def test_what_is_wrong_is_said_at_its_field(made: Callable[..., Any], cell: Callable[[Any], Cell]) -> None:
    shown = cell(made())
    shown.shows(State())
    shown.page.locator("#order").select_option("layout")
    shown.page.locator("#layout").fill("(64,64")
    (error,) = answer("order=layout&layout=(64,64", "view")["errors"]
    sync_api.expect(shown.page.locator("#e-layout")).to_contain_text(error["message"])
    sync_api.expect(shown.page.locator("#verdict")).to_have_class("stale")
    with pytest.raises(SwzError, match=error["code"]):
        _ = shown.widget.spec


@needs_chromium
def test_two_views_of_one_widget_and_two_widgets(made: Callable[..., Any], cell: Callable[[Any], Cell]) -> None:
    shown = cell(made())
    shown.page.evaluate("() => { window.end = window.show(); }")
    shown.shows(State())
    shown.shows(State(), 1)
    shown.page.locator("#rows").nth(1).fill("48")
    shown.shows(State(rows=48), 1)
    shown.shows(State(rows=48), 0)
    shown.page.evaluate("() => window.end()")
    shown.page.locator("#rows").nth(0).fill("32")
    shown.shows(State(rows=32), 0)
    assert shown.page.locator("#rows").nth(1).input_value() == "48"


@needs_chromium
def test_its_styles_stay_inside(made: Callable[..., Any], cell: Callable[[Any], Cell]) -> None:
    shown = cell(made())
    shown.shows(State())
    page = shown.page
    assert page.evaluate("() => document.adoptedStyleSheets.length + document.styleSheets.length") == 0
    assert page.evaluate("() => document.getElementById('rows')") is None
    assert page.locator("#board td.t").first.evaluate("each => getComputedStyle(each).fontWeight") == "700"
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
