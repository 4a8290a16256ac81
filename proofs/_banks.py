"""The measured rule of wavefronts as formulas: words, banks, groups of lanes.

Source: docs/semantics.md, section 4 (Cost), which reproduces all recorded H100 patterns.
"""

from __future__ import annotations

from swzverify.apps.theorems import Symbols, Truth, Word

BANKS = 32
LANES = 32
WIDTHS_BYTES = (1, 2, 4, 8, 16)
"""Bytes a lane of the instructions there are."""


def words_of(width_bytes: int) -> int:
    """Words that a lane touches."""
    return max(1, width_bytes // 4)


def group_lanes(width_bytes: int) -> int:
    """Lanes of a group that is not joined: one of 32, two of 16 or four of 8."""
    return LANES // words_of(width_bytes)


def bank(word: Word) -> Word:
    """The bank of a word."""
    return word % BANKS


def clash(a: Word, b: Word) -> Truth:
    """Two words, by their indices, differ and lie in one bank."""
    return (bank(a) == bank(b)) & (a != b)


def touched(v: Symbols, name: str, address: Word, width_bytes: int) -> Word:
    """Any word that a lane at a byte address touches; the choice is a variable."""
    words = words_of(width_bytes)
    first = address >> 2
    return first if words == 1 else first + v.word(name, below=words)


def some_clash(v: Symbols, addresses: list[Word]) -> Truth:
    """Among lanes of one group, two first words clash.

    If addresses are aligned, no other words need be compared.
    """
    return v.some(clash(a >> 2, b >> 2) for i, a in enumerate(addresses) for b in addresses[:i])


def firsts_in_bank(v: Symbols, lanes: list[tuple[Word, Truth]], width_bytes: int, which: Word) -> list[Truth]:
    """Lane by lane, whether it is the first of these lanes to touch its word of one bank.

    The number of those is the number of distinct words. A lane is given by its address and whether
    it is active. Addresses are multiples of the width. A lane touches at most one word of a bank:
    its words are consecutive and at most four.
    """
    words = words_of(width_bytes)
    touches = [active & v.some(bank((a >> 2) + q) == which for q in range(words)) for a, active in lanes]
    word = [(a >> 2) - (a >> 2) % words + which % words for a, _ in lanes]
    return [touches[i] & ~v.some(touches[j] & (word[j] == word[i]) for j in range(i)) for i in range(len(lanes))]
