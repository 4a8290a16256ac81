"""What stands for a layout, read as a tile: our objects, CuTe's notation, pycute, the CuTe DSL.

Nothing is imported from pycute or the DSL: a layout of theirs has `shape` and `stride`, a
composition of pycute's has `layoutB`, `offset` and `layoutA`, and the DSL's print themselves in
CuTe's notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

from swzverify.errors import SwzError
from swzverify.layout import ComposedLayout, Layout, PointerLayout, Swizzle, parse_notation
from swzverify.layout.int_tuple import IntTuple
from swzverify.subjects import Access, AlignedBase, IndexMap, Tile
from swzverify.testing.given import Given, SwizzleOn

Notation: TypeAlias = Layout | ComposedLayout | PointerLayout
Called: TypeAlias = Callable[..., object]

_PLACING = ("element_bits", "base_align", "swizzle_on")
_MISSING = object()
_DSL_SWIZZLE = re.compile(r"\s*S\s*<")
_ACCEPTED = (
    "it takes a Tile, a Layout, ComposedLayout or PointerLayout, CuTe's notation as text, "
    "a layout of pycute or of the CuTe DSL, or a function"
)
_MEANT = "give the one that is meant as a Layout, or as text"


@dataclass(frozen=True, slots=True)
class _Read:
    """A layout as it was found; `unclear` where its notation leaves open what the swizzle acts on."""

    layout: Notation
    unclear: bool = False

    @staticmethod
    def printed(layout: Notation, text: str) -> _Read:
        """A layout that was read from its notation."""
        is_open = isinstance(layout, ComposedLayout) and layout.swizzle.bits > 0
        return _Read(layout, is_open and _DSL_SWIZZLE.match(text) is not None)


def tile_or_function(subject: object, given: Given, name: str, *, is_placed: bool = False) -> Tile | Called:
    """The tile that `subject` and the arguments stand for, or `subject` if it is a function.

    `is_placed` asks for `base_align` always, as what depends on the base needs it.

    Raises:
        SwzError: SWZ802 if an argument is missing, SWZ803 if one does not go with the subject, SWZ804
            if the subject has no layout, SWZ805 if it is open what its swizzle acts on; those of the
            notation.

    >>> tile_or_function("(8,64):(64,1)", Given(element_bits=16), "A").base
    AlignedBase(align_bytes=1)
    """
    if isinstance(subject, Tile):
        given.refuse("a Tile, which says it itself", *_PLACING, "size")
        return subject
    read = _read(subject, given)
    if read is None:
        if callable(subject):
            return subject
        raise SwzError("SWZ804", f"{_shown(subject)} is not a layout", hint=_ACCEPTED)
    given.refuse("a layout, which has its own", "size")
    return _tile(name, read, given, is_placed=is_placed)


def acts_on_is_open(subject: object, given: Given) -> bool:
    """Whether the notation leaves open what the swizzle acts on, so that `swizzle_on` must say it.

    >>> acts_on_is_open("S<3,4,3> o 0 o (8,64):(64,1)", Given()), acts_on_is_open("(8,64):(64,1)", Given())
    (True, False)
    """
    read = None if isinstance(subject, Tile | Access | IndexMap) else _read(subject, given)
    return read is not None and read.unclear


def _tile(name: str, read: _Read, given: Given, *, is_placed: bool) -> Tile:
    layout, swizzle, acts_on = _parts(read, given)
    needed = ["element_bits"] if not isinstance(read.layout, PointerLayout) else []
    if is_placed or (swizzle is not None and acts_on == "address"):
        needed.append("base_align")
    given.require(f"'{read.layout}'", *needed)
    bits = given.element_bits or 0
    if isinstance(read.layout, PointerLayout):
        bits = read.layout.element_bits
        if given.element_bits not in (None, bits):
            message = f"element_bits={given.element_bits} contradicts '{read.layout}', which has {bits} bits"
            raise SwzError("SWZ803", message, hint="leave it out")
    base = AlignedBase(1 if given.base_align is None else given.base_align)
    return Tile(name, bits, layout, swizzle, acts_on, base)


def _parts(read: _Read, given: Given) -> tuple[Layout, Swizzle | None, SwizzleOn]:
    """The plain layout, its swizzle, and what that acts on."""
    layout = read.layout
    match layout:
        case Layout():
            given.refuse("a layout without a swizzle", "swizzle_on")
            return layout, None, "offset"
        case PointerLayout():
            own: SwizzleOn = "address"
        case ComposedLayout():
            own = "offset"
            if layout.offset:
                raise SwzError(
                    "SWZ804",
                    f"'{layout}' begins at offset {layout.offset}: it is a part of a tile, not a tile",
                    hint="give the whole tile's layout, whose offset is 0",
                )
    if read.unclear and given.swizzle_on is None:
        raise SwzError(
            "SWZ805",
            f"'{str(layout).replace('Swizzle', 'S', 1)}' does not say what the swizzle acts on",
            hint="the CuTe DSL prints both in this way: swizzles of element offsets, and its shared-memory atoms, with "
            'the numbers of byte addresses\nsay swizzle_on="offset" or swizzle_on="address"',
        )
    if not read.unclear and given.swizzle_on not in (None, own):
        message = f"swizzle_on=\"{given.swizzle_on}\" contradicts '{layout}', whose swizzle acts on the {own}"
        raise SwzError("SWZ803", message, hint="leave it out")
    return layout.layout, layout.swizzle if layout.swizzle.bits else None, given.swizzle_on or own


def _read(subject: object, given: Given) -> _Read | None:
    """The layout of anything that has one; None for what has none."""
    if isinstance(subject, Layout | ComposedLayout | PointerLayout):
        return _Read(subject)
    if isinstance(subject, str):
        return _Read.printed(parse_notation(subject, given.constants), subject)
    return _composed(subject) or _foreign(subject)


def _composed(subject: object) -> _Read | None:
    """The composition of a swizzle with a layout in pycute; the swizzle acts on offsets."""
    outer, offset, inner = (getattr(subject, name, _MISSING) for name in ("layoutB", "offset", "layoutA"))
    # By identity: their layouts compare themselves only with layouts.
    if any(part is _MISSING for part in (outer, offset, inner)):
        return None
    numbers = [getattr(outer, name, _MISSING) for name in ("bits", "base", "shift")]
    read = _foreign(inner)
    if any(number is _MISSING for number in numbers) or read is None or not isinstance(read.layout, Layout):
        raise SwzError("SWZ804", f"{_shown(subject)} is not a swizzle of a layout", hint=_ACCEPTED)
    bits, base, shift = cast("list[int]", numbers)
    found = ComposedLayout(Swizzle(bits, base, shift), cast("int", offset), read.layout)
    text = str(subject)
    if text != f"SW_{bits}_{base}_{shift} o {offset} o {inner}" and _printed(text) != found:
        message = f"{_shown(subject)} prints itself as something else than its parts, {found}"
        raise SwzError("SWZ804", message, hint=_MEANT)
    return _Read(found)


def _plain(subject: object) -> Layout | None:
    """The layout of an object's shape and stride, where these are integers and tuples."""
    shape, stride = getattr(subject, "shape", None), getattr(subject, "stride", None)
    if not isinstance(shape, int | tuple) or not isinstance(stride, int | tuple):
        return None
    return Layout(cast("IntTuple", shape), cast("IntTuple", stride))


