"""What the schema refuses: every mistake that a schema can know of, and a reason for each one that
it cannot.
"""

from __future__ import annotations

import json

import pytest

from swzverify.spec import SpecError, parse_spec
from tests.editors.trees import data_of
from tests.spec.test_mistakes import CASES

NAMES = "which names a file defines; JSON Schema has no references between values"
NUMBERS = "arithmetic on several values, or on the parts of one text"
LANGUAGE = "the grammar of a nested language and what its expressions come to; patterns are regular"
TARGET = "what a target has, which is a table beside the spec"

BEYOND_A_SCHEMA = {
    **dict.fromkeys(("unknown tile", "near tile", "access for a tile", "unknown access", "unknown map"), NAMES),
    **dict.fromkeys(("unknown memory", "unknown tile of an access", "ambiguous subject"), NAMES),
    **dict.fromkeys(("bounds that are not said", "cover of nothing", "loop named like a constant"), NAMES),
    **dict.fromkeys(("unknown name in a layout", "unknown name", "unknown name in a predicate"), NAMES),
    **dict.fromkeys(("unknown name in a map", "unknown constant in a size"), NAMES),
    **dict.fromkeys(("lanes: any", "lanes: a loop's name", "lanes: an assumption on one"), NAMES),
    **dict.fromkeys(("lanes: an empty range", "lanes: beside a loop without a bound"), NUMBERS),
    **dict.fromkeys(("mode outside", "rank of the coordinate", "rank of onto", "too large a block"), NUMBERS),
    **dict.fromkeys(("too many cases", "illegal swizzle", "illegal swizzle of numbers"), NUMBERS),
    **dict.fromkeys(("wide tma box", "odd tma box", "base of a tma box", "tile beyond its memory"), NUMBERS),
    **dict.fromkeys(("unclosed layout", "shape and stride", "zero extent", "two swizzles"), LANGUAGE),
    **dict.fromkeys(("pointer of other elements", "broken expression", "comma in a flow item"), LANGUAGE),
    **dict.fromkeys(("assignment", "division of constants by zero", "undefined shift"), LANGUAGE),
    **dict.fromkeys(("division by zero", "address out of range"), LANGUAGE),
    **dict.fromkeys(("tile larger than shared memory", "tile larger than an older target's"), TARGET),
    **dict.fromkeys(("memory larger than shared memory", "instruction that the target lacks"), TARGET),
    "memory larger than shared memory, with a base that has no value": TARGET,
}
"""The mistakes of tests/spec/test_mistakes.py that the schema accepts, each with what a schema
would have to know.
"""

WRONG = {name: data for name, (_, text, _) in CASES.items() if (data := data_of(text.replace("«", ""))) is not None}
"""The mistakes that are not in the YAML itself."""


def test_there_are_enough_of_them():
    assert len(WRONG) > 100
    assert len(WRONG.keys() - BEYOND_A_SCHEMA) >= 59
    assert WRONG.keys() >= BEYOND_A_SCHEMA.keys()


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_refused_or_beyond_a_schema(name, validator):
    assert validator.is_valid(WRONG[name]) == (name in BEYOND_A_SCHEMA)


TILE = {"bits": 8, "layout": "8:1"}
BARE = {"instruction": "ld.shared.b32", "threads": 32, "address": 0}
OF_TILE = {"instruction": "ld.shared.b8", "threads": 8, "tile": "A", "coord": ["tid"]}


def tile(**keys: object) -> dict[str, object]:
    return {"tiles": {"A": TILE | keys}}


def access(part: dict[str, object], **keys: object) -> dict[str, object]:
    return {"tiles": {"A": TILE}, "accesses": {"r": part | keys}}


def claim(**keys: object) -> dict[str, object]:
    return {"tiles": {"A": TILE}, "accesses": {"r": OF_TILE}, "claims": [keys]}


