"""Listings of machine code, for the claims on register banks.

A listing says which registers each instruction reads through the operand reuse cache, and what the
cache holds. This is the plain definition; docs/semantics.md, section 8, has it in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from swzverify.errors import SwzError
from swzverify.hardware.register_banks import REGISTERS, RegisterBanks, register_banks
from swzverify.ir.whole import keep_whole, required
from swzverify.subjects.loop import own_tuple

SLOTS = (2, 3, 4)
"""The operand slots, by the place of the operand in `FFMA R0, R4, R5, R0`, whose destination is 1."""


class Work(StrEnum):
    """What an instruction has to do with the reuse cache.

    - `ARITHMETIC` reads its registers through the cache, and may keep some there.
    - `OTHER` reads them otherwise: memory instructions, conversions, special functions. Its cycles are
      not counted.
    - `CONTROL` may go elsewhere, or let other warps run.
    - `CALL` runs code that the listing does not show.
    - `UNKNOWN` is not understood; `why` says what.
    """

    ARITHMETIC = "arithmetic"
    OTHER = "other"
    CONTROL = "control"
    CALL = "call"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RegisterRead:
    """One register operand: its slot, None where it is not known, and whether it is marked `.reuse`."""

    register: int
    slot: int | None
    reuse: bool = False

    def __post_init__(self) -> None:
        keep_whole(self, "a register operand", "register", optional=("slot",))

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots in which it may be read."""
        return SLOTS if self.slot is None else (self.slot,)


@dataclass(frozen=True, slots=True)
class ListedInstruction:
    """One instruction of a listing, at a line of it.

    Attributes:
        line: The line.
        text: The text of the instruction.
        work: Its class.
        reads: The registers of an arithmetic instruction, and the marked ones of an instruction that is
            not understood; RZ is none.
        writes: The registers that it writes.
        predicated: Whether it may not run.
        joined: Whether control may come here from elsewhere.
        yields: Whether the control code asks for another warp after it.
        why: Why it is not understood.
    """

    line: int
    text: str
    work: Work
    reads: tuple[RegisterRead, ...] = ()
    writes: tuple[int, ...] = ()
    predicated: bool = False
    joined: bool = False
    yields: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        owner = f"the instruction at line {self.line}"
        if not isinstance(self.work, Work):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            message = f"{owner}: {self.work!r} ({type(self.work).__name__}) is no Work"
            raise SwzError("SWZ105", message, hint="Work.ARITHMETIC, or another one of its kinds")
        object.__setattr__(self, "reads", own_tuple(owner, "reads", self.reads))
        writes = own_tuple(owner, "writes", self.writes)
        object.__setattr__(self, "writes", tuple(required(each, f"{owner}: a register") for each in writes))


