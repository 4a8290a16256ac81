"""Stages are compared point by point; under a claim on bounds, what grows lets more pass; constants
keep their code.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from swzverify.apps.diff.points import same_stage
from swzverify.spec import SpecError, load_spec, parse_spec
from swzverify.subjects import Loop

from .conftest import outcome, swapped

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A: {element: f16, layout: "(64,64):(64,1)", stages: 2}
  P: {element: f16, layout: {shape: [64, 64], pad: 8}}
accesses:
  read:
    tile: A
    instruction: ld.shared.b32
    block: [64, 1]
    for: {k: {start: 0, stop: 64, step: 16}}
    coord: [tid%64, k]
    stage: "1"
  whole: {tile: A, instruction: ld.shared.b32, threads: 64, coord: [tid, 0]}
  padded: {tile: P, instruction: ld.shared.b32, threads: 64, coord: [tid, 0]}
claims:
  - conflict_free: read
  - in_bounds: read
  - in_bounds: whole
  - in_bounds: padded
  - in_bounds: P
"""


def staged(stage: str | None, *edits: tuple[str, str]) -> str:
    """The spec with another stage for `read`."""
    text = swapped(('    stage: "1"\n', "" if stage is None else f'    stage: "{stage}"\n'), text=SPEC)
    return swapped(*edits, text=text)


ALL_IN_TURN = ("step: 16}}", "step: 16}, j: 2}")
ENDLESS = ("{start: 0, stop: 64, step: 16}", "any")
FEWER = {
    "by warps in place of one": (staged("1"), staged("1-warp%2")),
    "by warps the other way round": (staged("warp%2"), staged("1-warp%2")),
    "in turns in place of all": (staged(None), staged("k/16%2")),
    "in turns, one later": (staged("k/16%2"), staged("(k/16+1)%2")),
    "a loop's, without the loop": (staged("j", ALL_IN_TURN), staged("0")),
    "of an unbounded loop, that cannot be told": (staged("k/16%2", ENDLESS), staged("(k/16)&1", ENDLESS)),
    "of a block of another shape": (staged("tid_x/32"), staged("tid_x/32", ("[64, 1]", "[32, 2]"))),
    "all of fewer": (staged(None), staged(None, ("stages: 2", "stages: 1"))),
}


@pytest.mark.parametrize("way", FEWER)
def test_a_stage_that_some_thread_visits_no_more_is_less(way):
    before, after = FEWER[way]
    assert outcome(before, after)["read::conflict_free"] == "weakened"


SAME = {
    "other words": (staged("k/16%2"), staged("(k/16)&1"), "changed"),
    "another name of an unbounded loop": (
        staged("k%2", ENDLESS), staged("kk%2", ENDLESS, ("{k: ", "{kk: "), ("tid%64, k]", "tid%64, kk]")), "changed",
    ),
    "a block of another shape": (staged("warp%2"), staged("warp%2", ("[64, 1]", "[32, 2]")), "changed"),
    "a loop of one value less": (staged("j", ("step: 16}}", "step: 16}, j: 1}")), staged("0"), "changed"),
    "all in place of one": (staged("1"), staged(None), "strengthened"),
    "all of more": (staged(None), staged(None, ("stages: 2", "stages: 3")), "changed"),
}  # fmt: skip


@pytest.mark.parametrize("way", SAME)
def test_the_same_stages_or_all_are_no_less(way):
    before, after, status = SAME[way]
    assert outcome(before, after)["read::conflict_free"] == status


