"""Random tiles by expression: the offsets that kernels write, and any others, with claims on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from . import c_expr
from .lets import put_in
from .random_expressions import text_of, wild
from .random_parts import WIDTH_BYTES, Draft, base_value, element, predicate, size
from .yaml_values import Yaml

NAMES = [["row", "chunk", "q"], ["r", "c", "d"], ["lane", "warp", "tid"], ["i", "row", "k"], ["j", "i", "x"]]
MATRIX = ["ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "stmatrix.x4", "ldmatrix.x4.trans"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A tile by expression, as claims and accesses must know it."""

    name: str
    bits: int
    modes: tuple[str, ...]
    extents: tuple[int, ...]
    texts: tuple[str, ...]
    stages: int
    in_bytes: bool
    value: str


def offset_tiles(draft: Draft) -> None:
    """A tile, claims on it, and now and then an access or a second subject to compare it with."""
    tile = draw_tile(draft)
    rng = draft.rng
    for kind in rng.sample(["injective", "bijective", "in_bounds", "contiguous", "contiguous"], 3):
        if kind == "contiguous":
            argument: dict[str, Yaml] = {"tile": tile.name, "elements": rng.choice([1, 2, 2, 4, 8, 3])}
            if draft.chance(0.6):
                argument["mode"] = rng.randrange(len(tile.extents))
            draft.claim("contiguous", argument)
        else:
            draft.claim(kind, tile.name)
    if tile.stages > 1:
        draft.claim("disjoint", tile.name)
    if draft.chance(0.45):
        _compare(draft, tile)
    if draft.chance(0.03):
        _spoil(draft, tile)


def offset_accesses(draft: Draft) -> None:
    """A tile and accesses to it."""
    tile = draw_tile(draft, whole_bytes=not draft.chance(0.1))
    if draft.chance(0.25):
        _walk(draft, tile)
        return
    name = _access(draft, tile)
    rng = draft.rng
    lanes = "lanes" in _fields(draft, name)
    for kind in rng.sample(["aligned", "in_bounds", "conflict_free", "wavefronts", "covers", "equivalent"], 4):
        if kind == "wavefronts":
            groups = rng.choice([1, 2, 4, 4, 8, 16])
            draft.claim(kind, {"access": name, rng.choice(["at_most", "exactly", "exactly"]): groups})
        elif kind == "covers":
            if not lanes:
                draft.claim(kind, {"access": name, "times": rng.choice([1, 1, 1, 2])})
        elif kind == "equivalent":
            _same_by_address(draft, tile, name)
        else:
            draft.claim(kind, name)


def _fields(draft: Draft, name: str) -> dict[str, Yaml]:
    found = draft.accesses[name]
    assert isinstance(found, dict)
    return found


