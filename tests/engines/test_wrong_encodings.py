"""Deliberately wrong encodings: each one must show, by a wrong answer on a named case or by the
prover's `error`.

For every mutation there is a case that the sound engines answer right; with the mutation that
answer changes. A case that kept its answer would mean that the tests could not see such a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import z3

from swzverify.claims import Aligned, ConflictFree, Counterexample, Verdict
from swzverify.claims.verdict import Outcome
from swzverify.engines import enumeration, exhaust, gf2, radix, residue
from swzverify.engines.obligations import Always, Answer, Cost, Covers, Engine, Finding, Injective, Obligation
from swzverify.engines.smt import SMT
from swzverify.engines.smt import cost as smt_cost
from swzverify.engines.smt import covers as smt_covers
from swzverify.engines.smt import injective as smt_injective
from swzverify.engines.smt import query as smt_query
from swzverify.engines.smt import terms as smt_terms
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import BinaryOperator, Expr, Var, var
from swzverify.prover import Options, panel, prove
from swzverify.prover import judgement as prover
from swzverify.subjects import Access, AlignedBase
from tests.engines import obligations as ob
from tests.engines.memory import forget
from tests.engines.obligations import Map, leaf, number

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch


def access(instruction: str, address: str, **fields: object) -> Access:
    return Access(
        "X",
        find_instruction(instruction),
        find_target("sm_90"),
        (32,),
        address=parse(address),
        **fields,  # type: ignore[arg-type]  # the tests name Access's own fields
    )


def verdict(instruction: str, address: str, options: Options | None = None, **fields: object) -> Verdict:
    return prove(ConflictFree(access(instruction, address, **fields)), options=options)


ALL = Options(every_engine=True)


def conflict_free(instruction: str, address: str, *, wanted: Outcome) -> Callable[[], bool]:
    """A case of the whole tool with every engine asked: the right outcome, or else the
    contradiction is an error.
    """

    def right() -> bool:
        found = verdict(instruction, address, ALL)
        assert found.outcome in {wanted, Outcome.ERROR}, found
        return found.outcome is wanted

    return right


# --- the Z3 encoding -----------------------------------------------------------------------------------------------


def same_group_without_order(patch: Patch) -> None:
    """A lane is then in its own way, which only instructions that count equal words notice."""

    def wrong(a: z3.BitVecRef, b: z3.BitVecRef, group_lanes: int) -> z3.BoolRef:
        low = group_lanes.bit_length() - 1
        if group_lanes >= 32:
            return z3.BoolVal(True, a.ctx)
        return z3.Extract(4, low, a) == z3.Extract(4, low, b)

    patch.setattr(smt_cost, "same_group", wrong)


def same_group_without_size(patch: Patch) -> None:
    patch.setattr(smt_cost, "same_group", lambda a, b, _: z3.ULT(a, b))


def groups_too_small(patch: Patch) -> None:
    """Half the lanes: conflicts across the halves are lost, a wrong `proved`."""
    sound = smt_cost.same_group
    patch.setattr(smt_cost, "same_group", lambda a, b, lanes: sound(a, b, lanes // 2))


def pair_without_slot(patch: Patch) -> None:
    def wrong(_: object, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BoolRef:
        return z3.Extract(a.size() - 1, 2, a) != z3.Extract(b.size() - 1, 2, b)

    patch.setattr(smt_cost, "pair_conflict", wrong)


def pair_without_unit(patch: Patch) -> None:
    """Equal words then conflict: no broadcast."""
    sound = smt_cost.pair_conflict
    patch.setattr(smt_cost, "pair_conflict", lambda row, a, b: sound(replace(row, counts_equal_words=True), a, b))


def equal_words_merged(patch: Patch) -> None:
    """Atomics treated like loads: a wrong `proved`."""
    sound = smt_cost.pair_conflict
    patch.setattr(smt_cost, "pair_conflict", lambda row, a, b: sound(replace(row, counts_equal_words=False), a, b))


def joined_always_false(patch: Patch) -> None:
    """A conflict across joined groups is then explained away: a wrong `proved`."""
    patch.setattr(smt_cost, "joined", lambda addresses, _: z3.BoolVal(False, addresses[0].ctx))


def joined_always_true(patch: Patch) -> None:
    patch.setattr(smt_cost, "joined", lambda addresses, _: z3.BoolVal(True, addresses[0].ctx))


def arithmetic_shift(patch: Patch) -> None:
    sound = smt_terms._binary

    def wrong(operator: BinaryOperator, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
        return sound(BinaryOperator.ASHR if operator is BinaryOperator.LSHR else operator, a, b)

    patch.setattr(smt_terms, "_binary", wrong)


def signed_division(patch: Patch) -> None:
    """z3py's own / on bit-vectors."""
    sound = smt_terms._binary

    def wrong(operator: BinaryOperator, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
        return a / b if operator is BinaryOperator.UDIV else sound(operator, a, b)

    patch.setattr(smt_terms, "_binary", wrong)


def signed_comparison(patch: Patch) -> None:
    """z3py's own < on bit-vectors."""
    sound = smt_terms._compare

    def wrong(comparison: object, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BoolRef:
        return a < b if str(comparison) == "bvult" else sound(comparison, a, b)  # type: ignore[arg-type]

    patch.setattr(smt_terms, "_compare", wrong)


def limits_forgotten(patch: Patch) -> None:
    """Variables run over all bit patterns of their width."""
    sound = smt_terms.Translator.variable

    def wrong(self: smt_terms.Translator, node: object, name: str | None = None) -> z3.BitVecRef:
        term = sound(self, node, name)  # type: ignore[arg-type]
        self.bounds.clear()
        return term

    patch.setattr(smt_terms.Translator, "variable", wrong)


def unknown_as_unsat(patch: Patch) -> None:
    sound = smt_query.Query.solve

    def wrong(self: smt_query.Query, rlimit: int) -> object:
        try:
            return sound(self, rlimit)
        except smt_query.OutOfBudgetError:
            return None

    patch.setattr(smt_query.Query, "solve", wrong)


def outer_unchecked(patch: Patch) -> None:
    patch.setattr(smt_injective, "_one_to_one", lambda *_: True)


def outer_unchecked_in_gf2(patch: Patch) -> None:
    patch.setattr(gf2, "one_to_one", lambda _, __: True)


def outer_unchecked_in_radix(patch: Patch) -> None:
    patch.setattr(radix, "one_to_one", lambda _, __: True)


def base_ignored(patch: Patch) -> None:
    """Everything lies at the base's first value: a misaligned base goes unseen."""
    sound = smt_terms.Translator.variable

    def wrong(self: smt_terms.Translator, node: object, name: str | None = None) -> z3.BitVecRef:
        if getattr(node, "name", "") == "base":
            return self.fixed(0, node.width)  # type: ignore[attr-defined]
        return sound(self, node, name)  # type: ignore[arg-type]

    patch.setattr(smt_terms.Translator, "variable", wrong)


def separation_unproved(patch: Patch) -> None:
    patch.setattr(smt_cost, "_separates", lambda *_: True)


def separation_by_parts_of_a_word(patch: Patch) -> None:
    """A variable that moves all lanes by half a word is taken not to matter."""
    sound = smt_cost._separates

    def wrong(address: Expr, lane: Var, chosen: tuple[Var, ...], unit: int, shift: bool, rlimit: int) -> bool:
        del unit
        return sound(address, lane, chosen, 1, shift, rlimit)

    patch.setattr(smt_cost, "_separates", wrong)


def order_by_the_first_alone(patch: Patch) -> None:
    """Two points that differ elsewhere only are not looked at."""
    patch.setattr(smt_injective, "joined_bits", lambda parts: parts[0])


def touch_counts_unchecked(patch: Patch) -> None:
    patch.setattr(smt_covers, "_count_touches", lambda _: True)


# --- the native engines --------------------------------------------------------------------------------------------


def rank_off_by_one(patch: Patch) -> None:
    sound = gf2.rank
    patch.setattr(gf2, "rank", lambda rows: sound(rows) + 1)


def kernel_missed(patch: Patch) -> None:
    sound = gf2.kernel_vector
    patch.setattr(gf2, "kernel_vector", lambda columns: None if len(columns) > 2 else sound(columns))


def period_of_one(patch: Patch) -> None:
    patch.setattr(residue, "_scaled", lambda found, _: found.period)


def free_variables_ignored(patch: Patch) -> None:
    """One value of a variable taken to stand for all."""
    patch.setattr(residue, "_cost_period", lambda *_: 1)


enumeration_overlap = enumeration.first_overlap


def overlap_with_or_equal(patch: Patch) -> None:
    def wrong(engine: str, goal: object, counts: object, position: object, assumed: object, extent: int) -> Finding:
        return enumeration_overlap(engine, goal, counts, position, assumed, extent + 1)  # type: ignore[arg-type]

    patch.setattr(exhaust, "first_overlap", wrong)


def overlap_too_short(patch: Patch) -> None:
    """Ranges taken for points: partial overlaps are lost."""

    def wrong(*arguments: object) -> Finding:
        return enumeration_overlap(*arguments[:-1], 1)  # type: ignore[arg-type]

    patch.setattr(exhaust, "first_overlap", wrong)


def stride_off_by_one(patch: Patch) -> None:
    """Each digit but the first is taken to reach one unit further than it does."""
    sound = radix.strides

    def wrong(inner: Expr, nodes: tuple[Var, ...]) -> list[int] | None:
        found = sound(inner, nodes)
        return None if found is None else [step + (index > 0) for index, step in enumerate(found)]

    patch.setattr(radix, "strides", wrong)


# --- skipped safeguards of the prover -------------------------------------------------------------------------------


class Liar:
    """A second engine that finds a conflict where there is none."""

    name = "liar"

    def decide(self, obligation: Obligation) -> Finding:
        point = {"warp": 0, "lane": 0}
        return (
            Finding(self.name, Answer.FAILS, point)
            if isinstance(obligation, Cost)
            else Finding(self.name, Answer.HOLDS)
        )


def replay_skipped(patch: Patch) -> None:
    patch.setattr(ConflictFree, "replay", lambda *_: Counterexample({}, "whatever the engine said"))


def vacuity_unchecked(patch: Patch) -> None:
    patch.setattr(prover, "_possible", lambda *_: Finding("z3", Answer.HOLDS))


def lied_to() -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel, "NATIVE", (Liar(),))
        return verdict(X32, "lane*4").outcome is Outcome.ERROR


def nobody_runs() -> bool:
    return verdict(X32, "lane*4", predicate=parse("lane > 40")).outcome is Outcome.VACUOUS


# --- the cases ------------------------------------------------------------------------------------------------------

LANE, A, B, EIGHT = var("lane", 32), var("a", 4), var("b", 3), var("x", 256)
X32, X128 = "ld.shared.b32", "ld.shared.v4.b32"
PROVED, REFUTED = Outcome.PROVED, Outcome.REFUTED


def product(a: Map, b: Map) -> Map:
    return Map(ob.ints.multiply(a.value, b.value), lambda p: a.plain(p) * b.plain(p))


def strided(first: int, other: int, extent: int = 1) -> Injective:
    inner = ob.plus(ob.times(leaf(A), first), ob.times(leaf(B), other))
    return ob.injective((A, B), (), inner, extent)


def masked_outer(engine: Engine) -> Callable[[], bool]:
    """An outer map that drops a bit of 0..15: the composition is not one to one."""
    node = var("v", 16)
    outer = ob.bijection(4, lambda x: ob.masked(x, 7))
    goal = ob.injective((node,), (), leaf(node), 1, outer, lambda x: x & 7)
    return lambda: engine.decide(goal).answer in {Answer.NOT_APPLICABLE, Answer.UNDECIDED}


def says(engine: Engine, obligation: Obligation, wanted: Answer) -> Callable[[], bool]:
    return lambda: engine.decide(obligation).answer is wanted


def shifted() -> Always:
    """(x >> a) <= x, by a variable amount."""
    moved = Map(ob.ints.shift_right(leaf(EIGHT).value, leaf(A).value), lambda p: p["x"] >> p["a"])
    return ob.always((EIGHT, A), ob.less(moved, ob.plus(leaf(EIGHT), number(1))))


def divided() -> Always:
    """x / 3 * 3 + x % 3 == x."""
    back = ob.plus(ob.times(ob.over(leaf(EIGHT), 3), 3), ob.modulo(leaf(EIGHT), 3))
    return ob.always((EIGHT,), ob.equal(back, leaf(EIGHT)))


def compared() -> Always:
    """x / 2 < x + 1."""
    return ob.always((EIGHT,), ob.less(ob.over(leaf(EIGHT), 2), ob.plus(leaf(EIGHT), number(1))))


def bounded() -> Always:
    """b % 2 + b / 2 < 2 for b < 3; for 3 it is 2."""
    return ob.always((B,), ob.less(ob.plus(ob.modulo(leaf(B), 2), ob.over(leaf(B), 2)), number(2)))


def hard() -> Always:
    """Nothing that one unit of work decides."""
    a, b = leaf(var("a", 1 << 13)), leaf(var("b", 1 << 13))
    nodes = (var("a", 1 << 13), var("b", 1 << 13))
    return ob.always(nodes, ob.less(ob.modulo(product(a, b), 1021), number(1020)))


def open_base() -> Obligation:
    """A base that is any multiple of 4 under a 16-byte access."""
    return Aligned(access(X128, "lane*16", base=AlignedBase(4))).plan().goals[0].obligation


def later_iterations() -> Cost:
    """Iteration 0 is free; in later ones lanes lie further apart."""
    node = var("v", 1000)
    address = ob.times(product(leaf(LANE), ob.plus(leaf(node), number(1))), 4)
    return ob.cost(LANE, (node,), X32, address, at_most=1)


def odd_iterations() -> Cost:
    """Two halfs 126 bytes apart: in words 0 and 31, and a half further on in words 0 and 32."""
    node = var("v", 3)
    address = ob.plus(ob.times(ob.modulo(leaf(LANE), 2), 126), ob.times(leaf(node), 2))
    return ob.cost(LANE, (node,), "ld.shared.b16", address)


def halves_meet() -> Injective:
    """a * 4 + b % 2, where b is 0 or 2 in one place."""
    return ob.injective((A, B), (), ob.plus(ob.times(leaf(A), 4), ob.modulo(leaf(B), 2)))


def touched_once() -> Covers:
    thread, cell = var("t", 4), var("e", 4)
    return ob.covers((), (thread,), leaf(thread), None, 1, (cell,), leaf(cell), 1, 2)


def dependent_bits() -> Injective:
    """Three bits, of which the last flips what the first two flip together."""
    x, y, z = (var(name, 2) for name in "xyz")
    return ob.injective((x, y, z), (), ob.xor(ob.xor(leaf(x), ob.times(leaf(y), 2)), ob.times(leaf(z), 3)))


Z3, GF2, RADIX, RESIDUES, EXHAUST = SMT(), gf2.GF2(), radix.Radix(), residue.Residues(), exhaust.Exhaustion()
HOLDS, FAILS = Answer.HOLDS, Answer.FAILS

MUTATIONS: list[tuple[Callable[[Patch], None], Callable[[], bool]]] = [
    (same_group_without_order, conflict_free("cp.async.4", "lane*4", wanted=PROVED)),
    (same_group_without_size, conflict_free("st.shared.v4.b32", "lane*16", wanted=PROVED)),
    (groups_too_small, conflict_free(X32, "lane%16*4 + lane/16*128", wanted=REFUTED)),
    (pair_without_slot, conflict_free(X32, "lane*4", wanted=PROVED)),
    (pair_without_unit, conflict_free(X32, "lane/2*4", wanted=PROVED)),
    (equal_words_merged, conflict_free("atom.shared.add.u32", "lane/2*4", wanted=REFUTED)),
    # pairs of equal lanes join groups to 16 lanes: lanes 0 and 8 meet there only
    (joined_always_false, conflict_free(X128, "lane/2%4*16 + lane/8*128", wanted=REFUTED)),
    (joined_always_true, conflict_free(X128, "lane*16", wanted=PROVED)),
    (arithmetic_shift, says(Z3, shifted(), HOLDS)),
    (signed_division, says(Z3, divided(), HOLDS)),
    (signed_comparison, says(Z3, compared(), HOLDS)),
    (limits_forgotten, says(Z3, bounded(), HOLDS)),
    (unknown_as_unsat, says(SMT(rlimit=1), hard(), Answer.UNDECIDED)),
    (outer_unchecked, masked_outer(Z3)),
    (outer_unchecked_in_gf2, masked_outer(GF2)),
    (outer_unchecked_in_radix, masked_outer(RADIX)),
    (base_ignored, says(Z3, open_base(), FAILS)),
    (separation_unproved, says(Z3, later_iterations(), FAILS)),
    (separation_by_parts_of_a_word, says(Z3, ob.replace_limit(odd_iterations(), 1), FAILS)),
    (order_by_the_first_alone, says(Z3, halves_meet(), FAILS)),
    (touch_counts_unchecked, says(Z3, touched_once(), FAILS)),
    (rank_off_by_one, says(GF2, dependent_bits(), FAILS)),
    (kernel_missed, says(GF2, dependent_bits(), FAILS)),
    (period_of_one, says(RESIDUES, odd_iterations(), FAILS)),
    (free_variables_ignored, says(RESIDUES, later_iterations(), FAILS)),
    (overlap_with_or_equal, says(EXHAUST, strided(3, 12, 3), HOLDS)),
    (overlap_too_short, says(EXHAUST, strided(2, 12, 3), FAILS)),
    (stride_off_by_one, says(RADIX, strided(1, 3), FAILS)),
    (replay_skipped, lied_to),
    (vacuity_unchecked, nobody_runs),
]


@pytest.mark.parametrize(("mutate", "right"), MUTATIONS, ids=[mutate.__name__ for mutate, _ in MUTATIONS])
def test_the_mutation_shows(monkeypatch: Patch, mutate: Callable[[Patch], None], right: Callable[[], bool]) -> None:
    assert right()
    mutate(monkeypatch)
    forget()
    assert not right()
