"""The page of `swzverify explore`: the server's time from a request to its answer, one control changed
at a time, its worker process and the JSON included. What other
swizzles and pads would do comes later, and is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

from benchmarks.measure import Effort, Row, require, time_text
from swzverify.explorer.state import State
from swzverify.hardware import INSTRUCTIONS

GOAL_S = 0.1
_SWIZZLES = ((1, 3, 3), (2, 3, 3), (3, 3, 3), (3, 4, 3), (3, 0, 5), (2, 3, -4))
USUAL = State()
LARGEST = State(rows=256, columns=256, threads=512)


def rows(effort: Effort) -> list[Row]:
    """The median and the worst of all changes, of a usual state and of the largest one."""
    from swzverify.explorer.app import make_app
    from swzverify.explorer.guard import authorities
    from swzverify.explorer.worker import Workers

    worker = Workers(seconds=60)
    client = make_app(authorities("127.0.0.1", 8765), worker.ask).test_client()

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
        return found
    finally:
        worker.close()


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
