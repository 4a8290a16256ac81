"""A layout as code: the C index expression, and what CuTe calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swzverify.layout import Layout, Swizzle
from swzverify.layout.int_tuple import IntTuple
from swzverify.search.synth.search import Term
from swzverify.subjects.offset_map import MODE_NAMES


def layout_expression(layout: Layout, names: Sequence[str] = MODE_NAMES) -> str:
    """The unswizzled offset of a coordinate, in elements, as a C expression.

    >>> layout_expression(Layout((8, 64), (72, 1))), layout_expression(Layout(((8, 4), 16), ((16, 128), 1)))
    ('i*72 + j', 'i%8*16 + i/8*128 + j')
    """
    terms: list[str] = []
    for name, mode in zip(names, layout.modes, strict=False):
        inner = 1
        leaves = mode.leaves
        for index, (extent, stride) in enumerate(leaves):
            digit = name if inner == 1 else f"{name}/{inner}"
            if index < len(leaves) - 1:
                digit += f"%{extent}"
            inner *= extent
            if stride and (extent > 1 or index == len(leaves) - 1):
                terms.append(digit if stride == 1 else f"{digit}*{stride}")
    return " + ".join(terms) or "0"


def swizzle_expression(swizzle: Swizzle, value: str) -> str:
    """The swizzled value as a C expression.

    >>> swizzle_expression(Swizzle(3, 3, 3), "o"), swizzle_expression(Swizzle(2, 0, -4), "o")
    ('o ^ ((o >> 3) & 0x38)', 'o ^ ((o << 4) & 0x30)')
    """
    way = f"{value} >> {swizzle.shift}" if swizzle.shift >= 0 else f"{value} << {-swizzle.shift}"
    return f"{value} ^ (({way}) & {swizzle.zzz_mask:#x})"


def moves(terms: Sequence[Term], element_shift: int = 0) -> Mapping[int, int]:
    """The terms by how far they move down, with the mask of the bits that change, in element offsets.

    `element_shift` is log2 of an element's bytes, -1 for elements of 4 bits.

    >>> dict(moves((Term(4, 7), Term(5, 8), Term(6, 8)), 1))
    {3: 24, 2: 32}
    """
    found: dict[int, int] = {}
    for term in terms:
        distance = term.source - term.target
        found[distance] = found.get(distance, 0) | 1 << (term.target - element_shift)
    return found


def as_swizzle(terms: Sequence[Term], element_shift: int = 0) -> Swizzle | None:
    """The swizzle of element offsets that does the same as an XOR map; None where there is none.

    >>> print(as_swizzle((Term(4, 7), Term(5, 8), Term(6, 9)), 1), as_swizzle((Term(4, 7), Term(6, 9)), 1))
    Swizzle<3,3,3> None
    """
    found = moves(terms, element_shift)
    if len(found) != 1:
        return None
    ((distance, mask),) = found.items()
    base = (mask & -mask).bit_length() - 1
    bits = mask.bit_count()
    if mask >> base != (1 << bits) - 1 or distance < bits:
        return None
    return Swizzle(bits, base, distance)


def xor_expression(terms: Sequence[Term], value: str, element_shift: int = 0) -> str:
    """The offset under an XOR map as a C expression; `value` is a name, or has parentheses.

    >>> xor_expression((Term(4, 7), Term(5, 8), Term(6, 9)), "o", 1)
    'o ^ ((o >> 3) & 0x38)'
    """
    parts = [value]
    for distance, mask in moves(terms, element_shift).items():
        way = f"{value} >> {distance}" if distance >= 0 else f"{value} << {-distance}"
        parts.append(f"(({way}) & {mask:#x})")
    return " ^ ".join(parts)


def cute_layout(layout: Layout) -> str:
    """The layout as CuTe's C++ type.

    >>> cute_layout(Layout((8, (4, 16)), (64, (1, 4))))
    'Layout<Shape<_8,Shape<_4,_16>>, Stride<_64,Stride<_1,_4>>>'
    """
    return f"Layout<{_cute('Shape', layout.shape)}, {_cute('Stride', layout.stride)}>"


def _cute(word: str, value: IntTuple) -> str:
    if isinstance(value, int):
        return _number(value)
    return f"{word}<{','.join(_cute(word, each) for each in value)}>"


def _number(value: int) -> str:
    """Every CuTe has names for the integers up to 10 and for powers of two up to 8192."""
    named = value <= 10 or (value & (value - 1) == 0 and value <= 1 << 13)
    return f"_{value}" if named else f"Int<{value}>"
