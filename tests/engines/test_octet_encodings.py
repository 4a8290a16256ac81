"""The octet rule as Z3 terms: measured patterns, why classes may be counted, and encodings that are
wrong on purpose.

As in `test_wrong_encodings`: what is sound answers the case right, and with the mutation the answer
changes. Most of them would prove something wrong; docs/attacks.md counts them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import z3

from swzverify.claims import cost_claim
from swzverify.claims.cost_claim import cost_goal
from swzverify.engines import exhaust, gf2, residue
from swzverify.engines.obligations import Answer, Cost
from swzverify.engines.smt import SMT, octets, warp_rule
from swzverify.engines.smt import cost as smt_cost
from swzverify.engines.smt import engine as smt_engine
from swzverify.hardware import access_cost, find_instruction
from swzverify.ir.expr import var
from swzverify.ir.integers import Integer
from swzverify.subjects import AlignedBase
from tests.engines import obligations as ob
from tests.engines import test_wrong_encodings as first_file
from tests.engines.memory import forget
from tests.engines.obligations import Map, leaf, table
from tests.engines.test_wrong_encodings import says
from tests.hardware.test_octets import CASES, SETS, Rows, rows_of
from tests.nightly import counts

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
NAME = "cp.async.16"
LANES = 32
ADDRESS_BITS = 18
ROWS_EACH = 38
MANY_ROWS_EACH = 200
QUERIED_ROWS_EACH = 2
LANE, STEP = var("lane", LANES), var("v", 4)
HOLDS, FAILS = Answer.HOLDS, Answer.FAILS
Z3, GF2, RESIDUES = SMT(), gf2.GF2(), residue.Residues()


# --- measured patterns --------------------------------------------------------------------------------------


def some_rows(name: str, count: int) -> Rows:
    """Rows spread over a set's patterns in the order of their cost, so that every cost occurs."""
    rows = rows_of(name)
    order = np.argsort(rows.wavefronts, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, count).astype(int)]
    return Rows(rows.addresses[chosen], rows.active[chosen], rows.wavefronts[chosen])


class Formula:
    """(wavefronts, minimum) over the lanes' addresses and activities as variables, built once."""

    def __init__(self) -> None:
        context = z3.Context()
        self.addresses = [z3.BitVec(f"a{lane}", ADDRESS_BITS, context) for lane in range(LANES)]
        self.active = [z3.Bool(f"on{lane}", context) for lane in range(LANES)]
        self.terms = warp_rule.wavefronts(find_instruction(NAME), self.addresses, self.active)

    def at(self, addresses: Sequence[int], active: Sequence[bool]) -> list[int]:
        context = self.addresses[0].ctx
        pairs: list[tuple[z3.ExprRef, z3.ExprRef]] = [
            (term, z3.BitVecVal(address, ADDRESS_BITS, context))
            for term, address in zip(self.addresses, addresses, strict=True)
        ]
        pairs += [(term, z3.BoolVal(on, context)) for term, on in zip(self.active, active, strict=True)]
        return [z3.simplify(z3.substitute(term, *pairs)).as_long() for term in self.terms]


@pytest.mark.parametrize("count", counts(ROWS_EACH, MANY_ROWS_EACH))
@pytest.mark.parametrize("name", SETS)
def test_the_formula_evaluates_to_the_measured_counts(name: str, count: int) -> None:
    rows = some_rows(name, count)
    assert len(SETS) * ROWS_EACH >= 300
    assert len(np.unique(rows.wavefronts)) > 1
    formula = Formula()
    for index, warp in enumerate(rows.warps()):
        found = formula.at(rows.addresses[index].tolist(), rows.active[index].tolist())
        assert found == [rows.wavefronts[index], access_cost(NAME, warp).minimum]


@pytest.mark.parametrize("name", SETS)
def test_claims_are_decided_as_measured(name: str) -> None:
    """Z3's own queries on the formula, with and without the ways round it, at the limit and just
    below.
    """
    rows = some_rows(name, QUERIED_ROWS_EACH)
    for index, warp in enumerate(rows.warps()):
        seen, minimum = int(rows.wavefronts[index]), access_cost(NAME, warp).minimum
        for limit, wanted in ((seen, HOLDS), (seen - 1, FAILS), (None, HOLDS if seen == minimum else FAILS)):
            if limit != 0:
                goal = looked_up(rows.addresses[index].tolist(), rows.active[index].tolist(), limit)
                assert smt_cost._by_counting(goal, 30_000_000).answer is wanted
                assert SMT().decide(goal).answer is wanted


