"""A change that is known to help, and a change that may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from swzverify.subjects import Access, Base, Operand, Phase, Tile


@dataclass(frozen=True, slots=True)
class Cure:
    """A change of one object after which the claim was proved.

    `gives` is what the access then costs, and `also` what else the change does: bytes that it
    takes, claims that no longer hold. `after` is the object after the change, which a spec can state;
    reports show its words only.

    >>> Cure("A", "swizzle: Swizzle<3,3,3> on element offsets", "4 wavefronts (minimum 4) instead of 32").text
    'A: swizzle: Swizzle<3,3,3> on element offsets: 4 wavefronts (minimum 4) instead of 32'
    """

    object: str
    change: str
    gives: str
    also: str = ""
    after: Tile | Access | Operand | Phase | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The whole cure in one line."""
        return f"{self.object}: {self.change}: {self.gives}" + (f"; {self.also}" if self.also else "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to try: a tile in place of another one, or a base of an access that has no tile.

    `grows_bytes` are the bytes that the tile takes more than before, over all of its stages. `again`
    makes the same change to the tile of another case of the constants; None where it cannot.
    """

    object: str
    change: str
    old: Tile | None = None
    new: Tile | None = None
    base: Base | None = None
    again: Callable[[Tile], Tile | None] | None = field(default=None, compare=False)

    def on(self, tile: Tile | None) -> Candidate | None:
        """The same change in another case, whose tile may be different; None if it cannot be made.

        Errors are those of a tile.
        """
        if tile is None or tile == self.old:
            return self
        changed = None if self.again is None else self.again(tile)
        return None if changed is None else replace(self, old=tile, new=changed)

    @property
    def grows_bytes(self) -> int:
        """How many bytes more the tile takes."""
        return 0 if self.old is None or self.new is None else self.new.total_bytes - self.old.total_bytes

    def tile(self, tile: Tile) -> Tile:
        """The tile after the change."""
        return self.new if self.new is not None and tile == self.old else tile

    def access(self, access: Access) -> Access:
        """The access after the change.

        Errors are those of an access that cannot be.
        """
        if access.tile is None:
            return replace(access, base=self.base) if self.base is not None and access.name == self.object else access
        changed = self.tile(access.tile)
        return access if changed is access.tile else replace(access, tile=changed)
