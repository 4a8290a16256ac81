"""The keyword arguments of the assertions: what a layout in notation does not say by itself, and nobody guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from swzverify.errors import SwzError

Threads: TypeAlias = "int | tuple[int, ...]"
Loops: TypeAlias = "Mapping[str, int | range]"
Expressions: TypeAlias = "Sequence[str | int]"
SwizzleOn: TypeAlias = 'Literal["offset", "address"]'

_HOW: Mapping[str, str] = {
    "element_bits": "the size of an element, such as element_bits=16",
    "base_align": "where the tile begins: any multiple of so many bytes, such as base_align=1024",
    "swizzle_on": 'what the swizzle acts on, swizzle_on="offset" (elements) or swizzle_on="address" (bytes)',
    "instruction": 'the warp instruction, such as instruction="ldmatrix.x4"',
    "threads": "the threads of the block, such as threads=128 or threads=(32, 4); threads=32 is one warp",
    "coord": 'the coordinate that a thread accesses, one C expression a mode, such as coord=["lane", "0"]',
    "size": "how many elements there are, such as size=512",
}


@dataclass(frozen=True, slots=True)
class Given:
    """What a call of an assertion was given beside the subject; None is what was not given."""

    element_bits: int | None = None
    base_align: int | None = None
    swizzle_on: SwizzleOn | None = None
    constants: Mapping[str, int] | None = None
    size: int | None = None
    instruction: str | None = None
    threads: Threads | None = None
    coord: Expressions | None = None
    loops: Loops | None = None
    predicate: str | None = None
    target: str | None = None

    def refuse(self, subject: str, *names: str) -> None:
        """Refuse those of the named arguments that were given: the subject has no use for them. Error: SWZ803.

        >>> Given(element_bits=16).refuse("a Tile", "element_bits")
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ803: element_bits does not go with a Tile
          leave it out
        """
        useless = [name for name in names if getattr(self, name) is not None]
        if useless:
            verb, them = ("does", "it") if len(useless) == 1 else ("do", "them")
            raise SwzError("SWZ803", f"{', '.join(useless)} {verb} not go with {subject}", hint=f"leave {them} out")

    def require(self, subject: str, *names: str) -> None:
        """Refuse a call that lacks one of the named arguments, and say what to give. Error: SWZ802.

        >>> Given().require("'8:1'", "element_bits")
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ802: '8:1' needs element_bits
          give the size of an element, such as element_bits=16
        """
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            hint = "\n".join(f"give {_HOW[name]}" for name in missing)
            raise SwzError("SWZ802", f"{subject} needs {' and '.join(missing)}", hint=hint)


ALL_NAMES = tuple(field.name for field in fields(Given))
"""Every keyword argument."""
