"""What a spec says of memories and of where things begin in them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, TypeAlias

from pydantic import Field, Tag

from swzverify.spec.fields import Count, Name, Part, branch, by_shape


class MemoryPart(Part):
    """A stretch of shared memory that several tiles lie in."""

    bytes: Count = Field(description="size in bytes", examples=[98304, "BM*BK*2"])
    align: Count = Field(
        1024, description="the memory's address is a multiple of this, in bytes; a power of two", examples=[1024, 128]
    )
    base: Count | None = Field(None, description="the memory's byte address, where it is fixed", examples=[0, 1024])


class AlignedBasePart(Part):
    """Any address that is a multiple of `align`."""

    align: Count = Field(description="bytes, a power of two", examples=[1024, 16])


class MemoryBasePart(Part):
    """A place in a memory."""

    in_: Name = Field(alias="in", description="the memory's name", examples=["smem"])
    offset: Count = Field(0, description="bytes from the memory's start", examples=[16384, "BM*BK*2"])


def _aligned_or_in_memory(keys: Collection[str]) -> str:
    return "?MemoryBasePart" if "in" in keys or "offset" in keys else "?AlignedBasePart"


BaseValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")]
    | Annotated[AlignedBasePart, Tag("?AlignedBasePart")]
    | Annotated[MemoryBasePart, Tag("?MemoryBasePart")],
    branch(
        "a byte address, {align: n} or {in: memory, offset: n}",
        by_shape(mapping=_aligned_or_in_memory, text="?number", integer="?number"),
    ),
]
