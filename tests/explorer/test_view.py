"""What the page shows is what the rule and a loop of this test say of the same state."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from swzverify.apps.explorer.board import Board
from swzverify.apps.explorer.fragments import answer
from swzverify.apps.explorer.spec_text import spec_text
from swzverify.apps.explorer.state import State, WrongStateError
from swzverify.apps.explorer.view import Shown, changes_of, shown_of
from swzverify.claims.verdict import Outcome
from swzverify.hardware import INSTRUCTIONS, access_cost
from swzverify.spec.elements import ELEMENT_BITS
from tests.explorer.random_states import usual

LOOP = re.compile(r"(\w+): (?:(\d+)|\{start: (\d+), stop: (\d+), step: (\d+)\})")


def swizzled(state: State, value: int) -> int:
    """Swizzle<B,M,S> of a number, by its definition."""
    mask = (1 << state.bits) - 1
    if state.shift >= 0:
        return value ^ ((value >> (state.base + state.shift) & mask) << state.base)
    return value ^ ((value >> state.base & mask) << (state.base - state.shift))


def address_of(state: State, row: int, column: int, base: int) -> int:
    """The byte address of an element, by the page's words alone."""
    size = ELEMENT_BITS[state.element] // 8
    if state.order == "row":
        offset = row * (state.columns + state.pad) + column
    else:
        offset = column * (state.rows + state.pad) + row
    if state.swizzle == "offset":
        offset = swizzled(state, offset)
    address = base + size * offset
    return swizzled(state, address) if state.swizzle == "address" else address


def loops_in(text: str) -> dict[str, range]:
    """The loops of the spec that the page copies, read with a pattern of this test."""
    line = next((each for each in text.splitlines() if each.strip().startswith("for:")), "")
    found: dict[str, range] = {}
    for name, stop, start, end, step in LOOP.findall(line.partition("for: {")[2]):
        found[name] = range(int(stop)) if stop else range(int(start), int(end), int(step))
    return found


def in_c(text: str) -> object:
    """An expression without negative numbers, which Python reads as C does once it divides so."""
    return compile(text.replace("/", "//"), text, "eval")


