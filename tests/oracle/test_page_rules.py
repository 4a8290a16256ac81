"""Rules of the page by hand: TMA tiles, targets, axes of a block, the two worst cases, loops of two
accesses.
"""

from __future__ import annotations

import pytest

from .brute_force import Judgement, OracleError, judge
from .judgement import Verdict
from .one_claim import only
from .yaml_values import Spec, Yaml


def code_of(spec: Spec) -> str | None:
    """The code for which a spec is refused, None where it is not."""
    try:
        judge({**spec, "claims": spec.get("claims", [])})
    except OracleError as error:
        return error.code
    return None


# --- TMA tiles -------------------------------------------------------------------------------------------------------

MEMORIES: Yaml = {
    "m": {"bytes": 65536, "align": 1024},
    "narrow": {"bytes": 65536, "align": 64},
    "fixed": {"bytes": 65536, "align": 64, "base": 64},
}
BOXES: list[tuple[list[Yaml], str, dict[str, Yaml], str | None]] = [
    ([256, 64], "128B", {}, None),
    ([257, 64], "128B", {}, "SWZ225"),
    ([8, 256], "none", {}, None),
    ([8, 264], "none", {}, "SWZ225"),
    ([8, 72], "128B", {}, ""),  # wider than the pitch
    ([8, 12], "128B", {}, ""),  # 24 bytes
    *(
        ([8, 64], mode, {"base": base}, code)
        for mode in ("none", "128B")
        for base, code in (
            (128, None),
            (64, "SWZ222"),
            (16, "SWZ222"),
            ({"align": 128}, None),
            ({"align": 64}, "SWZ222"),
            ({"align": 16}, "SWZ222"),
            ({"in": "m", "offset": 128}, None),
            ({"in": "m", "offset": 64}, "SWZ222"),
            ({"in": "narrow"}, "SWZ222"),
            ({"in": "fixed"}, "SWZ222"),
            ({"in": "fixed", "offset": 64}, None),
        )
    ),
    # 3 rows of 32 bytes are 96: the second stage begins there, unless the base's alignment or the
    # spec says more.
    ([3, 16], "32B", {"stages": 2, "base": 128}, "SWZ222"),
    ([3, 16], "32B", {"stages": 2, "base": {"align": 128}}, None),
    ([3, 16], "32B", {"stages": 1, "base": 128}, None),
    ([3, 16], "32B", {"stages": {"count": 2, "pitch": 256}, "base": 128}, None),
    ([8, 64], "none", {"stages": {"count": 2, "pitch": 1024 + 64}}, "SWZ222"),
    ([8, 64], "128B", {"stages": {"count": 2, "pitch": 1024 + 1}}, "SWZ222"),
    ([8, 64], "128B", {"stages": {"count": 1, "pitch": 1024 + 1}}, None),
]


@pytest.mark.parametrize(("box", "mode", "more", "code"), BOXES)
def test_tma_tile(box: list[Yaml], mode: str, more: dict[str, Yaml], code: str | None) -> None:
    tile: Yaml = {"element": "f16", "tma": {"swizzle": mode, "box": box}, **more}
    assert code_of({"memories": MEMORIES, "tiles": {"T": tile}}) == code


@pytest.mark.parametrize(
    ("target", "code"),
    [("sm_90", None), ("sm_90a", None), ("sm_100", None), ("sm_121f", None), ("sm_89", "SWZ226"), ("sm_70", "SWZ226")],
)
def test_tma_needs_a_target_that_has_it(target: str, code: str | None) -> None:
    tile: Yaml = {"element": "f16", "tma": {"swizzle": "64B", "box": [8, 32]}}
    assert code_of({"target": target, "tiles": {"T": tile}}) == code