@dataclass(frozen=True, slots=True)
class Held:
    """The contents of the slots before an instruction.

    `surely` has at most one register for each slot; `perhaps` has all that the slots may hold.
    """

    surely: tuple[tuple[int, int], ...]
    perhaps: frozenset[tuple[int, int]]

    def in_slot(self, slot: int) -> tuple[int | None, tuple[int, ...]]:
        """The register that a slot surely holds, and those that it may hold besides."""
        sure = dict(self.surely).get(slot)
        return sure, tuple(sorted(each for at, each in self.perhaps if at == slot and each != sure))


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The extra cycles of an instruction, from `least` to `most`.

    `held` is what the slots held before it. `most` is None if the instruction is not understood.
    """

    most: int | None
    least: int
    held: Held


@dataclass(frozen=True, eq=False)
class Listing:
    """A listing of machine code for a target.

    Raises:
        SwzError: SWZ105 for registers that do not exist, SWZ408 for a target whose register banks are
            not known.

    >>> def ffma(line, c, a, b, *marks):
    ...     reads = (RegisterRead(a, 2, 2 in marks), RegisterRead(b, 3, 3 in marks), RegisterRead(c, 4))
    ...     return ListedInstruction(line, f"FFMA R{c}, R{a}, R{b}, R{c}", Work.ARITHMETIC, reads, (c,))
    >>> Listing("one", "sm_52", (ffma(1, 0, 4, 5),)).most
    1
    >>> Listing("two", "sm_52", (ffma(1, 2, 4, 5, 2), ffma(2, 0, 4, 5))).most
    0
    """

    name: str
    target: str
    instructions: tuple[ListedInstruction, ...]

    def __post_init__(self) -> None:
        _ = self.banks
        object.__setattr__(self, "instructions", own_tuple(f"listing {self.name}", "instructions", self.instructions))
        for each in self.instructions:
            numbers = [*(read.register for read in each.reads), *each.writes]
            if any(not 0 <= number < REGISTERS for number in numbers):
                raise SwzError("SWZ105", f"listing {self.name}, line {each.line}: registers are R0 to R254, and RZ")
            slots = [read.slot for read in each.reads if read.slot is not None]
            if len(set(slots)) < len(slots) or not set(slots) <= set(SLOTS) or len(each.reads) > len(SLOTS):
                raise SwzError("SWZ105", f"listing {self.name}, line {each.line}: an instruction has the slots {SLOTS}")

    @property
    def origin(self) -> None:
        """A listing lies at no address."""
        return

    @cached_property
    def banks(self) -> RegisterBanks:
        """The register banks of the target."""
        return register_banks(self.target)

    @cached_property
    def counted(self) -> tuple[Conflicts, ...]:
        """What each instruction costs, from the first to the last."""
        return tuple(_count(self.instructions, self.banks))

    @property
    def most(self) -> int | None:
        """The conflicts of the listing at most; None where an instruction is not understood."""
        if any(each.most is None for each in self.counted):
            return None
        return sum(each.most or 0 for each in self.counted)

    @property
    def least(self) -> int:
        """The conflicts of the listing at least."""
        return sum(each.least for each in self.counted)


def _count(instructions: tuple[ListedInstruction, ...], banks: RegisterBanks) -> list[Conflicts]:
    """Run through the listing, from an empty cache."""
    marked = (
        _EVERY
        if any(_may_keep_anything(each) for each in instructions)
        else frozenset(
            (slot, read.register) for each in instructions for read in each.reads if read.reuse for slot in read.slots
        )
    )
    sure: dict[int, int] = {}
    perhaps: frozenset[tuple[int, int]] = frozenset()
    found: list[Conflicts] = []
    for each in instructions:
        if each.joined:
            sure, perhaps = {}, perhaps | marked
        held = Held(tuple(sorted(sure.items())), perhaps)
        if each.work is Work.ARITHMETIC:
            most = [read.register for read in each.reads if read.slot is None or sure.get(read.slot) != read.register]
            least = [
                read.register for read in each.reads if not any((slot, read.register) in perhaps for slot in read.slots)
            ]
            found.append(Conflicts(banks.extra_cycles(most), banks.extra_cycles(least), held))
        else:
            found.append(Conflicts(None if each.work is Work.UNKNOWN else 0, 0, held))
        sure, perhaps = _after(each, sure, perhaps, banks)
    return found


_EVERY = frozenset((slot, register) for slot in SLOTS for register in range(REGISTERS))


def _may_keep_anything(each: ListedInstruction) -> bool:
    """Whether an instruction that is not understood has a reuse mark.

    Its operand may consist of several registers.
    """
    return each.work is Work.UNKNOWN and any(read.reuse for read in each.reads)


def _after(
    each: ListedInstruction, sure: dict[int, int], perhaps: frozenset[tuple[int, int]], banks: RegisterBanks
) -> tuple[dict[int, int], frozenset[tuple[int, int]]]:
    """What the slots hold after an instruction."""
    if each.work is Work.CALL or _may_keep_anything(each):
        return {}, _EVERY
    if each.work is Work.OTHER and banks.others_keep_reuse:
        kept = dict(sure)
    elif each.work is Work.ARITHMETIC and not each.predicated:
        kept = {read.slot: read.register for read in each.reads if read.slot is not None and read.reuse}
        perhaps -= {(read.slot, read.register) for read in each.reads if read.slot is not None and not read.reuse}
    else:
        kept = {}
    if each.yields:
        kept = {}
    kept = {slot: register for slot, register in kept.items() if register not in each.writes}
    perhaps |= {(slot, read.register) for read in each.reads if read.reuse for slot in read.slots}
    return kept, perhaps
