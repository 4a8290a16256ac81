"""Misreadings of listings and register banks: random listings must show each one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.sass import instructions, operands
from swzverify.hardware.register_banks import RegisterBanks
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import var
from swzverify.spec import build_listing
from swzverify.spec.load import parse_spec
from swzverify.subjects import listing, lowered_listing
from swzverify.subjects.listing import ListedInstruction, RegisterRead, Work
from tests.differential.test_random_listings import compared, drawn

Patch = pytest.MonkeyPatch
SEEDS = range(5_000, 6_000)
SHOWN_AT = {
    "banks_of_eight": 5_000,
    "equal_registers_conflict": 5_000,
    "one_conflict_an_instruction": 5_001,
    "every_bank_reads_two": 5_000,
    "rz_is_a_register": 5_002,
    "any_slot_will_do": 5_002,
    "slots_are_moved": 5_004,
    "marks_are_not_needed": 5_004,
    "marks_are_not_seen": 5_000,
    "a_write_leaves_the_cache": 5_093,
    "a_load_writes_one_register": 5_959,
    "predicates_are_not_seen": 5_020,
    "the_true_predicate_may_fail": 5_005,
    "nobody_jumps": 5_000,
    "indirect_branches_go_nowhere": 5_093,
    "unshown_places_are_no_places": 5_023,
    "offsets_from_labels_are_not_seen": 5_255,
    "places_are_not_seen": 5_023,
    "the_first_label_is_always_entered": 5_001,
    "yields_are_not_seen": 5_068,
    "loads_clear_the_old_cache": 5_176,
    "loads_keep_the_new_cache": 5_701,
    "a_barrier_is_a_load": 5_000,
    "calls_leave_the_cache": 5_052,
    "the_unknown_is_another_instruction": 5_033,
    "the_cache_keeps_what_was_kept": 5_000,
    "unmarked_reads_leave_it_there": 5_005,
    "the_cache_forgets_at_once": 5_000,
    "immediates_do_not_move_slots": 5_001,
    "the_formula_sees_one_bank_bit": 5_000,
    "the_formula_looks_past_a_yield": 5_068,
    "the_formula_takes_any_slot": 5_015,
}
"""A seed whose listing shows the mistake."""


def decoded_as(patch: Patch, change: Callable[[ListedInstruction], ListedInstruction]) -> None:
    original = instructions._decoded
    patch.setattr(instructions, "_decoded", lambda *stated: change(original(*stated)))


def after_as(patch: Patch, change: Callable[..., Any]) -> None:
    original = listing._after
    patch.setattr(listing, "_after", lambda each, *rest: change(original, each, *rest))


def banks_of_eight(patch: Patch) -> None:
    patch.setattr(RegisterBanks, "bank", lambda self, register: register % (2 * self.banks))


def equal_registers_conflict(patch: Patch) -> None:
    def extra_cycles(self: RegisterBanks, registers: list[int]) -> int:
        banks = [self.bank(each) for each in registers]
        return sum(-(-banks.count(bank) // self.reads_per_bank) - 1 for bank in set(banks))

    patch.setattr(RegisterBanks, "extra_cycles", extra_cycles)


def one_conflict_an_instruction(patch: Patch) -> None:
    original = RegisterBanks.extra_cycles
    patch.setattr(RegisterBanks, "extra_cycles", lambda self, registers: min(1, original(self, registers)))


def every_bank_reads_two(patch: Patch) -> None:
    original = build_listing.register_banks
    patch.setattr(listing, "register_banks", lambda target: replace(original(target), reads_per_bank=2))


def rz_is_a_register(patch: Patch) -> None:
    original = operands.value_of

    def value_of(text: str) -> operands.Register | None:
        found = original(text)
        return found if found is None or found.number is not None else replace(found, number=0)

    patch.setattr(instructions, "value_of", value_of)


def any_slot_will_do(patch: Patch) -> None:
    def one_slot(each: ListedInstruction) -> ListedInstruction:
        return replace(each, reads=tuple(replace(read, slot=None) for read in each.reads))

    decoded_as(patch, one_slot)


def slots_are_moved(patch: Patch) -> None:
    def moved(each: ListedInstruction) -> ListedInstruction:
        swap = {2: 3, 3: 2, 4: 4, None: None}
        return replace(each, reads=tuple(replace(read, slot=swap[read.slot]) for read in each.reads))

    original = listing._count

    def count(found: tuple[ListedInstruction, ...], banks: RegisterBanks) -> object:
        return original(tuple(moved(each) if index % 2 else each for index, each in enumerate(found)), banks)

    patch.setattr(listing, "_count", count)


def marks_are_not_needed(patch: Patch) -> None:
    def marked(each: ListedInstruction) -> ListedInstruction:
        return replace(each, reads=tuple(replace(read, reuse=True) for read in each.reads))

    decoded_as(patch, marked)


def marks_are_not_seen(patch: Patch) -> None:
    def bare(each: ListedInstruction) -> ListedInstruction:
        return replace(each, reads=tuple(replace(read, reuse=False) for read in each.reads))

    decoded_as(patch, bare)


def a_write_leaves_the_cache(patch: Patch) -> None:
    after_as(patch, lambda original, each, *rest: original(replace(each, writes=()), *rest))


def a_load_writes_one_register(patch: Patch) -> None:
    patch.setattr(instructions, "_VECTOR", 1)


def predicates_are_not_seen(patch: Patch) -> None:
    decoded_as(patch, lambda each: replace(each, predicated=False))


def the_true_predicate_may_fail(patch: Patch) -> None:
    decoded_as(patch, lambda each: replace(each, predicated=each.predicated or each.work is Work.ARITHMETIC))


def nobody_jumps(patch: Patch) -> None:
    patch.setattr(instructions, "_joined", lambda code: code.instructions)


def indirect_branches_go_nowhere(patch: Patch) -> None:
    original = instructions.may_name_a_place
    patch.setattr(instructions, "may_name_a_place", lambda name, more: name != "BRX" and original(name, more))


def unshown_places_are_no_places(patch: Patch) -> None:
    original = instructions._target_in
    patch.setattr(instructions, "_target_in", lambda *stated: -1 if (at := original(*stated)) is None else at)


def offsets_from_labels_are_not_seen(patch: Patch) -> None:
    original = instructions._target_in
    bare = operands.re.compile(r"\s*\+\s*0x[0-9a-f]+")
    patch.setattr(instructions, "_target_in", lambda text, *rest: original(bare.sub("", text), *rest))


def places_are_not_seen(patch: Patch) -> None:
    original = instructions._target_in
    patch.setattr(
        instructions, "_target_in", lambda text, *rest: -1 if text.startswith("0x") else original(text, *rest)
    )


def the_first_label_is_always_entered(patch: Patch) -> None:
    original = instructions._joined

    def joined(code: Any) -> list[Any]:
        first, *others = original(code)
        return [replace(first, joined=first.joined or 0 in code.labels.values()), *others]

    patch.setattr(instructions, "_joined", joined)


def yields_are_not_seen(patch: Patch) -> None:
    original = instructions._Reader._instruction
    patch.setattr(instructions._Reader, "_instruction", lambda self, *stated: original(self, *stated[:-1], False))


def loads_clear_the_old_cache(patch: Patch) -> None:
    after_as(
        patch, lambda original, each, *rest: original(each, *rest[:-1], replace(rest[-1], others_keep_reuse=False))
    )


def loads_keep_the_new_cache(patch: Patch) -> None:
    after_as(patch, lambda original, each, *rest: original(each, *rest[:-1], replace(rest[-1], others_keep_reuse=True)))


def a_barrier_is_a_load(patch: Patch) -> None:
    decoded_as(patch, lambda each: replace(each, work=Work.OTHER) if each.work is Work.CONTROL else each)


def calls_leave_the_cache(patch: Patch) -> None:
    decoded_as(patch, lambda each: replace(each, work=Work.CONTROL) if each.work is Work.CALL else each)


def the_unknown_is_another_instruction(patch: Patch) -> None:
    decoded_as(patch, lambda each: replace(each, work=Work.OTHER) if each.work is Work.UNKNOWN else each)


def the_cache_keeps_what_was_kept(patch: Patch) -> None:
    def after(original: Callable[..., Any], each: ListedInstruction, sure: dict[int, int], *rest: object) -> object:
        kept, perhaps = original(each, sure, *rest)
        return {**sure, **kept}, perhaps

    after_as(patch, after)


def unmarked_reads_leave_it_there(patch: Patch) -> None:
    def after(original: Callable[..., Any], each: ListedInstruction, sure: dict[int, int], *rest: Any) -> object:
        kept, perhaps = original(each, sure, *rest)
        return kept, perhaps | rest[0]

    after_as(patch, after)


def the_cache_forgets_at_once(patch: Patch) -> None:
    def after(original: Callable[..., Any], each: ListedInstruction, sure: dict[int, int], *rest: Any) -> object:
        kept, _ = original(each, sure, *rest)
        return kept, frozenset(kept.items())

    after_as(patch, after)


def immediates_do_not_move_slots(patch: Patch) -> None:
    original = instructions._arithmetic

    def arithmetic(parts: operands.Parts, slots: tuple[int | None, ...], has_result: bool) -> object:
        reads, writes = original(parts, slots, has_result)
        values = [v for each in parts.operands if not operands.is_predicate(each) for v in (operands.value_of(each),)]
        values = values[has_result:]
        at = [slot for v, slot in zip(values, slots, strict=False) if v is not None and v.number is not None]
        fixed = tuple(replace(read, slot=slot) for read, slot in zip(reads, at, strict=True))
        return fixed, writes

    patch.setattr(instructions, "_arithmetic", arithmetic)


def the_formula_sees_one_bank_bit(patch: Patch) -> None:
    original = lowered_listing.extract
    patch.setattr(lowered_listing, "extract", lambda each, low, width: original(each, low, 1 if width == 2 else width))


def the_formula_looks_past_a_yield(patch: Patch) -> None:
    original = lowered_listing.LoweredListing.__init__

    def init(self: Any, stated: listing.Listing, place: object) -> None:
        original(self, stated, place)  # type: ignore[arg-type]
        self._all = tuple(replace(each, yields=False) for each in self._all)

    patch.setattr(lowered_listing.LoweredListing, "__init__", init)


def formula_differs(seed: int) -> bool:
    """Whether the formula of a listing costs an instruction other than the run through it does.

    A formula that costs less than the run is seen here alone: the goals ask whether it costs more.
    """
    for one in parse_spec(json.dumps(drawn(seed))).cases[0].listings.values():
        place = var("place", len(one.instructions))
        formula = lowered_listing.LoweredListing(one, place)
        most, least = formula.most().bits, formula.least().bits
        for at, cost in enumerate(one.counted):
            is_known = cost.most is not None and one.instructions[at].work is Work.ARITHMETIC
            if is_known and (evaluate(most, {"place": at}), evaluate(least, {"place": at})) != (cost.most, cost.least):
                return True
    return False


def the_formula_takes_any_slot(patch: Patch) -> None:
    original = lowered_listing.LoweredListing.__init__

    def init(self: Any, stated: listing.Listing, place: object) -> None:
        original(self, stated, place)  # type: ignore[arg-type]
        reads = [tuple(RegisterRead(r.register, 2, r.reuse) for r in each.reads[:1]) for each in self._all]
        self._all = tuple(replace(each, reads=own) for each, own in zip(self._all, reads, strict=True))

    patch.setattr(lowered_listing.LoweredListing, "__init__", init)


MISTAKES = [value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__]
MISTAKES = [each for each in MISTAKES if each not in (decoded_as, after_as, formula_differs)]


each_mistake = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.__name__)


@each_mistake
def test_it_is_noticed(mistake: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mistake(monkeypatch)
    seed = SHOWN_AT[mistake.__name__]
    assert compared(range(seed, seed + 1), every_engine_each=10**9).differing or formula_differs(seed)


@pytest.mark.nightly
@each_mistake
def test_a_search_notices_it(mistake: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mistake(monkeypatch)
    for start in range(SEEDS.start, SEEDS.stop, 10):
        seeds = range(start, start + 10)
        if compared(seeds, every_engine_each=10**9).differing or any(map(formula_differs, seeds)):
            return
    pytest.fail("no random listing shows it")


@pytest.mark.parametrize("seed", sorted({*SHOWN_AT.values()}))
def test_without_a_mistake_there_is_none(seed: int) -> None:
    """Else a listing would show a mistake that it does not show."""
    assert not compared(range(seed, seed + 1), every_engine_each=10**9).differing
    assert not formula_differs(seed)
