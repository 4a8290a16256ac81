"""The modifiers of instructions that go to memory, in the order of the PTX ISA.

ptxas takes them in any order and makes the same machine code of them (tests/ptx/test_modifiers.py
asks it), and headers use that: `ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16`.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.ptx.syntax import compiled

_BASES: Final = compiled(r"((?:ld|st)(?:matrix)?|atom|red|cp\.async)\.(.+)")
_RANKS: Final = tuple(
    compiled(each)
    for each in (
        r"sync|weak|volatile|relaxed|acquire|release|acq_rel|mmio",
        r"aligned|cta|cluster|gpu|sys",
        r"m\d+n\d+",
        r"x[124]",
        r"trans",
        r"(?:shared|param)(?:::\w+)?|const|global|local",
        r"c[agsv]|lu|w[bt]",
        r"nc|add|min|max|inc|dec|and|or|xor|exch|cas",
        r"noftz",
        r"L1::\w+",
        r"L2::\w+(?:::\w+)*",
        r"v[248]",
        r"(?:b|s|u|f|bf)(?:8|16|32|64|128)(?:x2)?",
    )
)
_CACHE: Final = 6


def in_order(opcode: str) -> str:
    """An opcode with its modifiers in the order of the PTX ISA.

    An unknown instruction, or one with an unknown modifier, stays unchanged.

    >>> in_order("ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16"), in_order("red.shared.add.relaxed.cta.u32")
    ('ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16', 'red.relaxed.cta.shared.add.u32')
    >>> in_order("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes")
    'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes'
    """
    found = _BASES.fullmatch(opcode)
    if found is None:
        return opcode
    ranked: list[tuple[int, str]] = []
    for modifier in found[2].split("."):
        rank = next((at for at, names in enumerate(_RANKS) if names.fullmatch(modifier)), None)
        if rank is None:
            return opcode
        # A copy says first how it caches; of its two spaces the first one is where it writes.
        ranked.append((-1 if rank == _CACHE and found[1] == "cp.async" else rank, modifier))
    ranked.sort(key=lambda each: each[0])
    return ".".join((found[1], *(modifier for _, modifier in ranked)))
