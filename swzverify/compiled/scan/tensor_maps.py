"""What the user says of tensor maps: the box, in elements with the innermost extent first, the swizzle mode, strides.

A tensor map is a parameter of the kernel that the host fills, or a parameter points to it. PTX does not say how many
bytes a copy has.

Source: CUDA Driver API, cuTensorMapEncodeTiled: boxDim, swizzle, globalStrides.
"""

from __future__ import annotations

import re
from typing import Final

from swzverify.compiled.kernel.arguments import Box
from swzverify.compiled.ptx import size_of_type
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.hardware import MOST_SHARED_BYTES
from swzverify.layout.tma import TmaMode, parse_tma_mode, tma_pitch_bytes

_MAP: Final = re.compile(
    r"([\w$%.]+)(?:\+(\d{1,6}))?=((?:\d{1,4}x){1,5})(\w+)(?:,(\w+)(?:,((?:\d+|_)(?:x(?:\d+|_))*))?)?", re.ASCII
)
_MOST_EXTENT: Final = 256
_STRIDE_BYTES: Final = 16
_MOST_STRIDE: Final = 1 << 40
_MAP_ALIGN: Final = 64
_UNKNOWN: Final = "_"
POINTER_BYTES: Final = 8
"""The bytes of a pointer to a tensor map."""
MAP_BYTES: Final = 128
"""The bytes of a tensor map."""
_HINT: Final = (
    "give NAME=BOX,SWIZZLE with the innermost extent first and the type of an element, such as a=64x128xf16,128B or "
    "p+128=64x128xf16; behind the mode may stand the strides in bytes, _ for those that are not known"
)


def name_in(text: str) -> str:
    """The name of the parameter in a text."""
    return text.partition("=")[0].partition("+")[0]


def box_of(text: str) -> tuple[int, Box]:
    """Where in its parameter a tensor map begins, and its box.

    Raises:
        SwzError: SWZ551 for what is no such text; SWZ220, SWZ221 and SWZ224 for a box that no map has.

    >>> box_of("p+128=64x128xf16,128B")
    (128, Box(extents=(64, 128), element_bytes=2, mode=<TmaMode.B128: '128B'>, strides_bytes=(None,)))
    """
    found = _MAP.fullmatch(text)
    size = None if found is None else size_of_type(found[4])
    if found is None or size is None:
        raise SwzError("SWZ551", f"{text!r} is no tensor map", hint=_HINT)
    extents, offset = [int(each) for each in found[3][:-1].split("x")], int(found[2] or 0)
    if not all(1 <= each <= _MOST_EXTENT for each in extents):
        raise SwzError("SWZ551", f"{text!r}: each extent of a box is 1 to {_MOST_EXTENT}", hint=_HINT)
    if offset % _MAP_ALIGN:
        raise SwzError("SWZ551", f"{text!r}: a tensor map begins at a multiple of {_MAP_ALIGN} bytes", hint=_HINT)
    mode, inner = parse_tma_mode(found[5] or "none"), extents[0] * size
    if tma_pitch_bytes(mode, extents[0], 8 * size) != inner:
        message = f"{text!r}: rows of {inner} bytes do not fill the rows of the {mode.value} swizzle"
        raise SwzError("SWZ551", message, hint="such boxes leave gaps in shared memory, which are not modelled")
    strides = tuple(None if each == _UNKNOWN else int(each) for each in found[6].split("x")) if found[6] else ()
    box = Box(tuple(extents), size, mode, strides or (None,))
    if len(strides) > len(extents) - 1:
        dimensions, most = counted(len(extents), "dimension"), counted(len(extents) - 1, "stride")
        message = f"{text!r}: a tensor of {dimensions} has {most}, as the innermost dimension has none"
        raise SwzError("SWZ551", message, hint=_HINT)
    if any(each is not None and (each % _STRIDE_BYTES or each >= _MOST_STRIDE) for each in strides):
        message = f"{text!r}: a stride is a multiple of {_STRIDE_BYTES} bytes below 2^40"
        raise SwzError("SWZ551", message, hint=_HINT)
    if box.size_bytes > MOST_SHARED_BYTES:
        message = f"{text!r}: a box of {box.size_bytes} bytes is larger than the shared memory of a block"
        raise SwzError("SWZ551", message, hint=f"a block has {MOST_SHARED_BYTES} bytes at most")
    return offset, box


def words_of(box: Box) -> str:
    """All that is given of a tensor map: verdicts on the elements of a copy depend on each part.

    >>> words_of(box_of("p=64x128x1xf16,128B,_x128")[1])
    'boxes of 64x128x1 elements of 2 bytes, the 128B swizzle, and strides of _x128 bytes'
    >>> words_of(box_of("p=64x128xf16,128B")[1])
    'boxes of 64x128 elements of 2 bytes, and the 128B swizzle'
    """
    extents, size = "x".join(map(str, box.extents)), counted(box.element_bytes, "byte")
    swizzle = "no swizzle" if box.mode is TmaMode.NONE else f"the {box.mode.value} swizzle"
    found = [f"boxes of {extents} elements of {size}", swizzle]
    if any(each is not None for each in box.strides_bytes):
        strides = (_UNKNOWN if each is None else str(each) for each in box.strides_bytes)
        found.append(f"strides of {'x'.join(strides)} bytes")
    return f"{', '.join(found[:-1])}, and {found[-1]}"
