"""`delivers`, and what other claims say of operands: small cases by hand, refusals, and what the rest of
the house does with an operand.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from swzrecheck.kinds import sentence_of
from swzverify.apps.diff.compare import differences
from swzverify.certificates.make import describe
from swzverify.claims import Aligned, Delivers, Verdict
from swzverify.gpu.plan import not_run
from swzverify.prover import Options, prove
from swzverify.spec import Spec, SpecError
from swzverify.testing.cases import reads_at

SPEC: dict[str, Any] = {
    "swzverify": 1,
    "target": "sm_90a",
    "memories": {"smem": {"bytes": 98304, "align": 1024}},
    "tiles": {
        "A": {"element": "f16", "tma": {"swizzle": "128B", "box": [128, 64]}, "base": {"in": "smem"}, "stages": 3},
    },
    "operands": {
        "A": {
            "instruction": "wgmma.m64n128k16.f16",
            "role": "A",
            "for": {"stage": 3, "k": 4, "m": 2},
            "descriptor": {"start": "stage*16384 + m*8192 + k*32", "sbo": 1024, "swizzle": "128B"},
            "reads": {"tile": "A", "at": ["m*64", "k*16"], "stage": "stage"},
        }
    },
    "claims": [{"delivers": "A"}],
}
"""A three-stage pipeline of 128 x 64 halfs, which two warp groups read."""


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """The spec with other values at dotted paths."""
    spec = copy.deepcopy(SPEC)
    for path, value in changes:
        *above, last = path.split(".")
        holder = spec
        for key in above:
            holder = holder[key]
        holder[last] = value
    return spec


def verdict(*changes: tuple[str, Any], kind: str = "delivers") -> Verdict:
    spec = Spec.from_text(json.dumps(changed(*changes, ("claims", [{kind: {"operand": "A"}}]))))
    return prove(spec.claims[0].claim, options=Options(every_engine=True))


TILE, FIELDS, READS = "tiles.A", "operands.A.descriptor", "operands.A.reads"
START = f"{FIELDS}.start"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("as a Hopper mainloop has it", ()),
        ("LBO is not read", ((f"{FIELDS}.lbo", 8192),)),
        ("behind 128 bytes of barriers, as writer and reader XOR one address", ((f"{TILE}.base.offset", 128),)),
        ("from the memory's start", ((f"{FIELDS}.base", {"in": "smem"}),)),
        ("a fixed base", ((f"{TILE}.base", 4096),)),
        ("a loop over offsets", (("operands.A.for.k", [0, 1, 3]),)),
    ],
)
def test_a_right_operand_is_proved_by_two_engines(name: str, changes: tuple[tuple[str, Any], ...]) -> None:
    found = verdict(*changes)
    assert found.outcome.value == "proved", (name, found)
    assert "z3" in found.engines
    assert not found.is_by_one_engine
    assert found.evidence == "measured"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("another mode", ((f"{FIELDS}.swizzle", "64B"),)),
        ("no swizzle", ((f"{FIELDS}.swizzle", "none"), (f"{FIELDS}.lbo", 16))),
        ("SBO in place of LBO", ((f"{FIELDS}.lbo", 1024), (f"{FIELDS}.sbo", 16))),
        ("a base offset", ((f"{FIELDS}.base_offset", 1),)),
        ("a step of K of 16 bytes", ((START, "stage*16384 + m*8192 + k*16"),)),
        ("the other warp group's rows", ((START, "stage*16384 + k*32"),)),
        ("the stage before", ((START, "(stage + 2)%3*16384 + m*8192 + k*32"),)),
        ("rows and K", ((f"{READS}.at", ["k*16", 0]), (f"{READS}.modes", ["K", "MN"]), ("operands.A.for.m", 1))),
        ("MN-major", (("operands.A.major", "MN"),)),
        ("from behind the base", ((f"{FIELDS}.base", {"in": "smem", "offset": 1024}),)),
    ],
)  # fmt: skip
def test_a_wrong_operand_is_refuted(name: str, changes: tuple[tuple[str, Any], ...]) -> None:
    found = verdict(*changes)
    assert found.outcome.value == "refuted", (name, found)
    assert "replay" in found.engines
    assert found.counterexample is not None
    assert found.counterexample.columns == ("(r, k)", "coord", "expected", "read", "there lies")


def test_a_buffer_relative_xor_needs_a_base_of_1024() -> None:
    tile = {"element": "f16", "layout": "(128,64):(64,1)", "swizzle": "Swizzle<3,3,3>", "stages": 3}
    good, bad = (verdict((TILE, {**tile, "base": {"align": align}})) for align in (1024, 128))
    assert (good.outcome.value, bad.outcome.value) == ("proved", "refuted")
    # The base offset takes out where the tile begins.
    placed = {**tile, "base": {"in": "smem", "offset": 384}, "stages": {"count": 3, "pitch": 16384}}
    for offset, outcome in ((3, "proved"), (5, "refuted"), (0, "refuted")):
        assert verdict((TILE, placed), (f"{FIELDS}.base_offset", offset)).outcome.value == outcome


def test_the_table_says_what_lies_where_the_tensor_core_reads() -> None:
    found = verdict((START, "stage*16384 + m*8192 + k*16"))
    assert found.counterexample is not None
    # The second step of K begins 8 elements early; the first one is right.
    assert found.counterexample.binding == {"stage": 0, "k": 1, "m": 0, "base": 0}
    first = found.counterexample.rows[0].cells
    assert first == ((0, 0), (0, 16), 32, 16, "(0, 8) of stage 0")
    assert "1024 of 1024 elements are wrong" in found.reason


def test_a_start_inside_16_bytes_is_misaligned() -> None:
    for kind in ("aligned", "in_bounds", "delivers"):
        found = verdict((START, "stage*16384 + m*8192 + k*32 + 8"), kind=kind)
        assert found.outcome.value == "refuted"
        assert "the start address 8 is no multiple of 16" in found.reason
    assert verdict(kind="aligned").outcome.value == "proved"
    open_base = ({"element": "f16", "layout": "(128,64):(64,1)", "stages": 3, "base": {"align": 8}},)
    assert verdict((TILE, *open_base), kind="aligned").outcome.value == "refuted"


def test_an_operand_beyond_its_stage_is_out_of_bounds() -> None:
    assert verdict(kind="in_bounds").outcome.value == "proved"
    found = verdict((START, "stage*16384 + m*8192 + k*32 + 128"), kind="in_bounds")
    assert found.outcome.value == "refuted"
    assert "is read at 16384, outside the bytes 0..16383 of tile A" in found.reason


def test_loops_that_never_run_say_nothing() -> None:
    for kind in ("aligned", "in_bounds", "delivers"):
        assert verdict(("operands.A.for.k", 0), kind=kind).outcome.value == "vacuous"


def test_tcgen05_is_documented_and_says_so() -> None:
    found = verdict(("target", "sm_100a"), ("operands.A.instruction", "tcgen05.mma.m64n128k16.f16"))
    assert (found.outcome.value, found.evidence) == ("proved", "documented")
    assert "documented, not measured" in found.notes[0]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("SWZ410", ((f"{FIELDS}.sbo", 1000),)),
        ("SWZ410", ((f"{FIELDS}.lbo", 1 << 18),)),
        ("SWZ410", ((START, "stage*16384 + k*65536 + 65536"),)),
        ("SWZ410", ((f"{TILE}.base", 262144 - 16384),)),
        ("SWZ105", ((f"{FIELDS}.base_offset", 8),)),
        ("SWZ105", ((f"{FIELDS}.base", {"align": 1024}),)),
        ("SWZ105", ((f"{READS}.at", ["m*64"]),)),
        ("SWZ105", ((f"{READS}.modes", ["K", "K"]),)),
        ("SWZ105", (("operands.A.instruction", "wgmma.m64n128k8.tf32"),)),
        ("SWZ105", ((TILE, {"element": "f16", "layout": "(128,8,8):(64,8,1)"}), (f"{READS}.stage", 0))),
        ("SWZ223", ((f"{FIELDS}.swizzle", "128"),)),
        ("SWZ306", ((f"{READS}.at", ["m*128", "k*16"]),)),
        ("SWZ306", ((f"{READS}.stage", "stage + 1"),)),
        ("SWZ306", ((START, "k*32 - 32"),)),
        ("SWZ104", ((f"{READS}.stage", None),)),
        ("SWZ104", (("operands.A.descripter", {}),)),
        ("SWZ206", (("operands.A.for.k", "any"),)),
        ("SWZ107", (("operands.A.for.k", 100_000), (START, "0"), (f"{READS}.at", [0, 0]))),
        ("SWZ301", ((START, "tid*32"),)),
        ("SWZ403", (("target", "sm_80"),)),
        ("SWZ411", (("operands.A.instruction", "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16"),)),
        ("SWZ106", ((f"{READS}.tile", "Q"),)),
        ("SWZ106", (("claims", [{"in_bounds": "A"}]),)),
    ],
)  # fmt: skip
def test_what_no_kernel_can_mean_is_refused(code: str, changes: tuple[tuple[str, Any], ...]) -> None:
    with pytest.raises(SpecError) as error:
        Spec.from_text(json.dumps(changed(*changes)))
    assert code in {problem.code for problem in error.value.problems}


def test_an_unknown_key_of_a_descriptor_is_named_with_those_that_are_allowed() -> None:
    with pytest.raises(SpecError, match="unknown key 'stride'") as error:
        Spec.from_text(json.dumps(changed((f"{FIELDS}.stride", 1))))
    assert "start, lbo, sbo, swizzle, base_offset, base" in str(error.value)


def _claim(*changes: tuple[str, Any]) -> Any:
    return Spec.from_text(json.dumps(changed(*changes))).claims[0]


def test_a_certificate_states_the_operand() -> None:
    stated = describe(_claim().claim)
    assert (stated.of, list(stated.operands), list(stated.tiles)) == ((("operand", "A"),), ["A"], ["A"])
    assert sentence_of(stated) == (
        "delivers: every start of operand A is a multiple of 16, and each element is read where the tile has it"
    )


def test_a_device_runs_delivers_of_an_operand_and_nothing_else() -> None:
    assert not not_run(_claim().claim)
    assert "run `delivers` only" in not_run(Aligned(_claim().claim.subjects[0]))


def test_a_written_test_finds_the_same_elements() -> None:
    claim = _claim((START, "stage*16384 + m*8192 + k*16")).claim
    assert isinstance(claim, Delivers)
    where = {"stage": 0, "k": 1, "m": 0, "base": 2048}
    assert len(claim.broken(*reads_at(claim, where))) == 1024
    assert claim.broken(*reads_at(claim, {**where, "k": 0})) == []


@pytest.mark.parametrize(
    ("changes", "direction", "what"),
    [
        (((START, "stage*16384 + m*8192 + k*16"),), "neither", "descriptor of A"),
        ((("operands.A.for.k", 3),), "weaker", "loops of A"),
        ((("operands.A.for.k", [0, 1, 2, 3]),), None, ""),
        (((f"{READS}.at", ["m*64", 0]),), "neither", "coordinates of A"),
        ((("operands.A.instruction", "wgmma.m64n64k16.f16"),), "neither", "instruction of A"),
        ((("operands.A.role", "B"), ("operands.A.instruction", "wgmma.m64n32k16.f16")), "weaker", "role of A"),
    ],
)  # fmt: skip
def test_diff_says_what_changes_in_an_operand(
    changes: tuple[tuple[str, Any], ...], direction: str | None, what: str
) -> None:
    found = differences(_claim(), _claim(*changes))
    if direction is None:
        assert found == ()
    else:
        assert direction in {each.direction.value for each in found if each.what == what}
