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
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.operands import SOME_USE, read_fills
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.kernel.values import word_of
from swzverify.compiled.kernel.ways import MADE_BY, MATRICES, NotLoadedError, Way, Ways
from swzverify.compiled.ptx import Address, Function, Instruction, Module, Operand, PtxError, Vector
from swzverify.errors import SwzError
from swzverify.hardware.fragments import CELL_BYTES, GROUP_LANES, GROUP_ROWS, REGISTER_BYTES, Mma, find_mma
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import Const, Expr, Ite, Var

_ADDENDS: Final = 3
"""The place of the operand C."""
_MOST_CONDITIONS: Final = 2
"""Conditions by which all operands of one basic block are looked at one after the other."""
Lanes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KernelFragment:
    """An operand that an `mma.sync` reads from registers.

    Attributes:
        access: The instruction. With a `reason` of its own it is not executed.
        instruction: The shape and the type.
        role: A or B.
        block: The basic block of the instruction.
        sums: The registers to which the product is added.
        ways: How its registers may have been loaded.
        reason: Why its registers are not followed to loads of shared memory.
        is_computed: Whether some register surely holds something else than what shared memory holds.
    """

    access: KernelAccess
    instruction: Mma
    role: OperandRole
    block: int
    sums: Sums
    ways: tuple[Way, ...] = ()
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
        return MATRICES.fullmatch(self.access.site.opcode)

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
        places = sorted({origin.load for each in found for way in each.ways for origin in way.origins})
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
        self._slices, self._products, self._ways = reader.slices, products, Ways(reader.slices)
        self._places = {each.index for each, _ in products}

    def fragments(self) -> Iterator[KernelFragment]:
        """All operands; the operands of one basic block have ways by the same conditions."""
        found = [*self._alone()]
        conditions: dict[int, dict[Expr, None]] = {}
        for each in found:
            of_block = conditions.setdefault(each.block, {})
            of_block.update({condition: None for way in each.ways for condition, _ in way.conditions})
        for each in found:
            own = each.ways
            for condition in conditions[each.block] if len(conditions[each.block]) <= _MOST_CONDITIONS else ():
                own = tuple(part for way in own for part in self._ways.split(way, condition))
            yield each if own == each.ways else replace(each, ways=own)

    def _alone(self) -> Iterator[KernelFragment]:
        sums = self._sums()
        known: dict[tuple[object, ...], tuple[Way, ...] | NotLoadedError] = {}
        for each, row in self._products:
            block = self._slices.flow.block_of[each.index]
            both: list[KernelFragment] = []
            for place, role in enumerate(OperandRole, start=1):
                values = tuple(self._registers(each, place))
                key = values, block, row.element_bytes
                if key not in known:
                    known[key] = self._followed(*key)
                found = known[key]
                if len(values) != row.registers(role):
                    found = NotLoadedError("it has another number of registers than its shape")
                made = KernelFragment(blank(each, SOME_USE), row, role, block, sums[each.index])
                if isinstance(found, NotLoadedError):
                    both.append(replace(made, reason=found.reason, is_computed=found.is_computed))
                else:
                    both.append(replace(made, ways=found))
            # Where the first trip of a loop decides how one operand was loaded, it is the first trip for both.
            loops = {way.loop for one in both for way in one.ways if way.loop is not None}
            for one in both:
                if len(loops) == 1 and one.ways and all(way.loop is None for way in one.ways):
                    split = [way.in_trips(next(iter(loops))) for way in one.ways]
                    yield replace(one, ways=tuple(way for each in split for way in each))
                else:
                    yield one

    def _followed(self, values: Sequence[Expr], block: int, size: int) -> tuple[Way, ...] | NotLoadedError:
        try:
            return self._ways.of(values, block, size)
        except NotLoadedError as found:
            return found

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
        direct = {root: self._adds_to(addends[root], roots) for root in roots.values()}
        for root in direct:
            carried = [slices.carried.get(each) if isinstance(each, Var) else None for each in addends[root]]
            headers = {None if each is None else each.loop.header for each in carried}
            last = self._product([each.after for each in carried if each is not None])
            is_carried = len(headers) == 1 and last is not None and roots.get(last) == root
            loops = frozenset(each for each in headers if each is not None and is_carried)
            before = closure((root,), lambda each: direct[each] or ())
            earlier = None if any(direct[each] is None for each in before) else frozenset(before) - {root}
            found[root] = Sums(root, (), 0, 0, loops, self._kept(root, addends), earlier)
        return {index: found[root] for index, root in roots.items()}

    def _adds_to(self, addends: Sequence[Expr], roots: Mapping[int, int]) -> frozenset[int] | None:
        """The roots of the products whose results a product may add to, in any trip; None if they are not known."""
        carried = self._slices.carried

        def parts(value: Expr) -> tuple[Expr, ...]:
            if isinstance(value, Var) and value in carried:
                return carried[value].before, carried[value].after
            return (value.then, value.otherwise) if isinstance(value, Ite) else ()

        ends = [each for each in closure(addends, parts) if not parts(each) and not isinstance(each, Const)]
        found = [MADE_BY.search(each.name) if isinstance(each, Var) else None for each in ends]
        products = [int(each[1]) for each in found if each is not None and int(each[1]) in self._places]
        return frozenset(roots[each] for each in products) if len(products) == len(ends) else None

    def _kept(self, product: int, addends: Mapping[int, Sequence[Expr]]) -> frozenset[int]:
        """The loops around a product in which it may add to what is left of the trip before."""
        flow, slices = self._slices.flow, self._slices
        around = frozenset(loop.header for loop in flow.around(flow.block_of[product]))
        kept, seen, values = set[int](), {product}, addends[product]
        while not all(isinstance(each, Const) for each in values):
            carried = [slices.carried.get(each) if isinstance(each, Var) else None for each in values]
            known = [each for each in carried if each is not None]
            if known and len(known) == len(carried) and len({each.loop.header for each in known}) == 1:
                if not all(isinstance(each.after, Const) for each in known):
                    kept.add(known[0].loop.header)
                values = [each.before for each in known]
                continue
            before = self._product(values)
            if before is None or before in seen:
                return around
            seen.add(before)
            values = addends[before]
        return around & kept

    def _registers(self, product: Instruction, place: int) -> list[Expr]:
        operand = product.operands[place]
        items = operand.items if isinstance(operand, Vector) else (operand,)
        return [self._slices.run(word_of(self._slices, each, product)) for each in items]

    def _product(self, values: Sequence[Expr]) -> int | None:
        """The place of the product that some values are all results of, in order; None if it is none."""
        found: set[int | None] = set()
        for at, value in enumerate(values):
            made = MADE_BY.search(value.name) if isinstance(value, Var) else None
            is_product = made is not None and int(made[1]) in self._places and int(made[2]) == at
            found.add(int(made[1]) if made is not None and is_product else None)
        return next(iter(found)) if len(found) == 1 else None
