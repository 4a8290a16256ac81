"""The words that a shell offers for values that are not a fixed choice."""

from __future__ import annotations

from collections.abc import Iterable

from swzverify.hardware import INSTRUCTIONS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS

SWIZZLES = ("auto", "none", "Swizzle<3,3,3>", "Swizzle<2,3,3>", "Swizzle<1,3,3>", "Swizzle<5,0,5>")
"""Examples: a swizzle has any numbers."""

_WORDS: dict[str, Iterable[str]] = {
    "element": ELEMENT_BITS,
    "instruction": INSTRUCTIONS,
    "swizzle": SWIZZLES,
    "target": TARGETS,
}


def words(what: str) -> list[str]:
    """The words for what is asked for: "element", "instruction", "swizzle" or "target".

    >>> words("target")[:2], "f16" in words("element")
    (['sm_70', 'sm_72'], True)
    """
    return list(_WORDS[what])
