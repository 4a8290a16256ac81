"""The search for the XOR map with the fewest terms, on dense random accesses, against every set of terms."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from swzverify.search.synth.search import Term
from swzverify.search.synth.xor import LinearPath, XorSearch, solve

TARGETS, TOP = range(4, 7), 10
PAIRS = [(target, source) for target in TARGETS for source in range(4, TOP) if source != target]


def random_search(seed: int) -> XorSearch:
    """Groups of eight lanes that each touch 16 bytes of a KiB, somewhere; never two of them the same."""
    random = Random(seed)
    paths: list[LinearPath] = []
    while len(paths) < random.choice((1, 3, 4, 5)):
        columns = tuple(random.randrange(1, 64) << 4 for _ in range(3))
        if len(lanes(columns)) == 8:
            paths.append(LinearPath(columns, 4, 3, 4))
    return XorSearch(tuple(paths), (1,) * len(paths), 4)


def lanes(columns: tuple[int, ...]) -> set[int]:
    return {sum_of(columns, number) for number in range(8)}


def sum_of(columns: tuple[int, ...], number: int) -> int:
    total = 0
    for bit, column in enumerate(columns):
        total ^= column * (number >> bit & 1)
    return total


def moved(value: int, chosen: tuple[tuple[int, int], ...]) -> int:
    found = value
    for target, source in chosen:
        found ^= (value >> source & 1) << target
    return found


def is_free(search: XorSearch, chosen: tuple[tuple[int, int], ...]) -> bool:
    one_to_one = len({moved(value << 4, chosen) & 0x70 for value in range(8)}) == 8
    slots = [{moved(value, chosen) >> 4 & 7 for value in lanes(path.columns)} for path in search.paths]
    return one_to_one and all(len(each) == 8 for each in slots)


def fewest(search: XorSearch, most: int) -> int | None:
    for count in range(most + 1):
        if any(is_free(search, chosen) for chosen in combinations(PAIRS, count)):
            return count
    return None


@pytest.mark.parametrize("seed", range(40))
def test_no_smaller_set_of_terms_does(seed: int) -> None:
    search = random_search(seed)
    found = solve(search)
    assert found.fewest
    assert found.complete
    if any(found.lacks):
        assert fewest(search, 3) is None
    else:
        assert is_free(search, tuple((term.target, term.source) for term in found.terms))
        assert fewest(search, min(3, len(found.terms))) == (len(found.terms) if len(found.terms) <= 3 else None)


def test_terms_inside_the_line_save_terms() -> None:
    columns = (
        (0xE0, 0x270, 0x380),
        (0x140, 0x3B0, 0x3C0),
        (0x50, 0x2F0, 0x180),
        (0x310, 0xF0, 0x1E0),
        (0x3F0, 0x360, 0x2B0),
    )
    search = XorSearch(tuple(LinearPath(each, 4, 3, 4) for each in columns), (1,) * 5, 4)
    found = solve(search)
    assert Term(5, 6) in found.terms
    assert len(found.terms) == 4
    assert fewest(search, 4) == 4
    outside = [pair for pair in PAIRS if pair[1] >= 7]
    assert not any(is_free(search, chosen) for chosen in combinations(outside, 4))


def test_what_no_map_frees_is_priced_whole() -> None:
    """The lanes of three groups differ in every way that one bit above the line has."""
    columns = [(0x10, 0x20, 0x40 << bit) for bit in range(2)] + [(0x10, 0x20, 0xC0)]
    search = XorSearch(tuple(LinearPath(each, 4, 3, 4) for each in columns), (1, 1, 1), 4)
    found = solve(search)
    assert sorted(found.lacks) == [0, 0, 1]
    assert found.complete
    assert not any(is_free(search, chosen) for count in range(6) for chosen in combinations(PAIRS[:10], count))
