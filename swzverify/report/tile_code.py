"""A tile, and an access to it, as code: CuTe C++, and CUDA index expressions."""

from __future__ import annotations

from swzverify.layout import Layout, Swizzle
from swzverify.search.synth.expressions import cute_layout, layout_expression, swizzle_expression
from swzverify.subjects import Access, Tile
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop
from swzverify.subjects.tile import SwizzleOn


def cute_of(layout: Layout, swizzle: Swizzle | None, on: SwizzleOn) -> str:
    """A layout and its swizzle in CuTe C++. A swizzle of addresses belongs to the pointer.

    >>> cute_of(Layout((8, 64), (64, 1)), Swizzle(3, 3, 3), "offset")
    'composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>, Stride<_64,_1>>{})'
    """
    plain = f"{cute_layout(layout)}{{}}"
    if swizzle is None:
        return plain
    if on == "address":
        return f"make_tensor(make_swizzle_ptr(pointer, {swizzle}{{}}), {plain})"
    return f"composition({swizzle}{{}}, {plain})"


def tile_cute(tile: Tile) -> str:
    """The tile in CuTe C++. The tile must have a layout."""
    return cute_of(_layout(tile), tile.swizzle, tile.swizzle_on)


def swizzled_lines(tile: Tile, swizzle: Swizzle | None, on: SwizzleOn) -> list[str]:
    """The lines that swizzle `offset`, which counts elements.

    A swizzle of addresses changes the shared byte address of an element of whole bytes.
    """
    if swizzle is None:
        return []
    if on == "offset":
        return [f"offset = {swizzle_expression(swizzle, 'offset')};"]
    return [f"unsigned address = {start_expression(tile)};", f"address = {swizzle_expression(swizzle, 'address')};"]


def start_expression(tile: Tile) -> str:
    """The byte address of `offset`, or of the byte it begins in, before a swizzle of addresses."""
    whole, rest = divmod(tile.element_bits, 8)
    stage = f"stage*{tile.pitch_bytes} + " if tile.stages > 1 else ""
    return f"base + {stage}{f'offset*{tile.element_bits}/8' if rest else f'{whole}*offset'}"


def access_cuda(access: Access) -> str:
    """A device function from thread and loops to the byte address of a lane.

    The access has a tile of one stage with a layout, and threads in one dimension.
    """
    tile = access.tile
    assert tile is not None  # noqa: S101 - see above
    layout = _layout(tile)
    names = [f"c{mode}" for mode in range(layout.rank)]
    used = {name for each in access.coord for name in each.names}
    threads = {"lane": "tid % 32", "warp": "tid / 32", "tid_x": "tid"}
    known = [f"{name} = {text}" for name, text in threads.items() if name in used]
    coord = [f"{name} = {part.text}" for name, part in zip(names, access.coord, strict=True)]
    on_address = tile.swizzle is not None and tile.swizzle_on == "address"
    body = [
        *([f"const int {', '.join(known)};"] if known else []),
        f"const int {', '.join(coord)};",
        f"unsigned offset = {layout_expression(layout, names)};",
        *swizzled_lines(tile, tile.swizzle, tile.swizzle_on),
        f"return {'address' if on_address else start_expression(tile)};",
    ]
    arguments = "".join(f", int {loop.name}" for loop in access.loops)
    told = [
        f"// The shared byte address that each lane gives {access.instruction.name}; the tile begins at `base`.",
        *(f"// {_c_head(loop)}" for loop in access.loops),
        *([] if access.predicate is None else [f"// Only lanes with {access.predicate.text} run it."]),
    ]
    lines = [*told, f"__device__ inline unsigned shared_address(unsigned base, int tid{arguments}) {{"]
    return "\n".join([*lines, *(f"  {line}" for line in body), "}"])


def _c_head(loop: AnyLoop) -> str:
    """A loop as C writes it, or the values that it has."""
    if isinstance(loop, ListedLoop):
        return f"{loop.name} is each of {', '.join(map(str, loop.values))}"
    end = "" if loop.stop is None else f"{loop.name} < {loop.stop}"
    return f"for (int {loop.name} = {loop.start}; {end}; {loop.name} += {loop.step})"


def _layout(tile: Tile) -> Layout:
    assert isinstance(tile.layout, Layout)  # noqa: S101 - see above
    return tile.layout