EDGES: list[tuple[dict[str, object], dict[str, object]]] = [
    (tile(bits=1024), tile(bits=1025)),
    (tile(bits=1), tile(bits=0)),
    (tile(stages=4096, base={"align": 8}), tile(stages=4097, base={"align": 8})),
    (tile(stages={"count": 4096, "pitch": 8}), tile(stages={"count": 4097, "pitch": 8})),
    (tile(stages={"count": 2, "pitch": 0}), tile(stages={"count": 2, "pitch": -1})),
    (tile(bytes=8), tile(bytes=0)),
    (tile(base=2**24 - 1), tile(base=2**24)),
    (tile(base={"align": 2**24}), tile(base={"align": 2**25})),
    (tile(base={"align": 16}), tile(base={"align": 24})),
    (tile(layout={"shape": [8] * 2}), tile(layout={"shape": [1] * 9})),
    (tile(layout={"shape": [1]}), tile(layout={"shape": [0]})),
    (tile(layout={"shape": [8], "pad": 0}), tile(layout={"shape": [8], "pad": -1})),
    (tile(layout={"shape": [8], "order": "col"}), tile(layout={"shape": [8], "order": "column"})),
    (tile(swizzle="Swizzle<0,0,-3>"), tile(swizzle="Swizzle<0,-1,3>")),
    (tile(swizzle="Sw<1,2>"), tile(swizzle="Sw<1>")),
    (tile(swizzle={"bits": 0, "base": 0, "shift": -1}), tile(swizzle={"bits": 0, "base": -1, "shift": 1})),
    (tile(swizzle={"bits": 1, "base": 0, "shift": 3, "on": "address"}), tile(swizzle="address")),
    (tile(tma={"box": [1, 16]}, layout=None), tile(tma={"box": [1, 16]})),
    (tile(tma={"box": [1, 16]}, layout=None), tile(tma={"box": [0, 16]}, layout=None)),
    (tile(tma={"box": [1, 16]}, layout=None), tile(tma={"box": [1, 16]}, layout=None, swizzle="Swizzle<1,3,3>")),
    (tile(element=None), tile(element="i8")),
    (tile(element="u4", bits=None), tile(element=None, bits=None)),
    ({"memories": {"m": {"bytes": 1}}}, {"memories": {"m": {"bytes": 0}}}),
    ({"memories": {"m": {"bytes": 1, "align": 2**24}}}, {"memories": {"m": {"bytes": 1, "align": 2**25}}}),
    ({"memories": {"m": {"bytes": 1, "base": 0, "align": 2**25}}}, {"memories": {"m": {"bytes": 1, "base": 2**24}}}),
    (access(BARE, threads=1024), access(BARE, threads=1025)),
    (access(BARE, threads=None, block=[1024]), access(BARE, threads=None, block=[1025])),
    (access(BARE, threads=None, block=[8, 8, 8]), access(BARE, block=[8, 8, 8])),
    (access(BARE), access(BARE, threads=None)),
    (access(BARE, bytes=1), access(BARE, bytes=0)),
    (access(BARE, base=0), access(OF_TILE, base=0)),
    (access(BARE, tile=None), access(BARE, tile="A")),
    (access(OF_TILE), access(OF_TILE, coord=None)),
    (access(OF_TILE, stage=0), access(BARE, stage=0)),
    (access(OF_TILE), access(OF_TILE, bytes=8)),
    (access(OF_TILE), access(OF_TILE, coord=[])),
    (access(BARE, assume=["1"] * 64), access(BARE, assume=["1"] * 65)),
    (access(BARE, lanes={"b": 1}), access(BARE, lanes={"b": 0})),
    (access(BARE, lanes={"b": {"bits": 32}}), access(BARE, lanes={"b": {"bits": 33}})),
    (access(BARE, lanes={"b": {"stop": 3, "step": 1}}), access(BARE, lanes={"b": {"stop": 3, "step": 0}})),
    (access(BARE, **{"for": {"i": 0}}), access(BARE, **{"for": {"i": -1}})),
    (access(BARE, **{"for": {"i": "any"}}), access(BARE, **{"for": {"any": 3}})),
    (access(BARE, **{"for": {"i": {"stop": 3, "step": 1}}}), access(BARE, **{"for": {"i": {"stop": 3, "step": 0}}})),
    (
        access(BARE, **{"for": {f"i{n}": 1 for n in range(32)}}),
        access(BARE, **{"for": {f"i{n}": 1 for n in range(33)}}),
    ),
    (access(BARE, instruction="ld.shared.u32"), access(BARE, instruction="ld.local.u32")),
    (access(BARE, **{"if": "1" * 9}), access(BARE, **{"if": "1 " * 2049})),
    ({"maps": {"m": {"over": {"i": 1}, "value": ["i"]}}}, {"maps": {"m": {"over": {"i": 0}, "value": ["i"]}}}),
    ({"maps": {"m": {"over": {"tid": 1}, "value": [0]}}}, {"maps": {"m": {"over": {"stage": 1}, "value": [0]}}}),
    ({"maps": {"m": {"over": {"i": 1}, "value": [0]}}}, {"maps": {"m": {"over": {}, "value": [0]}}}),
    ({"maps": {"m": {"over": {"i": 1}, "value": [0] * 64}}}, {"maps": {"m": {"over": {"i": 1}, "value": [0] * 65}}}),
    ({"constants": {"N": 2**32 - 1}}, {"constants": {"N": 2**32}}),
    ({"constants": {"N": -(2**31)}}, {"constants": {"N": -(2**31) - 1}}),
    ({"constants": {"N": [1, 2]}}, {"constants": {"N": [1, 1]}}),
    ({"constants": {"N": [1]}}, {"constants": {"tid": [1]}}),
    ({"constants": {f"N{n}": 1 for n in range(256)}}, {"constants": {f"N{n}": 1 for n in range(257)}}),
    ({"target": "sm_90a"}, {"target": "sm_91"}),
    (claim(contiguous={"tile": "A", "elements": 4096}), claim(contiguous={"tile": "A", "elements": 4097})),
    (claim(contiguous={"tile": "A", "elements": 1, "mode": 0}), claim(contiguous={"tile": "A", "elements": 0})),
    (claim(wavefronts={"access": "r", "at_most": 1}), claim(wavefronts={"access": "r", "at_most": 0})),
    (
        {**access(BARE, instruction="st.global.cs.f32"), "claims": [{"coalesced": {"access": "r", "at_most": 1}}]},
        {**access(BARE, instruction="st.global.cs.f32"), "claims": [{"coalesced": {"access": "r", "at_most": 0}}]},
    ),
    (
        {**access(BARE, instruction="ld.global.nc.v4.f32"), "claims": [{"coalesced": "r"}]},
        {**access(BARE, instruction="ld.global.wt.v4.f32"), "claims": [{"coalesced": "r"}]},
    ),
    (claim(covers={"access": "r", "times": 0}), claim(covers={"access": "r", "times": -1})),
    (claim(injective={"tile": "A"}), claim(injective={"tile": "A", "access": "r"})),
    (claim(in_bounds={"access": "r"}), claim(in_bounds=["r"])),
    (claim(bijective="A", expect="vacuous"), claim(bijective="A", expect="error")),
    (claim(bijective="A", because=""), claim(bijective="A", because=None)),
    (claim(bijective="A"), claim(bijective="A", aligned="r")),
    (claim(bijective="A"), claim(expect="refuted")),
]
"""Pairs of specs, one just inside what is allowed and one just outside."""


@pytest.mark.parametrize("pair", EDGES, ids=[json.dumps(outside)[:70] for _, outside in EDGES])
def test_both_sides_of_an_edge(pair, validator):
    inside, outside = ({"swzverify": 1, **part} for part in pair)
    parse_spec(json.dumps(inside))
    assert not [error.message for error in validator.iter_errors(inside)]
    with pytest.raises(SpecError):
        parse_spec(json.dumps(outside))
    assert not validator.is_valid(outside)


def test_a_number_with_a_point_is_an_integer_to_draft_7_and_not_to_a_spec(validator):
    """The one type that differs: draft 6 and later call 8.0 an integer, and YAML reads it as a
    float.
    """
    spec = {"swzverify": 1, **tile(bits=8.0)}
    assert validator.is_valid(spec)
    with pytest.raises(SpecError):
        parse_spec(json.dumps(spec))
