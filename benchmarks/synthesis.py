"""The best layout: every swizzle priced, against Z3's exists-forall on the same problem."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import z3

from benchmarks.measure import Effort, Row, interleaved, require, speedup, time_text, times
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout, Swizzle
from swzverify.search.synth.pricing import Fields, Path
from swzverify.search.synth.problem import Form, Problem, Variant
from swzverify.search.synth.search import price_family
from swzverify.search.synth.solution import find
from swzverify.subjects import Access, Loop, Tile

MANY = 1 << 16
"""Candidates of the row that prices more of them than any tile has."""
TARGET_S, XOR_TARGET_S, Z3_TARGET = 0.010, 2.0, 5.0
_EXTENT = 256
"""Rows and columns of a tile of 2^16 elements."""


def rows(effort: Effort) -> list[Row]:
    """All legal swizzles of 2^16 elements for three accesses, and the XOR map of five."""
    side = _EXTENT if effort.repeats > 1 else 32
    asked = problem("swizzle", side, THREE)
    elements = f"2^{2 * side.bit_length() - 2} elements, three accesses"
    found = price_family(asked)
    require(not found.member(found.best()).score.conflicted, "some swizzle is free of conflicts")
    table = [
        _within(f"every Swizzle<B,M,S> ({found.count}) of {elements}", lambda: price_family(asked), effort, TARGET_S),
        _within(f"{MANY} prices of three accesses", _many(asked), effort, TARGET_S),
        *_against_z3(asked, elements, effort),
    ]
    five = problem("xor", 64, FIVE)
    require(find(five).optimal, "the fewest terms are found")
    table.append(_within("the XOR map with the fewest terms, five accesses", lambda: find(five), effort, XOR_TARGET_S))
    return table


def _against_z3(asked: Problem, elements: str, effort: Effort) -> list[Row]:
    """The same question to Z3, as it is stated and with one warp written out."""
    written_out = by_z3(asked, quantified=False)
    found = written_out()
    free = price_family(asked)
    members = [free.member(row).swizzle for row in free.members if free.serves[row].all()]
    require(found in members, "Z3's swizzle is one of those that the search frees")
    what = f"the best swizzle of {elements}: search, Z3"
    table = [
        speedup(
            f"{what} with one warp written out", lambda: price_family(asked), written_out, effort.repeats, Z3_TARGET
        )
    ]
    if effort.repeats > 1:
        started = perf_counter()
        answer = by_z3(asked, quantified=True)()
        theirs = perf_counter() - started
        (samples,) = interleaved([lambda: price_family(asked)], effort.repeats)
        ours = median(samples)
        took = "" if answer is not None else "more than "
        shown = f"{took}{times(theirs / ours)}"
        texts = time_text(ours), f"{took}{time_text(theirs)}"
        goal = f">= {Z3_TARGET:,.0f}x"
        table.append(Row(f"{what}'s exists-forall", *texts, theirs / ours, shown, Z3_TARGET, goal_shown=goal))
    return table


THREE = (
    ("st.shared.b32", "tid/32 + i*4", "lane"),
    ("ld.shared.b32", "lane", "tid/32 + i*4"),
    ("ld.shared.b32", "lane%8*4 + tid/32", "lane/8 + i*4"),
)
"""A tile of floats is written by rows, read by columns, and read by blocks of 8 rows, 4 apart, and 4 columns."""
FIVE = (
    ("st.shared.b32", "i*2 + tid/64", "tid%64"),
    ("ld.shared.b32", "tid%64", "i*2 + tid/64"),
    ("ld.shared.b32", "tid%8", "tid/8"),
    ("ld.shared.b32", "tid%4*8", "tid/4"),
    ("ld.shared.b32", "tid/2%16", "tid%2 + tid/32*2"),
)
"""Rows, columns, and blocks of several forms."""


def problem(family: str, side: int, accesses: tuple[tuple[str, str, str], ...]) -> Problem:
    """A tile of side x side floats, rows behind each other, and accesses of four warps that go over
    it.
    """
    tile = Tile("T", 32, Layout((side, side), (side, 1)))
    listed = {
        f"access{number}": Access(
            f"access{number}",
            find_instruction(instruction),
            find_target("sm_90"),
            (128,),
            (Loop("i", 0, side // 8),),
            tile=tile,
            coord=(parse(row), parse(column)),
        )
        for number, (instruction, row, column) in enumerate(accesses)
    }
    for access in listed.values():
        _ = access.lowered  # reading a spec builds it
    return Problem(family, (Variant(tile, listed, Form(), 1 << 20),))


def _within(what: str, ours: Callable[[], object], effort: Effort, target_s: float) -> Row:
    (samples,) = interleaved([ours], effort.repeats)
    seconds = median(samples)
    return Row(
        what, time_text(seconds), "", seconds, "", target_s, at_most=True, goal_shown=f"<= {time_text(target_s)}"
    )


def _many(asked: Problem) -> Callable[[], object]:
    """So many swizzles, those of the tile again and again, priced for each access."""
    tile = asked.variants[0].bare()
    fields = price_family(asked).frames[0].fields
    again = -(-MANY // len(fields))
    many = Fields(*(np.tile(each, again)[:MANY] for each in (fields.bits, fields.base, fields.shift)))
    paths = [Path(access) for access in asked.accesses]
    return lambda: [path.price(tile, many, "offset") for path in paths]


def by_z3(asked: Problem, *, quantified: bool) -> Callable[[], Swizzle | None]:
    """Z3's way: some B, M and S such that any two lanes that touch different words of a warp touch
    different banks. It stops at the first one that is free, and says nothing of ties.

    `quantified` is over every lane, warp and iteration, as the problem is stated. Without it the
    lanes of one warp stand for all, which is our knowledge and not Z3's: each is a number. None where
    `PATIENCE_S` is not enough.
    """
    side = asked.variants[0].tile.extents[0]
    bits = 2 * side.bit_length() - 2

    def solved() -> Swizzle | None:
        count, base, shift = (z3.BitVec(name, WIDTH) for name in "BMS")
        mask = ((z3.BitVecVal(1, WIDTH) << count) - 1) << (base + shift)

        def bank(value: z3.BitVecRef) -> z3.BitVecRef:
            return (value ^ z3.LShR(value & mask, shift)) & 31

        solver = z3.Solver()
        solver.set("timeout", 1000 * PATIENCE_S)
        solver.add(z3.ULE(1, count), z3.ULE(count, shift), z3.ULE(base + count + shift, bits))
        solver.add(*(z3.ULE(each, bits) for each in (count, base, shift)))
        if quantified:
            tid, other, i = (z3.BitVec(name, WIDTH) for name in ("tid", "other", "i"))
            inside = z3.And(z3.ULT(tid, 128), z3.ULT(other, 32), z3.ULT(i, side // 8))
            mate = (tid & ~z3.BitVecVal(31, WIDTH)) | other
            free: list[z3.BoolRef] = []
            for text in THREE:
                one, two = _offset(text, side, tid, i), _offset(text, side, mate, i)
                free.append(z3.Implies(one != two, bank(one) != bank(two)))
            solver.add(z3.ForAll([tid, other, i], z3.Implies(inside, z3.And(free))))
        else:
            zero = z3.BitVecVal(0, WIDTH)
            for text in THREE:
                words = [z3.simplify(_offset(text, side, z3.BitVecVal(lane, WIDTH), zero)) for lane in range(32)]
                solver.add(z3.Distinct([bank(word) for word in words]))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return Swizzle(*(model.eval(each, model_completion=True).as_long() for each in (count, base, shift)))

    return solved


def _offset(text: tuple[str, str, str], side: int, tid: z3.BitVecRef, i: z3.BitVecRef) -> z3.BitVecRef:
    names = {"tid": _Unsigned(tid), "lane": _Unsigned(tid & 31), "i": _Unsigned(i)}
    row, column = (_symbolic(each, names) for each in text[1:])
    return (row * side + column).node


WIDTH = 20
"""Bits of Z3's numbers: enough for every offset."""
PATIENCE_S = 20
"""What Z3 may take for an answer."""


def _symbolic(text: str, names: dict[str, _Unsigned]) -> _Unsigned:
    """A C expression over Z3's numbers, whose / and % are by powers of two."""
    return eval(text.replace("/", "//"), {"__builtins__": {}}, names)  # noqa: S307 - our own texts


class _Unsigned:
    """Arithmetic of numbers that are not negative: z3py's own / and % are signed."""

    def __init__(self, node: z3.BitVecRef) -> None:
        self.node = node

    def __floordiv__(self, number: int) -> _Unsigned:
        return _Unsigned(z3.UDiv(self.node, z3.BitVecVal(number, WIDTH)))

    def __mod__(self, number: int) -> _Unsigned:
        return _Unsigned(z3.URem(self.node, z3.BitVecVal(number, WIDTH)))

    def __mul__(self, number: int) -> _Unsigned:
        return _Unsigned(self.node * number)

    def __add__(self, other: _Unsigned) -> _Unsigned:
        return _Unsigned(self.node + other.node)
