"""Counters beside verdicts: a recorded run on an H200, and wrong counts and wrong verdicts planted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from swzverify.compiled.profiler import Counts
from swzverify.compiled.profiler.export import exported
from swzverify.compiled.ptx import read_module
from swzverify.compiled.sass.opcodes import opcode_of
from swzverify.compiled.scan import ScannedAccess, Verdict, scan_function
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.measured import Measured, Status, measured, measured_in
from swzverify.compiled.scan.verdict import unknown
from tests.profiler.recorded import DATA, MIXED, PADDED, ROWS, code, source_page

BLOCKS = {ROWS: (32, 8, 1), PADDED: (32, 8, 1), MIXED: (64, 1, 1)}
STORE, COLUMN, MERGED, MATRIX, PITCH, NEVER = 102, 184, 443, 564, 571, 579


@cache
def accesses(kernel: str) -> Mapping[int, ScannedAccess]:
    module = read_module((DATA / "checked.ptx").read_text(), "checked.ptx")
    function = module.function(kernel)
    assert function is not None
    return {each.line: each for each in scan_function(module, function, BLOCKS[kernel], machine=code())}


@cache
def counted() -> dict[tuple[str, int], Counts]:
    found: dict[tuple[str, int], Counts] = {}
    for profile in exported(source_page().encode(), "c.csv").profiles:
        for place, (_, counts) in profile.instructions.items():
            assert counts is not None
            key = profile.kernel, place
            found[key] = found[key] + counts if key in found else counts
    return found


def held(kernel: str, line: int, access: ScannedAccess | None = None, **change: int | None) -> Measured:
    """The recorded counters of an access, with changes to those of its instructions."""
    access = access or accesses(kernel)[line]
    assert access.chip is not None
    counters = dict(counted())
    for each in access.chip.code:
        key = each.section, each.offset_bytes
        counters[key] = replace(counters[key], **change)  # pyright: ignore[reportArgumentType]
    return measured(access, counters)


def decided(kernel: str, line: int, **change: object) -> ScannedAccess:
    """An access whose verdict on the chip is another one."""
    access = accesses(kernel)[line]
    assert access.chip is not None
    decision = replace(access.chip.decision, **change)  # pyright: ignore[reportArgumentType]
    return replace(access, chip=replace(access.chip, decision=decision))


@pytest.mark.parametrize(
    ("kernel", "line", "status"),
    [
        (ROWS, STORE, Status.AGREES),
        (ROWS, COLUMN, Status.AGREES),
        (ROWS, 70, Status.NOT_SEEN),
        (PADDED, 376, Status.AGREES),
        (MIXED, MERGED, Status.AGREES),
        (MIXED, 446, Status.AGREES),
        (MIXED, 512, Status.AGREES),
        (MIXED, 539, Status.OPEN),
        (MIXED, MATRIX, Status.AGREES),
        (MIXED, PITCH, Status.OPEN),
        (MIXED, NEVER, Status.NOT_SEEN),
    ],
)
def test_the_recorded_run(kernel: str, line: int, status: Status) -> None:
    assert held(kernel, line).status is status


def test_nothing_of_the_recorded_run_disagrees() -> None:
    for kernel in BLOCKS:
        for access in accesses(kernel).values():
            assert measured(access, counted()).status is not Status.DISAGREES, access


def test_the_figures_of_a_conflict() -> None:
    (row,) = held(ROWS, COLUMN).rows
    assert (row.counts, row.most) == (Counts(8, 256, 8, 256), 32)
    (row,) = held(MIXED, MERGED).rows
    assert (row.instruction.name, row.counts.wavefronts, row.most) == ("STS.128", 32, 4)


def test_a_free_access_that_takes_more_is_a_contradiction() -> None:
    assert held(ROWS, STORE, wavefronts=9).status is Status.DISAGREES
    assert held(ROWS, STORE, wavefronts=9, ideal=None, lanes=None).status is Status.DISAGREES
    assert held(MIXED, MERGED, wavefronts=33).status is Status.DISAGREES


def test_a_conflict_that_takes_more_than_its_ways_is_a_contradiction() -> None:
    assert held(ROWS, COLUMN, wavefronts=257).status is Status.DISAGREES
    at_least = decided(ROWS, COLUMN, at_least=True)
    assert held(ROWS, COLUMN, at_least, wavefronts=257).status is Status.AGREES


def test_a_conflict_that_every_thread_must_meet_has_to_be_seen() -> None:
    assert accesses(MIXED)[MATRIX].is_certain
    assert held(MIXED, MATRIX, wavefronts=32).status is Status.DISAGREES
    # Some lanes were off: the others need not conflict.
    assert held(MIXED, MATRIX, wavefronts=32, lanes=255).status is Status.OPEN
    assert held(MIXED, MATRIX, wavefronts=32, lanes=None).status is Status.OPEN


def test_a_conflict_of_a_loop_may_be_one_of_a_trip_that_was_not_made() -> None:
    assert accesses(ROWS)[COLUMN].loops
    assert held(ROWS, COLUMN, wavefronts=8).status is Status.OPEN


@pytest.mark.parametrize(("kernel", "line"), [(ROWS, COLUMN), (MIXED, MATRIX)])
def test_a_conflict_that_is_called_free_is_seen(kernel: str, line: int) -> None:
    minimum = accesses(kernel)[line].chip.decision.minimum  # type: ignore[union-attr]
    wrong = decided(kernel, line, verdict=Verdict.FREE, ways=1, wavefronts=minimum)
    assert held(kernel, line, wrong).status is Status.DISAGREES


def test_an_access_that_no_lane_makes_is_not_executed() -> None:
    access = accesses(ROWS)[STORE]
    assert access.chip is not None
    wrong = replace(access, chip=replace(access.chip, decision=unknown(NEVER_MADE)))
    assert held(ROWS, STORE, wrong).status is Status.DISAGREES


def test_an_unknown_is_neither_right_nor_wrong() -> None:
    access = accesses(ROWS)[STORE]
    assert access.chip is not None
    other = replace(access, chip=replace(access.chip, decision=unknown("why")))
    found = held(ROWS, STORE, other, wavefronts=9)
    assert (found.status, len(found.rows)) == (Status.OPEN, 1)


def test_several_accesses_of_one_line_are_not_told_apart() -> None:
    """Nor is one that no lane makes told from another call of its function."""
    access = accesses(ROWS)[STORE]
    assert measured(access, counted(), is_alone=False).status is Status.OPEN
    assert access.chip is not None
    never = replace(access, chip=replace(access.chip, decision=unknown(NEVER_MADE)))
    assert measured(never, counted(), is_alone=False).status is Status.OPEN


def test_a_launch_may_not_keep_what_a_verdict_assumes() -> None:
    access = decided(ROWS, STORE, assumes=("sources lie in one line",))
    found = held(ROWS, STORE, access, wavefronts=9)
    assert (found.status, "sources lie in one line" in found.reason) == (Status.OPEN, True)
    assert held(ROWS, STORE, access).status is Status.AGREES


def test_a_launch_does_not_hide_another_one() -> None:
    access, key = accesses(ROWS)[COLUMN], (ROWS, 0x1520)
    high, low = {key: Counts(8, 257, 8, 256)}, {key: Counts(8, 8, 8, 256)}
    found = measured_in(access, [low, high])
    assert (found.status, found.rows[0].counts.wavefronts) == (Status.DISAGREES, 257)
    assert found.reason.endswith("(launch 2 of 2)")
    found = measured_in(access, [{key: Counts(8, 256, 8, 256)}, low])
    assert (found.status, found.rows[0].counts) == (Status.AGREES, Counts(16, 264, 16, 512))
    assert measured_in(access, []).status is Status.NOT_SEEN


def test_what_is_not_there() -> None:
    access = accesses(ROWS)[STORE]
    assert measured(replace(access, chip=None), counted()).status is Status.NOT_SEEN
    assert measured(access, {}).status is Status.NOT_SEEN
    assert held(ROWS, STORE, executed=0, wavefronts=0).status is Status.NOT_SEEN


def test_a_conflict_of_some_data_need_not_be_counted() -> None:
    """A trial's conflict, or one of some data, is not one of each launch."""
    some = decided(MIXED, MATRIX, is_for_some=True)
    assert held(MIXED, MATRIX, some, wavefronts=32).status is Status.OPEN
    assert held(MIXED, MATRIX, some).status is Status.AGREES


