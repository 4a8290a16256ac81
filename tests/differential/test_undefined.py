"""Undefined shifts and divisions: an error in every position, whatever stands around them.

The danger is in conditions: a solver that gives an out-of-range shift some value, or counts a point
at which a predicate is undefined as excluded, loses points without a word, and proves what is left.
"""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from swzverify.spec import SpecError, parse_spec
from tests.oracle.brute_force import OracleError, judge
from tests.oracle.grammar import CONSTANT_POSITIONS, VARIABLE_POSITIONS, places
from tests.oracle.yaml_values import Spec, Yaml

# A spec with every position in it, sound as it stands.
WHOLE: Spec = {
    "swzverify": 1,
    "constants": {"N": 2},
    "let": {"top": "tid/16"},
    "memories": {
        "m": {"bytes": 65536, "align": 1024},
        "f": {"bytes": 65536, "align": 1024, "base": 1024},
    },
    "tiles": {
        "A": {"bits": 16, "layout": {"shape": [16, 16], "pad": 8}, "base": {"align": 1024}, "stages": 2},
        "B": {"element": "f16", "layout": "(16,16):(16,1)", "base": {"in": "m", "offset": 1024}, "bytes": 512},
        "C": {
            "element": "f16",
            "layout": "(16,16):(16,1)",
            "swizzle": {"bits": 1, "base": 3, "shift": 3},
            "base": 2048,
            "stages": {"count": 2, "pitch": 1024},
        },
        "D": {"element": "f16", "tma": {"swizzle": "128B", "box": [8, 64]}},
    },
    "accesses": {
        "a": {
            "tile": "A",
            "instruction": "ld.shared.b16",
            "threads": 32,
            "for": {
                "i": {"start": 0, "stop": 8, "step": 4},
                "k": 2,
                "s": [1, 4, 2],
                "t": {"start": 1, "stop": 9, "times": 2},
            },
            "let": {"own": "i + k"},
            "coord": ["top + lane%16 - top", "own"],
            "stage": "k",
            "if": "tid < 20",
            "assume": ["i < 8"],
        },
        "b": {"instruction": "ld.shared.b32", "block": [8, 4], "address": "tid*4", "base": {"align": 16}, "bytes": 128},
        "c": {"instruction": "ld.shared.b32", "threads": 32, "address": "tid*4", "base": {"in": "m", "offset": 64}},
        "d": {"instruction": "ld.shared.b32", "threads": 32, "address": "tid*4", "base": 64},
    },
    "maps": {
        "p": {"over": {"x": 16}, "value": ["x ^ 3"], "onto": [16], "base": {"align": 16}},
        "q": {"over": {"x": 16}, "value": ["x ^ 3"], "onto": [16], "base": {"in": "m", "offset": 8}},
        "r": {"over": {"x": 16}, "value": ["x ^ 3"], "onto": [16], "base": 8},
    },
    "claims": [
        {"contiguous": {"tile": "B", "elements": 8, "mode": 1}},
        {"wavefronts": {"access": "a", "at_most": 32}},
        {"covers": {"access": "a", "tile": "A", "times": 1}},
        {"permutation": "p"},
    ],
}

# For what reads variables: undefined at one point or at all, hidden behind whatever could excuse
# it.
OF_VARIABLES = {
    "SWZ304": [
        "1 << (32 - {v})",
        "1 >> ({v} - 1)",
        "{v} < 0 && (1 << (33 + {v})) > 0",
        "{v} >= 0 || (1 >> (-1 - {v})) > 0",
        "{v} < 0 ? 1 << (40 + {v}) : 1",
        "!(1 << (32 + {v}*0)) && 1",
        "0 * (1 << (31 + ({v} == 0)))",
        "min(1, 1 << (32 + {v}))",
    ],
    "SWZ305": [
        "4 / {v}",
        "4 % {v}",
        "{v} != 0 && 4 / {v}",
        "{v} == 0 || 4 % {v} == 0",
        "{v} != 0 ? 4 / {v} : 0",
        "0 * (4 / ({v} & 0))",
        "max(0, 4 / (({v} + 1) / 2000))",
        "-(4 % ({v} / 64 * 3))",
    ],
    "SWZ303": [
        "{v} < 0 && 65536 * 65536 * ({v} + 1)",
        "(({v} + 1) << 31 << 2) == 0",
        "0 * (-2147483648 - {v} - 1)",
    ],
}
VARIABLES = {"map.value": "x", "assume": "k"}
# For constants the undefined operation may stand anywhere in an expression whose value would be
# right.
OF_CONSTANTS = {
    "SWZ304": ["({}) + 0*(1 << 32)", "1 ? {} : 1 >> (N - 3)", "({}) >> 0 * (1 << (N + 30) << 1)"],
    "SWZ305": ["({}) + 0*(1/(N - 2))", "1 ? {} : 1 % 0", "1 || 1/0 ? {} : 1"],
    "SWZ303": ["({}) + 0*(65536*65536)", "0 && 65536*65536*N ? 1 : {}"],
}


