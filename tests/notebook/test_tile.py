"""Tiles that state their accesses, and accesses that say what they cost."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle

import numpy as np
import pytest

import swzverify
from swzverify import Access, Layout, Spec, Swizzle, Tile, cost, prove, subjects
from swzverify.claims import Bijective, ConflictFree, Equivalent
from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, Kind, find_instruction, find_target
from swzverify.ir.c_parse import parse

FRAGMENT = {"coord": ["warp*16 + lane%16", "k + lane/16*8"], "threads": 128, "loops": {"k": range(0, 64, 16)}}
SPEC = """
swzverify: 1
tiles:
  A: {element: f16, layout: "(64,64):(64,1)", swizzle: "Swizzle<3,3,3>", stages: 2}
accesses:
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: 64, step: 16}}
    coord: [warp*16 + lane%16, k + lane/16*8]
"""


def tile(swizzle: Swizzle | None = None, **others: object) -> Tile:
    return Tile("A", 16, Layout("(64,64):(64,1)"), swizzle, **others)


def test_an_access_that_is_stated_in_python_is_that_of_the_spec() -> None:
    case = Spec.from_text(SPEC).cases[0]
    there = case.accesses["read_A"]
    here = tile(Swizzle(3, 3, 3), stages=2).read("ldmatrix.x4", **FRAGMENT)
    assert case.tiles["A"] == here.tile
    for point in ({"warp": w, "k": k, "stage": s, "base": 3} for w in range(4) for k in range(4) for s in range(2)):
        assert here.lanes_at(point) == there.lanes_at(point)
    assert prove(Equivalent(here, there)).outcome == "proved"
    assert here.cost() == there.cost() == cost(there)


@pytest.mark.parametrize(("swizzle", "wavefronts"), [(None, 32), (Swizzle(3, 3, 3), 4)])
def test_the_cost_is_what_the_prover_finds(swizzle: Swizzle | None, wavefronts: int) -> None:
    read = tile(swizzle).read("ldmatrix.x4", **FRAGMENT)
    verdict = prove(ConflictFree(read))
    assert verdict.measure is not None
    assert read.cost().wavefronts == verdict.measure.wavefronts == wavefronts
    assert (read.cost().bank_conflicts == 0) == (verdict.outcome == "proved")


def test_what_specs_give_is_what_the_package_calls_so() -> None:
    case = Spec.from_text(SPEC).cases[0]
    assert isinstance(case.tiles["A"], Tile)
    assert isinstance(case.accesses["read_A"], Access)
    assert issubclass(Tile, subjects.Tile)
    assert issubclass(Access, subjects.Access)


def test_a_tile_is_equal_to_the_same_one_of_the_subjects() -> None:
    other = subjects.Tile("A", 16, Layout("(64,64):(64,1)"))
    assert tile() == other == tile()
    assert hash(tile()) == hash(other)
    assert tile() != tile(Swizzle(3, 3, 3))
    assert tile() != "A"
    assert prove(Equivalent(tile(), other)).outcome == "proved"


def test_a_change_keeps_the_class_and_so_does_pickle() -> None:
    more = dataclasses.replace(tile(), stages=2)
    assert type(more) is Tile
    assert pickle.loads(pickle.dumps(tile())) == tile()  # noqa: S301 - our own bytes
    read = tile().read("ldmatrix.x4", **FRAGMENT)
    assert type(read.moved(read.origin)) is Access
    assert type(read.within({"k": 8})) is Access


def test_every_instruction_is_a_read_or_a_write_and_an_atomic_is_both() -> None:
    words = Tile("A", 8, Layout("(32,64):(64,1)"))
    for row in INSTRUCTIONS.values():
        refused: dict[str, SwzError] = {}
        for way in (words.read, words.write):
            with contextlib.suppress(SwzError):
                way(row, coord=["lane", 0], threads=32)
                continue
            with pytest.raises(SwzError) as caught:
                way(row, coord=["lane", 0], threads=32)
            refused[way.__name__] = caught.value
        assert all(each.code == "SWZ105" and row.name in each.message for each in refused.values())
        assert all(each.hint.startswith("write it by tile.") for each in refused.values())
        allowed = {"read", "write"} - set(refused)
        both = {"read", "write"}
        expected = {Kind.LOAD: {"read"}, Kind.LDMATRIX: {"read"}, Kind.ATOMIC: both}.get(row.kind, {"write"})
        assert allowed == expected


def test_arguments_may_be_the_objects_or_what_stands_for_them() -> None:
    one = tile().read("ld.shared.b32", coord=["lane", "2*k"], threads=64, loops={"k": 4}, predicate="tid < 40")
    other = tile().read(
        find_instruction("ld.shared.b32"),
        coord=(parse("lane"), parse("2*k")),
        threads=(np.int32(64),),
        loops={"k": [np.int64(0), 1, 2, 3]},
        predicate=parse("tid < 40"),
        target=find_target("sm_90"),
    )
    assert one.cost() == other.cost()
    assert one.instruction is other.instruction
    assert one.loops == other.loops
    assert other.block == (64,)


def test_a_stage_may_be_said() -> None:
    staged = Tile("A", 32, Layout("(32,1):(1,1)"), stages=2, pitch_bytes=192)
    every = staged.read("ld.shared.b32", coord=["lane", 0], threads=32)
    second = staged.read("ld.shared.b32", coord=["lane", 0], threads=32, stage=1)
    assert [each.name for each in every.free] == ["stage", "base"] or "stage" in [each.name for each in every.free]
    assert "stage" not in [each.name for each in second.free]


WRONG = {
    "no instruction": ({"instruction": 7}, "SWZ105", "7 (int) is no instruction"),
    "an unknown one": ({"instruction": "LDS.32"}, "SWZ401", "machine code"),
    "coord as one text": ({"coord": "lane"}, "SWZ105", "coord='lane' (str) is no list or tuple"),
    "coord of floats": ({"coord": [0.5, 0]}, "SWZ105", "0.5 is neither a C expression nor an int"),
    "too few coordinates": ({"coord": ["lane"]}, "SWZ105", "1 coordinates for tile A"),
    "an unknown name": ({"coord": ["lane", "q"]}, "SWZ301", "unknown name 'q'"),
    "no expression": ({"coord": ["lane", "1 +"]}, "SWZ302", "an operand is missing"),
    "threads as text": ({"threads": "32"}, "SWZ105", "threads='32'"),
    "threads as a truth value": ({"threads": True}, "SWZ105", "threads=True"),
    "four extents": ({"threads": (1, 2, 3, 4)}, "SWZ105", "threads=(1, 2, 3, 4)"),
    "too many threads": ({"threads": 2048}, "SWZ105", "1 to 1024"),
    "loops as a list": ({"loops": ["k"]}, "SWZ105", "loops=['k'] (list) is no mapping"),
    "a loop of text": ({"loops": {"k": "4"}}, "SWZ105", "'4' is neither an int nor a range"),
    "a loop down": ({"loops": {"k": range(4, 0, -1)}}, "SWZ105", "the step -1"),
    "constants as a list": ({"constants": [("n", 1)]}, "SWZ105", "is no mapping"),
    "a constant that is none": ({"constants": {"n": 1.5}}, "SWZ202", "the constant n is 1.5 (float)"),
    "a predicate that is none": ({"predicate": 1.5}, "SWZ105", "predicate=1.5"),
    "a stage that is none": ({"stage": []}, "SWZ105", "stage=[]"),
    "an unknown target": ({"target": "sm_91"}, "SWZ402", "unknown target 'sm_91'"),
    "no target": ({"target": 90}, "SWZ105", "target=90 (int) is no target"),
}


@pytest.mark.parametrize(("change", "code", "said"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_told(change: dict[str, object], code: str, said: str) -> None:
    given = {"instruction": "ld.shared.b16", "coord": ["lane", 0], "threads": 32, **change}
    instruction = given.pop("instruction")
    with pytest.raises(SwzError) as caught:
        tile().read(instruction, **given)
    assert caught.value.code == code
    assert said in str(caught.value)


PARTS = {
    "layout as text": (("A", 16, "(8,64):(64,1)"), {}, "SWZ105", "is no layout"),
    "swizzle as text": (("A", 16, Layout(8), "Swizzle<3,3,3>"), {}, "SWZ105", "is no swizzle"),
    "base as a number": (("A", 16, Layout(8)), {"base": 1024}, "SWZ105", "is no base"),
    "bits as text": (("A", "16", Layout(8)), {}, "SWZ202", "element_bits is '16' (str)"),
    "half a stage": (("A", 16, Layout(8)), {"stages": 1.5}, "SWZ202", "stages is 1.5"),
    "swizzle_on": (("A", 16, Layout(8)), {"swizzle_on": "bytes"}, "SWZ105", "swizzle_on='bytes'"),
}


@pytest.mark.parametrize(("parts", "others", "code", "said"), PARTS.values(), ids=PARTS)
def test_wrong_parts_of_a_tile_are_told(
    parts: tuple[object, ...], others: dict[str, object], code: str, said: str
) -> None:
    with pytest.raises(SwzError) as caught:
        Tile(*parts, **others)
    assert caught.value.code == code
    assert said in str(caught.value)
    assert caught.value.hint


def test_a_tile_proves_what_it_is() -> None:
    assert prove(Bijective(tile(Swizzle("Swizzle<3,3,3>")))).outcome == "proved"
    assert swzverify.Tile is Tile
