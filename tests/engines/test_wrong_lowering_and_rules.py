"""More deliberately wrong encodings: terms, copies, counts, periods, forms, the lowering, and rules
of the prover.

As in `test_wrong_encodings`: what is sound answers the case right, and with the mutation the answer
changes. docs/attacks.md has their number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import z3

from swzverify.claims import Claim, ConflictFree, Contiguous, Disjoint
from swzverify.claims import Injective as InjectiveClaim
from swzverify.claims.verdict import Outcome
from swzverify.engines import enumeration, exhaust, gf2, radix, residue
from swzverify.engines.obligations import Always, Answer, Apart, Cost, Covers, Engine, Finding, Injective, Obligation
from swzverify.engines.smt import SMT, octets, warp_rule
from swzverify.engines.smt import apart as smt_apart
from swzverify.engines.smt import cost as smt_cost
from swzverify.engines.smt import covers as smt_covers
from swzverify.engines.smt import engine as smt_engine
from swzverify.engines.smt import injective as smt_injective
from swzverify.engines.smt import terms as smt_terms
from swzverify.hardware import Instruction, find_instruction, find_target
from swzverify.ir import c_lower
from swzverify.ir import gf2 as affine_reading
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import BinaryOp
from swzverify.ir.c_parse import parse
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, Binary, BinaryOperator, Comparison, Expr, Var, binary, compare, const, negation, var
from swzverify.ir.integers import Integer
from swzverify.layout import Layout, Swizzle
from swzverify.prover import Options, panel, prove
from swzverify.prover.panel import Panel
from swzverify.subjects import Access, AlignedBase, Tile, lowered_access
from swzverify.subjects import tile as tile_module
from tests.engines import obligations as ob
from tests.engines import test_distances as distance_file
from tests.engines import test_octet_encodings as octet_file
from tests.engines import test_wrong_encodings as first_file
from tests.engines.memory import forget
from tests.engines.obligations import Map, leaf, number
from tests.engines.test_wrong_encodings import conflict_free, divided, odd_iterations, says, strided, verdict

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
PAGE = Path(__file__).parents[2] / "docs" / "attacks.md"
LANE, A, B, EIGHT = var("lane", 32), var("a", 4), var("b", 3), var("x", 256)
X16, BIT = var("n", 16), var("i", 2)
X32, X128 = "ld.shared.b32", "ld.shared.v4.b32"
HOLDS, FAILS = Answer.HOLDS, Answer.FAILS
PROVED, REFUTED = Outcome.PROVED, Outcome.REFUTED
Z3, GF2, RADIX, RESIDUES, EXHAUST = SMT(), gf2.GF2(), radix.Radix(), residue.Residues(), exhaust.Exhaustion()


class Counting:
    """Z3 on the rule as one formula, whatever cheaper way applies."""

    name = "counting"

    def decide(self, obligation: Obligation) -> Finding:
        assert isinstance(obligation, Cost)
        return smt_cost._by_counting(obligation, 30_000_000)


COUNTING = Counting()


# --- Z3's terms ---------------------------------------------------------------------------------------------


def bound_off_by_one(patch: Patch) -> None:
    """A variable takes its limit, too."""
    sound = smt_terms.Translator.variable

    def wrong(self: smt_terms.Translator, node: Var, name: str | None = None) -> z3.BitVecRef:
        if node.limit < 1 << node.width:
            return sound(self, Var(node.name, node.limit + 1, node.width), name)
        return sound(self, node, name)

    patch.setattr(smt_terms.Translator, "variable", wrong)


def sign_not_extended(patch: Patch) -> None:
    patch.setattr(z3, "Z3_mk_sign_ext", z3.Z3_mk_zero_ext)


def zero_extended_with_sign(patch: Patch) -> None:
    patch.setattr(z3, "Z3_mk_zero_ext", z3.Z3_mk_sign_ext)


def extract_one_bit_lower(patch: Patch) -> None:
    sound = z3.Z3_mk_extract

    def wrong(context: object, high: int, low: int, term: object) -> object:
        return sound(context, high - (low > 0), low - (low > 0), term)

    patch.setattr(z3, "Z3_mk_extract", wrong)


def choice_swapped(patch: Patch) -> None:
    """Of if-then-else; comparisons, which are choices of one bit, stay."""
    sound = smt_terms.Translator._choose

    def wrong(self: smt_terms.Translator, condition: Any, then: Any, otherwise: Any) -> Any:
        return sound(self, condition, *((otherwise, then) if then.size() > 1 else (then, otherwise)))

    patch.setattr(smt_terms.Translator, "_choose", wrong)


def operator_exchanged(operator: BinaryOperator | Comparison, other: str) -> Callable[[Patch], None]:
    """One operator translated as another one."""

    def mutate(patch: Patch) -> None:
        table: dict[Any, Any] = smt_terms._BINARY if isinstance(operator, BinaryOperator) else smt_terms._COMPARE
        patch.setitem(table, operator, getattr(z3, other))

    return mutate


remainder_as_modulo = operator_exchanged(BinaryOperator.SREM, "Z3_mk_bvsmod")
arithmetic_as_logical_shift = operator_exchanged(BinaryOperator.ASHR, "Z3_mk_bvlshr")
or_as_exclusive = operator_exchanged(BinaryOperator.OR, "Z3_mk_bvxor")
quotient_as_remainder = operator_exchanged(BinaryOperator.UDIV, "Z3_mk_bvurem")
signed_less_as_unsigned = operator_exchanged(Comparison.SLT, "Z3_mk_bvult")
at_most_as_less = operator_exchanged(Comparison.ULE, "Z3_mk_bvult")


# --- Z3's formulas ------------------------------------------------------------------------------------------


def second_point_is_the_first(patch: Patch) -> None:
    """Two points that share every variable never differ: a wrong `proved`."""
    patch.setattr(smt_injective, "copied", lambda terms, nodes, _: {node: terms.variable(node) for node in nodes})


def ranges_as_points(patch: Patch) -> None:
    """Partial overlaps are lost: a wrong `proved`."""
    sound = smt_injective.overlap
    patch.setattr(smt_injective, "overlap", lambda terms, a, _, b, __: sound(terms, a, 1, b, 1))


def range_ends_wrap(patch: Patch) -> None:
    """No bit more for a range's end: at the top of the addresses overlaps are lost."""

    def wrong(terms: Any, a: Any, length_a: int, b: Any, length_b: int) -> tuple[Any, ...]:
        width = max(a.size(), b.size(), length_a.bit_length(), length_b.bit_length())
        a, b = terms.widen(a, width), terms.widen(b, width)
        return z3.ULT(a, b + terms.fixed(length_b, width)), z3.ULT(b, a + terms.fixed(length_a, width))

    patch.setattr(smt_injective, "overlap", wrong)


