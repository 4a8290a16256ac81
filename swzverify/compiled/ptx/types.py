"""Types and state spaces of PTX: their sizes.

Source: PTX ISA, State Spaces, Types, and Variables.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final


class Space(StrEnum):
    """Where a variable lives. Registers are no variables here."""

    SHARED = "shared"
    GLOBAL = "global"
    CONST = "const"
    LOCAL = "local"
    PARAM = "param"


_OPAQUE: Final = frozenset(("texref", "surfref", "samplerref"))
"""Handles of textures, surfaces and samplers, which are as wide as an address of 64 bits."""
_PACKED: Final = {"f16x2": 4, "bf16x2": 4, "e4m3x2": 2, "e5m2x2": 2, "tf32": 4, "bf16": 2, "e4m3": 1, "e5m2": 1}
_NUMBERED: Final = re.compile(r"[bsuf](8|16|32|64|128)")
_VECTOR: Final = re.compile(r"v([248])\.(\w+)")


@cache
def size_of_type(name: str) -> int | None:
    """Bytes of a type without its dot; None for `pred` and for a word that is no type.

    >>> size_of_type("f32"), size_of_type("v4.f32"), size_of_type("pred")
    (4, 16, None)
    """
    if vector := _VECTOR.fullmatch(name):
        element = size_of_type(vector[2])
        return None if element is None else int(vector[1]) * element
    if numbered := _NUMBERED.fullmatch(name):
        return int(numbered[1]) // 8
    return 8 if name in _OPAQUE else _PACKED.get(name)


def is_type(name: str) -> bool:
    """Whether a register or variable can be of this type."""
    return name == "pred" or size_of_type(name) is not None
