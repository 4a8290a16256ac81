"""A kernel read as a whole: its accesses as expressions, with what decides when they run.

`accesses` answers for one warp instruction at a time. Questions about two threads at two places need
more: the value of every leaf before its loop and after each trip, the condition of every edge, what
stores write, and the operands of barriers. All registers are read before loops are solved, and then no
leaf is added: an analysis of what threads share knows every leaf.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Final

from swzverify.compiled.kernel.access import ANY_SPACE, Executions
from swzverify.compiled.kernel.accesses import Reader
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.kernel.bulk import BOX, COPY_TO_PHASE, FROM_SHARED, TENSOR_TO_PHASE
from swzverify.compiled.kernel.calls import Inlined
from swzverify.compiled.kernel.clusters import evaluate_in_cluster, is_alone, reaches_others
from swzverify.compiled.kernel.descriptors import descriptors_of
from swzverify.compiled.kernel.divisions import Divisions, with_results
from swzverify.compiled.kernel.flow import Loop, base_name
from swzverify.compiled.kernel.generic import InShared, in_shared
from swzverify.compiled.kernel.induction import by_trip, trips_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.listing import Touch, Use, uses_of
from swzverify.compiled.kernel.pointers import loaded_pointer, makes_generic
from swzverify.compiled.kernel.ranks import Ranks
from swzverify.compiled.kernel.repeats import Again
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.stored import stored_by
from swzverify.compiled.kernel.values import address_of, long_of, word_of
from swzverify.compiled.ptx import (
    Address,
    Bracketed,
    Immediate,
    Instruction,
    Module,
    Operand,
    Register,
    size_of_type,
)
from swzverify.hardware import LANES
from swzverify.hardware.kinds import MATRIX_OPCODES
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import FALSE, TRUE, Const, Expr, Var, conjunction, const

_LOADS = frozenset({"ld", "ldu"})
_STRONG = frozenset({"relaxed", "acquire", "release", "acq_rel", "mmio"})
OBJECT_BYTES: Final = 8
"""The bytes of a barrier object."""
BOX_IS_OPEN: Final = "the bytes of the tensor map's box are not known"


@dataclass(frozen=True, slots=True)
class Carry:
    """A register that a loop changes: before the loop, and after a trip."""

    before: Expr
    after: Expr


class Kernel(Reader):
    """A function with its calls put in place, read as a whole for threads of a known block.

    Raises:
        FlowError: Control flow or operands cannot be read.
        PtxError: An instruction cannot be read.
    """

    def __init__(
        self,
        module: Module,
        whole: Inlined,
        block: BlockShape,
        arguments: Arguments = NO_ARGUMENTS,
        capability: int | None = None,
        cluster: BlockShape | None = None,
    ) -> None:
        self.is_alone, self.cluster = is_alone(whole.function, cluster), cluster
        if cluster is not None and prod(cluster) > 1 and reaches_others(whole.function):
            block = (block[0], block[1], block[2] * prod(cluster))
            arguments = replace(arguments, cluster=cluster)
        super().__init__(module, whole, block, replace(arguments, is_alone=self.is_alone), evaluate_in_cluster)
        self.flow, self.leaves = self.slices.flow, self.slices.leaves
        self.block, self.ranks = block, Ranks(self.slices, self.paths)
        """The threads that are looked at: those of a block, or of all blocks of a cluster, one behind the other."""
        function = whole.function
        self.function = function
        uses = [(each, use) for each in function.instructions for use in uses_of(each, capability)]
        self._read_so_far = [self._raw(each, use) for each, use in uses]
        self._stores = [stored_by(self.slices, each) for each, _ in uses]
        objects = [self._object(each, use) for each, use in uses]
        self.constants = {
            each.index: tuple(self._constant(operand, each) for operand in each.operands)
            for each in function.instructions
            if base_name(each) in ("bar", "barrier") and self.flow.is_reachable(self.flow.block_of[each.index])
        }
        """The operands of barriers that are numbers; None for the other ones."""
        paths = {each: self.paths.to(self.flow.block_of[each]).may for each in self.constants}
        words = {each.index: self._words(each) for each in function.instructions if self._is_of_object(each)}
        descriptors = {
            each.index: [
                (role, self.slices.run(long_of(self.slices, part, each))) for role, part in descriptors_of(each)
            ]
            for each in function.instructions
            if self.flow.is_reachable(self.flow.block_of[each.index])
        }
        maps = {
            each.index: self.slices.run(long_of(self.slices, of_map, each))
            for each in function.instructions
            if self._moves_box(each)
            and (of_map := _map_of(each)) is not None
            and self.flow.is_reachable(self.flow.block_of[each.index])
        }
        guarded = {each.index: None for each in function.instructions if self._is_of_proxy(each)}
        owns = {each: self.slices.run(self.slices.guard(function.instructions[each])) for each in words | guarded}
        edges = {
            (block_.index, target): self.slices.edge(block_.index, target)
            for block_ in self.flow.blocks
            if block_.is_choice and self.flow.is_reachable(block_.index)
            for target in self.flow.following[block_.index]
        }
        for loop in self.flow.loops:
            self.repeats.ask(loop.header)
            trips_of(self.slices, loop)
        if self.threads is not None:
            self.threads.coordinates(self.leaves)
        self._all([])  # solves loops, and counts their trips
        self._known = with_results(self.slices, self.forms)
        self._edges = {each: self.resolved(value, each[0]) for each, value in edges.items()}
        self.reaching = {
            each: conjunction(self.resolved(part, self.flow.block_of[each]) for part in may)
            for each, may in paths.items()
        }
        """For each barrier, a condition that every thread satisfies that comes to it."""
        self.objects = {
            each: tuple(None if value is None else self.resolved(value, self.flow.block_of[each]) for value in values)
            for each, values in words.items()
        }
        """The operands of what works on barriers, each of 32 bits; None for those that cannot be read.

        Barriers of the block whose operands are all numbers are not among them.
        """
        self.owns = {each: self.resolved(value, self.flow.block_of[each]) for each, value in owns.items()}
        """The guards of the same instructions, and of those that work with the async proxy."""
        self.maps = {each: self.resolved(value, self.flow.block_of[each]) for each, value in maps.items()}
        """The address of the tensor map of each copy of a box."""
        self.ranks.resolve(lambda value, index: self.resolved(value, self.flow.block_of[index]))
        self._makes_generic = makes_generic(function)
        self.pointers: set[int] = set()
        """The lines that load pointers from global memory which are taken to lead to no shared memory."""
        self.accesses = [
            access
            for at, (use, place) in enumerate(zip(uses, objects, strict=True))
            if self.flow.is_reachable(self.flow.block_of[use[0].index])
            for access in self._operands_of(at, use[0], descriptors[use[0].index]) or [self._access(at, *use, place)]
        ]
        self.parts: dict[int, list[SharedAccess]] = {}
        """For each instruction, what it accesses: the operands of `wgmma`, and the pieces of `wmma`."""
        for each in self.accesses:
            self.parts.setdefault(each.index, []).append(each)
        self.repeat = {loop.header: self._repeat(loop) for loop in self.flow.loops}
        """For each loop by its header, the condition under which a trip is followed by another one."""
        self.carried = {
            variable: Carry(
                self.resolved(each.before, *(self._outside(each.loop))), self.resolved(each.after, each.loop.header)
            )
            for variable, each in self.slices.carried.items()
        }
        """The registers that loops change."""

    @cached_property
    def closed(self) -> frozenset[str]:
        """The names of all leaves; no other one may be asked for."""
        return frozenset(self.leaves.by_name)

    def edge(self, source: int, target: int) -> Expr:
        """Whether a thread at the end of a block goes on to another one."""
        return self._edges.get((source, target), TRUE)

    def around(self, index: int) -> list[Loop]:
        """The loops around an instruction, the outermost first."""
        return self.flow.around(self.flow.block_of[index])

    def trips(self, header: int) -> Var:
        """The leaf that counts the trips of a loop."""
        return trips_of(self.slices, self.flow.loop_at[header])

    def give_boxes(self, sizes: Mapping[int, int]) -> None:
        """Take the bytes of the boxes of tensor maps as known, by instructions."""
        for index, size in sizes.items():
            self.parts[index] = [replace(each, width_bytes=size, reason="") for each in self.parts[index]]
        self.accesses = [each for parts in self.parts.values() for each in parts]

    # ---- reading

    def resolved(self, value: Expr, *blocks: int) -> Expr:
        """A value at some blocks in terms of trips and coordinates, as far as loops are solved."""
        inside = {loop.header for block in blocks for loop in self.flow.around(block)}
        return self._bounded.of(self._behind_loops(by_trip(self.slices, self.forms.resolve(value)), inside))

    def _outside(self, loop: Loop) -> list[int]:
        """The header of the loop around a loop, if there is one."""
        return [each.header for each in self.flow.around(loop.header) if each is not loop]

    def _repeat(self, loop: Loop) -> Again:
        return self.repeats.again(loop, lambda value: self.resolved(value, *loop.latches))

    def _constant(self, operand: Operand, instruction: Instruction) -> int | None:
        if isinstance(operand, Register) and operand.type == "pred":
            return None
        value = self.slices.run(word_of(self.slices, operand, instruction))
        return value.value if isinstance(value, Const) else None

    def _is_of_object(self, instruction: Instruction) -> bool:
        opcode = instruction.opcode
        is_copy = COPY_TO_PHASE.fullmatch(opcode) or TENSOR_TO_PHASE.fullmatch(opcode)
        is_copy = is_copy or self.ranks.is_copy(instruction)
        is_named = base_name(instruction) == "mbarrier" or is_copy
        # A barrier of the block may have its number, or its count, in a register.
        is_open = None in self.constants.get(instruction.index, ())
        return bool(is_named or is_open) and self.flow.is_reachable(self.flow.block_of[instruction.index])

    def _is_of_proxy(self, instruction: Instruction) -> bool:
        is_one = instruction.guard is not None and base_name(instruction) in ("cp", "fence", "wgmma")
        return is_one and self.flow.is_reachable(self.flow.block_of[instruction.index])

    def _words(self, instruction: Instruction) -> tuple[Expr | None, ...]:
        """The operands that are addresses or words."""
        found: list[Expr | None] = []
        for each in instruction.operands:
            value: Expr | None = None
            if isinstance(each, Address):
                value = widened(self.slices.run(address_of(self.slices, each, instruction)), 32)
            elif isinstance(each, Immediate) or (isinstance(each, Register) and each.type != "pred"):
                value = self.slices.run(word_of(self.slices, each, instruction))
            found.append(value)
        return tuple(found)

    def _moves_box(self, instruction: Instruction) -> bool:
        is_multicast = self.ranks.is_copy(instruction) and "tensor" in instruction.opcode.split(".")
        return BOX.fullmatch(instruction.opcode) is not None or is_multicast

    def _copied(self, instruction: Instruction, operands: tuple[Expr, ...]) -> int:
        """The bytes of a bulk copy to or from shared memory, or of a tensor map; 0 if they are not known."""
        is_known = (
            base_name(instruction) == "tensormap"
            or COPY_TO_PHASE.fullmatch(instruction.opcode)
            or FROM_SHARED.fullmatch(instruction.opcode)
        )
        is_known = is_known or (self.ranks.is_copy(instruction) and "tensor" not in instruction.opcode)
        size = self.forms.resolve(operands[0]) if operands and is_known else None
        return size.value if isinstance(size, Const) else 0

    def _object(self, instruction: Instruction, use: Use) -> Expr | None:
        """The address of a barrier object; None for other instructions, and if it cannot be read."""
        operand = next((each for each in instruction.operands if isinstance(each, Address)), None)
        is_named = use.touch is Touch.BARRIER and "shared" in instruction.opcode
        if operand is None or not is_named or not self.flow.is_reachable(self.flow.block_of[instruction.index]):
            return None
        return widened(self.slices.run(address_of(self.slices, operand, instruction)), 32)

    def _access(self, at: int, instruction: Instruction, use: Use, place: Expr | None) -> SharedAccess:
        raw, name, words = self._read_so_far[at], base_name(instruction), instruction.opcode.split(".")
        row, is_object = raw.access.cost.row, use.touch is Touch.BARRIER
        address = place if is_object else raw.address
        size = self._copied(instruction, raw.operands)
        is_in_cluster = self.ranks.is_access(instruction)
        is_known = (not use.reason and use.bulk is None and not raw.access.cost.reason) or bool(size) or is_in_cluster
        reason = "" if is_in_cluster else raw.access.reason if is_known else f"`{instruction.opcode}` is not modelled"
        is_box = self._moves_box(instruction)
        is_store = bool(FROM_SHARED.fullmatch(instruction.opcode)) or words[:2] == ["tensormap", "cp_fenceproxy"]
        is_modelled = is_object or is_known or is_box
        width = size or (OBJECT_BYTES if is_object else _width(instruction) if row is None else row.width_bytes)
        found = SharedAccess(
            instruction,
            self.calls[instruction.index],
            is_write=not is_store and (is_object or (name not in _LOADS if row is None else not row.kind.loads)),
            is_atomic=name in ("atom", "red") or (is_object and not {"init", "inval"} & {*words}),
            is_strong=name in ("ld", "st") and bool(_STRONG & {*words}),
            is_copy=name == "cp" and not is_store,
            is_bulk=(bool(size) and name == "cp") or is_box,
            is_object=is_object,
            is_collective=name in MATRIX_OPCODES or use.piece is not None,
            width_bytes=width,
            lanes=LANES if row is None else row.address_lanes,
        )
        if address is not None and raw.access.touch is Touch.GENERIC and self._is_elsewhere(address, instruction):
            return self._with_address(found, address, at)
        if address is None or not is_modelled or not (width or is_box):
            return replace(found, reason=reason or "its address cannot be read")
        found = self._with_address(found, address, at)
        return replace(found, reason=found.reason or BOX_IS_OPEN) if is_box else found

    def _is_elsewhere(self, address: Expr, instruction: Instruction) -> bool:
        """Whether a generic address is surely no shared one."""
        block = self.flow.block_of[instruction.index]
        found = in_shared(self.slices, normal(self.resolved(self.forms.resolve(address), block)))
        return found is not None and found.holds is FALSE

    def _operands_of(
        self, at: int, instruction: Instruction, descriptors: list[tuple[OperandRole, Expr]]
    ) -> list[SharedAccess]:
        """What `wgmma` reads; empty for other instructions."""
        return [
            self._with_address(
                SharedAccess(
                    instruction,
                    self.calls[instruction.index],
                    is_write=False,
                    is_bulk=True,
                    operand=role,
                ),
                value,
                at,
            )
            for role, value in descriptors
        ]

    def _with_address(self, access: SharedAccess, address: Expr, at: int) -> SharedAccess:
        """The access with its address and its conditions."""
        raw, stored = self._read_so_far[at], self._stores[at]
        block = self.flow.block_of[access.index]
        divisions = Divisions(self.slices, self.forms, access.index, self._known)

        def read(value: Expr) -> Expr:
            return self.resolved(divisions.defined(self.forms.resolve(value)), block)

        own = [read(raw.own)]
        address = normal(self.ranks.where(own[0], read(address)))
        if raw.access.touch is Touch.GENERIC:
            found = in_shared(self.slices, address)
            pointer = None if found is not None or self._makes_generic else loaded_pointer(self.slices, address)
            if pointer is not None:
                self.pointers.add(pointer.line)
                found = InShared(const(0, 32), FALSE, const(0, address.width))
            if found is None:
                return replace(access, reason=ANY_SPACE)
            address = normal(found.address)
            own.append(found.holds)
        may, must = [read(each) for each in raw.path.may], None
        if raw.path.must is not None:
            must = [read(each) for each in raw.path.must]
        own += [self.resolved(each, block) for each in divisions.conditions()] + self.ranks.goes(access.index)
        if access.operand is None:
            address = normal(self.ranks.place(access.index, address))
        return replace(
            access,
            address=address,
            who=Executions(
                conjunction(dict.fromkeys((*may, *own))),
                None if must is None else conjunction(dict.fromkeys((*must, *own))),
            ),
            stored=None if stored is None else stored.mapped(read),
            divisions=divisions.texts(),
        )


def _map_of(instruction: Instruction) -> Operand | None:
    """The tensor map of a copy of a box; None without one."""
    found = next((each for each in instruction.operands if isinstance(each, Bracketed)), None)
    return None if found is None else found.items[0]


def _width(instruction: Instruction) -> int:
    """The bytes that an instruction without a row reads or writes."""
    size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
    return size * next((int(each[1]) for each in instruction.opcode.split(".") if each in ("v2", "v4", "v8")), 1)
