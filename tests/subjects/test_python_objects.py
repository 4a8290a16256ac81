"""Accesses, maps and claims made in Python: what the caller changes later, and what is no object of
the right kind.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from swzverify.certificates.make import describe
from swzverify.claims import (
    Aligned,
    Bijective,
    ConflictFree,
    Contiguous,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Outcome,
    Permutation,
    Wavefronts,
)
from swzverify.errors import SwzError
from swzverify.hardware import access_cost, cost_many, find_instruction, find_target, sector_cost, sectors_many
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.subjects import (
    Access,
    AlignedBase,
    IndexMap,
    ListedLoop,
    Listing,
    Loop,
    Memory,
    MemoryBase,
    OffsetMap,
    Tile,
    walked,
)
from swzverify.subjects.listed_loop import geometric, listed
from swzverify.subjects.listing import ListedInstruction, RegisterRead, Work
from swzverify.subjects.memory import Origin
from swzverify.testing import assert_conflict_free, assert_scan_free

LOAD, CHIP = find_instruction("ld.shared.b32"), find_target("sm_90")
A = Tile("A", 32, Layout((8, 32), (32, 1)))


def access(**fields: Any) -> Access:
    given: dict[str, Any] = {"instruction": LOAD, "target": CHIP, "block": (32,), "address": parse("tid*PITCH")}
    given |= {"constants": {"PITCH": 4}}
    return Access("a", **(given | fields))


def test_constants_are_the_subject_s_own() -> None:
    """One dict, changed from call to call, as a loop over candidates does."""
    constants = {"PITCH": 4}
    first = access(constants=constants)
    index = IndexMap("m", (("x", 4),), (parse("x + PITCH"),), constants=constants)
    constants["PITCH"] = 128
    second = access(constants=constants)
    assert (first.constants["PITCH"], index.at({"x": 0})) == (4, (4,))
    assert prove(ConflictFree(first)).outcome is Outcome.PROVED
    assert prove(ConflictFree(second)).outcome is Outcome.REFUTED


def test_numpy_s_integers_are_integers() -> None:
    assert access(constants={"PITCH": np.int32(4)}).constants == {"PITCH": 4}


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ({"loops": (Loop("tid", 0, 4),)}, "SWZ105", "'tid' has a meaning of its own"),
        ({"loops": (Loop("lane", 0, 4),)}, "SWZ105", "'lane' has a meaning of its own"),
        ({"loops": (Loop("stage", 0, 4),)}, "SWZ105", "'stage' has a meaning of its own"),
        ({"loops": (Loop("base", 0, 4),)}, "SWZ105", "'base' has a meaning of its own"),
        ({"loops": (Loop("k", 0, 4), Loop("k", 0, 8))}, "SWZ105", "'k' is another variable already"),
        ({"loops": (Loop("PITCH", 0, 4),)}, "SWZ105", "'PITCH' is a constant already"),
        ({"loops": (Loop("1k", 0, 4),)}, "SWZ105", "'1k' is not a name"),
        ({"constants": {"PITCH": 4.0}}, "SWZ202", "not an int"),
        ({"constants": {"PITCH": True}}, "SWZ202", "not an int"),
        ({"constants": {"PITCH": 4, "warp": 1}}, "SWZ105", "'warp' has a meaning of its own"),
        ({"instruction": "ld.shared.b32"}, "SWZ105", "'ld.shared.b32' (str) is no instruction"),
        ({"target": "sm_90"}, "SWZ105", "'sm_90' (str) is no target"),
        ({"address": "tid*4"}, "SWZ105", "'tid*4' (str) is no expression"),
        ({"predicate": "tid < 4"}, "SWZ105", "'tid < 4' (str) is no expression"),
        ({"address": None, "tile": "A", "coord": (parse("0"), parse("lane"))}, "SWZ105", "'A' (str) is no tile"),
        ({"loops": ("k",)}, "SWZ105", "'k' (str) is no loops"),
        ({"block": ("32",)}, "SWZ105", "'32' (str) is no block"),
        ({"block": ()}, "SWZ105", "a block of ()"),
        ({"block": (2, 2, 2, 2)}, "SWZ105", "a block of (2, 2, 2, 2)"),
        ({"assume": parse("tid < 4")}, "SWZ105", "assume is CFormula"),
        ({"base": 1024}, "SWZ105", "1024 (int) is no base"),
        ({"place": 1024}, "SWZ105", "1024 (int) is no place"),
        ({"place": Origin(0, 4, 4, "lane")}, "SWZ105", "the variable of its place is called 'lane'"),
        ({"loops": (Loop("k", 0, 4),), "room": (1,)}, "SWZ105", "room=(1,) does not fit its loops, of (4,) iterations"),
        ({"loops": (Loop("k", 0, 4),), "room": (8,)}, "SWZ105", "room=(8,) does not fit"),
        ({"loops": (Loop("k", 0, 4),), "room": (4, 4)}, "SWZ105", "room=(4, 4) does not fit"),
        ({"loops": (Loop("k", 0, None),), "room": (4,)}, "SWZ105", "room=(4,) does not fit"),
        ({"loops": (Loop("k", 0, 4),), "room": (True,)}, "SWZ202", "an entry of room is True"),
        ({"instruction": replace(LOAD, group_lanes=1)}, "SWZ401", "is not the instruction ld.shared.b32 of the table"),
        ({"target": replace(CHIP, name="sm_75")}, "SWZ402", "is not the target sm_75 of the table"),
    ],
)
def test_what_an_access_cannot_be_made_of(fields: dict[str, Any], code: str, says: str) -> None:
    with pytest.raises(SwzError) as caught:
        access(**fields)
    assert caught.value.code == code
    assert says in caught.value.message


def test_what_an_access_is_made_of_is_its_own() -> None:
    """A caller who changes what it gave, or what it gets, changes no access."""
    loops, listed = [Loop("k", 0, 4)], [1, 2, 4]
    values = ListedLoop("s", listed)  # type: ignore[arg-type]
    read = access(loops=loops, address=parse("tid*4*(1 + 31*(k > 0))"))
    loops.clear()
    listed.clear()
    assert prove(ConflictFree(read)).outcome is Outcome.REFUTED
    assert values == ListedLoop("s", (1, 2, 4))
    with pytest.raises(TypeError):
        read.constants["PITCH"] = 8  # type: ignore[index]
    again = deepcopy(read)
    assert again.constants == read.constants == {"PITCH": 4}
    assert prove(ConflictFree(again)).outcome is Outcome.REFUTED
    stored = OffsetMap((("i", 8),), parse("i"))
    with pytest.raises(FrozenInstanceError):
        stored.in_bytes = True  # type: ignore[misc]
    terms = [parse("x")]
    index = IndexMap("m", (("x", 4),), terms, (4,))  # type: ignore[arg-type]
    terms.append(parse("x"))
    assert index.at({"x": 3}) == (3,)
    reads = [RegisterRead(4, 2), RegisterRead(8, 3)]
    lines = [ListedInstruction(1, "FADD R0, R4, R8", Work.ARITHMETIC, reads, [0])]  # type: ignore[arg-type]
    listing = Listing("l", "sm_52", lines)  # type: ignore[arg-type]
    lines.clear()
    reads.clear()
    assert listing.most == 1


def test_within_is_never_less_than_the_loops() -> None:
    """A shorter room once proved a loop's first iteration, and said so of all."""
    read = access(loops=(Loop("k", 0, 4),), address=parse("tid*4*(1 + 31*(k > 0))"), bytes=128)
    for room in ({"k": 1}, {}, {"k": 100}):
        assert read.within(room) is read
    assert prove(InBounds(read.within({"k": 1}))).outcome is Outcome.REFUTED
    wide = access(loops=(Loop("k", 0, None),), address=parse("tid*4 + k%4*4"))
    assert wide.within({"k": 1}) is wide
    assert wide.within({"k": 1 << 33}).loop_room == (1 << 33,)
    with pytest.raises(SwzError, match="SWZ202"):
        wide.within({"k": 2.5})  # type: ignore[dict-item]


