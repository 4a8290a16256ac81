"""`swzverify init`: what it writes comes out as it says, with the reason for what fails, and is
proved beforehand.
"""

from __future__ import annotations

import itertools
import re

import pytest

from swzverify.apps.commands.init import make_starter
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, access_cost
from swzverify.layout import Swizzle
from swzverify.prover import prove
from swzverify.spec import parse_spec
from swzverify.spec.elements import ELEMENT_BITS
from swzverify.spec.starter import Expectation, StarterOptions, make_plan, parse_tile, starter_text
from swzverify.spec.starter import plan as planning
from swzverify.spec.starter.plan import Choice, choose_swizzle, conflict_free_pad

TILES = [(64, 64), (32, 32), (128, 16), (40, 64), (8, 8), (33, 33)]
CHOICES: list[dict[str, object]] = [
    {"swizzle": "auto"},
    {"swizzle": "none"},
    {"swizzle": "Swizzle<2,1,3>"},
    {"pad": 1},
    {"pad": 8},
]
GRID = list(itertools.product(ELEMENT_BITS, TILES, INSTRUCTIONS, CHOICES))
STATED = {"SWZ524", "SWZ525", "SWZ526"}
"""What init may refuse, with the reason and what to write instead."""


def options_of(point):
    element, (rows, columns), instruction, choice = point
    return StarterOptions(element, rows, columns, instruction, **choice)


def made(points, make):
    """What `make` gives for these points of the grid, without those that are refused for a stated
    reason.
    """
    found, refused = [], []
    for point in points:
        try:
            found.append(make(options_of(point)))
        except SwzError as error:
            refused.append((point, error))
    assert not [(point, error) for point, error in refused if error.code not in STATED or not error.hint]
    return found


class TestGrid:
    @pytest.mark.parametrize(("every", "least"), [(68, 70), pytest.param(17, 300, marks=pytest.mark.nightly)])
    def test_every_point_has_a_plan_that_loads_or_a_reason(self, every, least):
        plans = made(GRID[::every], make_plan)
        assert len(plans) > least
        for plan in plans:
            spec = parse_spec(starter_text(plan))
            assert len(spec.claims) == len(plan.claims) >= 9
            assert {claim.kind for claim in spec.claims} >= {"aligned", "in_bounds", "covers", "conflict_free"}

    @pytest.mark.parametrize(
        ("every", "least", "refuted"), [(1093, 4, 1), pytest.param(331, 15, 5, marks=pytest.mark.nightly)]
    )
    def test_what_is_written_comes_out_as_it_says(self, every, least, refuted, tmp_path, monkeypatch, swzverify):
        monkeypatch.chdir(tmp_path)
        starters = made(GRID[3::every], make_starter)
        assert len(starters) > least
        assert sum(bool(starter.refuted) for starter in starters) > refuted
        for count, starter in enumerate(starters):
            (tmp_path / f"{count}.swz.yaml").write_text(starter.text)
            assert starter.proved + starter.refuted + starter.unknown == len(parse_spec(starter.text).claims)
        result = swzverify("prove", ".", "-j", "1", "-q")
        assert result.exit_code == 0, result.output
        assert " 0 unexpected" in result.output

    def test_the_automatic_swizzle_leaves_nothing_to_be_desired(self):
        automatic = [point for point in GRID if point[3] == {"swizzle": "auto"}]
        starters = made(automatic[7::83], make_starter)
        assert len(starters) > 10
        assert all((starter.refuted, starter.unknown) == (0, 0) for starter in starters)
        assert all("expect" not in starter.text for starter in starters)


