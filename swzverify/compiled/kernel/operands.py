"""What the tensor core reads through matrix descriptors: each descriptor as an expression of 64 bits.

Source: PTX ISA 8.7, 9.7.15.5.2: wgmma.mma_async, its operands and immediates; 9.7.16.10.9: tcgen05.mma.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel.access import KernelAccess, blank
from swzverify.compiled.kernel.accesses import Reader
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.kernel.boxes import box_of, map_of
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.clusters import evaluate_in_some_block
from swzverify.compiled.kernel.descriptors import descriptors_of
from swzverify.compiled.kernel.divisions import Divisions
from swzverify.compiled.kernel.fills import (
    BULK_COPIES,
    BoxMoved,
    FillOperands,
    KernelFill,
    LoadedWords,
    Order,
    fill_operands,
    known_fill,
    loaded,
    with_divisions,
)
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.induction import by_trip
from swzverify.compiled.kernel.last_trips import behind_loops
from swzverify.compiled.kernel.leaves import TripsLeaf
from swzverify.compiled.kernel.listing import Touch, Use, use_of
from swzverify.compiled.kernel.reachable import is_state
from swzverify.compiled.kernel.repeats import Again
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.sums import Sums, Writers, sums_of, writers_of
from swzverify.compiled.kernel.tensor_memory import TensorSums, elected_of
from swzverify.compiled.kernel.tensor_products import product_operands
from swzverify.compiled.kernel.transfers import KernelTransfer, TransferOperands, brings_bytes, transfer_operands
from swzverify.compiled.ptx import Address, Function, Immediate, Instruction, Module, Operand, PtxError, Vector
from swzverify.hardware.tensor_cores import Family, Major, OperandRole, TensorInstruction, find_tensor_instruction
from swzverify.ir.expr import Var, const

SOME_USE: Final = Use(Touch.OTHER, "its values are read")
_SCALES = 6
"""Operands before the immediates that transpose: D, A, B, scale-d, imm-scale-a and imm-scale-b."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelOperand:
    """An operand that an instruction reads through a matrix descriptor.

    Attributes:
        access: The instruction; the `address` is the descriptor, of 64 bits. With a `reason` it is not known.
        instruction: The shape and the type; None if a value says them that is not known yet.
        role: A or B.
        major: Along which dimension elements lie side by side; None if the instruction does not say it.
        family: The family of the instruction.
        block: The basic block of the instruction.
        sums: The registers to which the product is added; None of a function that cannot be read.
        shape: The same instruction with the instruction descriptor as `address`; None of `wgmma`.
        elected: Predicates in the path condition that are true in one lane of each warp at most.
    """

    access: KernelAccess
    instruction: TensorInstruction | None
    role: OperandRole
    major: Major | None
    family: Family = Family.WGMMA
    block: int = -1
    sums: Sums | None = None
    shape: KernelAccess | None = None
    elected: frozenset[Var] = frozenset()

    @property
    def row(self) -> TensorInstruction:
        """The shape and the type.

        Raises:
            ValueError: They are not known.
        """
        if self.instruction is None:
            raise ValueError("the shape of the product is not known")
        return self.instruction


@dataclass(frozen=True, slots=True)
class OperandsRead:
    """What `read_operands` finds in a function.

    Attributes:
        operands: All operands in the order of the text.
        transfers: What announces bytes to barrier objects, and brings them.
        fills: What may write shared memory.
    """

    operands: tuple[KernelOperand, ...] = ()
    transfers: tuple[KernelTransfer, ...] = ()
    fills: tuple[KernelFill, ...] = ()


def operands(
    module: Module, function: Function, block: BlockShape | None = None, arguments: Arguments = NO_ARGUMENTS
) -> list[KernelOperand]:
    """All operands of a function that the tensor core reads through descriptors, in the order of the text.

    An operand A in registers or tensor memory is not among them.
    """
    return list(read_operands(module, function, block, arguments).operands)


