"""The cost of a warp's shared-memory access: the rule in plain integers, and for many warps at once.

`access_cost` follows the rule word by word and is the one to check. `cost_many` is for exhaustive
search: it counts whole aligned units by sorting. The two share no code, so each tests the other. The
rule of `cp.async.cg` of 16 bytes, in both forms, is in `octets`.

Source: measured on an H100, tests/data/README.md; the rule in words is docs/hardware.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swzverify.core.shown import Line, Shown, html_facts, html_table, text_table
from swzverify.core.words import counted, spans
from swzverify.errors import SwzError
from swzverify.hardware.instructions import BANK_WORD_BYTES, BANKS, LANES, Instruction, find_instruction
from swzverify.hardware.octets import (
    CHUNK_BYTES,
    BoolArray,
    IntArray,
    OctetClass,
    check_warps,
    copy_cost,
    copying,
    first_of_run,
    octet_classes,
    octets_many,
)
from swzverify.hardware.targets import Evidence, Target, evidence
from swzverify.ir.whole import whole

PAIR_DISTANCES = (1, 2)
"""Groups join when every lane l agrees with l ^ d for one of these d."""


@dataclass(frozen=True, slots=True)
class GroupCost:
    """One group: its active `lanes`, its `wavefronts`, and the first `bank` that needs that many.

    `words` counts the words that it needs of each of the 32 banks, one wavefront for each. By the
    octet rule `lanes` are those that copy (of lanes with one address only the lowest), `bank` is
    None, `words` is empty, and `apart` has the lanes that go together, class by class: lanes of two
    classes never share a wavefront.
    """

    lanes: tuple[int, ...]
    wavefronts: int
    bank: int | None
    apart: tuple[tuple[int, ...], ...] = ()
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessCost(Shown):
    """What one warp instruction costs.

    `wavefronts` is what the hardware takes, `minimum` what the same groups take without conflicts;
    `groups` are those with an active lane, by the octet rule the octets with a lane that copies. With
    sources the lanes that copy are one group; without `is_exact` several of them read the same 16
    bytes, and `wavefronts` is a lower bound.
    """

    instruction: Instruction
    wavefronts: int
    minimum: int
    groups: tuple[GroupCost, ...]
    evidence: Evidence
    is_exact: bool = True

    def __str__(self) -> str:
        """The cost in words, and a line for each group.

        >>> print(access_cost("ld.shared.v2.b32", [128 * lane if lane < 4 else None for lane in range(32)]))
        ld.shared.v2.b32: 4 wavefronts (minimum 1), 3 bank conflicts
           lanes  wavefronts  bank  words per bank
             0-3           4     0    banks 0-1: 4
        """
        return f"{self._heading}\n{text_table(self._columns, self._lines)}"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return html_facts(self._heading, []) + html_table(self._columns, self._lines)

    @property
    def _heading(self) -> str:
        waves = f"{counted(self.wavefronts, 'wavefront')} (minimum {self.minimum})"
        conflicts = counted(self.bank_conflicts, "bank conflict")
        return f"{self.instruction.name}: {waves}, {conflicts}"

    @property
    def _columns(self) -> tuple[str, ...]:
        return ("lanes", "wavefronts", "bank", "lanes together" if self.instruction.by_octets else "words per bank")

    @property
    def _lines(self) -> list[Line]:
        return [("", (spans(each.lanes), each.wavefronts, each.bank, _needed(each))) for each in self.groups]

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts beyond the minimum."""
        return self.wavefronts - self.minimum


def _needed(group: GroupCost) -> str:
    """The number of words that the group needs of each bank, most first.

    By the octet rule it is the lanes that may share a wavefront.

    >>> _needed(access_cost("ld.shared.v2.b32", [128 * lane for lane in range(32)]).groups[0])
    'banks 0-1: 16'
    """
    if group.apart:
        return "; ".join(map(spans, group.apart))
    counts = sorted(set(group.words) - {0}, reverse=True)
    alike = {count: [bank for bank, words in enumerate(group.words) if words == count] for count in counts}
    return "; ".join(f"bank{'s' * (len(banks) > 1)} {spans(banks)}: {count}" for count, banks in alike.items())


