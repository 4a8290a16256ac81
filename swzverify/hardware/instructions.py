"""The shared-memory instructions as data: what each kind of warp instruction does with 32 addresses.

Each row holds the facts that the cost rule (`wavefronts`) and every encoder of it need. Only
`targets` picks rows by name, to say how well each is known on a chip.

Source: measured on an H100, tests/data/README.md; widths and spellings, PTX ISA 8.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from swzverify.errors import SwzError, nearest
from swzverify.hardware.kinds import Kind
from swzverify.hardware.spelling import MAX_LANE_BYTES, canonical_name
from swzverify.hardware.unlisted import is_spelling, unlisted

LANES = 32
"""Lanes of a warp. Source: CUDA Programming Guide 13, 5.1.3, table 30."""
BANKS = 32
"""Banks of shared memory, on every target. Source: CUDA Programming Guide 13, 5.1.3, table 31."""
BANK_WORD_BYTES = 4
"""Successive words of this size lie in successive banks. Source: CUDA Programming Guide 13,
2.3.4.2.
"""
BANK_PERIOD_BYTES = BANKS * BANK_WORD_BYTES
"""Addresses this far apart lie in the same bank."""
SECTOR_BYTES = 32
"""Global memory is moved in aligned pieces of this size, and two lanes of a 16-byte `cp.async` that
go as one unit write one. Source: CUDA C++ Best Practices Guide 13, "Coalesced Access to Global
Memory"; tests/data/README.md, h100_cp_async16_rule.npz.
"""


class Space(StrEnum):
    """Where an instruction's addresses lie."""

    SHARED = "shared memory"
    GLOBAL = "global memory"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One row of the table.

    - `width_bytes`: bytes from each lane's address (16, a matrix row, for the matrix ones).
    - `group_lanes`: how many consecutive lanes go together.
    - `address_lanes`: the leading lanes whose addresses count.
    - `joins`: neighbouring groups join when the lanes agree in pairs (plain loads of 8 and 16
      bytes).
    - `counts_equal_words`: equal words in a bank are not merged.
    - `warp_wide`: all 32 lanes must run it.
    - `by_octets`: it has a rule of its own, the octet rule: what counts is how chunks move between
      sectors, not banks.
    - `source`: where the row is from.
    - `space`: where its addresses lie. In global memory there are no banks: all lanes are one
      group, and different sectors count.

    >>> find_instruction("ldmatrix.x2").group_count
    2
    """

    name: str
    width_bytes: int
    kind: Kind
    group_lanes: int
    address_lanes: int
    joins: bool
    counts_equal_words: bool
    warp_wide: bool
    by_octets: bool
    source: str
    space: Space = field(default=Space.SHARED, repr=False)

    def __post_init__(self) -> None:
        """Refuse a row that contradicts itself."""
        if self.width_bytes not in {1, 2, 4, 8, MAX_LANE_BYTES}:
            raise ValueError(
                f"{self.name}: width_bytes is {self.width_bytes}, not a power of two up to {MAX_LANE_BYTES}"
            )
        if not 0 < self.address_lanes <= LANES or self.address_lanes % self.group_lanes:
            raise ValueError(f"{self.name}: {self.address_lanes} lanes do not split into groups of {self.group_lanes}")
        if self.joins and (self.kind is not Kind.LOAD or self.group_lanes == LANES):
            raise ValueError(f"{self.name}: only plain loads of more than one group join")

    @property
    def words(self) -> int:
        """Bank words that a lane touches: 1 up to 4 bytes, then width / 4."""
        return max(1, self.width_bytes // BANK_WORD_BYTES)

    @property
    def is_global(self) -> bool:
        """Whether its addresses lie in global memory."""
        return self.space is Space.GLOBAL

    @property
    def unit_bytes(self) -> int:
        """The size of a unit in bytes.

        Each aligned lane touches one unit; the cost depends on which lanes touch the same one. A unit is as
        wide as the access, and at least a word. In global memory it is a sector.
        """
        return SECTOR_BYTES if self.is_global else max(BANK_WORD_BYTES, self.width_bytes)

    @property
    def slots(self) -> int:
        """The number of units that lie side by side in the banks.

        It is 1 in global memory, where any two different units count.

        >>> find_instruction("ld.shared.v4.b32").slots
        8
        """
        return 1 if self.is_global else BANK_PERIOD_BYTES // self.unit_bytes

    @property
    def group_count(self) -> int:
        """The number of groups of a full warp, before any join.

        It is the least number of wavefronts that a full warp takes without a join.
        """
        return self.address_lanes // self.group_lanes

    @property
    def joined_group_lanes(self) -> int:
        """The lanes of a group after neighbouring groups joined; `group_lanes` if the row does not join."""
        return 2 * self.group_lanes if self.joins else self.group_lanes


def turn_bytes(row: Instruction) -> int:
    """The size in bytes of a step of all addresses of a warp that changes no cost.

    A multiple of it changes no cost either. Whole words rotate the banks, the octet rule looks at whole
    lines, and sectors are counted whole.

    >>> turn_bytes(find_instruction("ld.shared.v4.b32")), turn_bytes(find_instruction("cp.async.16"))
    (4, 128)
    """
    if row.is_global:
        return SECTOR_BYTES
    return BANK_PERIOD_BYTES if row.by_octets else BANK_WORD_BYTES


_MEASURED = "measured on an H100: tests/data/h100_patterns.npz, op {}"
_CALIBRATED = "measured on an H100: tests/data/h100_calibration.npz"
_OCTETS = "cp.async.cg, measured on an H100: tests/data/h100_cp_async16_rule.npz"


def _lane_wise(name: str, width_bytes: int, kind: Kind, source: str, *, by_octets: bool = False) -> Instruction:
    return Instruction(
        name=name,
        width_bytes=width_bytes,
        kind=kind,
        group_lanes=min(LANES, BANK_PERIOD_BYTES // width_bytes),
        address_lanes=LANES,
        joins=kind is Kind.LOAD and width_bytes >= 8,
        counts_equal_words=kind in (Kind.CP_ASYNC, Kind.ATOMIC) and not by_octets,
        warp_wide=False,
        by_octets=by_octets,
        source=source,
    )


def _plain_rows(kind: Kind, opcode: str, op: str) -> list[Instruction]:
    return [
        _lane_wise(f"{opcode}.b8", 1, kind, _MEASURED.format(f"{op}8")),
        _lane_wise(f"{opcode}.b16", 2, kind, _MEASURED.format(f"{op}16")),
        _lane_wise(f"{opcode}.b32", 4, kind, _MEASURED.format(f"{op}32")),
        _lane_wise(f"{opcode}.b64", 8, kind, _CALIBRATED),
        _lane_wise(f"{opcode}.v2.b32", 8, kind, _MEASURED.format(f"{op}64")),
        _lane_wise(f"{opcode}.v4.b32", 16, kind, _MEASURED.format(f"{op}128")),
        _lane_wise(f"{opcode}.v2.b64", 16, kind, _CALIBRATED),
    ]


def _matrix(kind: Kind, count: int, trans: bool, source: str) -> Instruction:
    return Instruction(
        name=f"{kind.value}.x{count}{'.trans' if trans else ''}",
        width_bytes=16,
        kind=kind,
        group_lanes=8,
        address_lanes=8 * count,
        joins=False,
        counts_equal_words=False,
        warp_wide=True,
        by_octets=False,
        source=source,
    )


def _matrix_rows() -> list[Instruction]:
    rows = [
        _matrix(Kind.LDMATRIX, count, trans, _MEASURED.format(f"LDSM{count}{'T' if trans else ''}"))
        for trans in (False, True)
        for count in (1, 2, 4)
    ]
    rows += [_matrix(Kind.STMATRIX, count, False, _MEASURED.format(f"STSM{count}")) for count in (1, 2, 4)]
    rows += [_matrix(Kind.STMATRIX, count, True, _CALIBRATED) for count in (1, 2, 4)]
    return rows


def _rows() -> list[Instruction]:
    return [
        *_plain_rows(Kind.LOAD, "ld.shared", "LDS"),
        *_plain_rows(Kind.STORE, "st.shared", "STS"),
        *_matrix_rows(),
        _lane_wise("cp.async.4", 4, Kind.CP_ASYNC, _MEASURED.format("CPASYNC4")),
        _lane_wise("cp.async.8", 8, Kind.CP_ASYNC, _MEASURED.format("CPASYNC8")),
        _lane_wise("cp.async.16", 16, Kind.CP_ASYNC, _OCTETS, by_octets=True),
        _lane_wise("cp.async.ca.16", 16, Kind.CP_ASYNC, _CALIBRATED),
        _lane_wise("atom.shared.add.u32", 4, Kind.ATOMIC, _MEASURED.format("ATOMS_ADD")),
    ]


INSTRUCTIONS: Mapping[str, Instruction] = MappingProxyType({row.name: row for row in _rows()})
"""Every instruction by its name, in the order of the documentation."""


def find_instruction(name: str) -> Instruction:
    """The row of a name or of a PTX spelling of it.

    Raises:
        SwzError: SWZ401 for an unknown name (with the nearest one), or an instruction that is not
            modelled or has another name elsewhere (with the reason, and what to write).

    >>> find_instruction("ld.shared.v4.f32").name
    'ld.shared.v4.b32'
    >>> find_instruction("ldmatrix.x4.trans").address_lanes
    32
    """
    key = name.strip()
    row = INSTRUCTIONS.get(key)
    if row is not None:
        return row
    canonical = canonical_name(key)
    if canonical is not None:
        return INSTRUCTIONS[canonical]
    if key.lower() != key and (key.lower() in INSTRUCTIONS or is_spelling(key.lower())):
        raise SwzError("SWZ401", f"unknown instruction '{name}'", hint=f"did you mean '{key.lower()}'?")
    told = unlisted(key)
    if told is not None:
        raise SwzError("SWZ401", f"instruction '{name}' is not in the table: {told[0]}", hint=told[1])
    hint = nearest(key, INSTRUCTIONS) or f"known are {', '.join(INSTRUCTIONS)}"
    raise SwzError("SWZ401", f"unknown instruction '{name}'", hint=hint)
