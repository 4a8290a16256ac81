"""Random tiles."""

from __future__ import annotations

from dataclasses import dataclass

from .random_parts import Draft, Size, base_value, element, size, swizzle_numbers, swizzle_value
from .yaml_values import Yaml

MOST_BITS = 4096 * 16


@dataclass(frozen=True, slots=True)
class DrawnTile:
    """What an access or a claim must know of a tile: `run` elements follow one another along
    `run_mode`.
    """

    name: str
    bits: int
    extents: tuple[Size, ...]
    run_mode: int
    run: int
    stages: int


def matrix_tile(draft: Draft, bits: int | None = None) -> DrawnTile:
    """A tile of rows and columns, contiguous along one of them, with padding or a swizzle or
    neither.
    """
    rng = draft.rng
    bits = bits or rng.choice([4, 6, 8, 16, 16, 16, 16, 32, 32, 32, 64])
    quantum = 8 if bits < 8 else 1
    inner_choices = [c for c in (8, 16, 32, 64, 128) if 64 <= c * bits <= 2048]
    if draft.chance(0.2):
        inner_choices = [c for c in (12, 20, 24, 33, 40, 48, 80) if c % quantum == 0]
    inner = size(draft, inner_choices)
    outer = size(draft, [r for r in (4, 8, 16, 32, 64, 12, 24) if r * inner.most * bits <= MOST_BITS] or [4])
    name = draft.fresh("T")
    tile: dict[str, Yaml] = element(draft, bits)
    by_row = draft.chance(0.8)
    pad = rng.choice([1, 2, 4, 8, 8, 16]) * quantum if draft.chance(0.25) else 0
    tile["layout"] = _matrix_layout(draft, outer, inner, pad, bits, by_row=by_row)
    span = 1
    if draft.chance(0.2 if pad else 0.6):
        span = _add_swizzle(draft, tile, bits)
    _add_base(draft, tile, span)
    if draft.chance(0.1):
        tile["bytes"] = max(16, outer.least * inner.least * bits // 8 + rng.choice([-16, 0, 16, 64]))
    stages = _add_stages(draft, tile, outer.most * (inner.most + pad) * bits // 8)
    draft.tiles[name] = tile
    extents = (outer, inner) if by_row else (inner, outer)
    return DrawnTile(name, bits, extents, 1 if by_row else 0, inner.least, stages)


def _matrix_layout(draft: Draft, outer: Size, inner: Size, pad: int, bits: int, *, by_row: bool) -> Yaml:
    rng = draft.rng
    if pad or draft.chance(0.2):
        first, second = (outer, inner) if by_row else (inner, outer)
        shape: list[Yaml] = [_number(first), _number(second)]
        layout: dict[str, Yaml] = {"shape": shape, "order": "row" if by_row else "col"}
        if pad:
            layout["pad"] = pad
        return layout
    # A row that begins before the last one ends is not one to one.
    overlap = f" - {8 if bits < 8 else 1}" if draft.chance(0.4) else ""
    far, near = f"{inner.text}{overlap}", "1"
    if outer.least % 4 == 0 and draft.chance(0.2):
        split = rng.choice([2, 4])
        whole = all(value % split == 0 for value in outer.values)
        if whole:
            rows = f"({split},{outer.text}/{split})"
            return _pair(rows, inner.text, f"({far},{split}*({far}))", near, by_row=by_row)
    return _pair(outer.text, inner.text, far, near, by_row=by_row)


def _pair(outer: str, inner: str, far: str, near: str, *, by_row: bool) -> str:
    return f"({outer},{inner}):({far},{near})" if by_row else f"({inner},{outer}):({near},{far})"


def _number(extent: Size) -> Yaml:
    return int(extent.text) if extent.text.isdigit() else extent.text


def _add_swizzle(draft: Draft, tile: dict[str, Yaml], bits: int) -> int:
    """Puts a swizzle on the tile, and returns the bytes of the address that it looks at (1 for
    offsets).
    """
    rng = draft.rng
    vector = (128 // bits).bit_length() - 1
    on_address = bits >= 8 and draft.chance(0.35)
    if not on_address:
        low = max(vector, 3) if bits < 8 else vector
        numbers = swizzle_numbers(rng, low, 12)
        if bits < 8:
            numbers = (numbers[0], max(3, numbers[1]), numbers[2])
        tile["swizzle"] = swizzle_value(rng, numbers, on_address=False)
        return 1
    numbers = swizzle_numbers(rng, 4, 12)
    tile["swizzle"] = swizzle_value(rng, numbers, on_address=True)
    return 1 << (numbers[0] + numbers[1] + abs(numbers[2]))


def _add_base(draft: Draft, tile: dict[str, Yaml], span_bytes: int, needed: int = 1) -> None:
    base = base_value(draft, span_bytes, needed)
    if base is not None:
        tile["base"] = base


def _add_stages(draft: Draft, tile: dict[str, Yaml], bytes_about: int, quantum: int = 16) -> int:
    rng = draft.rng
    if not draft.chance(0.25):
        return 1
    if draft.chance(0.6):
        tile["stages"] = 2
    else:
        pitch = max(quantum, bytes_about + rng.choice([-64, -16, 0, 0, 16, 128])) // quantum * quantum
        tile["stages"] = {"count": 2, "pitch": pitch}
    return 2


def strange_tile(draft: Draft) -> DrawnTile:
    """A tile of any nested layout: sizes that are no powers of two, strides that leave gaps or
    overlap.
    """
    rng = draft.rng
    bits = rng.choice([8, 16, 32, 64])
    rank = rng.choice([1, 2, 2, 3])
    leaves: list[list[int]] = [
        [rng.choice([1, 2, 3, 4, 5, 6, 8]) for _ in range(rng.choice([1, 1, 2]) if rank > 1 else 1)]
        for _ in range(rank)
    ]
    if _product([number for leaf in leaves for number in leaf]) > 2048:
        leaves = [[min(number, 3) for number in leaf] for leaf in leaves]
    places = [(mode, at) for mode, leaf in enumerate(leaves) for at in range(len(leaf))]
    rng.shuffle(places)
    strides = [[0] * len(leaf) for leaf in leaves]
    next_stride = 1
    for mode, at in places:
        strides[mode][at] = next_stride
        next_stride *= leaves[mode][at]
        if draft.chance(0.25):
            next_stride += rng.choice([1, 2, 4, -1, -1, -2])
        next_stride = max(1, next_stride)
    if draft.chance(0.35):
        mode, at = rng.choice(places)
        strides[mode][at] = rng.choice([0, 1, 2, 3])
    name = draft.fresh("S")
    tile: dict[str, Yaml] = element(draft, bits)
    tile["layout"] = f"{_nested(leaves)}:{_nested(strides)}"
    span = _add_swizzle(draft, tile, bits) if draft.chance(0.4) else 1
    _add_base(draft, tile, span)
    stages = _add_stages(draft, tile, next_stride * bits // 8)
    draft.tiles[name] = tile
    extents = tuple(Size(str(n), (n,)) for n in (_product(leaf) for leaf in leaves))
    return DrawnTile(name, bits, extents, 0, 1, stages)


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def _nested(leaves: list[list[int]]) -> str:
    modes = [str(leaf[0]) if len(leaf) == 1 else f"({','.join(map(str, leaf))})" for leaf in leaves]
    if len(leaves) > 1:
        return f"({','.join(modes)})"
    return modes[0]


def tma_tile(draft: Draft) -> DrawnTile:
    """A TMA tile of one of the four modes, its box as wide as the pitch or narrower."""
    rng = draft.rng
    bits = rng.choice([8, 16, 16, 32])
    mode = rng.choice(["none", "32B", "64B", "128B", "128B"])
    pitch_bytes = {"none": 64, "32B": 32, "64B": 64, "128B": 128}[mode]
    inner_bytes = pitch_bytes if draft.chance(0.7) else rng.choice([16, 32, 48, 64, 96, 128])
    inner_bytes = inner_bytes if mode == "none" else min(pitch_bytes, inner_bytes)
    inner = inner_bytes * 8 // bits
    rows = rng.choice([8, 16, 16, 32, 12])
    name = draft.fresh("M")
    tile: dict[str, Yaml] = element(draft, bits)
    tile["tma"] = {"swizzle": mode, "box": [rows, inner]}
    _add_base(draft, tile, 8 * pitch_bytes if mode != "none" else 1, 128)
    stages = _add_stages(draft, tile, rows * pitch_bytes, 128)
    draft.tiles[name] = tile
    extents = tuple(Size(str(n), (n,)) for n in (rows, inner))
    return DrawnTile(name, bits, extents, 1, inner, stages)
