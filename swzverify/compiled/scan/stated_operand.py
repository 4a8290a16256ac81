"""What compiled code reads through a matrix descriptor, exactly: its fields, and the set of its start addresses.

Every start address that occurs is in the set. If something else is not known, there is a reason instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel import KernelOperand, operands
from swzverify.compiled.kernel.arithmetic import shift_right
from swzverify.compiled.kernel.descriptors import is_window
from swzverify.compiled.kernel.lanes import GROUP_THREADS
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.symbols import WINDOW_ALIGNED
from swzverify.compiled.ptx import Function, Module, Symbol
from swzverify.compiled.scan.claim import NEVER_MADE, ClaimVerdict
from swzverify.compiled.scan.given import Given, facts_of
from swzverify.compiled.scan.operand_claims import IN_WINDOW, reserved_bits
from swzverify.compiled.scan.operand_fields import OperandFields, Start, fields_of
from swzverify.compiled.scan.operand_judge import OperandJudge
from swzverify.compiled.scan.operand_offsets import Offsets
from swzverify.compiled.scan.operand_subject import OperandSubject
from swzverify.compiled.scan.stated import files_of
from swzverify.compiled.scan.unwrapped import NotWrittenError
from swzverify.compiled.scan.verdict import NoVerdictError
from swzverify.engines.obligations import Answer
from swzverify.hardware.tensor_cores import Family, Major, OperandRole
from swzverify.ir.expr import Comparison, compare, conjunction, const, variables
from swzverify.subjects.descriptor import Descriptor

_MOST_LISTED: Final = 12
_SPELLED: Final = {"start": "start address", "lbo": "LBO", "sbo": "SBO", "base_offset": "base offset"}


@dataclass(frozen=True, slots=True)
class StatedOperand:
    """An operand with the numbers of its descriptor.

    Attributes:
        line: The line of the instruction in the PTX.
        instruction: The shape and the type, as specs write them.
        major: Along which dimension elements lie side by side.
        descriptor: The fields but for the start address.
        symbol: The array of the start address.
        rounded: To which multiple the kernel rounds the start of the array up; 1 if it does not.
        multiple: What the place that offsets count from is a multiple of.
        offsets: For each warp group that may execute the instruction, all that its offset can be.
        assumed: What this takes for granted.
    """

    line: int
    instruction: str
    major: Major
    descriptor: Descriptor
    symbol: Symbol
    rounded: int
    multiple: int
    offsets: Offsets
    assumed: tuple[str, ...]


class OperandsOfCode:
    """The operands of `wgmma` of one kernel, each of which is judged when it is asked for."""

    def __init__(
        self, module: Module, function: Function, block: BlockShape, given: Given, smem: int | None = None
    ) -> None:
        """`smem` is the bytes of dynamic shared memory, if they are known."""
        self._facts = facts_of(function, given)
        self._block, self._smem = block, smem
        every = operands(module, function, block, self._facts.arguments)
        self.held: Sequence[KernelOperand] = [each for each in every if each.family is Family.WGMMA]
        self._found: dict[KernelOperand, StatedOperand] = {}

    def lines_of(self, instruction: str, role: OperandRole) -> list[int]:
        """The lines of the PTX with an operand of such an instruction, in order."""
        found = (each for each in self.held if each.role is role and each.row.name == instruction)
        return sorted({each.access.site.line for each in found})

    def lines_from(self, source: int, instruction: str, role: OperandRole) -> list[int]:
        """Those of them that come from a line of the source; for inlined code, lines of calls count too.

        Raises:
            NotWrittenError: Several source files have that line, or it has other shapes or types too.
        """
        there = [
            (each, files)
            for each in self.held
            if each.role is role and (files := files_of(each.access.site.location, source))
        ]
        if len({file for _, files in there for file in files}) > 1:
            raise NotWrittenError(f"several source files have operands at line {source}: give `line`, that of the PTX")
        if others := sorted({each.row.name for each, _ in there} - {instruction}):
            found = ", ".join(others)
            raise NotWrittenError(f"line {source} of the source has {found} too: give `line`, that of the PTX")
        return sorted({each.access.site.line for each, _ in there})

    def at(self, line: int, role: OperandRole) -> StatedOperand:
        """The operand of the instruction at a line of the PTX.

        Raises:
            NotWrittenError: The line has no operand of this role, or some part of it is not known. The text says which.
        """
        at_line = [each for each in self.held if each.access.site.line == line and each.role is role]
        if not at_line:
            if any(each.access.site.line == line for each in self.held):
                raise NotWrittenError(f"operand {role} is in registers, and has no descriptor")
            every = list(dict.fromkeys(each.access.site.line for each in self.held))
            words = ", ".join(map(str, every[:_MOST_LISTED])) + (", ..." if len(every) > _MOST_LISTED else "")
            raise NotWrittenError(f"no wgmma.mma_async; there are some at lines {words or 'none'}")
        if len(at_line) > 1:
            raise NotWrittenError(f"{len(at_line)} chains of calls lead to line {line}")
        (kernel,) = at_line
        if kernel not in self._found:
            try:
                self._found[kernel] = self._stated(kernel)
            except (NoVerdictError, ValueError) as error:
                raise NotWrittenError(f"the descriptor cannot be computed: {error}") from error
        return self._found[kernel]

    def _stated(self, kernel: KernelOperand) -> StatedOperand:
        # Each operand has a budget of its own: what is known of it does not depend on what was asked before.
        judge = OperandJudge(self._facts, self._block, self._smem)
        plain = judge.subject_of(kernel.access)
        access, major = plain.access, kernel.major
        subject = OperandSubject(access, plain.shape, plain.asker, plain.smem, kernel)
        if access.reason or access.address is None:
            raise NotWrittenError(access.reason or "the descriptor is not known")
        if not judge.is_made(subject):
            raise NotWrittenError(NEVER_MADE)
        fields, start = fields_of(subject, access.address)
        descriptor = _descriptor(fields)
        if start is None or major is None or start.base is None:
            raise NotWrittenError("the start address begins with no shared array")
        bits = reserved_bits(subject, access.address)
        if bits.verdict is not ClaimVerdict.PROVED:
            raise NotWrittenError(f"bits outside of the fields may not be 0: {bits.reason}")
        assumed = [*access.assumes, IN_WINDOW]
        if access.is_window_aligned or any(map(is_window, variables(access.address))):
            assumed.append(WINDOW_ALIGNED)
        return StatedOperand(
            access.site.line,
            kernel.row.name,
            major,
            descriptor,
            start.base.symbol,
            start.rounded,
            start.multiple,
            _offsets(subject, start, fields.start or ""),
            tuple(dict.fromkeys(assumed)),
        )


def _descriptor(fields: OperandFields) -> Descriptor:
    """The fields but for the start address.

    Raises:
        NotWrittenError: A field is not known.
    """
    for name, reason in fields.unknown.items():
        what = "not known" if name == "start" else "no known number"
        raise NotWrittenError(f"the {_SPELLED.get(name, name)} is {what}: {reason}")
    if fields.descriptor is None:
        raise NotWrittenError("a field of the descriptor is not known")
    return fields.descriptor


def _offsets(subject: OperandSubject, start: Start, words: str) -> Offsets:
    """All numbers that the offset can be, in each warp group of which some lane can execute the instruction.

    Raises:
        NotWrittenError: They are not known, or it is not known whether a warp group executes it.
    """
    if start.offsets is None:
        raise NotWrittenError(f"the start address {words} can be many numbers, or numbers that are not known")
    if len(start.offsets) == 1:
        return start.offsets  # some lane executes the instruction
    found = Offsets()
    for group, numbers in start.offsets.items():
        executes = _executes(subject, group)
        if executes is Answer.HOLDS:
            found[group] = numbers
        elif executes is not Answer.EMPTY:
            raise NotWrittenError(f"whether warp group {group} executes it is not decided within the budget")
    return found


def _executes(subject: OperandSubject, group: int) -> Answer:
    """Whether the path condition can hold in some lane of a warp group."""
    here, lane = subject.here, subject.here.lane()
    number = shift_right(lane.number, const(GROUP_THREADS.bit_length() - 1, lane.number.width), signed=False)
    is_there = compare(Comparison.EQ, number, const(group, number.width))
    path = here.makes(const(0, 1), with_loops=False)
    return here.asker.never(conjunction([*map(lane.of, path), is_there])).possible
