"""Made-up results to render."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
from swzverify.errors import Problem
from swzverify.report.result import ClaimResult, Report
from swzverify.search.cures import Cure
from swzverify.spec.deciding import DecidingConstant

Make = Callable[..., ClaimResult]

SCOPE = "all 4 warps, k in 0..3, any base that is a multiple of 1024, ldmatrix.x4 on sm_90 (measured)"


def conflict(colliding: int = 8, lanes: int = 32) -> Counterexample:
    """The first lanes of a warp read down one column: one bank, a word each."""
    rows = tuple(
        Row((lane, (lane, 0), lane * 64, 1024 + lane * 128, 256 + lane * 32, 0), "A" if lane < colliding else "")
        for lane in range(lanes)
    )
    columns = ("lane", "coord", "offset", "address", "word", "bank")
    return Counterexample({"warp": 1, "k": 16, "base": 1024}, "8 lanes read 8 words of bank 0", columns, rows)


@pytest.fixture
def make() -> Make:
    """A maker of results: `make("refuted", expected="refuted", subject="naive_read")`."""

    def result(
        outcome: str = "proved",
        *,
        expected: str = "proved",
        subject: str = "read_A",
        kind: str = "conflict_free",
        spec: str = "specs/hopper.swz.yaml",
        because: str = "",
        source: str = "",
        case: Mapping[str, int] | None = None,
        engines: tuple[str, ...] = ("z3", "gf2"),
        evidence: str = "measured",
        reason: str = "",
        scope: str = SCOPE,
        measure: Measure | None = None,
        counterexample: Counterexample | None = None,
        notes: tuple[str, ...] = (),
        time_ms: float = 12.3456,
    ) -> ClaimResult:
        verdict = Verdict(
            outcome=Outcome(outcome),
            scope=scope,
            engines=engines,
            evidence=evidence,
            reason=reason,
            measure=measure,
            counterexample=counterexample,
            time_ms=time_ms,
            notes=notes,
        )
        return ClaimResult(
            id=f"{spec}::{subject}::{kind}",
            spec=spec,
            line=31,
            kind=kind,
            subject=subject,
            expected=Outcome(expected),
            verdict=verdict,
            because=because,
            source=source,
            case=case or {},
        )

    return result


@pytest.fixture
def refuted(make: Make) -> ClaimResult:
    """An access that should be free of conflicts and takes 32 wavefronts."""
    return make(
        "refuted",
        subject="naive_read",
        measure=Measure.of_one(WarpMeasure(32, 4, {"warp": 1, "k": 16})),
        counterexample=conflict(),
        reason="the row part of the address does not reach the bank bits",
        because="rows of 128 bytes",
        source="a paper",
        notes=("worst of 16 cases",),
    )


EVIL = (
    "]]> <![CDATA[ <script>alert(1)</script> &amp; <!-- --> -->",
    "a | b || c",
    "` `` ``` $x$ ~~~",
    "::error file=a.c,line=1::x",
    "x\n::add-mask::secret\n  ::stop-commands::t",
    "##[error]x ##vso[task.complete]",
    "100 %0A%25%3A, :,::",
    "\x00\x07\x1b[31m\x7f\x9b",
    "\u202eabc\u2066\u200b\ufeff",
    "lone \ud800 and \udfff",
    "\ufffe\uffff\U000e0041",
    "[x](http://example.org) ![i](http://example.org) <http://example.org> [y]: z",
    "@everyone #1 https://example.org/ www.example.org",
    "{0} {{1}} }{",
    "# h\n- l\n1. x\n> q\n    code\n---",
    "</details></summary></code><details open>",
    "line\r\nfeed\u2028and\u2029others\x85",
    "quotes ' \" and \\ \\n",
    "漢字 é ﷽",
)
"""Texts that mean something where a report goes, or that nothing can show."""


def hostile_claim(text: str, outcome: str = "refuted") -> ClaimResult:
    """A claim with the text wherever a spec's words or names can come in."""
    counterexample = Counterexample({text: 3}, text, ("lane", text), (Row((0, text), text), Row((1, None))))
    verdict = Verdict(
        Outcome(outcome),
        scope=text,
        engines=(text,),
        evidence=text,
        reason=text,
        measure=Measure.of_one(WarpMeasure(2, 1, {text: 1})),
        counterexample=counterexample,
        notes=(text,),
    )
    return ClaimResult(
        id=f"{text}::{text}::injective",
        spec=text,
        line=7,
        kind="injective",
        subject=text,
        expected=Outcome.PROVED,
        verdict=verdict,
        because=text,
        source=text,
        case={text: 64},
        cures=(Cure(text, text, text, text),),
        deciding=(DecidingConstant(text, 64, 3, text),),
    )


def hostile_problem(text: str) -> Problem:
    """A problem with the text in all of its words."""
    return Problem("SWZ104", text, text, text, 3, 5, text, 2)


@pytest.fixture(params=EVIL)
def evil(request: pytest.FixtureRequest) -> str:
    """A text of a stranger."""
    return request.param


@pytest.fixture
def hostile(evil: str) -> Report:
    """A report in which a stranger had every word: a problem, a refuted claim and an undecided one."""
    claims = (hostile_claim(evil), hostile_claim(evil, "unknown"))
    return Report(claims, (hostile_problem(evil),), 12.0)


@pytest.fixture
def mixed(make: Make, refuted: ClaimResult) -> Report:
    """A claim of every kind of result, and a problem of a file and one of no place in it."""
    results = (
        make(time_ms=1200.0),
        refuted,
        make("refuted", expected="refuted", subject="documented"),
        make("unknown", subject="late", reason="out of resources"),
        make("vacuous", subject="never"),
        make("error", subject="broken", reason="engines disagree"),
        make("unknown", expected="unknown", subject="open"),
        replace(make("refuted", subject="known", spec="specs/b c.swz.yaml"), accepted=True),
    )
    problems = (
        Problem("SWZ104", "unknown key 'tle'", "did you mean 'tile'?", "specs/a.swz.yaml", 3, 5, "    tle: A", 3),
        Problem("SWZ501", "no such file or folder", file="no.swz.yaml"),
    )
    return Report(results, problems, 3140.0)
