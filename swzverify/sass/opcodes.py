"""The machine instructions that touch shared memory, or may do so, and the bits that a lane moves.

Source: CUDA Binary Utilities, Instruction Set Reference; what nvdisasm 13 prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Family(StrEnum):
    """What a machine instruction does.

    - `LOAD`, `STORE`: LDS and STS, or LD and ST, whose addresses are generic.
    - `LDMATRIX`, `STMATRIX`: LDSM and STSM.
    - `COPY`: LDGSTS, which is cp.async.
    - `ATOMIC`: ATOMS, or the generic ATOM.
    - `OTHER`: barriers, bulk copies, matrix products and whatever has no addresses of lanes.
    """

    LOAD = "load"
    STORE = "store"
    LDMATRIX = "ldmatrix"
    STMATRIX = "stmatrix"
    COPY = "copy"
    ATOMIC = "atomic"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Opcode:
    """A machine instruction: `width_bits` from each lane's address, None where it is not understood;
    `matrices` of LDSM and STSM; `adds_one` tells of the atomic that merges equal words;
    `bypasses` of the copy that leaves out L1.
    """

    family: Family
    width_bits: int | None
    matrices: int = 0
    adds_one: bool = False
    bypasses: bool = False


_BITS: Final = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "F16": 16, "32": 32, "64": 64, "128": 128}
_PLAIN: Final = {
    "LDS": (Family.LOAD, {"U"}),
    "STS": (Family.STORE, set[str]()),
    "LD": (Family.LOAD, {"E", "STRONG", "WEAK", "SM", "CTA", "GPU", "SYS", "EF", "EL", "EU", "LU", "NA"}),
    "ST": (Family.STORE, {"E", "STRONG", "WEAK", "SM", "CTA", "GPU", "SYS", "EF", "EL", "EU", "LU", "NA"}),
    "LDGSTS": (Family.COPY, {"E", "BYPASS", "LTC64B", "LTC128B", "LTC256B", "ZFILL"}),
}
_MATRIX: Final = re.compile(r"(LDSM|STSM)\.16\.MT?88(?:\.([24]))?")
_ATOMIC: Final = re.compile(
    r"ATOMS\.(?:(?P<one>POPC\.INC\.32)|(?:ADD|MIN|MAX|INC|DEC|AND|OR|XOR|EXCH)(?:\.[SU]32)?"
    r"|(?:CAS|CAST\.SPIN|EXCH|ADD)(?P<wide>\.64)?)"
)
_ATOMIC_NAMES: Final = frozenset({"ATOMS", "ATOM", "RED"})
_OTHERS: Final = re.compile(
    r"(?:SYNCS|ARRIVES|UBLKCP|UBLKRED|UBLKPF|UTMA\w+|UTC\w+|[HIQBFOD]GMMA|LDT\w*|STT\w*|REDS|STAS|LDSTS|UREDS|ULDS"
    r"|USTS|CCTLS|LDS\w+|STS\w+|LDGSTS\w+)"
)


def opcode_of(text: str) -> Opcode | None:
    """What an instruction is; None of one that leaves shared memory alone.

    >>> opcode_of("LDS.128").width_bits, opcode_of("ATOMS.POPC.INC.32").adds_one
    (128, True)
    >>> opcode_of("LDS.U.BY7").width_bits, opcode_of("LDG.E.128")
    (None, None)
    """
    name, *words = text.split(".")
    if name in _PLAIN:
        family, known = _PLAIN[name]
        sizes = [_BITS[word] for word in words if word in _BITS]
        plain = len(sizes) <= 1 and all(word in known or word in _BITS for word in words)
        return Opcode(family, (sizes or [32])[0] if plain else None, bypasses="BYPASS" in words)
    if name in ("LDSM", "STSM"):
        family = Family.LDMATRIX if name == "LDSM" else Family.STMATRIX
        found = _MATRIX.fullmatch(text)
        return Opcode(family, None) if found is None else Opcode(family, 128, int(found[2] or 1))
    if name in _ATOMIC_NAMES:
        found = _ATOMIC.fullmatch(text)
        bits = None if found is None else 64 if found["wide"] else 32
        return Opcode(Family.ATOMIC, bits, adds_one=found is not None and found["one"] is not None)
    return Opcode(Family.OTHER, None) if _OTHERS.fullmatch(name) else None
