"""`swzverify prove --fix` and `--diff`: proved cures go into the texts of specs, and break nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run import fix
from swzverify.apps.run.fix import fix_text
from swzverify.claims.verdict import Outcome
from swzverify.spec.load import parse_spec

COLUMN = """\
# what the kernel does
swzverify: 1
tiles:
  T:   # the tile
    element: f32
    layout: (32,32):(32,1)   # rows
accesses:
  read: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
claims:
  - conflict_free: read
"""
ONE_TO_ONE = COLUMN + "  - bijective: T\n"
PAD = ("(32,1)   # rows", "(33,1)   # rows")
SWIZZLE = ("# rows\n", "# rows\n    swizzle: Swizzle<5,0,5>\n")
SOURCE = "int x;\n// swz:begin\n" + "".join(f"// {line}\n" for line in COLUMN.splitlines()) + "// swz:end\n"
EXPECTED = "  - conflict_free: read\n    expect: refuted\n    because: it shows the mistake\n"
ORDER = Path(__file__).parents[2] / "specs" / "order"


def test_the_nearest_cure_is_written_and_comments_stay(swzverify, write):
    write({"a.swz.yaml": COLUMN, "k.cu": SOURCE})
    result = swzverify("prove", "--fix", "a.swz.yaml", "k.cu")
    assert result.exit_code == 0
    assert "2 proved, 0 unexpected" in result.stdout
    assert Path("a.swz.yaml").read_text("utf-8") == COLUMN.replace(*PAD)
    assert Path("k.cu").read_text("utf-8") == SOURCE.replace(*PAD)
    assert "a.swz.yaml:10: conflict_free read: written: T: pad 1 after every 32 elements" in result.stderr
    assert "change the kernel alike" in result.stderr


def test_a_cure_that_breaks_another_claim_is_not_written(swzverify, write):
    write({"a.swz.yaml": ONE_TO_ONE})
    assert swzverify("prove", "--fix", "-q", "a.swz.yaml").exit_code == 0
    assert Path("a.swz.yaml").read_text("utf-8") == ONE_TO_ONE.replace(*SWIZZLE)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (EXPECTED, "would break conflict_free read"),
        ("  - wavefronts: {access: read, exactly: 32}\n", "no cure was found"),
    ],
)
def test_where_every_cure_breaks_a_claim_nothing_is_written(swzverify, write, more, why):
    write({"a.swz.yaml": COLUMN + more})
    result = swzverify("prove", "--fix", "a.swz.yaml")
    assert result.exit_code == 1
    assert "nothing is written: " in result.stderr
    assert why in result.stderr
    assert Path("a.swz.yaml").read_text("utf-8") == COLUMN + more


def test_the_diff_comes_first_and_writes_nothing(swzverify, write):
    write({"a.swz.yaml": COLUMN})
    result = swzverify("prove", "--diff", "a.swz.yaml")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:2] == ["--- a.swz.yaml", "+++ a.swz.yaml"]
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        "-    layout: (32,32):(32,1)   # rows",
        "+    layout: (32,32):(33,1)   # rows",
    ]
    assert "would be written" in result.stderr
    assert Path("a.swz.yaml").read_text("utf-8") == COLUMN
    both = swzverify("prove", "--fix", "--diff", "a.swz.yaml")
    assert (both.exit_code, both.stdout) == (0, result.stdout)
    assert Path("a.swz.yaml").read_text("utf-8") == COLUMN.replace(*PAD)


def test_the_report_beside_a_diff(swzverify, write):
    write({"a.swz.yaml": COLUMN})
    assert swzverify("prove", "--diff", "--format", "json", "a.swz.yaml").exit_code == 2
    assert swzverify("prove", "--diff", "--format", "json", "--output", "r.json", "a.swz.yaml").exit_code == 1
    assert json.loads(Path("r.json").read_text("utf-8"))["summary"]["refuted"] == 1


def test_what_fix_refuses(swzverify, write):
    write({"a.swz.yaml": COLUMN})
    for arguments in (["-"], ["--no-cures", "a.swz.yaml"]):
        result = swzverify("prove", "--fix", *arguments)
        assert result.exit_code == 2
        assert "--fix and --diff" in result.stderr


def test_known_failures_and_expected_ones_stay(swzverify, write):
    text = COLUMN + "    expect: refuted\n    because: it shows the mistake\n"
    write({"a.swz.yaml": text, "b.swz.yaml": COLUMN})
    swzverify("prove", "--write-baseline", "known.json", "b.swz.yaml")
    assert swzverify("prove", "--fix", "--baseline", "known.json", "a.swz.yaml", "b.swz.yaml").exit_code == 0
    assert Path("a.swz.yaml").read_text("utf-8") == text
    assert Path("b.swz.yaml").read_text("utf-8") == COLUMN


def test_a_selection_does_not_limit_what_is_proved_again(swzverify, write):
    write({"a.swz.yaml": ONE_TO_ONE})
    assert swzverify("prove", "--fix", "--select", "conflict_free", "a.swz.yaml").exit_code == 0
    assert "swizzle" in Path("a.swz.yaml").read_text("utf-8")


def test_certificates_are_of_what_was_written(swzverify, write):
    write({"a.swz.yaml": COLUMN})
    assert swzverify("prove", "--fix", "--certificates", "certificates", "a.swz.yaml").exit_code == 0
    assert swzverify("recheck", "certificates").exit_code == 0


def test_a_file_that_changes_meanwhile_is_not_overwritten(swzverify, write, monkeypatch):
    write({"a.swz.yaml": COLUMN})
    found = fix.fix_text

    def slow(*arguments: object, **named: object) -> object:
        Path("a.swz.yaml").write_text(COLUMN + "# mine\n", encoding="utf-8")
        return found(*arguments, **named)

    monkeypatch.setattr(fix, "fix_text", slow)
    result = swzverify("prove", "--fix", "a.swz.yaml")
    assert result.exit_code == 2
    assert "SWZ565: a.swz.yaml is as it was" in result.stderr
    assert Path("a.swz.yaml").read_text("utf-8") == COLUMN + "# mine\n"


def test_a_wrong_text_is_noticed(monkeypatch):
    """A planted mistake: the text that is written says another pad than the one that was proved."""
    written = fix.cured_text
    monkeypatch.setattr(fix, "cured_text", lambda *each: written(*each).replace("(33,1)", "(64,1)"))
    fixed = fix_text(COLUMN, "a.swz.yaml", Settings())
    assert [cure.change for _, cure in fixed.written] == ["Swizzle<5,0,5> on element offsets"]


LIBRARY = ["histogram", "scratch_reused", "two_stages_late_read"]


@pytest.mark.parametrize("name", LIBRARY)
def test_mistakes_of_the_library_are_mended(name: str) -> None:
    text = (ORDER / f"{name}.swz.yaml").read_text("utf-8").replace("expect: refuted", "expect: proved")
    fixed = fix_text(text, f"{name}.swz.yaml", Settings())
    assert fixed.written
    before, after = parse_spec(text), parse_spec(fixed.after)
    assert [each.id for each in before.claims] == [each.id for each in after.claims]
    for result, _ in fixed.written:
        assert result.verdict.outcome is Outcome.REFUTED
    assert fix_text(fixed.after, f"{name}.swz.yaml", Settings()).after == fixed.after
