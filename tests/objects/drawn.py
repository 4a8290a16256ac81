"""Random accesses as plain data, and what enumeration says of claims on them.

Nothing here is the package's but the cost of one warp instruction: an expression is a text for the
package and a Python function for the enumeration, and loops, bases and layouts are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, product
from random import Random

from swzverify.hardware import access_cost

Env = dict[str, int]
LIMIT = 1 << 24
WIDTHS = {
    "ld.shared.b32": 4,
    "st.shared.v4.b32": 16,
    "ld.shared.v2.b32": 8,
    "atom.shared.add.u32": 4,
    "ldmatrix.x4": 16,
}


@dataclass(frozen=True)
class Term:
    """An expression, as text and as a function."""

    text: str
    at: Callable[[Env], int]


@dataclass(frozen=True)
class Loop:
    """A loop's values. `open_step` is that of a loop without a bound, of which enough values are listed:
    expressions read it modulo 8 only.
    """

    name: str
    values: tuple[int, ...]
    open_step: int = 0


@dataclass(frozen=True)
class Place:
    """A base: `start + unit * i`, for i below `count`."""

    start: int
    unit: int
    count: int


@dataclass(frozen=True)
class Tile:
    """rows x columns 4-byte elements, `stride` elements from row to row; `swizzle` (B, M, S) of offsets or
    of byte addresses.
    """

    rows: int
    columns: int
    stride: int
    swizzle: tuple[int, int, int] | None
    on_address: bool
    stages: int
    pitch: int
    allocation: int


@dataclass
class Drawn:
    """An access. `stated` is the base that is said, `moved` the one that it was moved to; `room` and
    `within` are what a caller gives for those arguments, None for nothing.
    """

    instruction: str
    threads: int
    loops: tuple[Loop, ...]
    constants: Env
    stated: Place
    tile: Tile | None
    terms: tuple[Term, ...]
    predicate: Term | None
    assume: tuple[Term, ...]
    size: int
    moved: Place | None = None
    by_moving: bool = True
    room: tuple[int, ...] | None = None
    within: Env | None = None
    changes: tuple[str, ...] = field(default=())

    @property
    def place(self) -> Place:
        return self.moved or self.stated


# --- drawing


def draw(seed: int) -> Drawn:
    """The access of a seed."""
    random = Random(seed)
    constants = {name: random.choice((1, 2, 3, 4, 8, 16)) for name in ("P", "Q")[: random.randrange(3)]}
    loops = tuple(_loop(random, name) for name in ("k", "j")[: random.choice((0, 1, 1, 1, 2))])
    instruction = random.choice(list(WIDTHS))
    threads = random.choice((32, 64)) if instruction == "ldmatrix.x4" else random.choice((32, 32, 64, 40, 7))
    tile = _tile(random) if instruction == "ld.shared.b32" and random.random() < 0.5 else None
    stated = _stated(random, tile)
    width = WIDTHS[instruction]
    if tile is None:
        unit = width if random.random() < 0.9 else random.choice((1, 2, width // 2))
        inner = _sum(random, loops, constants)
        terms: tuple[Term, ...] = (Term(f"({inner.text})*{unit}", lambda env: inner.at(env) * unit),)
    else:
        row, column = (_sum(random, loops, constants, small=True) for _ in range(2))
        rows, columns = tile.rows, tile.columns
        if random.random() < 0.8:
            row = Term(f"({row.text})%{rows}", lambda env, term=row: term.at(env) % rows)
            column = Term(f"({column.text})%{columns}", lambda env, term=column: term.at(env) % columns)
        terms = (row, column)
    predicate = None
    if instruction != "ldmatrix.x4" and random.random() < 0.3:
        predicate = _condition(random, ("tid", *(loop.name for loop in loops)), loops)
    assume = tuple(_condition(random, (loop.name,), loops) for loop in loops if random.random() < 0.25)
    drawn = Drawn(
        instruction, threads, loops, constants, stated, tile, terms, predicate, assume, random.choice((256, 1024, 8192))
    )
    moved = _place(random)
    if random.random() < 0.4 and moved != stated:
        drawn.moved = moved
        drawn.by_moving = random.random() < 0.7
    if loops and random.random() < 0.25:
        drawn.room = tuple(random.choice((1, 2, max(1, len(loop.values)), 8)) for loop in loops)
    if random.random() < 0.4:
        names = [loop.name for loop in loops if random.random() < 0.9]
        drawn.within = {name: random.choice((0, 1, 2, 3, 8, 100)) for name in names}
    drawn.changes = tuple(each for each in ("constants", "loops", "assume", "terms") if random.random() < 0.3)
    return drawn


def _loop(random: Random, name: str) -> Loop:
    kind = random.random()
    start, step = random.randrange(0, 6), random.choice((1, 1, 2, 3, 4))
    if kind < 0.15:
        return Loop(name, tuple(start + step * i for i in range(8)), step)
    if kind < 0.4:
        values = sorted(random.sample((0, 1, 2, 4, 5, 8, 16, 31), random.choice((2, 3, 4))))
        return Loop(name, tuple(values))
    return Loop(name, tuple(range(start, start + step * random.choice((0, 1, 2, 3, 4, 4, 4)), step)))


def _tile(random: Random) -> Tile:
    rows, columns = random.choice(((8, 32), (32, 32), (16, 8), (4, 64)))
    stride = columns + random.choice((0, 0, 1, 4))
    swizzle = random.choice((None, None, (2, 2, 3), (3, 2, 3), (3, 0, 5), (1, 3, 1)))
    on_address = swizzle is not None and random.random() < 0.4
    allocation = 4 * ((rows - 1) * stride + columns) + random.choice((0, 0, 0, 64, -4))
    stages = random.choice((1, 1, 2))
    return Tile(rows, columns, stride, swizzle, on_address, stages, -(-allocation // 16) * 16, allocation)


def _stated(random: Random, tile: Tile | None) -> Place:
    if random.random() < 0.4:
        return Place(random.choice((0, 16, 128, 512, 4, 6)), 1, 1)
    align = random.choice((16, 64, 128, 1024) if tile is None else (128, 256, 1024))
    return Place(0, align, LIMIT // align)


def _place(random: Random) -> Place:
    kind = random.random()
    if kind < 0.4:
        return Place(random.choice((0, 4, 16, 20, 128, 130, 1024)), 1, 1)
    if kind < 0.7:
        return Place(random.choice((0, 16, 64)), random.choice((4, 12, 16, 128)), random.choice((2, 3, 5)))
    unit = random.choice((128, 1024))
    return Place(random.choice((0, 16)), unit, LIMIT // unit)


def _leaf(random: Random, loops: tuple[Loop, ...], constants: Env) -> Term:
    names = [
        "tid",
        "lane",
        "warp",
        "tid",
        "lane",
        *constants,
        *(loop.name for loop in loops),
        *(loop.name for loop in loops),
    ]
    name = random.choice(names)
    if any(loop.name == name and loop.open_step for loop in loops):
        return Term(f"{name}%8", lambda env: env[name] % 8)
    return Term(name, lambda env: env[name])


def _sum(random: Random, loops: tuple[Loop, ...], constants: Env, *, small: bool = False) -> Term:
    """A sum of one to three products, or an XOR or a choice of two sums."""
    parts: list[tuple[Term, int, str]] = []
    for _ in range(random.choice((1, 2, 2, 3))):
        leaf = _leaf(random, loops, constants)
        factor = random.choice((1, 1, 1, 2, 4, 8) if small else (1, 1, 1, 1, 2, 3, 4, 8, 17, 32))
        parts.append((leaf, factor, random.choice(("*", "*", "*", "/", "%"))))

    def one(part: tuple[Term, int, str]) -> Term:
        leaf, factor, operator = part
        match operator:
            case "*":
                return Term(f"({leaf.text})*{factor}", lambda env: leaf.at(env) * factor)
            case "/":
                return Term(f"({leaf.text})/{factor}", lambda env: leaf.at(env) // factor)
            case _:
                return Term(f"({leaf.text})%{factor}", lambda env: leaf.at(env) % factor)

    terms = [one(part) for part in parts]
    total = Term(" + ".join(term.text for term in terms), lambda env: sum(term.at(env) for term in terms))
    other = _leaf(random, loops, constants)
    kind = random.random()
    if kind < 0.15:
        return Term(f"({total.text}) ^ ({other.text})", lambda env: total.at(env) ^ other.at(env))
    if kind < 0.3:
        bound, extra = random.randrange(1, 5), random.choice((1, 31, 32))
        return Term(
            f"({total.text})*(({other.text}) >= {bound} ? {extra} : 1)",
            lambda env: total.at(env) * (extra if other.at(env) >= bound else 1),
        )
    return total


def _condition(random: Random, names: tuple[str, ...], loops: tuple[Loop, ...]) -> Term:
    name, bound = random.choice(names), random.choice((0, 1, 2, 5, 16))
    modulus = 8 if any(loop.name == name and loop.open_step for loop in loops) else random.choice((2, 5, 64))
    return Term(f"{name}%{modulus} < {bound}", lambda env: env[name] % modulus < bound)


# --- enumerating


def room_fits(drawn: Drawn) -> bool:
    """Whether `room=` leaves no iteration out and adds none that does not exist."""
    if drawn.room is None:
        return True
    # A loop without a bound goes on far beyond any room that is drawn, so that room is too short.
    return all(
        not loop.open_step and len(loop.values) == each for loop, each in zip(drawn.loops, drawn.room, strict=True)
    )


def variant(drawn: Drawn, seed: int) -> Drawn:
    """Another access with the same loops: the same one, or one that differs in some lane or iteration."""
    random = Random(-1 - seed)
    changed = replace(drawn, room=None, within={loop.name: random.randrange(9) for loop in drawn.loops})
    first, kind = drawn.terms[0], random.random()
    if kind < 0.3:
        return changed
    if kind < 0.5 and drawn.assume:
        return replace(changed, assume=())
    if kind < 0.6 and drawn.predicate:
        return replace(changed, predicate=None)
    condition = _condition(random, ("tid", *(loop.name for loop in drawn.loops)), drawn.loops)
    added = Term(
        f"({first.text}) + 16*({condition.text})", lambda env: first.at(env) + 16 * int(bool(condition.at(env)))
    )
    return replace(changed, terms=(added, *drawn.terms[1:]))


Case = tuple[tuple[int, ...], int, int, int]
"""The loops' values, the warp, the stage and the base."""


