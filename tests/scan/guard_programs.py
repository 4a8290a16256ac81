"""Kernels of clusters whose copies have conditions on ranks, trips, a parameter and the place of the cluster.

What the tiles then hold follows from plain numbers: see `can_be_right`. Nothing here is shared with the package.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product

from tests.scan.cluster_programs import Part, Program, right, text

TRIPS = 8
"""Trips of a loop that are looked at, and of the loop around it half as many."""
_REGISTERS = {"m": "%r90", "rank": "%r2", "trip": "%r11", "place": "%r3", "block": "%r8", "tile": "%r91"}
_VALUES = (*range(24), *range((1 << 32) - 24, 1 << 32))
"""Values of the parameter `m`: sums with it may wrap."""


@dataclass(frozen=True)
class Guard:
    """A condition: a sum of some numbers, or its remainder by `modulus`, compared with a number or with `m`."""

    factors: tuple[tuple[str, int], ...]
    modulus: int
    comparison: str
    limit: int | str
    number: int = 0

    def holds(self, at: dict[str, int]) -> bool:
        total = (sum(number * at[name] for name, number in self.factors) + self.number) % (1 << 32)
        total = total % self.modulus if self.modulus else total
        limit = at[self.limit] if isinstance(self.limit, str) else self.limit
        return {"lt": total < limit, "ge": total >= limit, "eq": total == limit, "ne": total != limit}[self.comparison]

    def ptx(self, predicate: str) -> str:
        lines = [f"mov.u32 %r92, {self.number};"]
        lines += [f"mad.lo.u32 %r92, {_REGISTERS[name]}, {number}, %r92;" for name, number in self.factors]
        if self.modulus:
            lines.append(f"rem.u32 %r92, %r92, {self.modulus};")
        limit = _REGISTERS[self.limit] if isinstance(self.limit, str) else self.limit
        lines.append(f"setp.{self.comparison}.u32 {predicate}, %r92, {limit};")
        return " ".join(lines)


@dataclass(frozen=True)
class Guarded:
    """A kernel with a condition on its copies of B, which is on one more of them if `is_of_a`.

    Attributes:
        program: The tables of the copies.
        guard: The condition.
        is_of_a: Whether the copies of A have it, too.
        is_branch: Whether a branch leaves the copies of B out, and not a predicate.
        is_persistent: Whether a loop over tiles is around both loops.
        trips: The trips of each loop over K, if these are a number.
    """

    program: Program
    guard: Guard
    is_of_a: bool = False
    is_branch: bool = False
    is_persistent: bool = False
    trips: int | None = None

    @property
    def ptx(self) -> str:
        """The kernel."""
        lines = text(self.program)
        lines = lines.replace(".param .u64 out)", ".param .u64 out, .param .u32 m)").replace("%r<80>", "%r<100>")
        lines = lines.replace("ld.param.u32 %r1, [n];", f"ld.param.u32 %r90, [m]; mov.u32 %r91, 0; {self._count}")
        for name in "ab" if self.is_of_a else "b":
            (line,) = (each for each in lines.split("\n") if f"// copy of {name}map" in each)
            at = line.index("cp.async")
            new = f"{line[:at]} {self.guard.ptx('%p4')} "
            new += f"@!%p4 bra OVER_{name};\n{line[at:]}\nOVER_{name}:" if self.is_branch else f"@%p4 {line[at:]}"
            lines = lines.replace(line, new)
        if self.is_persistent:
            for label, name in (("COPY", "COPIES"), ("USE", "PRODUCTS")):
                new_sums = "mov.f32 %f0, 0f00000000;" + "".join(f"mov.f32 %f{at}, %f0;" for at in range(1, 8))
                begin = f"{name}: mov.u32 %r11, 0; {new_sums if label == 'USE' else ''}\n{label}:"
                assert lines.count(f"\n{label}:") == 1
                lines = lines.replace(f"\n{label}:", f"\n{begin}")
                again = f"setp.lt.u32 %p3, %r11, %r1; @%p3 bra {label};"
                assert lines.count(again) == 1
                rows = "add.u32 %r21, %r21, 1024; add.u32 %r31, %r31, 1024;" if label == "COPY" else ""
                lines = lines.replace(
                    again, f"{again}\nadd.u32 %r91, %r91, 1; {rows} setp.lt.u32 %p3, %r91, %r93; @%p3 bra {name};"
                )
        return lines

    @property
    def _count(self) -> str:
        tiles = "ld.param.u32 %r93, [n]; " if self.is_persistent else ""
        return f"{tiles}ld.param.u32 %r1, [n];" if self.trips is None else f"{tiles}mov.u32 %r1, {self.trips};"

    def _trips(self) -> Iterator[dict[str, int]]:
        for tile, trip in product(range(TRIPS // 2 if self.is_persistent else 1), range(self.trips or TRIPS)):
            yield {"tile": tile, "trip": trip}

    def can_be_right(self) -> bool:
        """Whether all operands of some cluster hold what they should, in some launch."""
        return any(self._is_right(m, place) for m, place in product(_VALUES, range(5)))

    def is_right_if_whole(self) -> bool:
        """Whether all operands hold what they should if no copy is left out."""
        whole = replace(self, guard=Guard((), 0, "eq", 0))
        return whole.can_be_right()

    def _is_right(self, m: int, place: int) -> bool:
        return all(self._trip_is_right(at | {"m": m, "place": place}) for at in self._trips())

    def _trip_is_right(self, at: dict[str, int]) -> bool:
        count, across = self.program.count, self.program.cluster[0]
        for name, part in (("a", self.program.a), ("b", self.program.b)):
            for rank in range(count):
                tile: list[set[tuple[int, int]]] = [set() for _ in range(part.rows)]
                for maker in range(count):
                    block = at["place"] * across + maker % across
                    is_made = (name == "a" and not self.is_of_a) or self.guard.holds(
                        at | {"rank": maker, "block": block}
                    )
                    if is_made and part.masks[maker] >> rank & 1:
                        first = part.sources[maker] + (block * part.rows if part.is_of_block else 0)
                        for row in range(part.box):
                            tile[part.places[maker] + row].add((first + row, part.columns[maker]))
                if any(len(each) != 1 for each in tile):
                    return False
                rows = [next(iter(each)) for each in tile]
                if any(two != (one[0] + 1, one[1]) for one, two in pairwise(rows)):
                    return False
        return True


def drawn(draw: random.Random) -> Guarded:
    """Any kernel."""
    program = right(draw.choice([(2, 1), (1, 2), (2, 2)]), is_of_block=draw.random() < 0.3)
    kind = draw.choice(["shared", "shared", "own", "all"])
    if kind != "shared":
        # Each block copies all of B, for itself or for all.
        count, rows = program.count, program.b.rows
        masks = tuple(1 << rank if kind == "own" else (1 << count) - 1 for rank in range(count))
        zeros = (0,) * count
        program = replace(program, b=Part(rows, rows, masks, zeros, zeros, zeros))
    names = [name for name in _REGISTERS if draw.random() < 0.45]
    is_persistent = draw.random() < 0.3
    if not is_persistent and "tile" in names:
        names.remove("tile")
    factors = tuple((name, draw.choice([1, 1, 1, 2, 3])) for name in names)
    modulus = draw.choice([0, 0, 2, 2, 3, 4])
    limit: int | str = draw.choice(["m", 0, 1, 1, 2, 3]) if not modulus else draw.randrange(modulus + 1)
    guard = Guard(factors, modulus, draw.choice(["lt", "ge", "eq", "ne"]), limit, draw.choice([0, 0, 1]))
    return Guarded(
        program,
        guard,
        draw.random() < 0.25,
        draw.random() < 0.5,
        is_persistent,
        draw.choice([None, None, 1, 4, 6]),
    )
