"""`listings:` of a spec: text, files, cubins, functions and targets, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swzverify.apps.diff.compare import differences
from swzverify.claims import RegisterConflictFree, RegisterConflicts
from swzverify.compiled.binaries import machine
from swzverify.errors import SwzError
from swzverify.gpu.crosscheck import judge as judge_on_device
from swzverify.gpu.plan import Plan, plan
from swzverify.prover import Options, judge, prove
from swzverify.report.case_code import case_code
from swzverify.spec import Spec, SpecError, load_spec, parse_spec
from swzverify.subjects import Listing
from swzverify.subjects.listing import ListedInstruction, RegisterRead, Work

PAIR = "FFMA R2, R4.reuse, R5, R2;\nFFMA R0, R4, R5, R0;\n"
TWO = '.section .text.one,"ax",@progbits\nFADD R0, R1, R2;\n.section .text.two,"ax",@progbits\n' + PAIR


def spec(claim: dict[str, object] | None = None, **listing: object) -> str:
    stated = claim or {"register_conflict_free": "code"}
    return json.dumps({"swzverify": 1, "target": "sm_70", "listings": {"code": listing}, "claims": [stated]})


def listing_of(read: Spec) -> Listing:
    return read.cases[0].listings["code"]


def problem_of(text: str) -> tuple[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    (problem,) = caught.value.problems
    return problem.code, problem.message


def test_the_target_is_that_of_the_listing_its_text_or_the_spec() -> None:
    named = ".target sm_61\n" + PAIR
    assert listing_of(parse_spec(spec(text=PAIR))).target == "sm_70"
    assert listing_of(parse_spec(spec(text=PAIR, target="sm_52"))).target == "sm_52"
    assert listing_of(parse_spec(spec(text=named))).target == "sm_61"
    assert listing_of(parse_spec(spec(text=named), target="sm_90")).target == "sm_61"
    assert listing_of(parse_spec(spec(text=".target sm_61\n" + PAIR, target="sm_61"))).target == "sm_61"


@pytest.mark.parametrize(
    ("listing", "code", "says"),
    [
        ({}, "SWZ104", "a listing has `text` or `file`, one of both"),
        ({"text": PAIR, "file": "a.sass"}, "SWZ104", "a listing has `text` or `file`, one of both"),
        ({"text": PAIR, "target": "sm_100"}, "SWZ408", "no rule is known of the register banks of 'sm_100'"),
        ({"text": ".target sm_90\n" + PAIR}, "SWZ408", "no rule is known of the register banks of 'sm_90'"),
        ({"text": ".target sm_61\n" + PAIR, "target": "sm_52"}, "SWZ105", "listing code is for sm_61"),
        ({"text": ".target sm_61\n.target sm_52\n" + PAIR}, "SWZ554", "it has code for sm_61, sm_52"),
        ({"text": ".target sm_61\n.target sm_52\n" + PAIR, "target": "sm_52"}, "SWZ554", "it has code for sm_61"),
        ({"text": "# nothing\n"}, "SWZ554", "listing code has no instruction"),
        ({"text": "not code"}, "SWZ554", "line 1 of the listing is no instruction"),
        ({"text": TWO}, "SWZ554", "listing code has 2 functions"),
        ({"text": TWO, "function": "three"}, "SWZ554", "listing code has no function 'three'"),
        ({"file": "missing.sass"}, "SWZ124", "missing.sass"),
        ({"file": "../../../../../../etc/passwd"}, "SWZ124", "lies outside of the repository"),
        ({"text": PAIR, "kernel": "k"}, "SWZ104", "unknown key 'kernel'"),
    ],
)
def test_what_is_refused(listing: dict[str, object], code: str, says: str) -> None:
    found = problem_of(spec(**listing))
    assert found[0] == code
    assert says in found[1]


def test_a_function_of_several() -> None:
    assert len(listing_of(parse_spec(spec(text=TWO, function="two"))).instructions) == 2


def test_a_file_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "a.sass").write_text(TWO)
    (tmp_path / "a.swz.yaml").write_text(spec(file="a.sass", function="two"))
    assert len(listing_of(load_spec(tmp_path / "a.swz.yaml")).instructions) == 2
    (tmp_path / "a.sass").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"SWZ554.*not text in UTF-8"):
        load_spec(tmp_path / "a.swz.yaml")


def cubin(tmp_path: Path) -> Path:
    """A file that begins as a cubin does."""
    path = tmp_path / "k.cubin"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + (190).to_bytes(2, "little") + bytes(100))
    (tmp_path / "a.swz.yaml").write_text(spec(file="k.cubin"))
    return tmp_path / "a.swz.yaml"


def test_a_cubin_is_listed_by_nvdisasm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def listed(data: bytes) -> str:
        asked.append(data)
        return '.target sm_70\n.section .text.k,"ax",@progbits\n' + PAIR

    monkeypatch.setattr(machine, "listing_of_cubin", listed)
    assert len(listing_of(load_spec(cubin(tmp_path))).instructions) == 2
    assert asked == [(tmp_path / "k.cubin").read_bytes()]


def test_a_cubin_without_nvdisasm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise SwzError("SWZ542", f"{name} is not found")

    monkeypatch.setattr(machine, "find_tool", missing)
    with pytest.raises(SpecError, match=r"SWZ542.*nvdisasm is not found"):
        load_spec(cubin(tmp_path))


def test_another_binary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(120))
    (tmp_path / "a.swz.yaml").write_text(spec(file="a.out"))
    with pytest.raises(SpecError, match=r"SWZ554.*is neither a listing nor a cubin: ELF file"):
        load_spec(tmp_path / "a.swz.yaml")


# --- what the claims say ----------------------------------------------------------------------------------------------


def ffma(line: int, c: int, a: int, b: int, *marks: int) -> ListedInstruction:
    reads = (RegisterRead(a, 2, 2 in marks), RegisterRead(b, 3, 3 in marks), RegisterRead(c, 4))
    return ListedInstruction(line, f"FFMA R{c}, R{a}, R{b}, R{c}", Work.ARITHMETIC, reads, (c,))


def code(*instructions: ListedInstruction, target: str = "sm_52") -> Listing:
    return Listing("code", target, instructions)


def test_a_conflict_is_told_with_slots_banks_and_the_cache() -> None:
    verdict = prove(RegisterConflictFree(code(ffma(1, 2, 4, 5, 2), ffma(2, 0, 5, 4))))
    assert verdict.outcome.value == "refuted"
    assert verdict.evidence == "documented"
    assert verdict.counterexample is not None
    assert dict(verdict.counterexample.binding) == {"line": 2}
    assert verdict.counterexample.note == (
        "FFMA R0, R5, R4, R0: R4 and R0 lie in bank 0, 1 extra cycle; the cache holds R4 in slot 2, "
        "and it is read in slot 3"
    )
    assert verdict.counterexample.columns == ("line", "slot", "register", "bank", "cache holds", "read from")
    assert [(row.cells, row.mark) for row in verdict.counterexample.rows] == [
        ((1, 2, "R4.reuse", 0, "nothing", "bank"), ""),
        ((1, 3, "R5", 1, "nothing", "bank"), ""),
        ((1, 4, "R2", 2, "nothing", "bank"), ""),
        ((2, 2, "R5", 1, "R4", "bank"), ""),
        ((2, 3, "R4", 0, "nothing", "bank"), "x"),
        ((2, 4, "R0", 0, "nothing", "bank"), "x"),
    ]


def test_the_first_instruction_beyond_the_limit_is_shown() -> None:
    listing = code(*(ffma(line, 0, 4, 8) for line in (1, 2, 3)))
    for limit, line in ((0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)):
        found = prove(RegisterConflicts(listing, limit)).counterexample
        assert found is not None
        assert dict(found.binding) == {"line": line}
    assert prove(RegisterConflicts(listing, 6)).outcome.value == "proved"


@pytest.mark.parametrize("every_engine", [False, True])
def test_a_proof_has_two_engines(every_engine: bool) -> None:
    proved = prove(
        RegisterConflictFree(code(ffma(1, 2, 4, 5, 2), ffma(2, 0, 4, 5))), options=Options(every_engine=every_engine)
    )
    assert proved.outcome.value == "proved"
    assert {"z3"} < set(proved.engines)
    assert "2 arithmetic of 2 instructions, 4 register banks (sm_52)" in proved.scope
    assert proved.notes == ("the hardware rule for this instruction on this target is documented, not measured",)


def test_what_nobody_knows_is_unknown_with_the_place() -> None:
    listing = code(ffma(1, 2, 4, 5, 2), ffma(2, 3, 6, 5), ffma(3, 0, 4, 5))
    verdict = prove(RegisterConflictFree(listing))
    assert verdict.outcome.value == "unknown"
    assert verdict.reason == (
        "between 0 and 1 conflicts: whether the reuse cache still holds R4 at line 3 is not known"
    )
    strange = ListedInstruction(2, "HMMA", Work.UNKNOWN, why="how HMMA reads its registers is not known")
    assert prove(RegisterConflicts(code(ffma(1, 2, 4, 5), strange), 9)).reason == f"line 2: {strange.why}"
    assert prove(RegisterConflictFree(code(ffma(1, 0, 4, 5), strange))).outcome.value == "refuted"


def test_a_listing_without_arithmetic_is_vacuous() -> None:
    load = ListedInstruction(1, "LDS R0, [R1]", Work.OTHER)
    assert prove(RegisterConflictFree(code(load))).outcome.value == "vacuous"
    assert prove(RegisterConflictFree(code())).outcome.value == "vacuous"


def test_a_plain_count_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula does not believe the count: it is a contradiction, and no proof."""
    listing = code(ffma(1, 0, 4, 5))
    monkeypatch.setattr(type(listing.banks), "extra_cycles", lambda *_: 0)
    verdict = prove(RegisterConflictFree(listing))
    assert verdict.outcome.value == "error"
    assert verdict.is_fault