def lanes(drawn: Drawn) -> dict[Case, list[int | None]]:
    """The lanes' addresses in every case in which one runs."""
    return {case: found for case, _, found in cases(drawn) if any(each is not None for each in found)}


def cases(drawn: Drawn) -> Iterator[tuple[Case, int, list[int | None]]]:
    """(case, start of the stage, the lanes' byte addresses) of every warp instruction."""
    base, tile, span = drawn.place, drawn.tile, 128
    if tile is not None and tile.on_address and tile.swizzle is not None:
        span = max(128, 1 << sum(tile.swizzle))
    bases = [base.start + base.unit * i for i in range(min(base.count, span))]
    bases = list({each % span: each for each in reversed(bases)}.values())
    for values in product(*(loop.values for loop in drawn.loops)):
        shared = {**drawn.constants, **dict(zip((loop.name for loop in drawn.loops), values, strict=True))}
        if not all(term.at(shared) for term in drawn.assume):
            continue
        for warp, stage, begin in product(
            range(-(-drawn.threads // 32)), range(1 if tile is None else tile.stages), bases
        ):
            start = begin if tile is None else begin + stage * tile.pitch
            found: list[int | None] = []
            for lane in range(32):
                env = {**shared, "tid": warp * 32 + lane, "lane": lane, "warp": warp}
                runs = env["tid"] < drawn.threads and (drawn.predicate is None or bool(drawn.predicate.at(env)))
                found.append(_address(drawn, env, start) if runs else None)
            yield (values, warp, stage, begin), start, found


def _address(drawn: Drawn, env: Env, start: int) -> int:
    values = [term.at(env) for term in drawn.terms]
    tile = drawn.tile
    if tile is None:
        return start + values[0]
    offset = values[0] * tile.stride + values[1]
    if tile.swizzle is not None and not tile.on_address:
        offset = _swizzled(offset, tile.swizzle)
    address = start + 4 * offset
    return _swizzled(address, tile.swizzle) if tile.swizzle is not None and tile.on_address else address


def _swizzled(value: int, swizzle: tuple[int, int, int]) -> int:
    bits, base, shift = swizzle
    return value ^ (value >> shift & ((1 << bits) - 1) << base)


@lru_cache(maxsize=1 << 18)
def _cost(instruction: str, addresses: tuple[int | None, ...]) -> tuple[int, int]:
    found = access_cost(instruction, addresses)
    return found.wavefronts, found.bank_conflicts


@dataclass
class Truth:
    """What holds of an access: its claims by name, `active` where some lane runs, `most` wavefronts."""

    active: bool = False
    aligned: bool = True
    inside: bool = True
    free: bool = True
    most: int = 0


def truth(drawn: Drawn) -> Truth:
    """What enumeration says."""
    found, width, tile = Truth(), WIDTHS[drawn.instruction], drawn.tile
    room = drawn.size if tile is None else tile.allocation
    for _, start, addresses in cases(drawn):
        on = [each for each in addresses if each is not None]
        if not on:
            continue
        found.active = True
        found.inside &= all(start <= each <= start + room - width for each in on)
        if any(each % width for each in on):
            found.aligned = False
        elif found.aligned:
            low = min(on) // 128 * 128
            most, conflicts = _cost(
                drawn.instruction, tuple(None if each is None else each - low for each in addresses)
            )
            found.most, found.free = max(found.most, most), found.free and not conflicts
    if tile is not None:
        found.inside &= _coordinates_fit(drawn, tile)
    return found


def _coordinates_fit(drawn: Drawn, tile: Tile) -> bool:
    for values in product(*(loop.values for loop in drawn.loops)):
        shared = {**drawn.constants, **dict(zip((loop.name for loop in drawn.loops), values, strict=True))}
        for tid in range(drawn.threads):
            env = {**shared, "tid": tid, "lane": tid % 32, "warp": tid // 32}
            if all(term.at(shared) for term in drawn.assume) and (drawn.predicate is None or drawn.predicate.at(env)):
                row, column = (term.at(env) for term in drawn.terms)
                if row >= tile.rows or column >= tile.columns:
                    return False
    return True


def scope_parts(drawn: Drawn) -> list[str]:
    """What the scope of a proof must name: every loop's values, and the base that was enumerated."""
    parts: list[str] = []
    for loop in drawn.loops:
        if loop.open_step:
            parts.append(f"{loop.name} in {loop.values[0]}..")  # where it ends is checked elsewhere
        elif not loop.values:
            parts.append(f"never any {loop.name}")
        elif len({b - a for a, b in pairwise(loop.values)}) > 1:
            parts.append(f"{loop.name} in {', '.join(map(str, loop.values))}")
        else:
            parts.append(f"{loop.name} in {loop.values[0]}..{loop.values[-1]}")
    place = drawn.place
    if place.count == 1:
        parts += [f"base {place.start}"] if drawn.moved or drawn.tile or place.start else []
    elif drawn.moved:
        parts.append(f"base in {place.start}..{place.start + place.unit * (place.count - 1)} step {place.unit}")
    else:
        parts.append(f"any base that is a multiple of {place.unit}")
    return parts
