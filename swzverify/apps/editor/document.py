"""A text that is being typed: what is wrong with it, and the verdicts on its claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.apps.run.fix import cured_texts
from swzverify.apps.run.one import Judged, Known, run_claim
from swzverify.claims.verdict import Outcome
from swzverify.core.words import counted
from swzverify.errors import Problem, SpecError, SwzError
from swzverify.report.story import headline
from swzverify.spec import Spec
from swzverify.spec.contracts import read_contract
from swzverify.spec.guard import is_spec_name, plain_lines
from swzverify.spec.load import parse_spec
from swzverify.spec.problems import Problems, TooManyProblems
from swzverify.spec.source import read_tree
from swzverify.spec.sources.blocks import may_hold_blocks
from swzverify.spec.sources.languages import language_of
from swzverify.spec.tree import Mapping

SETTINGS = Settings(cures=False)
"""How claims are proved while a text is typed: cures are looked for when they are asked for."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to underline. `is_error` tells a refuted claim or a mistake from an open question."""

    line: int
    column: int
    length: int
    code: str
    message: str
    is_error: bool = True


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a text.

    `tree` is None where the text is no YAML, `spec` where it is no spec. `judged` has the claims that were
    proved, in order; all of them unless a newer text came.
    """

    text: str
    path: str
    tree: Mapping | None = None
    spec: Spec | None = None
    problems: tuple[Problem, ...] = ()
    judged: tuple[Judged, ...] = ()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What to underline: mistakes, and claims that came out otherwise than expected."""
        found = [_of_problem(each) for each in self.problems]
        by_place: dict[tuple[int, int], list[Judged]] = {}
        for each in self.judged:
            if not each.result.ok:
                by_place.setdefault((each.claim.line, each.claim.column), []).append(each)
        return (*found, *map(_of_claims, by_place.values()))

    def at(self, line: int) -> list[Judged]:
        """The claims that are stated on a line."""
        return [each for each in self.judged if each.claim.line == line]


@dataclass(slots=True)
class Analyst:
    """Reads and judges texts; what it knows of claims stays from text to text."""

    known: Known = field(default_factory=Known)

    def analyse(self, text: str, path: str, is_old: Callable[[], bool] = lambda: False) -> Analysis:
        """What is known of a text; the claims that are left are not judged once it `is_old`."""
        plain = plain_lines(text)
        found = Analysis(plain, path)
        if not concerns(plain, path):
            return found
        language = language_of(path)
        try:
            found = replace(found, tree=_tree(plain, path))
            spec = parse_spec(plain, path=path, language=language)
        except SpecError as error:
            return replace(found, problems=error.problems)
        except SwzError as error:
            return replace(found, problems=(Problem(error.code, error.message, error.hint, path),))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the server
            return replace(found, problems=(Problem("SWZ901", fault(error), what_to_send(), path),))
        self.known.next_file()
        judged = list[Judged]()
        for claim in spec.claims:
            if is_old():
                break
            judged.append(run_claim(spec, claim, SETTINGS, self.known))
        return replace(found, spec=spec, judged=tuple(judged))

    def cured(self, analysis: Analysis, claim: Judged) -> list[tuple[str, str]]:
        """A title for each cure of a refuted claim that breaks no other claim, and the text after it."""
        found = cured_texts(analysis.text, analysis.path, SETTINGS, claim.result.id)
        return [(f"{cure.object}: {cure.change}", after) for after, cure in found]


def concerns(text: str, path: str) -> bool:
    """Whether a text is a spec by its name, or a kernel source that may hold a contract.

    >>> concerns("", "a.swz.yaml"), concerns("// swz:begin", "a.cu"), concerns("int a;", "a.cu")
    (True, True, False)
    """
    if language_of(path) is None:
        return is_spec_name(path)
    return may_hold_blocks(text.encode("utf-8", "replace"))


def _tree(text: str, path: str) -> Mapping | None:
    problems, language = Problems(path), language_of(path)
    try:
        return read_tree(text, problems) if language is None else read_contract(text, language, problems)
    except TooManyProblems:
        return None


def _of_problem(problem: Problem) -> Mark:
    message = problem.message + (f"\n{problem.hint}" if problem.hint else "")
    return Mark(problem.line or 1, problem.column or 1, problem.caret_length or 1, problem.code, message)


def _of_claims(found: list[Judged]) -> Mark:
    """One mark for a claim in all cases that came out otherwise than expected."""
    worst = min(found, key=lambda each: each.result.verdict.outcome is not Outcome.REFUTED)
    rest = f"\nso too in {counted(len(found) - 1, 'more case')}" if len(found) > 1 else ""
    outcome = worst.result.verdict.outcome
    claim = worst.claim
    message = headline(worst.result) + rest
    return Mark(claim.line, claim.column, len(claim.kind), claim.kind, message, outcome not in _OPEN)


_OPEN = frozenset({Outcome.UNKNOWN, Outcome.VACUOUS})
