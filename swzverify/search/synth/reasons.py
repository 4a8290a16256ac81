"""The reason why no member of a family is free of bank conflicts.

It is a smallest set of accesses that no member serves together, and the argument. A member serves an
access if the access has no conflicts and its vectors stay whole. For a set of accesses only their
own vectors count: a wide write may make a narrow read conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from swzverify.core.words import listed
from swzverify.engines.gf2 import rank
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.search.synth.linear import LinearLanes, linear_lanes, slot_bits
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.search import Priced
from swzverify.search.synth.xor import LINE_BITS, XorSearch, xor_search

MAX_SETS = 1 << 16
"""Sets of accesses that are tried; 16 accesses have so many."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A smallest set of accesses, by name, that no member serves together, and why.

    `core` is empty where there are more sets of accesses than are tried.
    """

    core: tuple[str, ...]
    arguments: tuple[str, ...]


_TOO_MANY = Reason((), ("every access can be served alone; more sets than can be tried are left",))


def smallest(count: int, possible: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """A set of numbers below `count` of the smallest size that is not possible, the first one.

    >>> smallest(3, lambda chosen: not {0, 2} <= set(chosen))
    (0, 2)
    """
    tried = 0
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            tried += 1
            if tried > MAX_SETS:
                return ()
            if not possible(chosen):
                return chosen
    return ()


def family_reason(problem: Problem, priced: Priced) -> Reason:
    """The reason in a family; every member of it was priced."""
    serves = priced.serves
    core = smallest(len(problem.labels), lambda chosen: bool(serves[:, chosen].all(axis=1).any()))
    if not core:
        return _TOO_MANY
    arguments = (
        _facts(problem, core) if problem.family == "swizzle" and problem.on == "offset" else _repeats(problem, core)
    )
    arguments.append(_counted(problem, priced, core))
    for index in core if len(core) > 1 else ():
        rest = [other for other in core if other != index]
        row = int(np.flatnonzero(serves[:, rest].all(axis=1))[0])
        others = listed([problem.labels[other] for other in rest])
        arguments.append(f"without {problem.labels[index]}, {_named(priced, row)} serves {others}")
    return _reason(problem, core, arguments)


def _reason(problem: Problem, core: Sequence[int], arguments: Sequence[str]) -> Reason:
    return Reason(tuple(problem.labels[index] for index in core), tuple(arguments))


def _counted(problem: Problem, priced: Priced, core: Sequence[int]) -> str:
    """How many layouts there are, and for each access in how many it has conflicts."""
    whole = priced.whole[:, core].all(axis=1)
    conflicts = (priced.conflicts[:, core][whole] > 0).sum(axis=0).tolist()
    names = [problem.labels[index] for index in core]
    many = int(whole.sum())
    if many == 1:
        return f"one layout keeps the vectors of {listed(names)} whole, and it has bank conflicts"
    found = [f"{name} in {count}" for name, count in zip(names, conflicts, strict=True)]
    return f"{many} layouts keep the vectors of {listed(names)} whole, and each has bank conflicts: {listed(found)}"


def xor_reason(problem: Problem) -> Reason:
    """The reason among all linear maps: every choice of what higher bits add was ruled out."""

    def possible(chosen: tuple[int, ...]) -> bool:
        return _only(problem, chosen).freeing(range(len(chosen))) is not None

    core = smallest(len(problem.labels), possible)
    if not core:
        return _TOO_MANY
    arguments = _facts(problem, core)
    search = _only(problem, core)
    met = {difference for index in range(len(core)) for difference in search.differences(index)}
    free = len(search.targets)
    arguments.append(
        f"lanes of a group differ in {len(met)} ways that some map brings into one slot; every choice of the "
        f"{free} bits that each of the {len(search.sources)} bits above the line may add leaves one of them there"
    )
    return _reason(problem, core, arguments)


def _only(problem: Problem, chosen: Sequence[int]) -> XorSearch:
    """The search for some of the accesses, with their own vectors alone."""
    left = iter(range(len(problem.labels)))
    variants = tuple(
        replace(variant, accesses={label: access for label, access in variant.accesses.items() if next(left) in chosen})
        for variant in problem.variants
    )
    return xor_search(replace(problem, variants=tuple(each for each in variants if each.accesses)))


def _facts(problem: Problem, core: Sequence[int]) -> list[str]:
    """Facts about the core that ranks show.

    They are lanes that count although they repeat a word, and bits of the slot that cannot change
    because vectors stay whole.
    """
    found = _repeats(problem, core)
    vector = max(problem.vector_bits_of[index] for index in core)
    if vector % 8 or vector // 8 & (vector // 8 - 1):
        return found
    fixed_end = max(vector // 8, BANK_WORD_BYTES).bit_length() - 1
    widest = max(core, key=lambda index: problem.vector_bits_of[index])
    for index in core:
        lanes, columns = _bytes_of(problem, index)
        if lanes is None:
            continue
        first, _ = slot_bits(lanes.instruction)
        units = rank([column >> first for column in columns])
        apart = rank([column >> first & ((1 << (fixed_end - first)) - 1) for column in columns])
        if units > apart + LINE_BITS - fixed_end:
            left = units - apart - (LINE_BITS - fixed_end)
            whose = problem.labels[widest] if vector > 8 * problem.keep_bytes else "what is to stay aligned"
            found.append(
                f"rank: {whose} needs vectors of {vector // 8} bytes whole, so bits {first} to {fixed_end - 1} of an "
                f"address stay as they are; the lanes of a group of {problem.labels[index]} take 2^{apart} values "
                f"there, and bits {fixed_end} to {LINE_BITS - 1} have 2^{LINE_BITS - fixed_end}: of the group's "
                f"2^{units} different units at least 2^{left} share a bank"
            )
            break
    return found


def _repeats(problem: Problem, core: Sequence[int]) -> list[str]:
    for index in core:
        lanes, columns = _bytes_of(problem, index)
        if lanes is None or not lanes.instruction.counts_equal_words:
            continue
        first, _ = slot_bits(lanes.instruction)
        missing = len(columns) - rank([column >> first for column in columns])
        if missing:
            return [
                f"pigeonhole: {1 << missing} lanes of a group of {problem.labels[index]} touch one word, and "
                f"{lanes.instruction.name} counts each of them, wherever the word lies"
            ]
    return []


def _bytes_of(problem: Problem, index: int) -> tuple[LinearLanes | None, tuple[int, ...]]:
    owner = [variant for variant in problem.variants for _ in variant.accesses][index]
    lanes = linear_lanes(problem.accesses[index], owner.bare())
    if lanes is None or not lanes.every_lane or lanes.instruction.by_octets:
        return None, ()
    return lanes, lanes.byte_columns(owner.tile.element_bits)


def _named(priced: Priced, row: int) -> str:
    member = priced.member(row)
    if member.mode is not None:
        return f"TMA mode {member.mode}"
    parts = [f"a pad of {member.pad_elements}"] if member.pad_elements else []
    parts += [str(member.swizzle)] if member.swizzle is not None else []
    return " with ".join(parts) or "the layout without a swizzle or pad"
