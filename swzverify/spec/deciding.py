"""Which constants decide a tile's layout, and where in the spec they stand, to mend a conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swzverify.claims import Claim
from swzverify.spec.check import Checked
from swzverify.spec.fields import Part
from swzverify.spec.tree import get, key_of, place_of
from swzverify.subjects import Access, Tile

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


@dataclass(frozen=True, slots=True)
class DecidingConstant:
    """A constant in a tile's layout: its value in this case, and its line in the spec.

    >>> DecidingConstant("PAD", 0, 4, "A").text
    'PAD = 0 at line 4, in the layout of A'
    """

    name: str
    value: int
    line: int
    tile: str

    @property
    def text(self) -> str:
        """The constant, its value and its place in one line."""
        return f"{self.name} = {self.value} at line {self.line}, in the layout of {self.tile}"


def tile_constants(checked: Checked) -> dict[str, tuple[tuple[str, int], ...]]:
    """Of each tile the constants that its `layout`, `swizzle` and `tma` name, with their lines."""
    lines: dict[str, int] = {}
    for name in checked.spec.constants:
        for section in ("constants", "from_source"):
            node = key_of(get(checked.root, section), name)
            if node is not None:
                lines.setdefault(name, place_of(node).line)
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for name, tile in checked.spec.tiles.items():
        read = dict.fromkeys(word for part in (tile.layout, tile.swizzle, tile.tma) for word in _words(part))
        found[name] = tuple((word, lines[word]) for word in read if word in lines)
    return found


def deciding(
    claim: Claim, named: Mapping[str, tuple[tuple[str, int], ...]], constants: Mapping[str, int]
) -> tuple[DecidingConstant, ...]:
    """The constants that decide how the tiles of a claim lie."""
    tiles = [_tile_of(each) if isinstance(each, Access) else each for each in claim.subjects]
    names = dict.fromkeys(tile.name for tile in tiles if isinstance(tile, Tile))
    return tuple(
        DecidingConstant(name, constants[name], line, tile) for tile in names for name, line in named.get(tile, ())
    )


def _tile_of(access: Access) -> Tile | None:
    return access.tile or (None if access.fragment is None else access.fragment.tile)


def _words(value: object) -> Iterator[str]:
    """The names in every text of a part of the spec, keys left out."""
    match value:
        case str():
            yield from _NAME.findall(value)
        case Part():
            for key in type(value).model_fields:
                yield from _words(getattr(value, key))
        case list() | tuple():
            for each in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _words(each)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return