@pytest.mark.parametrize(
    ("target", "instruction", "code"),
    [
        ("sm_70", "ldmatrix.x4", "SWZ403"),
        ("sm_75", "ldmatrix.x4", None),
        ("sm_75", "cp.async.16", "SWZ403"),
        ("sm_80", "cp.async.16", None),
        ("sm_89", "stmatrix.x1", "SWZ403"),
        ("sm_90", "stmatrix.x1", None),
        ("sm_70", "st.shared.v4.b32", None),
    ],
)
def test_instructions_of_a_target(target: str, instruction: str, code: str | None) -> None:
    access: Yaml = {"instruction": instruction, "threads": 32, "address": "tid*16"}
    assert code_of({"target": target, "accesses": {"X": access}}) == code


@pytest.mark.parametrize(("target", "kib"), [("sm_75", 64), ("sm_86", 99), ("sm_80", 163), ("sm_90", 227)])
def test_what_fits(target: str, kib: int) -> None:
    rows = 8 * kib
    for more, code in ((0, None), (1, "SWZ110")):
        tile: Yaml = {"element": "f32", "layout": f"({rows + more},32):(32,1)"}
        assert code_of({"target": target, "tiles": {"T": tile}}) == code
        assert code_of({"target": target, "memories": {"m": {"bytes": 1024 * kib + more}}}) == code
        placed: Yaml = {"element": "i8", "layout": "512:1", "base": {"in": "m", "offset": 512 + more}}
        spec: Spec = {"target": target, "memories": {"m": {"bytes": 1024}}, "tiles": {"T": placed}}
        assert code_of(spec) == code


# --- axes of a block -------------------------------------------------------------------------------------------------

SHAPES: list[tuple[dict[str, Yaml], str]] = [
    ({"threads": 12}, "x"),
    ({"block": [12]}, "x"),
    ({"block": [4, 3]}, "xy"),
    ({"block": [12, 1]}, "xy"),
    ({"block": [2, 3, 2]}, "xyz"),
    ({"block": [12, 1, 1]}, "xyz"),
]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("key", ["address", "if", "coord", "stage"])
def test_axes_that_a_block_does_not_say(shape: dict[str, Yaml], axes: str, key: str) -> None:
    for axis in "xyz":
        for name in (f"tid_{axis}", f"threadIdx.{axis}", f"blockDim.{axis}"):
            access: dict[str, Yaml] = {"instruction": "ld.shared.b32", **shape}
            if key in ("coord", "stage"):
                access |= {"tile": "T", "coord": [f"{name}*0"] if key == "coord" else ["tid"], "stage": 0}
            else:
                access["address"] = "tid*4"
            if key != "coord":
                access[key] = f"{name}*0"
            spec: Spec = {"tiles": {"T": {"element": "f32", "layout": "16:1"}}, "accesses": {"X": access}}
            assert code_of(spec) == (None if axis in axes else "SWZ307")


def test_a_name_of_the_specs_own_is_no_axis() -> None:
    access: Yaml = {"instruction": "ld.shared.b32", "threads": 4, "for": {"tid_y": 2}, "address": "tid*4 + tid_y*16"}
    assert code_of({"accesses": {"X": access}}) is None
    assert code_of({"accesses": {"X": {"instruction": "ld.shared.b32", "threads": 4, "address": "tid_w"}}}) == "SWZ301"


