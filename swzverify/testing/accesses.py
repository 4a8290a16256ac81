"""What stands for an access in an assertion: an `Access`, or a layout with an instruction, threads
and coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import expression
from swzverify.layout import ComposedLayout, Layout, PointerLayout
from swzverify.subjects import Access, Loop, Tile
from swzverify.subjects.listed_loop import AnyLoop, listed
from swzverify.testing.given import ALL_NAMES, Given, Threads
from swzverify.testing.layouts import Called, tile_or_function

DEFAULT_TARGET = "sm_90"
"""As in a spec, and as for `access_cost`."""
_WALK = ("instruction", "threads", "coord")


def access_or_function(subject: object, given: Given) -> Access | Called:
    """The access that `subject` and the keyword arguments stand for, or `subject` itself where it
    is a plain function.

    Errors: those of `tile_or_function` and of `Access`.

    >>> given = Given(element_bits=16, base_align=16, instruction="ld.shared.b32", threads=32, coord=[0, "tid*2"])
    >>> access_or_function("(8,64):(64,1)", given).threads
    32
    """
    if isinstance(subject, Access):
        given.refuse("an Access, which says it itself", *ALL_NAMES)
        return subject
    found = tile_or_function(subject, given, "tile", is_placed=True)
    if not isinstance(found, Tile):
        return found
    shown = subject if isinstance(subject, str | Layout | ComposedLayout | PointerLayout) else found.layout
    given.require(f"an access to {'a Tile' if isinstance(subject, Tile) else repr(str(shown))}", *_WALK)
    loops = tuple(_loop(name, values) for name, values in (given.loops or {}).items())
    return Access(
        "access",
        find_instruction(given.instruction or ""),
        find_target(DEFAULT_TARGET if given.target is None else given.target),
        block_of(given.threads or 0),
        loops=loops,
        constants=given.constants or {},
        tile=found,
        coord=tuple(expression(each) for each in given.coord or ()),
        predicate=None if given.predicate is None else expression(given.predicate),
    )


def block_of(threads: Threads) -> tuple[int, ...]:
    """The block as its extents.

    >>> block_of(128), block_of((32, 4))
    ((128,), (32, 4))
    """
    block = threads if isinstance(threads, tuple) else (threads,)
    if not 1 <= len(block) <= 3 or any(type(extent) is not int for extent in block):
        raise SwzError("SWZ105", f"threads={threads!r}: an int, or a tuple of up to three", hint="threads=128")
    return block


def _loop(name: str, values: int | Sequence[int]) -> AnyLoop:
    """`for (name = 0; name < values; ++name)`, or over the range, or over a list of values."""
    if isinstance(values, range):
        if values.step < 1:
            raise SwzError("SWZ105", f"loop {name} has the step {values.step}: at least 1")
        return Loop(name, values.start, values.stop, values.step)
    if isinstance(values, list | tuple) and all(type(value) is int for value in values):
        return listed(name, values)
    if isinstance(values, bool) or not isinstance(values, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = "range(0, 64, 16), or [1, 2, 4]"
        raise SwzError("SWZ105", f"loop {name}: {values!r} is neither an int nor a range nor a list of ints", hint=hint)
    return Loop(name, 0, values)
