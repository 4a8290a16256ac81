"""The machine instructions that touch shared memory, or may do so, and the bits that a lane moves.

Source: CUDA Binary Utilities, Instruction Set Reference; what nvdisasm 13 prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from swzverify.hardware.kinds import BY_MACHINE, Kind


@dataclass(frozen=True, slots=True)
class Opcode:
    """The meaning of a machine instruction.

    `kind` is None for barriers, bulk copies, matrix products and others without addresses of lanes.
    `width_bits` are those from each lane's address, None if it is not understood. `matrices` is the
    number of LDSM and STSM. `adds_one` says that it is the atomic that merges equal words, `bypasses`
    that it is the copy that bypasses L1, and `fills` that a copy may write zeros for a part of its
    bytes.
    """

    kind: Kind | None
    width_bits: int | None
    matrices: int = 0
    adds_one: bool = False
    bypasses: bool = False
    fills: bool = False


_BITS: Final = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "F16": 16, "32": 32, "64": 64, "128": 128}
_PLAIN: Final = {
    "LDS": (Kind.LOAD, {"U"}),
    "STS": (Kind.STORE, set[str]()),
    "LD": (Kind.LOAD, {"E", "STRONG", "WEAK", "SM", "CTA", "GPU", "SYS", "EF", "EL", "EU", "LU", "NA"}),
    "ST": (Kind.STORE, {"E", "STRONG", "WEAK", "SM", "CTA", "GPU", "SYS", "EF", "EL", "EU", "LU", "NA"}),
    "LDGSTS": (Kind.CP_ASYNC, {"E", "BYPASS", "LTC64B", "LTC128B", "LTC256B", "ZFILL"}),
}
_MATRIX: Final = re.compile(r"(\w+)\.16\.MT?88(?:\.([24]))?")
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
    """What an instruction is; None for one that leaves shared memory alone.

    >>> opcode_of("LDS.128").width_bits, opcode_of("ATOMS.POPC.INC.32").adds_one
    (128, True)
    >>> opcode_of("LDS.U.BY7").width_bits, opcode_of("LDG.E.128")
    (None, None)
    """
    name, *words = text.split(".")
    if name in _PLAIN:
        plain_kind, known = _PLAIN[name]
        sizes = [_BITS[word] for word in words if word in _BITS]
        plain = len(sizes) <= 1 and all(word in known or word in _BITS for word in words)
        width_bits = (sizes or [32])[0] if plain else None
        return Opcode(plain_kind, width_bits, bypasses="BYPASS" in words, fills="ZFILL" in words)
    kind = BY_MACHINE.get(name)
    if kind is not None and kind.moves_matrices:
        found = _MATRIX.fullmatch(text)
        return Opcode(kind, None) if found is None else Opcode(kind, 128, int(found[2] or 1))
    if name in _ATOMIC_NAMES:
        found = _ATOMIC.fullmatch(text)
        bits = None if found is None else 64 if found["wide"] else 32
        return Opcode(Kind.ATOMIC, bits, adds_one=found is not None and found["one"] is not None)
    return Opcode(None, None) if _OTHERS.fullmatch(name) else None
