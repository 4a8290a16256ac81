"""mov in all its forms, address conversions, and instructions that change nothing here."""

from __future__ import annotations

import numpy as np

from .errors import FaultError, UnsupportedError
from .fetch import Array, Batch, Env, Step
from .integers import first_of_pair
from .model import WIDTHS, Instr, Operand, Reg, Sink, Vec
from .spaces import GENERIC, SHARED_SPAN, UINT, WINDOW_BITS
from .table import nothing, opcode, simple

NO_CHANGE = (
    *("prefetch", "prefetchu", "discard", "applypriority", "nanosleep", "pmevent", "setmaxnreg"),
    *("griddepcontrol", "tensormap", "brkpt"),
)


@opcode(*NO_CHANGE)
def hint(_instr: Instr, _env: Env) -> Step:
    """Hints and pauses do nothing."""
    return nothing


@opcode("membar", "fence")
def fence(instr: Instr, _env: Env) -> Step:
    """Fences: the oracle runs in order, so that only clocks notice them."""
    proxies = "proxy" in instr.mods
    if proxies and ("async" not in instr.mods or "global" in instr.mods):
        return nothing

    def step(batch: Batch, mask: Array) -> None:
        if batch.block.clocks is not None and "mbarrier_init" in instr.mods:
            batch.block.clocks.fence_made(np.flatnonzero(mask).tolist())
        elif batch.block.clocks is not None:
            batch.block.clocks.fence(np.flatnonzero(mask).tolist(), proxies=proxies)

    return step


@opcode("mov")
def compile_mov(instr: Instr, env: Env) -> Step:
    """Compile mov, of vectors too, which packs or splits registers."""
    into, source = instr.operands
    if isinstance(source, Vec) and isinstance(into, Vec):
        steps = [_move(a, b, instr, env) for a, b in zip(into.items, source.items, strict=True)]

        def every(batch: Batch, mask: Array) -> None:
            for step in steps:
                step(batch, mask)

        return every
    if isinstance(source, Vec):
        return _pack(into, source, instr, env)
    if isinstance(into, Vec):
        return _split(into, source, instr, env)
    return _move(into, source, instr, env)


def _move(into: Operand, source: Operand, instr: Instr, env: Env) -> Step:
    """Copy one value; an address keeps the width of the instruction's type."""
    kind = instr.type
    kind = kind if kind == "pred" else f"b{WIDTHS[kind]}" if WIDTHS.get(kind, 128) <= 64 else kind
    if isinstance(source, Reg) and WIDTHS.get(kind) != WIDTHS[source.type]:
        kind = source.type  # mov.b64 of a 32-bit register does not occur in valid PTX
    if instr.type in ("f32", "f64", "f16", "bf16"):
        kind = instr.type
    get, put = env.src(source, kind, instr.line), env.dst(into, instr.line)
    return lambda batch, mask: put(batch, get(batch), mask)


def _pack(into: Operand, source: Vec, instr: Instr, env: Env) -> Step:
    """Join registers into a wider one, the first in the low bits."""
    total = WIDTHS[instr.type]
    width = total // len(source.items)
    if total > 64:
        raise UnsupportedError("mov of 128 bits", instr.line)
    parts = [env.src(item, f"b{width}", instr.line) for item in source.items]
    put, wide = env.dst(into, instr.line), UINT[total // 8]

    def step(batch: Batch, mask: Array) -> None:
        value = np.zeros(1, wide)
        for at, part in enumerate(parts):
            value = value | (part(batch).astype(wide) << wide(at * width))
        put(batch, value, mask)

    return step


def _split(into: Vec, source: Operand, instr: Instr, env: Env) -> Step:
    """Cut a register into narrower ones, the low bits into the first."""
    total = WIDTHS[instr.type]
    width = total // len(into.items)
    if total > 64:
        raise UnsupportedError("mov of 128 bits", instr.line)
    get = env.src(source, f"b{total}", instr.line)
    puts = [env.dst(item, instr.line) for item in into.items]
    narrow, wide = UINT[width // 8], UINT[total // 8]

    def step(batch: Batch, mask: Array) -> None:
        value = get(batch).copy()
        for at, put in enumerate(puts):
            put(batch, (value >> wide(at * width)).astype(narrow), mask)

    return step


def space_in(mods: tuple[str, ...]) -> str:
    """The state space of an opcode; empty for a generic one."""
    for mod in mods:
        name = mod.split("::")[0]
        if name in ("shared", "global", "local", "const", "param"):
            return name
    return ""


@opcode("cvta")
def compile_cvta(instr: Instr, env: Env) -> Step:
    """Compile cvta: add the window's generic address, or take it away."""
    kind, window = instr.type, GENERIC.get(space_in(instr.mods), 0)
    size = UINT[WIDTHS[kind] // 8]
    shift = size(window & ((1 << WIDTHS[kind]) - 1))
    if "to" in instr.mods:
        return simple(instr, env, (kind,), lambda a: a - shift)
    return simple(instr, env, (kind,), lambda a: a + shift)


def window(space: str) -> int:
    """What the upper bits of generic addresses of a space are."""
    return GENERIC[space] >> int(WINDOW_BITS)


@opcode("isspacep")
def compile_isspacep(instr: Instr, env: Env) -> Step:
    """Compile isspacep by the address's window; global is what lies in no window."""
    space = space_in(instr.mods)
    windows = [window(name) for name in GENERIC]

    def test(address: Array) -> Array:
        upper = address >> WINDOW_BITS
        return upper == window(space) if space in GENERIC else ~np.isin(upper, windows)

    return simple(instr, env, ("b64",), test)


@opcode("mapa")
def map_address(instr: Instr, env: Env) -> Step:
    """Compile mapa: the address names the rank of its block; with one block a cluster, it is the one here."""
    kind = f"b{WIDTHS[instr.type]}"
    address, rank = env.src(instr.operands[1], kind, instr.line), env.src(instr.operands[2], "u32", instr.line)
    put = env.dst(instr.operands[0], instr.line)

    def step(batch: Batch, mask: Array) -> None:
        found = address(batch)
        if batch.block.ranks > 1:
            ranks = np.broadcast_to(rank(batch), mask.shape).astype(found.dtype)
            if (ranks[mask] >= batch.block.ranks).any():
                raise FaultError("an address in a block that the cluster has not", instr.line)
            span = found.dtype.type(SHARED_SPAN)
            found = (
                found // span // found.dtype.type(256) * found.dtype.type(256) * span
                + found % span
                + (ranks + 1) * span
            )
        put(batch, found, mask)

    return step


@opcode("getctarank", "createpolicy")
def always_zero(instr: Instr, env: Env) -> Step:
    """Compile instructions whose result is zero here, or does not matter."""
    put = env.dst(instr.operands[0], instr.line)
    return lambda batch, mask: put(batch, np.zeros(1, np.uint32), mask)


@opcode("tex", "tld4")
def texture(instr: Instr, env: Env) -> Step:
    """Compile reads of textures, which are full of zeros here: a content that each of them may have."""
    head, is_resident = first_of_pair(instr)
    if is_resident is not None:
        raise UnsupportedError(f"unknown form of {instr.opcode}", instr.line)
    items = head.items if isinstance(head, Vec) else (head,)
    puts = [env.dst(item, instr.line) for item in items if not isinstance(item, Sink)]

    def step(batch: Batch, mask: Array) -> None:
        for put in puts:
            put(batch, np.zeros(1, np.uint32), mask)

    return step
