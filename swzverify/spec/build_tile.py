"""From the models of memories and tiles to the subjects, in one case of the constants.

`shape:` with `offset:` or `address:` gives the map of a tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.explain.notebook import Tile
from swzverify.hardware import Target
from swzverify.layout import Layout, Swizzle, padded_layout, parse_notation, parse_swizzle
from swzverify.layout.composed import ComposedLayout, PointerLayout
from swzverify.layout.tma import (
    BASE_ALIGN_BYTES,
    FIRST_CAPABILITY,
    TmaMode,
    parse_tma_mode,
    tma_allocation_bytes,
    tma_layout,
)
from swzverify.spec.elements import element_bits
from swzverify.spec.names import Names
from swzverify.spec.place_models import AlignedBasePart, BaseValue, MemoryBasePart, MemoryPart
from swzverify.spec.tile_models import DenseLayoutPart, StagesPart, SwizzlePart, TilePart, TmaPart
from swzverify.spec.tree import Node, Place
from swzverify.spec.values import Broken, Values
from swzverify.subjects import AlignedBase, Base, FixedBase, Memory, MemoryBase, OffsetMap
from swzverify.subjects.loop import NOT_FOR_MAPS
from swzverify.subjects.memory import DEFAULT_ALIGN_BYTES
from swzverify.subjects.offset_map import MODE_NAMES

MAX_ELEMENT_BITS = 1024
MAX_STAGES = 4096


@dataclass(frozen=True, slots=True)
class _Shape:
    """What `layout`, `swizzle` and `tma` come to."""

    layout: Layout | OffsetMap
    swizzle: Swizzle | None = None
    on_address: bool = False
    allocation_bytes: int | None = None


def build_memory(name: str, part: MemoryPart, values: Values, target: Target) -> Memory:
    """A memory.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    size = values.number(part.bytes, "bytes", least=1)
    if size > target.shared_bytes_per_block:
        _too_big(f"memory {name} has {size} bytes", target, values, values.at("bytes"))
    align = values.power_of_two(part.align, "align")
    base = None if part.base is None else values.number(part.base, "base", least=0)
    values.require_sound()
    memory: Memory | None = None
    with values.noted(values.name):
        memory = Memory(name, size, align_bytes=align, base_bytes=base)
    if memory is None or not values.sound:
        raise Broken
    return memory


def build_base(value: BaseValue, values: Values, names: Names, *under: str) -> Base:
    """Where a tile, access, map or operand begins; `under` are the keys above `base`.

    Raises:
        Broken: Its memory is unknown or broken.
    """
    match value:
        case AlignedBasePart():
            align = values.power_of_two(value.align, *under, "base", "align")
            with values.noted(values.at(*under, "base", "align")):
                return AlignedBase(align)
        case MemoryBasePart():
            offset = values.number(value.offset, *under, "base", "offset", least=0)
            return MemoryBase(names.memory(value.in_, values.at(*under, "base", "in")), offset)
        case int() | str():
            address = values.number(value, *under, "base", least=0)
            with values.noted(values.at(*under, "base")):
                return FixedBase(address)
    raise Broken


