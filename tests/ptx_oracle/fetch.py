"""How compiled instructions read operands and write results.

An instruction is compiled once for a launch into a step: a function of a batch (lanes of a block
that are at one place of the program) and a mask of lanes. Operands become getters, which give one
value for each lane of the block or one value for all; results become putters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import UnsupportedError
from .layout import Layout, float_bits, leaves
from .model import WIDTHS, Addr, Function, Imm, Instr, Not, Operand, Reg, Sink, Special, Sym
from .record import Access
from .spaces import UINT

if TYPE_CHECKING:
    from .block import BlockState

Array = np.ndarray
KINDS: dict[str, Any] = {
    "pred": np.bool_,
    **{kind: UINT[WIDTHS[kind] // 8] for kind in WIDTHS if kind not in ("pred", "b128")},
    **{"s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "f32": np.float32, "f64": np.float64},
}
"""The numpy type of the values of a PTX type. Half floats and pairs come as their bits."""
SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


class Batch(NamedTuple):
    """Lanes of one block at one place: registers of this depth of calls, and which lanes."""

    block: BlockState
    regs: list[Array]
    mask: Array
    depth: int
    place: int
    """The block of the program, for numbers that only have to differ."""


Getter = Callable[[Batch], Array]
Putter = Callable[[Batch, Array, Array], None]
Step = Callable[[Batch, Array], None]


class Env:
    """Compiles operands of one function."""

    def __init__(self, function: Function, layout: Layout, records: list[Access]) -> None:
        self.function = function
        self.layout = layout
        self.records = records
        self.read = read_slots(function)
        """Registers that some instruction reads."""

    def record(self, instr: Instr, kind: str, size: int, *, generic: bool = False, blind: bool = False) -> Access:
        """Open a record of an instruction that accesses shared memory, or may do so."""
        text = self.layout.module.lines[instr.line - 1].strip()
        found = Access(instr.line, text, self.function.name, kind, size, generic, blind=blind)
        self.records.append(found)
        return found

    def src(self, operand: Operand, kind: str, line: int = 0) -> Getter:
        """Give a getter of an operand as values of a PTX type."""
        if kind not in KINDS:
            raise UnsupportedError(f"operand type {kind!r}", line)
        if isinstance(operand, Reg):
            return _register(operand, kind, line)
        if isinstance(operand, Imm):
            value = immediate(operand, kind)
            return lambda _batch: value
        if isinstance(operand, Special):
            return _special(operand.name, kind, line)
        if isinstance(operand, Sym):
            return self._symbol(operand, kind, line)
        if isinstance(operand, Not):
            inner = self.src(operand.item, "pred", line)
            return lambda batch: ~inner(batch)
        if isinstance(operand, Sink):
            zero = np.zeros(1, KINDS[kind])
            return lambda _batch: zero
        raise UnsupportedError(f"operand {operand}", line)

    def _symbol(self, name: Sym, kind: str, line: int) -> Getter:
        """The address of a variable; of locals and parameters it depends on the depth of calls."""
        space, at = self.layout.address(name, line)
        size = np.dtype(KINDS[kind]).itemsize
        strides = {"local": self.layout.local_stride, "param": self.layout.param_stride}
        if space not in strides:
            value = np.array([at & ((1 << 8 * size) - 1)], UINT[size]).view(KINDS[kind])
            return lambda _batch: value
        stride = strides[space]
        return lambda batch: np.array([at + batch.depth * stride], UINT[size]).view(KINDS[kind])

    def address(self, operand: Operand, line: int = 0) -> Getter:
        """Give a getter of an address in brackets, as 64-bit numbers."""
        if not isinstance(operand, Addr):
            raise UnsupportedError(f"{operand} is no address", line)
        width = "b64"
        if isinstance(operand.base, Reg) and WIDTHS[operand.base.type] == 32:
            width = "b32"
        base = self.src(operand.base, width, line)
        shift = np.uint64(operand.offset & ((1 << 64) - 1))
        if operand.offset == 0:
            return lambda batch: base(batch).astype(np.uint64)
        return lambda batch: base(batch).astype(np.uint64) + shift

    def dst(self, operand: Operand, line: int = 0) -> Putter:
        """Give a putter into a register; what is narrower is extended as its numpy type says."""
        if isinstance(operand, Sink):
            return lambda _batch, _value, _mask: None
        if not isinstance(operand, Reg) or operand.type == "b128":
            raise UnsupportedError(f"result {operand}", line)
        slot = operand.slot

        def put(batch: Batch, value: Array, mask: Array) -> None:
            register = batch.regs[slot]
            if value.dtype != register.dtype:
                value = fit(value, register.dtype)
            np.copyto(register, value, where=mask)

        return put

    def operands(self, instr: Instr, count: int, *kinds: str) -> tuple[Putter, list[Getter]]:
        """Give the putter of the first operand and getters of the next `count`.

        The last kind serves all others.
        """
        found = []
        if len(instr.operands) < count + 1:
            raise UnsupportedError(f"{instr.opcode} with {len(instr.operands)} operands", instr.line)
        for at, operand in enumerate(instr.operands[1 : count + 1]):
            found.append(self.src(operand, kinds[min(at, len(kinds) - 1)], instr.line))
        return self.dst(instr.operands[0], instr.line), found


FIRST_IS_READ = frozenset({"bar", "barrier", "brx", "call", "nanosleep", "bra", "st", "red", "cp", "mbarrier"})


def registers_in(operands: Sequence[Operand]) -> Iterator[Reg]:
    """All registers that operands mention, at any depth."""
    return (operand for operand in leaves(operands) if isinstance(operand, Reg))


def read_slots(function: Function) -> set[int]:
    """Registers that are read somewhere; the first operand counts as written, where it can be."""
    found = {instr.pred.slot for instr in function.instrs if instr.pred is not None}
    for instr in function.instrs:
        writes = instr.op not in FIRST_IS_READ and instr.operands and not isinstance(instr.operands[0], Addr)
        found.update(register.slot for register in registers_in(instr.operands[1 if writes else 0 :]))
    return found


def fit(value: Array, kind: np.dtype) -> Array:
    """Bring a value to a register's type: the same bits, or extended, or cut off."""
    if kind == np.bool_:
        return value != 0
    if value.dtype == np.bool_:
        return value.astype(kind)
    if value.dtype.itemsize == kind.itemsize:
        return value.view(kind)
    if value.dtype.kind == "i":
        return value.astype(SIGNED[kind.itemsize]).view(kind)
    return value.view(UINT[value.dtype.itemsize]).astype(kind)


