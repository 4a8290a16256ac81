"""What a synthesis is asked: a tile in each case of the constants, every access to it, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from swzverify.errors import SwzError
from swzverify.layout import Layout
from swzverify.search.cures.pads import row_strides, stretched
from swzverify.subjects import Access, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn

FAMILIES = ("swizzle", "tma", "pad", "pad+swizzle", "xor")
"""What can be asked for, in the order in which the help lists them."""


@dataclass(frozen=True, slots=True)
class Form:
    """How the spec writes the tile, which tells what a new layout may change.

    `dense` is `{shape, order, pad}`, where the last row has its pad too. An allocation or a pitch
    that the spec gives stays as it is, and the new layout has to fit.
    """

    dense: bool = False
    bytes_given: bool = False
    pitch_given: bool = False
    tma: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """The tile in one case of the constants, with the accesses to it by the name that reports use.

    `room_bytes` is the most that all stages may take. `weights` multiply the wavefronts of an
    access, by the same names; the weight is 1 where there is none.
    """

    tile: Tile
    accesses: Mapping[str, Access]
    form: Form
    room_bytes: int
    weights: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def layout(self) -> Layout:
        """The tile's layout without its swizzle."""
        assert isinstance(self.tile.layout, Layout)  # noqa: S101 - `Problem` refuses expressions
        return self.tile.layout

    @property
    def packed(self) -> Layout:
        """The layout without a pad after its rows: the first row stride as small as the row is long.

        >>> tile = Tile("A", 16, Layout((8, 64), (72, 1)))
        >>> print(Variant(tile, {}, Form(), 4096).packed)
        (8,64):(64,1)
        """
        layout, run = self.layout, self.tile.run_elements or 1
        rows = [stride for stride in row_strides(layout) if stride > run]
        beyond = [stride for extent, stride in layout.leaves if extent > 1 and stride > run]
        if not rows or rows[0] != min(beyond):
            return layout
        # Only where the run is all that lies below a row's stride is it the row.
        if any(extent > 1 and stride < rows[0] and stride >= run for extent, stride in layout.leaves):
            return layout
        return Layout(layout.shape, stretched(layout.stride, rows[0], run))

    def placed(self, layout: Layout, *, padded: bool = False) -> Tile:
        """The tile at its base with another layout and no swizzle; its pitch follows its size.

        `padded` counts the pad behind the last row, as `{shape, order, pad}` does.

        Errors are those of `Tile`.
        """
        tile = self.tile
        elements = layout.cosize
        if padded and self.form.dense:
            row = next(iter(row_strides(layout)), layout.cosize)
            elements = -(-layout.cosize // row) * row
        needed = -(-elements * tile.element_bits // 8)
        allocation = tile.allocation_bytes if self.form.bytes_given else needed
        pitch = tile.pitch_bytes if self.form.pitch_given else None
        return Tile(tile.name, tile.element_bits, layout, None, "offset", tile.base, tile.stages, allocation, pitch)

    def bare(self) -> Tile:
        """The tile as it is, without its swizzle."""
        return self.tile.relaid(self.tile.layout)


@dataclass(frozen=True)
class Problem:
    """The question: the variants that one layout has to serve, and what judges the layout.

    `on` says what a swizzle acts on. Rows and vectors of `keep_bytes` stay whole, beside those of the
    accesses.

    Raises:
        SwzError: SWZ561 if there is no access to judge by, SWZ562 for a tile whose layout is not to be
            chosen, SWZ212 for byte addresses of elements that are no whole bytes.
    """

    family: str
    variants: tuple[Variant, ...]
    on: SwizzleOn = "offset"
    keep_bytes: int = 1

    def __post_init__(self) -> None:
        """Refuse what has no answer in any family."""
        tile = self.variants[0].tile
        if not any(variant.accesses for variant in self.variants):
            raise SwzError(
                "SWZ561",
                f"tile {tile.name} has no access, so that every layout is as good as any other",
                hint="give the accesses that write and read it in `accesses:`",
            )
        if isinstance(tile.layout, OffsetMap):
            raise SwzError(
                "SWZ562",
                f"tile {tile.name} is placed by an expression, and a search changes layouts",
                hint="write its plain layout, such as layout: (64,64):(64,1); the answer may be an expression",
            )
        if self.variants[0].form.tma and self.family != "tma":
            raise SwzError(
                "SWZ562",
                f"tile {tile.name} is a TMA box: the tensor map decides its layout",
                hint="--family tma looks for the mode; give `layout:` in place of `tma:` for the other families",
            )
        if self.on == "address" and tile.element_bits % 8:
            raise SwzError(
                "SWZ212",
                f"tile {tile.name}: a swizzle of byte addresses needs elements of whole bytes, not of "
                f"{tile.element_bits} bits",
                hint="--on offset, or describe the tile in bytes",
            )
        for variant in self.variants:
            if isinstance(variant.tile.layout, OffsetMap):
                raise SwzError("SWZ562", f"tile {tile.name} is placed by an expression in some cases")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The accesses' names in reports, over all variants."""
        return tuple(label for variant in self.variants for label in variant.accesses)

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """The accesses themselves, in the same order."""
        return tuple(access for variant in self.variants for access in variant.accesses.values())

    @cached_property
    def weight_of(self) -> tuple[int, ...]:
        """The weights, in the same order."""
        return tuple(variant.weights.get(label, 1) for variant in self.variants for label in variant.accesses)

    @cached_property
    def vector_bits_of(self) -> tuple[int, ...]:
        """For each access the size in bits of the vector that has to stay whole for it.

        It is what a lane takes, and at least an element and `keep_bytes`.
        """
        least = max(self.variants[0].tile.element_bits, 8 * self.keep_bytes)
        return tuple(max(8 * access.instruction.width_bytes, least) for access in self.accesses)

    @property
    def vector_bits(self) -> int:
        """The widest of these vectors, which an answer keeps whole."""
        return max(self.vector_bits_of)

    @property
    def narrowest_bits(self) -> int:
        """The narrowest of these vectors: a member that does not keep it whole is not priced."""
        return min(self.vector_bits_of)

    def base_for(self, vector_bits: int, on: SwizzleOn | None = None) -> int | None:
        """The lowest bit that a swizzle may change without tearing vectors.

        None if a vector is no power of two of its units, which are elements or bytes.
        """
        unit = 8 if (on or self.on) == "address" else self.variants[0].tile.element_bits
        count, rest = divmod(vector_bits, unit)
        return None if rest or count & (count - 1) else count.bit_length() - 1