def digits_only_grow(patch: Patch) -> None:
    """Differences of one sign only: two digits that make up for each other are lost."""
    sound = smt_injective.digit_differences

    def wrong(nodes: tuple[Var, ...], sums: Any, extent: int, rlimit: int) -> Mapping[Var, int] | None:
        found = sound(nodes, sums, extent, rlimit)
        return None if found is not None and min(found.values()) < 0 < max(found.values()) else found

    patch.setattr(smt_injective, "digit_differences", wrong)


def assumption_forgotten(patch: Patch) -> None:
    sound = smt_engine._always
    patch.setattr(
        smt_engine, "_always", lambda goal, rlimit: sound(replace(goal, domain=Domain(goal.domain.variables)), rlimit)
    )


def assumption_taken_for_the_claim(patch: Patch) -> None:
    """The claim assumed as well: nothing can then fail, the vacuous domain."""
    sound = smt_engine._always

    def wrong(goal: Always, rlimit: int) -> Finding:
        return sound(replace(goal, domain=Domain(goal.domain.variables, goal.holds)), rlimit)

    patch.setattr(smt_engine, "_always", wrong)


def offset_forgotten(patch: Patch) -> None:
    """A linear position without its constant: what lies apart seems to meet."""
    sound = smt_apart.linear_sum

    def wrong(root: Expr) -> Any:
        found = sound(root)
        return None if found is None else replace(found, constant=0)

    patch.setattr(smt_apart, "linear_sum", wrong)


def tags_forgotten(patch: Patch) -> None:
    """A stage is then compared with itself."""
    sound = smt_engine.apart
    patch.setattr(smt_engine, "apart", lambda goal, rlimit: sound(replace(goal, tags=(), condition=TRUE), rlimit))


def lanes_swapped(patch: Patch) -> None:
    """The addresses of lanes 0 and 9 exchanged."""
    sound = smt_cost.lane_terms

    def wrong(goal: Cost, terms: Any, width: int) -> tuple[list[Any], list[Any]]:
        addresses, active = sound(goal, terms, width)
        addresses[0], addresses[9] = addresses[9], addresses[0]
        return addresses, active

    patch.setattr(smt_cost, "lane_terms", wrong)


def inactive_lanes_count(patch: Patch) -> None:
    sound = smt_cost.lane_terms

    def wrong(goal: Cost, terms: Any, width: int) -> tuple[list[Any], list[Any]]:
        addresses, active = sound(goal, terms, width)
        return addresses, [z3.BoolVal(True, terms.context)] * len(active)

    patch.setattr(smt_cost, "lane_terms", wrong)


