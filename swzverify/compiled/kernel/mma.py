"""Where the operands of `mma.sync` come from: each part of each register, from bytes that a load of shared memory read.

Source: docs/semantics.md, section 9, "Fragments of a compiled kernel".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.access import KernelAccess, blank
from swzverify.compiled.kernel.accesses import Reader
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.fills import KernelFill, Order, fill_operands, with_divisions
from swzverify.compiled.kernel.flow import FlowError, base_name
from swzverify.compiled.kernel.leaves import OpaqueLeaf
from swzverify.compiled.kernel.listing import Touch, use_of
from swzverify.compiled.kernel.operands import SOME_USE, read_fills
from swzverify.compiled.kernel.slices import Carried
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.kernel.values import word_of
from swzverify.compiled.ptx import Address, Function, Instruction, Module, Operand, PtxError, Vector, size_of_type
from swzverify.errors import SwzError
from swzverify.hardware.fragments import CELL_BYTES, GROUP_LANES, GROUP_ROWS, REGISTER_BYTES, Mma, find_mma
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import Binary, BinaryOperator, Const, Expr, Extend, Extract, Ite, Var, const, postorder

_MADE_BY: Final = re.compile(r": (\d+)\.(\d+)\.(\d+)$")
"""The end of the name of a value that an instruction makes: its place, which of its results, and its bits."""
_MATRICES: Final = re.compile(r"ldmatrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?(?:\.shared(?:::cta)?)?\.b16")
_ADDENDS: Final = 3
"""The place of the operand C."""
Lanes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Origin:
    """A byte that a lane gets from a load of shared memory.

    Attributes:
        load: The place of the load in the function.
        byte: The byte, counted over all registers of the load.
        before: The header of the loop in whose trip before the load was executed; None if it is the same trip.
    """

    load: int
    byte: int
    before: int | None = None


Way: TypeAlias = tuple[Origin, ...]
"""For each part of each register, the first byte that it comes from."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelFragment:
    """An operand that an `mma.sync` reads from registers.

    Attributes:
        access: The instruction. With a `reason` of its own it is not executed.
        instruction: The shape and the type.
        role: A or B.
        block: The basic block of the instruction.
        sums: The registers to which the product is added.
        ways: How its registers may have been loaded: in the first trip of the loop `loop` and in later ones, or
            one way for all trips.
        loop: The header of the loop whose trips decide that; None if there is one way.
        reason: Why its registers are not followed to loads of shared memory.
        is_computed: Whether some register surely holds something else than what shared memory holds.
    """

    access: KernelAccess
    instruction: Mma
    role: OperandRole
    block: int
    sums: Sums
    ways: tuple[Way, ...] = ()
    loop: int | None = None
    reason: str = ""
    is_computed: bool = False