def test_stages_by_points_are_those_of_plain_loops():
    def access(stage):
        return parse_spec(staged(stage), path="a").claims[0].claim.access

    points = list(product(range(64), range(0, 64, 16)))
    warps, steps = [tid // 32 for tid, _ in points], [k // 16 for _, k in points]
    values = {
        "0": [0 for _ in points],
        "1": [1 for _ in points],
        "warp": warps,
        "tid/32": warps,
        "tid_x/32": warps,
        "1-warp": [1 - warp for warp in warps],
        "k/16%2": [step % 2 for step in steps],
        "(k/16)&1": [step % 2 for step in steps],
        "(warp+k/16)%2": [(warp + step) % 2 for warp, step in zip(warps, steps, strict=True)],
    }
    for (one, mine), (other, others) in product(values.items(), values.items()):
        assert same_stage(access(one), access(other)) is (mine == others), (one, other)


GROWN = {
    "an extent": ("whole::in_bounds", SPEC, SPEC.replace("(64,64):", "(128,64):")),
    "an extent beside one that shrinks": ("whole::in_bounds", SPEC, SPEC.replace("(64,64):(64", "(128,32):(32")),
    "another number of modes": (
        "padded::in_bounds",
        SPEC,
        SPEC.replace("{shape: [64, 64], pad: 8}", "(4096):(1)").replace("coord: [tid, 0]}\nc", "coord: [tid]}\nc"),
    ),
    "the allocation": ("whole::in_bounds", SPEC, SPEC.replace("stages: 2}", "stages: 2, bytes: 16384}")),
    "the pad": ("padded::in_bounds", SPEC, SPEC.replace("pad: 8", "pad: 16")),
    "the stages of one that is named": ("read::in_bounds", SPEC, SPEC.replace("stages: 2", "stages: 3")),
}


@pytest.mark.parametrize("way", GROWN)
def test_a_bound_that_grows_says_less(way):
    claim, before, after = GROWN[way]
    assert before != after
    assert outcome(before, after)[claim] == "weakened"


@pytest.mark.parametrize("way", ["an extent", "the allocation", "the pad", "the stages of one that is named"])
def test_a_bound_that_shrinks_says_no_less(way):
    claim, before, after = GROWN[way]
    assert outcome(after, before)[claim] == "changed"


def test_what_grows_is_no_bound_of_a_cost_or_of_the_tile_itself():
    found = outcome(SPEC, SPEC.replace("(64,64):", "(128,64):").replace("pad: 8", "pad: 16"))
    assert found["read::conflict_free"] == "changed"
    assert found["P::in_bounds"] == "changed"


def test_a_loop_that_never_runs_is_told_from_one_that_runs_once():
    assert Loop("k", 0, 0).describe(0) != Loop("k", 0, 1).describe(1)
    once, never = SPEC.replace("stop: 64", "stop: 1"), SPEC.replace("stop: 64", "stop: 0")
    assert outcome(once, never)["read::conflict_free"] == "weakened"
    assert outcome(never, once)["read::conflict_free"] == "strengthened"


CODE = "constexpr int kWidth = 64;\nconstexpr int kOther = 64;\n"
READS = """\
swzverify: 1
from_source: {W: {file: k.cu, name: kWidth}}
tiles: {A: {element: f16, layout: "(8,W):(W,1)"}}
claims: [{injective: A}]
"""
NAME = "W: {file: k.cu, name: kWidth}"


class TestConstantsOfTheCode:
    @pytest.fixture(autouse=True)
    def _files(self, here):
        for folder in (here, here / "other"):
            folder.mkdir(exist_ok=True)
            for name in ("k.cu", "copy.cu"):
                (folder / name).write_text(CODE)

    @pytest.mark.parametrize(
        "after",
        [
            READS.replace(f"from_source: {{{NAME}}}", "constants: {W: 64}"),
            READS.replace("W: {", "V: {")
            .replace("tiles: {", "constants: {W: 64}\ntiles: {B: {element: f16, layout: '(8,V):(V,1)'}, ")
            .replace("kWidth", "kOther"),
            READS.replace("kWidth", "kOther"),
            READS.replace("k.cu", "copy.cu"),
            READS.replace("k.cu", "other/k.cu"),
        ],
    )
    def test_one_that_is_read_no_more_is_weaker(self, after):
        assert outcome(READS, after) == {"A::injective": "weakened"}
        assert outcome(after.replace("kOther", "kWidth"), after.replace("kOther", "kWidth")) == {}

    def test_one_of_two_names_for_it(self):
        both = READS.replace(NAME, f"{NAME}, V: {{file: k.cu, name: kWidth}}").replace("8,W):(W", "8,W):(V")
        assert outcome(both, READS) == {"A::injective": "weakened"}
        assert outcome(READS, both) == {}

    @pytest.mark.parametrize(
        ("literal", "lost"),
        [
            ("(8,64):(64,1)", ["A::injective", "A::in_bounds", "read::conflict_free"]),
            ("(8,64):(W,1)", []),  # still read, though not everywhere
        ],
    )
    def test_a_claim_whose_subject_got_a_number_in_its_place(self, literal, lost):
        """The name stays, for another tile; today the claim says the same, and tomorrow's code it
        does not see.
        """
        before = READS.replace(
            "tiles: {",
            "tiles: {B: {element: f16, layout: '(8,W):(W,1)'}, ",
        ).replace(
            "claims: [{injective: A}]",
            "accesses: {read: {tile: A, instruction: ld.shared.b16, threads: 32, coord: [0, tid]}}\n"
            "claims: [{injective: A}, {in_bounds: A}, {conflict_free: read}, {injective: B}]",
        )
        after = before.replace('"(8,W):(W,1)"', f'"{literal}"')
        assert outcome(before, after) == dict.fromkeys(lost, "weakened")

    def test_a_limit_of_a_claim_is_read_too(self):
        before = READS.replace("claims: [{injective: A}]", "claims: [{contiguous: {tile: A, elements: W/8}}]")
        assert outcome(before, before.replace("W/8", "8")) == {}  # the tile still follows the code
        fixed = before.replace("(8,W):(W,1)", "(8,64):(64,1)")
        assert outcome(fixed, fixed) == {}
        with pytest.raises(SpecError, match="SWZ126"):
            outcome(fixed, fixed.replace("W/8", "8"))

    def test_what_the_spec_calls_it_and_where_the_code_has_it_may_change(self):
        assert outcome(READS, READS.replace("W: {", "V: {").replace("8,W):(W", "8,V):(V")) == {}
        before = load_spec_text(READS)
        Path("k.cu").write_text("\n\n" + CODE)
        assert load_spec_text(READS) == before

    def test_files_beside_both_specs_are_one(self, swzverify):
        Path("s.swz.yaml").write_text(READS)
        Path("other/s.swz.yaml").write_text(READS)
        assert swzverify("diff", "s.swz.yaml", "other/s.swz.yaml", "--no-prove").exit_code == 0
        Path("other/s.swz.yaml").write_text(READS.replace(f"from_source: {{{NAME}}}", "constants: {W: 64}"))
        result = swzverify("diff", "s.swz.yaml", "other/s.swz.yaml", "--no-prove")
        assert result.exit_code == 1
        assert "constant W: read from kWidth in k.cu -> not read from the code" in result.stdout


def load_spec_text(text: str):
    """What a spec here reads from the code."""
    Path("s.swz.yaml").write_text(text)
    return [claim.read for claim in load_spec("s.swz.yaml").claims]
