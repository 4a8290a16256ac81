"""The view `groups`: one warp instruction, with the words of each bank that each group's lanes need.

Words of one bank stand above each other, so the height of a panel is the cost of its group. The
groups and their numbers are those of `access_cost`; this view adds only the places of the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swzverify.core.words import counted, spans
from swzverify.explain.pictures.chosen import Chosen
from swzverify.explain.pictures.picture import LANES_SCALE, Cell, Panel, Picture
from swzverify.explain.pictures.words import access_words
from swzverify.hardware import BANK_WORD_BYTES, BANKS, AccessCost, GroupCost, Instruction
from swzverify.hardware.octets import CHUNK_BYTES, CHUNKS_PER_LINE

CLASH = "a further word of its bank: one more wavefront"
APART = "lanes that cannot share the first wavefront: one more"
_OF_BANKS = "Each column is a bank; its cells are the different words that a group needs from this bank."
_OF_OCTETS = "Each column is 16 bytes of a 128-byte line; lanes in one row may share a wavefront."


def groups(run: Chosen) -> Picture:
    """The banks, or the chunks of a line where the octet rule holds, of each group."""
    octets = run.access.instruction.by_octets
    return Picture(
        f"{access_words(run.access)}, group by group",
        (*run.words, _OF_OCTETS if octets else _OF_BANKS),
        group_panels(run),
        LANES_SCALE,
        APART if octets else CLASH,
    )


def group_panels(run: Chosen, which: int | None = None, before: str = "") -> tuple[Panel, ...]:
    """A panel for each group, or for one of them."""
    addresses = {lane.lane: lane.address_bytes for lane in run.lanes if lane.address_bytes is not None}
    return panels_at(run.access.instruction, run.cost, addresses, which, before)


def panels_at(
    instruction: Instruction,
    cost: AccessCost,
    addresses: Mapping[int, int],
    which: int | None = None,
    before: str = "",
) -> tuple[Panel, ...]:
    """The same panels, from the byte addresses of the active lanes and their `access_cost`."""
    draw = _octet if instruction.by_octets else _banks
    return tuple(
        draw(instruction, group, addresses, f"{before}group {index}: {_group_words(group)}")
        for index, group in enumerate(cost.groups)
        if which is None or index == which
    )


def worst_group(cost: AccessCost) -> int:
    """The first of the groups that take most."""
    costs = [group.wavefronts for group in cost.groups]
    return costs.index(max(costs))


def _short(lanes: Iterable[int]) -> str:
    return spans(sorted(lanes), ",")


def _group_words(group: GroupCost) -> str:
    lanes = f"lane{'s' * (len(group.lanes) > 1)} {_short(group.lanes)}"
    if group.bank is None or group.wavefronts == 1:
        return f"{lanes}, {counted(group.wavefronts, 'wavefront')}"
    return f"{lanes}, {counted(group.wavefronts, 'wavefront')}, bank {group.bank} has the most words"


def _banks(row: Instruction, group: GroupCost, addresses: Mapping[int, int], title: str) -> Panel:
    stacks: list[dict[tuple[int, int], list[int]]] = [{} for _ in range(BANKS)]
    for lane in group.lanes:
        first = addresses[lane] // BANK_WORD_BYTES
        for word in range(first, first + row.words):
            # an instruction that does not merge equal words needs one for each of its lanes
            stacks[word % BANKS].setdefault((word, lane if row.counts_equal_words else 0), []).append(lane)
    cells: list[Cell] = []
    for bank, stack in enumerate(stacks):
        for level, ((word, _), lanes) in enumerate(stack.items()):
            tip = f"bank {bank}, byte {word * BANK_WORD_BYTES}: lane{'s' * (len(lanes) > 1)} {_short(lanes)}"
            cells.append(Cell(level, bank, (_short(lanes),), lanes[0], level > 0, tip, tuple(lanes)))
    heads = tuple(str(index + 1) for index in range(max(map(len, stacks))))
    return Panel(title, "word", "bank", heads, tuple(map(str, range(BANKS))), tuple(cells))


def _octet(_: Instruction, group: GroupCost, addresses: Mapping[int, int], title: str) -> Panel:
    cells: list[Cell] = []
    for level, lanes in enumerate(group.apart):
        places: dict[int, list[int]] = {}
        for lane in lanes:
            places.setdefault(addresses[lane] // CHUNK_BYTES % CHUNKS_PER_LINE, []).append(lane)
        for chunk, held in places.items():
            tip = ", ".join(f"lane {lane} at byte {addresses[lane]}" for lane in held)
            cells.append(Cell(level, chunk, (_short(held),), held[0], level > 0, tip, tuple(held)))
    heads = tuple(str(index + 1) for index in range(len(group.apart)))
    step = CHUNK_BYTES // BANK_WORD_BYTES
    names = tuple(f"{first}-{first + step - 1}" for first in range(0, BANKS, step))
    return Panel(title, "together", "banks", heads, names, tuple(cells))
