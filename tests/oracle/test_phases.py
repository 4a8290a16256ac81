"""Phases: named cases with their verdicts, and random ones against the clocks of `ptx_oracle`, which
run the same steps as a kernel.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.nightly import counts
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races, races_of

from . import phase_steps, phases
from .brute_force import judge
from .oracle_errors import OracleError
from .random_phases import phase_spec

THREADS = 64


def spec(steps: list[Any], claims: list[Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A ring of three stages, written two iterations ahead."""
    ring = {"tile": "T", "threads": THREADS, "for": {"i": "any"}}
    accesses = {
        "write": {"instruction": "st.shared.b32", "coord": ["tid"], "stage": "(i + 2) % 3", **ring},
        "copy": {"instruction": "cp.async.4", "coord": ["tid"], "stage": "(i + 2) % 3", **ring},
        "read": {"instruction": "ld.shared.b32", "coord": ["tid ^ 1"], "stage": "i % 3", **ring},
        "late": {"instruction": "ld.shared.b32", "coord": ["tid ^ 1"], "stage": "(i + 2) % 3", **ring},
        "own": {"instruction": "ld.shared.b32", "coord": ["tid"], "stage": "i % 3", **ring},
    }
    for name, change in changes.items():
        accesses[name] = {**accesses.get(name, ring), **change}
    return {
        "target": "sm_90",
        "tiles": {"T": {"element": "f32", "layout": f"{THREADS}:1", "stages": 3}},
        "accesses": accesses,
        "phases": {"loop": {"for": {"i": "any"}, "steps": steps}},
        "claims": claims or [{"race_free": "loop"}],
    }


def verdicts(given: dict[str, Any]) -> list[str]:
    return [each.verdict for each in judge(given)]


def both(steps: list[Any], named: tuple[str, str] = ("read", "write"), **changes: Any) -> list[str]:
    read, write = named
    claims = [{"race_free": "loop"}, {"reads_what_was_written": {"read": read, "write": write}}]
    return verdicts(spec(steps, claims, **changes))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["write", "barrier", "read"], ["refuted", "refuted"]),
        (["write", "read"], ["refuted", "refuted"]),
        (["barrier", "write", "read"], ["proved", "proved"]),
        (["read", "write", "barrier"], ["proved", "proved"]),
        (["write", "barrier", "read", "barrier"], ["proved", "proved"]),
    ],
)
def test_three_stages(steps: list[str], expected: list[str]) -> None:
    """The next iteration writes the stage that this one reads: a barrier has to be between."""
    assert both(steps) == expected


def test_three_stages_written_one_iteration_ahead() -> None:
    assert both(["write", "barrier", "read"], write={"stage": "(i + 1) % 3"}) == ["proved", "proved"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["write", "barrier", "read"], ["refuted", "refuted"]),
        (["barrier", "write", "read"], ["proved", "proved"]),
        (["write", "read", "barrier"], ["proved", "proved"]),
        (["barrier", "read", "barrier", "write"], ["proved", "proved"]),
        (["write", "read"], ["refuted", "refuted"]),
    ],
)
def test_two_stages(steps: list[str], expected: list[str]) -> None:
    """A write behind the barrier of the iteration before it meets no read; before it, a late one."""
    assert both(steps, write={"stage": "(i + 1) % 2"}, read={"stage": "i % 2"}) == expected


def test_a_thread_reads_its_own_words_without_a_barrier() -> None:
    assert both(["write", "own"], ("own", "write")) == ["proved", "proved"]
    assert both(["own", "write"], ("own", "write")) == ["proved", "proved"]


def test_one_stage_needs_two_barriers() -> None:
    one = {"write": {"stage": "0"}, "read": {"stage": "0"}}
    assert both(["write", "barrier", "read", "barrier"], **one) == ["proved", "proved"]
    assert both(["write", "barrier", "read"], **one) == ["refuted", "refuted"]
    assert both(["barrier", "write", "read"], **one) == ["refuted", "refuted"]


def test_data_of_the_same_iteration() -> None:
    assert both(["write", "barrier", "late"], ("late", "write")) == ["proved", "proved"]
    assert both(["late", "barrier", "write"], ("late", "write")) == ["proved", "proved"]
    assert both(["write", "late"], ("late", "write")) == ["refuted", "refuted"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["copy", "commit", {"wait_group": 0}, "barrier", "read"], ["refuted", "refuted"]),
        (["copy", "commit", {"wait_group": 0}, "barrier", "read", "barrier"], ["proved", "proved"]),
        (["copy", "commit", {"wait_group": 2}, "barrier", "read", "barrier"], ["proved", "proved"]),
        (["copy", "commit", {"wait_group": 3}, "barrier", "read", "barrier"], ["refuted", "refuted"]),
        (["copy", "commit", "barrier", {"wait_group": 2}, "read", "barrier"], ["refuted", "refuted"]),
        (["copy", {"wait_group": 0}, "barrier", "read", "barrier"], ["refuted", "refuted"]),
        (["copy", "barrier", "read", "barrier"], ["refuted", "refuted"]),
        ([{"wait_group": 1}, "barrier", "read", "copy", "commit"], ["proved", "proved"]),
        ([{"wait_group": 2}, "barrier", "read", "copy", "commit"], ["refuted", "refuted"]),
    ],
)
def test_rings_of_copies(steps: list[Any], expected: list[str]) -> None:
    assert both(steps, ("read", "copy")) == expected


