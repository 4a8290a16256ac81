"""ldmatrix and stmatrix with their data, and matrix instructions without addresses of lanes."""

from __future__ import annotations

import numpy as np

from .access import elements, everyone, load, note, store
from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Step
from .model import Instr
from .moves import matrix, space_in
from .parse import address_of
from .spaces import SHARED_SPAN
from .table import opcode


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
        lanes = warps.repeat(8)
        for at in range(count):
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


@opcode("wmma", "wgmma")
def compile_fragment(instr: Instr, env: Env) -> Step:
    """Compile wmma and wgmma: those that touch shared memory are listed without a cost."""
    inner = matrix(instr, env)
    shared = space_in(instr.mods) == "shared" or "mma_async" in instr.mods
    generic = instr.op == "wmma" and ("load" in instr.mods or "store" in instr.mods) and not space_in(instr.mods)
    if not shared and not generic:
        return inner
    record = env.record(instr, instr.op, 0, generic=generic, blind=True)

    def step(batch: Batch, mask: Array) -> None:
        record.note(batch.block.index, mask, np.zeros(mask.shape, np.uint64))
        inner(batch, mask)

    return step
