"""The rule of the 16-byte cp.async: plain and symbolic, against the text, and both against the
measured patterns.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from swzrecheck.propose import periods
from swzrecheck.statement import Cost, Statement
from swzrecheck.warp_rule import warp_cost, warp_rule
from swzrecheck.witness import WitnessError
from swzrecheck.witness_gf2 import check_gf2, find_gf2
from swzrecheck.witness_residues import check_residues, find_residues
from swzverify.hardware import INSTRUCTIONS, access_cost
from swzverify.ir.expr import var
from tests.certificates import patterns as pt
from tests.certificates.export import state
from tests.certificates.judge import holds
from tests.engines import obligations as ob
from tests.engines.obligations import leaf, number
from tests.nightly import counts

COPY = "cp.async.16"
LANE = var("lane", 32)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", pt.COALESCED)
def test_every_measured_pattern_costs_what_was_counted(name: str, step: int) -> None:
    """The text, the plain rule and the symbolic one: none is off by one wavefront anywhere."""
    warps, counted = (each[::step] for each in pt.measured(name))
    assert len(warps) > 20
    wanted = [pt.reading(warp) for warp in warps]
    assert [wavefronts for wavefronts, _ in wanted] == counted
    assert [pt.plain(warp) for warp in warps] == wanted
    assert pt.encoded(warps) == [(wavefronts, wavefronts > minimum) for wavefronts, minimum in wanted]


FAMILIES: dict[str, Callable[[], Iterator[pt.Warp]]] = {
    "two of an octet": pt.two_of_an_octet,
    "two of a warp": pt.two_of_a_warp,
    "three of an octet": pt.three_of_an_octet,
    "four of an octet": pt.four_of_an_octet,
    "a line in any order": pt.lines_in_any_order,
    "random": lambda: pt.random_warps(8000, seed=1),
}


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", list(FAMILIES))
def test_plain_and_symbolic_rule_say_what_the_text_says(name: str, step: int) -> None:
    """Conflict-free is asked of pairs of lanes: here it is exactly `wavefronts == minimum`, both
    answers occurring.
    """
    warps = list(FAMILIES[name]())[::step]
    assert len(warps) > 300
    wanted = [pt.reading(warp) for warp in warps]
    assert [pt.plain(warp) for warp in warps] == wanted
    assert pt.encoded(warps) == [(wavefronts, wavefronts > minimum) for wavefronts, minimum in wanted]
    assert len({wavefronts > minimum for wavefronts, minimum in wanted}) == 2


def test_the_prover_s_rule_is_the_same() -> None:
    row = INSTRUCTIONS[COPY]
    for warp in pt.random_warps(4000, seed=3):
        cost = access_cost(row, [None if chunk is None else 16 * chunk for chunk in warp])
        assert pt.plain(warp) == (cost.wavefronts, cost.minimum), warp


@pytest.mark.parametrize("width", [4, 5, 6, 7, 8, 9])
def test_addresses_of_few_bits(width: int) -> None:
    """Narrower than a sector or a line: the missing bits are 0."""
    rng = random.Random(width)
    chunks = 1 << (width - 4)
    warps = [tuple(rng.choice([None, rng.randrange(chunks)]) for _ in range(32)) for _ in range(200)]
    wanted = [pt.reading(warp) for warp in warps]
    assert pt.encoded(warps, width) == [(wavefronts, wavefronts > minimum) for wavefronts, minimum in wanted]


@pytest.mark.parametrize(
    ("warp", "cost"),
    [((3,) * 32, (1, 1)), (tuple(lane % 8 for lane in range(32)), (1, 1)), ((None,) * 32, (0, 0))],
    ids=["one address", "one line for all octets", "nobody"],
)
def test_only_octets_with_a_copying_lane_count(warp: pt.Warp, cost: tuple[int, int]) -> None:
    assert pt.plain(warp) == cost
    assert pt.folded(warp) == (cost[0], False)


def test_addresses_flipped_or_moved_by_lines_cost_the_same() -> None:
    """What the witnesses lean on; a move by less than a line is no such thing."""
    rng = random.Random(2)
    half_a_line = 0
    for warp in pt.random_warps(1500, seed=9):
        flip, lines = rng.randrange(1 << 12), rng.randrange(1, 40)
        flipped = tuple(None if chunk is None else chunk ^ flip for chunk in warp)
        moved = tuple(None if chunk is None else chunk + 8 * lines for chunk in warp)
        assert pt.plain(warp) == pt.plain(flipped) == pt.plain(moved)
        half_a_line += pt.plain(warp) != pt.plain(tuple(None if chunk is None else chunk + 4 for chunk in warp))
    assert half_a_line > 50


def test_no_class_costs_2() -> None:
    """Why the symbolic rule counts classes: the text's larger number of two is 1 for every class of
    every pattern.
    """
    for warp in pt.random_warps(3000, seed=4):
        copies = {l: c for l, c in enumerate(warp) if c is not None and c not in warp[:l]}  # noqa: E741
        kinds = {l: "both" if copies.get(l ^ 1) == c ^ 1 else l % 2 for l, c in copies.items()}  # noqa: E741
        classes = {(l // 8, c // 8, kinds[l], (l ^ c) % 4) for l, c in copies.items()}  # noqa: E741
        assert pt.reading(warp)[0] == len(classes)


# --- through statements, solvers and witnesses -----------------------------------------------------------------------


def strided(stride: int) -> pt.Warp:
    return tuple(stride * lane for lane in range(32))


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 5, 8, 9, 16])
def test_a_solver_finds_the_exact_number(stride: int) -> None:
    wavefronts, minimum = pt.reading(strided(stride))
    address = ob.times(leaf(LANE), 16 * stride)
    for limit in (wavefronts - 1, wavefronts):
        if limit:
            assert holds(ob.cost(LANE, (), COPY, address, at_most=limit)) is (limit == wavefronts), limit
    assert holds(ob.cost(LANE, (), COPY, address)) is (wavefronts == minimum)


def test_misaligned_copies_break_every_claim() -> None:
    for at_most in (None, 32):
        assert not holds(ob.cost(LANE, (), COPY, ob.times(leaf(LANE), 8), at_most=at_most))


K = var("k", 12)


def random_copy(seed: int) -> tuple[Cost, list[pt.Warp]]:
    """A statement over a free variable, and all its warps; misaligned ones do not occur."""
    rng = random.Random(seed)
    lane, k = leaf(LANE), leaf(K)
    chunk = rng.choice([lane, lane, ob.over(lane, 2), ob.masked(lane, 7), ob.swizzled(lane, 1, 0, 2)])
    chunk = ob.xor(chunk, number(rng.randrange(8))) if rng.random() < 0.3 else chunk
    chunk = ob.times(chunk, rng.choice([1, 1, 1, 2, 8]))
    moved = ob.times(k, rng.choice([1, 2, 4, 8, 8, 16, 24]))
    chunk = ob.xor(chunk, moved) if rng.random() < 0.4 else ob.plus(chunk, moved)
    address = ob.times(chunk, 16)
    active = rng.choice([None, None, ob.less(lane, number(rng.randrange(1, 32))), ob.less(k, lane)])
    assumed = ob.less(k, number(rng.randrange(1, 9))) if rng.random() < 0.3 else None
    at_most = rng.choice([None, None, 4, 5, 8, 12])
    on, kept = ob.truth_of(active)[1], ob.truth_of(assumed)[1]
    warps: list[pt.Warp] = []
    for point in ob.points((K,)):
        lanes = [{**point, "lane": number_} for number_ in range(32)]
        if kept(point):
            warps.append(tuple(address.plain(one) // 16 if on(one) else None for one in lanes))
    statement = state(ob.cost(LANE, (K,), COPY, address, active, at_most, assumed))
    assert isinstance(statement, Cost)
    return statement, warps


def all_keep(statement: Cost, warps: list[pt.Warp]) -> bool:
    costs = [pt.reading(warp) for warp in warps]
    return all(w <= (statement.at_most[0] if statement.at_most else minimum) for w, minimum in costs)


@pytest.mark.parametrize("count", counts(30, 90))
def test_solvers_judge_random_statements_as_the_text_does(count: int) -> None:
    tally: Counter[tuple[bool, bool]] = Counter()
    for seed in range(count):
        statement, warps = random_copy(seed)
        wanted = all_keep(statement, warps)
        assert holds(statement) is wanted, seed
        tally[wanted, bool(statement.at_most)] += 1
    assert min(tally[wanted, limited] for wanted in (True, False) for limited in (True, False)) >= count // 18, tally


def found(statement: Statement, repeats_after: dict[str, int]) -> set[str]:
    """The witnesses that are found, each checked."""
    names: set[str] = set()
    if (linear := find_gf2(statement)) is not None:
        check_gf2(statement, linear)
        names.add("gf2")
    if (repeated := find_residues(statement, repeats_after)) is not None:
        check_residues(statement, repeated)
        names.add("residues")
    return names


@pytest.mark.parametrize("count", counts(100, 400))
def test_witnesses_are_found_for_true_statements_only(count: int) -> None:
    """Whatever periods are proposed."""
    tally: Counter[str] = Counter()
    for seed in range(count):
        statement, warps = random_copy(seed)
        names = {name for count in (1, 2, 3, 4, 12) for name in found(statement, {"k": count})}
        tally.update(names)
        if all_keep(statement, warps):
            assert "residues" in names, seed
        else:
            assert not names, seed
    assert min(tally["gf2"], tally["residues"]) >= count // 20, tally


def test_a_step_of_less_than_a_line_is_no_period() -> None:
    """At k = 0 there is no conflict, half a line further there is one."""
    goal = ob.cost(LANE, (K,), COPY, ob.plus(ob.times(leaf(LANE), 16), ob.times(leaf(K), 64)))
    statement = state(goal)
    assert list(periods(statement)) == [{"k": 2}]
    with pytest.raises(WitnessError, match="1 is no period of k"):
        check_residues(statement, {"periods": {"k": 1}})
    with pytest.raises(WitnessError, match="a warp of one period takes 8 wavefronts"):
        check_residues(statement, {"periods": {"k": 2}})
    whole = ob.cost(LANE, (K,), COPY, ob.plus(ob.times(leaf(LANE), 16), ob.times(leaf(K), 128)))
    assert found(state(whole), {"k": 1}) == {"residues"}


def test_misaligned_warps_are_refused() -> None:
    with pytest.raises(ValueError, match="lane 0's address 8 is no multiple of 16"):
        warp_cost(warp_rule(COPY), [8, *[None] * 31])
