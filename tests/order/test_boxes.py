"""Copies of boxes of tensor maps in runs: what they show is a race of the same kernel with plain bulk copies."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from collections import Counter

import pytest

from swzverify.compiled.scan.race_search import BOXES
from swzverify.compiled.trial import bulk
from swzverify.compiled.trial.objects import Objects
from tests.nightly import counts
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.pipeline_cases import EXPECT, LOAD, PROXY, STORE, made, wait
from tests.ptx_oracle.race_cases import BAR, HEAD, LD, OWN, ST, Case
from tests.ptx_oracle.races import races_of as launched

from .pipeline_judge import marked, runs_of
from .random_pipelines import pipeline
from .test_random_judge import package

_COPY = re.compile(
    r"cp\.async\.bulk\.shared::cluster\.global(\S*) (\[[^]]*\]), \[([^]]*)\], (\S+), (\[[^]]*\]);"
    r"|cp\.async\.bulk\.global\.shared::cta\.bulk_group \[([^]]*)\], (\[[^]]*\]), \S+;"
)


def tensored(text: str) -> str:
    """The same kernel with copies of boxes."""

    def box(found: re.Match[str]) -> str:
        if found[6]:
            return f"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [{found[6]}, {{%r1, %r1}}], {found[7]};"
        how, into, source, size, place = found.groups()[:5]
        to = f"cp.async.bulk.tensor.2d.shared::cluster.global{how}"
        return f"{to} {into}, [{source}, {{%r1, %r1}}], {place}; // box of {size}"

    return _COPY.sub(box, text)


TWO = LOAD.replace("[%r3]", "[%r3+1024]").replace("%p8", "%p4")
SECOND = "setp.eq.u32 %p4, %r1, 32;"
"""The first thread of the other warp."""

CASES: tuple[Case, ...] = (
    Case("load", (*made(1), EXPECT.format(256), LOAD, *wait(0), LD), "free"),
    Case("load, not waited for", (*made(1), EXPECT.format(256), LOAD, LD), "race"),
    Case("load over a read", (*made(1), LD, EXPECT.format(256), LOAD, *wait(0)), "race"),
    Case("load behind reads", (*made(1), LD, BAR, EXPECT.format(256), LOAD, *wait(0)), "free"),
    Case("load behind writes", (*made(1), ST, BAR, EXPECT.format(256), LOAD, *wait(0)), "race"),
    Case("load behind fenced writes", (*made(1), ST, PROXY, BAR, EXPECT.format(256), LOAD, *wait(0)), "free"),
    Case("load, its last bytes not waited for", (*made(1), EXPECT.format(256), LOAD, "@%p1 " + OWN, *wait(0)), "race"),
    Case("more bytes than copied", (*made(1), EXPECT.format(512), LOAD, *wait(0), LD), "deadlock"),
    Case(
        "two loads of one phase",
        (*made(1), SECOND, EXPECT.format(512), BAR, LOAD, TWO, *wait(0), "ld.shared.u32 %r9, [%r4+1024];"),
        "free",
    ),
    Case(
        "two loads of one phase, a read before",
        (*made(1), SECOND, EXPECT.format(512), BAR, LOAD, TWO, "ld.shared.u32 %r9, [%r4+1024];"),
        "race",
    ),
    Case("store", (ST, PROXY, BAR, "setp.eq.u32 %p8, %r1, 0;", STORE), "free"),
    Case("store without a fence", (ST, BAR, "setp.eq.u32 %p8, %r1, 0;", STORE), "race"),
    Case("store over which is written", (ST, PROXY, BAR, "setp.eq.u32 %p8, %r1, 0;", STORE, ST), "race"),
)
CASE = {each.name: each for each in CASES}


def races(name: str) -> tuple[str, tuple[str, ...]]:
    """The verdict on a kernel with boxes, and what it assumes."""
    found = races_in(tensored(CASE[name].text))
    return found.verdict.value, found.assumptions


@pytest.mark.parametrize("name", CASE)
def test_what_a_run_shows_is_so(name: str) -> None:
    """The oracle runs the kernel with plain copies of as many bytes."""
    case = CASE[name]
    assert launched(case.text, "k", (64,), params=[1, Buffer(1024, "iota")]).verdict == case.verdict
    assert case.text.startswith(HEAD)
    said, assumed = races(name)
    assert (said in ("race", "depends")) is (case.verdict == "race")
    assert (BOXES in assumed) is (case.verdict == "race" and "load" in name)


@pytest.mark.parametrize("count", counts(10, 400))
def test_runs_of_random_pipelines(count: int) -> None:
    total: Counter[str] = Counter()
    for drawn in map(pipeline, range(count)):
        text = tensored(drawn.text)
        # What is assumed of boxes does not hold where the wrong number of bytes is expected.
        if text != drawn.text and not any(each.startswith("wrong: bytes") for each in drawn.constructs):
            total[marked(package(text, drawn.block), drawn, runs_of(drawn))] += 1
    print(dict(total))
    assert sum(total.values()) > 0
    assert not [each for each in total if each.startswith(("WRONG", "FALSE"))]


def _boxes_complete_alone(patch: pytest.MonkeyPatch) -> None:
    """The first box brings all that is expected."""
    right = Objects.land

    def wrong(self: Objects) -> bool:
        first, rest = self._landings[:1], self._landings[1:]
        self._landings = first
        done = right(self)
        self._landings += rest
        return done

    patch.setattr(Objects, "land", wrong)


def _boxes_touch_nothing(patch: pytest.MonkeyPatch) -> None:
    """The place of a box is taken to be moved by a swizzle."""
    patch.setattr(bulk, "_STILL", 1 << 20)


MISTAKES = {
    "complete alone": (_boxes_complete_alone, "two loads of one phase", "depends"),
    "touch nothing": (_boxes_touch_nothing, "load, not waited for", "unknown"),
    "touch nothing of a store": (_boxes_touch_nothing, "store over which is written", "unknown"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, kernel, wrong = MISTAKES[name]
    patch(monkeypatch)
    assert races(kernel)[0] == wrong
