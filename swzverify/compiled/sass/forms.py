"""The machine instructions that read registers through the operand reuse cache, and their slots.

Only slots that are certain are here.

Source: the grammar of S. Gray's maxas (fields r8, r20 and r39, and the types that take reuse flags)
for Maxwell and Pascal; for Volta the reuse bits (122 to 125) of the encodings that nvdisasm prints
for sm_75 to sm_90 (tests/data/reuse_slots.txt).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Slots = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """An arithmetic instruction: its sources' slots in order, None where a slot is not certain.

    `writes` tells whether its first operand is the register of the result; `barred` are modifiers
    with which it is another instruction, of wider operands for example.
    """

    slots: Slots
    writes: bool = True
    barred: frozenset[str] = frozenset()


_ONE: Final[Slots] = (3,)
_TWO: Final[Slots] = (2, 3)
_THREE: Final[Slots] = (2, 3, 4)
_TWO_OPEN: Final[Slots] = (2, None)
_THREE_OPEN: Final[Slots] = (2, None, None)
_WIDE: Final = frozenset({"WIDE", "HI", "64"})


def _all(names: str, form: Form) -> dict[str, Form]:
    return dict.fromkeys(names.split(), form)


_MAXWELL: Final[Mapping[str, Form]] = {
    **_all("FFMA IADD3 LOP3 HFMA2 PRMT SHF BFI XMAD FCMP ICMP DP4A DP2A", Form(_THREE)),
    **_all("FADD FMUL IADD LOP SHL SHR BFE ISCADD IMNMX FMNMX SEL FSET ISET HADD2 HMUL2 LEA", Form(_TWO)),
    **_all("FADD32I FMUL32I IADD32I LOP32I ISCADD32I", Form(_TWO)),
    **_all("FSETP ISETP HSETP2", Form(_TWO, writes=False)),
    **_all("MOV MOV32I", Form(_ONE)),
}
_VOLTA: Final[Mapping[str, Form]] = {
    **_all("FFMA IADD3 LOP3", Form(_THREE)),
    "IMAD": Form(_THREE, barred=_WIDE),
    **_all("HFMA2 PRMT SHF", Form(_THREE_OPEN, barred=frozenset({"64", "U64", "S64"}))),
    "FMUL": Form(_TWO),
    "FADD": Form((2, 4)),  # its second source is the addend of a multiply-add
    **_all("IMNMX FMNMX SEL FSEL FSET HADD2 HMUL2 LEA", Form(_TWO_OPEN)),
    **_all("FSETP ISETP HSETP2", Form(_TWO_OPEN, writes=False)),
    **_all("MOV IABS", Form((None,))),
}
_LEA_HI: Final = {True: Form(_THREE), False: Form(_THREE_OPEN)}

OTHERS: Final = frozenset(
    {"LD", "LDG", "LDS", "LDL", "LDC", "LDSM", "LDGSTS", "LDGDEPBAR", "ST", "STG", "STS", "STL", "STSM"}
    | {"ATOM", "ATOMS", "ATOMG", "RED", "CCTL", "CCTLL"}
    | {"TEX", "TEXS", "TLD", "TLDS", "TLD4", "TLD4S", "TXQ", "TXD", "TMML", "SULD", "SUST", "SUATOM", "SURED"}
    | {"MUFU", "RRO", "F2F", "F2I", "I2F", "I2I", "FRND", "F2FP", "I2FP", "F2IP", "FLO", "POPC", "BREV"}
    | {"S2R", "SHFL", "VOTE", "MATCH", "REDUX", "R2UR", "S2UR", "ULDC", "UMOV", "UIADD3", "UIMAD", "ULOP3", "USHF"}
    | {"ULEA", "UISETP", "USEL", "UPRMT", "UFLO", "UPOPC", "UBREV", "UPLOP3", "UP2UR", "VOTEU"}
)
"""Instructions that read their registers in other ways: memory, textures, conversions, special
functions.
"""

CONTROL: Final = frozenset(
    {"BRA", "BRX", "JMP", "JMX", "SSY", "SYNC", "PBK", "BRK", "PCNT", "CONT", "EXIT", "RET", "PRET", "BPT", "KILL"}
    | {"RTT", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD", "BAR", "NOP", "DEPBAR", "MEMBAR", "FENCE", "ERRBAR"}
    | {"NANOSLEEP", "BMOV", "B2R", "R2B", "PSETP", "PSET", "PLOP3", "P2R", "R2P", "CS2R", "GETCRSPTR"}
)
"""Instructions that count for nothing themselves, but after them nothing is surely in the cache."""
CALLS: Final = frozenset({"CAL", "JCAL", "CALL"})
INDIRECT: Final = frozenset({"BRX", "JMX", "BRXU", "JMXU"})
"""Branches with targets that the listing does not name."""
_TARGETED: Final = frozenset({"BRA", "JMP", "SSY", "PBK", "PCNT", "BSSY"})
"""Instructions that always name a place in the code, to which control may come."""
_PERHAPS_TARGETED: Final = CALLS | {"PRET", "RET"}
"""Instructions that name a place of this code, or other code, or a register."""


def may_name_a_place(name: str, modifiers: tuple[str, ...]) -> bool:
    """Whether control may come to a place that the operands name.

    >>> may_name_a_place("WARPSYNC", ("COLLECTIVE",)), may_name_a_place("WARPSYNC", ("ALL",))
    (True, False)
    """
    is_collective = name == "WARPSYNC" and "COLLECTIVE" in modifiers
    return is_collective or name in _TARGETED | _PERHAPS_TARGETED | INDIRECT


def must_name_a_place(name: str) -> bool:
    """Whether such an instruction may go anywhere in the listing if it names no place of it.

    A branch may, but a call or a return goes to other code.

    >>> must_name_a_place("BRA"), must_name_a_place("CALL")
    (True, False)
    """
    return name not in _PERHAPS_TARGETED


def form_of(name: str, modifiers: tuple[str, ...], banks: int) -> Form | None:
    """How an arithmetic instruction reads its registers; None where that is not known.

    `banks` tells Maxwell and Pascal (4) from Volta (2).

    >>> form_of("FFMA", ("FTZ",), 4).slots, form_of("IMAD", ("WIDE",), 2)
    ((2, 3, 4), None)
    """
    is_maxwell = banks == 4
    if name == "LEA" and "HI" in modifiers:
        return _LEA_HI[is_maxwell]
    found = (_MAXWELL if is_maxwell else _VOLTA).get(name)
    return None if found is None or found.barred & set(modifiers) else found
