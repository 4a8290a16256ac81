"""Races in every format, from verdicts that are written here by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from swzverify.apps.commands.scan_reports import rendered
from swzverify.claims.verdict import Outcome
from swzverify.compiled.order.verdict import (
    BarrierFinding,
    KernelRaces,
    Pair,
    Participant,
    RaceVerdict,
    Witness,
)
from swzverify.compiled.ptx import Location
from swzverify.report.formats import Format
from swzverify.report.result import ClaimResult
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import KINDS, report_of
from swzverify.report.scan_race_record import races_record
from swzverify.report.scan_race_text import race_summary, readable
from swzverify.report.scan_races import race_findings
from swzverify.report.scan_text import Detail, scan_text
from tests.report.test_scan_claims import FREE, PROVED, SARIF, access, harmless
from tests.report.test_sinks import NASTY

STORE = Participant(60, "st.shared.f32", "k.cu:14")
LOAD = Participant(65, "ld.shared.f32", "k.cu:16", (3,))
WITNESS = Witness((0, 37), (((50, 1),), ((50, 2),)), 508, "s", (("_Z1kv_param_1+0:4", 8), ("ctaid.x", 3)))
RACE = Pair(STORE, LOAD, RaceVerdict.RACE, "no barrier orders the accesses", ("z3",), WITNESS)
DEPENDS = replace(RACE, verdict=RaceVerdict.DEPENDS, condition="n+0:4 <= 0", second=replace(LOAD, line=70))
BENIGN = Pair(STORE, STORE, RaceVerdict.BENIGN, "all threads write one value", witness=replace(WITNESS, array=""))
OPEN = Pair(STORE, LOAD, RaceVerdict.UNKNOWN, "line 9: mbarrier.init is not modelled")
WHOLE = BarrierFinding(62, "bar.sync", "k.cu:15", RaceVerdict.FREE, "all threads reach it together")
PARTED = replace(
    WHOLE,
    verdict=RaceVerdict.DIVERGENT,
    reason="not all threads reach this barrier: they take different paths at line 40",
)
HUNG = replace(WHOLE, verdict=RaceVerdict.DEADLOCK, reason="thread 32 waits here for ever")
HUNG_IF = replace(WHOLE, verdict=RaceVerdict.DEPENDS, reason="thread 32 waits here for ever if n+0:4 = 7")
NOT_COUNTED = replace(WHOLE, verdict=RaceVerdict.UNKNOWN, reason="a barrier of a part of the block")
KINDS_OF_RACES = ("race_free", "one_writer")


def kernel(
    verdict: RaceVerdict, *pairs: Pair, barriers: tuple[BarrierFinding, ...] = (WHOLE,), free: int = 9
) -> KernelRaces:
    free_by = (("exhaustion+z3", free),) if free else ()
    return KernelRaces(verdict, "what decides it", pairs, free, barriers, free_by=free_by)


def held(races: KernelRaces, name: str = "k.ptx", kernel: str = "_Z1kv", **more: Any) -> ScannedFile:
    """A file with one kernel; its access is that of the store."""
    made = replace(access(FREE, 60, Location(1, 14, 0), kernel=kernel, address="s + loop@50*4"), block=(32, 2, 1))
    made = replace(made, claims=(PROVED, PROVED))
    return ScannedFile(name, (made,), {1: "/src/k.cu"}, races={kernel: races}, **more)


def lines_of(races: KernelRaces, verbosity: int = 0) -> list[str]:
    return scan_text([held(races)], detail=Detail(verbosity)).splitlines()


def results_of(*files: ScannedFile) -> list[ClaimResult]:
    return [each for each in report_of(files).results if each.kind in KINDS_OF_RACES]


# ---- text


@pytest.mark.parametrize(
    ("races", "line"),
    [
        (kernel(RaceVerdict.FREE), "races: free (9 pairs; 1 barrier)"),
        (kernel(RaceVerdict.FREE, barriers=(), free=0), "races: free"),
        (kernel(RaceVerdict.RACE, RACE, OPEN), "races: race (11 pairs: 9 free, 1 race, 1 unknown; 1 barrier)"),
        (kernel(RaceVerdict.UNKNOWN, OPEN), "races: unknown (10 pairs: 9 free, 1 unknown; 1 barrier): what decides it"),
        (
            kernel(RaceVerdict.DIVERGENT, barriers=(PARTED, NOT_COUNTED, WHOLE)),
            "races: divergent-barrier (9 pairs; 3 barriers: 1 divergent, 1 unknown)",
        ),
        (
            replace(kernel(RaceVerdict.FREE), is_lockstep=True),
            "races with lanes in lockstep: free (9 pairs; 1 barrier)",
        ),
    ],
)
def test_a_kernel_has_a_summary(races: KernelRaces, line: str) -> None:
    assert f"  {line}" in lines_of(races)


def test_what_was_not_looked_for_stands_in_the_totals() -> None:
    files = [held(kernel(RaceVerdict.FREE)), held(kernel(RaceVerdict.RACE, RACE), kernel="_Z1jv")]
    told = "races in shared memory of 2 kernels: 1 free, 1 race; races in global memory are not looked for"
    assert told in scan_text(files).splitlines()
    assert "races in" not in scan_text([replace(files[0], races={})])


def test_a_race_has_both_places_its_threads_and_its_values() -> None:
    lines = lines_of(kernel(RaceVerdict.RACE, replace(RACE, witness=replace(WITNESS, is_replayed=True))))
    at = lines.index("  race")
    assert lines[at + 1 : at + 8] == [
        "    /src/k.cu:14 (PTX line 60): st.shared.f32, by thread 0",
        "    /src/k.cu:16 (PTX line 65, called at line 3): ld.shared.f32, by thread 37",
        "    no barrier orders the accesses",
        "    threads 0 (0,0,0) and 37 (5,1,0) touch byte 508 of s",
        "    trips 1 and 2 of the loop at line 50",
        "    param_1 = 8, %ctaid.x = 3",
        "    a run of the kernel with these values has this race",
    ]  # fmt: skip


def test_a_condition_and_a_thread_with_its_own_copy() -> None:
    own = replace(WITNESS, threads=(4, 4), array="", trips=((), ()), parameters=())
    lines = lines_of(kernel(RaceVerdict.DEPENDS, replace(DEPENDS, witness=own)))
    assert "  race for some parameters" in lines
    assert "    condition: n <= 0" in lines
    assert "    thread 4 (4,0,0) and its own copy touch byte 508 of shared memory" in lines
    assert not any("trip" in each or "a run" in each for each in lines)


@pytest.mark.parametrize(
    ("trips", "words"),
    [
        ((((50, 3),), ((50, 3),)), "trip 3 of the loop at line 50"),
        (
            (((50, 3), (40, 0)), ((50, 3), (40, 1))),
            "trip 3 of the loop at line 50, trips 0 and 1 of the loop at line 40",
        ),
        ((((50, 3),), ((60, 3),)), "trip 3 of the loop at line 50; trip 3 of the loop at line 60"),
        (((), ((60, 3),)), "outside of loops; trip 3 of the loop at line 60"),
    ],
)
def test_trips(trips: Any, words: str) -> None:
    assert f"    {words}" in lines_of(kernel(RaceVerdict.RACE, replace(RACE, witness=replace(WITNESS, trips=trips))))


def test_two_threads_of_one_instruction() -> None:
    lines = lines_of(kernel(RaceVerdict.BENIGN, BENIGN))
    assert "    /src/k.cu:14 (PTX line 60): st.shared.f32, by two threads" in lines


def test_values_are_told_once() -> None:
    told = replace(WITNESS, parameters=(("n+0:4", 3),))
    lines = lines_of(kernel(RaceVerdict.DEPENDS, replace(DEPENDS, witness=told, condition="n+0:4 = 3")))
    assert [each for each in lines if "n = 3" in each] == ["    n = 3"]


def test_pairs_of_two_source_lines_are_told_once() -> None:
    copies = [replace(RACE, first=replace(STORE, line=line)) for line in (60, 80, 90)]
    lines = lines_of(kernel(RaceVerdict.RACE, *copies, BENIGN))
    assert "  race (3 pairs of instructions, such as this one)" in lines
    assert "  race with one value" in lines
    assert sum(each.startswith("  race") and "races" not in each for each in lines) == 2
    # Of two conditions each is told.
    other = replace(DEPENDS, condition="n+0:4 == 7")
    assert len([each for each in lines_of(kernel(RaceVerdict.DEPENDS, DEPENDS, other)) if "condition" in each]) == 2


def test_a_barrier_that_not_all_threads_reach() -> None:
    lines = lines_of(kernel(RaceVerdict.DIVERGENT, barriers=(WHOLE, PARTED)))
    at = lines.index("  barrier that not all threads reach")
    assert lines[at + 1 : at + 3] == [
        "    /src/k.cu:15 (PTX line 62): bar.sync",
        "    not all threads reach this barrier: they take different paths at line 40",
    ]


@pytest.mark.parametrize(
    ("barrier", "words", "count", "reason", "name"),
    [
        (HUNG, "threads that wait for ever", "1 with a deadlock", "thread 32 waits here for ever", "deadlock"),
        (
            HUNG_IF,
            "threads that wait for ever, for some parameters",
            "1 with a deadlock for some parameters",
            "thread 32 waits here for ever if n = 7",
            "depends",
        ),
    ],
)
def test_threads_that_wait_for_ever(barrier: BarrierFinding, words: str, count: str, reason: str, name: str) -> None:
    races = kernel(barrier.verdict, barriers=(WHOLE, barrier))
    assert race_summary(races) == [f"  races: {barrier.verdict} (9 pairs; 2 barriers: {count})"]
    lines = lines_of(races)
    at = lines.index(f"  {words}")
    assert lines[at + 1 : at + 3] == ["    /src/k.cu:15 (PTX line 62): bar.sync", f"    {reason}"]
    (result,) = results_of(held(races))
    assert (result.verdict.outcome, result.verdict.reason) == (Outcome.REFUTED, reason)
    assert [each["verdict"] for each in races_record(races, None, {})["barriers"]] == ["uniform", name]


def test_more_and_less_text() -> None:
    races = kernel(RaceVerdict.RACE, RACE, OPEN, barriers=(NOT_COUNTED,))
    assert "mbarrier" not in "\n".join(lines_of(races))
    told = lines_of(races, 1)
    assert "  pairs without a race: 9 by exhaustion and z3" in told
    assert told.count("  unknown order") == 2
    assert "    line 9: mbarrier.init is not modelled" in told
    assert "    a barrier of a part of the block" in told
    quiet = "\n".join(lines_of(races, -1))
    assert "no barrier orders" in quiet
    assert "threads 0" not in quiet
    assert "races:" not in "\n".join(lines_of(kernel(RaceVerdict.FREE), -1))


def test_known_findings_are_marked_and_left_out_of_quiet_text() -> None:
    file = held(kernel(RaceVerdict.RACE, RACE))
    (name,) = [each.id for each in results_of(file)]
    assert "  race, known" in scan_text([file], known_races=[name]).splitlines()
    assert "no barrier orders" not in scan_text([file], detail=Detail(-1), known_races=[name])


def test_races_are_the_first_of_the_worst_problems() -> None:
    file = held(kernel(RaceVerdict.RACE, RACE, DEPENDS, barriers=(PARTED,)))
    told = scan_text([file], detail=Detail(top=2)).splitlines()
    assert "  barrier that not all threads reach" in told
    assert "  race" in told
    assert "  race for some parameters" not in told
    assert "2 of 3 problems shown" in told


def test_assumptions_are_told_once() -> None:
    races = replace(
        kernel(RaceVerdict.FREE), assumptions=("blocks of 64,1,1 threads, from .maxntid", "n = 3", "nobody writes it")
    )
    file = held(races, applied={"_Z1kv": ("n = 3",)})
    file = replace(file, accesses=(replace(file.accesses[0], assumed_block=races.assumptions[0]),))
    lines = scan_text([file]).splitlines()
    assert "    assumed: nobody writes it" in lines
    assert "  given: n = 3" in lines


def test_kernels_without_an_access() -> None:
    """Only a finding is told of them, and they are no result that something was proved."""
    for races, is_told in [
        (kernel(RaceVerdict.FREE), False),
        (kernel(RaceVerdict.DIVERGENT, barriers=(PARTED,)), True),
    ]:
        file = ScannedFile("k.ptx", (), {}, races={"_Z1kv": races})
        assert ("k.ptx: kernel k" in scan_text([file]).splitlines()) is is_told
        assert len(results_of(file)) == is_told
        assert report_of([file]).results == tuple(results_of(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n+0:4", "n"),
        ("n+0:4 <= 0", "n <= 0"),
        ("a%ctaid.x", "a%ctaid.x"),
        ("p+8:4", "p+8:4"),
        ("nctaid.y", "%nctaid.y"),
    ],
)
def test_names_of_values(text: str, words: str) -> None:
    assert readable(text) == words


# ---- results


def test_results() -> None:
    refuted, proved = Outcome.REFUTED, Outcome.PROVED
    for races, wanted in [
        (kernel(RaceVerdict.FREE), [("race_free", proved)]),
        (kernel(RaceVerdict.UNKNOWN, OPEN), []),
        (kernel(RaceVerdict.BENIGN, BENIGN), [("one_writer", refuted)]),
        (
            kernel(RaceVerdict.RACE, RACE, DEPENDS, BENIGN, OPEN),
            [("race_free", refuted)] * 2 + [("one_writer", refuted)],
        ),
        (kernel(RaceVerdict.DIVERGENT, barriers=(PARTED,)), [("race_free", refuted)]),
    ]:
        found = results_of(held(races))
        assert [(each.kind, each.verdict.outcome) for each in found] == wanted
        assert {each.kind for each in found} <= {KINDS["race"], KINDS["race-benign"]}


def test_a_result_has_the_place_the_rows_and_the_values() -> None:
    (found,) = results_of(held(kernel(RaceVerdict.RACE, RACE)))
    assert (found.spec, found.line, found.subject) == ("/src/k.cu", 14, "k: st.shared.f32 and ld.shared.f32")
    assert found.source == "k.ptx, line 60 and 65"
    assert found.verdict.scope == "blocks of 32,2,1 threads"
    example = found.verdict.counterexample
    assert example is not None
    assert dict(example.binding) == {"_Z1kv_param_1": 8, "%ctaid.x": 3}
    assert [row.cells for row in example.rows] == [
        ("/src/k.cu:14", "st.shared.f32", (0, 0, 0)),
        ("/src/k.cu:16", "ld.shared.f32", (5, 1, 0)),
    ]
    assert "threads 0 (0,0,0) and 37 (5,1,0)" in example.note


def test_ids_have_no_line_and_are_different() -> None:
    moved = replace(RACE, first=replace(STORE, line=61), second=replace(LOAD, line=66))
    one = held(kernel(RaceVerdict.RACE, RACE, replace(RACE, second=replace(LOAD, source="k.cu:20"))))
    two = replace(one, accesses=(replace(one.accesses[0], line=61, address="s + loop@51*4"),))
    two = replace(
        two, races={"_Z1kv": kernel(RaceVerdict.RACE, moved, replace(moved, second=replace(LOAD, source="k.cu:20")))}
    )
    ids = [each.id for each in results_of(one)]
    assert ids == [each.id for each in results_of(two)]
    assert ids[0] == "k.ptx::_Z1kv::st.shared.f32 s + loop*4 and ld.shared.f32::race_free"
    assert len({*ids, *(each.id for each in results_of(one, one))}) == 4


# ---- formats


def test_json() -> None:
    races = replace(kernel(RaceVerdict.RACE, RACE, OPEN, barriers=(WHOLE, PARTED, NOT_COUNTED)), assumptions=("a",))
    file = held(races)
    (found,) = json.loads(rendered([file], report_of([file]), 0, Format.JSON))["kernels"]
    assert (found["kernel"], found["demangled"], found["file"], found["origin"]) == ("_Z1kv", "k()", "k.ptx", "")
    of_races = found["races"]
    assert {key: of_races[key] for key in of_races if key != "pairs"} == {
        "verdict": "race", "reason": "what decides it", "free_pairs": 9, "free_by": {"exhaustion+z3": 9},
        "lockstep": False, "assumptions": ["a"],
    }  # fmt: skip
    assert of_races["pairs"][0] == {
        "first": {"line": 60, "opcode": "st.shared.f32", "calls": [], "source": {"file": "/src/k.cu", "line": 14}},
        "second": {"line": 65, "opcode": "ld.shared.f32", "calls": [3], "source": {"file": "/src/k.cu", "line": 16}},
        "verdict": "race",
        "reason": "no barrier orders the accesses",
        "condition": "",
        "engines": ["z3"],
        "witness": {
            "threads": [0, 37],
            "coordinates": [[0, 0, 0], [5, 1, 0]],
            "trips": [[{"loop": 50, "trip": 1}], [{"loop": 50, "trip": 2}]],
            "byte": 508,
            "array": "s",
            "parameters": {"_Z1kv_param_1+0:4": 8, "ctaid.x": 3},
            "replayed": False,
        },
    }
    assert of_races["pairs"][1]["witness"] is None
    assert [each["verdict"] for each in found["barriers"]] == ["uniform", "divergent", "unknown"]
    assert found["barriers"][1]["reason"] == PARTED.reason
    lines = [json.loads(each) for each in rendered([file], report_of([file]), 0, Format.JSONL).splitlines()]
    assert [each["type"] for each in lines] == ["access", "kernel", "summary"]
    assert lines[1] == {"type": "kernel", **found}
    none = {each.value: 0 for each in RaceVerdict}
    assert lines[2]["races"] == {**none, "race": 1}
    assert lines[2]["problems"] == 0


def test_other_formats() -> None:
    file = held(kernel(RaceVerdict.RACE, RACE, BENIGN, barriers=(PARTED,)))
    report = report_of([file])
    log = json.loads(rendered([file], report, 1, Format.SARIF))
    SARIF.validate(log)
    (run,) = log["runs"]
    assert [each["ruleId"] for each in run["results"] if each["ruleId"] in KINDS_OF_RACES] == [
        "race_free", "race_free", "one_writer",
    ]  # fmt: skip
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert all(
        run["results"][at]["ruleId"] == rules[run["results"][at]["ruleIndex"]] for at in range(len(run["results"]))
    )
    github = rendered([file], report, 1, Format.GITHUB)
    assert "::error title=race_free k%3A st.shared.f32 and ld.shared.f32" in github
    assert ",file=/src/k.cu,line=14::" in github
    assert 'failures="3"' in rendered([file], report, 1, Format.JUNIT)
    for form in (Format.MARKDOWN, Format.HTML):
        text = rendered([file], report, 1, form)
        assert "no barrier orders the accesses" in text
        assert "race_free" in text


@settings(deadline=None, max_examples=30)
@given(NASTY, NASTY)
def test_hostile_names_in_every_format(text: str, source: str) -> None:
    """A source, an array or a reason has no line of its own, and no control character gets through."""
    side = Participant(61, text, f"{source}:3")
    pair = Pair(side, LOAD, RaceVerdict.RACE, text, (), replace(WITNESS, array=text, parameters=((text, 1),)), text)
    parted = replace(PARTED, opcode=text, reason=text)
    found = [held(kernel(RaceVerdict.DIVERGENT, pair, barriers=(parted,)), name=text, kernel=source)]
    plain = [held(kernel(RaceVerdict.DIVERGENT, replace(RACE, condition="n"), barriers=(PARTED,)))]
    told = harmless(found)[0].split("\n")
    # A text that is empty has no line; no other one has two.
    assert len(told) <= len(rendered(plain, report_of(plain), 1, Format.TEXT).split("\n"))


def test_findings_of_one_kernel_in_two_files_are_apart() -> None:
    files = [held(kernel(RaceVerdict.RACE, RACE)), held(kernel(RaceVerdict.FREE), name="b.ptx")]
    assert [(each.file.name, each.kind) for each in race_findings(files)] == [("k.ptx", "race_free")]
