"""Linear accesses: the rank of what lanes reach, and the kernel vectors that collide or merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swzverify.engines.gf2 import rank
from swzverify.explain.explanations.reading import Forms, all_active
from swzverify.explain.explanations.statements import Kernel, Merged, Rank
from swzverify.hardware import BANK_WORD_BYTES, BANKS, PAIR_DISTANCES
from swzverify.search.synth.linear import xor_of
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE


def ranks(access: Access, forms: Forms, point: Mapping[str, int]) -> list[Rank | Kernel | Merged]:
    """Why the lanes of a group meet or do not, by the columns of the lane's bits.

    Where bits of the address above the line have no form, there is a statement only if all lanes
    lie in different slots: then the line does not matter. Empty where a lane is not active or not
    aligned, and for instructions of the octet rule.
    """
    row = access.instruction
    columns, within = forms.columns(LANE), forms.line_columns(LANE)
    if within is None or row.by_octets or not forms.aligned(row.width_bytes) or not all_active(access):
        return []
    unit = row.unit_bytes
    low = unit.bit_length() - 1
    agree = columns is not None and row.joins and any(not columns[d.bit_length() - 1] for d in PAIR_DISTANCES)
    lanes = row.joined_group_lanes if agree else row.group_lanes
    count = lanes.bit_length() - 1
    slots = [column >> low for column in within[:count]]
    slot_rank = rank(slots)
    if columns is None and slot_rank < count:
        return []
    units = slots if columns is None else [column >> low for column in columns[:count]]
    groups = row.address_lanes // lanes
    found: list[Rank | Kernel | Merged] = [
        Rank(count, unit, rank(units), slot_rank, groups, agree, row.counts_equal_words)
    ]
    merged, colliding = _kernel(units, slots, counts_equal=row.counts_equal_words)
    for vector in colliding:
        lanes_, words, bank = _pair(access, vector, point)
        found.append(Kernel(vector, lanes_, words, bank, _alone(vector, slots), access.binding(point)))
    return [*found, *map(Merged, merged)]


def _kernel(units: Sequence[int], slots: Sequence[int], *, counts_equal: bool) -> tuple[list[int], list[int]]:
    """Vectors that span the kernel of the slots, first those that merge, then those that collide.

    Each has as few bits as possible.
    """
    every = sorted(range(1, 1 << len(slots)), key=lambda vector: (vector.bit_count(), vector))
    kernel = [vector for vector in every if xor_of(slots, vector) == 0]
    merges = [] if counts_equal else [vector for vector in kernel if xor_of(units, vector) == 0]
    merged = _independent(merges, [])
    return merged, _independent([vector for vector in kernel if vector not in merges], merged)


def _independent(vectors: Sequence[int], beside: Sequence[int]) -> list[int]:
    """The vectors that are no XOR of earlier ones and of those in `beside`."""
    found: list[int] = []
    for vector in vectors:
        if rank([*beside, *found, vector]) > len(beside) + len(found):
            found.append(vector)
    return found


def _alone(vector: int, slots: Sequence[int]) -> bool:
    return all(slots[bit] == 0 for bit in range(len(slots)) if vector >> bit & 1)


def _pair(access: Access, vector: int, point: Mapping[str, int]) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Lanes 0 and `vector`, the words that they need, and the bank of those."""
    records = access.lanes_at(point)
    words = [(records[lane].address_bytes or 0) // BANK_WORD_BYTES for lane in (0, vector)]
    return (0, vector), (words[0], words[1]), words[0] % BANKS
