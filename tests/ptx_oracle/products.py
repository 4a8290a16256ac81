"""What the tensor core multiplies in a launch: the bytes of each element of A and B, and to which sums they are added.

The results of a product are its number, so the C of a later one says whose sums it goes on with, through whatever
registers they came. A product starts its sums anew where C is no such number. `mma.sync` and `wgmma` read by section 9
of docs/semantics.md; of a warp group the first warp counts, and `wgmma` reads when it is issued.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from .access import everyone
from .fetch import Array, Batch, Env, Getter
from .model import Imm, Instr, Vec

SIZES = {**dict.fromkeys(("f16", "bf16"), 2), **dict.fromkeys(("e4m3", "e5m2", "s8", "u8"), 1), "tf32": 4}
FIRST = 0x5A000000
"""The number of the first product; nothing else in a kernel should be such a number."""


@dataclass(frozen=True, eq=False)
class Product:
    """One instruction of one warp, or of one warp group.

    Attributes:
        line: The line of the PTX.
        warp: The warp, or the first one of the group.
        number: How many products were before it in the launch.
        before: The number of the product whose sums it goes on with; -1 if they start anew.
        a: The elements of A as numbers, by row and column of K; None if they are in registers and `wgmma` reads them.
        b: The elements of B, by column of N and of K.
    """

    line: int
    warp: int
    number: int
    before: int
    a: Array | None
    b: Array | None


@dataclass
class Products:
    """The products of a launch, in the order in which they were issued."""

    made: list[Product] = field(default_factory=list[Product])

    def add(self, line: int, warp: int, sums: int, a: Array | None, b: Array | None) -> int:
        """A product whose C begins with the number `sums`; give what its results are."""
        before = sums - FIRST if 0 <= sums - FIRST < len(self.made) else -1
        self.made.append(Product(line, warp, len(self.made), before, a, b))
        return FIRST + len(self.made) - 1


class Reader:
    """Reads the operands of one compiled `mma.sync` or `wgmma`."""

    def __init__(self, instr: Instr, env: Env) -> None:
        self.line = instr.line
        rows, wide, deep = (int(each) for each in _shape(instr).groups())
        self.size = SIZES[next(each for each in instr.mods[::-1][1:] if each in SIZES)]
        self.is_group = instr.op == "wgmma"
        head, *operands = instr.operands
        sums = operands[2] if not self.is_group else head
        self.sums = env.src(sums.items[0] if isinstance(sums, Vec) else sums, "b32", instr.line)
        self.goes_on = env.src(operands[2], "pred", instr.line) if self.is_group else None
        self.shapes = (rows, deep), (wide, deep)
        self.gets: list[list[Getter] | Getter] = []
        for each in operands[:2]:
            if isinstance(each, Vec):
                self.gets.append([env.src(item, "b32", instr.line) for item in each.items])
            else:
                self.gets.append(env.src(each, "b64" if self.is_group else "b32", instr.line))
        self.across = across(instr) if self.is_group else (False, False)

    def note(self, products: Products, batch: Batch, mask: Array) -> Array:
        """Write down what each warp multiplies; give the results of each lane."""
        found = np.zeros(len(mask), np.uint32)
        sums = everyone(batch, self.sums(batch))
        goes_on = everyone(batch, self.goes_on(batch)) if self.goes_on else np.ones(len(mask), bool)
        for warp in np.flatnonzero(mask.reshape(-1, 32).all(axis=1)).tolist():
            lane = 32 * warp
            if self.is_group and warp % 4:
                found[lane : lane + 32] = found[lane - 32]
                continue
            a, b = (self._read(at, batch, warp) for at in (0, 1))
            number = products.add(self.line, warp, int(sums[lane]) if goes_on[lane] else 0, a, b)
            found[lane : lane + 32] = number
        return found

    def _read(self, at: int, batch: Batch, warp: int) -> Array | None:
        get, (rows, columns), lanes = self.gets[at], self.shapes[at], slice(32 * warp, 32 * warp + 32)
        if self.is_group:
            if isinstance(get, list):
                return None
            descriptor = int(everyone(batch, get(batch))[32 * warp])
            places = operand_bytes(descriptor, rows, self.size, is_across=self.across[at])
            memory = batch.block.shared.bytes
            if int(places.max()) + self.size > len(memory):
                return np.zeros(places.shape, np.int64)
            parts = [memory[places + byte].astype(np.int64) << 8 * byte for byte in range(self.size)]
            return np.asarray(sum(parts))
        gets = get if isinstance(get, list) else [get]
        words = np.stack([everyone(batch, each(batch))[lanes].astype(np.uint32) for each in gets], 1)
        return fragment(np.ascontiguousarray(words), rows, columns, self.size)


def fragment(words: Array, rows: int, columns: int, size: int) -> Array:
    """The elements that the registers of 32 lanes hold, by row and column of K."""
    parts = words.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[size]).reshape(32, -1, 4 // size)
    lane, register, part = np.indices(parts.shape)
    found = np.zeros((rows, columns), np.int64)
    row = lane // 4 + register % (rows // 8) * 8
    found[row, (register // (rows // 8) * 4 + lane % 4) * (4 // size) + part] = parts
    return found


def operand_bytes(descriptor: int, rows: int, size: int, *, is_across: bool = False) -> Array:
    """The first byte of each element of an operand, by row and column of K; `is_across` if it is MN-major."""
    start, far, down = ((descriptor >> low & 0x3FFF) * 16 for low in (0, 16, 32))
    offset, width = descriptor >> 49 & 7, {0: 0, 1: 128, 2: 64, 3: 32}[descriptor >> 62]
    mask = {0: 0, 32: 1, 64: 3, 128: 7}[width]
    row, at = np.arange(rows)[:, None], np.arange(32 // size)[None, :]
    if is_across:
        byte, line = row * size, at
        span = width or 16
        block, group = (far, down) if width else (down, far)
        linear = byte % span + byte // span * block + line % 8 * span + line // 8 * group
    elif width:
        linear = row % 8 * width + row // 8 * down + at * size
    else:
        linear = row % 8 * 16 + row // 8 * down + at * size // 16 * far + at * size % 16
    address = start + linear
    return address ^ ((((address >> 7) - offset) & mask) << 4)


def across(instr: Instr) -> tuple[bool, bool]:
    """Whether A and B of a `wgmma` are MN-major, by its last operands."""
    flags = [bool(each.value) for each in instr.operands[6:] if isinstance(each, Imm)]
    if isinstance(instr.operands[1], Vec):
        flags = [False, *flags]
    is_a, is_b = (*flags, False, False)[:2]
    return is_a, is_b


def _shape(instr: Instr) -> re.Match[str]:
    found = (re.fullmatch(r"m(\d+)n(\d+)k(\d+)", each) for each in instr.mods)
    return next(each for each in found if each)


def is_followed(instr: Instr) -> bool:
    """Whether the operands of a product are read by the rules of section 9."""
    if instr.op not in ("mma", "wgmma") or "sp" in instr.mods or not instr.operands:
        return False
    if instr.op == "wgmma" and "mma_async" not in instr.mods:
        return False
    shape = next((each for each in instr.mods if re.fullmatch(r"m\d+n\d+k\d+", each)), "")
    return bool(shape) and (instr.op == "wgmma" or shape != "m8n8k4") and any(each in SIZES for each in instr.mods)
