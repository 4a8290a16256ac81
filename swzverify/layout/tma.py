"""The destination of a TMA tile load in shared memory: the row pitch and the swizzle of addresses.

The three ATOM modes of later chips are not modelled: the driver refuses them.

Source: measured on an H100 (sm_90) for every mode below, inner boxes of 16 to 128 bytes and
destinations of every 128-byte phase; `tests/data/h100_tma.csv.gz` holds the words read back. On an
H200 a load faults at every destination that is no multiple of 128 bytes, in all modes, and the
driver refuses extents beyond 256 and inner boxes of no whole 16 bytes:
`tests/data/h200_tma_limits.csv`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from swzverify.errors import SwzError, nearest
from swzverify.layout.int_tuple import check_int
from swzverify.layout.layout import Layout
from swzverify.layout.swizzle import Swizzle

CHUNK_BYTES = 16
BASE_ALIGN_BYTES = 128
"""What the destination of a load must be a multiple of; elsewhere it faults, without a swizzle too.
"""
MAX_BOX_EXTENT = 256
"""Elements of a box in each dimension. Source: CUDA driver API, cuTensorMapEncodeTiled, boxDim;
measured.
"""
FIRST_CAPABILITY = 90
"""TMA came with sm_90. Source: PTX ISA, cp.async.bulk.tensor, target ISA notes."""
ATOM_MODES = ("128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")


class TmaMode(StrEnum):
    """A tensor map's swizzle mode, by the name CUDA gives it after CU_TENSOR_MAP_SWIZZLE_.

    >>> TmaMode("128B").span_bytes, str(TmaMode("64B").swizzle), TmaMode.NONE.swizzle
    (128, 'Swizzle<2,4,3>', None)
    """

    NONE = "none"
    B32 = "32B"
    B64 = "64B"
    B128 = "128B"

    @property
    def span_bytes(self) -> int | None:
        """The row pitch in shared memory, in bytes; None if rows follow each other without a gap."""
        return None if self is TmaMode.NONE else int(self.value[:-1])

    @property
    def swizzle(self) -> Swizzle | None:
        """The swizzle of absolute byte addresses; None for `none`."""
        span = self.span_bytes
        return None if span is None else Swizzle((span // CHUNK_BYTES).bit_length() - 1, 4, 3)


def parse_tma_mode(text: str) -> TmaMode:
    """The mode of that name.

    Raises:
        SwzError: SWZ223, with the nearest name.

    >>> parse_tma_mode("128B")
    <TmaMode.B128: '128B'>
    >>> parse_tma_mode("128b")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ223: '128b' is not a TMA swizzle mode
      did you mean '128B'?
    """
    known = [mode.value for mode in TmaMode]
    if text in known:
        return TmaMode(text)
    if text in ATOM_MODES:
        raise SwzError(
            "SWZ223",
            f"the TMA swizzle mode {text!r} is not modelled: it could not be measured (an H100's driver refuses it)",
            hint=f"modelled modes: {', '.join(known)}",
        )
    raise SwzError(
        "SWZ223",
        f"{text!r} is not a TMA swizzle mode",
        hint=_near_mode(text, known) or f"one of {', '.join(known)}",
    )


def _near_mode(text: str, known: list[str]) -> str:
    """The mode that `SWIZZLE_128B`, `CU_TENSOR_MAP_SWIZZLE_128B` or `128` stand for; else the nearest."""
    found = re.fullmatch(r"(?:cu_tensor_map_)?(?:swizzle_?|sw_?|k?_?)?(none|\d+)(?:b|bytes)?", text.strip().lower())
    mode = found[1] if found and found[1] == "none" else f"{found[1]}B" if found else ""
    return f"did you mean '{mode}'?" if mode in known else nearest(text, known)


def tma_pitch_bytes(mode: TmaMode, inner_elements: int, element_bits: int) -> int:
    """The distance of two rows in shared memory, in bytes; errors as for `tma_layout`.

    >>> tma_pitch_bytes(TmaMode.B64, 16, 16), tma_pitch_bytes(TmaMode.NONE, 16, 16)
    (64, 32)
    """
    inner_elements = check_int(inner_elements, "inner extent", 1)
    element_bits = check_int(element_bits, "element_bits", 1)
    inner_bits = inner_elements * element_bits
    size = f"{inner_elements} elements of {element_bits} bits"
    if inner_bits % (8 * CHUNK_BYTES):
        raise SwzError(
            "SWZ220",
            f"the inner extent of a TMA box must be a multiple of {CHUNK_BYTES} bytes; {size} are {inner_bits} bits",
        )
    span = mode.span_bytes
    if span is None:
        return inner_bits // 8
    if inner_bits > 8 * span:
        raise SwzError(
            "SWZ221",
            f"with the {mode} swizzle the inner extent of a TMA box is at most {span} bytes; "
            f"{size} are {inner_bits // 8}",
            hint="split the tile into several boxes, or choose a wider swizzle",
        )
    if element_bits % 8 or 8 * span % element_bits:
        raise SwzError(
            "SWZ224",
            f"the {mode} swizzle needs elements of whole bytes that divide its {span}-byte rows, not of "
            f"{element_bits} bits",
            hint="describe the box in bytes",
        )
    return span


def tma_layout(mode: TmaMode, rows: int, inner_elements: int, element_bits: int) -> Layout:
    """The layout (rows, inner):(pitch, 1) in elements.

    `mode.swizzle` then permutes it on absolute byte addresses.

    Raises:
        SwzError: SWZ220 if the inner extent is no multiple of 16 bytes, SWZ221 if it is wider than the
            swizzle's rows, SWZ224 if elements do not fit the rows, SWZ225 for more than 256 rows or
            inner elements, SWZ202 or SWZ203 for values that are no positive ints.

    >>> print(tma_layout(TmaMode.B128, 8, 32, 16), tma_layout(TmaMode.NONE, 8, 32, 16))
    (8,32):(64,1) (8,32):(32,1)
    >>> tma_layout(TmaMode.B32, 8, 32, 16)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ221: with the 32B swizzle the inner extent of a TMA box is at most 32 bytes; 32 ...
    """
    rows = check_int(rows, "rows", 1)
    inner_elements = check_int(inner_elements, "inner extent", 1)
    element_bits = check_int(element_bits, "element_bits", 1)
    pitch_bytes = tma_pitch_bytes(mode, inner_elements, element_bits)
    for what, extent in (("rows", rows), ("inner elements", inner_elements)):
        if extent > MAX_BOX_EXTENT:
            raise SwzError(
                "SWZ225",
                f"a TMA box has at most {MAX_BOX_EXTENT} elements in each dimension, not {extent} {what}",
                hint="split the tile into several boxes",
            )
    return Layout((rows, inner_elements), (8 * pitch_bytes // element_bits, 1))


def tma_allocation_bytes(mode: TmaMode, rows: int, inner_elements: int, element_bits: int) -> int:
    """The bytes of one stage: whole rows of the pitch, also the last one; errors as `tma_layout`.

    >>> tma_allocation_bytes(TmaMode.B128, 8, 32, 16)
    1024
    """
    rows = check_int(rows, "rows", 1)
    return rows * tma_pitch_bytes(mode, inner_elements, element_bits)


def check_tma_base(base_bytes: int) -> None:
    """Accepts a destination address that TMA writes to.

    Raises:
        SwzError: SWZ222.

    >>> check_tma_base(1152)
    >>> check_tma_base(64)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ222: a TMA box needs a base that is a multiple of 128 bytes, not 64
    """
    base_bytes = check_int(base_bytes, "base", 0)
    if base_bytes % BASE_ALIGN_BYTES:
        raise SwzError(
            "SWZ222", f"a TMA box needs a base that is a multiple of {BASE_ALIGN_BYTES} bytes, not {base_bytes}"
        )
