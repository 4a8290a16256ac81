"""Reads layouts in CuTe's notation, also with names and small expressions in place of numbers.

What each form means: `shape:stride` alone is a `Layout`; a swizzle in front of it, with or without
an offset between, acts on *element offsets* (`ComposedLayout`); a swizzle in front of
`smem_ptr[16b](..)` acts on *byte addresses* (`PointerLayout`). `Sw<..>`, `S<..>` (the Python DSL's
spelling) and `Swizzle<..>` are the same thing.

One trap: the CuTe DSL's shared-memory atoms print as `S<3,4,3> o 0 o ..`, with the numbers of the
*byte* form, because the DSL passes that swizzle to the pointer afterwards
(`get_tensor(layout.outer, swizzle=layout.inner)`). This reader takes them literally, as a swizzle of
element offsets. The swizzle of such a tile has to be declared as one of the address.

Source: NVIDIA CUTLASS, the print functions of include/cute; CuTe DSL, nvgpu/warpgroup/helpers.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from swzverify.errors import SwzError
from swzverify.layout.composed import ComposedLayout, PointerLayout
from swzverify.layout.layout import Layout
from swzverify.layout.source_text import POINTER, Source, Span
from swzverify.layout.swizzle import Swizzle


def parse_layout(text: str, constants: Mapping[str, int] | None = None) -> Layout:
    """A plain layout: `(8,64):(64,1)`, or a shape alone, which is compact column-major.

    A leaf is an integer, `_8` (CuTe's static integer), a name from `constants`, or a C integer
    expression of them. A parenthesised number or name is a tuple of one, as CuTe prints it; a
    parenthesised expression is just itself.

    Raises:
        SwzError: SWZ200 for wrong syntax, SWZ301 for an unknown name, SWZ201 to SWZ206 for bad values,
            and those of expressions, all with the span.

    >>> print(parse_layout("((_8,_8),(_64,_2)):((_64,_512),(_1,_4096))"))
    ((8,8),(64,2)):((64,512),(1,4096))
    >>> print(parse_layout("(BM, BK):(BK+8, 1)", {"BM": 64, "BK": 32}), parse_layout("(8,64)"))
    (64,32):(40,1) (8,64):(1,8)
    >>> parse_layout("(8,64):(64,1", {})
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ200: this parenthesis is never closed
      (8,64):(64,1
             ^
    """
    result = parse_notation(text, constants)
    if isinstance(result, Layout):
        return result
    raise SwzError(
        "SWZ200",
        "a plain layout is wanted here, without a swizzle",
        hint="give the swizzle in its own field; it is read by parse_swizzle",
        text=text,
        span=(0, len(text)),
    )


def parse_swizzle(text: str, constants: Mapping[str, int] | None = None) -> Swizzle:
    """A swizzle alone: `Swizzle<3,3,3>`, `Sw<3,4,3>` or `S<3,4,3>`.

    A missing third number equals the first one, as in C++. A number may be a C expression of the
    constants, without `<` and `>`.

    Raises:
        SwzError: SWZ200 for wrong syntax, SWZ210 for illegal numbers, SWZ301 to SWZ305 for expressions.

    >>> parse_swizzle("Sw<3,4,3>"), parse_swizzle("Swizzle<2, 3>")
    (Swizzle(3, 4, 3), Swizzle(2, 3, 2))
    >>> parse_swizzle("Swizzle<B,M,B + 1>", {"B": 2, "M": 4})
    Swizzle(2, 4, 3)
    """
    return _Source(text, constants or {}).swizzle((0, len(text)))


def parse_notation(text: str, constants: Mapping[str, int] | None = None) -> Layout | ComposedLayout | PointerLayout:
    """Any layout that CuTe prints, with or without a swizzle.

    Leaves and errors are those of `parse_layout`. An address inside the pointer's parentheses is
    dropped: the place of a tile is not part of its layout. A pointer without a swizzle gets the
    identity, `Swizzle<0,4,3>`.

    >>> print(parse_notation("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"))
    Swizzle<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)
    >>> print(parse_notation("S<3,3,3> o 0 o (8,64):(64,1)"), parse_notation("8:1"))
    Swizzle<3,3,3> o 0 o (8,64):(64,1) 8:1
    """
    source = _Source(text, constants or {})
    parts = source.split_composition()
    if len(parts) > 3:
        raise source.error("a layout has at most a swizzle and an offset in front", (parts[2][0], len(text)))
    head, layout = parts[:-1], source.layout(parts[-1])
    if not head:
        return layout
    if len(head) == 1 and POINTER.fullmatch(source.slice(head[0])):
        return source.pointer_layout(Swizzle(0, 4, 3), head[0], layout)
    front, middle = (head[0], head[1]) if len(head) == 2 else source.cut_pointer(head[0])
    swizzle = source.swizzle(front)
    if middle is None:
        return ComposedLayout(swizzle, 0, layout)
    if "[" in source.slice(middle):
        return source.pointer_layout(swizzle, middle, layout)
    return ComposedLayout(swizzle, source.leaf(middle, "offset"), layout)


class _Source(Source):
    """A text that is read to layouts and swizzles."""

    def swizzle(self, span: Span) -> Swizzle:
        """`Sw<B,M,S>` and its spellings."""
        span = self.strip(*span)
        numbers = self.swizzle_numbers(span)
        with self.at(span):
            return Swizzle(*numbers)

    def cut_pointer(self, span: Span) -> tuple[Span, Span | None]:
        """Cut a tensor's `Sw<3,4,3>_smem_ptr[16b](0x..)` in two; a swizzle alone has no second part."""
        found = re.search(r">(?=_(?:smem_|ptr))", self.slice(span))
        if not found:
            return span, None
        cut = span[0] + found.end()
        return (span[0], cut), (cut, span[1])

    def pointer_layout(self, swizzle: Swizzle, span: Span, layout: Layout) -> PointerLayout:
        """The byte-address form; `span` holds the pointer."""
        found = POINTER.fullmatch(self.slice(span))
        if not found:
            raise self.error(
                f"'{self.slice(span)}' is not a shared-memory pointer", span, hint="CuTe prints smem_ptr[16b](unset)"
            )
        with self.at(span):
            return PointerLayout(swizzle, self.number(found[1], span), layout)

    def layout(self, span: Span) -> Layout:
        """`shape:stride`, or a shape alone."""
        shape, stride = self.layout_parts(span)
        with self.at(span):
            return Layout(shape, stride)
