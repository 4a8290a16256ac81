"""`delivers` of loads into the fragments of mma.sync, against a simulation of the warp.

The simulation takes the receiver's side: it gives each lane its registers, as the PTX manual describes
`ldmatrix`, and looks up which element `mma.sync` reads there in the manual's tables. The product takes
the reader's side: where each byte of a lane's range lands. The two share no code.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from types import CodeType
from typing import Any

import pytest

from swzverify.apps.diff.compare import differences
from swzverify.certificates.make import describe
from swzverify.claims import Delivers, Verdict, fragment_points
from swzverify.claims.fragment_points import FragmentPoints
from swzverify.errors import SwzError
from swzverify.gpu.plan import not_run
from swzverify.hardware import fragments
from swzverify.hardware.fragments import Mma
from swzverify.ir import integers as ints
from swzverify.prover import Options, prove
from swzverify.search.cures import find_operand_cures
from swzverify.spec import Spec, SpecError
from swzverify.testing.cases import reads_at
from tests.hardware.test_fragments import MANUAL

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch


ELEMENTS = {"f16": ("f16", 2), "bf16": ("bf16", 2), "tf32": ("tf32", 4), "s8": ("i8", 1), "u8": ("u8", 1)}


class Warp:
    """What each lane's registers hold after a load, as (row, column) of the tile."""

    def __init__(self, instruction: str, lanes: list[tuple[int, int]], size: int, order: Callable[[int, int], Any]):
        self.registers: dict[tuple[int, int, int], Any] = {}
        if instruction.startswith("ldmatrix"):
            matrices = int(instruction[len("ldmatrix.x")])
            for lane in range(32):
                for matrix in range(matrices):
                    rows = lanes[8 * matrix : 8 * matrix + 8]
                    for half in range(2):  # a register has two cells of 16 bits
                        if instruction.endswith(".trans"):
                            row, cell = rows[2 * (lane % 4) + half], lane // 4
                        else:
                            row, cell = rows[lane // 4], 2 * (lane % 4) + half
                        if size == 4:
                            found = order(row[0], row[1] + cell // 2) if half == 0 else None
                            parts = {0: found} if half == 0 else {}
                        else:
                            per = 2 // size
                            parts = {half * per + i: order(row[0], row[1] + cell * per + i) for i in range(per)}
                        self.registers |= {(lane, matrix, part): at for part, at in parts.items()}
            return
        count = {"b32": 1, "v2.b32": 2, "b64": 2, "v4.b32": 4, "v2.b64": 4}[instruction.removeprefix("ld.shared.")]
        for lane, (row, column) in enumerate(lanes):
            for element in range(4 * count // size):
                register, part = divmod(element, 4 // size)
                self.registers[lane, register, part] = order(row, column + element)


def truth(entry: dict[str, Any]) -> bool:
    """Whether each register part holds what mma.sync should multiply, in every warp and iteration."""
    load, fragment = entry["instruction"], entry["fragment"]
    shape, kind = fragment["mma"].split(".")
    size = ELEMENTS[kind][1]
    key = shape if size == 2 else f"{shape} {'tf32' if size == 4 else 's8'}"
    _, count, place = MANUAL[key, fragment["role"]]
    per = 4 // size
    k_first = fragment.get("modes") == ["K", "MN"]
    loops = dict(entry["for"])
    for warp in range(entry["threads"] // 32):
        for values in product(*map(range, loops.values())):
            env: dict[str, int] = {"warp": warp, **dict(zip(loops, values, strict=True))}
            lanes = [tuple(c_value(each, env | {"lane": lane}) for each in entry["coord"]) for lane in range(32)]
            warps = Warp(load, lanes, size, lambda row, column: (row, column))
            for (lane, register, part), found in warps.registers.items():
                inner = env | {"register": register}
                into = c_value(fragment.get("register", "register"), inner)
                r, k = place(lane >> 2, lane % 4, into * per + part)
                assert into * per + part < count
                first, second = (k, r) if k_first else (r, k)
                at = [c_value(each, inner) for each in fragment["at"]]
                if found != (at[0] + first, at[1] + second):
                    return False
    return True


@cache
def code_of(text: str) -> CodeType:
    return compile(text.replace("/", "//"), "<coordinate>", "eval")


def c_value(text: Any, env: dict[str, int]) -> int:
    return int(eval(code_of(str(text)), {}, env))  # noqa: S307 - the texts stand below


SWIZZLES = {1: [None, "Swizzle<2,4,3>", "Swizzle<3,4,3>"], 2: [None, "Swizzle<3,3,3>"], 4: [None, "Swizzle<3,2,3>"]}


def drawn(seed: int) -> tuple[dict[str, Any], str | None]:
    """An access with a fragment, right or with one thing changed, and its tile's swizzle."""
    rng = random.Random(seed)
    kind = rng.choice(list(ELEMENTS))
    size = ELEMENTS[kind][1]
    shapes = {2: ["m16n8k8", "m16n8k16"], 4: ["m16n8k4", "m16n8k8"], 1: ["m8n8k16", "m16n8k16", "m16n8k32"]}[size]
    shape, role = rng.choice(shapes), rng.choice("AB")
    rows, step = (8 if role == "B" or shape == "m8n8k16" else 16), int(shape.split("k")[1])
    per, count = 4 // size, (8 if role == "B" or shape == "m8n8k16" else 16) * int(shape.split("k")[1]) * size // 128
    halves, chunk = rows // 8, 16 // size
    warps, loops = rng.choice([1, 2]), {"k": rng.choice([1, 2])}
    modes, at = ["MN", "K"], [f"warp*{rows}", f"k*{step}"]
    entry: dict[str, Any] = {"tile": "T", "threads": 32 * warps}
    style = rng.choice(["ldmatrix", "ldmatrix", "loads", "wide"] if size != 4 else ["ldmatrix", "loads"])
    transposed = style == "ldmatrix" and size == 2 and rng.random() < 0.4
    fragment: dict[str, Any] = {"mma": f"{shape}.{kind}", "role": role, "at": at}
    if style == "ldmatrix" and count in (1, 2, 4):
        matrix = "lane/8"
        row, column = f"lane%8 + {matrix}%{halves}*8", f"{matrix}/{halves}*{chunk}"
        if transposed:
            # the rows of the tile are K: cells of one row are rows of the operand
            row, column = f"lane%8 + {matrix}/{halves}*8", f"{matrix}%{halves}*8"
            modes = ["K", "MN"]
            coord = [f"k*{step} + ({row})%{step}", f"warp*{rows} + ({column})%{rows}"]
        else:
            coord = [f"warp*{rows} + ({row})%{rows}", f"k*{step} + ({column})%{step}"]
        entry["instruction"] = f"ldmatrix.x{count}" + (".trans" if transposed else "")
    elif style == "wide" and count >= 2 and halves == 1:
        # two registers of a lane side by side: their parts lie 4 * per apart in K, so this is wrong
        entry["instruction"] = "ld.shared.v2.b32"
        coord = [f"warp*{rows} + lane/4", f"k*{step} + lane%4*{2 * per}"]
    else:
        loops["i"] = count
        entry["instruction"] = "ld.shared.b32"
        coord = [f"warp*{rows} + lane/4 + i%{halves}*8", f"k*{step} + (lane%4 + i/{halves}*4)*{per}"]
        fragment["register"] = "i"
    fragment["at"] = at[::-1] if modes == ["K", "MN"] else at
    if modes != ["MN", "K"]:
        fragment["modes"] = modes
    match rng.choice(["", "", "rows off", "k off", "trans", "order", "warps", "swapped"]):
        case "rows off":
            coord[0] = f"{coord[0]} + 8"
        case "k off":
            coord[1] = f"({coord[1]})/{chunk}*{chunk} + {chunk}" if style == "ldmatrix" else f"{coord[1]} + {per}"
        case "trans" if style == "ldmatrix" and "ldmatrix" in entry["instruction"] and size < 4:
            name = entry["instruction"]
            entry["instruction"] = name.removesuffix(".trans") if name.endswith(".trans") else f"{name}.trans"
        case "order" if count == 4 and "register" not in fragment:
            fragment["register"] = rng.choice(["register%2*2 + register/2", "register^1", "3 - register"])
        case "warps":
            coord = [each.replace("warp*", "(1 - warp)*") if warps == 2 else each for each in coord]
        case "swapped" if "register" not in fragment and count == 2:
            fragment["register"] = "1 - register"
    return {**entry, "for": loops, "coord": coord, "fragment": fragment}, rng.choice(SWIZZLES[size])


def spec_of(entry: dict[str, Any], swizzle: str | None, rows: int = 96, columns: int | None = None) -> dict[str, Any]:
    kind = entry["fragment"]["mma"].split(".")[1]
    size = ELEMENTS[kind][1]
    width = columns or 128 // size
    tile: dict[str, Any] = {"element": ELEMENTS[kind][0], "layout": f"({rows},{width}):({width},1)", "stages": 2}
    tile |= {} if swizzle is None else {"swizzle": swizzle}
    return {
        "swzverify": 1,
        "target": "sm_80",
        "tiles": {"T": tile},
        "accesses": {"load": entry},
        "claims": [{"delivers": "load"}],
    }


def by_address(spec: dict[str, Any], pitch: int | None = None) -> dict[str, Any]:
    """The same load with its byte address in place of the coordinate, in a loop over the stages."""
    tile, entry = spec["tiles"]["T"], dict(spec["accesses"]["load"])
    rows, width = (int(each) for each in tile["layout"].split(":")[0].strip("()").split(","))
    size = 128 // width
    first, second = entry.pop("coord")
    offset = f"(({first})*{width} + ({second}))"
    if "swizzle" in tile:
        bits, base, shift = (int(each) for each in tile["swizzle"].removeprefix("Swizzle<").strip(">").split(","))
        offset = f"({offset} ^ (({offset} >> {shift}) & {((1 << bits) - 1) << base}))"
    del entry["tile"]
    entry["for"] = {**entry["for"], "s": 2}
    entry["address"] = f"s*{pitch or rows * 128} + {offset}*{size}"
    entry["base"] = {"align": 1024}
    entry["fragment"] = {**entry["fragment"], "tile": "T", "stage": "s"}
    return {**spec, "accesses": {"load": entry}}


def claim_of(spec: dict[str, Any]) -> Delivers:
    found = Spec.from_text(json.dumps(spec)).claims[0].claim
    assert isinstance(found, Delivers)
    return found


def judged(spec: dict[str, Any]) -> Verdict:
    return prove(claim_of(spec), options=Options(every_engine=True))


def disagreements(seeds: range, form: Callable[[Any], Any] = dict) -> tuple[list[int], set[tuple[str, str]]]:
    wrong, seen = [], set()
    for seed in seeds:
        entry, swizzle = drawn(seed)
        try:
            found = judged(form(spec_of(entry, swizzle))).outcome.value
        except SwzError:
            found = "fault"
        expected = "proved" if truth(entry) else "refuted"
        seen.add((entry["instruction"], expected))
        if found != expected:
            wrong.append(seed)
    return wrong, seen


SEEDS = range(120)


def test_random_loads_are_judged_as_the_simulation_judges_them() -> None:
    wrong, seen = disagreements(SEEDS)
    assert wrong == []
    loads = {"ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x2.trans", "ldmatrix.x4.trans", "ld.shared.b32"}
    assert {name for name, verdict in seen if verdict == "proved"} >= loads
    assert {name for name, verdict in seen if verdict == "refuted"} >= {*loads, "ld.shared.v2.b32"}


def test_addresses_are_judged_as_coordinates_are() -> None:
    wrong, seen = disagreements(range(60), by_address)
    assert wrong == []
    assert {verdict for _, verdict in seen} == {"proved", "refuted"}


RIGHT_SEED = next(seed for seed in range(60) if truth(drawn(seed)[0]) and drawn(seed)[1])


def test_another_distance_of_stages_is_refuted() -> None:
    spec = spec_of(*drawn(RIGHT_SEED))
    for pitch, wanted in ((96 * 128, "proved"), (96 * 128 + 1024, "refuted"), (8192, "refuted")):
        assert judged(by_address(spec, pitch)).outcome.value == wanted


@pytest.mark.parametrize(
    ("change", "fragment", "code", "words"),
    [
        ({}, {"tile": None}, "SWZ104", "its fragment no tile"),
        ({}, {"stage": None}, "SWZ104", "has 2 stages"),
        ({}, {"stage": "s + 1"}, "SWZ306", "goes from 1 to 2"),
        ({}, {"stage": "register%2"}, "SWZ301", "register"),
        ({}, {"stage": "lane%2"}, "SWZ301", "lane"),
        ({}, {"tile": "U"}, "SWZ106", "unknown tile"),
        ({"base": None}, {}, "SWZ105", "not related"),
        ({"base": {"align": 512}}, {}, "SWZ105", "multiple of 512 of access load"),
    ],
)
def test_fragments_of_addresses_that_are_refused(change: Any, fragment: Any, code: str, words: str) -> None:
    spec = by_address(spec_of(*drawn(RIGHT_SEED)))
    entry = spec["accesses"]["load"]
    entry |= change
    entry["fragment"] |= fragment
    entry["fragment"] = {key: value for key, value in entry["fragment"].items() if value is not None}
    spec["accesses"]["load"] = {key: value for key, value in entry.items() if value is not None}
    with pytest.raises(SpecError) as caught:
        claim_of(spec)
    assert caught.value.problems[0].code == code
    assert words in caught.value.problems[0].message


def test_a_tile_stands_once() -> None:
    spec = spec_of(*drawn(RIGHT_SEED))
    spec["accesses"]["load"]["fragment"]["tile"] = "T"
    with pytest.raises(SpecError, match="a tile of its own"):
        claim_of(spec)


@pytest.mark.parametrize(("align", "wanted"), [(1024, "proved"), (128, "refuted")])
def test_a_swizzle_of_addresses_needs_the_alignment_of_its_pattern(align: int, wanted: str) -> None:
    """TMA XORs the address, and the load the offset from the base."""
    offset = "(warp*16 + lane%16)*128 + (k*2 + lane/16)*16"
    tile = {"element": "f16", "tma": {"swizzle": "128B", "box": [64, 64]}, "base": {"align": align}}
    load = {
        "instruction": "ldmatrix.x4",
        "threads": 128,
        "for": {"k": 4},
        "address": f"({offset}) ^ (((({offset}) >> 7) & 7) << 4)",
        "base": {"align": align},
        "fragment": {"mma": "m16n8k16.f16", "role": "A", "tile": "T", "at": ["warp*16", "k*16"]},
    }
    spec = {"swzverify": 1, "target": "sm_90a", "tiles": {"T": tile}, "accesses": {"load": load}}
    assert judged({**spec, "claims": [{"delivers": "load"}]}).outcome.value == wanted


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(4))
def test_many_random_loads(part: int) -> None:
    assert disagreements(range(1000 + 500 * part, 1500 + 500 * part))[0] == []


_ROW, _LANDING, _LANDS = Mma.row, fragments.landing, FragmentPoints._lands


def rows_eight_off(patch: Patch) -> None:
    patch.setattr(Mma, "row", lambda self, role, lane, register: _ROW(self, role, lane, register + 1))


def trans_is_ignored(patch: Patch) -> None:
    def plain(instruction: Any, *rest: Any) -> Any:
        return _LANDING(replace(instruction, name=instruction.name.removesuffix(".trans")), *rest)

    patch.setattr(fragment_points, "landing", plain)


def trans_is_ignored_everywhere(patch: Patch) -> None:
    trans_is_ignored(patch)

    def lowered(self: FragmentPoints) -> Any:
        instruction = replace(self.access.instruction, name=self.access.instruction.name.removesuffix(".trans"))
        other = object.__new__(type(self.access))
        other.__dict__.update(self.access.__dict__ | {"instruction": instruction})
        return _LANDS(FragmentPoints(other))

    patch.setattr(FragmentPoints, "_lands", lowered)


def registers_are_not_permuted(patch: Patch) -> None:
    sound = FragmentPoints._value

    def value(self: FragmentPoints, formula: Any, reading: Any) -> Any:
        is_register = formula is self.fragment.register
        return reading.env["register"] if is_register else sound(self, formula, reading)

    patch.setattr(FragmentPoints, "_value", value)


def swizzles_are_forgotten(patch: Patch) -> None:
    patch.setattr(fragment_points, "multiple", lambda *_: ints.truth(ints.integer(1)))
    patch.setattr(fragment_points, "equal", lambda *_: ints.truth(ints.integer(1)))


PLANTS = [
    rows_eight_off,
    trans_is_ignored,
    trans_is_ignored_everywhere,
    registers_are_not_permuted,
    swizzles_are_forgotten,
]


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_mistake_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert any(disagreements(range(seed, seed + 1))[0] for seed in SEEDS)


LOAD: dict[str, Any] = {
    "tile": "T",
    "instruction": "ldmatrix.x4",
    "threads": 64,
    "for": {"k": 2},
    "coord": ["warp*16 + lane%16", "k*16 + lane/16*8"],
    "fragment": {"mma": "m16n8k16.f16", "role": "A", "at": ["warp*16", "k*16"]},
}


def test_the_table_names_lane_register_and_part() -> None:
    found = judged(spec_of(LOAD | {"instruction": "ldmatrix.x4.trans"}, "Swizzle<3,3,3>"))
    assert found.outcome.value == "refuted"
    assert found.evidence == "documented"
    assert found.counterexample is not None
    assert found.counterexample.columns[:4] == ("lane", "register", "part", "coord")
    # lane 0, register 0, part 1 should hold (0, 1); .trans gives it row 1 of column 0
    assert found.counterexample.rows[0].cells[:4] == (0, 0, 1, (0, 1))
    assert found.counterexample.rows[0].cells[6] == "(1, 0) of stage 0"
    assert "224 of 256 parts are wrong" in found.reason


def test_a_misaligned_row_delivers_nothing() -> None:
    entry = LOAD | {"coord": ["warp*16 + lane%16", "k*16 + lane/16*8"]}
    spec = spec_of(entry, None)
    spec["tiles"]["T"] |= {"base": {"align": 8}}
    assert judged(spec).outcome.value == "refuted"


def test_loops_that_never_run_say_nothing() -> None:
    assert judged(spec_of(LOAD | {"for": {"k": 0}}, None)).outcome.value == "vacuous"


@pytest.mark.parametrize(
    ("code", "changes", "fragment"),
    [
        ("SWZ306", {}, {"at": ["warp*16", "k*16 + 40"]}),
        ("SWZ306", {}, {"at": ["warp*16 - 1", "k*16"]}),
        ("SWZ306", {}, {"register": "register + 1"}),
        ("SWZ306", {}, {"role": "B"}),
        ("SWZ301", {}, {"at": ["lane", "k*16"]}),
        ("SWZ105", {}, {"modes": ["K", "K"]}),
        ("SWZ105", {"tile": "f32"}, {}),
        ("SWZ411", {}, {"mma": "m8n8k4.f16"}),
        ("SWZ401", {}, {"mma": "k16.f16"}),
        ("SWZ411", {"instruction": "ld.shared.b16"}, {}),
        ("SWZ411", {"instruction": "st.shared.v4.b32"}, {}),
        ("SWZ105", {"instruction": "ld.shared.b32", "if": "lane < 16"}, {}),
        ("SWZ105", {"instruction": "ld.shared.b32", "threads": 48}, {}),
        ("SWZ206", {"for": {"k": "any"}, "coord": ["warp*16 + lane%16", "0"]}, {"at": ["0", "0"]}),
    ],
)
def test_what_no_kernel_can_mean_is_refused(code: str, changes: dict[str, Any], fragment: dict[str, Any]) -> None:
    spec = spec_of({**LOAD, **changes, "fragment": LOAD["fragment"] | fragment}, None, columns=64)
    spec["tiles"]["f32"] = {"element": "f32", "layout": "(96,64):(64,1)"}
    with pytest.raises(SpecError, match=code):
        claim_of(spec)


def test_an_access_without_a_fragment_delivers_nothing() -> None:
    entry = {name: value for name, value in LOAD.items() if name != "fragment"}
    spec = spec_of(LOAD, None) | {"accesses": {"load": entry}}
    with pytest.raises(SpecError, match="does not say what its registers should hold"):
        claim_of(spec)


@pytest.mark.parametrize(
    ("changes", "kind", "direction", "what"),
    [
        ({"role": "B", "register": "register%2", "at": ["warp*16", "k*16"]}, "delivers", "weaker", "fragment of load"),
        ({"at": ["warp*16", "k*16 + 16"]}, "delivers", "neither", "coordinates of load"),
        ({"register": "register^1"}, "conflict_free", "neither", "coordinates of load"),
        ({"mma": "m16n8k16.bf16"}, "conflict_free", "neither", "fragment of load"),
        ({"at": ["16*warp", "16*(k)"]}, "delivers", None, ""),
    ],
)
def test_diff_says_what_changes_in_a_fragment(
    changes: dict[str, Any], kind: str, direction: str | None, what: str
) -> None:
    both = [spec_of({**LOAD, "fragment": LOAD["fragment"] | each}, None) for each in ({}, changes)]
    before, after = (Spec.from_text(json.dumps(each | {"claims": [{kind: "load"}]})).claims[0] for each in both)
    found = {(each.direction.value, each.what) for each in differences(before, after)}
    assert direction is None or (direction, what) in found
    assert ("weaker" in {way for way, _ in found}) == (direction == "weaker")


def test_what_the_rest_of_the_house_says() -> None:
    claim = claim_of(spec_of(LOAD | {"instruction": "ldmatrix.x4.trans"}, None))
    assert not not_run(claim)
    with pytest.raises(SwzError, match="SWZ607"):
        describe(claim)
    assert find_operand_cures(claim) == ()
    broken = claim.broken(*reads_at(claim, {"warp": 1, "k": 1, "stage": 1, "base": 1024}))
    assert len(broken) == 224
    good = claim_of(spec_of(LOAD, None))
    assert good.broken(*reads_at(good, {"warp": 1, "k": 1, "stage": 1, "base": 1024})) == []
