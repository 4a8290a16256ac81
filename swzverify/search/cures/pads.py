"""Rows that begin farther apart: a pad behind each run of elements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from swzverify.core.words import counted
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, BANKS
from swzverify.layout import Layout
from swzverify.layout.int_tuple import IntTuple
from swzverify.search.cures.cure import Candidate
from swzverify.search.cures.tiles import with_layout
from swzverify.subjects import OffsetMap, Tile


def pads(tile: Tile, width_bytes: int) -> Iterator[Candidate]:
    """The tile with a pad after each row, the one that takes the fewest bytes first.

    A row ends where a stride of the layout begins; larger strides grow with it. A row stays a
    multiple of `width_bytes`, the widest access, so that vectors stay aligned. A pad of a whole
    bank period would change nothing that a smaller one does not. A swizzled tile gets none, nor
    does a tile that is placed by an expression.
    """
    if tile.swizzle is not None or isinstance(tile.layout, OffsetMap):
        return
    found: list[tuple[int, int, Candidate]] = []
    rows = row_strides(tile.layout)
    for number, row in enumerate(rows):
        for pad in range(1, 8 * BANK_PERIOD_BYTES // tile.element_bits + 1):
            if (row + pad) * tile.element_bits % (8 * width_bytes) or row * tile.element_bits % 8:
                continue
            layout = Layout(tile.layout.shape, stretched(tile.layout.stride, row, row + pad))
            change = _change(tile, layout, row, pad, width_bytes)
            again = partial(_padded, pad, number, len(rows))
            candidate = Candidate(tile.name, change, tile, with_layout(tile, layout), again=again)
            found.append((candidate.grows_bytes, pad, candidate))
    found.sort(key=lambda each: each[:2])
    for _, _, candidate in found:
        yield candidate


def _padded(pad: int, number: int, count: int, tile: Tile) -> Tile | None:
    """Another tile with a pad after its rows of that number; None where it has others."""
    if isinstance(tile.layout, OffsetMap) or len(rows := row_strides(tile.layout)) != count:
        return None
    row = rows[number]
    return with_layout(tile, Layout(tile.layout.shape, stretched(tile.layout.stride, row, row + pad)))


def row_strides(layout: Layout) -> list[int]:
    """The strides at which a pad may stand, the smallest first: every larger one is a multiple.

    >>> row_strides(Layout((8, (8, 64)), (64, (512, 1)))), row_strides(Layout((4, 4), (3, 7)))
    ([64, 512], [7])
    """
    strides = sorted({stride for extent, stride in layout.leaves if extent > 1 and stride > 1})
    return [row for row in strides if not any(stride % row for stride in strides if stride > row)]


def stretched(stride: IntTuple, row: int, longer: int) -> IntTuple:
    """The strides with rows that are longer.

    >>> stretched((64, (1, 128)), 64, 72)
    (72, (1, 144))
    """
    if isinstance(stride, tuple):
        return tuple(stretched(each, row, longer) for each in stride)
    return stride // row * longer if stride >= row else stride


def _change(tile: Tile, layout: Layout, row: int, pad: int, width_bytes: int) -> str:
    old, new = (elements * tile.element_bits // 8 for elements in (row, row + pad))
    if old % BANK_WORD_BYTES or new % BANK_WORD_BYTES:
        pitch = f"pitch {new} bytes instead of {old}"
    else:
        old, new = old // BANK_WORD_BYTES, new // BANK_WORD_BYTES
        pitch = f"pitch {new} words instead of {old} (rows {counted(new % BANKS, 'bank')} apart)"
    keep = width_bytes * 8 // tile.element_bits
    multiple = f" (a multiple of {keep} keeps vectors of {width_bytes} bytes aligned)" if keep > 1 else ""
    return f"pad {pad} after every {row} elements{multiple}, layout {layout}, {pitch}"
