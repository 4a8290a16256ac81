"""Arguments of a launch: numbers, buffers of seeded contents, and records of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import OracleError

FLOAT_KINDS = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
WHOLE_KINDS = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "i32": np.uint32}


@dataclass(frozen=True)
class Buffer:
    """Global memory of some bytes whose address is an argument.

    `fill` is zero, f32, f64 or f16 (numbers from 0 to 1), u8 to u64 and i32 (any bits), mod:N
    (32-bit whole numbers below N), iota (0, 1, 2, ... in 32 bits), or bf16. `content` (bytes or an
    array) takes its place where it is given. The argument is the address of the byte at `begin`.
    """

    size: int
    fill: str = "zero"
    content: Any = None
    begin: int = 0

    def data(self, seed: int, place: int) -> np.ndarray:
        """The contents as bytes; they depend on the seed and on the argument's place."""
        if self.content is not None:
            raw = bytes(self.content) if isinstance(self.content, bytes | bytearray) else self.content.tobytes()
            return np.frombuffer(raw.ljust(self.size, b"\0"), np.uint8)
        random = np.random.default_rng([seed, place])
        count = self.size // 4 + 1
        if self.fill == "zero":
            return np.zeros(self.size, np.uint8)
        if self.fill in FLOAT_KINDS:
            values: np.ndarray = random.random(2 * count).astype(FLOAT_KINDS[self.fill])
        elif self.fill == "bf16":
            values = (random.random(2 * count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        elif self.fill in WHOLE_KINDS:
            return np.frombuffer(random.bytes(self.size), np.uint8)
        elif self.fill.startswith("mod:"):
            values = random.integers(0, max(1, int(self.fill[4:])), count).astype(np.uint32)
        elif self.fill == "iota":
            values = np.arange(count, dtype=np.uint32)
        else:
            raise OracleError(f"unknown contents {self.fill!r}")
        return values.view(np.uint8)[: self.size]


@dataclass(frozen=True)
class Field:
    """A part of a record argument: its offset, its PTX type, its value."""

    offset: int
    type: str
    value: int | float | Buffer


@dataclass(frozen=True)
class Record:
    """A record (struct) as an argument."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, *parts: tuple[str, int | float | Buffer]) -> Record:
        """Lay out parts (PTX type, value) as C does, each at its natural alignment."""
        fields, at = [], 0
        for kind, value in parts:
            width = int(kind[1:]) // 8
            at = -(-at // width) * width
            fields.append(Field(at, kind, value))
            at += width
        return cls(tuple(fields))


Argument = int | float | Buffer | Record | bytes


def number_bytes(value: float, kind: str) -> bytes:
    """A number as the bytes of a PTX type."""
    width = int(kind[1:]) // 8
    if kind[0] == "f" or (isinstance(value, float) and kind[0] == "b"):
        return np.array(value, {2: np.float16, 4: np.float32, 8: np.float64}[width]).tobytes()
    return (int(value) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def shape3(values: Sequence[int]) -> tuple[int, int, int]:
    """Fill up a shape with ones."""
    found = [*(int(value) for value in values), 1, 1, 1][:3]
    if min(found) < 1:
        raise OracleError(f"bad shape {tuple(values)}")
    return found[0], found[1], found[2]
