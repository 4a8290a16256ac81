"""Operands of the tensor core, element by element (docs/semantics.md, section 9)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from . import c_expr
from .access_forms import read_loop
from .judgement import VACUOUS, Finding, holds
from .oracle_errors import OracleError
from .subjects import Base, Tile, read_base
from .yaml_values import Yaml, as_dict, as_list, as_str

SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
WIDTHS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
TOP = 1 << 18
MN_MAJOR = {"wgmma": {"f16", "bf16"}, "tcgen05.mma": set(SIZES) - {"tf32"}}
TARGETS = {"wgmma": {"sm_90", "sm_90a"}, "tcgen05.mma": {f"sm_{n}{x}" for n in (100, 101, 103, 110) for x in "af"}}
SPAN = 1024


@dataclass(frozen=True, slots=True)
class Run:
    """One iteration: the start in bytes from the base, the tile's coordinate of (0, 0), the stage."""

    start: int
    at: tuple[int, int]
    stage: int


@dataclass(frozen=True, slots=True)
class Operand:
    name: str
    rows: int
    columns: int
    size: int
    mn_major: bool
    width: int
    lbo: int
    sbo: int
    base_offset: int
    base: Base
    tile: Tile
    k_first: bool
    runs: tuple[Run, ...]
    is_b: bool = False

    @property
    def k_extent(self) -> int:
        return self.tile.layout.extents[0 if self.k_first else 1]

    def meant(self, run: Run, r: int, k: int) -> tuple[int, int]:
        """The tile's row and k that element (r, k) should be."""
        return (run.at[1] + r, run.at[0] + k) if self.k_first else (run.at[0] + r, run.at[1] + k)

    def index(self, row: int, k: int) -> int:
        """The place in the tile's `bits` of the element at a row and a k."""
        first, second = (k, row) if self.k_first else (row, k)
        return first + self.tile.layout.extents[0] * second

    def linear(self, r: int, k: int) -> int:
        e, s, lbo, sbo = self.size, self.width, self.lbo, self.sbo
        if not self.mn_major and s == 0:
            return (r % 8) * 16 + (r // 8) * sbo + (k * e // 16) * lbo + (k * e) % 16
        if not self.mn_major:
            return (r % 8) * s + (r // 8) * sbo + k * e
        if s == 0:
            return (r * e) % 16 + (r * e // 16) * sbo + (k % 8) * 16 + (k // 8) * lbo
        return (r * e) % s + (r * e // s) * lbo + (k % 8) * s + (k // 8) * sbo

    def read_at(self, start: int, r: int, k: int) -> int:
        a = start + self.linear(r, k)
        mask = {0: 0, 32: 1, 64: 3, 128: 7}[self.width]
        return a ^ ((((a >> 7) - self.base_offset) & mask) << 4)

    @property
    def elements(self) -> list[tuple[int, int]]:
        return list(product(range(self.rows), range(self.columns)))

    def wanted(self, run: Run, base: int) -> dict[tuple[int, int], int]:
        """The bit address of each element in the tile; the first mode of `bits` runs fastest."""
        bits = self.tile.bits(self.tile.start(base, run.stage))
        fast = self.tile.layout.extents[0]
        found: dict[tuple[int, int], int] = {}
        for r, k in self.elements:
            first, second = (k, r) if self.k_first else (r, k)
            found[r, k] = bits[run.at[0] + first + fast * (run.at[1] + second)]
        return found

    def bases(self) -> list[tuple[int, int]]:
        """The bases of the start and of the tile that stand for all that count."""
        own, tile = self.base, self.tile.base
        period = max(SPAN, self.tile.span_bytes)
        if own.align is None and tile.align is None:
            free = [0]
        elif own.memory is not None and own.memory == tile.memory:
            free = own.free_values(period)
        elif own.memory is None and tile.memory is None and own.align is not None and tile.align is not None:
            free = Base(max(own.align, tile.align), 0, 1).free_values(period)
        else:
            raise OracleError(f"the bases of operand {self.name} are not related", "SWZ105")
        if not self.runs:
            return [(one + own.offset, one + tile.offset) for one in free]
        reach = max(self.linear(r, k) for r, k in self.elements) + self.size
        end = own.offset + max(run.start for run in self.runs) + reach
        end = max(end, tile.offset + (self.tile.stages - 1) * self.tile.pitch_bytes + self.tile.allocation_bytes)
        if end > TOP:
            raise OracleError(f"operand {self.name} ends beyond 2^18", "SWZ410")
        return [(one + own.offset, one + tile.offset) for one in free if one + end <= TOP]


def aligned(operand: Operand) -> Finding:
    bases = operand.bases()
    if not operand.runs:
        return VACUOUS
    return holds(all((own + run.start) % 16 == 0 for own, _ in bases for run in operand.runs))


def delivers(operand: Operand) -> Finding:
    bases = operand.bases()
    if not operand.runs:
        return VACUOUS
    for (own, tile), run in product(bases, operand.runs):
        start, wanted = own + run.start, operand.wanted(run, tile)
        if start % 16 or any(8 * operand.read_at(start, r, k) != wanted[r, k] for r, k in operand.elements):
            return holds(False)
    return holds(True)


def delivers_in_one_order(first: Operand, second: Operand) -> Finding:
    """`delivers: [O, P]`: whether one permutation of K serves both."""
    if first.is_b == second.is_b:
        raise OracleError(f"{first.name} and {second.name} have one role", "SWZ105")
    bases = [operand.bases() for operand in (first, second)]
    if not first.runs or not second.runs:
        return VACUOUS
    sets = [frozenset(each) for operand in (first, second) for each in _read_along_k(operand).values()]
    if len(set(sets)) > 1:
        raise OracleError("rows are read at different k", "SWZ105")
    every = sets[0]
    if not _tells_k_apart(first, bases[0][0][1]):
        raise OracleError(f"tile {first.tile.name} has two elements of a row at one address", "SWZ105")
    order: dict[int, int] = {}
    for operand, its in zip((first, second), bases, strict=True):
        for (own, tile), run in product(its, operand.runs):
            if (own + run.start) % 16:
                return holds(False)
            bits = operand.tile.bits(operand.tile.start(tile, run.stage))
            for r, k in operand.elements:
                row, at = operand.meant(run, r, k)
                found = 8 * operand.read_at(own + run.start, r, k)
                if at not in order:
                    there = [each for each in range(operand.k_extent) if bits[operand.index(row, each)] == found]
                    if not there:
                        return holds(False)
                    order[at] = there[0]
                if not (order[at] < operand.k_extent and bits[operand.index(row, order[at])] == found):
                    return holds(False)
    return holds(frozenset(order.values()) == every and len(order) == len(every))


def _read_along_k(operand: Operand) -> dict[tuple[int, int], set[int]]:
    """The k at which each row is read, by stage and row."""
    found: dict[tuple[int, int], set[int]] = {}
    for run in operand.runs:
        for r, k in operand.elements:
            row, at = operand.meant(run, r, k)
            found.setdefault((run.stage, row), set()).add(at)
    return found


def _tells_k_apart(operand: Operand, base: int) -> bool:
    for stage, row in _read_along_k(operand):
        bits = operand.tile.bits(operand.tile.start(base, stage))
        along = [bits[operand.index(row, each)] for each in range(operand.k_extent)]
        if len(set(along)) < len(along):
            return False
    return True


def stages_disjoint(operand: Operand) -> Finding:
    """`disjoint: O`: the bytes that it reads in one stage and in another."""
    bases = operand.bases()
    if len({run.stage for run in operand.runs}) < 2:
        return VACUOUS
    for own, _ in bases:
        seen: dict[int, int] = {}
        for run in operand.runs:
            if (own + run.start) % 16:
                return holds(False)
            for byte in _bytes_of(operand, own, [run]):
                if seen.setdefault(byte, run.stage) != run.stage:
                    return holds(False)
    return holds(True)


def disjoint(first: Operand, second: Operand) -> Finding:
    """`disjoint: [O, P]`: the bytes that either one reads, in any iteration."""
    bases = [{own for own, _ in operand.bases()} for operand in (first, second)]
    related = first.base.memory is not None and first.base.memory == second.base.memory
    if not related and not (first.base.align is None and second.base.align is None):
        raise OracleError(f"the bases of {first.name} and {second.name} are not related", "SWZ105")
    if not first.runs or not second.runs:
        return VACUOUS
    shift = second.base.offset - first.base.offset
    for p in bases[0]:
        if p + shift not in bases[1]:
            continue
        if any((base + run.start) % 16 for base, o in ((p, first), (p + shift, second)) for run in o.runs):
            return holds(False)
        if not _bytes_of(first, p, first.runs).isdisjoint(_bytes_of(second, p + shift, second.runs)):
            return holds(False)
    return holds(True)


def _bytes_of(operand: Operand, base: int, runs: Sequence[Run]) -> set[int]:
    firsts = {operand.read_at(base + run.start, r, k) for run in runs for r, k in operand.elements}
    return {first + byte for first in firsts for byte in range(operand.size)}


def in_bounds(operand: Operand) -> Finding:
    bases = operand.bases()
    if not operand.runs:
        return VACUOUS
    for (own, tile), run in product(bases, operand.runs):
        low = operand.tile.start(tile, run.stage)
        room = range(low, low + operand.tile.allocation_bytes - operand.size + 1)
        start = own + run.start
        if start % 16 or any(operand.read_at(start, r, k) not in room for r, k in operand.elements):
            return holds(False)
    return holds(True)


def read_operand(
    name: str,
    value: Yaml,
    tiles: Mapping[str, Tile],
    memories: Mapping[str, Base],
    constants: Mapping[str, int],
    target: str,
) -> Operand:
    """An operand with every default filled in."""
    spec = as_dict(value)
    family, m, n, k, kind = _instruction(as_str(spec["instruction"]))
    if target not in TARGETS[family]:
        raise OracleError(f"{target} has no {family}", "SWZ403")
    mn_major = spec.get("major", "K") == "MN"
    if mn_major and kind not in MN_MAJOR[family]:
        raise OracleError(f"no rule for MN-major {kind}", "SWZ411")
    fields, reads = as_dict(spec["descriptor"]), as_dict(spec["reads"])
    lbo, sbo, base_offset = (c_expr.constant(fields.get(key, 0), constants) for key in ("lbo", "sbo", "base_offset"))
    if any(each % 16 or not 0 <= each < TOP for each in (lbo, sbo)):
        raise OracleError(f"a field of {name} does not hold its number", "SWZ410")
    if base_offset and family != "wgmma":
        raise OracleError(f"no rule for base offsets of {family}", "SWZ411")
    tile = tiles[as_str(reads["tile"])]
    base = read_base(fields["base"], memories, constants) if "base" in fields else tile.base
    if tile.element_bits != 8 * SIZES[kind]:
        raise OracleError(f"elements of {name} and its tile have other sizes", "SWZ105")
    if len(tile.layout.extents) != 2:
        raise OracleError(f"tile of {name} has not two modes", "SWZ105")
    if tile.stages > 1 and "stage" not in reads:
        raise OracleError(f"{name} does not say its stage", "SWZ104")
    rows, k_first = m if spec["role"] == "A" else n, as_list(reads.get("modes", ["MN", "K"])) == ["K", "MN"]
    loops = {key: read_loop(each, constants) for key, each in as_dict(spec.get("for")).items()}
    texts = (fields["start"], *as_list(reads["at"]), reads.get("stage", 0))
    start, first, second, stage = (c_expr.parse(each) for each in texts)
    points = [dict(zip(loops, each, strict=True)) for each in product(*(loop.values for loop in loops.values()))]
    columns = {key: [point[key] for point in points] for key in loops}
    columns |= {key: [number] * len(points) for key, number in constants.items()}
    values = [c_expr.evaluate(tree, columns, len(points)) for tree in (start, first, second, stage)]
    runs = tuple(Run(a, (x, y), s) for a, x, y, s in zip(*values, strict=True))
    spans = (k, rows) if k_first else (rows, k)
    for run in runs:
        outside = any(
            at < 0 or at + span > extent for at, span, extent in zip(run.at, spans, tile.layout.extents, strict=True)
        )
        if run.start < 0 or outside or not 0 <= run.stage < tile.stages:
            raise OracleError(f"operand {name} reads what the tile does not have", "SWZ306")
        if run.start >= TOP:
            raise OracleError(f"operand {name} starts beyond 2^18", "SWZ410")
    width = WIDTHS[as_str(fields["swizzle"])]
    is_b = spec["role"] == "B"
    return Operand(name, rows, k, SIZES[kind], mn_major, width, lbo, sbo, base_offset, base, tile, k_first, runs, is_b)


def _instruction(name: str) -> tuple[str, int, int, int, str]:
    found = re.fullmatch(r"(wgmma|tcgen05\.mma)\.m(\d+)n(\d+)k(\d+)\.(\w+)", name)
    if found is None:
        raise OracleError(f"no instruction {name}", "SWZ401")
    m, n, k = (int(number) for number in found.groups()[1:4])
    return found[1], m, n, k, found[5]
