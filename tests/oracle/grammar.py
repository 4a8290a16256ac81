"""Where a spec takes expressions, and which operators stand in them: what the coverage of random
specs counts.

`places` knows every position of the format; the tests hold its list against the models of the spec
reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from .c_expr import Expr, Literal, Name, Op
from .layout import split
from .yaml_values import Spec, Yaml, as_dict

BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
UNARY = ("-1", "+1", "~1", "!1")
OTHER = ("?:", "min", "max", "hex", "binary", "suffix")
OPERATORS = (*BINARY, *UNARY, *OTHER)
"""Operators as the oracle's trees name them, and the ways to write a number that is not plain
decimal.
"""

VARIABLE_POSITIONS = ("coord", "stage", "address", "if", "assume", "let", "map.value")
CONSTANT_POSITIONS = (
    "memory.bytes",
    "memory.align",
    "memory.base",
    "tile.bits",
    "tile.bytes",
    "tile.base",
    "tile.base.align",
    "tile.base.offset",
    "tile.stages",
    "tile.stages.count",
    "tile.stages.pitch",
    "layout.shape",
    "layout.pad",
    "notation.shape",
    "notation.stride",
    "swizzle.bits",
    "swizzle.base",
    "swizzle.shift",
    "tma.box",
    "threads",
    "block",
    "access.base",
    "access.base.align",
    "access.base.offset",
    "access.bytes",
    "loop.count",
    "loop.start",
    "loop.stop",
    "loop.step",
    "loop.times",
    "loop.value",
    "map.over",
    "map.onto",
    "map.base",
    "map.base.align",
    "map.base.offset",
    "contiguous.elements",
    "contiguous.mode",
    "wavefronts.at_most",
    "covers.times",
)
OFFSET_POSITIONS = ("tile.offset", "tile.address", "tile.shape", "wavefronts.exactly")
"""The positions of tiles by expression and of exact costs, which have random specs to themselves."""
GLOBAL_POSITIONS = ("coalesced.at_most",)
"""The position of accesses to global memory, which have random specs to themselves; numbers stand there."""
WEIGHT_POSITIONS = ("access.weight",)
"""The position of what a search reads and no claim: tests/differential/test_weights.py."""
THREAD_NAMES = ("tid", "lane", "warp", "tid_x", "threadIdx.x", "blockDim.x")
WALK_POSITIONS = ("walk.start", "walk.step", "walk.xor")
"""The positions of pointers that move, which have random specs to themselves."""
COMPILED_POSITIONS = ("compiled.line", "compiled.source", "compiled.loops", "compiled.parameters")
"""The positions of compiled code: tests/spec/test_compiled.py and test_compiled_operands.py judge their meaning."""
SOURCE_POSITIONS = ("source", "source.address", "source.base", "source.base.align")
"""The positions of where copies read, which have random specs to themselves."""
LISTING_POSITIONS = ("register_conflicts.at_most",)
"""The positions of claims on listings, which have random specs to themselves."""
OPERAND_EXPRESSIONS = ("operand.start", "operand.at", "operand.stage")
OPERAND_POSITIONS = (
    *OPERAND_EXPRESSIONS,
    "operand.lbo",
    "operand.sbo",
    "operand.base_offset",
    "operand.base",
    "operand.base.align",
    "operand.base.offset",
)
"""The positions of operands of the tensor core, which have random specs to themselves."""
PHASE_POSITIONS = ("phase.count", "phase.at", "phase.wait_group", "reads_what_was_written.lag")
"""The positions of phases, which have random specs to themselves."""
POSITIONS = (*VARIABLE_POSITIONS, *CONSTANT_POSITIONS)
LANE_POSITIONS = ("lane.count", "lane.start", "lane.stop", "lane.step", "lane.bits")
"""The positions of values of the lanes' own, which have random specs to themselves."""


@dataclass(frozen=True, slots=True)
class Place:
    """An expression of a spec: its position, and where it hangs; `names` are the variables that it
    may read.
    """

    position: str
    holder: dict[str, Yaml] | list[Yaml]
    key: str | int
    names: tuple[str, ...] = ()

    @property
    def value(self) -> Yaml:
        """What stands there now."""
        return self.holder[self.key]  # type: ignore[index,call-overload]  # the key fits its holder

    def put(self, value: Yaml) -> None:
        """Replace it."""
        self.holder[self.key] = value  # type: ignore[index,call-overload]  # the key fits its holder