def _walk(draft: Draft, tile: Drawn) -> None:
    """Threads that go through all elements, one after the other."""
    rng = draft.rng
    fitting = [name for name, w in WIDTH_BYTES.items() if 8 * w == tile.bits]
    points = prod(tile.extents)
    if not fitting or len(set(tile.texts) & set(draft.constants)):
        draft.claim("injective", tile.name)
        return
    threads = rng.choice([n for n in (8, 12, 16, 24, 32, 64, points) if points % n == 0 and n <= 128] or [points])
    if threads > 1024:
        return
    rest, coord = f"(tid + s*{threads})", list[Yaml]()
    order = list(range(len(tile.extents)))
    if draft.chance(0.5):
        order.reverse()
    parts: dict[int, str] = {}
    for at in order:
        parts[at] = f"{rest}%{tile.extents[at]}"
        rest = f"{rest}/{tile.extents[at]}"
    coord += [parts[at] for at in range(len(tile.extents))]
    name = draft.fresh("walk")
    draft.accesses[name] = {
        "tile": tile.name, "instruction": rng.choice(fitting), "threads": threads,
        "for": {"s": points // threads}, "coord": coord,
    }  # fmt: skip
    draft.claim("covers", {"access": name, "times": 1})
    draft.claim("in_bounds", name)
    draft.claim("conflict_free", name)
    draft.claim("wavefronts", {"access": name, "exactly": rng.choice([1, 1, 2, 2, 4, 4, 8])})


def draw_tile(draft: Draft, *, whole_bytes: bool = False) -> Drawn:
    """A tile of one to three modes."""
    rng = draft.rng
    bits = rng.choice([8, 8, 8, 16, 16, 32, 32, 64, 128, *([] if whole_bytes else [4, 6, 12, 24])])
    in_bytes = bits % 8 == 0 and draft.chance(0.35)
    rank = rng.choice([1, 2, 2, 2, 2, 3])
    sizes = [size(draft, rng.choice([[8, 16, 32], [4, 8, 8, 16], [3, 5, 6, 12], [1, 2]])) for _ in range(rank)]
    named = draft.chance(0.5)
    modes = tuple(rng.choice(NAMES)[:rank] if named else "ijk"[:rank])
    if set(modes) & set(draft.constants):
        modes, named = tuple("ijk"[:rank]), False
    extents = tuple(each.most for each in sizes)
    value = _value(draft, modes, [each.text for each in sizes], extents)
    if in_bytes:
        wide = bits // 8
        value = f"({value})*{rng.choice([wide, wide, wide, max(1, wide // 2), max(1, wide - 1), 2 * wide])}"
        if draft.chance(0.2):
            value += f" + {rng.choice([1, 4, 16, wide])}"
    tile: dict[str, Yaml] = element(draft, bits) if bits not in (12, 24, 128) else {"bits": bits}
    numbers: list[Yaml] = [int(each.text) if each.text.isdigit() else each.text for each in sizes]
    tile["shape"] = dict(zip(modes, numbers, strict=True)) if named else numbers
    tile["address" if in_bytes else "offset"] = value
    base = {"align": rng.choice([1, 2, 4, 8])} if draft.chance(0.15) else base_value(draft, 1)
    if base is not None:
        tile["base"] = base
    if draft.chance(0.15):
        tile["bytes"] = max(1, prod(extents) * bits // 8 + rng.choice([-16, -1, 0, 0, 16]))
    stages = 1
    if draft.chance(0.3):
        stages = 2
        tile["stages"] = rng.choice([2, 2, {"count": 2, "pitch": max(1, prod(extents) * bits // 8)}])
    name = draft.fresh("X")
    draft.tiles[name] = tile
    return Drawn(name, bits, modes, extents, tuple(each.text for each in sizes), stages, in_bytes, value)


def _value(draft: Draft, modes: tuple[str, ...], texts: list[str], extents: tuple[int, ...]) -> str:
    """An expression of the modes: what kernels write, or anything."""
    rng = draft.rng
    form = rng.random()
    if form < 0.2:
        return _any(draft, modes, prod(extents))
    strides = ["1"]
    for text in reversed(texts[1:]):
        strides.insert(0, f"{text}*({strides[0]})")
    if form < 0.3:
        strides = strides[::-1]
    terms = [mode if stride == "1" else f"{mode}*({stride})" for mode, stride in zip(modes, strides, strict=True)]
    if len(modes) == 1:
        x = modes[0]
        return rng.choice([f"{x} ^ ({x} >> 3)", f"{x} ^ ({x} & 8) >> 3", x, f"2*{x}", f"{x}*5%{texts[0]}",
                           f"{x} ^ {rng.randrange(4)}", f"{x}/2", f"{texts[0]} - 1 - {x}"])  # fmt: skip
    r, c, extent = modes[-2], modes[-1], texts[-1]
    if draft.chance(0.25):
        terms[0] = f"({texts[0]} - 1 - {modes[0]})*({strides[0]})"
    row = " + ".join(terms[:-1])
    moved = rng.choice(
        [
            c,
            f"({c} ^ {r}%({extent}))",
            f"({c} ^ {r}%8)",
            f"(({c} + {r})%({extent}))",
            f"({c} ^ ({r} >> 1) & 3)",
            f"({c} ^ ({r} & 1)*2)",
            f"({c}%2*({extent}/2) + {c}/2)",
            f"({r}%2 ? {extent} - 1 - {c} : {c})",
        ]
    )
    whole = f"{row} + {moved}"
    pad = rng.choice(["", "", "", f" + {r}*{rng.choice([1, 4, 8])}", f" + {r}/4*{rng.choice([1, 8])}"])
    if draft.chance(0.1):
        whole = f"({row} + {c}) ^ ((({row} + {c}) >> 3) & 7)"
    if draft.chance(0.06):
        whole += rng.choice([" - 1", f" - {c}", f" - 2*{r}"])
    return whole + pad


def _any(draft: Draft, modes: tuple[str, ...], points: int) -> str:
    """Any expression of the modes, mostly brought into the range of a tile."""
    rng = draft.rng
    text = f"({text_of(wild(draft.source(modes), rng.choice([1, 2, 2, 3])).tree, rng)})"
    mask = max(1, 1 << (points - 1).bit_length()) - 1
    return rng.choice([f"{text} & {mask}", f"{text} & {mask}", f"max({text}, 0)%{points + 3}", f"{text} & 1023"])


def _compare(draft: Draft, tile: Drawn) -> None:
    """A layout, a map or another expression that is the same, or nearly."""
    rng = draft.rng
    other: dict[str, Yaml] = {}
    mine = draft.tiles[tile.name]
    assert isinstance(mine, dict)
    for key in ("element", "bits", "base", "stages", "bytes"):
        if key in mine:
            other[key] = mine[key]
    kind = rng.choice(["expression", "layout", "map", "disjoint"])
    if kind == "map" and tile.bits % 8 == 0:
        name = draft.fresh("map")
        wide = 1 if tile.in_bytes else tile.bits // 8
        over: dict[str, Yaml] = dict(zip(("u", "v", "w"), tile.texts, strict=False))
        value = tile.value
        value = _renamed(value, dict(zip(tile.modes, over, strict=True)))
        slip = rng.choice(["", "", "", " + 1", f" + {next(iter(over))}*0"])
        draft.maps[name] = {"over": over, "value": [f"base + ({value})*{wide}{slip}"]}
        draft.claim("equivalent", [tile.name, name] if draft.chance(0.5) else [name, tile.name])
        return
    name = draft.fresh("Y")
    if kind == "layout" and len(tile.texts) > 1:
        if len(tile.texts) == 2:
            other["layout"] = f"({','.join(tile.texts)}):({tile.texts[-1]},1)"
            draft.tiles[name] = other
            draft.claim("equivalent", [tile.name, name])
        return
    other["shape"] = [int(text) if text.isdigit() else text for text in tile.texts]
    if {"i", "j", "k"} & set(draft.constants):
        return
    value = _renamed(tile.value, dict(zip(tile.modes, "ijk", strict=False)))
    key = "address" if tile.in_bytes else "offset"
    other[key] = rng.choice([value, value, f"0 + ({value})", f"({value}) + 1", f"({value}) ^ 1", f"({value})*1 + i*0"])
    draft.tiles[name] = other
    if kind == "disjoint":
        memory = draft.fresh("mem")
        draft.memories[memory] = {"bytes": 200_000, "align": 128}
        mine["base"] = {"in": memory, "offset": 128 * rng.randrange(4)}
        other["base"] = {"in": memory, "offset": 128 * rng.choice([0, 1, 4, 16, 64, 256])}
        draft.claim("disjoint", [tile.name, name])
    else:
        draft.claim("equivalent", [tile.name, name])


def _renamed(text: str, names: dict[str, str]) -> str:
    """The text with some names exchanged, all at once."""
    return text_of(put_in(c_expr.parse(text), {old: c_expr.Name(new) for old, new in names.items()}))


def _access(draft: Draft, tile: Drawn) -> str:
    rng = draft.rng
    matrix = tile.bits in (8, 16, 32) and draft.chance(0.2)
    least = 8 if tile.bits % 8 else tile.bits
    fitting = [name for name, w in WIDTH_BYTES.items() if 8 * w >= least] or ["ld.shared.v4.b32"]
    instruction = rng.choice(MATRIX) if matrix else rng.choice(fitting)
    threads = rng.choice([32, 64]) if matrix else rng.choice([8, 20, 32, 32, 64, 96])
    access: dict[str, Yaml] = {"tile": tile.name, "instruction": instruction, "threads": threads}
    loops: list[str] = []
    if draft.chance(0.5):
        loops = [rng.choice(["i", "j", "s"])]
        access["for"] = {loops[0]: rng.choice([2, 3, 4, {"start": 0, "stop": 8, "step": 4}, [1, 2, 4]])}
    own: list[str] = []
    if draft.chance(0.2):
        own = ["bin"]
        access["lanes"] = {"bin": rng.choice([2, 3, 4])}
    rest = rng.choice(["tid", "tid", "lane", "(tid ^ 5)", *(f"(tid + {loop}*{threads})" for loop in loops)])
    coord: list[Yaml] = []
    for at in reversed(range(len(tile.extents))):
        text = tile.texts[at]
        inside = rest if at == 0 else f"{rest}%({text})"
        part = inside if at == 0 and draft.chance(0.3) else f"({inside})%({text})"
        if own and draft.chance(0.6):
            part = rng.choice(
                [f"({part} + bin)%({text})", f"min(bin, {text} - 1)", f"(lane < 4 ? bin%({text}) : {part})"]
            )
        if draft.chance(0.12):
            part = rng.choice([f"{part} - 1", f"{part} + 1", f"({part})*2"])
        coord.insert(0, part)
        rest = f"{rest}/({text})"
    access["coord"] = coord
    if tile.stages > 1 and draft.chance(0.6):
        access["stage"] = rng.choice(["0", "1", "tid%2", *(f"{loop}%2" for loop in loops)])
    if not matrix and draft.chance(0.3):
        access["if"] = predicate(draft, [*loops, *own])
    name = draft.fresh("ox")
    draft.accesses[name] = access
    return name


def _same_by_address(draft: Draft, tile: Drawn, name: str) -> None:
    """The access again with its address written out, where the tile has one stage and whole bytes."""
    first = _fields(draft, name)
    mine = draft.tiles[tile.name]
    if tile.stages > 1 or tile.bits % 8 or not isinstance(mine, dict):
        return
    coord = first["coord"]
    assert isinstance(coord, list)
    parts = {mode: c_expr.parse(each) for mode, each in zip(tile.modes, coord, strict=True)}
    text = text_of(put_in(c_expr.parse(tile.value), parts))
    wide = 1 if tile.in_bytes else tile.bits // 8
    other: dict[str, Yaml] = {key: value for key, value in first.items() if key not in ("tile", "coord", "stage")}
    other["address"] = f"({text})*{wide}{draft.rng.choice(['', '', ' + 1', ' + tid*0'])}"
    other["base"] = mine.get("base", {"align": 1024})
    again = draft.fresh("same")
    draft.accesses[again] = other
    draft.claim("equivalent", {"accesses": [name, again]})


def _spoil(draft: Draft, tile: Drawn) -> None:
    """Something that the page calls an error."""
    rng = draft.rng
    mine = draft.tiles[tile.name]
    if not isinstance(mine, dict):
        return
    key = "address" if tile.in_bytes else "offset"
    mode = tile.modes[0]
    kind = rng.choice(["value", "value", "value", "layout", "name", "bits"])
    if kind == "value":
        mine[key] = rng.choice(
            [f"{mode} - 1", f"{mode}/({mode} - {mode})", f"1 << ({mode} + 30)", f"({mode} << 31)*4", f"{mode} + nobody",
             f"{mode} + base", f"{mode} >> (0 - {mode} - 1)", f"0 ? 1/{mode} : {mode}"]
        )  # fmt: skip
    elif kind == "layout":
        mine["layout"] = "(8,8):(8,1)"
    elif kind == "name":
        draft.constants[mode] = 4
    else:
        mine.pop("element", None)
        mine["bits"] = 12
