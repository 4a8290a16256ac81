"""The fields of a matrix descriptor: which are numbers, and where the start address lies in its array.

A field is a number if the SMT engine finds no lane, trip or start of an array with another one. Plain
numbers at samples must not contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import Kind, Leaf
from swzverify.compiled.kernel.arithmetic import add, bit_and, shift_left, widened
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.scan.claim import Property, Values
from swzverify.compiled.scan.evaluated import seen
from swzverify.compiled.scan.operand_subject import OperandSubject, dependence
from swzverify.compiled.scan.price import DisagreementError
from swzverify.compiled.scan.spell import spell, spell_leaf
from swzverify.compiled.scan.verdict import NOT_DECIDED
from swzverify.engines.obligations import Answer
from swzverify.hardware.tensor_cores import WGMMA_FIELDS
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    FALSE,
    Binary,
    Comparison,
    Const,
    Expr,
    Extend,
    Extract,
    compare,
    conjunction,
    const,
    extract,
    negation,
    substitute,
    variables,
)
from swzverify.layout.tma import parse_tma_mode
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, Descriptor

NAMES = ("start", "lbo", "sbo", "swizzle", "base_offset")
"""The fields, by the names that reports have."""
_TRIES = 3
"""Numbers that are tried for a field."""


@dataclass(frozen=True, slots=True)
class OperandFields:
    """The fields of a descriptor; None where a field is not known.

    Attributes:
        role: A or B.
        major: Along which dimension elements lie side by side: K or MN.
        start: The start address in words, such as `tile + 1024`.
        lbo: The leading byte offset, in bytes.
        sbo: The stride byte offset, in bytes.
        swizzle: The swizzle mode.
        base_offset: The base offset.
        reads_lbo: Whether the mode reads the leading byte offset.
        unknown: Why a field is not known, by its name. A leading byte offset that is not read has no reason.
    """

    role: str
    major: str | None = None
    start: str | None = None
    lbo: int | None = None
    sbo: int | None = None
    swizzle: str | None = None
    base_offset: int | None = None
    reads_lbo: bool | None = None
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def descriptor(self) -> Descriptor | None:
        """What the tensor core reads of the fields, without the start address; None if one is not known."""
        lbo = self.lbo if self.reads_lbo else 0
        if lbo is None or self.sbo is None or self.swizzle is None or self.base_offset is None:
            return None
        return Descriptor(lbo, self.sbo, parse_tma_mode(self.swizzle), self.base_offset)


@dataclass(frozen=True, slots=True)
class Start:
    """A start address, of 32 bits: `offset` bytes from the start of the array `base`, if there is one."""

    base: Leaf | None
    offset: Expr

    @property
    def address(self) -> Expr:
        """The address in the shared window."""
        return self.offset if self.base is None else add(begin_of(self.base, 32), self.offset)


def fields_of(subject: OperandSubject, value: Expr) -> tuple[OperandFields, Start | None]:
    """The fields of a descriptor, and its start address if it is known.

    Raises:
        DisagreementError: Plain numbers contradict the SMT engine.
    """
    numbers = _Numbers(subject, value)
    sbo = numbers.find("sbo", WGMMA_FIELDS.sbo)
    base_offset = numbers.find("base_offset", WGMMA_FIELDS.base_offset)
    code = numbers.find("swizzle", WGMMA_FIELDS.swizzle)
    lbo = numbers.find("lbo", WGMMA_FIELDS.lbo)
    numbers.check()
    unknown, major = numbers.unknown, subject.operand.major
    mode = None if code is None else WGMMA_FIELDS.modes[code]
    if major is None:
        unknown["major"] = "the immediates do not say it"
    reads_lbo: bool | None = None
    if mode is not None and major is not None:
        reads_lbo = Descriptor(0, 0, parse_tma_mode(mode)).reads_lbo(major)
        if not reads_lbo:
            unknown.pop("lbo", None)
    start = _start(subject, value)
    if isinstance(start, str):
        unknown["start"], start = start, None
    return OperandFields(
        subject.operand.role.value,
        None if major is None else major.value,
        None if start is None else spell(start.address, subject.access.leaves),
        None if lbo is None else lbo * CHUNK_BYTES,
        None if sbo is None else sbo * CHUNK_BYTES,
        mode,
        base_offset,
        reads_lbo,
        unknown,
    ), start


class _Numbers:
    """Finds fields that are numbers, and why others are not."""

    def __init__(self, subject: OperandSubject, value: Expr) -> None:
        self.subject, self.value = subject, value
        self.unknown: dict[str, str] = {}
        self._known: dict[tuple[int, int], int] = {}

    def find(self, name: str, place: tuple[int, int]) -> int | None:
        """The number of a field in every lane that executes the instruction; None if it is not known."""
        part = extract(self.value, *place)
        number = self._number(name, part)
        if number is not None:
            self._known[place] = number
        return number

    def _number(self, name: str, part: Expr) -> int | None:
        if isinstance(part, Const):
            return part.value
        point = {each.name: 0 for each in variables(part)}
        for _ in range(_TRIES):
            number = evaluate(part, point)
            found, point = self.subject.other(negation(_equal(part, const(number, part.width))))
            if found is Answer.EMPTY:
                return number
            if found is not Answer.HOLDS:
                self.unknown[name] = NOT_DECIDED
                return None
        read = self.subject.leaves_of(part)
        self.unknown[name] = dependence([leaf for leaf in read if leaf.symbol is None] or read)
        return None

    def check(self) -> None:
        """Compare the numbers with plain numbers at samples.

        Raises:
            DisagreementError: A sample has another number.
        """
        value, known = self.value, self._known
        bad = negation(conjunction([_equal(extract(value, *at), const(of, at[1])) for at, of in known.items()]))
        if bad is FALSE:
            return

        def place(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
            own = values(value)
            is_other = np.zeros(own.shape, dtype=np.bool_)
            for (low, width), of in known.items():
                is_other |= ((own >> np.uint64(low)) & np.uint64((1 << width) - 1)) != np.uint64(of)
            return own, is_other

        if seen(self.subject.here, Property("fields", value, bad, place, (), 1, str)).is_bad:
            raise DisagreementError


def _start(subject: OperandSubject, value: Expr) -> Start | str:
    """The start address: a number, or the start of an array plus an offset; else why it is not known."""
    units = extract(value, *WGMMA_FIELDS.start)
    start = shift_left(widened(units, 32), const(CHUNK_BYTES.bit_length() - 1, 32))
    read = subject.leaves_of(units)
    if moving := [leaf for leaf in read if not _is_told(leaf)]:
        return dependence(moving)
    bases = [leaf for leaf in read if leaf.symbol is not None]
    if not bases:
        return Start(None, bounded(normal(start)))
    if len(bases) > 1:
        return "the start address is made of several arrays"
    base, name = bases[0], spell_leaf(bases[0])
    if base.multiple < CHUNK_BYTES:
        return f"{name} begins at a multiple of {base.multiple}, and a descriptor holds multiples of {CHUNK_BYTES}"
    offset = bounded(normal(substitute(start, {base.variable: const(0, base.variable.width)})))
    found = Start(base, _plainer(subject, offset))
    address = bit_and(found.address, const(ADDRESS_LIMIT - 1, 32))
    answer, _ = subject.other(negation(_equal(start, address)))
    if answer is Answer.EMPTY:
        return found
    return NOT_DECIDED if answer is not Answer.HOLDS else f"it is not {name} plus one number for every start of {name}"


def _plainer(subject: OperandSubject, offset: Expr) -> Expr:
    """An offset without masks and shifts that change nothing in a lane that executes the instruction."""
    inside: list[Expr] = []
    node: Expr = offset
    while isinstance(node, Extend | Extract) or (isinstance(node, Binary) and isinstance(node.right, Const)):
        node = node.left if isinstance(node, Binary) else node.operand
        inside.append(node)
    for each in reversed(inside):
        plain = normal(widened(each, offset.width))
        if subject.other(negation(_equal(offset, plain)))[0] is Answer.EMPTY:
            return plain
    return offset


def _is_told(leaf: Leaf) -> bool:
    """Whether a start address may be written with a leaf."""
    return leaf.kind in (Kind.LANE, Kind.UNIFORM, Kind.TRIPS) or leaf.values is not None


def _equal(left: Expr, right: Expr) -> Expr:
    return compare(Comparison.EQ, left, right)
