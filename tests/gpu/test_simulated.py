"""The cross-check over the shipped library, with a device of plain loops: every claim agrees, every
fault shows.
"""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from swzverify.claims import Outcome
from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.launch import DeviceAnswer, Launch
from swzverify.gpu.plan import Plan
from tests.gpu.simulated import NOWHERE, answers_of
from tests.gpu.specs import SPECS, checked, claims_in, claims_of_file

FEW = [
    "basics/matrix_instructions",
    "basics/partial_warps",
    "basics/atomics",
    "basics/in_bounds",
    "basics/base_of_an_access",
    "basics/sub_byte_f4",
    "padding/f16_plus_one",
    "padding/cp_async_16",
    "tma/reader_64b",
    "published/swizzle_8x32_blocks",
    "block_swizzle/cutlass_identity",
    "transpose/naive_32x32",
]


def _files(name: str) -> list[Path]:
    path = SPECS / name
    return sorted(path.glob("*.swz.yaml")) if path.is_dir() else [path.with_name(f"{path.name}.swz.yaml")]


# Of atomics and of TMA, `SPEC` below has some by day.
LONG = {"basics/atomics", "tma/reader_64b"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in LONG), id=name) for name in FEW]
)
def test_an_honest_device_agrees(name: str) -> None:
    for file in _files(name):
        claims = claims_of_file(file)
        found = checked(claims)
        for (claim, verdict), result in zip(claims, found.results["t"], strict=True):
            assert result.agrees is not False, (claim.kind, claim.subject, result)
            if verdict.outcome is Outcome.PROVED:
                assert result.seen.holds in (True, None)


SPEC = """
swzverify: 1
target: sm_90
tiles:
  A: {element: f16, layout: "(16,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {align: 1024}, stages: 2}
  T: {element: f32, tma: {swizzle: 64B, box: [8, 16]}}
accesses:
  store: {tile: A, instruction: st.shared.v4.b32, threads: 128, coord: [tid/8, tid%8*8]}
  load:
    {tile: A, instruction: ld.shared.v2.b32, threads: 64, for: {i: 2}, coord: [i*8 + tid/16, tid%16*4], if: tid < 60}
  matrix: {tile: A, instruction: ldmatrix.x4, threads: 32, for: {k: 4}, coord: [tid%16, k*16 + tid/16*8]}
  turned: {tile: A, instruction: ldmatrix.x2.trans, threads: 32, coord: [tid%16, 0]}
  back: {tile: A, instruction: stmatrix.x4, threads: 32, coord: [tid%16, tid/16*8]}
  copy: {tile: A, instruction: cp.async.8, threads: 64, coord: [tid/16, tid%16*4]}
  count: {instruction: atom.shared.add.u32, threads: 64, address: tid/2*4, base: {align: 128}, bytes: 128}
maps:
  turn: {over: {x: 8, y: 4}, value: [7 - x, y*2 - x/4*2], onto: [8, 8]}
claims:
  - bijective: A
  - contiguous: {tile: A, elements: 8}
  - injective: T
  - disjoint: A
  - equivalent: [A, A]
  - covers: {access: store, tile: A}
  - {permutation: turn, expect: refuted, because: half of it is left out}
  - conflict_free: store
  - conflict_free: load
  - in_bounds: store
  - aligned: load
  - conflict_free: matrix
  - aligned: turned
  - in_bounds: back
  - in_bounds: copy
  - {conflict_free: count, expect: refuted, because: atomics of one word}
"""


@pytest.fixture(scope="module")
def claims() -> list:
    return claims_in(SPEC)


def test_everything_in_one_spec_agrees(claims: list) -> None:
    found = checked(claims)
    assert [result.agrees for result in found.results["t"]] == [True] * len(claims)
    assert sum(result.comparison.bytes for result in found.results["t"]) > 10_000


def _changed(answers: list[DeviceAnswer], number: int, field: str, rng: random.Random) -> list[DeviceAnswer]:
    array = getattr(answers[number], field).copy()
    at = rng.randrange(array.size)
    array.flat[at] = int(array.flat[at]) ^ (1 << rng.randrange(4))
    return [*answers[:number], dataclasses.replace(answers[number], **{field: array}), *answers[number + 1 :]]