def warps(state: State, base: int) -> list[tuple[dict[str, int], list[int | None], list[tuple[int, int] | None]]]:
    """Every warp instruction: where it runs, and the addresses and coordinates of the lanes that give any."""
    text = spec_text(state)
    coord = [in_c(part) for part in text.map.coord]
    condition = in_c(text.map.condition) if text.map.condition else None
    leading = INSTRUCTIONS[state.instruction].address_lanes
    points: list[dict[str, int]] = [{}]
    for name, values in loops_in(text.text).items():
        points = [{**point, name: value} for point in points for value in values]
    found = []
    for warp in range(-(-state.threads // 32)):
        for point in points:
            coords: list[tuple[int, int] | None] = []
            for lane in range(32):
                tid = warp * 32 + lane
                names = {**point, "tid": tid, "lane": lane, "warp": warp}
                runs = lane < leading and tid < state.threads and (condition is None or eval(condition, {}, names))  # noqa: S307
                coords.append(tuple(eval(part, {}, names) for part in coord) if runs else None)  # noqa: S307
            addresses = [None if each is None else address_of(state, *each, base) for each in coords]
            found.append(({"warp": warp, **point}, addresses, coords))
    return found


def bytes_of(shown: Shown, lane: int) -> set[int]:
    assert shown.run is not None
    address = shown.run.lanes[lane].address_bytes
    assert address is not None
    return set(range(address, address + shown.access.instruction.width_bytes))


def held_against_memory(state: State, shown: Shown, board: Board) -> None:
    """The cells' lanes and banks: of each cell that is drawn by coordinate, its elements' bytes."""
    assert shown.run is not None
    counted = {lane for group in shown.run.cost.groups for lane in group.lanes}
    size = ELEMENT_BITS[state.element] // 8
    base = dict(shown.access.binding(shown.run.point)).get("base", 0)
    touched = {lane: bytes_of(shown, lane) for lane in counted}
    for cell, banks in board.banks.items():
        found = re.match(r"\((\d+),(\d+)\): offset (\d+), bank", cell.tip)
        assert found, cell.tip
        row, column, offset = map(int, found.groups())
        first = address_of(state, row, column, base)
        down = state.order == "column"
        vector = board.vector
        held: set[int] = set()
        for step in range(vector):
            at = address_of(state, row + step * down, column + step * (not down), base)
            held |= set(range(at, at + size))
        assert min(held) == first
        assert max(held) == first + vector * size - 1
        assert set(banks) == {byte // 4 % 32 for byte in held}
        assert cell.lanes == tuple(sorted(lane for lane in counted if touched[lane] & held))
        if state.swizzle != "address":
            assert address_of(state, row, column, base) == base + size * offset


@given(usual())
@settings(max_examples=40)
def test_a_state_s_verdict_cost_lanes_and_pictures(state: State) -> None:
    try:
        shown = shown_of(state)
    except WrongStateError:
        assert answer(state.to_query())["errors"]
        return
    outcomes = {each.kind: each.verdict.outcome for each in shown.claims}
    width = INSTRUCTIONS[state.instruction].width_bytes
    runs = warps(state, 0)
    active = [address for _, addresses, _ in runs for address in addresses if address is not None]
    if any(address % width for address in active):
        assert outcomes["aligned"] is Outcome.REFUTED
        assert outcomes["conflict_free"] is not Outcome.PROVED
        return
    assert active
    assert outcomes["aligned"] is Outcome.PROVED
    costs = [
        (where, access_cost(state.instruction, addresses, state.target))
        for where, addresses, _ in runs
        if any(address is not None for address in addresses)
    ]
    conflicts = max(cost.bank_conflicts for _, cost in costs)
    if state.swizzle != "address":  # else other bases, of which this test knows one, may cost more
        assert shown.run is not None
        assert shown.run.costs is not None
        assert shown.run.costs.wavefronts == max(cost.wavefronts for _, cost in costs)
        assert shown.run.costs.bank_conflicts == conflicts
        assert outcomes["conflict_free"] is (Outcome.REFUTED if conflicts else Outcome.PROVED)
    elif conflicts:
        assert outcomes["conflict_free"] is Outcome.REFUTED
    held_against_the_drawn_one(state, shown)


def held_against_the_drawn_one(state: State, shown: Shown) -> None:
    """The lanes of the warp instruction that is drawn, its groups, and the tile."""
    run = shown.run
    assert run is not None
    where = dict(shown.access.binding(run.point))
    base = where.pop("base", 0)
    addresses, coords = next(
        (addresses, coords)
        for point, addresses, coords in warps(state, base)
        if all(point.get(name, value) == value for name, value in where.items())
    )
    assert [lane.address_bytes for lane in run.lanes] == addresses
    assert run.cost.wavefronts == access_cost(state.instruction, addresses, state.target).wavefronts
    assert shown.lanes is not None
    at = shown.lanes.columns.index
    for row, address, coord in zip(shown.lanes.rows, addresses, coords, strict=True):
        assert row.cells[at("coord")] == coord
        assert row.cells[at("address")] == address
        assert row.cells[at("bank")] == (None if address is None else address // 4 % 32)
    assert shown.groups is not None
    assert len(shown.groups.panels) == len(run.cost.groups)
    if shown.board is not None and state.view == "logical":
        held_against_memory(state, shown, shown.board)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State(), "refuted: at most 32 wavefronts per warp instruction, 4 without conflicts: 28 bank conflicts."),
        (State(pad=8), "proved free of bank conflicts: at most 4 wavefronts per warp instruction, the minimum."),
        (
            State(swizzle="offset"),
            "proved free of bank conflicts: at most 4 wavefronts per warp instruction, the minimum.",
        ),
        (State(pad=1), "aligned is refuted"),
        (State(map="own", coord="tid, 0"), "in_bounds is refuted"),
    ],
)
def test_the_verdict_in_words(state: State, words: str) -> None:
    assert words in shown_of(state).headline


def test_the_physical_board_has_the_same_lanes_on_the_same_bytes() -> None:
    for state in (State(swizzle="offset"), State(rows=256, at="warp=3"), State(swizzle="address", base=4)):
        by_coordinate = shown_of(state)
        in_memory = shown_of(state.model_copy(update={"view": "physical"}))
        assert by_coordinate.board is not None
        assert in_memory.board is not None
        lanes = [{cell.lanes for cell in each.board.banks if cell.lanes} for each in (by_coordinate, in_memory)]
        assert lanes[0] == lanes[1]
        for cell, banks in in_memory.board.banks.items():
            for lane in cell.lanes:
                assert {byte // 4 % 32 for byte in bytes_of(in_memory, lane)} & set(banks)


def test_the_part_that_is_drawn_has_the_warp_instruction() -> None:
    state = State(rows=256, columns=256, threads=256, at="warp=7, k=240")
    shown = shown_of(state)
    assert shown.board is not None
    assert {lane for cell in shown.board.banks for lane in cell.lanes} == set(range(32))
    memory = shown_of(state.model_copy(update={"view": "physical"}))
    assert memory.board is not None
    assert any(cell.lanes for cell in memory.board.banks)


def test_what_to_try_helps() -> None:
    _, tries = changes_of(State())
    assert [each.words for each in tries] == ["Swizzle<3,3,3> on offsets", "a pad of 8"]
    for each in tries:
        assert shown_of(each.state).outcome is Outcome.PROVED
    assert changes_of(State(swizzle="offset"))[1] == ()


FIELDS = {
    "coord": State(map="own", coord="lane%8, (tid/8"),
    "loops": State(map="own", loops="k=0:64:0"),
    "layout": State(order="layout", layout="(8,64):(64"),
    "swizzle": State(swizzle="offset", bits=4, shift=2),
    "rows": State(rows=256, columns=256, element="f64", map="own", coord="0, 0"),
    "instruction": State(instruction="stmatrix.x4", target="sm_80"),
    "map": State(columns=60),
    "at": State(at="warp=9"),
}
"""A state with one mistake, by the field where it is told."""


@pytest.mark.parametrize("field", FIELDS)
def test_a_mistake_stands_at_its_field(field: str) -> None:
    (error, *_) = answer(FIELDS[field].to_query())["errors"]
    assert error["field"] == field, error
    assert error["code"] not in ("", "SWZ901")


def test_what_a_whole_warp_needs_stands_at_the_instruction() -> None:
    (error,) = answer(State(threads=100, map="own", coord="lane, 0").to_query())["errors"]
    assert (error["field"], error["code"]) == ("instruction", "SWZ406")


def test_an_own_map_begins_with_what_the_named_one_says() -> None:
    for name in ("rows", "columns", "matrix"):
        start = State(map=name)
        fields = answer(start.to_query())["fields"]
        own = State(map="own", coord=fields["coord"], loops=fields["loops"])
        assert spec_text(own).text == spec_text(start).text
    layout = answer("")["fields"]["layout"]
    assert answer(State(order="layout", layout=layout).to_query())["outcome"] == "refuted"


def test_loops_and_threads_are_bounded() -> None:
    for state in (
        State(map="own", loops="k=99999999"),
        State(map="own", loops="a=2 b=2 c=2 d=2 e=2"),
        State(map="own", loops="k=4 k=4"),
        State(rows=256, columns=256, instruction="ld.shared.b16", map="rows", threads=1),
        State(order="layout", layout="(4096,4096):(4096,1)"),
    ):
        (error,) = answer(state.to_query())["errors"]
        assert error["code"] in ("SWZ596", "SWZ597")


@pytest.mark.parametrize("name", ["rows", "columns", "matrix"])
@pytest.mark.parametrize(
    "instruction", ["ldmatrix.x1", "ldmatrix.x2.trans", "stmatrix.x4", "ld.shared.v4.b32", "ld.shared.b16"]
)
@pytest.mark.parametrize("threads", [32, 64, 96])
def test_a_named_map_covers_the_tile_with_whole_vectors(name: str, instruction: str, threads: int) -> None:
    state = State(rows=96, columns=32, instruction=instruction, map=name, threads=threads)
    vector = max(1, 8 * INSTRUCTIONS[instruction].width_bytes // ELEMENT_BITS[state.element])
    times: dict[tuple[int, int], int] = {}
    for _, _, coords in warps(state, 0):
        for at in filter(None, coords):
            assert at[1] % vector == 0
            for step in range(vector):
                times[at[0], at[1] + step] = times.get((at[0], at[1] + step), 0) + 1
    if name != "matrix" and INSTRUCTIONS[instruction].address_lanes < 32:
        return  # lanes without an address skip what would be theirs
    assert set(times) == {(row, column) for row in range(96) for column in range(32)}
    assert set(times.values()) == {1}


def test_another_base_moves_what_is_drawn() -> None:
    state = State(swizzle="address", base=4, shift=6, map="columns", instruction="ld.shared.b16", at="base=3072")
    shown = shown_of(state)
    assert shown.run is not None
    assert dict(shown.access.binding(shown.run.point))["base"] == 3072
    held_against_the_drawn_one(state, shown)
    first = shown_of(state.model_copy(update={"at": "base=0"}))
    assert shown.board is not None
    assert first.board is not None
    assert [*shown.board.banks.values()] != [*first.board.banks.values()]
    memory = shown_of(state.model_copy(update={"view": "physical"}))
    assert memory.board is not None
    assert memory.board.picture.panels[0].row_heads[0] == "3072"
    assert any(cell.lanes for cell in memory.board.banks)
