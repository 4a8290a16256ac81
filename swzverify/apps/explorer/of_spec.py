"""A spec's access as a state of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.thread_maps import loop_words
from swzverify.errors import SwzError
from swzverify.layout import Layout
from swzverify.spec.elements import ELEMENT_BITS
from swzverify.spec.lets import Let, Written, write_out
from swzverify.spec.tree import Place
from swzverify.subjects import Access, Loop, Tile
from swzverify.subjects.tile import DEFAULT_BASE


@dataclass(frozen=True, slots=True)
class Opened:
    """A state, and in words what of the spec the page does not have."""

    state: State
    left_out: tuple[str, ...]


def state_of(access: Access) -> Opened:
    """The state with the tile, the thread map and the target of an access.

    Raises:
        SwzError: SWZ409 for an access to global memory, SWZ597 for what no state can hold.

    >>> from swzverify import Swizzle, Tile
    >>> tile = Tile("A", 16, Layout("(64,64):(64,1)"), Swizzle("Swizzle<3,3,3>"))
    >>> read = tile.read("ldmatrix.x4", coord=["warp*16 + lane%16", "lane/16*8"], threads=128)
    >>> state_of(read).state.to_query()[:60]
    'order=layout&swizzle=offset&map=own&coord=warp%2A16+%2B+lane'
    """
    access.require_banks()
    tile = access.tile
    if tile is None:
        raise _refused(access, "has an address and no tile", "give it `tile` and `coord`")
    if not isinstance(tile.layout, Layout):
        raise _refused(access, "has a tile whose layout is an expression", "a CuTe layout")
    found = {
        "order": "layout",
        "layout": str(tile.layout),
        "element": _element(access, tile),
        "instruction": access.instruction.name,
        "threads": access.threads,
        "map": "own",
        "coord": ", ".join(_plain(access)),
        "loops": loop_words(_loops(access)),
        "target": access.target.name,
    }
    if tile.swizzle is not None:
        swizzle = tile.swizzle
        found |= {"swizzle": tile.swizzle_on, "bits": swizzle.bits, "base": swizzle.base, "shift": swizzle.shift}
    try:
        state = State.model_validate(found)
    except ValueError as error:
        raise _refused(
            access, "is too large or too long for the page", "a smaller tile or shorter expressions"
        ) from error
    return Opened(state, tuple(_left_out(tile)))


def _refused(access: Access, why: str, hint: str) -> SwzError:
    return SwzError("SWZ597", f"the page cannot show access {access.name}: it {why}", hint=hint)


def _left_out(tile: Tile) -> Iterator[str]:
    if tile.stages > 1:
        yield f"stages: the page has one, the spec {tile.stages}"
    if tile.base != DEFAULT_BASE:
        yield "base: the page has multiples of 1024"


def _element(access: Access, tile: Tile) -> str:
    for name, bits in ELEMENT_BITS.items():
        if bits == tile.element_bits and name != "tf32":
            return name
    raise _refused(access, f"has elements of {tile.element_bits} bits", "an element that has a name")


def _loops(access: Access) -> Mapping[str, range]:
    found: dict[str, range] = {}
    for loop in access.loops:
        if not isinstance(loop, Loop) or loop.stop is None:
            raise _refused(access, f"has the loop {loop.name}, which is no range", "a loop with start, stop and step")
        found[loop.name] = range(loop.start, loop.stop, loop.step)
    return found


def _plain(access: Access) -> Iterator[str]:
    """The coordinate's expressions, with numbers for constants and `tid` for the axes of the block."""
    if access.predicate is not None or access.assume or access.unknowns:
        raise _refused(access, "has a condition or values of its own", "an access without `if`, `assume` and `lanes`")
    extents = (*access.block, 1, 1)[:3]
    bx, by, _ = extents
    words = {name: str(value) for name, value in access.constants.items()}
    axes = (f"tid%{bx}" if len(access.block) > 1 else "tid", f"tid/{bx}%{by}", f"tid/{bx * by}")
    for axis, text, extent in zip("xyz", axes, extents, strict=True):
        words |= {f"tid_{axis}": text, f"threadIdx.{axis}": text, f"blockDim.{axis}": str(extent)}
    lets = {name: Let(name, Written(text, text), Place(0, 0)) for name, text in words.items()}
    return (write_out(each, lets).text for each in access.coord)
