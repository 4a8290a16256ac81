"""What the tensor core reads through matrix descriptors: each descriptor as an expression of 64 bits.

Source: PTX ISA 8.7, 9.7.15.5.2: wgmma.mma_async, its operands and immediates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from swzverify.compiled.kernel.access import KernelAccess, blank
from swzverify.compiled.kernel.accesses import Reader
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.flow import Flow, FlowError
from swzverify.compiled.kernel.listing import Touch, Use, use_of
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.transfers import KernelTransfer, brings_bytes, transfer_operands
from swzverify.compiled.ptx import Function, Immediate, Instruction, Module, Operand, PtxError, Vector
from swzverify.hardware.tensor_cores import Major, OperandRole, TensorInstruction, find_tensor_instruction

_SOME_USE = Use(Touch.OTHER, "its values are read")
_SCALES = 6
"""Operands before the immediates that transpose: D, A, B, scale-d, imm-scale-a and imm-scale-b."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelOperand:
    """An operand that an instruction reads through a matrix descriptor.

    Attributes:
        access: The instruction; the `address` is the descriptor, of 64 bits. With a `reason` it is not known.
        instruction: The shape and the type.
        role: A or B.
        major: Along which dimension elements lie side by side; None if the immediates do not say it.
    """

    access: KernelAccess
    instruction: TensorInstruction
    role: OperandRole
    major: Major | None


def operands(
    module: Module, function: Function, block: BlockShape | None = None, arguments: Arguments = NO_ARGUMENTS
) -> list[KernelOperand]:
    """All operands of a function that `wgmma.mma_async` reads from shared memory, in the order of the text.

    An operand A in registers is not among them.
    """
    return operands_and_transfers(module, function, block, arguments)[0]


def operands_and_transfers(
    module: Module, function: Function, block: BlockShape | None = None, arguments: Arguments = NO_ARGUMENTS
) -> tuple[list[KernelOperand], list[KernelTransfer]]:
    """The operands, and if there are some, what announces bytes to barrier objects and brings them."""
    if function.problem is not None:
        return [], []
    block = block or function.required_threads
    whole = inlined(module, function)
    wanted: list[tuple[Instruction, Use, Operand]] = []
    roles: list[OperandRole] = []
    try:
        for each in whole.function.instructions:
            use = use_of(each)
            if use is not None and use.touch is Touch.OPERAND:
                for role, operand in zip(OperandRole, each.operands[1:3], strict=True):
                    if role is OperandRole.B or not isinstance(operand, Vector):
                        wanted.append((each, use, operand))
                        roles.append(role)
    except PtxError:
        return [], []  # `accesses` says why the function cannot be read
    if not wanted:
        return [], []
    moved = [
        (each, transfer_operands(each))
        for each in whole.function.instructions
        if transfer_operands(each) is not None or brings_bytes(each)
    ]
    for each, given in moved:
        wanted += [(each, _SOME_USE, operand) for operand in (() if given is None else given.wanted)]
    flow: Flow | None = None
    try:
        reader = Reader(module, whole.function, block, arguments)
        read, flow = reader.read_values(wanted), reader.slices.flow
    except FlowError as error:
        reason = f"line {error.line}: {error}"
        read = [replace(blank(each, use), reason=reason) for each, use, _ in wanted]
    read = [replace(access, calls=whole.calls[each.index]) for (each, _, _), access in zip(wanted, read, strict=True)]
    found: list[KernelOperand] = []
    for (instruction, _, _), role, access in zip(wanted, roles, read, strict=False):
        row = find_tensor_instruction(instruction.opcode)
        found.append(KernelOperand(access, row, role, major_of(instruction, row, role)))
    transfers, rest = list[KernelTransfer](), iter(read[len(roles) :])
    for each, given in moved if flow is not None else []:
        place = flow.block_of[each.index] if flow is not None else 0
        if given is None:
            transfers.append(KernelTransfer(place, blank(each, _SOME_USE), is_known=False))
        else:
            barrier, size = next(rest), None if given.size is None else next(rest)
            transfers.append(
                KernelTransfer(place, barrier, size, next(rest) if given.destination is not None else None)
            )
    return found, transfers


def major_of(instruction: Instruction, row: TensorInstruction, role: OperandRole) -> Major | None:
    """The major-ness, from the last immediates: one for each operand in shared memory."""
    if row.element not in row.family.mn_major_types:
        return Major.K
    has_both = not isinstance(instruction.operands[1], Vector)
    flags = instruction.operands[_SCALES:]
    if len(flags) != 1 + has_both:
        return None
    flag = flags[0 if role is OperandRole.A else -1]
    if not isinstance(flag, Immediate) or flag.value not in (0, 1):
        return None
    return Major.MN if flag.value else Major.K