def access_cost(
    instruction: str | Instruction,
    byte_addresses: Sequence[int | None],
    target: str | Target = "sm_90",
    *,
    sources: Sequence[int | None] | None = None,
) -> AccessCost:
    """The cost of one warp instruction from its 32 byte addresses, None for an inactive lane.

    `sources` are byte addresses in global memory, of `cp.async.16` only. Without them each octet reads
    one 128-byte line in the order of its lanes.

    Raises:
        SwzError: SWZ401 for a wrong instruction, SWZ402 for a wrong target, SWZ403 if the target lacks
            the instruction, SWZ404 for wrong addresses, SWZ405 if a matrix instruction lacks an
            address, SWZ409 for an instruction of global memory.

    >>> access_cost("ld.shared.b32", [128 * lane for lane in range(32)]).wavefronts
    32
    >>> cost = access_cost("ldmatrix.x4", [16 * lane for lane in range(32)])
    >>> cost.wavefronts, cost.bank_conflicts
    (4, 0)
    >>> copies = [32 * lane for lane in range(32)]
    >>> access_cost("cp.async.16", copies).wavefronts, access_cost("cp.async.16", copies, sources=copies).wavefronts
    (32, 8)
    """
    row = _of_shared_memory(instruction)
    known = evidence(target, row)
    active = _active_addresses(row, byte_addresses)
    if sources is not None:
        return _sourced_cost(row, active, sources, known)
    if row.by_octets:
        active = copying(active)
        groups = tuple(_octet_cost(lanes, active) for lanes in _groups(row, active))
    else:
        groups = tuple(_bank_cost(row, lanes, active) for lanes in _groups(row, active))
    return AccessCost(row, sum(group.wavefronts for group in groups), len(groups), groups, known)


def _of_shared_memory(instruction: str | Instruction) -> Instruction:
    row = find_instruction(instruction) if isinstance(instruction, str) else instruction
    if row.is_global:
        raise SwzError(
            "SWZ409",
            f"{row.name} goes to {row.space}, and wavefronts and banks are of shared memory",
            hint="`coalesced` and sector_cost count the sectors that it touches",
        )
    return row


def _active_addresses(row: Instruction, byte_addresses: Sequence[int | None]) -> dict[int, int]:
    if len(byte_addresses) != LANES:
        raise SwzError("SWZ404", f"{row.name}: {len(byte_addresses)} addresses given, a warp has {LANES} lanes")
    active: dict[int, int] = {}
    for lane, address in enumerate(byte_addresses[: row.address_lanes]):
        if address is not None:
            active[lane] = _checked_address(row, lane, address)
        elif row.warp_wide:
            raise SwzError(
                "SWZ405",
                f"{row.name}: lane {lane} has no address; lanes 0 to {row.address_lanes - 1} need one",
                hint="all 32 lanes of the warp run a matrix instruction; take the predicate off",
            )
    return active


def _checked_address(row: Instruction, lane: int, address: int) -> int:
    value = whole(address)
    if value is None:
        raise SwzError("SWZ404", f"{row.name}: lane {lane} has address {address!r}, not an integer")
    if value < 0:
        raise SwzError("SWZ404", f"{row.name}: lane {lane} has the negative address {value}")
    if value % row.width_bytes:
        raise SwzError(
            "SWZ404",
            f"{row.name}: lane {lane} has address {value}, not a multiple of {row.width_bytes} bytes",
            hint="a misaligned access faults on the GPU",
        )
    return value


def _groups(row: Instruction, active: Mapping[int, int]) -> list[list[int]]:
    """The active lanes of every group that has one, after joining."""
    size = row.joined_group_lanes if row.joins and _pairs_agree(active) else row.group_lanes
    split = [[lane for lane in range(first, first + size) if lane in active] for first in range(0, LANES, size)]
    return [lanes for lanes in split if lanes]


def _pairs_agree(active: Mapping[int, int]) -> bool:
    return any(
        all(active.get(lane ^ distance, address) == address for lane, address in active.items())
        for distance in PAIR_DISTANCES
    )


def _bank_cost(row: Instruction, lanes: Sequence[int], active: Mapping[int, int]) -> GroupCost:
    words, counts = row.words, [0] * BANKS
    counted: set[int] = set()
    for lane in lanes:
        first = active[lane] // BANK_WORD_BYTES
        for word in range(first, first + words):
            if row.counts_equal_words or word not in counted:
                counted.add(word)
                counts[word % BANKS] += 1
    worst = max(counts)
    return GroupCost(tuple(lanes), worst, counts.index(worst), words=tuple(counts))


def _octet_cost(lanes: Sequence[int], copies: Mapping[int, int]) -> GroupCost:
    classes = octet_classes({lane: copies[lane] for lane in lanes})
    apart = tuple(tuple(each.lanes) for each in classes)
    return GroupCost(tuple(lanes), sum(each.wavefronts for each in classes), None, apart)


def _sourced_cost(
    row: Instruction, active: Mapping[int, int], sources: Sequence[int | None], known: Evidence
) -> AccessCost:
    if not row.by_octets:
        raise SwzError("SWZ404", f"{row.name}: sources decide the cost of cp.async.16 only")
    if len(sources) != LANES:
        raise SwzError("SWZ404", f"{row.name}: {len(sources)} sources given, a warp has {LANES} lanes")
    reads: dict[int, int] = {}
    for lane in active:
        source = sources[lane]
        if source is None:
            raise SwzError("SWZ404", f"{row.name}: lane {lane} has an address and no source")
        reads[lane] = _checked_address(row, lane, source) // CHUNK_BYTES
    cost = copy_cost(active, reads)
    copies = copying(active)
    apart = tuple(lanes for each in octet_classes(copies, reads) for lanes in _in_turn(each, copies, reads))
    groups = (GroupCost(tuple(sorted(copies)), cost.wavefronts, None, apart),) if copies else ()
    return AccessCost(row, cost.wavefronts, cost.minimum, groups, known, cost.is_exact)