def places(spec: Spec) -> Iterator[Place]:
    """Every place of a spec where an expression may stand, except inside the text of a layout."""
    top = as_dict(spec.get("let"))
    yield from (Place("let", top, name, THREAD_NAMES) for name in top)
    for memory in _entries(spec, "memories"):
        yield from _at(memory, "memory", ("bytes", "align", "base"))
    for tile in _entries(spec, "tiles"):
        yield from _tile(tile)
    for access in _entries(spec, "accesses"):
        yield from _access(access)
    for operand in _entries(spec, "operands"):
        yield from _operand(operand)
    for index_map in _entries(spec, "maps"):
        over = as_dict(index_map["over"])
        lets = as_dict(index_map.get("let"))
        yield from (Place("let", lets, name, tuple(over)) for name in lets)
        yield from (Place("map.over", over, key) for key in over)
        yield from _items(index_map, "value", "map.value", tuple(over))
        yield from _items(index_map, "onto", "map.onto")
        yield from _base(index_map, "map")
    for phase in _entries(spec, "phases"):
        yield from _phase(phase)
    claims = spec.get("claims")
    for claim in claims if isinstance(claims, list) else ():
        if isinstance(claim, dict):
            for kind, keys in _ARGUMENTS.items():
                if isinstance(argument := claim.get(kind), dict):
                    yield from _at(argument, kind, keys)


_ARGUMENTS = {
    "contiguous": ("elements", "mode"),
    "wavefronts": ("at_most", "exactly"),
    "covers": ("times",),
    "reads_what_was_written": ("lag",),
}


def _entries(spec: Spec, section: str) -> list[dict[str, Yaml]]:
    return [entry for entry in as_dict(spec.get(section)).values() if isinstance(entry, dict)]


def _at(holder: dict[str, Yaml], prefix: str, keys: tuple[str, ...]) -> Iterator[Place]:
    """The keys of a mapping that hold a number or a text."""
    for key in keys:
        if key in holder and not isinstance(holder[key], dict | list):
            yield Place(f"{prefix}.{key}", holder, key)


def _items(holder: dict[str, Yaml], key: str, position: str, names: tuple[str, ...] = ()) -> Iterator[Place]:
    items = holder.get(key)
    if isinstance(items, list):
        yield from (Place(position, items, index, names) for index in range(len(items)))


def _base(holder: dict[str, Yaml], prefix: str) -> Iterator[Place]:
    base = holder.get("base")
    if isinstance(base, dict):
        yield from _at(base, f"{prefix}.base", ("align", "offset"))
    elif base is not None:
        yield Place(f"{prefix}.base", holder, "base")


def _tile(tile: dict[str, Yaml]) -> Iterator[Place]:
    yield from _at(tile, "tile", ("bits", "bytes", "stages"))
    yield from _base(tile, "tile")
    if isinstance(stages := tile.get("stages"), dict):
        yield from _at(stages, "tile.stages", ("count", "pitch"))
    if isinstance(layout := tile.get("layout"), dict):
        yield from _items(layout, "shape", "layout.shape")
        yield from _at(layout, "layout", ("pad",))
    if isinstance(swizzle := tile.get("swizzle"), dict):
        yield from _at(swizzle, "swizzle", ("bits", "base", "shift"))
    yield from _items(as_dict(tile.get("tma")), "box", "tma.box")
    shape = tile.get("shape")
    if isinstance(shape, dict):
        yield from (Place("tile.shape", shape, name) for name in shape)
    yield from _items(tile, "shape", "tile.shape")
    modes = tuple(shape) if isinstance(shape, dict) else tuple("ijk")[: len(shape) if isinstance(shape, list) else 0]
    for key in ("offset", "address"):
        if key in tile:
            yield Place(f"tile.{key}", tile, key, modes)


def _operand(operand: dict[str, Yaml]) -> Iterator[Place]:
    loops = as_dict(operand.get("for"))
    fields, reads = as_dict(operand["descriptor"]), as_dict(operand["reads"])
    yield Place("operand.start", fields, "start", tuple(loops))
    yield from _at(fields, "operand", ("lbo", "sbo", "base_offset"))
    yield from _base(fields, "operand")
    yield from _items(reads, "at", "operand.at", tuple(loops))
    if "stage" in reads:
        yield Place("operand.stage", reads, "stage", tuple(loops))
    yield from _loops(loops)