@pytest.mark.parametrize("part", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_changed_answer_shows(claims: list, part: int) -> None:
    """A bit of any place, of any loaded byte, of any byte of shared memory: some claim about it
    disagrees.
    """
    rng = random.Random(3)
    plan = plan_all({"t": claims})["t"]
    answers = answers_of(plan)
    tried = 0
    for number, launch in list(enumerate(plan.job.launches))[::part]:
        for field in ("places", "values", "image"):
            if not getattr(answers[number], field).size:
                continue
            changed = _changed(answers, number, field, rng)
            results = checked(claims, changed).results["t"]
            ignored = _means_nothing(answers[number], changed[number], launch, plan)
            assert any(result.agrees is False for result in results) or ignored, (launch.kernel, field)
            tried += not ignored
    assert tried > 40 // part


def _means_nothing(before: DeviceAnswer, after: DeviceAnswer, launch: Launch, plan: Plan) -> bool:
    """A plain load's registers hold anything in lanes that take no part."""
    changed = np.argwhere(before.values != after.values)
    run = next((run for run in plan.runs.values() if run.kernel == launch.kernel), None)
    if not changed.size or not isinstance(run, AccessRun) or run.access.instruction.warp_wide:
        return False
    words = before.values.shape[1] // before.places.size
    return bool(before.places[changed[0][1] // words] == NOWHERE)


def test_a_launch_that_failed_is_no_agreement(claims: list) -> None:
    plan = plan_all({"t": claims})["t"]
    answers = answers_of(plan)
    failed = [DeviceAnswer.failed(719, launch) for launch in plan.job.launches]
    assert all(result.agrees is False for result in checked(claims, failed).results["t"])
    one = [failed[0], *answers[1:]]
    assert any(result.agrees is False for result in checked(claims, one).results["t"])


def test_a_launch_that_the_driver_refused_says_nothing(claims: list) -> None:
    """As on a chip with less shared memory; but that it refuses a TMA load which the model knows is
    a difference.
    """
    plan = plan_all({"t": claims})["t"]
    refused = [DeviceAnswer.failed(1, launch) for launch in plan.job.launches]
    results = checked(claims, refused).results["t"]
    by_tma = [claim.kind == "injective" for claim, _ in claims]
    assert [result.agrees for result in results] == [False if tma else None for tma in by_tma]


def test_a_misaligned_access_must_trap() -> None:
    text = """
swzverify: 1
target: sm_90
accesses:
  odd: {instruction: ld.shared.b32, threads: 32, address: tid*4 + 2}
claims:
  - {aligned: odd, expect: refuted, because: two bytes off}
"""
    claims = claims_in(text)
    plan = plan_all({"t": claims})["t"]
    assert [launch.faults for launch in plan.job.launches] == [False, True]
    honest = answers_of(plan)
    assert checked(claims, honest).results["t"][0].agrees is True
    ran = [honest[0], dataclasses.replace(honest[1], status=0)]
    assert checked(claims, ran).results["t"][0].agrees is False
    other = [honest[0], dataclasses.replace(honest[1], status=700)]
    assert checked(claims, other).results["t"][0].agrees is False


def test_a_wrong_verdict_shows(claims: list) -> None:
    """Had the prover said the opposite, the device would have contradicted it."""
    opposite = {Outcome.PROVED: Outcome.REFUTED, Outcome.REFUTED: Outcome.PROVED}
    turned = [(claim, dataclasses.replace(verdict, outcome=opposite[verdict.outcome])) for claim, verdict in claims]
    plan = plan_all({"t": turned})["t"]
    results = checked(turned, answers_of(plan)).results["t"]
    for (claim, _), result in zip(turned, results, strict=True):
        # that an access stays inside cannot be seen whole: a coordinate may be outside where its
        # address is not
        assert result.agrees is (None if claim.kind == "in_bounds" else False), claim.kind


def test_costs_of_another_chip_are_not_compared(claims: list) -> None:
    ampere = dataclasses.replace(checked(claims).device, capability=80)
    results = checked(claims, facts=ampere).results["t"]
    kinds = {claim.kind: result for (claim, _), result in zip(claims, results, strict=True)}
    assert kinds["conflict_free"].agrees is None
    assert kinds["bijective"].agrees is True


COVERED = """
swzverify: 1
tiles: {A: {element: i32, layout: "(32):(1)", base: 0}}
accesses: {W: {tile: A, instruction: st.shared.b32, threads: 32, coord: [tid]}}
claims: [{covers: {access: W}}]
"""


@pytest.mark.parametrize("wrong", [1 << 45, 1 << 62, 1 << 63, (1 << 64) - 2])
def test_an_address_beyond_all_is_a_disagreement(wrong: int) -> None:
    """It takes no memory in proportion to it, and it is no fault of ours."""
    claims = claims_in(COVERED)
    found: list[DeviceAnswer] = []
    for answer in answers_of(plan_all({"t": claims})["t"]):
        places = answer.places.copy()
        places[:1] = wrong
        found.append(dataclasses.replace(answer, places=places))
    assert [result.agrees for result in checked(claims, found).results["t"]] == [False]


@pytest.mark.parametrize(("times", "outcome"), [(2, Outcome.PROVED), (1, Outcome.REFUTED)])
def test_lanes_that_touch_a_part_of_an_element_touch_it(times: int, outcome: Outcome) -> None:
    text = COVERED.replace("i32", "i64").replace('"(32):(1)"', '"(16):(1)"').replace("coord: [tid]", "offset: tid/2")
    text = text.replace("{tile: A, instruction: st.shared.b32,", "{instruction: st.shared.b32, base: 0,")
    text = text.replace("offset: tid/2", "address: tid*4").replace(
        "{access: W}", f"{{access: W, tile: A, times: {times}}}"
    )
    claims = claims_in(text)
    assert claims[0][1].outcome is outcome
    assert [result.agrees for result in checked(claims).results["t"]] == [True]