def test_a_moved_access_names_the_base_that_was_proved() -> None:
    read = access(address=parse("tid*4"), base=AlignedBase(1024), bytes=128)
    verdict = prove(Aligned(read.moved(Origin(16, 4, 8))))
    assert (verdict.outcome, verdict.scope) == (Outcome.PROVED, "the warp, base in 16..44 step 4, ld.shared.b32")
    assert prove(Aligned(read.moved(Origin(2, 1, 1)))).outcome is Outcome.REFUTED
    assert "base 0" in prove(ConflictFree(read.moved(Origin(0, 1, 1)))).scope
    placed = Tile("A", 32, Layout((8, 32), (32, 1)), stages=2)
    to_tile = access(address=None, tile=placed, coord=(parse("0"), parse("lane")), place=Origin(64, 1, 1))
    assert prove(ConflictFree(to_tile)).scope == "the warp, all 2 stages, base 64, ld.shared.b32 on sm_90 (measured)"
    for claim in (lambda it: Equivalent(it, read), lambda it: Equivalent(read, it), lambda it: Covers(it, A)):
        with pytest.raises(SwzError, match="SWZ105") as caught:
            claim(read.moved(Origin(4, 1, 1)))
        assert "was moved to base 4" in caught.value.message
    with pytest.raises(SwzError, match="SWZ607"):
        describe(Aligned(read.moved(Origin(4, 1, 1))))


def test_accesses_of_different_widths_are_named_both() -> None:
    """Equal start addresses are proved; a reader must see that the bytes differ."""
    wide = access(instruction=find_instruction("ld.shared.v4.b32"))
    scope = prove(Equivalent(access(), replace(wide, name="b"))).scope
    assert scope == "the warp, ld.shared.b32, b: ld.shared.v4.b32, base 0"
    assert prove(Equivalent(wide, replace(wide, name="b"))).scope == "the warp, ld.shared.v4.b32, base 0"


