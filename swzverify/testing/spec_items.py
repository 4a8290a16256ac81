"""What pytest sees of a spec file: the file, its subjects, and an item per claim.

An item's id is the claim's id with the case of the constants at the end, where pytest looks for the
parameters of a test: `specs/gemm.swz.yaml::A::bijective[BM=64]` for the claim
`specs/gemm.swz.yaml::A[BM=64]::bijective`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.apps.run.one import run_claim
from swzverify.apps.run.reading import read_spec
from swzverify.errors import Problem
from swzverify.report.console import rendered
from swzverify.report.escape import prose, visible, visible_lines
from swzverify.report.problems import render_problems
from swzverify.report.result import ClaimResult
from swzverify.report.story import engine_words, story
from swzverify.report.style import TextStyle
from swzverify.spec import Spec, SpecClaim

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr


class SpecFile(pytest.File):
    """A spec file, read once when it is collected. `is_named`: the ini option names it."""

    is_named: bool = False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The subjects, in the order in which claims name them first."""
        file = _from_here(self.path)
        spec = _load(file, self.config.getoption("--swz-target"))
        if not spec.claims and self.is_named:
            # A contract that was deleted must not look like one that holds.
            what, hint = "`swzverify_specs` names this file, but it has no claim", "give it one, or take the entry out"
            problem = Problem("SWZ801", what, hint, file)
            raise self.CollectError(_problems_text([problem]))
        if not spec.claims:
            self.warn(pytest.PytestCollectionWarning(f"{visible(file)} has no claim: nothing is proved of it"))
        of_subject: dict[str, list[SpecClaim]] = {}
        for claim in spec.claims:
            of_subject.setdefault(claim.subject, []).append(claim)
        for subject, group in of_subject.items():
            yield SubjectNode.from_parent(  # pyright: ignore[reportUnknownMemberType]  # pytest's **kw
                self, name=subject, claims=group, spec=spec
            )


class SubjectNode(pytest.Collector):
    """The claims on one tile, access or map, or on a pair of them."""

    def __init__(self, name: str, parent: pytest.Collector, claims: list[SpecClaim], spec: Spec) -> None:
        super().__init__(name, parent)
        self.claims = claims
        self.spec = spec

    def collect(self) -> Iterable[pytest.Item]:
        """An item per claim."""
        for claim in self.claims:
            yield ClaimItem.from_parent(  # pyright: ignore[reportUnknownMemberType]  # pytest's **kw
                self, name=_name(claim), claim=claim, spec=self.spec
            )


class NotAsExpectedError(Exception):
    """A claim that did not come out as its spec expects."""

    def __init__(self, result: ClaimResult) -> None:
        super().__init__(result.id)
        self.result = result


class ClaimItem(pytest.Item):
    """One claim, proved as `swzverify prove` does."""

    def __init__(self, name: str, parent: pytest.Collector, claim: SpecClaim, spec: Spec) -> None:
        super().__init__(name, parent)  # pyright: ignore[reportUnknownMemberType]  # pytest's **kw
        self.claim = claim
        self.spec = spec
        self.add_marker(pytest.mark.swzverify(kind=claim.kind))
        self.extra_keyword_matches |= {claim.kind, claim.subject}

    def runtest(self) -> None:
        """Prove the claim."""
        options = self.config.option
        settings = Settings(target=options.swz_target, rlimit=options.swz_rlimit)
        result = run_claim(self.spec, self.claim, settings).result
        self.user_properties += _properties(result)
        if not result.ok:
            raise NotAsExpectedError(result)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None
    ) -> str | TerminalRepr:
        """The claim's story, or a report of a fault of swzverify; else pytest's own text."""
        _ = style
        match excinfo.value:
            case NotAsExpectedError(result=result):
                return _failure_text(result, TextStyle(unicode=False, verbosity=min(1, self.config.get_verbosity())))
            case Exception() as error:
                return "\n".join(["SWZ901", *visible_lines(fault(error)), what_to_send()])
            case _:
                return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The claim's place in the spec, its line counted from 0 as pytest does, and its name."""
        return self.path, self.claim.line - 1, visible(f"{self.claim.subject}::{self.name}")


def _name(claim: SpecClaim) -> str:
    """The last part of the claim's id, such as `bijective#2`, and its case: `bijective[BM=64]`."""
    case = ",".join(f"{name}={value}" for name, value in claim.case.items())
    return claim.id.rpartition("::")[2] + (f"[{case}]" if case else "")


def _from_here(path: Path) -> str:
    """The path from the current folder, as `swzverify prove` shows it; on another drive as it is."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:
        return path.as_posix()


def _load(file: str, target: str | None) -> Spec:
    """The spec; what is wrong with the file is a collection error that tells all of it."""
    spec = read_spec(file, target)
    if not isinstance(spec, Spec):
        raise pytest.Collector.CollectError(_problems_text(spec))
    return spec


def _problems_text(problems: Sequence[Problem]) -> str:
    return render_problems(problems, TextStyle(unicode=False)).rstrip()


def _failure_text(result: ClaimResult, style: TextStyle) -> str:
    """The line that pytest's summary shows, and below it the whole story."""
    verdict = result.verdict
    why = verdict.reason if verdict.counterexample is None else verdict.counterexample.note
    lead = "SWZ901 " if verdict.is_fault else ""
    head = f"{lead}{verdict.outcome}, expected {result.expected}: {prose(why)}"
    return f"{head}\n{rendered([story(result, style)], style).rstrip()}"


def _properties(result: ClaimResult) -> list[tuple[str, object]]:
    """What a JUnit report keeps of a claim."""
    verdict, measure = result.verdict, result.verdict.measure
    found = {
        "swzverify.id": result.id,
        "swzverify.verdict": verdict.outcome.value,
        "swzverify.expected": result.expected.value,
        "swzverify.engines": engine_words(result),
        "swzverify.scope": verdict.scope,
        "swzverify.evidence": verdict.evidence,
        "swzverify.reason": verdict.reason,
    }
    if measure is not None:
        found |= {
            "swzverify.wavefronts": str(measure.wavefronts),
            "swzverify.bank_conflicts": str(measure.bank_conflicts),
        }
    if verdict.sectors is not None:
        found["swzverify.sectors"] = str(verdict.sectors.sectors)
    return [(name, prose(value)) for name, value in found.items() if value]