def read_operands(
    module: Module, function: Function, block: BlockShape | None = None, arguments: Arguments = NO_ARGUMENTS
) -> OperandsRead:
    """The operands, and if there are some, what brings bytes to shared memory."""
    if function.problem is not None:
        return OperandsRead()
    block = block or function.required_threads
    whole = inlined(module, function)
    instructions = whole.function.instructions
    wanted: list[tuple[Instruction, Use, Operand]] = []
    roles: list[OperandRole] = []
    try:
        for each in instructions:
            use = use_of(each)
            if use is not None and use.touch is Touch.OPERAND:
                product = product_operands(each)
                for role, operand in descriptors_of(each) if product is None else product.descriptors:
                    wanted.append((each, use, operand))
                    roles.append(role)
        if not wanted:
            return OperandsRead()
        products = {each.index: of for each in instructions if (of := product_operands(each)) is not None}
        for index, of in products.items():
            wanted += [(instructions[index], SOME_USE, each) for each in (of.shape, of.sums)]
        fills = [(each, given) for each in instructions if (given := fill_operands(each)) is not None]
        if not arguments.boxes:
            # Where bulk copies fill operands, nothing is known of what these hold, and no address is needed.
            bulk = [(each, FillOperands(reason=of.reason)) for each, of in fills if of.reason in BULK_COPIES]
            fills = bulk or fills
    except PtxError:
        return OperandsRead()  # `accesses` says why the function cannot be read
    moved = [
        (each, transfer_operands(each))
        for each in instructions
        if transfer_operands(each) is not None or brings_bytes(each)
    ]
    for each, given in (*moved, *fills):
        wanted += [(each, SOME_USE, operand) for operand in (() if given is None else given.wanted)]
    reader: Reader | None = None
    try:
        reader = Reader(module, whole, block, arguments, evaluate_in_some_block)
        read = reader.read_values(wanted)
    except FlowError as error:
        reason = f"line {error.line}: {error}"
        read = [blank(each, use, reason, whole.calls[each.index]) for each, use, _ in wanted]
    rest = iter(read[len(roles) :])
    values = {index: (next(rest), next(rest)) for index in products}
    found = list(_described(reader, products, values, zip(wanted, roles, read, strict=False)))
    if reader is None:
        return OperandsRead(tuple(found))
    transfers = tuple(_transfer(reader, each, given, rest) for each, given in moved)
    return OperandsRead(tuple(found), transfers, tuple(read_fills(reader, fills, rest)))


def _described(
    reader: Reader | None,
    products: Container[int],
    values: Mapping[int, tuple[KernelAccess, KernelAccess]],
    read: Iterable[tuple[tuple[Instruction, Use, Operand], OperandRole, KernelAccess]],
) -> Iterator[KernelOperand]:
    """The operands with their descriptors; `values` has the instruction descriptor and D of each `tcgen05.mma`."""
    writers: Writers = {} if reader is None else writers_of(reader.slices)
    places = {index: place for index, (_, place) in values.items()}
    in_memory = None if reader is None else TensorSums(reader.slices, reader.forms, places)
    for (instruction, _, _), role, access in read:
        index = instruction.index
        place = -1 if reader is None else reader.slices.flow.block_of[index]
        if index in products:
            sums = None if in_memory is None else in_memory.of(index)
            elected = frozenset[Var]() if reader is None else elected_of(reader.slices, reader.forms, access)
            yield KernelOperand(access, None, role, None, Family.TCGEN05, place, sums, values[index][0], elected)
            continue
        row = find_tensor_instruction(instruction.opcode)
        own = access if reader is None else _of_groups(reader, access)
        of_registers = None if reader is None else sums_of(reader.slices, reader.forms, writers, instruction)
        yield KernelOperand(own, row, role, major_of(instruction, row, role), Family.WGMMA, place, of_registers)


def _of_groups(reader: Reader, access: KernelAccess) -> KernelAccess:
    """The same, where what loops decide is uniform only if all lanes of each warp group have one value.

    If they have it in launches alone in which all divisions have a result, this is assumed.
    """
    states, everywhere = reader.reachable, reader.reachable.in_groups
    leaves = [
        replace(leaf, uniform=leaf.uniform and everywhere.leaf(leaf.variable)) if isinstance(leaf, TripsLeaf) else leaf
        for leaf in access.leaves
    ]
    lost = [each for each in leaves if not each.uniform and (isinstance(each, TripsLeaf) or is_state(each))]
    if lost and reader.divisions:
        shared = states.in_launches(reader.divisions)
        told = {each for each in lost if all(map(shared.leaf, states.registers.get(each.variable, (each.variable,))))}
        if told:
            divisions = Divisions(reader.slices, reader.forms, access.site.index, reader.divisions)
            access = replace(access, assumes=(*access.assumes, *divisions.texts(all_known=True)))
            leaves = [replace(leaf, uniform=True) if leaf in told else leaf for leaf in leaves]
    return replace(access, leaves=tuple(leaves))


