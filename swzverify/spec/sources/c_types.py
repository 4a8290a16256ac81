"""The integer types of constants: spelling, the values they surely hold, other uses of the name.

Source: ISO/IEC 14882:2020, 6.8.2 (integer types), 7.6 (integral promotions), 9.2.4 (typedef), 9.2.9
(type specifiers).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = r"(?:(?:unsigned|signed|long|short|int|char)\b\s*)+"
TYPES = (
    r"(?:std::)?u?int(?:8|16|32|64)_t",
    r"(?:std::)?(?:size_t|ptrdiff_t)",
    r"uint",
    _PLAIN,
    r"auto",
)
"""Patterns of the types that a constant may have."""
_KEYWORDS = frozenset(("unsigned", "signed", "long", "short", "int", "char", "auto"))
_BEHIND_NO_NAME_TEXT = (
    "const volatile constexpr consteval constinit static inline extern register mutable virtual explicit friend "
    "thread_local typename return co_return co_yield throw sizeof alignof new delete case else do operator noexcept "
    "public private protected __device__ __host__ __global__ __constant__ __shared__ __forceinline__ __restrict__"
)
_BEHIND_NO_NAME = frozenset(_BEHIND_NO_NAME_TEXT.split())
"""Words behind which a name is used and not declared."""
_OF_STD = re.compile(r"\busing\s*(?:(?:::\s*)?(?:cuda\s*::\s*)?std\s*)?::$")


@dataclass(frozen=True, slots=True)
class Range:
    """The values of a type that a spec's constant can have too.

    `is_unsigned` tells that C may compute with it as with an unsigned one, `is_wide` that it does
    so up to 2^32 - 1: what is narrower than an int computes as an int.
    """

    least: int
    most: int
    is_unsigned: bool
    is_wide: bool


def range_of(kind: str) -> Range:
    """What a type is sure to hold, on every system.

    >>> range_of("std::uint16_t").most, range_of("long").most, range_of("size_t").is_wide
    (65535, 2147483647, True)
    """
    words = kind.replace("std::", "").split()
    unsigned = "unsigned" in words or words[0].startswith("u") or words[0] == "size_t"
    bits = next((int(found[0]) for word in words if (found := re.search("8|16|32|64", word))), 32)
    bits = {"char": 8, "short": 16}.get(next((word for word in words if word in ("char", "short")), ""), bits)
    bits = min(bits, 32)
    if words == ["char"]:
        return Range(0, 127, False, False)  # signed on some machines, unsigned on others
    if unsigned:
        return Range(0, 2**bits - 1, True, bits == 32)
    # `long` has 32 bits on some systems, and `auto` is what the value is: at most what an int holds
    return Range(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, False, False)


def names_in(kind: str) -> list[str]:
    """The words of a type that are no keywords, so that a file can give them another meaning.

    >>> names_in("std::uint32_t"), names_in("unsigned int")
    (['std', 'uint32_t'], [])
    """
    return [word for word in re.findall(r"[A-Za-z_]\w*", kind) if word not in _KEYWORDS]


def declared_at(code: str, name: str) -> int | None:
    """The offset where the code declares a type's name, which headers have; None where it does not.

    A `namespace` of that name is none, and neither is an alias for a type of the same values.

    >>> declared_at("using uint = bool;", "uint"), declared_at("using uint = unsigned;", "uint")
    (6, None)
    """
    for found in re.finditer(rf"\b{name}\b", code):
        behind = code[found.end() : found.end() + 80].lstrip()
        before = code[max(0, found.start() - 160) : found.start()].rstrip()
        if _is_declared(before, behind) and not _is_same(name, before, behind):
            return found.start()
    return None


def _is_declared(before: str, behind: str) -> bool:
    """Whether a name between these texts is one that is declared there, as far as they may tell."""
    before = before.removesuffix("...").rstrip()
    word = re.search(r"[A-Za-z_]\w*$", before)
    if re.search(r"\b(?:struct|class|union|enum|typename)(?:\s*\[\[[^]]*\]\]|\s*\w+\s*\([^()]*\))*$", before):
        return not behind.startswith("::")
    if re.search(r"\busing\b[^;{}=]*::$", before):
        return _OF_STD.search(before) is None and behind.startswith(";")
    if re.search(r"\btypedef\b(?:[^;{}]*[*&,]|(?:\s+\w+)+\s*\()$", before):
        return behind[:1] in ("", ";", ",", ")", "[")
    if before.endswith("}"):
        return behind[:1] in (";", ",")
    if word is not None and word[0] == "namespace":
        return behind.startswith("=")
    if not before.endswith(">") and (word is None or word[0] in _BEHIND_NO_NAME):
        return False
    return behind[:1] in (",", ">", "=", ")", "[", ";", "{") or re.match(r":(?!:)", behind) is not None


def _is_same(name: str, before: str, behind: str) -> bool:
    """Whether it is made an alias for a type of keywords that has the same values."""
    alias = re.match(rf"=\s*({_PLAIN});", behind) if re.search(r"\busing$", before) else None
    alias = alias or (re.search(rf"\btypedef\s+({_PLAIN})$", f"{before} ") if behind.startswith(";") else None)
    return alias is not None and range_of(alias[1]) == range_of(name)