def _foreign(subject: object) -> _Read | None:
    """What an object prints, held against its shape and stride.

    A swizzle, an offset or whatever else changes its addresses may lie in other fields, and shows
    in the print alone: without a print that is a layout, shape and stride say too little.
    """
    has_both = hasattr(subject, "shape") and hasattr(subject, "stride")
    if not has_both and type(subject).__str__ is object.__str__ and type(subject).__repr__ is object.__repr__:
        return None
    text = str(subject)
    printed = _printed(text)
    if not has_both:
        # A function prints itself as no layout.
        return None if isinstance(printed, SwzError) else _Read.printed(printed, text)
    plain = _plain(subject)
    if isinstance(printed, SwzError):
        raise SwzError(
            "SWZ804",
            f"{_shown(subject)} has a shape and a stride, but does not print itself as a layout",
            hint=_what_to_give(plain),
        )
    under = printed if isinstance(printed, Layout) else printed.layout
    if plain is not None and plain != under:
        message = f"{_shown(subject)} prints itself as another layout than its shape and stride, {plain}"
        raise SwzError("SWZ804", message, hint=_MEANT)
    return _Read.printed(printed, text)


def _what_to_give(plain: Layout | None) -> str:
    """The hint for an object whose shape and stride may not be all that it has."""
    if plain is None:
        return _ACCEPTED
    return (
        f'if these two are all, give "{plain}"; if it has a swizzle too, give "Swizzle<B,M,S> o 0 o {plain}"\n'
        "or let its __str__ return one of these"
    )


def _printed(text: str) -> Notation | SwzError:
    """What an object prints, as a layout; why not where it is none."""
    try:
        if ":" in text:
            # Python's way to print a tuple of one; CuTe's has no comma.
            return parse_notation(text.replace(",)", ")"))
    except SwzError as error:
        return error
    return SwzError("SWZ200", "it does not print itself as shape:stride")


def _shown(subject: object) -> str:
    text = repr(subject)
    return f"{text if len(text) <= 80 else text[:77] + '...'} ({type(subject).__name__})"