def _access(access: dict[str, Yaml]) -> Iterator[Place]:
    loops, own = as_dict(access.get("for")), as_dict(access.get("lanes"))
    names = (*THREAD_NAMES, *loops, *own)
    lets = as_dict(access.get("let"))
    yield from (Place("let", lets, name, names) for name in lets)
    if "threads" in access:
        yield Place("threads", access, "threads")
    yield from _items(access, "block", "block")
    yield from _at(access, "access", ("bytes", "weight"))
    yield from _base(access, "access")
    yield from _items(access, "coord", "coord", names)
    for key in ("stage", "address", "if"):
        if key in access:
            yield Place(key, access, key, names)
    if isinstance(walk := access.get("walk"), dict):
        over = walk.get("over", next(iter(loops), ""))
        for key in ("start", "step", "xor"):
            if key in walk:
                read = (*THREAD_NAMES, *(name for name in loops if key != "start" or name != over))
                yield Place(f"walk.{key}", walk, key, read)
    yield from _items(access, "assume", "assume", tuple(loops))
    yield from _loops(loops)
    for name, values in own.items():
        if isinstance(values, dict):
            yield from _at(values, "lane", ("start", "stop", "step", "bits"))
        else:
            yield Place("lane.count", own, name)


def _phase(phase: dict[str, Yaml]) -> Iterator[Place]:
    loops = as_dict(phase.get("for"))
    yield from (Place("phase.count", loops, name) for name, count in loops.items() if count != "any")
    for part in ("before", "steps", "after"):
        steps = phase.get(part)
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict):
                yield from _at(step, "phase", ("wait_group",))
                bound = as_dict(step.get("at"))
                yield from (Place("phase.at", bound, name, tuple(loops)) for name in bound)


def _loops(loops: dict[str, Yaml]) -> Iterator[Place]:
    for name, bounds in loops.items():
        if isinstance(bounds, dict):
            yield from _at(bounds, "loop", ("start", "stop", "step", "times"))
        elif isinstance(bounds, list):
            yield from (Place("loop.value", bounds, index) for index in range(len(bounds)))
        elif bounds != "any":
            yield Place("loop.count", loops, name)


def map_leaves(text: str, change: Callable[[str, str], str]) -> str:
    """A layout's text with every leaf changed; `change` gets the leaf's position and its text.

    >>> map_leaves("((2,N/2),8):((8*2,32),1)", lambda position, leaf: f"{leaf}@{position[9:11]}")
    '((2@sh,N/2@sh),8@sh):((8*2@st,32@st),1@st)'
    """
    shape, stride = split(text, ":")
    return f"{_map_tree(shape, 'notation.shape', change)}:{_map_tree(stride, 'notation.stride', change)}"


def _map_tree(text: str, position: str, change: Callable[[str, str], str]) -> str:
    text = text.strip()
    parts = split(text[1:-1], ",") if is_bracketed(text) else []
    if len(parts) > 1:
        return f"({','.join(_map_tree(part, position, change) for part in parts)})"
    return change(position, text)


def is_bracketed(text: str) -> bool:
    """Whether the first bracket closes with the last character."""
    depths = list(accumulate((character == "(") - (character == ")") for character in text))
    return text.startswith("(") and 0 not in depths[:-1]


def expressions(spec: Spec) -> Iterator[tuple[str, str]]:
    """(position, text) of every expression of a spec, those inside layouts' texts included."""
    for place in places(spec):
        yield place.position, str(place.value)
    for tile in _entries(spec, "tiles"):
        if isinstance(layout := tile.get("layout"), str):
            leaves: list[tuple[str, str]] = []
            map_leaves(layout, lambda position, leaf, kept=leaves: kept.append((position, leaf)) or leaf)
            yield from leaves


def operators(tree: Expr) -> set[str]:
    """The names from OPERATORS that occur in a tree.

    >>> from .c_expr import parse
    >>> sorted(operators(parse("-x * 0x1F + (a ? 2u : 1)")))
    ['*', '+', '-1', '?:', 'hex', 'suffix']
    """
    match tree:
        case Literal(_, spelling):
            forms = {"0x": "hex", "0b": "binary"}
            found = {forms[spelling[:2].lower()]} if spelling[:2].lower() in forms else set[str]()
            return found | {"suffix"} if spelling.endswith(("u", "U", "l", "L")) else found
        case Name():
            return set()
        case Op(symbol, operands):
            return {symbol}.union(*(operators(operand) for operand in operands))
