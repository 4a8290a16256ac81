"""ldmatrix and stmatrix with their data, and matrix instructions without addresses of lanes."""

from __future__ import annotations

import re

import numpy as np

from .access import elements, everyone, load, note, store
from .clocks import PRODUCTS
from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Step
from .floats import garbage
from .integers import first_of_pair
from .model import Imm, Instr, Sink, Vec
from .moves import space_in
from .parse import address_of
from .products import Reader, across, is_followed, operand_bytes
from .spaces import SHARED_SPAN
from .table import nothing, opcode


def row_addresses(batch: Batch, mask: Array, address: Array, count: int) -> Array:
    """The addresses of 8 * count rows of each warp with active lanes: one row of numbers a warp."""
    inside = everyone(batch, address) & np.uint64(SHARED_SPAN - 1)
    warps = mask.reshape(-1, 32).any(1)
    return inside.reshape(-1, 32)[warps, : 8 * count]


def matrix_lanes(mask: Array, count: int) -> Array:
    """Lanes whose addresses count."""
    return mask & (np.arange(len(mask)) % 32 < 8 * count)


@opcode("ldmatrix", "stmatrix")
def compile_matrix_move(instr: Instr, env: Env) -> Step:
    """Compile ldmatrix and stmatrix of 8x8 matrices of 16 bits.

    Other shapes have no rule and stop the launch.
    """
    if "m8n8" not in instr.mods:
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    count = int(next(mod for mod in instr.mods if mod in ("x1", "x2", "x4"))[1:])
    trans, loads = "trans" in instr.mods, instr.op == "ldmatrix"
    where = env.address(address_of(instr), instr.line)
    registers = elements(instr.operands[0 if loads else 1])
    record = env.record(instr, instr.op, 16, generic=space_in(instr.mods) == "")
    puts = [env.dst(item, instr.line) for item in registers] if loads else []
    gets = [] if loads else [env.src(item, "b32", instr.line) for item in registers]

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        note(record, batch, space_in(instr.mods), matrix_lanes(mask, count), address)
        rows = row_addresses(batch, mask, address, count)
        warps = np.flatnonzero(mask.reshape(-1, 32).any(1))
        for at in range(count):
            lanes = (32 * warps[:, None] + 8 * at + np.arange(8)).reshape(-1)
            place = rows[:, 8 * at : 8 * at + 8].reshape(-1)
            if loads:
                words = [load(batch.block, "shared", lanes, place + np.uint64(4 * k), 4) for k in range(4)]
                cells = np.stack(words, 1).reshape(len(warps), 8, 4)
                value = np.zeros((len(mask) // 32, 32), np.uint32)
                value[warps] = fragments(cells, trans=trans)
                puts[at](batch, value.reshape(-1), mask)
            else:
                value = everyone(batch, gets[at](batch)).reshape(-1, 32)[warps]
                cells = rows_of(value, trans=trans)
                for k in range(4):
                    word = np.ascontiguousarray(cells[:, :, k]).reshape(-1)
                    store(batch.block, "shared", lanes, place + np.uint64(4 * k), word)

    return step


def fragments(cells: Array, *, trans: bool) -> Array:
    """From eight rows of four words, each lane's word: row lane / 4, word lane % 4."""
    if not trans:
        return cells.reshape(len(cells), 32)
    halves = np.ascontiguousarray(cells).view(np.uint16).reshape(len(cells), 8, 8)
    turned = np.ascontiguousarray(halves.transpose(0, 2, 1))
    return turned.reshape(len(cells), 64).view(np.uint32)


def rows_of(value: Array, *, trans: bool) -> Array:
    """From the words of the lanes, eight rows of four words: `fragments` backwards."""
    cells = np.ascontiguousarray(value).reshape(len(value), 8, 4)
    return fragments(cells, trans=True).reshape(len(value), 8, 4) if trans else cells


@opcode("mma", "movmatrix")
def matrix(instr: Instr, env: Env) -> Step:
    """Compile matrix instructions: their results are data that no address should come from."""
    if not instr.operands or "store" in instr.mods or instr.mods[0] in ("fence", "commit_group", "wait_group"):
        return nothing
    head, _ = first_of_pair(instr)
    items = head.items if isinstance(head, Vec) else (head,)
    results = [(env.dst(item, instr.line), at) for at, item in enumerate(items) if not isinstance(item, Sink)]
    reader = Reader(instr, env) if is_followed(instr) else None

    def step(batch: Batch, mask: Array) -> None:
        products = batch.block.products
        sums = reader.note(products, batch, mask) if reader is not None and products is not None else None
        for put, at in results:
            put(batch, garbage(batch, instr.line * 64 + at) if sums is None else sums, mask)

    return step


@opcode("wmma", "wgmma")
def compile_fragment(instr: Instr, env: Env) -> Step:
    """Compile wmma and wgmma: those that touch shared memory are listed without a cost."""
    inner = matrix(instr, env)
    if instr.op == "wgmma" and ("commit_group" in instr.mods or "wait_group" in instr.mods):
        return grouped(instr)
    shared = space_in(instr.mods) == "shared" or "mma_async" in instr.mods
    generic = instr.op == "wmma" and ("load" in instr.mods or "store" in instr.mods) and not space_in(instr.mods)
    if not shared and not generic:
        return inner
    record = env.record(instr, instr.op, 0, generic=generic, blind=True)
    reads = reads_of(instr, env)
    record.is_placed = reads is not None

    def step(batch: Batch, mask: Array) -> None:
        record.note(batch.block.index, mask, np.zeros(mask.shape, np.uint64))
        if reads is not None:
            reads(batch, mask)
        inner(batch, mask)

    return step


def grouped(instr: Instr) -> Step:
    """Compile what puts products into groups and waits for them, which nothing but clocks notices."""
    operand = instr.operands[0] if instr.operands else None
    count = int(operand.value) if isinstance(operand, Imm) else None

    def step(batch: Batch, mask: Array) -> None:
        clocks, lanes = batch.block.clocks, np.flatnonzero(mask).tolist()
        if clocks is not None and count is None:
            clocks.commit(lanes, bulk=PRODUCTS)
        elif clocks is not None:
            clocks.wait_copies(lanes, count, bulk=PRODUCTS)

    return step


def reads_of(instr: Instr, env: Env) -> Step | None:
    """What a product reads through its descriptors; None for other instructions."""
    shape = re.fullmatch(r"m64n(\d+)k(\d+)", next((mod for mod in instr.mods if mod.startswith("m64n")), ""))
    if "mma_async" not in instr.mods or shape is None or "sp" in instr.mods:
        return None
    size = 32 // int(shape[2])
    operands = zip((64, int(shape[1])), instr.operands[1:3], across(instr), strict=True)
    gets = [
        (rows, env.src(each, "b64", instr.line), is_across)
        for rows, each, is_across in operands
        if not isinstance(each, Vec)
    ]

    def step(batch: Batch, mask: Array) -> None:
        clocks = batch.block.clocks
        for warp in np.flatnonzero(mask.reshape(-1, 32).all(axis=1)).tolist():
            ranges: list[tuple[int, int]] = []
            for rows, get, is_across in gets:
                value = int(everyone(batch, get(batch))[32 * warp])
                places = operand_bytes(value, rows, size, is_across=is_across)
                ranges += [(at, 16) for at in np.unique(places // 16 * 16).tolist()]
            if clocks is not None:
                clocks.product(instr.line, warp, ranges)

    return step