def build_tile(name: str, part: TilePart, values: Values, names: Names, target: Target) -> Tile:
    """A tile.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    bits = _element_bits(part, values)
    values.lets = names.lets
    if part.shape is None and part.offset is None and part.address is None:
        shape = _shape(part, bits, values)
    else:
        shape = _Shape(build_offset(name, part, values))
    base = AlignedBase(DEFAULT_ALIGN_BYTES) if part.base is None else build_base(part.base, values, names)
    stages, pitch = _stages(part, values)
    allocation = None if part.bytes is None else values.number(part.bytes, "bytes", least=1)
    values.require_sound()
    tile: Tile | None = None
    with values.noted(values.name):
        tile = Tile(
            name,
            bits,
            shape.layout,
            swizzle=shape.swizzle,
            swizzle_on="address" if shape.on_address else "offset",
            base=base,
            stages=stages,
            allocation_bytes=shape.allocation_bytes if allocation is None else allocation,
            pitch_bytes=pitch,
        )
    if tile is None:
        raise Broken
    if part.tma is not None:
        _check_tma_target(target, values)
        _check_tma_base(tile, values)
    _check_room(tile, values, target)
    values.require_sound()
    return tile


def _element_bits(part: TilePart, values: Values) -> int:
    if part.element is not None and part.bits is not None:
        values.fail("SWZ105", "a tile has `element` or `bits`, not both", values.key("bits"))
    elif part.element is None and part.bits is None:
        values.fail("SWZ104", "the key 'element' is missing", values.name, "element: f16, or bits: 16")
    elif part.element is not None:
        with values.noted(values.at("element")):
            return element_bits(part.element)
    elif part.bits is not None:
        return values.number(part.bits, "bits", least=1, most=MAX_ELEMENT_BITS)
    return 8


def _shape(part: TilePart, bits: int, values: Values) -> _Shape:
    nothing = _Shape(Layout(1, 1))
    if part.tma is not None:
        for other in ("layout", "swizzle"):
            if getattr(part, other) is not None:
                values.fail("SWZ105", f"`{other}` cannot stand beside `tma`, which says both", values.key(other))
        return _tma_shape(part.tma, bits, values) if values.sound else nothing
    if part.layout is None:
        hint = "layout: (64,64):(64,1), or layout: {shape: [64, 64], pad: 8}, or tma: {swizzle: 128B, box: [64, 64]},"
        hint += "\nor an expression of the coordinate: shape: [64, 8], and offset: i*8 + (j ^ i%8)"
        values.fail("SWZ104", "the key 'layout' is missing", values.name, hint)
        return nothing
    shape = _dense_shape(part.layout, bits, values) if isinstance(part.layout, DenseLayoutPart) else None
    if shape is None:
        shape = _notation_shape(str(part.layout), bits, values) or nothing
    if part.swizzle is None:
        return shape
    if shape.swizzle is not None:
        message = "the layout's notation has a swizzle already"
        values.fail("SWZ105", message, values.key("swizzle"), "leave out this one")
        return shape
    found = _swizzle(part.swizzle, values)
    on_address = isinstance(part.swizzle, SwizzlePart) and part.swizzle.on == "address"
    return _Shape(shape.layout, found, on_address, shape.allocation_bytes)


def _tma_shape(part: TmaPart, bits: int, values: Values) -> _Shape:
    rows = values.number(part.box[0], "tma", "box", 0, least=1)
    inner = values.number(part.box[1], "tma", "box", 1, least=1)
    mode: TmaMode | None = None
    with values.noted(values.at("tma", "swizzle")):
        mode = parse_tma_mode(part.swizzle)
    if mode is not None and values.sound:
        with values.noted(values.at("tma", "box", 1)):
            layout = tma_layout(mode, rows, inner, bits)
            allocation = tma_allocation_bytes(mode, rows, inner, bits)
            return _Shape(layout, mode.swizzle, on_address=mode.swizzle is not None, allocation_bytes=allocation)
    return _Shape(Layout(1, 1))


def _dense_shape(part: DenseLayoutPart, bits: int, values: Values) -> _Shape:
    extents = [values.number(extent, "layout", "shape", mode, least=1) for mode, extent in enumerate(part.shape)]
    pad = values.number(part.pad, "layout", "pad", least=0)
    if values.sound:
        with values.noted(values.at("layout")):
            layout, elements = padded_layout(tuple(extents), part.order, pad)
            return _Shape(layout, allocation_bytes=-(-elements * bits // 8))
    return _Shape(Layout(1, 1))


def _notation_shape(text: str, bits: int, values: Values) -> _Shape | None:
    where = values.at("layout")
    with values.noted(where):
        match parse_notation(text, values.noted_constants):
            case Layout() as layout:
                return _Shape(layout)
            case ComposedLayout(swizzle=found, offset=offset, layout=layout):
                if offset:
                    values.fail("SWZ105", f"a tile's layout begins at offset 0, not {offset}", where, "move its `base`")
                return _Shape(layout, found)
            case PointerLayout(swizzle=found, element_bits=pointer_bits, layout=layout):
                if pointer_bits != bits:
                    message = f"smem_ptr[{pointer_bits}b] has elements of {pointer_bits} bits, the tile's have {bits}"
                    values.fail("SWZ105", message, where, "make `element` and the notation agree")
                return _Shape(layout, found, on_address=True) if found.bits else _Shape(layout)
    return None


def _swizzle(part: str | SwizzlePart, values: Values) -> Swizzle | None:
    if isinstance(part, str):
        with values.noted(values.at("swizzle")):
            return parse_swizzle(part, values.noted_constants)
        return None
    bits = values.number(part.bits, "swizzle", "bits")
    base = values.number(part.base, "swizzle", "base")
    shift = values.number(part.shift, "swizzle", "shift")
    if values.sound:
        with values.noted(values.at("swizzle")):
            return Swizzle(bits, base, shift)
    return None


def _stages(part: TilePart, values: Values) -> tuple[int, int | None]:
    if not isinstance(part.stages, StagesPart):
        return values.number(part.stages, "stages", least=1, most=MAX_STAGES), None
    count = values.number(part.stages.count, "stages", "count", least=1, most=MAX_STAGES)
    pitch = part.stages.pitch
    return count, None if pitch is None else values.number(pitch, "stages", "pitch", least=0)


def _check_tma_target(target: Target, values: Values) -> None:
    if target.capability < FIRST_CAPABILITY:
        message = f"{target.name} has no TMA: tensor copies came with sm_{FIRST_CAPABILITY}"
        hint = "choose a later target, or give the tile's `layout:` and the accesses that fill it"
        values.fail("SWZ226", message, values.key("tma"), hint)


def _check_tma_base(tile: Tile, values: Values) -> None:
    """TMA needs multiples of 128 bytes, for every stage too: a load elsewhere faults."""
    need = BASE_ALIGN_BYTES
    match tile.base:
        case FixedBase(address_bytes=address):
            wrong = address % need
        case AlignedBase(align_bytes=align):
            wrong = align % need
        case MemoryBase(memory=memory, offset_bytes=offset):
            if memory.base_bytes is None:
                wrong = offset % need or memory.alignment_bytes % need
            else:
                wrong = (memory.base_bytes + offset) % need
    if wrong:
        message = f"a TMA box lies at a multiple of {need} bytes, this base does not always"
        values.fail("SWZ222", message, values.at("base"), f"a load elsewhere faults; base: {{align: {need}}} or more")
    elif tile.stages > 1 and tile.pitch_bytes % need:
        message = f"a TMA box lies at a multiple of {need} bytes, the pitch is {tile.pitch_bytes}"
        values.fail("SWZ222", message, values.at("stages"))


def _check_room(tile: Tile, values: Values, target: Target) -> None:
    total = tile.total_bytes
    if isinstance(tile.base, MemoryBase):
        memory, offset = tile.base.memory, tile.base.offset_bytes
        if offset + total > memory.bytes:
            size = f"{offset} + {total} bytes in memory {memory.name} of {memory.bytes}"
            message = f"tile {tile.name} does not fit: {size}"
            values.fail("SWZ110", message, values.at("base"), _stage_note(tile))
    elif total > target.shared_bytes_per_block:
        _too_big(f"tile {tile.name} takes {total} bytes", target, values, values.name, _stage_note(tile))


def _stage_note(tile: Tile) -> str:
    return "" if tile.stages == 1 else f"{tile.stages} stages, {tile.pitch_bytes} bytes apart"


def _too_big(what: str, target: Target, values: Values, where: Node | Place, hint: str = "") -> None:
    limit = target.shared_bytes_per_block
    message = f"{what}; a block on {target.name} has at most {limit} bytes of shared memory"
    values.fail("SWZ110", message, where, hint)


EXAMPLE = "shape: [64, 8], and offset: i*8 + (j ^ i%8)"


def build_offset(name: str, part: TilePart, values: Values) -> OffsetMap:
    """The map of a tile with one of the three keys.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    key = "offset" if part.address is None else "address"
    value = part.offset if part.address is None else part.address
    _check_keys(part, values)
    over = _modes(part, values)
    if value is None:
        raise Broken
    formula = values.expression(value, [mode for mode, _ in over], key)
    values.require_sound()
    with values.noted(values.at(key)):
        return OffsetMap(over, formula, in_bytes=key == "address", constants=values.constants, name=name)
    raise Broken