def looked_up(addresses: list[int], active: list[bool], at_most: int | None) -> Cost:
    """An access whose addresses stand in a table."""
    address = Map(Integer(table(LANE, addresses, ADDRESS_BITS), 0, (1 << ADDRESS_BITS) - 1), lambda p: p["lane"])
    return ob.cost(
        LANE, (), NAME, address, Map(Integer(table(LANE, [*map(int, active)], 1), 0, 1), lambda _: 1), at_most
    )


def test_random_warps_cost_what_the_plain_rule_says() -> None:
    rng, formula = random.Random(5), Formula()
    for _ in range(120):
        few = rng.choice([8, 12, 32, 64])
        addresses = [16 * rng.randrange(few) for _ in range(LANES)]
        active = [rng.random() < 0.8 for _ in range(LANES)]
        cost = access_cost(NAME, [at if on else None for at, on in zip(addresses, active, strict=True)])
        assert formula.at(addresses, active) == [cost.wavefronts, cost.minimum]


# --- why a class takes one wavefront ------------------------------------------------------------------------


def test_units_of_a_class_that_move_differently_would_share_an_address() -> None:
    """The rule's larger number is 1: no two lanes of a class that read sectors of one parity move
    them differently.

    All addresses and all lanes at once; nothing is presumed but that lanes that copy differ in
    address.
    """
    context = z3.Context()
    addresses = [z3.BitVec(f"a{lane}", 12, context) for lane in range(8)]
    padded = [*addresses, *(z3.BitVecVal(0, 12, context) for _ in range(LANES - 8))]
    copies = [z3.Bool(f"copies{lane}", context) for lane in range(8)]
    everyone = [*copies, *(z3.BoolVal(False, context) for _ in range(LANES - 8))]
    moves = [z3.Extract(6, 5, addresses[lane]) ^ (lane // 2) for lane in range(8)]
    classes = [octets.class_of(lane, padded, everyone) for lane in range(8)]
    pairs = [(a, b) for a in range(8) for b in range(a)]
    solver = z3.Solver(ctx=context)
    solver.add([z3.Extract(3, 0, address) == 0 for address in addresses])
    distinct = [z3.Or(z3.Not(copies[a]), z3.Not(copies[b]), addresses[a] != addresses[b]) for a, b in pairs]
    alike = [
        z3.And(copies[a], copies[b], classes[a] == classes[b], moves[a] != moves[b])
        for a, b in pairs
        if a // 2 % 2 == b // 2 % 2
    ]
    assert len(alike) == 12
    solver.add(z3.Or(alike))
    # with addresses that repeat such lanes exist, so the question is no empty one
    assert solver.check() == z3.sat
    solver.add(distinct)
    assert solver.check() == z3.unsat


# --- deliberately wrong encodings ---------------------------------------------------------------------------


def repeats_copy(patch: Patch) -> None:
    """No lane gives way to one with the same address."""
    patch.setattr(octets, "copying", lambda _, active: list(active))


def _copying(lower: Callable[[int], Sequence[int]], *, any_lane: bool = False) -> Callable[[Any, Any], list[Any]]:
    """`copying` with other lanes before which a lane gives way, inactive ones too if `any_lane`."""

    def wrong(addresses: Any, active: Any) -> list[Any]:
        found: list[Any] = []
        for lane in range(LANES):
            same = [z3.And(addresses[e] == addresses[lane], any_lane or active[e]) for e in lower(lane)]
            found.append(z3.And(active[lane], *(z3.Not(each) for each in same)))
        return found

    return wrong


def repeats_of_the_octet_only(patch: Patch) -> None:
    """A lane of another octet with the same address is not looked for."""
    patch.setattr(octets, "copying", _copying(lambda lane: range(lane // 8 * 8, lane)))


def repeats_of_other_octets_only(patch: Patch) -> None:
    patch.setattr(octets, "copying", _copying(lambda lane: range(lane // 8 * 8)))


def the_highest_repeat_copies(patch: Patch) -> None:
    patch.setattr(octets, "copying", _copying(lambda lane: range(lane + 1, LANES)))


def repeats_of_lanes_that_are_off(patch: Patch) -> None:
    """A lane gives way to one that is off: a wrong `proved`."""
    patch.setattr(octets, "copying", _copying(range, any_lane=True))


def _class(change: Callable[[int, Any, Any, Any], Any]) -> Callable[[Patch], None]:
    """A mutation of a class, from the lane, the addresses, the lanes that copy and the sound class.

    Of that bit 0 tells odd moves, bit 1 swapped halves, bits 2 and 3 the kind, the others the line.
    """

    def mutate(patch: Patch) -> None:
        sound = octets.class_of
        patch.setattr(octets, "class_of", lambda lane, a, copies: change(lane, a, copies, sound(lane, a, copies)))

    return mutate


def _bits(term: Any, high: int, low: int) -> Any:
    return z3.Extract(high, low, term)


def _bit(value: int, like: Any) -> Any:
    return z3.BitVecVal(value, 1, like.ctx)


lines_left_out = _class(lambda _lane, _a, _copies, found: _bits(found, 3, 0))
kinds_left_out = _class(lambda _lane, _a, _copies, f: z3.Concat(_bits(f, f.size() - 1, 4), _bits(f, 1, 0)))
halves_left_out = _class(lambda _lane, _a, _copies, f: z3.Concat(_bits(f, f.size() - 1, 2), _bits(f, 0, 0)))
parity_of_moves_left_out = _class(lambda _lane, _a, _copies, f: _bits(f, f.size() - 1, 1))
whole_moves_apart = _class(lambda lane, a, _copies, f: z3.Concat(f, _bits(a[lane], 6, 6) ^ _bit(lane // 4 % 2, f)))
"""How far a class moves its sectors counted for the class, not for even and odd sectors: the rule's
old upper bound.
"""
even_and_odd_sectors_added = _class(lambda lane, _a, _copies, f: z3.Concat(f, _bit(lane // 2 % 2, f)))
"""The sum of two numbers in place of the larger one."""
lanes_number_in_the_class = _class(lambda lane, _a, _copies, f: z3.Concat(f, z3.BitVecVal(lane % 8, 3, f.ctx)))
"""Every lane a class of its own."""


def half_of_the_odd_lane(patch: Patch) -> None:
    """In a pair the odd lane's half as it is written, not as the even lane's: the pair is counted
    twice.
    """

    def change(lane: int, a: Any, copies: Any, f: Any) -> Any:
        turned = f ^ z3.BitVecVal(2 * (lane % 2), f.size(), f.ctx)
        return z3.If(octets.together(lane, a, copies), turned, f)

    _class(change)(patch)


def pairs_are_even_lanes(patch: Patch) -> None:
    """A pair goes with even lanes: a wrong `proved`."""
    patch.setattr(octets, "_BOTH", 0)


def pairs_are_odd_lanes(patch: Patch) -> None:
    patch.setattr(octets, "_BOTH", 1)


def no_pairs(patch: Patch) -> None:
    patch.setattr(octets, "together", lambda _lane, addresses, _copies: z3.BoolVal(False, addresses[0].ctx))


def every_mate_is_a_pair(patch: Patch) -> None:
    """Wherever the mates write."""
    patch.setattr(octets, "together", lambda lane, _addresses, copies: copies[lane ^ 1])


def pairs_by_class(patch: Patch) -> None:
    """Mates that move alike taken for a pair, though they write to two sectors: a wrong `proved`."""

    def wrong(lane: int, a: Any, copies: Any) -> Any:
        own, mate = a[lane], a[lane ^ 1]
        same = z3.And(_bits(own, own.size() - 1, 7) == _bits(mate, mate.size() - 1, 7), _bits(own ^ mate, 5, 4) == 1)
        return z3.And(copies[lane ^ 1], same)

    patch.setattr(octets, "together", wrong)


def pairs_of_two_sectors(patch: Patch) -> None:
    """Mates that write within 64 bytes taken for a pair."""
    sound = octets.units
    patch.setattr(octets, "units", lambda address, size: sound(address, 64 if size == 32 else size))


def mates_that_do_not_copy(patch: Patch) -> None:
    """A lane that repeats an address still makes a pair with its mate."""

    def wrong(lane: int, a: Any, _copies: Any) -> Any:
        return octets.units(a[lane], 32) == octets.units(a[lane ^ 1], 32)

    patch.setattr(octets, "together", wrong)


def octets_share_classes(patch: Patch) -> None:
    """The warp taken for one octet, so that what moves alike in two octets is counted once: a wrong
    `proved`.
    """
    patch.setattr(octets, "CHUNKS_PER_LINE", LANES)


def octets_of_four_lanes(patch: Patch) -> None:
    patch.setattr(octets, "CHUNKS_PER_LINE", 4)


def _minimum(counted: Callable[[list[Any], list[Any]], Any]) -> Callable[[Patch], None]:
    """A mutation of the minimum, from one octet's lanes that are active and those that copy."""

    def mutate(patch: Patch) -> None:
        sound = octets.octet_costs

        def wrong(addresses: Any, active: Any) -> tuple[Any, Any]:
            copies = octets.copying(addresses, active)
            ones = [
                z3.If(
                    counted(active[first : first + 8], copies[first : first + 8]),
                    octets.number(1, addresses[0]),
                    octets.number(0, addresses[0]),
                )
                for first in range(0, LANES, 8)
            ]
            return sound(addresses, active)[0], octets.total(ones, addresses[0])

        # the rule's own name for it, as the counting way looks it up
        patch.setattr(warp_rule, "octet_costs", wrong)

    return mutate


minimum_of_octets_without_a_copy = _minimum(lambda active, _: z3.Or(active))
"""An octet whose lanes all repeat others counted in the minimum: it hides a conflict, a wrong
`proved`.
"""
minimum_of_idle_octets = _minimum(lambda active, _: z3.BoolVal(True, active[0].ctx))
"""Octets without an active lane counted in the minimum, likewise."""


# --- the cases ----------------------------------------------------------------------------------------------


def counts(name: str) -> Callable[[], bool]:
    """Whether the formula costs a case what it costs. Lanes that are off have the address of one
    that is on.
    """
    case = CASES[name]
    off = next(iter(case.chunks.values()))
    addresses = [16 * case.chunks.get(lane, off) for lane in range(LANES)]
    active = [lane in case.chunks for lane in range(LANES)]
    return lambda: Formula().at(addresses, active) == [case.wavefronts, case.minimum]


def shifted_by_chunks() -> Cost:
    """Rows that begin at any chunk of a line: only the first lies in one."""
    address = ob.plus(ob.times(leaf(LANE), 16), ob.times(leaf(STEP), 16))
    return ob.cost(LANE, (STEP,), NAME, address, at_most=4)


def every_other_pair_swapped() -> Cost:
    """All banks of a line once, so that no two lanes meet in a bank; but kept and swapped halves go
    apart.
    """
    swapped = ob.masked(ob.down(leaf(LANE), 1), 1)
    return ob.cost(LANE, (), NAME, ob.times(ob.xor(leaf(LANE), swapped), 16))


def priced_by_banks_in_gf2(patch: Patch) -> None:
    """The same of GF(2), whose rules its class holds."""
    rules = gf2.GF2.rules
    sound = rules.cost
    assert sound is not None

    def wrong(goal: Any) -> Any:
        return sound(replace(goal, instruction=replace(goal.instruction, by_octets=False)))

    patch.setattr(gf2.GF2, "rules", replace(rules, cost=wrong))


def priced_by_banks(module: Any, name: str, place: int) -> Callable[[Patch], None]:
    """The common rule in place of the octet rule: a wrong `proved`. The obligation is the argument
    at `place`.
    """

    def mutate(patch: Patch) -> None:
        sound = getattr(module, name)

        def wrong(*given: Any) -> Any:
            goal = replace(given[place], instruction=replace(given[place].instruction, by_octets=False))
            return sound(*given[:place], goal, *given[place + 1 :])

        patch.setattr(module, name, wrong)

    return mutate


def shifts_by_a_chunk(module: Any) -> Callable[[Patch], None]:
    """Shifts by 16 bytes taken to change nothing, as by the common rule: a wrong `proved`."""
    return lambda patch: patch.setattr(module, "turn_bytes", lambda _: 16)


def any_base() -> bool:
    """Exhaustion over the bases that the claim's front end vouches for: some of them begin inside a
    line.
    """
    access = first_file.access(NAME, "lane*16", base=AlignedBase(16))
    return exhaust.Exhaustion().decide(cost_goal(access, None)).answer is FAILS


MUTATIONS: list[tuple[str, Callable[[Patch], None], Callable[[], bool]]] = [
    ("repeats_copy", repeats_copy, counts("a repeat in the octet")),
    ("repeats_of_the_octet_only", repeats_of_the_octet_only, counts("a repeat in another octet")),
    ("repeats_of_other_octets_only", repeats_of_other_octets_only, counts("a repeat in the octet")),
    ("the_highest_repeat_copies", the_highest_repeat_copies, counts("a repeat beside a copy")),
    ("repeats_of_lanes_that_are_off", repeats_of_lanes_that_are_off, counts("one lane")),
    ("lines_left_out", lines_left_out, counts("two lines")),
    ("kinds_left_out", kinds_left_out, counts("an even and an odd lane")),
    ("halves_left_out", halves_left_out, counts("halves kept and swapped")),
    ("parity_of_moves_left_out", parity_of_moves_left_out, counts("moves 2 and 1")),
    ("whole_moves_apart", whole_moves_apart, counts("moves 0 and 2")),
    ("even_and_odd_sectors_added", even_and_odd_sectors_added, counts("two even lanes")),
    ("lanes_number_in_the_class", lanes_number_in_the_class, counts("two even lanes")),
    ("half_of_the_odd_lane", half_of_the_odd_lane, counts("a pair")),
    ("pairs_are_even_lanes", pairs_are_even_lanes, counts("a pair and an even lane")),
    ("pairs_are_odd_lanes", pairs_are_odd_lanes, counts("a pair and an odd lane")),
    ("no_pairs", no_pairs, counts("a pair")),
    ("every_mate_is_a_pair", every_mate_is_a_pair, counts("mates in sectors two apart")),
    ("pairs_by_class", pairs_by_class, counts("mates in sectors two apart")),
    ("pairs_of_two_sectors", pairs_of_two_sectors, counts("mates in neighbouring sectors, and an even lane")),
    ("mates_that_do_not_copy", mates_that_do_not_copy, counts("mates, of which one does not copy")),
    ("octets_share_classes", octets_share_classes, counts("the same class in two octets")),
    ("octets_of_four_lanes", octets_of_four_lanes, counts("a row")),
    (
        "minimum_of_octets_without_a_copy",
        minimum_of_octets_without_a_copy,
        counts("a repeat in another octet"),
    ),
    ("minimum_of_idle_octets", minimum_of_idle_octets, counts("one lane")),
    ("shifts_by_a_chunk_in_z3", shifts_by_a_chunk(smt_cost), says(Z3, shifted_by_chunks(), FAILS)),
    ("shifts_by_a_chunk_in_residues", shifts_by_a_chunk(residue), says(RESIDUES, shifted_by_chunks(), FAILS)),
    ("shifts_by_a_chunk_in_bases", shifts_by_a_chunk(cost_claim), any_base),
    (
        "octets_by_banks_in_z3",
        priced_by_banks(smt_engine, "cost", 0),
        says(Z3, every_other_pair_swapped(), FAILS),
    ),
    ("octets_by_banks_in_gf2", priced_by_banks_in_gf2, says(GF2, every_other_pair_swapped(), FAILS)),
    (
        "octets_by_banks_in_exhaustion",
        priced_by_banks(exhaust, "judge_rows", 1),
        says(exhaust.Exhaustion(), every_other_pair_swapped(), FAILS),
    ),
    (
        "octets_by_banks_in_residues",
        priced_by_banks(residue, "judge_rows", 1),
        says(RESIDUES, every_other_pair_swapped(), FAILS),
    ),
]


@pytest.mark.parametrize(("mutate", "right"), [row[1:] for row in MUTATIONS], ids=[row[0] for row in MUTATIONS])
def test_the_mutation_shows(monkeypatch: Patch, mutate: Callable[[Patch], None], right: Callable[[], bool]) -> None:
    assert right()
    mutate(monkeypatch)
    forget()
    assert not right()


@pytest.mark.parametrize("name", CASES)
def test_every_case_costs_what_it_costs(name: str) -> None:
    assert counts(name)()