@pytest.mark.parametrize("numbers", [(-4, 1, 1), (0, 0, 4), (0, 4, 0), (0, True, 4), (0.0, 4, 4)])
def test_what_is_no_base(numbers: Any) -> None:
    with pytest.raises(SwzError, match=r"SWZ105|SWZ202"):
        Origin(*numbers)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ListedLoop("s", (1.0, 2.0)),  # type: ignore[arg-type]
        lambda: ListedLoop("s", (False, True)),
        lambda: listed("s", [1, 2.5]),  # type: ignore[list-item]
        lambda: geometric("s", True, 8, 2),
        lambda: RegisterRead(True, 2),
        lambda: RegisterRead(4, 2.0),  # type: ignore[arg-type]
        lambda: walked(Loop("k", 0, 4), parse("0"), step=parse("P"), constants={"P": 4.0}),  # type: ignore[dict-item]
    ],
)
def test_what_is_no_int(make: Any) -> None:
    with pytest.raises(SwzError, match="SWZ202"):
        make()


def test_other_values_that_python_would_bend() -> None:
    """A text in place of an enumeration once cost no cycle, and a budget of 0 was none."""
    with pytest.raises(SwzError, match="SWZ105"):
        ListedInstruction(1, "FADD R0, R4, R8", "arithmetic", (RegisterRead(4, 2),), (0,))  # type: ignore[arg-type]
    with pytest.raises(SwzError, match="SWZ105"):
        Options(0)
    for addresses in (np.full((1, 32), 4.5), np.ones((1, 32), dtype=np.bool_)):
        for cost in (lambda a: cost_many("ld.shared.b8", a, a > 0), lambda a: sectors_many("ld.global.b8", a, a > 0)):
            with pytest.raises(SwzError, match="SWZ404"):
                cost(addresses)
    with pytest.raises(SwzError, match="SWZ105"):
        assert_scan_free("", at_most=True)


def test_numpy_s_narrow_integers_do_not_wrap() -> None:
    assert listed("s", [np.uint8(255), np.uint8(254)]) == Loop("s", 254, 256)
    assert geometric("s", np.uint8(1), np.uint8(200), np.uint8(2)).value(7) == 128  # type: ignore[arg-type]
    assert prove(Aligned(access().moved(Origin(np.int8(0), np.int8(64), np.int16(512))))).outcome is Outcome.PROVED  # type: ignore[arg-type]


@pytest.mark.parametrize("address", [True, False, np.True_, 4.0, "4"])
def test_what_is_no_address(address: Any) -> None:
    """A list of truth values is a mask, and no list of addresses."""
    for cost in (lambda a: access_cost("ld.shared.b8", a), lambda a: sector_cost("ld.global.b8", a)):
        with pytest.raises(SwzError, match="SWZ404"):
            cost([address] * 32)


CLAIMS = [
    Aligned,
    Bijective,
    ConflictFree,
    lambda it: Contiguous(it, 4),
    lambda it: Covers(it, A),
    lambda it: Covers(access(), it),
    Disjoint,
    lambda it: Disjoint(A, it),
    lambda it: Equivalent(it, A),
    lambda it: Equivalent(A, it),
    InBounds,
    Injective,
    Permutation,
    lambda it: Wavefronts(it, 4),
]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("what", ["A", 7, None])
def test_a_claim_is_of_objects(claim: Any, what: object) -> None:
    if what is None and claim is CLAIMS[7]:
        return  # a tile apart from itself: its stages
    with pytest.raises(SwzError, match="SWZ105") as caught:
        claim(what)
    assert repr(what) in caught.value.message


def test_only_claims_are_proved() -> None:
    with pytest.raises(SwzError, match="SWZ105"):
        prove("bijective: A")  # type: ignore[arg-type]


def test_memories_of_one_name_are_one_memory() -> None:
    places = [MemoryBase(Memory("smem", 4096, align), offset) for align, offset in ((1024, 0), (128, 1024))]
    first, other = (
        Tile(name, 32, Layout((8, 32), (32, 1)), base=base) for name, base in zip("AB", places, strict=True)
    )
    for claim in (lambda: Equivalent(first, other), lambda: prove(Disjoint(first, other))):
        with pytest.raises(SwzError, match="SWZ105") as caught:
            claim()
        assert "two memories are called smem" in caught.value.message


def test_a_function_of_a_part_of_a_warp_cannot_run_a_matrix_instruction() -> None:
    with pytest.raises(SwzError, match="SWZ406") as caught:
        assert_conflict_free(lambda lane: lane * 16, instruction="ldmatrix.x1", threads=8)
    assert "threads=32" in caught.value.hint


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 2**70, 1), (-(2**31) - 1, 0, 1), (2**32, None, 1), (0, 8, 2**32)]
)
def test_a_loop_over_what_no_integer_of_c_is(start: int, stop: int | None, step: int) -> None:
    with pytest.raises(SwzError, match="SWZ107"):
        Loop("k", start, stop, step)