def _check_keys(part: TilePart, values: Values) -> None:
    if part.offset is not None and part.address is not None:
        hint = "offset: counts elements, address: counts bytes"
        values.fail("SWZ105", "a tile has `offset` or `address`, not both", values.key("address"), hint)
    stated = next(key for key in ("offset", "address", "shape") if getattr(part, key) is not None)
    if part.offset is None and part.address is None:
        hint = f"an expression of the coordinate goes with it: {EXAMPLE}\na layout has its own: layout: {{shape: ...}}"
        values.fail("SWZ104", "the key 'offset' is missing", values.key("shape"), hint)
    elif part.shape is None:
        message = f"the key 'shape' is missing: nothing says over which coordinates `{stated}` goes"
        values.fail("SWZ104", message, values.key(stated), EXAMPLE)
    for other in ("layout", "tma", "swizzle"):
        if getattr(part, other) is not None:
            hint = "write the XOR into the expression" if other == "swizzle" else "keep one of the two"
            message = f"`{other}` cannot stand beside `{stated}`, which says where each element lies"
            values.fail("SWZ105", message, values.key(other), hint)


def _modes(part: TilePart, values: Values) -> tuple[tuple[str, int], ...]:
    """Names and extents of the modes."""
    if isinstance(part.shape, dict):
        found = [(mode, values.number(extent, "shape", mode, least=1)) for mode, extent in part.shape.items()]
    else:
        stated = enumerate(part.shape or ())
        found = [(MODE_NAMES[at], values.number(extent, "shape", at, least=1)) for at, extent in stated]
    for mode, _ in found:
        where = values.key("shape", mode) if isinstance(part.shape, dict) else values.at("shape")
        hint = "give the modes names of their own: shape: {row: 64, chunk: 8}"
        values.refuse_taken(mode, where, NOT_FOR_MAPS, hint, let_hint=hint)
    return tuple(found)
