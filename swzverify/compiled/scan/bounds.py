"""The claim that an access is in bounds: each lane's bytes lie inside the array of its address.

The address starts with the symbol of an array. A static array has the bytes that PTX declares, a
dynamic one those of the launch. An address that is a choice of several is judged case by case.
Addresses count modulo 2^32, generic ones with all their bits.

Source: PTX ISA, State Spaces: Shared State Space; Addresses as Operands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.places import Places
from swzverify.claims.stated import within
from swzverify.compiled.kernel import ArrayLeaf
from swzverify.compiled.kernel.arithmetic import add, either, sub, widened
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import Sum, normal, sum_of
from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, Property, Values, WitnessLane, not_known, size_unknown
from swzverify.compiled.scan.claimed import claimed, proved
from swzverify.compiled.scan.evaluated import seen
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.subject import Subject
from swzverify.compiled.scan.verdict import NoVerdictError
from swzverify.engines.obligations import Answer
from swzverify.ir.expr import FALSE, TRUE, Expr, Extend, Extract, Ite, conjunction, negation, to_signed, variables
from swzverify.ir.integers import Integer, integer

MOST_CASES: Final = 8
"""Choices of arrays in one address that are told apart."""
PLACE_OF_BOUNDS: Final = [each.kind for each in SCAN_CLAIMS].index("in_bounds")
"""The place of this claim in the registry, and among the claims on an access."""
_MOST_BEGIN: Final = 1024
_FAR: Final = np.uint64(1 << 62)
"""Farther than any array reaches; some bytes more do not wrap."""


@dataclass(frozen=True, slots=True)
class _Case:
    """An address where a condition holds, with the array that it begins with and its bytes."""

    condition: Expr
    address: Expr
    base: ArrayLeaf
    size: int

    @property
    def begin(self) -> Expr:
        """Where the array begins."""
        return widened(begin_of(self.base, 32), self.address.width)


def in_bounds(subject: Subject) -> Claim:
    """The verdict on the bounds of one access.

    >>> from swzverify.compiled.ptx import read_module
    >>> from swzverify.compiled.scan import scan_function
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .align 8 .b8 s[256]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.v2.u32 {%r1, %r3}, [%r2]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found = [scan_function(module, module.functions[0], (threads, 1, 1)) for threads in (32, 64)]
    >>> [accesses[0].in_bounds.verdict.value for accesses in found]
    ['proved', 'refuted']
    """
    address = subject.access.whole
    if address is None:
        return not_known("the address is not known")
    parts = _parts(address, TRUE, MOST_CASES)
    if parts is None:
        return not_known(f"the address is a choice of more than {MOST_CASES}")
    cases: list[_Case] = []
    open_arrays: list[str] = []
    for condition, part in parts:
        read = [subject.leaves[each.name] for each in variables(part)]
        arrays = [leaf for leaf in read if isinstance(leaf, ArrayLeaf)]
        if len(arrays) != 1:
            return not_known(
                "the address begins with no shared array" if not arrays else "the address is made of several arrays"
            )
        size = arrays[0].symbol.size_bytes
        if size is None:
            size = subject.most if subject.smem is None else subject.smem
            if subject.smem is None:
                open_arrays.append(spell_leaf(arrays[0]))
        cases.append(_Case(condition, part, arrays[0], size))
    if len(cases) == 1 and not open_arrays and (between := _between(subject, cases[0])) is not None:
        return between
    whole = _property(subject, address, cases)
    if open_arrays and _is_fine_somewhere(subject, whole):
        return _open(subject, cases, dict.fromkeys(open_arrays))
    found = claimed(subject, whole)
    if open_arrays and found.verdict is not ClaimVerdict.REFUTED:
        return _open(subject, cases, dict.fromkeys(open_arrays))
    return found


def _between(subject: Subject, case: _Case) -> Claim | None:
    """The verdict if two accesses that differ in a number alone, one below and one above, are proved in bounds.

    Unrolled code has many such accesses. Only two of them are asked about: docs/semantics.md, section 6.
    """
    total = sum_of(case.address)
    if subject.numbers is None:
        return None
    low, high = subject.numbers
    is_between = low <= to_signed(total.number, total.width) <= high
    if not is_between or not _is_one_turn(high - low, case.size, total.width):
        return None
    known, key = subject.asker.brief.claims, (subject.width, low, high, *total.terms.items(), *subject.key)
    if key not in known:
        ends = [_at_number(subject, case, replace(total, number=each % (1 << total.width))) for each in (low, high)]
        known[key] = ends[0] if ends[0] == ends[1] else None
    return known[key]


def _is_one_turn(distance: int, size: int, width: int) -> bool:
    """Whether an address in an array plus a distance does not go round."""
    return distance <= size <= 1 << (width - 1)


def _at_number(subject: Subject, case: _Case, total: Sum) -> Claim | None:
    """The verdict on an access at an address with another number, if it is proved in few steps."""
    address = total.expression()
    there = replace(subject, access=replace(subject.access, whole=address), asker=subject.asker.brief)
    try:
        is_made = there.made is Answer.HOLDS
        found = proved(there, _property(there, address, [replace(case, address=address)])) if is_made else None
    except (NoVerdictError, ValueError):
        return None
    return found if isinstance(found, Claim) else None


def _is_fine_somewhere(subject: Subject, whole: Property) -> bool:
    """Whether samples alone show lanes that make the access, and none that leave the array.

    If so, no counterexample is searched; one that exists only in some trip or block may be missed.
    """
    told = seen(subject, whole)
    return told.is_made and not told.is_bad


def _property(subject: Subject, address: Expr, cases: list[_Case]) -> Property:
    bad: Expr = FALSE
    for case in cases:
        bad = either(bad, conjunction((case.condition, _outside(case, subject.width))))
    bases = tuple(dict.fromkeys(case.base for case in cases if case.base.variable in variables(bad)))

    def place(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        offset = values(address) * np.uint64(0)
        is_bad = offset != 0
        for case in cases:
            holds = values(case.condition) != 0
            begin = values(case.base.variable) * np.uint64(case.base.multiple)
            own = values(case.address)
            with np.errstate(over="ignore"):
                first = own - begin
            lanes = Places(np.minimum(first, _FAR).view(np.int64), subject.width, room_bits=case.size)
            offset = np.where(holds, first, offset)
            is_bad = np.where(holds, lanes.outside, is_bad)
        return offset, is_bad

    def words(lane: WitnessLane) -> str:
        shown = " or ".join(dict.fromkeys(f"{spell_leaf(case.base)}, which has {case.size} bytes" for case in cases))
        return (
            f"lane {lane.lane} of warp {lane.warp} touches bytes {lane.at} to {lane.at + subject.width - 1} of {shown}"
        )

    return Property(address, bad, place, bases, _MOST_BEGIN, words)


def _outside(case: _Case, width: int) -> Expr:
    """Whether some byte lies outside, of an array that does not wrap round."""
    offset = normal(sub(case.address, case.begin))
    return negation(within(integer(0), Integer(offset, 0, (1 << offset.width) - 1), width, integer(case.size)))


def _open(subject: Subject, cases: list[_Case], names: dict[str, None]) -> Claim:
    """What is said without the size of a dynamic array: the size that suffices, where it is counted."""
    reason = size_unknown(" and ".join(names))
    if len(cases) != 1:
        return not_known(reason)
    told = seen(subject, _property(subject, cases[0].address, cases))
    if told.is_bad or not told.is_whole or not told.is_made:
        return not_known(reason)
    size = told.largest + subject.width
    enough = claimed(
        subject, _property(subject, cases[0].address, [_Case(TRUE, cases[0].address, cases[0].base, size)])
    )
    if enough.verdict is not ClaimVerdict.PROVED:
        return not_known(reason)
    return not_known(f"{reason}; the access needs the first {size} bytes", size)


def _parts(address: Expr, condition: Expr, left: int) -> list[tuple[Expr, Expr]] | None:
    """An address as cases, one for each choice that begins with another array."""
    whole = sum_of(address)
    for term, count in whole.terms.items():
        choice = _choice(term)
        if count != 1 or choice is None or not _has_array(choice.then) or not _has_array(choice.otherwise):
            continue
        rest = whole.plus(sum_of(term), -1).expression()
        found: list[tuple[Expr, Expr]] = []
        for branch, holds in ((choice.then, choice.condition), (choice.otherwise, negation(choice.condition))):
            inner = _parts(normal(add(_like(term, branch), rest)), conjunction((condition, holds)), left // 2)
            if inner is None:
                return None
            found += inner
        return found if len(found) <= MOST_CASES and left else None
    return [(condition, address)]


def _choice(term: Expr) -> Ite | None:
    while isinstance(term, Extend | Extract):
        if isinstance(term, Extract) and term.low:
            return None
        term = term.operand
    return term if isinstance(term, Ite) else None


def _like(term: Expr, branch: Expr) -> Expr:
    """A branch of a choice, cut and widened as the choice is."""
    if isinstance(term, Extract):
        return widened(_like(term.operand, branch), term.width)
    if isinstance(term, Extend):
        return widened(_like(term.operand, branch), term.width, signed=term.signed)
    return branch


def _has_array(value: Expr) -> bool:
    return any(each.name.startswith("shared ") for each in variables(value))
