"""The results of opcodes in plain Python integers.

They are written independently of `meaning`, to check it, and for products of trials that do not fit
64 bits.

Source: PTX ISA, Integer Arithmetic Instructions; Logic and Shift Instructions; Comparison and
Selection Instructions (floats: Floating Point Comparisons); Data Movement and Conversion
Instructions (mov, prmt, cvt).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Final

_RELATIONS: Final = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1)}
_RELATIONS_UNSIGNED: Final = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_REALS: Final = {"f16": ("e", 2, 2.0**-14), "bf16": ("f", 4, 2.0**-126), "f32": ("f", 4, 2.0**-126), "f64": ("d", 8, 0)}
"""A letter of `struct`, the bytes, and the smallest normal number."""


def _bits(kind: str) -> int:
    return 1 if kind == "pred" else int(kind.lstrip("busf"))


def _number(value: int, kind: str) -> int:
    """The number that the low bits stand for in a type."""
    size = _bits(kind)
    value %= 1 << size
    return value - (1 << size) if kind[0] == "s" and value >= 1 << (size - 1) else value


def plain(opcode: str, values: Sequence[int]) -> tuple[int, ...] | None:
    """The results as unsigned integers; None if PTX leaves them undefined or they are not known here.

    >>> plain("shr.s32", [0xFFFFFFF8, 40]), plain("div.u32", [1, 0])
    ((4294967295,), None)
    """
    name, *words = opcode.split(".")
    kind = words[-1]
    if name in ("setp", "set"):
        return _comparison(name, words, values)
    if name == "cvt":
        return (_number(_number(values[0], kind), "u" + words[0][1:]),)
    found = _value(name, words[:-1], kind, values)
    if found is None:
        return None
    if "wide" in words:
        return (found % (1 << (2 * _bits(kind))),)
    if name in ("popc", "clz", "bfind"):
        return (found % (1 << 32),)
    if name == "slct":
        return (found % (1 << _bits(words[0])),)
    return (found % (1 << _bits(kind)),)


def _comparison(name: str, words: list[str], values: Sequence[int]) -> tuple[int, ...]:
    kind, relation = words[-1], words[0]
    if relation in _RELATIONS_UNSIGNED:
        relation = _RELATIONS_UNSIGNED[relation]
    holds = _holds(relation, kind, values, ftz="ftz" in words)
    answers = [holds, not holds]
    if len(values) == 3:
        third = bool(values[2])
        combine = words[1]
        answers = [
            each and third if combine == "and" else each or third if combine == "or" else each != third
            for each in answers
        ]
    if name == "setp":
        return tuple(int(each) for each in answers)
    if "f32" in words[:-1]:
        return (0x3F800000 if answers[0] else 0,)
    return (0xFFFFFFFF if answers[0] else 0,)


def _holds(relation: str, kind: str, values: Sequence[int], *, ftz: bool) -> bool:
    if kind not in _REALS:
        a, b = (_number(value, kind) for value in values[:2])
        return ((a > b) - (a < b)) in _RELATIONS[relation]
    one, other = (_real(value, kind, ftz=ftz) for value in values[:2])
    is_unordered = math.isnan(one) or math.isnan(other)
    if relation in ("num", "nan") or is_unordered:
        return is_unordered == (relation == "nan" or relation.endswith("u"))
    return ((one > other) - (one < other)) in _RELATIONS[relation.removesuffix("u")]


def _real(value: int, kind: str, *, ftz: bool) -> float:
    """The number that IEEE 754 gives some bits."""
    if kind == "bf16":
        value, kind = value << 16, "f32"
    letter, size, smallest = _REALS[kind]
    found: float = struct.unpack(f"<{letter}", value.to_bytes(size, "little"))[0]
    return 0.0 if ftz and abs(found) < smallest else found


def _value(name: str, words: list[str], kind: str, values: Sequence[int]) -> int | None:
    size = _bits(kind)
    numbers = [_number(value, kind) for value in values]
    raw = list(values)
    match name:
        case "mov":
            return raw[0]
        case "add":
            return raw[0] + raw[1]
        case "sub":
            return raw[0] - raw[1]
        case "mul" | "mad":
            product = numbers[0] * numbers[1]
            if "hi" in words:
                product //= 1 << size
            return product + (raw[2] if name == "mad" else 0)
        case "mul24" | "mad24":
            low = [_number(value, kind[0] + "24") for value in values[:2]]
            product = low[0] * low[1] // (1 << 16 if "hi" in words else 1)
            return product + (raw[2] if name == "mad24" else 0)
        case "div" | "rem":
            a, b = numbers
            if b == 0 or (b == -1 and a == -(1 << (size - 1))):
                return None
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if name == "div" else a - b * quotient
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "abs":
            return abs(numbers[0])
        case "neg":
            return -numbers[0]
        case "sad":
            return raw[2] + abs(numbers[0] - numbers[1])
        case "and":
            return raw[0] & raw[1]
        case "or":
            return raw[0] | raw[1]
        case "xor":
            return raw[0] ^ raw[1]
        case "not":
            return ~raw[0]
        case "cnot":
            return int(raw[0] == 0)
        case "shl":
            return raw[0] * 2 ** min(raw[1], 64)
        case "shr":
            return numbers[0] // 2 ** min(raw[1], 64)
        case "selp":
            return raw[0] if raw[2] else raw[1]
        case "slct":
            return raw[0] if _number(raw[2], "s32") >= 0 else raw[1]
        case _:
            return _of_bits(name, words, kind, raw)


def _of_bits(name: str, words: list[str], kind: str, raw: list[int]) -> int | None:
    size = _bits(kind)
    text = format(raw[0], f"0{size}b")
    match name:
        case "popc":
            return text.count("1")
        case "clz":
            return (text + "1").index("1")
        case "brev":
            return int(text[::-1], 2)
        case "bfind":
            seen = text.translate(str.maketrans("01", "10")) if kind[0] == "s" and text[0] == "1" else text
            if "1" not in seen:
                return -1
            return seen.index("1") if "shiftamt" in words else size - 1 - seen.index("1")
        case "bfe":
            return _field(text, raw[1] % 256, raw[2] % 256, signed=kind[0] == "s")
        case "bfi":
            into = list(format(raw[1], f"0{size}b")[::-1])
            for at in range(raw[3] % 256):
                place = raw[2] % 256 + at
                if place < size and at < size:
                    into[place] = text[::-1][at]
            return int("".join(into)[::-1], 2)
        case "shf":
            count = raw[2] % 32 if "wrap" in words else min(raw[2], 32)
            bits = format(raw[1], "032b") + format(raw[0], "032b")
            return int(bits[count : count + 32] if "l" in words else bits[32 - count : 64 - count], 2)
        case "lop3":
            rows = [(raw[0] >> at & 1) * 4 + (raw[1] >> at & 1) * 2 + (raw[2] >> at & 1) for at in range(32)]
            return sum((raw[3] >> row & 1) << at for at, row in enumerate(rows))
        case "prmt":
            parts = (raw[0] | raw[1] << 32).to_bytes(8, "little")
            chosen = [raw[2] >> 4 * at & 15 for at in range(4)]
            picked = [255 * (parts[each - 8] >> 7) if each > 7 else parts[each] for each in chosen]
            return int.from_bytes(bytes(picked), "little")
        case "szext":
            count = raw[1] % 32 if "wrap" in words else min(raw[1], 32)
            return _number(raw[0], f"{kind[0]}{count}") if count else 0
        case "bmsk":
            start, count = (each % 32 if "wrap" in words else each for each in raw)
            return sum(1 << at for at in range(32) if start <= at < start + count)
        case _:
            return None


def _field(text: str, start: int, count: int, *, signed: bool) -> int:
    """Bits from `start` up; those beyond the last one are copies of the field's sign."""
    size, up = len(text), text[::-1]
    sign = up[min(start + count - 1, size - 1)] if signed and count else "0"
    field = [up[start + at] if at < count and start + at < size else sign for at in range(size)]
    return int("".join(field)[::-1], 2)