def with_text(position: str, text: str) -> Spec:
    """The whole spec with the text in the first place of the position; of a constant, the value
    that stands there.
    """
    spec = deepcopy(WHOLE)
    if position.startswith("notation."):
        layout = (
            f"(16,({text.format('16')})):(16,1)" if position.endswith("shape") else f"(16,16):(({text.format('16')}),1)"
        )
        tiles = spec["tiles"]
        assert isinstance(tiles, dict)
        tile = tiles["B"]
        assert isinstance(tile, dict)
        tile["layout"] = layout
        return spec
    place = next(each for each in places(spec) if each.position == position)
    place.put(text.format(place.value, v=VARIABLES.get(position, "tid")))
    return spec


def codes_of(spec: Spec) -> set[str]:
    """What the tool refuses it for; the oracle must refuse it for one of the same."""
    try:
        judge(spec)
    except OracleError as error:
        expected = error.code
    else:
        expected = ""
    try:
        parse_spec(json.dumps(spec), path="undefined")
    except SpecError as error:
        codes = {problem.code for problem in error.problems}
        assert expected in codes
        return codes
    assert expected == ""
    return set()


def test_the_whole_spec_is_sound() -> None:
    positions = {place.position for place in places(WHOLE)}
    assert positions | {"notation.shape", "notation.stride"} == set(VARIABLE_POSITIONS) | set(CONSTANT_POSITIONS)
    assert parse_spec(json.dumps(WHOLE), path="whole").claims
    spec: dict[str, Yaml] = {**WHOLE}
    spec["claims"] = []
    judge(spec)


@pytest.mark.parametrize("position", VARIABLE_POSITIONS)
@pytest.mark.parametrize("code", OF_VARIABLES)
def test_of_variables(position: str, code: str) -> None:
    for text in OF_VARIABLES[code]:
        assert code in codes_of(with_text(position, text)), text


@pytest.mark.parametrize("position", CONSTANT_POSITIONS)
@pytest.mark.parametrize("code", OF_CONSTANTS)
def test_of_constants(position: str, code: str) -> None:
    for text in OF_CONSTANTS[code]:
        assert code in codes_of(with_text(position, text)), text


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"assume": ["i > 100", "1 << i*40 >= 0"]}, "SWZ304"),
        ({"assume": ["0", "8/k >= 0"]}, "SWZ305"),
        ({"assume": ["i > 100"], "if": "1 << i*40 >= 0"}, "SWZ304"),
        ({"if": "0", "coord": ["lane%16", "i + k + 1/k"]}, "SWZ305"),
    ],
)
def test_behind_what_is_false_everywhere(change: dict[str, Yaml], code: str) -> None:
    """A condition that nothing satisfies hides no undefined operation: neither of another condition
    nor elsewhere.
    """
    spec = deepcopy(WHOLE)
    accesses = spec["accesses"]
    assert isinstance(accesses, dict)
    access = accesses["a"]
    assert isinstance(access, dict)
    access.update(change)
    with pytest.raises(SpecError) as caught:
        parse_spec(json.dumps(spec), path="t.swz.yaml")
    assert code in {problem.code for problem in caught.value.problems}
    with pytest.raises(OracleError):
        judge(spec)
