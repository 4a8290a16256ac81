"""Loads and stores: ld, st, ldu and the small cp.async, of all state spaces, and generic ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .errors import FaultError, UnsupportedError
from .fetch import KINDS, Array, Batch, Env, Getter, Step
from .model import WIDTHS, Imm, Instr, Operand, Reg, Vec
from .moves import space_in, window
from .parse import address_of
from .record import Access
from .spaces import GENERIC, GLOBAL_BASE, SHARED_BASE, UINT, WINDOW_BITS
from .strong import strength
from .table import opcode

if TYPE_CHECKING:
    from .block import BlockState

LOW_32 = np.uint64(0xFFFFFFFF)


def local_address(space: str, address: Array) -> Array:
    """The address inside its space; of shared memory the 32 bits that count."""
    return address & LOW_32 if space == "shared" else address


def by_space(space: str, address: Array) -> Iterator[tuple[str, Array | None, Array]]:
    """Sort lanes by the space of their addresses: (space, which lanes, their addresses there)."""
    if space:
        yield space, None, local_address(space, address)
        return
    upper = address >> WINDOW_BITS
    left = np.ones(address.shape, bool)
    for name, base in GENERIC.items():
        here = upper == window(name)
        if here.any():
            left &= ~here
            yield name, here, address[here] - np.uint64(base)
    if left.any():
        yield "global", left, address[left]


def load(block: BlockState, space: str, lanes: Array, address: Array, width: int) -> Array:
    """Load `width` bytes for each of the lanes named."""
    result = np.zeros(address.shape, UINT[width])
    for name, which, inside in by_space(space, address):
        part = _load(block, name, lanes if which is None else lanes[which], inside, width)
        if which is None:
            return part
        result[which] = part
    return result


def _load(block: BlockState, space: str, lanes: Array, address: Array, width: int) -> Array:
    if space == "shared":
        return block.shared.load(block.places(lanes, address), width)
    if space == "global":
        return block.arena.load(address - np.uint64(GLOBAL_BASE), width)
    if space == "const":
        return block.const.load(address, width)
    memory = block.local if space == "local" else block.params
    return memory.load(lanes, address, width)


def store(block: BlockState, space: str, lanes: Array, address: Array, value: Array) -> None:
    """Store a number of each of the lanes named."""
    for name, which, inside in by_space(space, address):
        part, who = (value, lanes) if which is None else (value[which], lanes[which])
        if name == "shared":
            placed = block.places(who, inside)
            block.shared.store(placed, part)
            if block.clocks is not None:
                block.clocks.stored(who, placed, part)
        elif name == "global":
            block.arena.store(inside - np.uint64(GLOBAL_BASE), part)
        elif name == "const":
            raise UnsupportedError("a store to constant memory")
        else:
            (block.local if name == "local" else block.params).store(who, inside, part)


def everyone(batch: Batch, value: Array) -> Array:
    """A value for each lane, where there was perhaps one for all."""
    return value if value.shape[0] == len(batch.mask) else np.broadcast_to(value, batch.mask.shape)


def note(record: Access | None, batch: Batch, space: str, mask: Array, address: Array) -> None:
    """Write down an access if it goes to shared memory, for the lanes that do so."""
    if record is None:
        return
    if space == "shared":
        note_shared(record, batch, mask, address & LOW_32)
        return
    inside = mask & (address >> WINDOW_BITS == window("shared"))
    if inside.any():
        record.mixed |= bool((mask & ~inside).any())
        note_shared(record, batch, inside, address - np.uint64(GENERIC["shared"]))
    warps = mask.reshape(-1, 32).any(1) & ~inside.reshape(-1, 32).any(1)
    record.elsewhere += int(warps.sum())


def note_shared(record: Access, batch: Batch, lanes: Array, address: Array) -> None:
    """Write down lanes that access shared memory.

    The cost counts those outside of it, not those misaligned.
    """
    memory, size = batch.block.shared, record.bytes
    if batch.block.ranks > 1:
        who = np.flatnonzero(lanes)
        placed = np.full(address.shape, SHARED_BASE, np.uint64)
        placed[who] = batch.block.places(who, address[who])
        address = placed
    outside = memory.bad(address, size)
    odd = lanes & ((address & np.uint64(size - 1)) != 0)
    for kind, bad in (("misaligned", odd), ("outside", lanes & outside if outside is not None else None)):
        if bad is None or not bad.any():
            continue
        record.violate(kind, batch.block.index, bad, address)
        if not memory.lenient:
            what = "misaligned shared address" if kind == "misaligned" else "shared access outside"
            raise FaultError(f"{what}: {size} bytes at {int(address[bad][0]):#x}")
    if (lanes & ~odd).any():
        record.note(batch.block.index, lanes & ~odd, address)
        if batch.block.clocks is not None:
            batch.block.clocks.access(record, lanes & ~odd, address, batch.place, batch.depth)


def check_alignment(batch: Batch, space: str, address: Array, size: int) -> None:
    """Stop at a misaligned vector outside of shared memory, where faults count."""
    if space != "shared" and not batch.block.arena.lenient and (address & np.uint64(size - 1)).any():
        raise FaultError(f"misaligned address {int(address.max()):#x} for {size} bytes")


def elements(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector, or the one operand."""
    return operand.items if isinstance(operand, Vec) else (operand,)


