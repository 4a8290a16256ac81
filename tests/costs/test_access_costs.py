"""The cost of a whole access: against the oracle, against proved claims, and lane by lane."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from swzverify import cost, prove
from swzverify.claims import Wavefronts
from swzverify.claims.verdict import Outcome
from swzverify.errors import SwzError
from swzverify.hardware import access_cost
from swzverify.search.costs import access_costs
from swzverify.spec import SpecError, parse_spec
from swzverify.subjects import Access
from tests.differential.comparison import drawn
from tests.nightly import share
from tests.oracle import brute_force
from tests.oracle.access_claims import COST_PERIOD
from tests.oracle.hardware import warp_cost
from tests.oracle.oracle_errors import OracleAmbiguousError, OracleError
from tests.oracle.subjects import read_cases

HEAD = "swzverify: 1\ntarget: sm_90\n"


def access_of(text: str, before: str = "") -> Access:
    return parse_spec(f"{HEAD}{before}accesses:\n  a: {{{text}}}\n", path="a.yaml").cases[0].accesses["a"]


def by_oracle(access) -> tuple[Counter[int], int, int] | None:
    """The oracle's histogram, most wavefronts and most conflicts: each instruction at its worst."""
    worst: dict[int, tuple[int, int]] = {}
    width = access.instruction.width_bytes
    for base, stage in access.runs(COST_PERIOD):
        addresses = access.addresses(base, stage)
        if any(addresses[point] % width for point in access.active):
            return None
        for index, warp in enumerate(access.warps):
            found = warp_cost(access.instruction, [None if point is None else addresses[point] for point in warp])
            most, conflicts = worst.get(index, (0, 0))
            worst[index] = (max(most, found.wavefronts), max(conflicts, found.conflicts))
    counts = Counter(most for most, _ in worst.values() if most)
    return counts, max(most for most, _ in worst.values()), max(conflicts for _, conflicts in worst.values())


def compare(seed: int) -> int:
    """How many accesses of a random spec were compared."""
    drawn_spec = drawn(seed)
    try:
        brute_force.judge(drawn_spec)
        spec = parse_spec(json.dumps(drawn_spec), path="random.swz.yaml")
        worlds = [brute_force._read_world(drawn_spec, constants) for constants in read_cases(drawn_spec)]
    except (OracleError, OracleAmbiguousError, SpecError):
        return 0
    compared = 0
    for world, case in zip(worlds, spec.cases, strict=True):
        for name, access in case.accesses.items():
            if access.is_unbounded or access.own:
                continue
            try:
                expected = by_oracle(world.accesses[name]) if world.accesses[name].active else None
            except OracleAmbiguousError:
                continue
            if expected is None:
                with pytest.raises(SwzError, match=r"SWZ404|SWZ105"):
                    cost(access)
                continue
            found = cost(access)
            assert (Counter(found.histogram), found.wavefronts, found.bank_conflicts) == expected, (seed, name)
            compared += 1
    return compared


@pytest.mark.parametrize("start", share(range(40_000, 40_300, 50), 6))
def test_the_oracle_counts_the_same(start):
    assert sum(map(compare, range(start, start + 50))) > 20


SPEC = """\
tiles:
  A: {element: f16, layout: "(64,64):(64,1)", stages: 3}
  S: {element: f16, layout: "(64,64):(64,1)", swizzle: {bits: 3, base: 4, shift: 3, on: address}, base: {align: 16}}
"""
ACCESSES = [
    "tile: A, instruction: ldmatrix.x4, threads: 128, for: {k: 4}, coord: [warp*16 + lane%16, k*16 + lane/16*8]",
    "tile: S, instruction: ldmatrix.x4, threads: 128, for: {k: 4}, coord: [warp*16 + lane%16, k*16 + lane/16*8]",
    "instruction: ld.shared.b32, threads: 40, if: tid != 3, for: {i: 5}, assume: [i != 2], address: tid*i*4",
    "instruction: cp.async.16, threads: 64, for: {i: 3}, address: tid*16*i",
    "instruction: ld.shared.b32, block: [8, 8], for: {s: [1, 2, 8]}, base: {align: 4}, address: tid_y*4*s + tid_x*128",
]


@pytest.mark.parametrize("text", ACCESSES)
def test_claims_of_wavefronts_say_the_same(text):
    access = access_of(text, SPEC)
    found = cost(access)
    assert prove(Wavefronts(access, found.wavefronts)).outcome is Outcome.PROVED
    if found.wavefronts > 1:
        assert prove(Wavefronts(access, found.wavefronts - 1)).outcome is Outcome.REFUTED
    lanes = [record.address_bytes for record in access.lanes_at(found.worst.most_wavefronts.point)]
    alone = access_cost(access.instruction, lanes, access.target)
    assert (alone.wavefronts, alone.minimum) == (found.wavefronts, found.minimum), "where it says"
    assert found.total_wavefronts == sum(count * most for most, count in found.histogram.items())


def test_a_chunk_boundary_changes_nothing(monkeypatch):
    access = access_of(ACCESSES[1], SPEC)
    whole = cost(access)
    monkeypatch.setattr(access_costs, "_CHUNK_LANES", 32)
    assert cost(access) == whole


def test_bases_and_stages_are_no_instructions_of_their_own():
    assert cost(access_of(ACCESSES[0], SPEC)).instructions == 16
    assert dict(cost(access_of(ACCESSES[1], SPEC)).histogram) == {4: 16}


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("instruction: ld.shared.b32, threads: 32, for: {i: any}, address: lane*4 + i%2*128", "SWZ206", "loop 'i'"),
        ("instruction: ld.shared.b32, threads: 32, lanes: {bin: 64}, address: bin*4", "SWZ206", "(bin)"),
        ("instruction: ld.shared.b64, threads: 32, address: lane*4", "SWZ404", "lane 1 has address 4"),
        ("instruction: ld.shared.b32, threads: 32, if: lane > 40, address: lane*4", "SWZ105", "no warp instruction"),
        ("instruction: ld.shared.b32, threads: 32, for: {i: 4000000}, address: lane*4 + i*4", "SWZ206", "128000000"),
    ],
)
def test_what_cannot_be_counted_is_refused(text, code, said):
    with pytest.raises(SwzError) as caught:
        cost(access_of(text))
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.hint


def test_what_is_no_access_is_refused():
    with pytest.raises(SwzError, match="SWZ105"):
        cost("read_A")


def test_a_base_that_is_left_out_is_noticed(monkeypatch):
    """A planted mistake: one base stands for all, although the swizzle looks at the address."""
    access = access_of("tile: S, instruction: ld.shared.b32, threads: 32, coord: [0, lane*2]", SPEC)
    assert cost(access).wavefronts == 2
    monkeypatch.setattr(access_costs, "access_enough", lambda access, _: ((access.origin.name, 1),))
    assert cost(access).wavefronts == 1, "so that the test above would fail"