@pytest.mark.parametrize(
    ("block", "index", "verdict"),
    [
        ([5, 3], "tid_x + tid_y*5", "proved"),
        ([5, 3], "threadIdx.y*blockDim.x + threadIdx.x", "proved"),
        ([5, 3], "tid_x*3 + tid_y", "refuted"),
        ([7, 2, 3], "(tid_z*2 + tid_y)*7 + tid_x", "proved"),
        ([7, 2, 3], "tid_z*blockDim.x*blockDim.y + threadIdx.y*blockDim.x + tid_x", "proved"),
        ([7, 2, 3], "(tid_y*3 + tid_z)*7 + tid_x", "refuted"),
        ([33, 1], "tid_x + tid_y*1000", "proved"),
        ([16, 1, 5], "tid_z*16 + tid_x + tid_y", "proved"),
        ([16, 1, 5], "tid_z*16 + tid_x + blockDim.y", "refuted"),
    ],
)
def test_axes_of_a_block(block: list[Yaml], index: str, verdict: Verdict) -> None:
    threads = 1
    for extent in block:
        assert isinstance(extent, int)
        threads *= extent
    one: Yaml = {"instruction": "ld.shared.b32", "block": block, "address": f"({index})*4"}
    other: Yaml = {"instruction": "ld.shared.b32", "threads": threads, "address": "tid*4"}
    assert only({"accesses": {"X": one, "Y": other}, "claims": [{"equivalent": ["X", "Y"]}]}).verdict == verdict


# --- two worst cases -------------------------------------------------------------------------------------------------

# Threads, instruction, address and predicate; most wavefronts, the least for it, most bank
# conflicts.
WORST: list[tuple[int, str, str, Yaml, tuple[int, int, int]]] = [
    # Warp 0: four groups of a row each, 4 of 4. Warp 1: lanes 32 and 33, 128 bytes apart: 2 of 1.
    (34, "st.shared.v4.b32", "lane*16 + warp*lane*112", 1, (4, 4, 1)),
    (33, "st.shared.v4.b32", "tid*16", 1, (4, 4, 0)),
    # Warp 0: lanes 0 and 1 in one bank, 2 of 1. Warp 1: four groups without conflicts.
    (64, "st.shared.v4.b32", "tid*16 + (tid == 1)*112", "tid < 2 || tid >= 32", (4, 4, 1)),
    # 8 bytes per lane: warp 0 takes 2 of 2, warp 1 has lanes 40 to 43 in one bank: 4 of 1.
    (44, "st.shared.b64", "warp*lane*128 + (1 - warp)*lane*8", "warp == 0 || lane >= 8", (4, 1, 3)),
    # The most wavefronts and the most conflicts in one.
    (32, "ld.shared.b32", "tid*128", 1, (32, 1, 31)),
]


def cost(threads: int, instruction: str, address: str, condition: Yaml, at_most: int = 4) -> list[Judgement]:
    access: Yaml = {"instruction": instruction, "threads": threads, "address": address, "if": condition}
    claims: Yaml = [{"conflict_free": "X"}, {"wavefronts": {"access": "X", "at_most": at_most}}]
    return judge({"accesses": {"X": access}, "claims": claims})


@pytest.mark.parametrize(("threads", "instruction", "address", "condition", "worst"), WORST)
def test_two_worst_cases(
    threads: int, instruction: str, address: str, condition: Yaml, worst: tuple[int, int, int]
) -> None:
    for found in cost(threads, instruction, address, condition):
        assert (found.wavefronts, found.minimum, found.most_bank_conflicts) == worst
        assert found.bank_conflicts == worst[0] - worst[1]
    free, _ = cost(threads, instruction, address, condition)
    assert free.verdict == ("refuted" if worst[2] else "proved")
    for at_most, verdict in ((worst[0], "proved"), (worst[0] - 1, "refuted")):
        assert cost(threads, instruction, address, condition, at_most)[1].verdict == verdict


def test_all_instructions_that_share_a_worst_case() -> None:
    # Warp 0: four groups of a row each, 4 of 4. Warp 1: four lanes of one group, 128 bytes apart, 4
    # of 1.
    address = "warp == 0 ? lane*16 : lane*128"
    free, _ = cost(36, "st.shared.v4.b32", address, 1)
    assert (free.slowest, free.clashing) == (((4, 1), (4, 4)), ((4, 1),))
    assert (free.wavefronts, free.minimum, free.bank_conflicts, free.most_bank_conflicts) == (4, 1, 3, 3)


# --- ordinary loops of two accesses ----------------------------------------------------------------------------------