def element_width(instr: Instr) -> int:
    """Bytes of one element of a load or store."""
    width = max(8, WIDTHS[instr.type]) // 8
    if width > 8:
        raise UnsupportedError(f"{instr.opcode} of 128-bit elements", instr.line)
    return width


def shared_record(instr: Instr, env: Env, kind: str, size: int, space: str) -> Access | None:
    """A record of an instruction that goes to shared memory or may do so."""
    if space in ("shared", ""):
        record = env.record(instr, kind, size, generic=space == "")
        record.sem = strength(instr.mods)
        return record
    return None


@opcode("ld", "ldu")
def compile_ld(instr: Instr, env: Env) -> Step:
    """Compile ld and ldu."""
    space, kind, width = space_in(instr.mods), instr.type, element_width(instr)
    items = elements(instr.operands[0])
    puts = [env.dst(item, instr.line) for item in items]
    where = env.address(address_of(instr), instr.line)
    record = shared_record(instr, env, "ld", width * len(items), space)
    numbers = np.dtype(KINDS[kind]) if kind[0] == "s" else np.dtype(UINT[width])

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        note(record, batch, space, mask, address)
        lanes = np.flatnonzero(mask)
        own = address[lanes]
        check_alignment(batch, space, own, width * len(puts))
        for at, put in enumerate(puts):
            value = np.zeros(mask.shape, UINT[width])
            value[lanes] = load(batch.block, space, lanes, own + np.uint64(at * width), width)
            put(batch, value.view(numbers), mask)

    return step


@opcode("st")
def compile_st(instr: Instr, env: Env) -> Step:
    """Compile st; st.async has no rule, and is listed without one."""
    space, width = space_in(instr.mods), element_width(instr)
    if "async" in instr.mods:
        env.record(instr, "st.async", width, blind=True)
    items = elements(instr.operands[1])
    values = [env.src(item, f"b{8 * width}", instr.line) for item in items]
    where = env.address(address_of(instr), instr.line)
    record = None if "async" in instr.mods else shared_record(instr, env, "st", width * len(items), space)

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        note(record, batch, space, mask, address)
        lanes = np.flatnonzero(mask)
        own = address[lanes]
        check_alignment(batch, space, own, width * len(values))
        for at, value in enumerate(values):
            data = everyone(batch, value(batch))[lanes]
            store(batch.block, space, lanes, own + np.uint64(at * width), data)

    return step


def copy_async(instr: Instr, env: Env) -> Step:
    """Compile cp.async of 4, 8 or 16 bytes: what lies beyond the source's size becomes zero."""
    size_operand = instr.operands[2]
    if not isinstance(size_operand, Imm):
        raise UnsupportedError("cp.async without a literal size", instr.line)
    size = int(size_operand.value)
    into, source = (env.address(address_of(instr, at), instr.line) for at in (0, 1))
    record = env.record(instr, "cp.async.cg" if "cg" in instr.mods else "cp.async.ca", size)
    limit, ignore = _source_size(instr, env)

    def step(batch: Batch, mask: Array) -> None:
        target, origin = (everyone(batch, get(batch)) for get in (into, source))
        note(record, batch, "shared", mask, target)
        lanes = np.flatnonzero(mask)
        given = everyone(batch, limit(batch))[lanes].astype(np.int64) if limit else np.full(len(lanes), size)
        if ignore is not None:
            given = np.where(everyone(batch, ignore(batch))[lanes], 0, given)
        if record is not None:
            is_whole = np.zeros(len(mask), np.bool_)
            is_whole[lanes] = given >= size
            record.note_copies(mask, target & LOW_32, origin, is_whole)
        for at in range(0, size, 4):
            count = np.clip(given - at, 0, 4)
            word = np.zeros(len(lanes), np.uint32)
            some = count > 0
            if some.any():
                own = origin[lanes][some] + np.uint64(at)
                cut = np.uint32(0xFFFFFFFF) >> (np.uint32(8) * (4 - count[some]).astype(np.uint32))
                word[some] = load(batch.block, "global", lanes[some], own, 4) & cut
            store(batch.block, "shared", lanes, local_address("shared", target[lanes]) + np.uint64(at), word)

    return step


def _source_size(instr: Instr, env: Env) -> tuple[Getter | None, Getter | None]:
    """The optional size of the source and the optional predicate that ignores it."""
    rest = instr.operands[3:]
    if any("cache_hint" in mod for mod in instr.mods):
        rest = rest[:-1]
    limit, ignore = None, None
    for operand in rest:
        if isinstance(operand, Reg) and operand.type == "pred":
            ignore = env.src(operand, "pred", instr.line)
        else:
            limit = env.src(operand, "u32", instr.line)
    return limit, ignore