class TestHonesty:
    def test_without_a_swizzle_the_conflict_is_named(self):
        text = make_starter(StarterOptions(swizzle="none")).text
        claims = {(claim.kind, claim.subject): claim for claim in parse_spec(text).claims}
        conflict = claims["conflict_free", "read_A"]
        assert conflict.expected.value == "refuted"
        assert conflict.because == (
            "ldmatrix.x4 takes 32 wavefronts instead of 4; lanes 0-7 touch 8 different addresses in bank 0"
        )
        assert {claim.expected.value for key, claim in claims.items() if key != ("conflict_free", "read_A")} == {
            "proved"
        }

    def test_a_choice_that_is_wrong_is_found_out(self, monkeypatch):
        wrong = Choice(Swizzle(2, 3, 3), "for no reason")
        monkeypatch.setattr(planning, "choose_swizzle", lambda *_: wrong)
        starter = make_starter(StarterOptions())
        assert starter.refuted == 1
        assert "takes 8 wavefronts instead of 4" in " ".join(starter.text.split())

    def test_what_cannot_be_told_is_not_called_proved(self, monkeypatch):
        def answer(claim, *, options):
            if claim.kind == "covers":
                return Verdict(Outcome.UNKNOWN, "", reason="z3: out of its budget")
            return prove(claim, options=options)

        monkeypatch.setattr("swzverify.apps.commands.init.prove", answer)
        starter = make_starter(StarterOptions())
        assert (starter.proved, starter.refuted, starter.unknown) == (8, 0, 2)
        assert "every claim below is proved" not in starter.text
        unknown = [claim for claim in parse_spec(starter.text).claims if claim.expected is Outcome.UNKNOWN]
        assert [(claim.kind, claim.because) for claim in unknown] == [("covers", "z3: out of its budget")] * 2

    def test_a_verdict_that_no_spec_may_expect_is_an_error(self, monkeypatch):
        monkeypatch.setattr(
            "swzverify.apps.commands.init.prove", lambda *_, **__: Verdict(Outcome.ERROR, "", reason="z3: no; gf2: yes")
        )
        with pytest.raises(SwzError, match=r"SWZ527.*came out error: z3: no"):
            make_starter(StarterOptions())

    def test_every_line_has_a_comment(self):
        for options in (
            StarterOptions(stages=2),
            StarterOptions(pad=8),
            StarterOptions(element="f32", instruction="ld.shared.b32", rows=40),
        ):
            lines = starter_text(make_plan(options), {1: Expectation("refuted", "a reason " * 30)}).splitlines()
            bare = [
                line
                for before, line in itertools.pairwise(lines)
                if line
                and "#" not in line
                and not before.strip().startswith("#")
                and not line.startswith("      a reason")
            ]
            names = r"(tiles|accesses|claims|  A|  (read|write)_A):|title: .*|    because: >-|      reason.*"
            assert all(re.fullmatch(names, line) or line.strip().startswith(("a reason", "reason")) for line in bare), (
                bare
            )
            assert max(map(len, lines)) <= 120