def test_a_copy_is_in_flight_for_its_own_thread_too() -> None:
    assert both(["copy", "commit", {"wait_group": 2}, "own"], ("own", "copy")) == ["proved", "proved"]
    assert both(["copy", "commit", {"wait_group": 3}, "own"], ("own", "copy")) == ["refuted", "refuted"]


def test_a_word_that_nobody_writes() -> None:
    half = {"write": {"if": "tid < 32"}}
    assert both(["barrier", "write", "read"], **half) == ["proved", "refuted"]
    assert both(["barrier", "write", "read"], write={"if": "tid < 0"}) == ["proved", "refuted"]
    assert both(["barrier", "write", "read"], read={"if": "tid < 0"}) == ["proved", "vacuous"]


def test_words_of_another_iteration() -> None:
    """Half of the words are of the iteration before."""
    old = {"write": {"stage": "(i + 2 - tid % 2) % 3"}}
    assert both(["write", "barrier", "read", "barrier"], **old) == ["proved", "refuted"]


def test_another_access_destroys_what_was_written() -> None:
    other = {"other": {"instruction": "st.shared.b32", "coord": ["tid"], "stage": "(i + 1) % 3"}}
    assert both(["barrier", "write", "read"], **other) == ["proved", "proved"]
    assert both(["barrier", "write", "read", "other"], **other) == ["proved", "refuted"]
    assert both(["write", "barrier", "other", "barrier", "read", "barrier"], **other) == ["proved", "refuted"]


def test_atomics() -> None:
    add = {"add": {"instruction": "atom.shared.add.u32", "coord": ["0"], "stage": "0"}}
    assert verdicts(spec(["add"], **add)) == ["proved"]
    assert verdicts(spec(["add", "read"], **add)) == ["refuted"]


def test_few_iterations() -> None:
    given = spec(["barrier", "write", "read"], [{"reads_what_was_written": {"read": "read", "write": "write"}}])
    for bounds, expected in ((2, "refuted"), (3, "proved")):
        for each in (*given["accesses"].values(), *given["phases"].values()):
            each["for"] = {"i": bounds}
        assert verdicts(given) == [expected]


def test_nothing_is_touched() -> None:
    assert verdicts(spec(["write"], write={"if": "tid < 0"})) == ["vacuous"]


@pytest.mark.parametrize(
    ("steps", "changes"),
    [
        (["read"], {"read": {"for": {"i": 4}}}),
        (["read", "own"], {"own": {"threads": 32}}),
        ([{"access": "read", "at": {"i": "i - 1"}}], {}),
        ([{"access": "read", "at": {"j": 1}}], {}),
    ],
)
def test_what_is_refused(steps: list[Any], changes: dict[str, Any]) -> None:
    with pytest.raises(OracleError) as refused:
        judge(spec(steps, **changes))
    assert refused.value.code == "SWZ105"


def test_subjects_that_may_lie_anywhere_are_refused() -> None:
    given = spec(["read", "bare"])
    given["accesses"]["bare"] = {"instruction": "st.shared.b32", "threads": THREADS, "address": "tid * 4"}
    given["phases"]["loop"]["steps"] = ["read", "bare"]
    with pytest.raises(OracleError):
        judge(given)
    given["tiles"]["T"]["base"] = 1024
    assert verdicts(given) == ["proved"]
    given["accesses"]["bare"]["base"] = 1024
    assert verdicts(given) == ["refuted"]


# Random phases, as specs and as kernels.

HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 q)
{
  .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<9>; .shared .align 16 .b8 s[8192];
  ld.param.u64 %d1, [q]; mov.u32 %r1, %tid.x; mov.u32 %r3, s; mov.u32 %r2, 0;
L:
"""
TAIL = "  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 12; @%p1 bra L;\n  ret;\n}\n"
KINDS = {
    "st.shared.b32": "st.shared.b32 [%r9], %r1;",
    "ld.shared.b32": "ld.shared.b32 %r10, [%r9];",
    "atom.shared.add.u32": "red.shared.add.u32 [%r9], 1;",
    "cp.async.4": "cp.async.ca.shared.global [%r9], [%d1], 4;",
}
WORDS = {"barrier": "bar.sync 0;", "commit": "cp.async.commit_group;"}


def random_phase(seed: int) -> tuple[dict[str, Any], str]:
    """A phase as a spec and as a kernel."""
    source = random.Random(seed)
    stages, accesses, steps, lines = source.choice((1, 2, 3, 4)), {}, [], []
    copies = source.random() < 0.4
    for number in range(source.randint(2, 4)):
        kinds = ["st.shared.b32", "ld.shared.b32", "ld.shared.b32", "atom.shared.add.u32"]
        kind = "cp.async.4" if copies and number == 0 else source.choice(kinds)
        shift, flip, below = source.randrange(stages), source.choice((0, 0, 1, 32)), source.choice((64, 64, 32, 48))
        name = f"a{number}"
        address = f"(i + {shift}) % {stages} * 256 + (tid ^ {flip}) * 4"
        accesses[name] = {"instruction": kind, "threads": THREADS, "for": {"i": "any"}, "address": address}
        if below < THREADS:
            accesses[name]["if"] = f"tid < {below}"
        steps.append(name)
        lines.append(
            f"add.u32 %r9, %r2, {shift}; rem.u32 %r9, %r9, {stages}; shl.b32 %r9, %r9, 8; xor.b32 %r11, %r1, {flip};"
            f" shl.b32 %r11, %r11, 2; add.u32 %r9, %r9, %r11; add.u32 %r9, %r9, %r3; setp.lt.u32 %p2, %r1, {below};"
            f" @%p2 {KINDS[kind]}"
        )
        pending = source.randrange(3)
        if kind == "cp.async.4":
            steps += ["commit", {"wait_group": pending}]
            lines += [WORDS["commit"], f"cp.async.wait_group {pending};"]
    for _ in range(source.randrange(3)):
        place = source.randint(0, len(steps))
        steps.insert(place, "barrier")
        lines.insert(place, WORDS["barrier"])
    phase = {"for": {"i": "any"}, "steps": steps}
    given = {"target": "sm_90", "accesses": accesses, "phases": {"p": phase}, "claims": [{"race_free": "p"}]}
    return given, HEAD + "".join(f"  {line}\n" for line in lines) + TAIL


def ran(text: str) -> Races:
    found = races_of(text, "k", (THREADS,), params=[Buffer(1024)])
    assert not found.result.error, found.result.error
    return found


def compared(first: int, last: int) -> dict[str, int]:
    """Both judge random phases; how often each verdict came."""
    seen = {"proved": 0, "refuted": 0}
    for seed in range(first, last):
        given, text = random_phase(seed)
        [judgement] = judge(given)
        assert (seed, judgement.verdict) == (seed, "refuted" if ran(text).pairs else "proved")
        seen[judgement.verdict] += 1
    return seen


@pytest.mark.parametrize("count", counts(8, 100))
def test_random_phases_are_judged_as_kernels_run(count: int) -> None:
    assert min(compared(0, count).values()) > count // 6


@pytest.mark.parametrize("count", counts(6, 200))
def test_random_specs_have_every_verdict(count: int) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(count):
        seen.update((each.kind, each.verdict) for each in judge(phase_spec(random.Random(seed))))
    for kind in ("race_free", "reads_what_was_written"):
        assert min(seen[kind, verdict] for verdict in ("proved", "refuted")) > count // 10, seen


@pytest.mark.parametrize("count", counts(6, 200))
def test_a_barrier_more_makes_no_race(count: int) -> None:
    for seed in range(count):
        given = phase_spec(random.Random(seed))
        fewer = [each.verdict for each in judge(given)]
        steps = given["phases"]["P"]["steps"]
        steps.insert(seed % len(steps), "barrier")
        more = [each.verdict for each in judge(given)]
        assert all(after == "proved" for before, after in zip(fewer, more, strict=True) if before == "proved")


@pytest.mark.nightly
def test_many_random_phases() -> None:
    compared(1000, 1400)


@pytest.mark.parametrize(("mistake", "seed"), [("back edge", 8), ("own copies", 77), ("a group too many", 36)])
def test_mistakes_are_found(mistake: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page warns of, forgotten in the oracle, differs from what kernels do."""
    if mistake == "back edge":
        monkeypatch.setattr(phases, "FEW", 1)
        monkeypatch.setattr(phases, "_check_period", lambda *_: None)
    elif mistake == "own copies":
        before = phases.Line.comes_before
        monkeypatch.setattr(
            phases.Line,
            "comes_before",
            lambda self, x, y, relation: (relation == "same" and x.start < y.start) or before(self, x, y, relation),
        )
    else:
        read = phase_steps._read_step
        monkeypatch.setattr(phase_steps, "_read_step", lambda *given: replace(read(*given), pending=0))
    with pytest.raises(AssertionError):
        compared(seed, seed + 1)
