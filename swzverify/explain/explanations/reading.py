"""The bits of addresses as forms over the bits of variables, with the names that people use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from swzverify.engines.gf2 import rank
from swzverify.explain.explanations.statements import BankBit, Bit, Matrix, NotLinear
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES
from swzverify.ir.expr import TRUE, Var, variables
from swzverify.ir.gf2 import Bits, Form, VariableBits, affine_bits
from swzverify.search.synth.starts import start_step
from swzverify.subjects import Access
from swzverify.subjects.listed_loop import ListedLoop
from swzverify.subjects.loop import LANE

FIRST_BANK_BIT = BANK_WORD_BYTES.bit_length() - 1
END_BANK_BIT = BANK_PERIOD_BYTES.bit_length() - 1


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a byte address, lowest bit first, None for a bit without a form.

    `bits` are the names of the variables' bits, in the order that the forms use. `below` are the forms
    of the place inside the byte, for elements that are not whole bytes.

    `apart` are the forms of a number by which units are compared: it differs between two lanes of a warp
    instruction exactly where their units differ, by the same bits. It is the address, or its distance
    from a start that all lanes share. A start at any multiple of 1024, for example, carries into the
    address, and not into the distance.
    """

    address: Bits
    bits: tuple[Bit, ...]
    apart: Bits = ()
    below: Bits = ()

    def aligned(self, width_bytes: int) -> bool:
        """Whether the address is seen to be a multiple of a power of two of bytes."""
        return all(form == 0 for form in (*self.below, *self.address[: width_bytes.bit_length() - 1]))

    @property
    def bank(self) -> Bits:
        """The forms of the bank; bits beyond the address are 0."""
        padded = (*self.address, *(0,) * END_BANK_BIT)
        return padded[FIRST_BANK_BIT:END_BANK_BIT]

    def terms(self, form: Form) -> tuple[Bit, ...]:
        """The bits that a form XORs."""
        return tuple(bit for index, bit in enumerate(self.bits) if form >> (index + 1) & 1)

    def columns(self, variable: str) -> tuple[int, ...] | None:
        """The bits of `apart` that each bit of a variable flips; None where one of them has no form."""
        return self._flips(variable, self.apart)

    def line_columns(self, variable: str) -> tuple[int, ...] | None:
        """The bits of the address within a line of 128 bytes that each bit of a variable flips."""
        return self._flips(variable, self.address[:END_BANK_BIT])

    def _flips(self, variable: str, rows: Bits) -> tuple[int, ...] | None:
        found: list[int] = []
        for index, bit in enumerate(self.bits):
            if bit.variable != variable:
                continue
            column = 0
            for row, form in enumerate(rows):
                if form is None:
                    return None
                column |= (form >> (index + 1) & 1) << row
            found.append(column)
        return tuple(found)


def access_forms(access: Access) -> Forms:
    """The forms of a lane's byte address; bits that depend on lanes' own values have none."""
    numbering = VariableBits.of(access.variables)
    lowered = access.lowered
    roots = [lowered.position.bits]
    if _start_is_shared(access) and lowered.relative is not None:
        roots.append(lowered.relative.bits)
    found = affine_bits(roots, numbering)
    own = 0
    for node in access.own:
        own |= ((1 << node.width) - 1) << (numbering.first[node.name] + 1)
    low = (8 // access.unit_bits).bit_length() - 1
    known = [tuple(None if form is None or form & own else form for form in forms) for forms in found]
    named = [bit for node in access.variables for bit in _names(access, node)]
    return Forms(known[0][low:], tuple(named), known[-1][low:], known[0][:low])


def _start_is_shared(access: Access) -> bool:
    """Whether lanes need the same unit exactly if they are equally far from the stage's start.

    Then the start is at a whole unit and the same for all of them, and the swizzle of addresses moves
    whole units.
    """
    start, tile = access.lowered.start, access.tile
    if start is None or tile is None or access.place is not None:
        return False
    if any(node is access.lane or node in access.own for node in variables(start.bits)):
        return False
    unit = access.instruction.unit_bytes
    swizzle = tile.address_swizzle
    return start_step(tile) % unit == 0 and (swizzle is None or 1 << swizzle.base >= unit)


def _names(access: Access, node: Var) -> list[Bit]:
    for loop in access.loops:
        if loop.name == node.name:
            if isinstance(loop, ListedLoop):
                return [Bit(loop.name, bit, listed=True) for bit in range(node.width)]
            return stepped(loop.name, loop.start, loop.step, node.width)
    place = access.origin
    if node.name == place.name and place.variable is not None:
        return stepped("base", place.start_bytes, place.unit_bytes, node.width)
    return [Bit(node.name, bit) for bit in range(node.width)]


def stepped(name: str, start: int, step: int, width: int) -> list[Bit]:
    """The bits of the number of steps; where these are bits of the variable itself, those bits.

    >>> list(map(str, stepped("k", 0, 16, 2))), list(map(str, stepped("k", 3, 1, 2)))
    (['k[4]', 'k[5]'], ['(k-3)[0]', '(k-3)[1]'])
    """
    low = step.bit_length() - 1
    if step == 1 << low and start % (step << width) == 0:
        return [Bit(name, low + bit) for bit in range(width)]
    return [Bit(name, bit, start, step) for bit in range(width)]


def access_formulas(access: Access, forms: Forms) -> list[BankBit | Matrix | NotLinear]:
    """The formulas of the bank of a lane's first word, as a matrix too where all of them are known."""
    known = [(index, form) for index, form in enumerate(forms.bank) if form is not None]
    bits = (BankBit(index, forms.terms(form), form & 1) for index, form in known)
    return [*bits, matrix("access", access.name, forms, keep=[LANE])]


def matrix(of: Literal["access", "tile"], name: str, forms: Forms, keep: Collection[str]) -> Matrix | NotLinear:
    """The matrix of the bank's bits, or the bits that have no form.

    A column of zeros stays only if it belongs to a variable of `keep`.
    """
    missing = tuple(index for index, form in enumerate(forms.bank) if form is None)
    if missing:
        return NotLinear(of, name, missing)
    rows = [form for form in forms.bank if form is not None]
    places = [
        index
        for index, bit in enumerate(forms.bits)
        if bit.variable in keep or any(form >> (index + 1) & 1 for form in rows)
    ]
    entries = tuple(tuple(form >> (index + 1) & 1 for index in places) for form in rows)
    constants = tuple(form & 1 for form in rows)
    return Matrix(of, tuple(forms.bits[index] for index in places), entries, constants, _rank(entries))


def _rank(entries: Sequence[Sequence[int]]) -> int:
    return rank([sum(bit << place for place, bit in enumerate(row)) for row in entries])


def all_active(access: Access) -> bool:
    """Whether every lane whose address counts is active in every warp instruction."""
    few = access.instruction.address_lanes < LANES
    return access.lowered.active is TRUE or (few and access.predicate is None and access.threads % LANES == 0)
