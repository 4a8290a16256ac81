"""The oracle's rule of 16-byte copies: every measured count, cases done by hand, and that random
specs reach all of it.

Only tests/data/ is read; what the units of its arrays are is said there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from . import access_claims
from .brute_force import OracleAmbiguousError, OracleError, judge
from .hardware import Cost, Instruction, read_instruction, warp_cost
from .random_parts import seeded
from .random_specs import random_spec

DATA = Path(__file__).parents[1] / "data"
COPY16 = read_instruction("cp.async.16")
Lanes = list[int | None]
OFF = None


def addressed(masks: np.ndarray, offsets: np.ndarray) -> Iterator[Lanes]:
    for mask, row in zip(masks.tolist(), offsets.tolist(), strict=True):
        yield [offset if mask >> lane & 1 else None for lane, offset in enumerate(row)]


def differing(patterns: Iterator[Lanes], wavefronts: np.ndarray) -> list[int]:
    """The rows that the rule prices otherwise."""
    pairs = zip(patterns, wavefronts.tolist(), strict=True)
    return [row for row, (lanes, counted) in enumerate(pairs) if warp_cost(COPY16, lanes).wavefronts != counted]


@pytest.mark.parametrize(
    ("name", "patterns"),
    [("two_lanes", 8493), ("few_lanes", 21000), ("octet", 15900), ("warps", 5700), ("held_out_coalesced", 1500)],
)
def test_every_measured_count(name: str, patterns: int) -> None:
    with np.load(DATA / "h100_cp_async16_rule.npz") as arrays:
        masks, chunks, counted = (arrays[f"{name}/{key}"] for key in ("masks", "destinations", "wavefronts"))
    assert len(counted) == patterns
    assert differing(addressed(masks, chunks.astype(int) * 16), counted) == []


@pytest.mark.parametrize(("name", "patterns"), [("sources", 40), ("held_out_sources", 184)])
def test_coalesced_ones_among_other_sources(name: str, patterns: int) -> None:
    """Of the sets with sources the rows in which each octet reads one line, each lane its own chunk
    of it.
    """
    with np.load(DATA / "h100_cp_async16_rule.npz") as arrays:
        keys = ("masks", "destinations", "sources", "wavefronts")
        masks, chunks, sources, counted = (arrays[f"{name}/{key}"] for key in keys)
    read = [list(enumerate(lanes)) for lanes in addressed(masks, sources)]
    coalesced = [
        all(chunk is None or chunk % 8 == lane % 8 for lane, chunk in row)
        and all(len({c // 8 for _, c in row[first : first + 8] if c is not None}) <= 1 for first in range(0, 32, 8))
        for row in read
    ]
    assert sum(coalesced) == patterns
    assert differing(addressed(masks[coalesced], chunks[coalesced].astype(int) * 16), counted[coalesced]) == []


def test_the_older_counts() -> None:
    with np.load(DATA / "h100_cp_async16.npz") as arrays:
        masks, offsets, counted = (arrays[key] for key in ("active_mask", "byte_offset", "wavefronts"))
    assert len(counted) == 284
    assert differing(addressed(masks, offsets), counted) == []
    with np.load(DATA / "h100_calibration.npz") as arrays:
        masks, offsets, counted = (arrays[f"cp.async.16/{key}"] for key in ("masks", "addresses", "wavefronts"))
    assert len(counted) == 650
    assert differing(addressed(masks, offsets), counted) == []


# Chunks of 16 bytes of one octet (the others are off), wavefronts.
BY_HAND: list[tuple[list[int | None], int]] = [
    ([0, 1, 2, 3, 4, 5, 6, 7], 1),  # as it should be
    ([1, 0, 3, 2, 5, 4, 7, 6], 1),  # all halves swapped: one class, h ^ H = 1
    ([1, 0, 2, 3, 4, 5, 6, 7], 2),  # one pair of halves swapped
    ([2, 3, 0, 1, 6, 7, 4, 5], 1),  # every sector beside its place: p ^ P = 1 for all
    ([2, 3, 0, 1, 4, 5, 6, 7], 2),  # two of them: 1 and 0 are two classes
    ([4, 5, 6, 7, 0, 1, 2, 3], 1),  # p ^ P = 2 for all
    ([4, 5, 2, 3, 0, 1, 6, 7], 1),  # even p with p ^ P = 2, odd p with 0: one class, the larger of 1 and 1
    ([0, 4, 1, 5, 2, 6, 3, 7], 8),  # every pair torn, no two lanes of one class
    ([0, 0, 2, 2, 4, 4, 6, 6], 1),  # the odd lanes repeat
    ([0, 0, 0, 0, 0, 0, 0, 0], 1),
    ([0, 9, 2, 3, 4, 5, 6, 7], 3),  # a pair torn: two units of their own kind beside `both`
    ([0, 1, 10, 11, 4, 5, 14, 15], 2),  # two lines
    ([0, OFF, 2, OFF, 4, OFF, 6, OFF], 1),
    ([0, OFF, OFF, 3, 4, OFF, OFF, 7], 2),  # kinds 0 and 1
    ([OFF, OFF, OFF, OFF, OFF, OFF, OFF, 8], 1),
]


def by_hand_id(row: object) -> str:
    return "-".join("off" if chunk is None else str(chunk) for chunk in row) if isinstance(row, list) else str(row)


@pytest.mark.parametrize(("octet", "wavefronts"), BY_HAND, ids=by_hand_id)
def test_an_octet_by_hand(octet: list[int | None], wavefronts: int) -> None:
    lanes: Lanes = [OFF if chunk is None else 16 * chunk for chunk in octet]
    off: Lanes = [OFF] * 8
    for place in range(4):
        warp = [*off * place, *lanes, *off * (3 - place)]
        assert warp_cost(COPY16, warp) == Cost(wavefronts, 1)
    # Two octets count by themselves, unless the second one writes what the first one did.
    elsewhere: Lanes = [OFF if address is None else address + 4096 for address in lanes]
    assert warp_cost(COPY16, [*lanes, *elsewhere, *off, *off]) == Cost(2 * wavefronts, 2)
    assert warp_cost(COPY16, [*lanes, *off, *lanes, *off]) == Cost(wavefronts, 1)


# Random specs that are drawn, and the least of them that have a feature. By day one in five is drawn.
DRAWS = [(300, 4), pytest.param((1_500, 20), marks=pytest.mark.nightly)]


@cache
def drawn(specs: int) -> list[list[Lanes]]:
    """For each random spec that prices a 16-byte copy, the warp instructions that it prices."""
    found: list[list[Lanes]] = []
    patterns: list[Lanes] = []

    def noted(instruction: Instruction, addresses: Sequence[int | None]) -> Cost:
        if instruction == COPY16:
            patterns.append(list(addresses))
        return warp_cost(instruction, addresses)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access_claims, "warp_cost", noted)
        for seed in range(specs):
            patterns.clear()
            spec = random_spec(seeded(seed))
            if "cp.async.16" not in json.dumps(spec):
                continue
            try:
                judge(spec)
            except (OracleError, OracleAmbiguousError):
                continue
            if patterns:
                found.append(list(patterns))
    return found


def octets(lanes: Lanes) -> list[Lanes]:
    return [lanes[first : first + 8] for first in range(0, 32, 8)]


def pairs(lanes: Lanes) -> list[tuple[int, int | None, int | None]]:
    """(place in the octet, address of the even lane, of the odd one)."""
    return [(place, octet[2 * place], octet[2 * place + 1]) for octet in octets(lanes) for place in range(4)]


FEATURES: dict[str, Callable[[Lanes], bool]] = {
    "addresses repeated": lambda lanes: len({a for a in lanes if a is not None}) < sum(a is not None for a in lanes),
    "repeated in another octet": lambda lanes: any(
        a is not None and a in lanes[: lane // 8 * 8] for lane, a in enumerate(lanes)
    ),
    "an octet of repeats only": lambda lanes: any(
        {a for a in lanes[first : first + 8] if a is not None} <= set(lanes[:first])
        and any(a is not None for a in lanes[first : first + 8])
        for first in range(8, 32, 8)
    ),
    "halves swapped": lambda lanes: any(
        even is not None and odd is not None and even // 32 == odd // 32 and odd < even for _, even, odd in pairs(lanes)
    ),
    "sectors misplaced": lambda lanes: (
        len({place ^ even // 32 % 4 for place, even, _ in pairs(lanes) if even is not None}) > 1
    ),
    "pairs torn": lambda lanes: any(
        even is not None and odd is not None and even // 32 != odd // 32 for _, even, odd in pairs(lanes)
    ),
    "partial octets": lambda lanes: any(0 < sum(a is None for a in octet) < 8 for octet in octets(lanes)),
    "lone lanes beside pairs": lambda lanes: (
        len({(even is None) + (odd is None) for _, even, odd in pairs(lanes)} - {2}) == 2
    ),
    "several lines in an octet": lambda lanes: any(
        len({a // 128 for a in octet if a is not None}) > 1 for octet in octets(lanes)
    ),
    "no conflict though out of order": lambda lanes: (
        (cost := warp_cost(COPY16, lanes)).wavefronts == cost.minimum
        and any(a is not None and a // 16 % 8 != lane % 8 for lane, a in enumerate(lanes))
    ),
}


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_random_copies_have_every_feature(draw: tuple[int, int]) -> None:
    specs, least = draw
    found = {name: sum(any(map(has, patterns)) for patterns in drawn(specs)) for name, has in FEATURES.items()}
    assert {name: count for name, count in found.items() if count < least} == {}


def variant(lanes: Lanes, wrong: str) -> tuple[int, int]:
    """Wavefronts and minimum under a rule that is wrong in one place, or under the right one in
    other words.

    In other words, since of a line's two sectors of one parity an octet writes each half once: the
    classes that occur are the wavefronts, whatever their units.
    """
    copies = [
        OFF if a in (lanes[:lane] if wrong != "repeats of the octet only" else lanes[lane // 8 * 8 : lane]) else a
        for lane, a in enumerate(lanes)
    ]
    if wrong == "repeats copy":
        copies = lanes
    if wrong == "the highest repeat copies":
        copies = [OFF if a in lanes[lane + 1 :] else a for lane, a in enumerate(lanes)]
    keys: set[tuple[object, ...]] = set()
    for lane, a in enumerate(copies):
        if a is None:
            continue
        other = copies[lane ^ 1]
        both = other is not None and other // 32 == a // 32 and wrong != "no pairs"
        if both and lane % 2:
            continue
        kind: object = "both" if both and wrong != "pairs are as lone lanes" else lane % 2
        half = (lane ^ a // 16) % 2
        place = (lane // 2 ^ a // 32) % 4
        key = {
            "octets together": (a // 128, kind, half, place % 2),
            "lines together": (lane // 8, kind, half, place % 2),
            "kinds together": (lane // 8, a // 128, half, place % 2),
            "halves together": (lane // 8, a // 128, kind, place % 2),
            "sectors together": (lane // 8, a // 128, kind, half),
            "sectors apart": (lane // 8, a // 128, kind, half, place),
        }
        keys.add(key.get(wrong, (lane // 8, a // 128, kind, half, place % 2)))
    counted = lanes if wrong == "octets of repeats count" else copies
    return len(keys), sum(any(a is not None for a in octet) for octet in octets(counted))


WRONG = (
    "repeats copy",
    "repeats of the octet only",
    "the highest repeat copies",
    "octets of repeats count",
    "no pairs",
    "pairs are as lone lanes",
    "octets together",
    "lines together",
    "kinds together",
    "halves together",
    "sectors together",
    "sectors apart",
)


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_the_rule_in_other_words(draw: tuple[int, int]) -> None:
    for patterns in drawn(draw[0]):
        for lanes in patterns:
            cost = warp_cost(COPY16, lanes)
            assert (cost.wavefronts, cost.minimum) == variant(lanes, "")


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_random_copies_tell_every_wrong_rule(draw: tuple[int, int]) -> None:
    """Enough specs have a warp instruction that such a rule prices otherwise."""
    specs, least = draw
    told = Counter[str]()
    for patterns in drawn(specs):
        costs = [(lanes, warp_cost(COPY16, lanes)) for lanes in patterns]
        for wrong in WRONG:
            told[wrong] += any((cost.wavefronts, cost.minimum) != variant(lanes, wrong) for lanes, cost in costs)
    assert {wrong: told[wrong] for wrong in WRONG if told[wrong] < least // 2} == {}
