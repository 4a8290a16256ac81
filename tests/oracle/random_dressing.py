"""Random specs in other words: every number of a spec may become an expression of that value, every
expression another.

Nothing changes its value here, but for the few operands that slip: those specs are errors.
"""

from __future__ import annotations

from . import c_expr
from .grammar import OPERAND_EXPRESSIONS, VARIABLE_POSITIONS, WALK_POSITIONS, Place, is_bracketed, map_leaves, places
from .random_expressions import rewritten, text_of, valued
from .random_lets import with_lets
from .random_parts import Draft
from .yaml_values import Spec, Yaml

COMMON = frozenset(("threads", "notation.shape", "notation.stride"))
"""Positions that most specs have: they are dressed less often, and not so deeply."""

RARE = frozenset(
    (
        "loop.times",
        "memory.base",
        "tile.bytes",
        "tile.stages.count",
        "tile.stages.pitch",
        "access.base",
        "access.base.align",
        "access.base.offset",
        "access.bytes",
        "map.base",
        "map.base.align",
        "map.base.offset",
        "map.onto",
        "contiguous.mode",
        "covers.times",
    )
)
"""Positions that few specs have: always dressed, and with many operators."""


def dressed(draft: Draft, lets: float = 0.3) -> Spec:
    """The draft's spec, its numbers and expressions dressed; the draft itself is left alone.

    `lets` is the share of specs in which parts of expressions get names.
    """
    spec = {key: _copied(value) for key, value in draft.spec().items()}
    bare = _in_open_loops(draft, spec)
    for place in list(places(spec)):
        if place.position in (
            *VARIABLE_POSITIONS,
            "tile.offset",
            "tile.address",
            *WALK_POSITIONS,
            *OPERAND_EXPRESSIONS,
        ):
            if id(place.holder) not in bare:
                _dress_expression(draft, place)
        else:
            place.put(_dressed_number(draft, place.position, place.value))
    tiles = spec.get("tiles")
    for tile in tiles.values() if isinstance(tiles, dict) else ():
        if isinstance(tile, dict) and isinstance(swizzle := tile.get("swizzle"), str):
            tile["swizzle"] = _dressed_swizzle(draft, swizzle)
        if isinstance(tile, dict) and isinstance(layout := tile.get("layout"), str):
            tile["layout"] = map_leaves(layout, lambda part, leaf: _dressed_leaf(draft, part, leaf))
    if draft.chance(lets):
        with_lets(draft, spec)
    return spec


def _in_open_loops(draft: Draft, spec: Spec) -> set[int]:
    """What holds the expressions of accesses in `any` loops, most of which stay as they are.

    Other words for them leave the range elsewhere, and seldom in a way that the oracle can follow
    to the end.
    """
    accesses = spec.get("accesses")
    found: set[int] = set()
    for access in accesses.values() if isinstance(accesses, dict) else ():
        loops = access.get("for") if isinstance(access, dict) else None
        if isinstance(loops, dict) and isinstance(access, dict) and "any" in loops.values() and draft.chance(0.95):
            found |= {id(access), id(access.get("coord")), id(access.get("assume"))}
    return found


def _copied(value: Yaml) -> Yaml:
    """A copy that shares nothing, with itself neither."""
    match value:
        case dict():
            return {key: _copied(item) for key, item in value.items()}
        case list():
            return [_copied(item) for item in value]
        case _:
            return value


def _dress_expression(draft: Draft, place: Place) -> None:
    """Some parts of an expression of variables in other words."""
    rng = draft.rng
    tree = c_expr.parse(place.value)
    if "base" in c_expr.names_in(tree) or draft.chance(0.25):
        # The oracle enumerates few bases by the form of the map, which must stay as it is.
        return
    source = draft.source(place.names)
    times = rng.choice((3, 5, 7) if place.position == "stage" else (1, 1, 2, 3))
    place.put(text_of(rewritten(source, tree, times), rng))


def _dressed_number(draft: Draft, position: str, value: Yaml) -> Yaml:
    if value == "any":
        return value
    common = position in COMMON
    rare = position in RARE
    if draft.chance(0.6 if common else 0.02 if rare else 0.1):
        return value
    rng = draft.rng
    depth = rng.choice((1, 2, 2, 3) if common else (5, 6) if rare else (2, 3, 3, 4))
    source = draft.source(())
    if isinstance(value, int):
        return text_of(valued(source, value, depth), rng)
    return text_of(rewritten(source, c_expr.parse(value), depth), rng)


def _dressed_swizzle(draft: Draft, text: str) -> str:
    """`Swizzle<B,M,S>` with constants of the spec in its numbers, now and then."""
    constants = sorted(draft.source(()).constants.items())
    numbers = text.removeprefix("Swizzle<").removesuffix(">").split(",")
    if not constants or not text.startswith("Swizzle<") or draft.chance(0.4):
        return text
    found: list[str] = []
    for number in numbers:
        name, value = draft.rng.choice(constants)
        difference = int(number) - value
        forms = (
            number,
            f"{name} - {-difference}" if difference < 0 else f"{name} + {difference}",
            f"{name}*0 + {number}",
        )
        found.append(name if difference == 0 else draft.rng.choice(forms))
    return f"Swizzle<{','.join(found)}>"


def _dressed_leaf(draft: Draft, position: str, leaf: str) -> str:
    value = int(leaf) if leaf.isdigit() else leaf
    text = str(_dressed_number(draft, position, value))
    # A bracket around a bracket would be a tuple of one.
    return f"({text})" if "?" in text and not is_bracketed(text) else text
