"""`swzverify show`: pictures of layouts, swizzles, and a spec's tiles, accesses and operands."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.options.shared import picture_format
from swzverify.apps.options.show import ShowOptions
from swzverify.apps.options.values import coordinate_parts
from swzverify.apps.run.one_case import named, one_case
from swzverify.errors import SwzError
from swzverify.explain.notebook import Access, Tile, loop_of
from swzverify.explain.pictures import Picture
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.grid import MAX_ROWS, View, grid_of
from swzverify.explain.pictures.probe import probes
from swzverify.explain.pictures.views.groups import groups
from swzverify.explain.pictures.views.logical import logical
from swzverify.explain.pictures.views.operand import operand_view
from swzverify.explain.pictures.views.ownership import ownership
from swzverify.explain.pictures.views.parameter_map import sweep_picture
from swzverify.explain.pictures.views.physical import physical
from swzverify.explain.pictures.views.swizzled import swizzled_access, swizzled_tile
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import expression
from swzverify.layout import Layout, PointerLayout, parse_notation, parse_swizzle
from swzverify.search.parameter_maps import sweep_pads, sweep_swizzles
from swzverify.spec import load_spec
from swzverify.spec.elements import element_bits
from swzverify.spec.sources.languages import language_of
from swzverify.subjects import Access as AnyAccess
from swzverify.subjects import Tile as AnyTile

TILE_VIEWS = ("logical", "physical", "swizzle")
ACCESS_VIEWS = ("groups", "ownership", "swizzle")
TEXT_ROWS = 32
"""Rows that a terminal is shown unasked."""
_MOST_BITS = 128
_SWIZZLE = re.compile(r"\s*(?:Swizzle|Sw|S)\s*<[^>]*>\s*")
_DSL = re.compile(r"\s*S\s*<")
_OF_THE_DSL = (
    "S<B,M,S> is drawn as a swizzle of element offsets; where the CuTe DSL prints it of an atom, it is one of byte "
    "addresses: write Sw<B,M,S> o smem_ptr[16b](unset) o layout."
)
_SWEEP = re.compile(r"B,S(?:,M=([0-9]{1,2}))?|pad")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is drawn: a tile, accesses, or both."""

    tile: AnyTile | None
    accesses: tuple[AnyAccess, ...]
    words: tuple[str, ...] = ()
    at: Mapping[str, int] = field(default_factory=dict[str, int])


def show_command(options: ShowOptions) -> None:
    """Draw a layout, a tile, an access or an operand."""
    check_output(options.output, [options.what], "--output")
    form = options.form or picture_format(options.output)
    tell_picture(show(options, TEXT_ROWS if form == "text" else MAX_ROWS), form, options.output)


def show(wanted: ShowOptions, most_rows: int = MAX_ROWS) -> Picture:
    """The picture of what is asked for; unasked it has so many rows at most.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ200 and others for a notation, SWZ581 for what cannot be drawn, SWZ583 for what
            cannot be swept; those of accesses and costs.
    """
    if wanted.operand is not None:
        return _operand(wanted, wanted.operand, most_rows)
    subject = subject_of(wanted)
    _refuse_unused(subject, wanted)
    grid = View(wanted.vector, wanted.rows, wanted.columns, wanted.stage, wanted.base, most_rows)
    picture = _sweep(subject, wanted, grid) if wanted.sweep is not None else _view(subject, wanted, grid)
    return replace(picture, captions=(*picture.captions, *subject.words))


def _operand(wanted: ShowOptions, name: str, most_rows: int) -> Picture:
    """The picture of an operand of a spec.

    Raises:
        SwzError: SWZ581 for what cannot be drawn; those of the spec.
    """
    layout = wanted.layout
    given = (
        ("--view", wanted.view),
        ("--tile", wanted.tile),
        ("--access", wanted.accesses),
        ("--element", layout.element),
        ("--coord", layout.coord),
        ("--instruction", layout.instruction),
        ("--for", layout.loops),
        ("--sweep", wanted.sweep),
        ("--vector", wanted.vector),
        ("--columns", wanted.columns),
        ("--stage", wanted.stage),
        ("--base", wanted.base is not None),
    )
    for option, value in given:
        if value:
            hint = "leave it out; --at NAME=N has values of loops and of `base`, --rows has rows of the operand"
            raise SwzError("SWZ581", f"{option} does not go with --operand", hint=hint)
    if not is_file(wanted.what):
        raise SwzError("SWZ581", f"--operand names something of a spec, and '{wanted.what}' is no file")
    spec = load_spec(wanted.what, target=wanted.target)
    case, words = one_case(spec, layout.at)
    at = {each: value for each, value in layout.at.items() if each not in case.chosen}
    operand = named(case.operands, name, "operand", wanted.what)
    picture = operand_view(operand, at, wanted.rows, most_rows)
    return replace(picture, captions=(*picture.captions, *words))


