"""Made-up results to render."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict
from swzverify.report.result import ClaimResult

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
        measure=Measure(32, 4, 28, {"warp": 1, "k": 16}),
        counterexample=conflict(),
        reason="the row part of the address does not reach the bank bits",
        because="rows of 128 bytes",
        source="a paper",
        notes=("worst of 16 cases",),
    )
