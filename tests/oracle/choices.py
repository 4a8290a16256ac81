"""What a warp instruction can cost where each lane has values of its own (docs/semantics.md,
section 4).

Every choice is priced where they are few. Else, for the rule that counts words in banks and joins
no groups, by König's theorem: in a bank the most different words that lanes can choose at once is
the least, over all sets X of its words, of |X| plus the lanes that can choose a word outside X.
Nothing else is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod

from .hardware import Cost, Instruction, warp_cost
from .oracle_errors import OracleAmbiguousError

Options = list[set[int | None]]
"""The addresses that each of the 32 lanes can choose; None where it can be inactive."""
MOST_CHOICES = 3_000
MOST_WORDS = 12
BANKS, WORD_BYTES = 32, 4


def costs_of(instruction: Instruction, options: Options) -> set[Cost]:
    """The costs of every choice with an active lane, or those of them that can be the worst ones."""
    if prod(len(each) for each in options) <= MOST_CHOICES:
        choices = product(*(sorted(each, key=lambda a: (a is None, a or 0)) for each in options))
        return {warp_cost(instruction, [*choice]) for choice in choices if any(a is not None for a in choice)}
    if instruction.kind == "copy past L1" or _joins(instruction):
        raise OracleAmbiguousError("too many choices of lanes to try them all")
    return set(_worst(instruction, options))


def _joins(instruction: Instruction) -> bool:
    return instruction.kind == "load" and instruction.width_bytes >= 8


def _worst(instruction: Instruction, options: Options) -> Iterator[Cost]:
    """The costs of the choices with most wavefronts, and of those with most bank conflicts.

    Groups choose independently. One that costs 1 at most may be idle as well, without a conflict
    more or less.
    """
    size = {8: 16, 16: 8}.get(instruction.width_bytes, 32)
    groups = [options[first : first + size] for first in range(0, instruction.lanes, size)]
    most = [_group(instruction, group) for group in groups]
    busy = sum(1 for count in most if count)
    if not busy:
        return
    idle = sum(
        1 for count, group in zip(most, groups, strict=True) if count == 1 and all(None in each for each in group)
    )
    for left_out in range(min(idle, busy - 1) + 1):
        yield Cost(sum(most) - left_out, busy - left_out)


def _group(instruction: Instruction, lanes: Options) -> int:
    """The most that a group can cost: that of its worst bank."""
    words = max(1, instruction.width_bytes // WORD_BYTES)
    banks: list[list[set[int]]] = [[] for _ in range(BANKS)]
    for lane in lanes:
        touched = [a // WORD_BYTES + q for a in lane if a is not None for q in range(words)]
        for bank in range(BANKS):
            banks[bank].append({word for word in touched if word % BANKS == bank})
    if instruction.kind in ("atomic", "copy"):
        return max(sum(1 for lane in bank if lane) for bank in banks)
    return max(_most_different(bank) for bank in banks)


def _most_different(lanes: list[set[int]]) -> int:
    """The largest matching of lanes to words, by König's theorem."""
    words = sorted({word for lane in lanes for word in lane})
    if len(words) > MOST_WORDS:
        raise OracleAmbiguousError("too many words of a bank to try all sets of them")
    sets = (set(x) for count in range(len(words) + 1) for x in combinations(words, count))
    return min(len(x) + sum(1 for lane in lanes if lane - x) for x in sets)
