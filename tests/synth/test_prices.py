"""Prices of whole families against `cost`, which follows the plain rule for one tile at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from swzverify.apps.commands.synth import problem_of
from swzverify.apps.options.synth import SynthOptions
from swzverify.errors import SwzError
from swzverify.search.costs import cost
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.search import price_family
from swzverify.spec import load_spec, parse_spec

SPECS = Path(__file__).parents[2] / "specs"
LIBRARY = (
    "transpose/tile_sizes.swz.yaml",
    "padding/cp_async_16.swz.yaml",
    "gemm/hgemm_128x128x64.swz.yaml",
)
ASKED = (
    SynthOptions("", "swizzle", on="offset"),
    SynthOptions("", "swizzle", on="address"),
    SynthOptions("", "pad"),
    SynthOptions("", "tma"),
)
HEAD = "swzverify: 1\nmemories: {smem: {bytes: 65536, align: 128}}\n"
TILES = {
    "stages at an odd pitch": (
        '{element: f32, layout: "(16,16):(16,1)", base: {align: 16}, stages: {count: 3, pitch: 1040}}'
    ),
    "a fixed base": '{element: f16, layout: "(16,32):(32,1)", base: 4112}',
    "a place in a memory": '{element: f16, layout: "(16,32):(32,1)", base: {in: smem, offset: 192}, stages: 2}',
    "an open base": '{element: i8, layout: "(16,64):(64,1)", base: {align: 64}}',
    "columns": '{element: f32, layout: "(16,16):(1,16)"}',
    "a nested layout": '{element: f16, layout: "((8,2),(8,4)):((8,256),(1,64))"}',
    "half bytes": '{element: i4, layout: "(16,64):(64,1)"}',
}
ACCESSES = """\
accesses:
  down: {tile: A, instruction: ld.shared.b32, threads: 32, for: {k: 2}, coord: [lane%16, lane/16*W + k*W*2]}
  some: {tile: A, instruction: st.shared.b32, threads: 40, coord: [tid%16, tid/16*W], if: tid < 37}
  wide: {tile: A, instruction: ld.shared.v2.b32, threads: 64, for: {k: [0, 1, 3]}, coord: [(tid/2 + k)%16, tid%2*W*2]}
  copy: {tile: A, instruction: cp.async.4, threads: 32, for: {k: 3}, assume: [k != 1], coord: [lane/4 + k, lane%4*W]}
  odd: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane*5%16, lane*3%4*W]}
"""
STAGED = "  ring: {tile: A, instruction: ld.shared.b32, threads: 96, coord: [lane%16, lane/16*W], stage: tid/48}\n"


def checked(problem: Problem, seed: int, most: int) -> int:
    """Compare some members, or all, and count them."""
    priced = price_family(problem)
    rows = [int(row) for row in priced.members]
    Random(seed).shuffle(rows)
    for row in rows[:most]:
        member = priced.member(row)
        found = iter(zip(member.wavefronts, member.conflicts, strict=True))
        for variant, tile in zip(problem.variants, member.tiles, strict=True):
            for label, access in variant.accesses.items():
                plain = cost(replace(access, tile=tile))
                assert (plain.wavefronts, plain.bank_conflicts) == next(found), (label, member)
    return len(rows[:most])


@pytest.mark.parametrize("name", TILES)
def test_every_kind_of_place(name: str) -> None:
    element = {"i4": 8, "i8": 4, "f16": 2, "f32": 1}[TILES[name].split("element: ")[1].split(",")[0]]
    accesses = ACCESSES + (STAGED if "stages: {count" in TILES[name] else "")
    text = f"{HEAD}tiles:\n  A: {TILES[name]}\n{accesses}".replace("W", str(element))
    if "columns" in name:
        text = text.replace("ld.shared.v2.b32", "ld.shared.b32")
    count = 0
    for asked in ASKED:
        try:
            problem, _ = problem_of(parse_spec(text), "A", asked)
        except SwzError as error:
            if error.code != "SWZ212":
                raise
            continue
        try:
            count += checked(problem, 1, 25)
        except SwzError as error:
            if error.code != "SWZ563":
                raise
    assert count > 10


def problems(file: str, kinds: tuple[SynthOptions, ...]) -> Iterator[Problem]:
    spec = load_spec(SPECS / file)
    for name in {name for case in spec.cases for name in case.tiles}:
        for asked in kinds:
            try:
                yield problem_of(spec, name, asked)[0]
            except SwzError as error:
                if error.code not in ("SWZ561", "SWZ562", "SWZ563"):
                    raise


@pytest.mark.parametrize(
    ("file", "asked", "most"),
    [
        (LIBRARY[0], ASKED[:1], 8),
        *((file, ASKED, 3) for file in LIBRARY[1:]),
        pytest.param(LIBRARY[0], ASKED, 3, marks=pytest.mark.nightly),
    ],
)
def test_tiles_of_the_library(file: str, asked: tuple[SynthOptions, ...], most: int) -> None:
    count = 0
    for problem in problems(file, asked):
        if len(problem.accesses) * max(variant.tile.size for variant in problem.variants) > 1 << 14:
            continue
        try:
            count += checked(problem, 2, most)
        except SwzError as error:
            if error.code not in ("SWZ206", "SWZ563"):
                raise
    assert count > 5