def _in_turn(each: OctetClass, copies: Mapping[int, int], reads: Mapping[int, int]) -> list[tuple[int, ...]]:
    """The lanes of a class, wavefront by wavefront: of two, one for each distance of the sectors."""
    if each.wavefronts == 1:
        return [tuple(each.lanes)]
    far = {lane: (reads[lane] // 2 ^ copies[lane] // (2 * CHUNK_BYTES)) & 2 for lane in each.lanes}
    return [tuple(lane for lane in each.lanes if bool(far[lane]) is way) for way in (False, True)]


@dataclass(frozen=True, slots=True)
class CostArrays:
    """The costs of n warp instructions, int64 of shape (n,); fields as in `AccessCost`."""

    wavefronts: IntArray
    minimum: IntArray

    @property
    def bank_conflicts(self) -> IntArray:
        """Wavefronts beyond the minimum."""
        return self.wavefronts - self.minimum


def cost_many(instruction: str | Instruction, addresses: IntArray, active: BoolArray) -> CostArrays:
    """The costs of n warp instructions.

    `addresses` are byte addresses of shape (n, 32), and `active` says in the same shape which lanes are
    active. The address of an inactive lane is ignored.

    Raises:
        SwzError: SWZ401, SWZ404, SWZ405 and SWZ409, as `access_cost`.

    >>> strided = np.arange(32)[None, :] * np.array([4, 8, 128])[:, None]
    >>> cost_many("ld.shared.b32", strided, np.ones((3, 32), dtype=bool)).wavefronts.tolist()
    [1, 2, 32]
    """
    row = _of_shared_memory(instruction)
    units, lanes_on = _checked_units(row, addresses, active)
    if row.by_octets:
        return CostArrays(*octets_many(units, lanes_on))
    wavefronts, minimum = _banks_many(row, units, lanes_on, row.group_lanes)
    if row.joins:
        joined = np.flatnonzero(_joined_many(units, lanes_on))
        if joined.size:
            wavefronts[joined], minimum[joined] = _banks_many(
                row, units[joined], lanes_on[joined], row.joined_group_lanes
            )
    return CostArrays(wavefronts, minimum)


def _checked_units(row: Instruction, addresses: IntArray, active: BoolArray) -> tuple[IntArray, BoolArray]:
    """The addresses in units, -1 in inactive lanes, and the active lanes.

    A unit is the access's width, and at least a word.
    """
    check_warps(row, addresses, active)
    lanes_on = active[:, : row.address_lanes]
    if row.warp_wide and not lanes_on.all():
        raise SwzError("SWZ405", f"{row.name}: lanes 0 to {row.address_lanes - 1} each need an address")
    held = np.where(lanes_on, addresses[:, : row.address_lanes].astype(np.int64, copy=False), 0)
    if held.size and (int(held.min()) < 0 or int(np.bitwise_or.reduce(held, axis=None)) & (row.width_bytes - 1)):
        at, lane = (int(i) for i in np.argwhere((held < 0) | (held % row.width_bytes != 0))[0])
        raise SwzError(
            "SWZ404",
            f"{row.name}: lane {lane} of row {at} has address {int(held[at, lane])}, "
            f"not a non-negative multiple of {row.width_bytes} bytes",
        )
    return np.where(lanes_on, held // row.unit_bytes, -1), lanes_on


def _joined_many(units: IntArray, lanes_on: BoolArray) -> BoolArray:
    joined = np.zeros(len(units), dtype=np.bool_)
    for distance in PAIR_DISTANCES:
        partner = np.arange(LANES) ^ distance
        differs = (units != units[:, partner]) & lanes_on & lanes_on[:, partner]
        joined |= ~differs.any(axis=1)
    return joined


def _banks_many(row: Instruction, units: IntArray, lanes_on: BoolArray, group_lanes: int) -> tuple[IntArray, IntArray]:
    """Wavefronts and minimum with groups of that many lanes.

    Lanes are aligned to their width, so two of them meet in all banks of a unit or in none: a unit
    can stand for its words.
    """
    slots = row.slots
    grouped = units.reshape(-1, group_lanes)
    if row.counts_equal_words:
        counted = lanes_on.reshape(-1, group_lanes)
    else:
        grouped = np.sort(grouped, axis=1)
        counted = first_of_run(grouped)
    cell = np.arange(len(grouped), dtype=np.int64)[:, None] * slots + grouped % slots
    counts = np.bincount(cell[counted], minlength=len(grouped) * slots).reshape(len(grouped), slots)
    worst = counts.max(axis=1).reshape(len(units), units.shape[1] // group_lanes)
    return worst.sum(axis=1, dtype=np.int64), (worst > 0).sum(axis=1, dtype=np.int64)