LOOPED: dict[str, Yaml] = {"instruction": "ld.shared.b32", "threads": 32}
K: Yaml = {"start": 8, "stop": 24, "step": 8}
TWO_LOOPS: dict[str, Yaml] = {**LOOPED, "for": {"i": 3, "k": K}, "address": "tid*4 + i*k"}
LOOPS: list[tuple[dict[str, Yaml], Verdict]] = [
    ({"for": {"i": 3, "k": K}}, "proved"),
    ({"for": {"k": K, "i": 3}}, "proved"),
    ({"for": {"k": K, "i": {"start": 0, "stop": 3, "step": 1}}}, "proved"),
    ({"for": {"k": 3, "i": K}}, "refuted"),  # the names change places
    ({"for": {"k": K, "i": 4}}, "refuted"),
    ({"for": {"k": {"start": 8, "stop": 24, "step": 4}, "i": 3}}, "refuted"),
    ({"for": {"k": {"start": 0, "stop": 24, "step": 8}, "i": 3}}, "refuted"),
    ({"for": {"k": K, "i": 3, "j": 1}}, "refuted"),
    ({"for": {"k": K, "i": 3}, "if": "i + k != 10"}, "refuted"),
    ({"for": {"k": K, "i": 3}, "address": "tid*4 + i*8 + (k == 16)*i*8"}, "proved"),
    ({"for": {"k": K, "i": 3}, "address": "tid*4 + i*8 + (k == 16)*8"}, "refuted"),
]


@pytest.mark.parametrize(("other", "verdict"), LOOPS)
def test_loops_of_equivalent_accesses(other: dict[str, Yaml], verdict: Verdict) -> None:
    accesses: Yaml = {"X": TWO_LOOPS, "Y": {**TWO_LOOPS, **other}}
    for pair in (["X", "Y"], ["Y", "X"]):
        assert only({"accesses": accesses, "claims": [{"equivalent": list[Yaml](pair)}]}).verdict == verdict


def verdict_of(left: dict[str, Yaml], right: dict[str, Yaml]) -> Verdict:
    accesses: Yaml = {"X": {**LOOPED, **left}, "Y": {**LOOPED, **right}}
    return only({"accesses": accesses, "claims": [{"equivalent": ["X", "Y"]}]}).verdict


def test_what_assumptions_exclude_is_a_difference_where_a_lane_is_active() -> None:
    one: dict[str, Yaml] = {"for": {"i": 4}, "address": "tid*4 + i*128"}
    assert verdict_of({**one, "assume": ["i < 2"]}, {**one, "if": "i < 2"}) == "proved"
    assert verdict_of({**one, "assume": ["i < 2"]}, {**one, "if": "i < 3"}) == "refuted"
    assert (
        verdict_of({**one, "assume": ["i < 2"], "if": "i != 1"}, {**one, "assume": ["i != 1"], "if": "i < 1"})
        == "proved"
    )
    assert verdict_of({**one, "assume": ["i > 9"]}, {**one, "if": "i > 9"}) == "vacuous"


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ({"if": "tid > 99"}, {}, "refuted"),  # one that is never active
        ({"for": {"i": 2}, "if": "tid > 99"}, {"for": {"i": 3}, "if": "tid > 99"}, "refuted"),  # two, other loops
        ({"for": {"i": {"stop": 7, "step": 4}}}, {"for": {"i": {"stop": 8, "step": 4}}}, "proved"),  # 0 and 4
        ({"for": {"i": {"stop": 1, "step": 4}}}, {"for": {"i": {"stop": 1, "step": 2}}}, "refuted"),  # other steps
    ],
)
def test_accesses_that_never_run_and_loops_that_are_written_otherwise(
    left: dict[str, Yaml], right: dict[str, Yaml], verdict: str
) -> None:
    assert verdict_of({"address": "tid*4", **left}, {"address": "tid*4", **right}) == verdict
