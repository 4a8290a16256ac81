"""The page of `swzverify explore`: the server's time from a request to its answer, one control changed
at a time, its worker process and the JSON included; and a browser's, from a change to the drawn
frame. What other swizzles and pads would do comes later, and is in neither.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

from benchmarks.measure import Effort, Row, require, time_text
from swzverify.apps.explorer.fragments import Answer, Ask
from swzverify.apps.explorer.state import State
from swzverify.hardware import INSTRUCTIONS

GOAL_S = 0.1
_SWIZZLES = ((1, 3, 3), (2, 3, 3), (3, 3, 3), (3, 4, 3), (3, 0, 5), (2, 3, -4))
USUAL = State()
LARGEST = State(rows=256, columns=256, threads=512)


def rows(effort: Effort) -> list[Row]:
    """The median and the worst of all changes, of a usual state and of the largest one."""
    from swzverify.apps.explorer.app import make_app
    from swzverify.apps.explorer.guard import authorities
    from swzverify.apps.explorer.worker import Workers

    workers = Workers(seconds=60)
    client = make_app(authorities("127.0.0.1", 8765), workers.ask).test_client()

    def seconds(query: str) -> float | None:
        started = perf_counter()
        response = client.get(f"/view?{query}", headers={"Host": "127.0.0.1:8765"})
        took = perf_counter() - started
        require(response.status_code == 200, f"no answer to {query}")
        return None if response.get_json()["errors"] else took  # too large for the target's shared memory, say

    try:
        found: list[Row] = []
        for what, start in (("64 x 64", USUAL), ("256 x 256", LARGEST)):
            seconds(start.to_query())  # what a change is one of
            states = [*changes(start)][:: 1 if effort.repeats > 1 else 9]
            took = [each for each in (seconds(state.to_query()) for state in states) if each is not None]
            require(2 * len(took) > len(states), f"most changes of {what} are not possible")
            for name, value in (("median", median(took)), ("worst", max(took))):
                words = f"a change on the page of explore, {what} elements: {name} of {len(took)} changes"
                goal = GOAL_S if effort.repeats > 1 and name == "median" else None
                shown = "" if goal is None else f"<= {time_text(GOAL_S)}"
                found.append(Row(words, time_text(value), "", value, "", goal, at_most=True, goal_shown=shown))
            found += _drawn(what, start, workers.ask) if effort.repeats > 1 else []
        return found
    finally:
        workers.close()


_CHANGE = """
([name, value]) => new Promise(done => {
  const control = document.getElementById(name), begin = performance.now();
  const seen = new MutationObserver(() => {
    if (document.body.hasAttribute("aria-busy")) return;
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
  });
  seen.observe(document.body, {attributes: true, attributeFilter: ["aria-busy"]});
  control.value = value;
  control.dispatchEvent(new Event("input", {bubbles: true}));
})
"""
_CHANGED = (
    ("swizzle", ("offset", "none", "address", "none")),
    ("instruction", ("ldmatrix.x2", "ldmatrix.x1", "ldmatrix.x4")),
    ("map", ("rows", "columns", "matrix")),
    ("element", ("bf16", "f8e4m3", "f16")),
    ("target", ("sm_90a", "sm_100", "sm_90")),
    ("view", ("physical", "logical")),
)
_PAUSE_MS = 300
"""Between two changes, as a person makes them: what comes behind the answer is done by then."""


def _drawn(what: str, start: State, ask: Callable[[str, Ask], Answer]) -> list[Row]:
    """From a change of a control to the frame after the answer; no row without Playwright and Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return []
    from swzverify.apps.explorer.server import link_of, listening, page_server

    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with listening("127.0.0.1", 0) as place, sync_playwright() as playwright:
        server = page_server(place, ask)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"{link_of(place)}?{start.to_query()}")
        page.wait_for_selector("#board td")
        took: list[float] = []
        for name, values in _CHANGED:
            for value in values:
                page.wait_for_timeout(_PAUSE_MS)
                took.append(page.evaluate(_CHANGE, [name, value]) / 1000)
        browser.close()
        server.shutdown()
    words = f"a change on the page of explore, {what} elements, drawn in Chromium: "
    return [
        Row(f"{words}{name} of {len(took)} changes", time_text(value), "", value, "")
        for name, value in (("median", median(took)), ("worst", max(took)))
    ]


def changes(start: State) -> Iterator[State]:
    """States that differ in one control from the start; each is looked at once, as a person does."""
    for rows_ in (32, 128, 16, 256, 64):
        yield _with(start, rows=rows_)
        yield _with(start, columns=rows_)
    for element in ("f64", "f32", "bf16", "f8e4m3", "i32", "u8", "f4"):
        yield _with(start, element=element)
    for bits, base, shift in _SWIZZLES:
        yield _with(start, swizzle="offset", bits=bits, base=base, shift=shift)
        yield _with(start, swizzle="address", bits=bits, base=base + 1, shift=shift)
    for pad in (1, 4, 8, 16, 33):
        yield _with(start, pad=pad)
    for instruction in INSTRUCTIONS:
        if not INSTRUCTIONS[instruction].warp_wide:
            yield _with(start, instruction=instruction, map="rows")
            yield _with(start, instruction=instruction, map="columns")
        elif instruction.startswith("ldmatrix"):
            yield _with(start, instruction=instruction)
    for threads in (32, 64, 256):
        yield _with(start, threads=threads)
    for target in ("sm_75", "sm_80", "sm_90a", "sm_100"):
        yield _with(start, target=target)
    yield _with(start, map="own", coord="warp*16 + lane % 16, k + lane / 16 * 8", loops="k=0:64:16")
    yield _with(start, map="own", coord="tid % 64, k", loops="k=0:64:8")
    yield _with(start, order="column", map="own", instruction="ld.shared.v4.b32", coord="tid % 8 * 8, tid / 8 % 64")
    yield _with(start, order="layout", layout="((8,8),64):((512,64),1)")
    yield _with(start, view="physical")
    yield _with(start, at="warp=1, k=16")


def _with(start: State, **fields: object) -> State:
    return State.model_validate({**start.model_dump(), **fields})