def idle_groups_count(patch: Patch) -> None:
    """A group without an active lane counted in the minimum: it hides a conflict, a wrong `proved`."""
    sound = warp_rule._grouped

    def wrong(row: Any, addresses: Any, active: Any, group_lanes: int) -> tuple[Any, Any]:
        cost, _ = sound(row, addresses, active, group_lanes)
        return cost, warp_rule.number(row.address_lanes // group_lanes, addresses[0])

    patch.setattr(warp_rule, "_grouped", wrong)


def phases_of_the_wrong_size(patch: Patch) -> None:
    """Groups of twice as many lanes."""
    sound = warp_rule._grouped
    patch.setattr(warp_rule, "_grouped", lambda row, a, on, lanes: sound(row, a, on, min(32, 2 * lanes)))


def chunks_of_8_bytes(patch: Patch) -> None:
    """Halves of the octet rule from another address bit."""
    patch.setattr(octets, "CHUNK_BYTES", 8)


def idle_bits_unproved(patch: Patch) -> None:
    """What evaluation at two points proposes is taken without Z3's proof."""
    patch.setattr(smt_covers, "_idle_bits", lambda goal, _: smt_covers._seemingly_idle(goal))


def blocks_need_no_alignment(patch: Patch) -> None:
    """Ranges at different places are then in different blocks: a wrong `proved`."""
    patch.setattr(smt_covers, "_unaligned", lambda position, _: z3.BoolVal(False, position.ctx))


# --- the native engines -------------------------------------------------------------------------------------


def carries_dropped(patch: Patch) -> None:
    """Addition taken for XOR: a wrong `proved`."""
    patch.setattr(affine_reading, "_majority", lambda *_: 0)


def or_is_affine(patch: Patch) -> None:
    """`|` taken for XOR: a wrong `proved`."""
    sound = affine_reading._READINGS[Binary]

    def wrong(node: Binary, bits: Mapping[Expr, affine_reading.Bits]) -> affine_reading.Bits:
        return sound(replace(node, operator=BinaryOperator.XOR) if node.operator is BinaryOperator.OR else node, bits)

    patch.setitem(affine_reading._READINGS, Binary, wrong)


def constants_dropped_from_forms(patch: Patch) -> None:
    """No complement: a difference becomes a sum."""
    patch.setattr(affine_reading, "_not", lambda bits: bits)


def choices_are_affine(patch: Patch) -> None:
    """`c ? a : b` taken for `a ^ b`."""
    patch.setattr(affine_reading, "_choose", lambda _, a, b: affine_reading._xor(a, b))


def banks_of_twice_the_memory(patch: Patch) -> None:
    """64 banks: lanes 128 bytes apart no longer meet, a wrong `proved`."""
    patch.setattr(Instruction, "slots", property(lambda row: 256 // row.unit_bytes))


def groups_never_join_in_ranks(patch: Patch) -> None:
    patch.setattr(gf2, "PAIR_DISTANCES", ())


def words_of_one_byte(patch: Patch) -> None:
    """Increments that are no whole words taken to turn the banks round."""
    patch.setattr(residue, "turn_bytes", lambda _: 1)


def conditions_never_change(patch: Patch) -> None:
    """One value of a variable taken to stand for all of a predicate."""
    patch.setattr(residue, "_constant_period", lambda *_: 1)


def periods_not_combined(patch: Patch) -> None:
    """The larger period in place of the common multiple."""
    patch.setattr(residue, "lcm", max)


def last_value_cut_off(patch: Patch) -> None:
    sound = residue._cut
    patch.setattr(
        residue, "_cut", lambda nodes, periods: {name: max(1, n - 1) for name, n in sound(nodes, periods).items()}
    )


def extent_ignored_by_radix(patch: Patch) -> None:
    """Ranges taken for points."""
    sound = radix._injective
    rules = replace(radix.Radix.rules, injective=lambda goal: sound(replace(goal, extent=1)))
    patch.setattr(radix.Radix, "rules", rules)


def wrapping_sums_are_linear(patch: Patch) -> None:
    """An increment modulo 2^width taken for one of integers: a wrong `proved`."""
    sound = radix.repetition

    def wrong(root: Expr, name: str) -> Any:
        found = sound(root, name)
        return None if found is None else replace(found, exact=True)

    patch.setattr(radix, "repetition", wrong)


def borders_shared(patch: Patch) -> None:
    """A side's last unit left out: neighbours that share one seem apart."""
    sound = radix._own_range

    def wrong(side: Any, shared: Any) -> tuple[int, int] | None:
        found = sound(side, shared)
        return None if found is None else (found[0], found[1] - 1)

    patch.setattr(radix, "_own_range", wrong)


def last_point_not_tried(patch: Patch) -> None:
    sound = enumeration.grid

    def wrong(counts: Mapping[str, int]) -> dict[str, Any]:
        return {name: np.where(array == counts[name] - 1, 0, array) for name, array in sound(counts).items()}

    patch.setattr(exhaust, "grid", wrong)


def inactive_lanes_are_priced(patch: Patch) -> None:
    sound = exhaust.judge_rows
    patch.setattr(exhaust, "judge_rows", lambda n, g, a, on, c, at: sound(n, g, a, np.ones_like(on), c, at))


def equal_words_merged_in_pricing(patch: Patch) -> None:
    """Atomics priced like loads."""
    sound = exhaust.judge_rows

    def wrong(name: str, goal: Cost, *rest: Any) -> Finding:
        return sound(name, replace(goal, instruction=replace(goal.instruction, counts_equal_words=False)), *rest)

    patch.setattr(exhaust, "judge_rows", wrong)


# --- the lowering, against the front end's own definition ---------------------------------------------------


def shifts_round_towards_zero(patch: Patch) -> None:
    def by_division(a: Integer, n: Integer) -> Integer:
        return ints.divide(a, ints.shift_left(ints.integer(1), n))

    patch.setitem(c_lower._BINARY, BinaryOp.SHIFT_RIGHT, by_division)


def division_rounds_down(patch: Patch) -> None:
    """Python's // in place of C's /."""
    sound = ints.divide

    def wrong(a: Integer, b: Integer) -> Integer:
        if a.low >= 0 or b.low <= 0:
            return sound(a, b)
        return sound(ints.subtract(a, ints.remainder(ints.add(ints.remainder(a, b), b), b)), b)

    patch.setitem(c_lower._BINARY, BinaryOp.DIVIDE, wrong)


def stages_in_one_place(patch: Patch) -> None:
    sound = Tile.lower_start
    patch.setattr(Tile, "lower_start", lambda self, _, place=None: sound(self, ints.integer(0), place))


def swizzle_the_other_way(patch: Patch) -> None:
    sound = tile_module.lower_swizzle

    def wrong(swizzle: Swizzle, value: Integer) -> Integer:
        return sound(Swizzle(swizzle.bits, swizzle.base, -swizzle.shift), value)

    patch.setattr(tile_module, "lower_swizzle", wrong)


def predicate_turned_round(patch: Patch) -> None:
    sound = lowered_access._lower_active

    def wrong(access: Any, *rest: Any) -> Expr:
        found = sound(access, *rest)
        return binary(BinaryOperator.XOR, found, const(1, 1))

    patch.setattr(lowered_access, "_lower_active", wrong)


def leaves_in_the_wrong_order(patch: Patch) -> None:
    """A mode's last leaf taken for the fastest."""
    sound = tile_module._lower_mode

    patch.setattr(tile_module, "_lower_mode", lambda leaves, value: sound((*reversed(leaves),), value))


# --- rules of the prover ------------------------------------------------------------------------------------


def unknown_taken_for_proved(patch: Patch) -> None:
    sound = Panel.smt

    def wrong(self: Panel, obligation: Obligation) -> Finding:
        found = sound(self, obligation)
        return replace(found, answer=HOLDS) if found.answer is Answer.UNDECIDED else found

    patch.setattr(Panel, "smt", wrong)


def z3_counted_twice(patch: Patch) -> None:
    """The second engine is the first one again."""
    patch.setattr(panel, "NATIVE", (SMT(),))


def empty_taken_for_holds(patch: Patch) -> None:
    """A domain without a point taken for a proof."""
    sound = Panel.natives

    def wrong(self: Panel, obligation: Obligation) -> list[Finding]:
        return [replace(f, answer=HOLDS) if f.answer is Answer.EMPTY else f for f in sound(self, obligation)]

    patch.setattr(Panel, "natives", wrong)


def first_engine_believed(patch: Patch) -> None:
    """Z3 is asked, and never heard."""
    sound = Panel.smt
    patch.setattr(Panel, "smt", lambda self, goal: replace(sound(self, goal), answer=HOLDS, point=None))


# --- the cases ----------------------------------------------------------------------------------------------


def signed(node: Var, low: int) -> Map:
    return ob.minus(leaf(node), number(-low))


def known(nodes: tuple[Var, ...], holds: Expr, truth: Callable[[Mapping[str, Any]], Any]) -> Always:
    """An `Always` over a bare expression, with its meaning."""
    return Always(Domain(nodes), holds, lambda arrays: (np.ones(1, bool), np.asarray(truth(arrays), bool)))


def below_three() -> Always:
    """b < 3: nothing else keeps it."""
    return ob.always((B,), ob.less(ob.xor(leaf(B), number(4)), number(7)))


def back_and_forth() -> Always:
    """(n - 8) + 8 == n, through a wider sum."""
    return ob.always((X16,), ob.equal(ob.plus(ob.times(signed(X16, -8), 3), number(24)), ob.times(leaf(X16), 3)))


def halves() -> Always:
    """x / 2 * 2 + x % 2 == x."""
    back = ob.plus(ob.times(ob.over(leaf(EIGHT), 2), 2), ob.modulo(leaf(EIGHT), 2))
    return ob.always((EIGHT,), ob.equal(back, leaf(EIGHT)))


def larger() -> Always:
    """n < max(n, 5) + 1."""
    holds = ints.less(leaf(X16).value, ints.add(ints.maximum(leaf(X16).value, ints.integer(5)), ints.integer(1)))
    return ob.always((X16,), Map(holds, lambda p: (p["n"] < np.maximum(p["n"], 5) + 1) * 1))


def remains() -> Always:
    """(n - 8) % 3 == (n - 8) - 3 * ((n - 8) / 3): the remainder has the sign of n - 8."""
    value, three = signed(X16, -8).value, ints.integer(3)
    product = ints.multiply(ints.divide(value, three), three)
    holds = ints.equal(ints.remainder(value, three), ints.subtract(value, product))
    return ob.always((X16,), Map(holds, lambda p: p["n"] * 0 + 1))


def negative_where(value: Integer, *nodes: Var) -> Always:
    """A value is negative exactly where n < 8."""
    holds = ints.equal(ints.less(value, ints.integer(0)), ints.less(leaf(X16).value, ints.integer(8)))
    return ob.always((X16, *nodes), Map(holds, lambda p: p["n"] * 0 + 1))


def shifted_down() -> Always:
    """(n - 8) >> 5 + i is -1 or 0."""
    return negative_where(ints.shift_right(signed(X16, -8).value, ob.plus(leaf(BIT), number(5)).value), BIT)


def both_bits() -> Always:
    """(n | 5) & 5 == 5."""
    value = ints.bit_and(ints.bit_or(leaf(X16).value, ints.integer(5)), ints.integer(5))
    return ob.always((X16,), Map(ints.equal(value, ints.integer(5)), lambda p: p["n"] * 0 + 1))


def at_most() -> Always:
    """x <= x | 1, as the form has it."""
    holds = compare(Comparison.ULE, EIGHT, binary(BinaryOperator.OR, EIGHT, const(1, 8)))
    return known((EIGHT,), holds, lambda arrays: arrays["x"] <= (arrays["x"] | 1))


def dropped_bit() -> Injective:
    """x / 2 is not one to one."""
    return ob.injective((A,), (), ob.over(leaf(A), 2))


def flipped_pair() -> Injective:
    """Ranges of 2 from x ^ 1 overlap."""
    return ob.injective((A,), (), ob.xor(ob.xor(leaf(A), number(1)), ob.masked(ob.down(leaf(A), 1), 1)), 2)


def at_the_top() -> Injective:
    """Ranges of 2 from 14 and 15 overlap in 15 alone."""
    return ob.injective((BIT,), (), ob.xor(leaf(BIT), number(14)), 2)


def crossing() -> Injective:
    """2a + 3b: a = 3, b = 0 meets a = 0, b = 2."""
    return strided(2, 3)


def under_assumption() -> Always:
    """n % 4 < 3 where n is even."""
    even = ob.equal(ob.modulo(leaf(X16), 2), number(0))
    return ob.always((X16,), ob.less(ob.modulo(leaf(X16), 4), number(3)), even)


def broken_claim() -> Always:
    return ob.always((X16,), ob.less(leaf(X16), number(15)))


def neighbours(gap: int) -> Apart:
    p, q = var("p", 4), var("q", 4)
    return ob.apart((), ob.side((p,), leaf(p), 1), ob.side((q,), ob.plus(leaf(q), number(gap)), 1))


def two_stages() -> Apart:
    nodes = [(var(f"{n}0", 2), var(f"{n}1", 8)) for n in "pq"]
    sides = [ob.side(pair, ob.plus(ob.times(leaf(pair[0]), 8), leaf(pair[1])), 1) for pair in nodes]
    condition = negation(compare(Comparison.EQ, nodes[0][0], nodes[1][0]))
    return ob.apart((), sides[0], sides[1], condition, (("p0", "q0"),))


def priced(instruction: str, address: Map, active: Map | None = None, most: int | None = None, *free: Var) -> Cost:
    return ob.cost(LANE, free, instruction, address, active, most)


def lanes(step: int) -> Map:
    return ob.times(leaf(LANE), step)


def first_lanes(count: int) -> Map:
    return ob.less(leaf(LANE), number(count))


def wrapped_line() -> Map:
    """Lanes 0..15 in one row of banks, 16..31 in the same."""
    return ob.plus(ob.times(ob.modulo(leaf(LANE), 16), 4), ob.times(ob.over(leaf(LANE), 16), 128))


def one_group_conflict() -> Cost:
    """Only the first 8 lanes, two and two in one slot."""
    address = ob.plus(ob.times(ob.modulo(leaf(LANE), 4), 16), ob.times(ob.over(leaf(LANE), 4), 128))
    return priced("st.shared.v4.b32", address, first_lanes(8))


def hidden_change() -> Covers:
    """A bit that moves the address for one value in the middle only; elements 1 and 2 have 1 and 3
    touches.
    """
    own = (var("t", 4), var("u", 2))
    middle = ob.equal(leaf(own[0]), number(1))
    moved = Map(ints.multiply(middle.value, leaf(own[1]).value), lambda p: middle.plain(p) * p["u"])
    cell = var("e", 4)
    return ob.covers((), own, ob.plus(leaf(own[0]), moved), None, 1, (cell,), leaf(cell), 1, 2)


def overlapping_vectors() -> Covers:
    """Vectors of 2 from every place: elements are touched twice."""
    own, cell = var("t", 8), var("e", 4)
    return ob.covers((), (own,), ob.xor(leaf(own), number(0)), None, 2, (cell,), ob.times(leaf(cell), 2), 2, 1)


def sum_with_carries() -> Injective:
    """3x + y + 4z: 3 + 1 meets 4; as XOR it would not."""
    bits = [var(name, 2) for name in "xyz"]
    parts = [ob.times(leaf(node), step) for node, step in zip(bits, (3, 1, 4), strict=True)]
    return ob.injective(tuple(bits), (), ob.total(parts))


def or_with_itself() -> Injective:
    """x | x << 1: 5 and 7 meet in 15."""
    node = var("x", 8)
    value = ints.bit_or(leaf(node).value, ints.shift_left(leaf(node).value, ints.integer(1)))
    return ob.injective((node,), (), Map(value, lambda p: p["x"] | p["x"] << 1))


def never_proved(engine: Engine, obligation: Obligation) -> Callable[[], bool]:
    """The engine may know nothing of it, but may not hold it for true."""
    return lambda: engine.decide(obligation).answer is not HOLDS


def complement() -> Always:
    """(7 - x) ^ x == 7."""
    node = var("x", 8)
    return ob.always((node,), ob.equal(ob.xor(ob.minus(number(7), leaf(node)), leaf(node)), number(7)))


def chosen() -> Injective:
    """x < 4 ? x : x - 4 is not one to one."""
    node = var("x", 8)
    value = ints.choose(
        ints.truth(ints.less(leaf(node).value, ints.integer(4))),
        leaf(node).value,
        ints.bit_xor(leaf(node).value, ints.integer(4)),
    )
    return ob.injective(
        (node,), (), Map(value, lambda p: np.where(np.asarray(p["x"]) < 4, p["x"], np.asarray(p["x"]) ^ 4))
    )


def pairs_that_join() -> Cost:
    """Pairs of equal lanes join groups to 16: lanes 0 and 8 meet there only."""
    address = ob.plus(ob.times(ob.modulo(ob.over(leaf(LANE), 2), 4), 16), ob.times(ob.over(leaf(LANE), 8), 128))
    return priced(X128, address)


def sometimes_active() -> Cost:
    """The lanes that meet lane 0 are active in the second iteration only."""
    node = var("v", 2)
    active = ob.less(leaf(LANE), ob.plus(ob.times(leaf(node), 16), number(16)))
    return ob.cost(LANE, (node,), X32, wrapped_line(), active)


def two_periods() -> Cost:
    """Stride 2 where v % 3 == 2, all lanes active where v % 2 == 1: a conflict where both."""
    node = var("v", 12)
    third = ob.equal(ob.modulo(leaf(node), 3), number(2))
    stride = ob.plus(third, number(1))
    address = Map(ints.multiply(leaf(LANE).value, stride.value), lambda p: p["lane"] * stride.plain(p))
    active = ob.less(leaf(LANE), ob.plus(ob.times(ob.modulo(leaf(node), 2), 16), number(16)))
    return ob.cost(LANE, (node,), X32, ob.times(address, 4), active)


def last_iteration() -> Cost:
    """Stride 2 in the last of three iterations."""
    node = var("v", 3)
    doubled = Map(
        ints.multiply(leaf(LANE).value, ob.plus(ob.over(leaf(node), 2), number(1)).value),
        lambda p: p["lane"] * (p["v"] // 2 + 1),
    )
    return ob.cost(LANE, (node,), X32, ob.times(doubled, 4))


def wrapping_product() -> Injective:
    """4x in 4 bits: 0 and 4 meet."""
    node = var("x", 16)
    inner = binary(BinaryOperator.MUL, node, const(4, 4))
    return Injective(
        Domain((node,)), (), inner, 1, None, lambda arrays: (np.ones(1, bool), np.asarray(arrays["x"]) * 4 % 16), 1
    )


def sharing_a_unit() -> Apart:
    return neighbours(3)


def top_point() -> Always:
    return ob.always((A,), ob.less(leaf(A), number(3)))


def half_a_warp() -> Cost:
    return priced(X32, wrapped_line(), first_lanes(16))


def proves(claim: Claim, wanted: Outcome, options: Options | None = None) -> Callable[[], bool]:
    return lambda: prove(claim, options=options).outcome is wanted


EVERY = Options(every_engine=True)
STAGED = Tile("T", 16, Layout((8, 64), (64, 1)), stages=2, base=AlignedBase(1024))
NESTED = Tile("N", 32, Layout(((4, 2), 8), ((1, 8), 16)))
TWISTED = Tile("S", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))
SIGNED_SHIFT = "(((lane - 15) >> 1) + 8 - (lane + 1)/2)*128"
"""0 in every lane; rounded towards zero, it is 128 in some."""
SIGNED_QUOTIENT = "(max(lane - 15, 0)/2 - max(15 - lane, 0)/2 - (lane - 15)/2)*128"
"""0 in every lane; rounded down, it is 128 in some."""


def twisted_column() -> bool:
    """Eight rows of a swizzled tile by 16-byte vectors; built anew, as an access keeps its
    lowering.
    """
    coord = (parse("lane%8"), parse("lane/8*8"))
    access = Access("C", find_instruction(X128), find_target("sm_90"), (32,), tile=TWISTED, coord=coord)
    return prove(ConflictFree(access), options=EVERY).outcome is PROVED


def two_engines() -> bool:
    """What a reader is told: two engines that share no code."""
    found = verdict(X32, "lane*4")
    return found.outcome is PROVED and len(set(found.engines)) == 2


def too_little_budget() -> bool:
    claim = prove(InjectiveClaim(hard_tile()), options=Options(rlimit=1))
    return claim.outcome is Outcome.UNKNOWN


def hard_tile() -> Tile:
    return Tile("H", 32, Layout((7, 9, 11, 13), (1, 8, 75, 900)), Swizzle(3, 2, 4))


class Blind:
    """An engine that sees no point anywhere."""

    name = "blind"

    def decide(self, obligation: Obligation) -> Finding:
        del obligation
        return Finding(self.name, Answer.EMPTY)


class Yes:
    """An engine that holds everything for true."""

    name = "yes"

    def decide(self, obligation: Obligation) -> Finding:
        del obligation
        return Finding(self.name, HOLDS)


def with_engine(engine: Engine, instruction: str, address: str, wanted: Outcome) -> Callable[[], bool]:
    def right() -> bool:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(panel, "NATIVE", (engine,))
            forget()
            return verdict(instruction, address).outcome is wanted

    return right


MUTATIONS: list[tuple[str, Callable[[Patch], None], Callable[[], bool]]] = [
    ("bound_off_by_one", bound_off_by_one, says(Z3, below_three(), HOLDS)),
    ("sign_not_extended", sign_not_extended, says(Z3, back_and_forth(), HOLDS)),
    ("zero_extended_with_sign", zero_extended_with_sign, says(Z3, divided(), HOLDS)),
    ("extract_one_bit_lower", extract_one_bit_lower, says(Z3, halves(), HOLDS)),
    ("choice_swapped", choice_swapped, says(Z3, larger(), HOLDS)),
    ("remainder_as_modulo", remainder_as_modulo, says(Z3, remains(), HOLDS)),
    ("arithmetic_as_logical_shift", arithmetic_as_logical_shift, says(Z3, shifted_down(), HOLDS)),
    ("or_as_exclusive", or_as_exclusive, says(Z3, both_bits(), HOLDS)),
    ("quotient_as_remainder", quotient_as_remainder, says(Z3, divided(), HOLDS)),
    ("signed_less_as_unsigned", signed_less_as_unsigned, says(Z3, negative_where(signed(X16, -8).value), HOLDS)),
    ("at_most_as_less", at_most_as_less, says(Z3, at_most(), HOLDS)),
    ("second_point_is_the_first", second_point_is_the_first, says(Z3, dropped_bit(), FAILS)),
    ("ranges_as_points", ranges_as_points, says(Z3, flipped_pair(), FAILS)),
    ("range_ends_wrap", range_ends_wrap, says(Z3, at_the_top(), FAILS)),
    ("digits_only_grow", digits_only_grow, says(Z3, crossing(), FAILS)),
    ("assumption_forgotten", assumption_forgotten, says(Z3, under_assumption(), HOLDS)),
    ("assumption_taken_for_the_claim", assumption_taken_for_the_claim, says(Z3, broken_claim(), FAILS)),
    ("offset_forgotten", offset_forgotten, says(Z3, neighbours(4), HOLDS)),
    ("tags_forgotten", tags_forgotten, says(Z3, two_stages(), HOLDS)),
    ("lanes_swapped", lanes_swapped, says(COUNTING, priced("st.shared.v4.b32", lanes(16)), HOLDS)),
    ("inactive_lanes_count", inactive_lanes_count, says(COUNTING, half_a_warp(), HOLDS)),
    ("idle_groups_count", idle_groups_count, says(COUNTING, one_group_conflict(), FAILS)),
    (
        "phases_of_the_wrong_size",
        phases_of_the_wrong_size,
        says(COUNTING, priced("st.shared.v4.b32", lanes(16)), HOLDS),
    ),
    ("chunks_of_8_bytes", chunks_of_8_bytes, says(COUNTING, priced("cp.async.16", lanes(16), None, 4), HOLDS)),
    ("idle_bits_unproved", idle_bits_unproved, says(Z3, hidden_change(), FAILS)),
    ("blocks_need_no_alignment", blocks_need_no_alignment, says(Z3, overlapping_vectors(), FAILS)),
    ("carries_dropped", carries_dropped, never_proved(GF2, sum_with_carries())),
    ("or_is_affine", or_is_affine, never_proved(GF2, or_with_itself())),
    ("constants_dropped_from_forms", constants_dropped_from_forms, says(GF2, complement(), HOLDS)),
    ("choices_are_affine", choices_are_affine, says(GF2, chosen(), Answer.NOT_APPLICABLE)),
    ("banks_of_twice_the_memory", banks_of_twice_the_memory, says(GF2, priced(X32, wrapped_line()), FAILS)),
    ("groups_never_join_in_ranks", groups_never_join_in_ranks, says(GF2, pairs_that_join(), FAILS)),
    ("words_of_one_byte", words_of_one_byte, says(RESIDUES, odd_iterations(), FAILS)),
    ("conditions_never_change", conditions_never_change, says(RESIDUES, sometimes_active(), FAILS)),
    ("periods_not_combined", periods_not_combined, says(RESIDUES, two_periods(), FAILS)),
    ("last_value_cut_off", last_value_cut_off, says(RESIDUES, last_iteration(), FAILS)),
    ("extent_ignored_by_radix", extent_ignored_by_radix, says(RADIX, strided(2, 12, 3), FAILS)),
    ("wrapping_sums_are_linear", wrapping_sums_are_linear, never_proved(RADIX, wrapping_product())),
    ("borders_shared", borders_shared, never_proved(RADIX, sharing_a_unit())),
    ("last_point_not_tried", last_point_not_tried, says(EXHAUST, top_point(), FAILS)),
    ("inactive_lanes_are_priced", inactive_lanes_are_priced, says(EXHAUST, half_a_warp(), HOLDS)),
    (
        "equal_words_merged_in_pricing",
        equal_words_merged_in_pricing,
        says(EXHAUST, priced("atom.shared.add.u32", ob.times(ob.over(leaf(LANE), 2), 4)), FAILS),
    ),
    ("shifts_round_towards_zero", shifts_round_towards_zero, conflict_free(X32, SIGNED_SHIFT, wanted=PROVED)),
    ("division_rounds_down", division_rounds_down, conflict_free(X32, SIGNED_QUOTIENT, wanted=PROVED)),
    ("stages_in_one_place", stages_in_one_place, proves(Disjoint(STAGED), PROVED, EVERY)),
    ("swizzle_the_other_way", swizzle_the_other_way, twisted_column),
    ("leaves_in_the_wrong_order", leaves_in_the_wrong_order, proves(Contiguous(NESTED, 4, 0), PROVED, EVERY)),
    (
        "predicate_turned_round",
        predicate_turned_round,
        lambda: (
            verdict(X32, "lane%16*4 + lane/16*128", EVERY, predicate=parse("lane < 16")).outcome is PROVED
            and verdict(X32, "lane%16*4 + lane/16*128", EVERY, predicate=parse("lane < 17")).outcome is REFUTED
        ),
    ),
    ("unknown_taken_for_proved", unknown_taken_for_proved, too_little_budget),
    ("z3_counted_twice", z3_counted_twice, two_engines),
    ("empty_taken_for_holds", empty_taken_for_holds, with_engine(Blind(), X32, "lane*4", Outcome.ERROR)),
    (
        "first_engine_believed",
        first_engine_believed,
        with_engine(Yes(), X32, "lane%16*4 + lane/16*128", Outcome.ERROR),
    ),
]


@pytest.mark.parametrize(("mutate", "right"), [row[1:] for row in MUTATIONS], ids=[row[0] for row in MUTATIONS])
def test_the_mutation_shows(monkeypatch: Patch, mutate: Callable[[Patch], None], right: Callable[[], bool]) -> None:
    assert right()
    mutate(monkeypatch)
    forget()
    assert not right()


def test_the_page_counts_all_of_them() -> None:
    """docs/attacks.md has the number of wrong encodings of each file, and their sum."""
    page = PAGE.read_text()
    listed = {name: int(count) for name, count in re.findall(r"^\| `(test_\w+\.py)` \| (\d+) \|", page, re.MULTILINE)}
    names = {
        "test_wrong_encodings.py": [mutate.__name__ for mutate, _ in first_file.MUTATIONS],
        "test_wrong_lowering_and_rules.py": [name for name, _, _ in MUTATIONS],
        "test_octet_encodings.py": [name for name, _, _ in octet_file.MUTATIONS],
        "test_distances.py": [*distance_file.PLANTED, *distance_file.IN_READER],
    }
    assert listed == {file: len(set(each)) for file, each in names.items()}
    assert f"have {sum(listed.values())} deliberately wrong encodings" in page
