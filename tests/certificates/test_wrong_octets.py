"""Deliberately wrong rules of the 16-byte cp.async: each changes the answer for one small warp,
which kills it.

A mutation replaces one piece of a function's text by another. `hides` says that the changed answer
is a wrong `proved`: fewer wavefronts, or no conflict, where the text has more, or one. Two changes
that make no difference are shown to make none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from swzrecheck import encode_octets, repetition, warp_rule
from swzrecheck.witness_residues import find_residues
from swzverify.ir.expr import var
from tests.certificates import patterns as pt
from tests.certificates.export import state
from tests.engines import obligations as ob
from tests.engines.obligations import leaf

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Wrong:
    """A piece of a function's text, what it becomes, and a warp (lane: destination in units of 16
    bytes).
    """

    function: str
    piece: str
    becomes: str
    lanes: dict[int, int]
    off: int = 0
    hides: bool = False

    def plant(self, patch: Patch, module: ModuleType) -> None:
        source = inspect.getsource(getattr(module, self.function))
        assert source.count(self.piece) == 1
        names: dict[str, Any] = dict(vars(module))
        exec(source.replace(self.piece, self.becomes), names)  # noqa: S102 - the package's own text, changed above
        patch.setattr(module, self.function, names[self.function])


ACROSS = {0: 0, 8: 0, 9: 1, 10: 2, 11: 3}
"""Lane 8 repeats lane 0, so that lane 9 has no partner: it is of another class than lanes 10
and 11.
"""
COPIES = "out.all([active[lane], out.negate(out.any(lower))])"
BOTH = 'out.all([copies[lane ^ 1], out.op("=", even, odd)])'

ENCODINGS = {
    "no dedupe": Wrong("_copying", COPIES, "active[lane]", ACROSS, hides=True),
    "dedupe within the octet only": Wrong(
        "_copying", "range(lane)]", "range(lane - lane % 8, lane)]", ACROSS, hides=True
    ),
    "the highest of equal lanes copies": Wrong(
        "_copying", "range(lane)]", "range(lane + 1, 32)]", {0: 0, 1: 2, 2: 2}, hides=True
    ),
    "lanes that are off count as lower ones": Wrong(
        "_copying",
        'out.all([active[other], out.op("=", chunks[other], chunk)])',
        'out.op("=", chunks[other], chunk)',
        {2: 0, 3: 2},
        off=2,
        hides=True,
    ),
    "lanes that are off copy": Wrong("_copying", COPIES, "out.negate(out.any(lower))", {1: 0}, off=1),
    "kind left out": Wrong("_one_class", "_one_kind(out, a, b), ", "", {0: 5, 3: 2}, hides=True),
    "one kind for both halves": Wrong("_one_kind", "a.half == b.half", "True", {0: 5, 3: 2}, hides=True),
    "both, and a lane without a partner, are one kind": Wrong(
        "_one_kind", "out.all([a.both, b.both])", "out.any([a.both, b.both])", {0: 0, 1: 1, 2: 2}, hides=True
    ),
    "both with a neighbour that does not copy": Wrong("_both", BOTH, 'out.op("=", even, odd)', ACROSS, hides=True),
    "both with a neighbour that is off": Wrong(
        "_both", BOTH, 'out.op("=", even, odd)', {1: 5, 2: 6, 3: 7}, off=4, hides=True
    ),
    "both whatever the sector": Wrong("_both", BOTH, "copies[lane ^ 1]", {0: 5, 1: 0}, hides=True),
    "both in one line": Wrong(
        "_sector", "chunk, 1, out.width(chunk) - 1", "chunk, 3, out.width(chunk) - 3", {0: 5, 1: 0}, hides=True
    ),
    "never both": Wrong("_both", BOTH, "out.const(0, 1)", {0: 0, 1: 1}),
    "both with H of the odd lane for one of the two": Wrong(
        "_octets", "_moved(out, chunks[lane], lane)", "_moved(out, chunks[lane | 1], lane)", {0: 0, 1: 1}
    ),
    "h ^ H left out": Wrong("_one_class", "(0, 1), ", "", {0: 5, 2: 2}, hides=True),
    "parity of p ^ P left out": Wrong("_one_class", "(1, 1), ", "", {0: 5, 2: 1}, hides=True),
    "(p ^ P) / 2 in the place of its parity": Wrong("_one_class", "(1, 1)", "(2, 1)", {0: 5, 4: 3}, hides=True),
    "(p ^ P) / 2 for the class, not for each parity of p": Wrong("_one_class", "(1, 1)", "(1, 2)", {0: 5, 2: 3}),
    "line left out": Wrong("_one_class", ", (3, line)", "", {0: 0, 2: 10}, hides=True),
    "lines modulo 2": Wrong("_one_class", "(3, line)", "(3, 1)", {0: 0, 2: 18}, hides=True),
    "the lane's number left out": Wrong("_moved", "lane % OCTET_LANES", "0", {0: 5, 2: 1}, hides=True),
    "p left out": Wrong("_moved", "lane % OCTET_LANES", "lane % 2", {0: 5, 2: 1}, hides=True),
    "h left out": Wrong("_moved", "lane % OCTET_LANES", "lane % 8 // 2 * 2", {0: 0, 1: 1}),
    "addition for XOR": Wrong("_moved", "bvxor", "bvadd", {0: 8, 2: 6}, hides=True),
    "sectors of 64 bytes": Wrong(
        "_chunk", "low = CHUNK_BYTES.bit_length() - 1", "low = CHUNK_BYTES.bit_length()", {0: 5, 1: 6}, hides=True
    ),
    "every lane a class": Wrong(
        "octet_classes", "out.all([lane.copies, out.negate(out.any(lower))])", "lane.copies", {0: 0, 1: 1}
    ),
    "a class of lanes that do not copy": Wrong(
        "octet_classes",
        "[out.all([other.copies, _one_class(out, other, lane)]) for",
        "[_one_class(out, other, lane) for",
        {4: 4},
        hides=True,
    ),
    "the last octet forgotten": Wrong(
        "_octets",
        "range(0, len(lanes), OCTET_LANES)",
        "range(0, len(lanes) - OCTET_LANES, OCTET_LANES)",
        {24: 0, 26: 1},
        hides=True,
    ),
    "a conflict with a lane that does not copy": Wrong("octet_conflict", "a.copies, b.copies, ", "a.copies, ", {0: 0}),
    "conflicts of neighbours only": Wrong(
        "octet_conflict", "combinations(octet, 2)", "zip(octet[::2], octet[1::2])", {0: 5, 2: 0}, hides=True
    ),
}

RULES = {
    "no dedupe": Wrong("_copying", "None if address in lanes[:lane] else address", "address", ACROSS, hides=True),
    "dedupe within the octet only": Wrong(
        "_copying", "lanes[:lane]", "lanes[lane - lane % 8 : lane]", ACROSS, hides=True
    ),
    "the highest of equal lanes copies": Wrong(
        "_copying", "lanes[:lane]", "lanes[lane + 1 :]", {0: 0, 1: 2, 2: 2}, hides=True
    ),
    "minimum counts octets without a copying lane": Wrong(
        "warp_cost",
        "if group:",
        "if any(one is not None for one in addresses[start:end]):",
        {0: 0, 2: 1, 8: 0},
        hides=True,
    ),
    "minimum counts all octets": Wrong("warp_cost", "if group:", "if True:", {0: 5, 2: 1}, hides=True),
    "kind left out": Wrong("_octet", "2 if both else half", "0", {0: 5, 3: 2}, hides=True),
    "both is the kind of its even half": Wrong("_octet", "2 if both else half", "half", {0: 0, 1: 1, 2: 2}, hides=True),
    "both in one line": Wrong(
        "_octet",
        "other // SECTOR_BYTES == address // SECTOR_BYTES",
        "other // LINE_BYTES == address // LINE_BYTES",
        {0: 5, 1: 0},
        hides=True,
    ),
    "both whatever the sector": Wrong(
        "_octet", "other // SECTOR_BYTES == address // SECTOR_BYTES", "True", {0: 5, 1: 0}, hides=True
    ),
    "h ^ H left out": Wrong("_octet", "half ^ address // CHUNK_BYTES % 2", "0", {0: 5, 2: 2}, hides=True),
    "both without H": Wrong(
        "_octet",
        "half ^ address // CHUNK_BYTES % 2",
        "0 if both else half ^ address // CHUNK_BYTES % 2",
        {4: 4, 5: 5, 6: 3, 7: 2},
        hides=True,
    ),
    "line left out": Wrong("_octet", "(address // LINE_BYTES, ", "(0, ", {0: 0, 2: 10}, hides=True),
    "parity of p ^ P left out": Wrong("_octet", "moved % 2)", "0)", {0: 5, 2: 1}, hides=True),
    "p left out": Wrong(
        "_octet", "sector ^ address // SECTOR_BYTES % 4", "address // SECTOR_BYTES % 4", {0: 5, 2: 1}, hides=True
    ),
    "(p ^ P) / 2 for the class, not for each parity of p": Wrong("_octet", "[sector % 2]", "[0]", {0: 5, 2: 3}),
    "(p ^ P) / 2 for each half": Wrong("_octet", "[sector % 2]", "[half]", {0: 5, 2: 3}),
    "(p ^ P) / 2 for each p / 2": Wrong("_octet", "[sector % 2]", "[sector // 2]", {0: 5, 2: 3}),
    "the sum of both parities": Wrong("_octet", "max(len(even), len(odd))", "len(even) + len(odd)", {0: 5, 2: 3}),
}


@pytest.mark.parametrize("name", list(ENCODINGS))
def test_every_wrong_encoding_is_killed(name: str, monkeypatch: Patch) -> None:
    wrong = ENCODINGS[name]
    warp = pt.warp_of(wrong.lanes)
    wavefronts, minimum = pt.reading(warp)
    right = wavefronts, wavefronts > minimum
    assert pt.folded(warp, wrong.off) == right
    wrong.plant(monkeypatch, encode_octets)
    changed = pt.folded(warp, wrong.off)
    assert changed != right
    assert wrong.hides is (changed[0] < right[0] or changed[1] < right[1])


@pytest.mark.parametrize("name", list(RULES))
def test_every_wrong_rule_is_killed(name: str, monkeypatch: Patch) -> None:
    wrong = RULES[name]
    warp = pt.warp_of(wrong.lanes)
    right = pt.reading(warp)
    assert pt.plain(warp) == right
    wrong.plant(monkeypatch, warp_rule)
    changed = pt.plain(warp)
    assert changed != right
    assert wrong.hides is (changed[0] < right[0] or (changed[0] <= changed[1] and right[0] > right[1]))


def flipped_halves(patch: Patch) -> None:
    """H of a unit of kind both taken from its odd lane: all of that kind are flipped, so their
    classes stay.
    """
    piece = "half ^ address // CHUNK_BYTES % 2"
    Wrong("_octet", piece, "half ^ (other if both else address) // CHUNK_BYTES % 2", {}).plant(patch, warp_rule)


def classes_of_cost_1(patch: Patch) -> None:
    """No class of a warp costs 2: what the symbolic rule leans on."""
    Wrong("_octet", "max(len(even), len(odd))", "1", {}).plant(patch, warp_rule)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("change", [flipped_halves, classes_of_cost_1])
def test_changes_that_make_no_difference(change: Callable[[Patch], None], step: int, monkeypatch: Patch) -> None:
    warps = [*pt.two_of_an_octet(), *pt.three_of_an_octet(), *pt.lines_in_any_order(), *pt.random_warps(3000, seed=6)]
    warps = warps[::step]
    before = [pt.plain(warp) for warp in warps]
    change(monkeypatch)
    assert [pt.plain(warp) for warp in warps] == before


def test_a_period_of_banks_instead_of_lines_is_killed(monkeypatch: Patch) -> None:
    """Addresses that move on by a sector: at k = 0 there is no conflict, later there is."""
    k = var("k", 4)
    address = ob.plus(ob.times(leaf(var("lane", 32)), 16), ob.times(leaf(k), 32))
    statement = state(ob.cost(var("lane", 32), (k,), "cp.async.16", address))
    assert find_residues(statement, {"k": 1}) is None
    monkeypatch.setattr(repetition, "LINE_BYTES", 32)
    assert find_residues(statement, {"k": 1}) is not None