@pytest.mark.parametrize(
    ("name", "count", "status"),
    [
        ("LDGSTS.E.BYPASS.128.ZFILL", 8, Status.AGREES),
        ("LDGSTS.E.BYPASS.128.ZFILL", 9, Status.DISAGREES),
        ("LDGSTS.E.BYPASS.128", 8, Status.DISAGREES),
        ("LDGSTS.E.128.ZFILL", 8, Status.DISAGREES),
    ],
)
def test_a_copy_that_may_fill_is_counted_twice(name: str, count: int, status: Status) -> None:
    """An H100 counts 8 wavefronts where 4 are the cost."""
    access = decided(ROWS, STORE, verdict=Verdict.FREE, wavefronts=4, minimum=4, at_least=False)
    assert access.chip is not None
    opcode = opcode_of(name)
    assert opcode is not None
    code = tuple(replace(each, name=name, opcode=opcode) for each in access.chip.code[:1])
    access = replace(access, chip=replace(access.chip, code=code))
    key = code[0].section, code[0].offset_bytes
    counts = {key: replace(counted()[key], executed=1, wavefronts=count, ideal=4)}
    assert measured(access, counts).status is status
    # A verdict that has both of them already is not doubled again.
    both = replace(access, chip=replace(access.chip, decision=replace(access.chip.decision, wavefronts=8, minimum=8)))
    assert measured(both, {key: replace(counts[key], wavefronts=9)}).status is Status.DISAGREES