@dataclass(frozen=True, eq=False)
class FragmentLoad:
    """A load of shared memory that fills fragments.

    Attributes:
        access: The load, with the address of each lane as its `address`, of 64 bits.
        block: Its basic block.
    """

    access: KernelAccess
    block: int

    @cached_property
    def _matrix(self) -> re.Match[str] | None:
        return _MATRICES.fullmatch(self.access.site.opcode)

    def source(self, lane: Lanes, byte: int) -> tuple[Lanes, Lanes]:
        """The lane whose address says where a byte of a lane's registers lies, and the byte in that lane's range.

        Source: docs/semantics.md, section 9, "What a load puts where".
        """
        if self._matrix is None:
            return lane, np.full_like(lane, byte)
        register, inside = divmod(byte, REGISTER_BYTES)
        if self._matrix[2]:
            row = GROUP_ROWS * register + CELL_BYTES * (lane % GROUP_LANES) + inside // CELL_BYTES
            return row, CELL_BYTES * (lane // GROUP_LANES) + inside % CELL_BYTES
        return GROUP_ROWS * register + lane // GROUP_LANES, REGISTER_BYTES * (lane % GROUP_LANES) + inside


@dataclass(frozen=True, slots=True)
class FragmentsRead:
    """What `read_fragments` finds in a function.

    Attributes:
        fragments: The operands A and B of each `mma.sync`, in the order of the text.
        loads: The loads of shared memory that fill them, by their places in the function.
        fills: What may write shared memory before one of these loads.
    """

    fragments: tuple[KernelFragment, ...] = ()
    loads: Mapping[int, FragmentLoad] = field(default_factory=dict[int, FragmentLoad])
    fills: tuple[KernelFill, ...] = ()


def read_fragments(
    module: Module, function: Function, block: BlockShape | None = None, arguments: Arguments = NO_ARGUMENTS
) -> FragmentsRead:
    """The operands of all `mma.sync`, and what brings bytes to the shared memory from which they are loaded."""
    if function.problem is not None:
        return FragmentsRead()
    block = block or function.required_threads
    whole = inlined(module, function)
    instructions = whole.function.instructions
    products = [(each, row) for each in instructions if (row := _mma_of(each)) is not None]
    if not products:
        return FragmentsRead()
    try:
        reader = Reader(module, whole, block, arguments)
        found = list(_Followed(reader, products).fragments())
        places = sorted({origin.load for each in found for way in each.ways for origin in way})
        flow = reader.slices.flow
        order = Order(flow)
        fills = [
            (each, given)
            for each in instructions
            if (given := fill_operands(each)) is not None
            and any(order.may_precede(each.index, place) for place in places)
        ]
        # Whether some thread executes a product is asked once for all that have one guard in one basic block.
        ways_to: dict[object, Instruction] = {}
        for each, _ in products:
            ways_to.setdefault(_way_to(reader, each), each)
        wanted = [(instructions[place], SOME_USE, _address_of(instructions[place])) for place in places]
        wanted += [(each, SOME_USE, each.operands[0]) for each in ways_to.values()]
        wanted += [(each, SOME_USE, operand) for each, given in fills for operand in given.wanted]
        read = iter(reader.read_values(wanted, together=len(places)))
        loads = {place: next(read) for place in places}
        made = {key: next(read) for key in ways_to}
        filled = tuple(read_fills(reader, fills, read))
    except (FlowError, PtxError):
        return FragmentsRead()  # `accesses` says why the function cannot be read
    of_guards = ((each, made[_way_to(reader, instructions[each.access.site.index])]) for each in found)
    return FragmentsRead(
        tuple(replace(each, access=_at(each.access, alike)) for each, alike in of_guards),
        {place: FragmentLoad(with_divisions(access), flow.block_of[place]) for place, access in loads.items()},
        filled,
    )


def _at(own: KernelAccess, alike: KernelAccess) -> KernelAccess:
    """An instruction with what is known of one that the same lanes execute."""
    return replace(alike, site=replace(own.site, calls=alike.site.calls), address=None)


def _mma_of(instruction: Instruction) -> Mma | None:
    """The shape and the type of an `mma.sync`; None if it is none, or its fragments are not modelled.

    `.satfinite` changes the sums alone.
    """
    if not instruction.opcode.startswith("mma.sync."):
        return None
    try:
        return find_mma(instruction.opcode.replace(".satfinite", ""))
    except SwzError:
        return None


def _way_to(reader: Reader, instruction: Instruction) -> tuple[int, object]:
    return reader.slices.flow.block_of[instruction.index], instruction.guard and instruction.index


def _address_of(load: Instruction) -> Operand:
    return next(each for each in load.operands if isinstance(each, Address))


class _Followed:
    """Follows the registers of the products of one function."""

    def __init__(self, reader: Reader, products: Sequence[tuple[Instruction, Mma]]) -> None:
        self._slices, self._products = reader.slices, products
        self._places = {each.index for each, _ in products}

    def fragments(self) -> Iterator[KernelFragment]:
        """All operands."""
        sums = self._sums()
        known: dict[tuple[object, ...], tuple[tuple[Way, ...], int | None] | tuple[str, bool]] = {}
        for each, row in self._products:
            block = self._slices.flow.block_of[each.index]
            both: list[KernelFragment] = []
            for place, role in enumerate(OperandRole, start=1):
                values = tuple(self._registers(each, place))
                key = values, block, row.element_bytes
                if key not in known:
                    known[key] = self._followed(values, block, row.element_bytes)
                ways, more = known[key]
                made = KernelFragment(blank(each, SOME_USE), row, role, block, sums[each.index])
                if len(values) != row.registers(role):
                    ways, more = "it has another number of registers than its shape", False
                if isinstance(ways, str):
                    both.append(replace(made, reason=ways, is_computed=bool(more)))
                else:
                    both.append(replace(made, ways=ways, loop=more))
            # Where the first trip of a loop decides how one operand was loaded, it is the first trip for both.
            loops = {one.loop for one in both if one.ways} - {None}
            for one in both:
                is_split = len(loops) == 1 and one.ways and one.loop is None
                yield replace(one, ways=one.ways * 2, loop=next(iter(loops))) if is_split else one

    # ---- registers

    def _followed(
        self, values: Sequence[Expr], block: int, size: int
    ) -> tuple[tuple[Way, ...], int | None] | tuple[str, bool]:
        """The ways in which registers with some values were loaded; or why that is not known.

        With a reason stands whether some register surely holds something else than what shared memory holds.
        """
        parts = [(value, byte) for value in values for byte in range(0, REGISTER_BYTES, size)]
        found = [self._bits(value, 8 * byte, 8 * size) for value, byte in parts]
        carried = [self._slices.carried.get(each[0]) if isinstance(each, tuple) else None for each in found]
        loops = {each.loop.header for each in carried if each is not None}
        if len(loops) > 1:
            return "its registers change from trip to trip of several loops", False
        ways: list[Way] = []
        for is_later in (False, True) if loops else (False,):
            origins: list[Origin] = []
            for part, register in zip(found, carried, strict=True):
                origin = self._origin(part, register, block, size, is_later=is_later)
                if isinstance(origin, tuple):
                    reason, is_computed = origin
                    return reason, is_computed and not loops
                origins.append(origin)
            ways.append(tuple(origins))
        return tuple(ways), next(iter(loops), None)

    def _origin(
        self, part: Expr | tuple[Var, int], register: Carried | None, block: int, size: int, *, is_later: bool
    ) -> Origin | tuple[str, bool]:
        """Where a part of a register comes from, in the first trip of the loop that changes it or in later ones."""
        if register is not None and isinstance(part, tuple):
            value = register.after if is_later else register.before
            part = self._bits(value, part[1], 8 * size)
        if not isinstance(part, tuple):
            if isinstance(part, Const):
                return "some of its registers are numbers", True
            if any(isinstance(each, Ite) for each in postorder(part)):
                return "which load filled its registers depends on the path", False
            return "some of its registers are computed", True
        variable, low = part
        leaf = self._slices.leaves[variable]
        made = _MADE_BY.search(variable.name)
        if not isinstance(leaf, OpaqueLeaf) or made is None:
            return f"its registers are not followed: {leaf.reason} (line {leaf.line})", False
        instruction = self._slices.function.instructions[int(made[1])]
        use = use_of(instruction)
        name = base_name(instruction)
        if name not in ("ld", "ldmatrix") or use is None or use.touch not in (Touch.SHARED, Touch.GENERIC):
            verb = "loaded from elsewhere" if name in ("ld", "ldu") else "computed"
            return f"some of its registers are {verb}: `{instruction.opcode}` at line {leaf.line}", True
        return self._of_load(instruction, int(made[2]), low // 8, register if is_later else None, block, size)

    def _of_load(
        self, load: Instruction, register: int, byte: int, late: Carried | None, block: int, size: int
    ) -> Origin | tuple[str, bool]:
        flow = self._slices.flow
        where = f"`{load.opcode}` at line {load.line}"
        around = {each.header for each in flow.around(block)}
        if not {each.header for each in flow.around(flow.block_of[load.index])} <= around:
            return f"{where} is in a loop that the product is not in", False
        matrix = _MATRICES.fullmatch(load.opcode)
        if base_name(load) == "ldmatrix":
            if matrix is None:
                return f"what {where} puts where is not modelled", False
            if matrix[2] and size > CELL_BYTES:
                return f"{where} puts halves of two elements into one register", False
            return Origin(load.index, register * REGISTER_BYTES + byte, None if late is None else late.loop.header)
        each = size_of_type(load.opcode.rpartition(".")[2])
        if not each:
            return f"what {where} puts where is not modelled", False
        return Origin(load.index, register * each + byte, None if late is None else late.loop.header)

    def _bits(self, value: Expr, low: int, width: int) -> Expr | tuple[Var, int]:
        """Some bits of a value: bits of a variable, from one on; or what they are instead."""
        while True:
            match value:
                case Extract():
                    value, low = value.operand, low + value.low
                case Extend(operand) if low + width <= operand.width:
                    value = operand
                case Extend(operand, _, signed) if low >= operand.width and not signed:
                    return const(0, width)
                case Binary(BinaryOperator.SHL, left, Const(by)):
                    if low + width <= by:
                        return const(0, width)
                    if low < by:
                        return value
                    value, low = left, low - by
                case Binary(BinaryOperator.LSHR, left, Const(by)) if low + by + width <= value.width:
                    value, low = left, low + by
                case Binary(BinaryOperator.OR, left, right):
                    sides = [self._bits(each, low, width) for each in (left, right)]
                    other = [each for each in sides if not (isinstance(each, Const) and each.value == 0)]
                    return other[0] if len(other) == 1 else value if other else sides[0]
                case Var():
                    return value, low
                case _:
                    return value

    # ---- sums

    def _sums(self) -> dict[int, Sums]:
        """The sums of each product, by the first one of its basic block that adds to them."""
        flow, slices = self._slices.flow, self._slices
        addends = {each.index: self._registers(each, _ADDENDS) for each, _ in self._products}
        roots: dict[int, int] = {}
        for index, values in addends.items():
            before = self._product(values)
            is_here = before in roots and flow.block_of[before] == flow.block_of[index]
            roots[index] = roots[before] if is_here and before is not None else index
        found: dict[int, Sums] = {}
        for root in dict.fromkeys(roots.values()):
            carried = [slices.carried.get(each) if isinstance(each, Var) else None for each in addends[root]]
            headers = {None if each is None else each.loop.header for each in carried}
            last = self._product([each.after for each in carried if each is not None])
            is_carried = len(headers) == 1 and last is not None and roots.get(last) == root
            found[root] = Sums(root, (), 0, 0, frozenset(each for each in headers if each is not None and is_carried))
        return {index: found[root] for index, root in roots.items()}

    def _registers(self, product: Instruction, place: int) -> list[Expr]:
        operand = product.operands[place]
        items = operand.items if isinstance(operand, Vector) else (operand,)
        return [self._slices.run(word_of(self._slices, each, product)) for each in items]

    def _product(self, values: Sequence[Expr]) -> int | None:
        """The place of the product that some values are all results of, in order; None if it is none."""
        found: set[int | None] = set()
        for at, value in enumerate(values):
            made = _MADE_BY.search(value.name) if isinstance(value, Var) else None
            is_product = made is not None and int(made[1]) in self._places and int(made[2]) == at
            found.add(int(made[1]) if made is not None and is_product else None)
        return next(iter(found)) if len(found) == 1 else None