@pytest.mark.parametrize(
    "reads",
    [
        (RegisterRead(255, 2),),
        (RegisterRead(-1, 2),),
        (RegisterRead(1, 5),),
        (RegisterRead(1, 2), RegisterRead(2, 2)),
        (RegisterRead(1, None),) * 4,
    ],
)
def test_registers_and_slots_that_do_not_exist(reads: tuple[RegisterRead, ...]) -> None:
    with pytest.raises(SwzError) as caught:
        code(ListedInstruction(1, "FFMA", Work.ARITHMETIC, reads))
    assert caught.value.code == "SWZ105"


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(SwzError, match="a listing has at least 0"):
        RegisterConflicts(code(ffma(1, 0, 4, 5)), -1)


# --- and what is made of them -----------------------------------------------------------------------------------------


def test_a_device_sees_nothing_of_it() -> None:
    claim = RegisterConflictFree(code(ffma(1, 2, 4, 5)))
    verdict = prove(claim)
    assert plan([(claim, verdict)], 1024).runs == {}
    answer = judge_on_device(claim, verdict, Plan({}), {}, {}, None)
    assert answer.agrees is None
    assert answer.seen.text.startswith("not run: a listing is machine code of its own target")


def test_the_test_of_a_counterexample_counts_again() -> None:
    claim = RegisterConflictFree(code(ffma(1, 0, 4, 5)))
    found = judge(claim).verdict.counterexample
    assert found is not None
    assert list(case_code(claim, found).lines) == [
        "broken = claim.broken(conflicts_at(claim.listing))",
        'assert not broken, "No register bank conflicts."',
    ]


def changes(before: str, after: str) -> list[tuple[str, str]]:
    (old,), (new,) = parse_spec(before).claims, parse_spec(after).claims
    return [(each.what, each.direction.value) for each in differences(old, new)]


def test_what_diff_says_of_two_listings() -> None:
    def most(limit: int) -> dict[str, object]:
        return {"register_conflicts": {"listing": "code", "at_most": limit}}

    same = spec(most(2), text=PAIR, target="sm_52")
    assert changes(same, same) == []
    assert changes(same, spec(most(3), text=PAIR, target="sm_52")) == [("at_most", "weaker")]
    assert changes(same, spec(most(1), text=PAIR, target="sm_52")) == [("at_most", "stronger")]
    assert changes(same, spec(most(2), text=PAIR * 2, target="sm_52")) == [("code of code", "neither")]
    assert changes(same, spec(most(2), text=PAIR, target="sm_70")) == [("target of code", "weaker")]