def _register(register: Reg, kind: str, line: int) -> Getter:
    """Read a register as another type: the same bits, cut off, or filled with zeros."""
    slot, want = register.slot, np.dtype(KINDS[kind])
    if register.type == "b128":
        raise UnsupportedError("128-bit registers", line)
    have = np.dtype(KINDS[register.type])
    if register.type == "pred" or kind == "pred":
        if have != want:
            raise UnsupportedError(f"{register.name} read as {kind}", line)
        return lambda batch: batch.regs[slot]
    if have.itemsize == want.itemsize:
        if want.kind == "u":
            return lambda batch: batch.regs[slot]
        return lambda batch: batch.regs[slot].view(want)
    narrow = UINT[want.itemsize]
    return lambda batch: batch.regs[slot].astype(narrow).view(want)


def immediate(operand: Imm, kind: str) -> Array:
    """A literal as an array of one value of a PTX type."""
    want = np.dtype(KINDS[kind])
    if kind == "pred":
        return np.array([bool(operand.value)])
    if operand.bits:
        bits = int(operand.value)
        if want.kind == "f" and want.itemsize * 8 != operand.bits:
            source = np.array([bits], UINT[operand.bits // 8]).view(np.float32 if operand.bits == 32 else np.float64)
            return source.astype(want)
        return np.array([bits & ((1 << 8 * want.itemsize) - 1)], UINT[want.itemsize]).view(want)
    if want.kind == "f":
        return np.array([operand.value], want)
    if isinstance(operand.value, float):
        return np.array([float_bits(operand.value, want.itemsize)], UINT[want.itemsize])
    return np.array([operand.value & ((1 << 8 * want.itemsize) - 1)], UINT[want.itemsize]).view(want)


def _special(name: str, kind: str, line: int) -> Getter:
    """A special register; clocks count the batches that the block has run."""
    want = np.dtype(KINDS[kind])
    if name.startswith(("%clock", "%globaltimer", "%pm")):
        return lambda batch: np.array([batch.block.clock], np.uint64).astype(UINT[want.itemsize]).view(want)
    if name not in SPECIALS:
        raise UnsupportedError(f"special register {name}", line)

    def get(batch: Batch) -> Array:
        return batch.block.specials[name].astype(UINT[want.itemsize]).view(want)

    return get


LANE_SPECIALS = ("%laneid", "%warpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge")
SHAPES = ("%ntid", "%nctaid", "%ctaid", "%tid", "%clusterid", "%nclusterid")
CLUSTER_ZERO = ("%cluster_ctaid", "%cluster_ctarank", "%is_explicit_cluster", "%smid")
CLUSTER_ONE = ("%cluster_nctaid", "%cluster_nctarank")
SIZES = ("%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%reserved_smem_offset_begin", "%gridid")
SPECIALS = frozenset(
    (
        *LANE_SPECIALS,
        *(f"{name}{part}" for name in (*SHAPES, *CLUSTER_ZERO, *CLUSTER_ONE) for part in ("", ".x", ".y", ".z")),
        *SIZES,
        "%nwarpid",
        "%nsmid",
    )
)


def specials(block: tuple[int, int, int], grid: tuple[int, int, int], sizes: dict[str, int]) -> dict[str, Array]:
    """Special registers that all blocks of a launch share; %ctaid is added for each block."""
    threads = block[0] * block[1] * block[2]
    lanes = np.arange(-(-threads // 32) * 32, dtype=np.int64)
    lane = lanes % 32
    one = np.ones_like(lanes)
    below = (one << lane) - 1
    found = {
        "%tid.x": lanes % block[0],
        "%tid.y": lanes // block[0] % block[1],
        "%tid.z": lanes // (block[0] * block[1]),
        "%laneid": lane,
        "%warpid": lanes // 32,
        "%lanemask_eq": one << lane,
        "%lanemask_lt": below,
        "%lanemask_le": below | (one << lane),
        "%lanemask_ge": 0xFFFFFFFF & ~below,
        "%lanemask_gt": 0xFFFFFFFF & ~(below | (one << lane)),
        "%nwarpid": np.array([64]),
        "%nsmid": np.array([132]),
        **{name: np.array([value]) for name, value in sizes.items()},
    }
    for at, part in enumerate([".x", ".y", ".z"]):
        found[f"%ntid{part}"] = np.array([block[at]])
        found[f"%nctaid{part}"] = found[f"%nclusterid{part}"] = np.array([grid[at]])
    for names, value in ((CLUSTER_ZERO, 0), (CLUSTER_ONE, 1)):
        for name in names:
            for part in ("", ".x", ".y", ".z"):
                found.setdefault(name + part, np.array([value]))
    return {name: value.astype(np.uint64) for name, value in found.items()}
