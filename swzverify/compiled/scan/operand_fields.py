"""The fields of a matrix descriptor: which are numbers, and where the start address lies in its array.

A field is a number if the SMT engine finds no lane, trip or start of an array with another one. Plain
numbers at samples must not contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import ArrayLeaf, CarriedLeaf, LaneLeaf, Leaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.arithmetic import bit_and, sub, widened
from swzverify.compiled.kernel.descriptors import Field, Place, differ, is_other, number_of, place_of, start_field
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.scan.claim import Property, Values
from swzverify.compiled.scan.evaluated import seen
from swzverify.compiled.scan.operand_offsets import Offsets, is_alike, offsets_of
from swzverify.compiled.scan.operand_subject import OperandSubject, ValueSubject, dependence
from swzverify.compiled.scan.spell import spell, spell_leaf
from swzverify.compiled.scan.verdict import NOT_DECIDED, DisagreementError
from swzverify.engines.obligations import Answer
from swzverify.hardware.tensor_cores import FIELDS
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import (
    FALSE,
    Binary,
    Comparison,
    Const,
    Expr,
    Extend,
    Extract,
    compare,
    const,
    extract,
    negation,
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
        shape: The shape and the type of the instruction, such as `m64n128k16.f16`.
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
    shape: str | None = None
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
        if lbo is None or "lbo" in self.unknown or self.sbo is None or self.swizzle is None or self.base_offset is None:
            return None
        return Descriptor(lbo, self.sbo, parse_tma_mode(self.swizzle), self.base_offset)


@dataclass(frozen=True, slots=True)
class Start(Place):
    """A start address; `offsets` has all that its offset can be in each warp group, if that is known."""

    offsets: Offsets | None = None


def number_in(subject: ValueSubject, value: Expr, place: Field) -> int | str:
    """The number of some bits of a value in every lane that executes the instruction; in words why it is not known.

    Raises:
        DisagreementError: Plain numbers contradict the SMT engine.
    """
    numbers = _Numbers(subject, value)
    found = numbers.find("", place)
    numbers.check()
    return numbers.unknown[""] if found is None else found


def fields_of(subject: OperandSubject, value: Expr, shapeless: str = "") -> tuple[OperandFields, Start | None]:
    """The fields of a descriptor, and its start address if it is known; `shapeless` says why its shape is not known.

    Raises:
        DisagreementError: Plain numbers contradict the SMT engine.
    """
    numbers, places = _Numbers(subject, value), FIELDS[subject.operand.family]
    sbo = numbers.find("sbo", places.sbo)
    base_offset = numbers.find("base_offset", places.base_offset)
    code = numbers.find("swizzle", places.swizzle)
    lbo = numbers.find("lbo", places.lbo)
    is_distance = places.absolute is None or numbers.find("lbo", places.absolute) == 0
    numbers.check()
    unknown, major = numbers.unknown, subject.operand.major
    mode = None if code is None else places.modes[code] or None
    if code is not None and mode is None:
        unknown["swizzle"] = f"the code {code} has no rule"
    if major is None:
        unknown["major"] = shapeless or "the immediates do not say it"
    reads_lbo: bool | None = None
    if mode is not None and major is not None:
        reads_lbo = Descriptor(0, 0, parse_tma_mode(mode)).reads_lbo(major)
        if not reads_lbo:
            unknown.pop("lbo", None)
    if not is_distance:
        unknown["lbo"] = "bit 52 may be set: then it is an address, for which there is no rule"
    units = extract(value, *places.start)
    found: Start | str = f"it may differ within a warp{'' if subject.is_of_one_thread else ' group'}"
    if is_alike(subject, units):
        found = start_of(subject, start_field(value), CHUNK_BYTES)
    start = None
    if isinstance(found, str):
        unknown["start"] = found
    else:
        start = found
    row = subject.operand.instruction
    return OperandFields(
        subject.operand.role.value,
        None if row is None else f"m{row.m}n{row.n}k{row.k}.{row.element}",
        None if major is None else major.value,
        None if start is None else _spelled(start, subject),
        None if lbo is None else lbo * CHUNK_BYTES,
        None if sbo is None else sbo * CHUNK_BYTES,
        mode,
        base_offset,
        reads_lbo,
        unknown,
    ), start


class _Numbers:
    """Finds fields that are numbers, and why others are not."""

    def __init__(self, subject: ValueSubject, value: Expr) -> None:
        self.subject, self.value = subject, value
        self.unknown: dict[str, str] = {}
        self._known: dict[Field, int] = {}

    def find(self, name: str, place: Field) -> int | None:
        """The number of a field in every lane that executes the instruction; None if it is not known."""
        number = self._number(name, place)
        if number is not None:
            self._known[place] = number
        return number

    def _number(self, name: str, place: Field) -> int | None:
        part = extract(self.value, *place)
        if isinstance(part, Const):
            return part.value
        point = {each.name: 0 for each in variables(part)}
        for _ in range(_TRIES):
            number = number_of(self.value, place, point)
            found, point = self.subject.other(differ(self.value, {place: number}))
            if found is Answer.EMPTY:
                return number
            if found is not Answer.HOLDS:
                self.unknown[name] = NOT_DECIDED
                return None
        read = self.subject.leaves_of(part)
        self.unknown[name] = dependence([leaf for leaf in read if not isinstance(leaf, ArrayLeaf)] or read)
        return None

    def check(self) -> None:
        """Compare the numbers with plain numbers at samples.

        Raises:
            DisagreementError: A sample has another number.
        """
        value, known = self.value, self._known
        bad = differ(value, known)
        if bad is FALSE:
            return

        def place(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
            own = values(value)
            is_other = np.zeros(own.shape, dtype=np.bool_)
            for (low, width), of in known.items():
                is_other |= ((own >> np.uint64(low)) & np.uint64((1 << width) - 1)) != np.uint64(of)
            return own, is_other

        if seen(self.subject.here, Property(value, bad, place, (), 1, str)).is_bad:
            raise DisagreementError


def start_of(subject: ValueSubject, start: Expr, multiple: int = 1) -> Start | str:
    """An address, of which the low 18 bits count: a number, or the start of an array plus an offset.

    In words why it is neither, or why the array begins at no known multiple of a number.
    """
    start = bit_and(start, const(ADDRESS_LIMIT - 1, 32))
    read = subject.leaves_of(start)
    if moving := [leaf for leaf in read if not _may_be_shown(leaf)]:
        return dependence(moving)
    place = place_of(start, read)
    if place is None:
        return "the start address is made of several arrays"
    found = Start(place.base, _plainer(subject, place.offset) if place.base else place.offset, place.rounded)
    if found.base is not None:
        name = spell_leaf(found.base)
        if found.multiple < multiple:
            return (
                f"{name} begins at a multiple of {found.base.multiple}, and a descriptor holds multiples of {multiple}"
            )
        answer, _ = subject.other(is_other(start, found))
        if answer is not Answer.EMPTY:
            is_sure = answer is Answer.HOLDS
            return f"it is not {name} plus one number for every start of {name}" if is_sure else NOT_DECIDED
    return replace(found, offsets=offsets_of(subject, found.offset))


def start_at(subject: ValueSubject, address: Expr) -> Start | str:
    """An address of 32 bits as an array plus an offset: at once where it is such a sum, else as `start_of` finds it."""
    bases = [leaf for leaf in subject.leaves_of(address) if isinstance(leaf, ArrayLeaf)]
    if len(bases) == 1:
        offset = bounded(normal(sub(address, begin_of(bases[0], 32))))
        if bases[0].variable not in variables(offset):
            return Start(bases[0], offset)
    return start_of(subject, address)


def _spelled(start: Start, subject: ValueSubject) -> str:
    """A start address in words; where a loop's states decide it, all numbers that it can be."""
    leaves = subject.access.leaves
    is_stepped = any(isinstance(leaf, CarriedLeaf) for leaf in subject.leaves_of(start.offset))
    if start.base is None or (start.rounded == 1 and not (is_stepped and start.offsets)):
        return spell(start.address, leaves)
    name = spell_leaf(start.base) + (f" rounded up to {start.rounded}" if start.rounded > 1 else "")
    if not start.offsets:
        return f"{name} + {spell(start.offset, leaves)}"
    of_groups = {group: _listed(numbers) for group, numbers in start.offsets.items()}
    kind = "warp" if subject.is_of_one_thread else "warp group"
    if len(set(of_groups.values())) == 1:
        return f"{name} + {next(iter(of_groups.values()))}"
    return f"{name} + " + ", ".join(f"{numbers} in {kind} {group}" for group, numbers in of_groups.items())


def _listed(numbers: Sequence[int]) -> str:
    words = ", ".join(map(str, numbers))
    return words if len(numbers) == 1 else f"{{{words}}}"


def _plainer(subject: ValueSubject, offset: Expr) -> Expr:
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


def _may_be_shown(leaf: Leaf) -> bool:
    """Whether a start address may be written with a leaf."""
    return isinstance(leaf, LaneLeaf | UniformLeaf | TripsLeaf) or leaf.values is not None


def _equal(left: Expr, right: Expr) -> Expr:
    return compare(Comparison.EQ, left, right)
