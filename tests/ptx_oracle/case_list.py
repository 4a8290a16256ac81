"""Puts the cases together: one PTX text, the kernels' names, and the numbers that all get."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

import numpy as np

from . import cases, cases_lanes

THREADS = 64
EDGES = (0, 1, 2, 31, 32, 63, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


class Case(NamedTuple):
    """One kernel: its name, its body, and how its answers are compared."""

    name: str
    body: str
    compare: str
    """`exact`, `f32`, `f64`, `f16` or their pairs (but for what is no number), or `rough`."""


def result_of(body: str) -> str:
    """The letter of the result's register: the widest of %d0, %r0, %h0, %p0 that the body names."""
    return next(letter for letter in "drhp" if re.search(rf"%{letter}0\b", body))


def float_kind(body: str) -> str:
    """How to compare the answers of a case with floats."""
    if "mov.b32 %r0, %f0" in body:
        return "f32"
    if "mov.b64 %d0, %e0" in body:
        return "f64"
    into = re.search(r"(bf16x2|f16x2|bf16|f16)(?:\.\w+)? %[hr]0,", body)
    return into[1] if into else "exact"


def all_cases() -> list[Case]:
    """Every case, in a fixed order."""
    exact = [*cases.integer_cases(), *cases.bit_cases(), *cases.convert_cases()]
    bodies = [(body, "exact") for body in [*exact, *cases_lanes.lane_cases()]]
    bodies += [(body, float_kind(body)) for body in cases.float_cases()]
    bodies += [(body, "rough") for body in cases.rough_cases()]
    return [Case(f"case_{at}", body, compare) for at, (body, compare) in enumerate(bodies)]


def text_of(found: list[Case]) -> str:
    """The PTX of all cases."""
    parts = [cases.HEADER, cases.GLOBALS]
    for case in found:
        end = cases.ENDS[result_of(case.body)]
        parts.append(f"{cases.START.format(name=case.name)}  {case.body}\n  {end}\n  ret;\n}}\n")
    return "".join(parts)


def inputs() -> np.ndarray:
    """Three 64-bit numbers for each lane: edges of the types, and random bits of random lengths."""
    random = np.random.default_rng(2024)
    bits = random.integers(0, 2**64, (THREADS, 3), dtype=np.uint64)
    bits >>= random.integers(0, 64, (THREADS, 3), dtype=np.uint64) * random.integers(
        0, 2, (THREADS, 3), dtype=np.uint64
    )
    edges = np.array(EDGES, np.uint64)
    wide = edges | edges << np.uint64(32)
    for column in range(3):
        places = random.permutation(THREADS)[: THREADS // 2]
        bits[places, column] = random.choice(np.concatenate([edges, wide, ~edges]), len(places))
    return bits


def checksum(body: str) -> int:
    """A number that tells whether a case is still the one that the chip answered."""
    return zlib.crc32(body.encode())
