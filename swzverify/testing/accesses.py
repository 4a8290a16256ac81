"""What stands for an access: an `Access`, or a layout with instruction, threads and coordinates."""

from __future__ import annotations

from swzverify.explain.notebook.stated import block_of, expression_of, expressions_of, loops_of
from swzverify.hardware import find_instruction, find_target
from swzverify.layout import ComposedLayout, Layout, PointerLayout
from swzverify.subjects import Access, Tile
from swzverify.testing.given import ALL_NAMES, Given
from swzverify.testing.layouts import Called, tile_or_function

DEFAULT_TARGET = "sm_90"
"""As in a spec, and as for `access_cost`."""
_WALK = ("instruction", "threads", "coord")


def access_or_function(subject: object, given: Given) -> Access | Called:
    """The access that `subject` and the arguments stand for, or `subject` if it is a function.

    Errors are those of `tile_or_function` and of `Access`.

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
    return Access(
        "access",
        find_instruction(given.instruction or ""),
        find_target(DEFAULT_TARGET if given.target is None else given.target),
        block_of(given.threads or 0),
        loops=loops_of(given.loops),
        constants=given.constants or {},
        tile=found,
        coord=expressions_of(given.coord or ()),
        predicate=None if given.predicate is None else expression_of(given.predicate, "predicate"),
    )