def read_fills(
    reader: Reader, fills: Sequence[tuple[Instruction, FillOperands]], values: Iterator[KernelAccess]
) -> Iterator[KernelFill]:
    """The writers with the values of their operands, in the order of `wanted`; loads are read in a second step."""
    flow, instructions = reader.slices.flow, reader.slices.function.instructions
    order = Order(flow)
    read: list[tuple[list[KernelAccess | None], list[KernelAccess], LoadedWords | None, BoxMoved | None]] = []
    masks: list[KernelAccess | None] = []
    for instruction, given in fills:
        parts = (given.destination, given.source, given.size)
        own = [None if each is None else with_divisions(next(values)) for each in parts]
        stored = [next(values) for _ in given.stored]
        coordinates = tuple(_behind_loops(reader, with_divisions(next(values))) for _ in given.coordinates)
        masks.append(None if given.mask is None else with_divisions(next(values)))
        words = loaded(stored, given.width_bytes) if given.width_bytes else None
        read.append((own, stored, words, _moved(reader, instruction, coordinates)))
    places = dict.fromkeys(load.index for _, _, load, _ in read if load is not None)
    addresses = {each: next(of for of in instructions[each].operands if isinstance(of, Address)) for each in places}
    wanted: list[tuple[Instruction, Use, Operand]] = [
        (instructions[each], SOME_USE, of) for each, of in addresses.items()
    ]
    loads = dict(zip(places, map(with_divisions, reader.read_values(wanted) if wanted else ()), strict=True))
    for (each, given), ((destination, source, size), stored, load, moved), mask in zip(fills, read, masks, strict=True):
        origin = source if load is None else loads[load.index]
        if load is not None and origin is not None and origin.address is not None:
            origin = replace(origin, address=add(origin.address, const(load.first, origin.address.width)))
        may_be_zero = load is not None and load.may_be_zero
        parts = destination, origin, size, moved, stored, mask
        is_of_block = reader.reachable.is_of_block
        yield known_fill(flow, order, each, given, *parts, may_be_zero=may_be_zero, is_of_block=is_of_block)


def _behind_loops(reader: Reader, access: KernelAccess) -> KernelAccess:
    """A coordinate in which the last trips of loops that the thread has left are put in."""
    around = {loop.header for loop in access.who.loops}
    left = {
        leaf.variable: _again(reader, leaf.block)
        for leaf in access.leaves
        if isinstance(leaf, TripsLeaf) and leaf.block not in around
    }
    if access.address is None or not left:
        return access
    return replace(access, address=behind_loops(access.address, left.get))


def _again(reader: Reader, header: int | None) -> Again | None:
    """The condition under which a loop goes on, if some access in it is read."""
    if header is None or not reader.repeats.is_asked(header):
        return None
    loop = reader.slices.flow.loop_at[header]
    return reader.repeats.again(loop, lambda value: by_trip(reader.slices, reader.forms.resolve(value)))


def _moved(reader: Reader, instruction: Instruction, coordinates: tuple[KernelAccess, ...]) -> BoxMoved | None:
    """The box that a tensor copy moves, if it is given."""
    box = box_of(reader.slices, instruction) if coordinates else None
    tensor_map = None if box is None else map_of(reader.slices, instruction)
    if box is None or tensor_map is None or len(box.extents) != len(coordinates):
        return None
    return BoxMoved(tensor_map, box, coordinates)


def _transfer(
    reader: Reader, instruction: Instruction, given: TransferOperands | None, values: Iterator[KernelAccess]
) -> KernelTransfer:
    """A transfer with the values of its operands, in the order of `wanted`."""
    place = reader.slices.flow.block_of[instruction.index]
    if given is None:
        return KernelTransfer(place, blank(instruction, SOME_USE), is_known=False)
    barrier, size = next(values), None if given.size is None else next(values)
    box = box_of(reader.slices, instruction)
    if box is not None:
        size = replace(blank(instruction, SOME_USE), reason="", address=const(box.size_bytes, 64))
    return KernelTransfer(place, barrier, size, next(values) if given.destination is not None else None)


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