class TestChoice:
    @pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
    @pytest.mark.parametrize("bits", [4, 8, 16, 32, 64])
    def test_it_frees_every_column_of_every_row_length(self, bits, width):
        """By the cost rule itself, address by address."""
        if 8 * width < bits:
            return
        vector = 8 * width // bits
        name = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}[
            width
        ]
        for columns in (1 << power for power in range(vector.bit_length() - 1, 12)):
            swizzle = choose_swizzle(bits, columns, width).swizzle or Swizzle(0, 0, 0)
            assert swizzle.bits == 0 or 1 << swizzle.base >= vector
            for column in {0, vector, columns // 2, columns - vector}:
                addresses = [swizzle(row * columns + column // vector * vector) * bits // 8 for row in range(32)]
                assert access_cost(name, addresses).bank_conflicts == 0, (columns, column, swizzle)

    def test_rows_of_no_power_of_two_have_none_and_the_pad_that_is_named_works(self):
        with pytest.raises(SwzError, match="SWZ526") as caught:
            make_plan(StarterOptions(columns=48))
        assert "--pad 8" in caught.value.hint
        claims = parse_spec(make_starter(StarterOptions(columns=48, pad=8)).text).claims
        expected = {claim.subject: claim.expected.value for claim in claims if claim.kind == "conflict_free"}
        assert expected["read_A"] == "proved"
        assert conflict_free_pad(32, 32, 4) == 1

    def test_a_published_choice(self):
        assert make_plan(StarterOptions(element="f32", columns=32, instruction="ld.shared.b32")).swizzle == Swizzle(
            5, 0, 5
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "code", "hint"),
        [
            (StarterOptions(element="fp16"), "SWZ105", "did you mean 'f16'?"),
            (StarterOptions(instruction="ldmatrix.x3"), "SWZ401", "write ldmatrix.x1, .x2 or .x4"),
            (StarterOptions(target="sm_91"), "SWZ402", "known are sm_70"),
            (StarterOptions(instruction="stmatrix.x4", target="sm_80"), "SWZ403", "sm_90"),
            (StarterOptions(swizzle="Swizle<3,3,3>"), "SWZ200", "write Swizzle<B,M,S>"),
            (StarterOptions(swizzle="Swizzle<3,3,1>"), "SWZ210", "|S| >= B"),
            (StarterOptions(element="f64", instruction="ld.shared.b32"), "SWZ524", "ld.shared.b64"),
            (StarterOptions(element="f6"), "SWZ524", "by hand"),
            (StarterOptions(columns=60), "SWZ524", "64x56 or 64x64"),
            (StarterOptions(threads=100), "SWZ525", "multiple of 32"),
            (StarterOptions(threads=96), "SWZ525", "these can: 32, 64, 128"),
            (StarterOptions(rows=40), "SWZ525", "rows a multiple of 16, columns a multiple of 16"),
            (StarterOptions(columns=48), "SWZ526", "--pad 8"),
        ],
    )
    def test_with_a_reason_and_a_way_out(self, options, code, hint):
        with pytest.raises(SwzError) as caught:
            make_plan(options)
        assert caught.value.code == code
        assert hint in caught.value.hint

    def test_a_tile_that_is_too_large(self):
        with pytest.raises(SwzError, match="SWZ110: tile A takes 524288 bytes"):
            make_starter(StarterOptions(rows=1024, columns=256))

    @pytest.mark.parametrize("text", ["64", "64x", "0x64", "64x64x2", "-1x2", "99999x2", "axb", ""])
    def test_what_is_no_tile(self, text):
        with pytest.raises(SwzError, match="SWZ523"):
            parse_tile(text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestCommand:
    def test_without_options(self, here, swzverify):
        result = swzverify("init")
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == "tile.swz.yaml: 10 claims proved\nnow: swzverify prove tile.swz.yaml\n"
        assert swzverify("prove", "tile.swz.yaml", "-q").exit_code == 0
        assert "Swizzle<3,3,3>" in (here / "tile.swz.yaml").read_text()

    def test_a_file_that_exists_is_left_alone_without_force(self, here, swzverify):
        (here / "a.swz.yaml").write_text("mine")
        result = swzverify("init", "a.swz.yaml")
        assert result.exit_code == 2
        assert "SWZ522 'a.swz.yaml' exists already; --force replaces it" in result.stderr
        assert (here / "a.swz.yaml").read_text() == "mine"
        assert swzverify("init", "a.swz.yaml", "--force").exit_code == 0
        assert "swzverify: 1" in (here / "a.swz.yaml").read_text()

    def test_a_link_to_nowhere_is_not_followed_without_force(self, here, swzverify):
        (here / "a.swz.yaml").symlink_to(here / "elsewhere")
        assert "SWZ522" in swzverify("init", "a.swz.yaml").stderr
        assert not (here / "elsewhere").exists()

    def test_standard_output(self, here, swzverify):
        result = swzverify(
            "init", "-", "--element", "f32", "--instruction", "ld.shared.b32", "--tile", "32x32", "--swizzle", "none"
        )
        assert result.exit_code == 0
        assert result.stderr == "standard output: 8 claims proved, 1 refuted; the file says why\n"
        assert parse_spec(result.stdout).claims
        assert not list(here.iterdir())

    def test_all_options(self, here, swzverify):
        arguments = (
            "--element bf16 --tile 128x64 --instruction stmatrix.x2 --pad 8 --target sm_90a --threads 64 --stages 3"
        )
        assert swzverify("init", "x.yaml", *arguments.split()).stderr.splitlines()[-1].startswith("note: ")
        text = (here / "x.yaml").read_text()
        for line in (
            "element: bf16",
            "pad: 8",
            "stmatrix.x2",
            "target: sm_90a",
            "threads: 64",
            "stages: 3",
            "disjoint: A",
        ):
            assert line in text
        assert swzverify("prove", "x.yaml", "-q").exit_code == 0

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--pad", "8", "--swizzle", "auto"], "--pad and --swizzle cannot be used together"),
            (["--tile", "64"], "SWZ523: '64' is not a tile"),
            (["--instruction", "ldmatrix.x5"], "SWZ401: instruction 'ldmatrix.x5' is not in the table"),
            (["--element", "f\x1b[31m"], "SWZ105: unknown element type"),
            (["none/a.swz.yaml"], "SWZ521 cannot write 'none/a.swz.yaml': No such file or directory"),
            (["--stages", "0"], "--stages"),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_is_written(self, arguments, said, here, swzverify):
        result = swzverify("init", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
        assert "\x1b" not in result.stderr
        assert not list(here.iterdir())