def subject_of(wanted: ShowOptions) -> Subject:
    """The tile or the accesses that are named.

    Errors of `show` for names that do not exist are passed on.

    Raises:
        SwzError: SWZ409 for an access to global memory, which has no picture.
    """
    found = _of_spec(wanted.what, wanted) if is_file(wanted.what) else _of_notation(wanted.what, wanted)
    for each in found.accesses:
        each.require_banks()
    return found


def is_file(what: str) -> bool:
    """Whether a text names a file, not a layout.

    >>> is_file("a.swz.yaml"), is_file("kernel.cu"), is_file("(8,64):(64,1)")
    (True, True, False)
    """
    ends = what.lower().endswith((".yaml", ".yml")) or language_of(what) is not None
    return ends or os.path.exists(what)


def _refuse_unused(subject: Subject, wanted: ShowOptions) -> None:
    """Refuse options that the picture would not look at.

    Raises:
        SwzError: SWZ581.
    """
    view = _view_name(subject, wanted)
    of_access = bool(subject.accesses) and view in ACCESS_VIEWS
    lines = wanted.rows is not None or wanted.columns is not None
    window = wanted.vector is not None or lines
    place = bool(wanted.stage) or wanted.base is not None
    no_cells = "a sweep has" if wanted.sweep is not None else f"the view {view} of an access has"
    unused = (
        ("--at", bool(subject.at) and not of_access, "only the views of an access have a warp instruction"),
        ("--for", bool(wanted.layout.loops) and wanted.layout.coord is None, "a loop is one of --coord"),
        ("--stage and --base", place and of_access, "an access has its own: --at stage=1, --at base=1024"),
        ("--vector, --rows and --columns", window and of_access and view != "ownership", f"{no_cells} no such cells"),
        ("--rows and --columns", bool(wanted.sweep) and lines, f"{no_cells} none"),
    )
    for option, is_so, why in unused:
        if is_so:
            raise SwzError("SWZ581", f"{option} would do nothing: {why}", hint="leave it out")


def _view_name(subject: Subject, wanted: ShowOptions) -> str:
    """The view; a sweep has none."""
    if wanted.sweep is not None:
        return ""
    return wanted.view or ("groups" if subject.accesses else "logical")


def _view(subject: Subject, wanted: ShowOptions, grid: View) -> Picture:
    target = None if wanted.target is None else find_target(wanted.target)
    view = _view_name(subject, wanted)
    if subject.accesses:
        access = _one_access(subject)
        if view in ACCESS_VIEWS:
            run = chosen(access, subject.at)
            if view == "groups":
                return groups(run)
            return ownership(run, grid, subject.at) if view == "ownership" else swizzled_access(run)
        target = target or access.target
    elif view in ACCESS_VIEWS and view not in TILE_VIEWS:
        raise SwzError(
            "SWZ581",
            f"the view {view} draws an access, and none is given",
            hint="--access NAME of a spec, or --coord 'lane,0' beside a layout",
        )
    if subject.tile is None:
        raise SwzError(
            "SWZ581",
            f"the view {view} draws a tile, and access {subject.accesses[0].name} has an address outright",
            hint="--view groups draws it",
        )
    if view == "physical":
        return physical(subject.tile, grid, target=target)
    if view == "swizzle":
        return swizzled_tile(subject.tile, grid, numbers=wanted.numbers, target=target)
    return logical(subject.tile, grid, numbers=wanted.numbers, target=target)


def _one_access(subject: Subject) -> AnyAccess:
    first, *others = subject.accesses
    if others:
        raise SwzError("SWZ581", "a picture has one access", hint="give --access once; a sweep takes several")
    return first


def _sweep(subject: Subject, wanted: ShowOptions, grid: View) -> Picture:
    found = _SWEEP.fullmatch((wanted.sweep or "").replace(" ", ""))
    if found is None:
        raise SwzError("SWZ583", f"'{wanted.sweep}' is no sweep", hint="B,S or B,S,M=3 or pad")
    if wanted.view is not None:
        raise SwzError("SWZ581", f"a sweep has no view {wanted.view}", hint="leave --view or --sweep out")
    if subject.tile is None:
        raise SwzError("SWZ583", f"access {subject.accesses[0].name} has no tile to change")
    accesses = subject.accesses
    if not accesses:
        cells = grid_of(subject.tile, grid)
        target = None if wanted.target is None else find_target(wanted.target)
        accesses = tuple(probes(subject.tile, cells.vector, cells.down, target))
    if not accesses:
        raise SwzError(
            "SWZ583", f"tile {subject.tile.name} has no access to price", hint="--coord, or --access of a spec"
        )
    if found[0] == "pad":
        return sweep_picture(sweep_pads(subject.tile, accesses))
    return sweep_picture(sweep_swizzles(subject.tile, accesses, base=None if found[1] is None else int(found[1])))


