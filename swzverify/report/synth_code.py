"""An answer as code: CuTe C++, and a CUDA index expression."""

from __future__ import annotations

from swzverify.layout import Layout
from swzverify.report.tile_code import cute_of, swizzled_lines
from swzverify.search.synth.expressions import as_swizzle, cute_layout, layout_expression, xor_expression
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.search import Member
from swzverify.search.synth.solution import tile_shift
from swzverify.subjects.offset_map import MODE_NAMES


def cute_text(problem: Problem, member: Member) -> str:
    """The layout in CuTe C++.

    A swizzle of addresses belongs to the pointer. An XOR map that is no Swizzle<B,M,S> has no type in
    CuTe, and the text says so.
    """
    layout = plain_layout(problem, member)
    if not member.terms:
        return cute_of(layout, member.swizzle, member.on)
    plain = f"{cute_layout(layout)}{{}}"
    found = as_swizzle(member.terms, tile_shift(member.tiles[0]))
    return f"composition({found}{{}}, {plain})" if found else f"// {plain}, then the XOR below: no Swizzle<B,M,S> is it"


def plain_layout(problem: Problem, member: Member) -> Layout:
    """The layout of a member without its XOR terms."""
    layout = problem.variants[0].layout if member.terms else member.tiles[0].layout
    assert isinstance(layout, Layout)  # noqa: S101 - without terms it is one
    return layout


def cuda_text(problem: Problem, member: Member) -> str:
    """Two lines of C: the plain offset of the coordinate i, j, ..., and the change of this offset.

    Offsets count elements; a swizzle of addresses changes the shared byte address.
    """
    tile, layout = member.tiles[0], plain_layout(problem, member)
    lines = [f"unsigned offset = {layout_expression(layout)};"]
    if member.terms:
        lines.append(f"offset = {xor_expression(member.terms, 'offset', tile_shift(tile))};")
    else:
        lines += swizzled_lines(tile, member.swizzle, member.on)
    names = ", ".join(MODE_NAMES[: layout.rank])
    return "\n".join([f"// ({names}) is the element's coordinate", *lines])