def _of_spec(path: str, wanted: ShowOptions) -> Subject:
    given = (
        ("--element", wanted.layout.element),
        ("--coord", wanted.layout.coord),
        ("--instruction", wanted.layout.instruction),
    )
    for option, value in given:
        if value is not None:
            raise SwzError("SWZ581", f"{option} goes with a layout; {path} has its own", hint=f"leave {option} out")
    spec = load_spec(path, target=wanted.target)
    case, words = one_case(spec, wanted.layout.at)
    at = {name: value for name, value in wanted.layout.at.items() if name not in case.chosen}
    if wanted.accesses:
        accesses = tuple(named(case.accesses, name, "access", path) for name in wanted.accesses)
        tiles = list(dict.fromkeys(access.tile for access in accesses))
        if len(tiles) > 1 or (wanted.tile is not None and tiles[0] != case.tiles.get(wanted.tile)):
            raise SwzError("SWZ581", f"the accesses {', '.join(wanted.accesses)} are not to one tile")
        return Subject(tiles[0], accesses, words, at)
    if wanted.tile is not None:
        tile = named(case.tiles, wanted.tile, "tile", path)
    elif len(case.tiles) == 1:
        (tile,) = case.tiles.values()
    else:
        sections = {"tile": case.tiles, "access": case.accesses, "operand": case.operands}
        names = [f"--{what} {name}" for what, section in sections.items() for name in section]
        raise SwzError(
            "SWZ581", f"{path} has {len(case.tiles)} tiles: what is to be drawn?", hint=" or ".join(names[:8])
        )
    swept = [each for each in case.accesses.values() if each.tile == tile] if wanted.sweep is not None else []
    return Subject(tile, tuple(swept), words, at)


def _of_notation(text: str, wanted: ShowOptions) -> Subject:
    layout = wanted.layout
    for option, value in (("--tile", wanted.tile), ("--access", wanted.accesses or None)):
        if value is not None:
            raise SwzError("SWZ581", f"{option} names something of a spec, and '{text}' is no file", hint="a spec file")
    tile = tile_of(text, layout.element)
    words = (_OF_THE_DSL,) if _DSL.match(text) else ()
    if layout.coord is None:
        if layout.instruction is not None:
            raise SwzError(
                "SWZ581", "an instruction needs the coordinate that each lane reads", hint="--coord 'lane,0'"
            )
        return Subject(tile, (), words, layout.at)
    access = Access(
        "access",
        find_instruction(layout.instruction or _load(tile)),
        find_target(wanted.target or "sm_90"),
        (layout.threads,),
        loops=tuple(loop_of(name, values) for name, values in layout.loops.items()),
        tile=tile,
        coord=tuple(expression(each) for each in coordinate_parts(layout.coord)),
    )
    return Subject(tile, (access,), words, layout.at)


def _load(tile: AnyTile) -> str:
    name = f"ld.shared.b{tile.element_bits}"
    if tile.element_bits not in (8, 16, 32, 64):
        raise SwzError(
            "SWZ581", f"no load has the {tile.element_bits} bits of an element", hint="--instruction ld.shared.b32"
        )
    return name


def tile_of(text: str, element: str | None) -> Tile:
    """A tile from the notation of a layout, of a swizzled one, or of a swizzle alone.

    A swizzle alone acts on rows of 2^(M + |S|) elements, 2^B of them: where its columns are XORed with
    its rows.

    Raises:
        SwzError: SWZ105 for an unknown element, SWZ581 for an offset, or a pointer's element that is
            another one; those of the notation.

    >>> tile = tile_of("Swizzle<3,0,3>", "f32")
    >>> print(tile.layout, tile.swizzle)
    (8,8):(8,1) Swizzle<3,0,3>
    """
    bits, name = _bits(element), text.strip()
    if _SWIZZLE.fullmatch(text):
        swizzle = parse_swizzle(text)
        columns = 1 << (swizzle.base + abs(swizzle.shift))
        return Tile(name, bits, Layout((1 << swizzle.bits, columns), (columns, 1)), swizzle)
    found = parse_notation(text)
    if isinstance(found, Layout):
        return Tile(name, bits, found)
    if isinstance(found, PointerLayout):
        if element is not None and bits != found.element_bits:
            raise SwzError(
                "SWZ581",
                f"the pointer has elements of {found.element_bits} bits, and --element {element} has {bits}",
                hint="leave --element out",
            )
        return Tile(name, found.element_bits, found.layout, found.swizzle, "address")
    if found.offset:
        raise SwzError(
            "SWZ581",
            f"the offset {found.offset} between the swizzle and the layout is not drawn",
            hint="write the layout with the offset 0: a tile begins at its first element",
        )
    return Tile(name, bits, found.layout, found.swizzle)


def _bits(element: str | None) -> int:
    if element is None:
        return 32
    if element.isascii() and element.isdigit() and 1 <= int(element[:4]) <= _MOST_BITS:
        return int(element)
    return element_bits(element)
