"""Finds, for the refuted claims of a file, cures that can be written and break no other claim of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.one import Known, run_claim
from swzverify.claims.verdict import Outcome
from swzverify.errors import SpecError, SwzError
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult
from swzverify.search.cures import Cure
from swzverify.spec import Spec
from swzverify.spec.build import SpecCase
from swzverify.spec.cured_text import cured_text
from swzverify.spec.guard import plain_lines
from swzverify.spec.load import parse_spec
from swzverify.spec.readers import reader_of
from swzverify.spec.sources.languages import language_of

_ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}


@dataclass(slots=True)
class Fixed:
    """What became of a file: its text before and after, with its own line ends.

    `written` has each claim that is proved now, with the cure. `left` has each refuted claim that stays,
    with the reason.
    """

    file: str
    before: str
    after: str
    written: list[tuple[ClaimResult, Cure]] = field(default_factory=list[tuple[ClaimResult, Cure]])
    left: list[tuple[ClaimResult, str]] = field(default_factory=list[tuple[ClaimResult, str]])

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where there is none. What could hide a part is an escape."""
        lines = unified_diff(_lines(self.before), _lines(self.after), self.file, self.file, lineterm="")
        return "".join("\t".join(map(visible, line.split("\t"))) + "\n" for line in lines)


def fix_file(file: str, settings: Settings, wanted: Collection[str]) -> Fixed:
    """Write the nearest cure of each refuted claim into the text of a file; the file stays as it is.

    A cure is taken if every claim of the file that came out as expected still does, and the refuted
    claim too. The claims are proved again for each text that is tried.

    Args:
        file: The spec, or a kernel source with a contract.
        settings: How to prove; what they select does not limit the claims that are proved again.
        wanted: The ids of the claims that need a cure.

    Raises:
        OSError: The file cannot be read.
        SpecError: It is no spec any more.
        SwzError: SWZ565 for a file that a reader of another package made a spec of.
    """
    if reader_of(file) is not None:
        raise SwzError("SWZ565", f"a reader of another package made the spec of {file}")
    text = Path(file).read_bytes().decode(**_ENCODING)
    return fix_text(text, file, settings, wanted)


def fix_text(text: str, file: str, settings: Settings, wanted: Collection[str] | None = None) -> Fixed:
    """The same for a text; without `wanted` every claim that is refuted unexpectedly needs a cure."""
    judge = _Judge(file, replace(settings, select=(), certificates=None, pictures=False, cures=False))
    fixed = Fixed(file, text, text)
    tried = set[str]()
    now = judge.of(text)
    while True:
        todo = (each for each in now.results.values() if each.id not in tried and _needs_cure(each, wanted))
        result = next(todo, None)
        if result is None:
            return fixed
        tried.add(result.id)
        reasons = list[str]()
        for after, cure, then in _tries(judge, now, result, fixed.after, reasons):
            fixed.after, now = after, then
            fixed.written.append((result, cure))
            break
        else:
            fixed.left.append((result, "; ".join(reasons) or "no cure was found"))


def cured_texts(text: str, file: str, settings: Settings, name: str) -> list[tuple[str, Cure]]:
    """The text after each cure of one refuted claim that breaks no other claim, the nearest first."""
    judge = _Judge(file, replace(settings, select=(), certificates=None, pictures=False, cures=False))
    now = judge.of(text)
    result = now.results.get(name)
    if result is None or not _needs_cure(result, None):
        return []
    return [(after, cure) for after, cure, _ in _tries(judge, now, result, text, [])]


def write_fixed(fixed: Fixed) -> None:
    """Put the text into the file.

    Raises:
        OSError: The file cannot be written.
        SwzError: SWZ565 if the file has changed since it was read.
    """
    path = Path(fixed.file)
    if path.read_bytes().decode(**_ENCODING) != fixed.before:
        raise SwzError("SWZ565", f"{fixed.file} is as it was: it has changed while its claims were proved")
    path.write_bytes(fixed.after.encode(**_ENCODING))


def _needs_cure(result: ClaimResult, wanted: Collection[str] | None) -> bool:
    if wanted is not None and result.id not in wanted:
        return False
    return not result.ok and result.verdict.outcome is Outcome.REFUTED


@dataclass(slots=True)
class _Judged:
    """A text's spec, and its results by the ids of the claims."""

    spec: Spec
    results: dict[str, ClaimResult]


@dataclass(slots=True)
class _Judge:
    """Proves the claims of texts of one file, each different claim once."""

    file: str
    settings: Settings
    known: Known = field(default_factory=Known)

    def of(self, text: str) -> _Judged:
        """The results of a text; a `SpecError` for what is no spec."""
        plain = plain_lines(text.removeprefix("\ufeff"))
        spec = parse_spec(plain, path=self.file, target=self.settings.target, language=language_of(self.file))
        self.known.next_file()
        results = (run_claim(spec, claim, self.settings, self.known).result for claim in spec.claims)
        return _Judged(spec, {each.id: each for each in results})

    def cures(self, judged: _Judged, name: str) -> tuple[Cure, ...]:
        """The cures of a claim, whose search takes longer than its proof."""
        claim = next(each for each in judged.spec.claims if each.id == name)
        return run_claim(judged.spec, claim, replace(self.settings, cures=True), self.known).result.cures


def _tries(
    judge: _Judge, now: _Judged, result: ClaimResult, text: str, reasons: list[str]
) -> Iterator[tuple[str, Cure, _Judged]]:
    """The text after each cure of a claim that may be taken, judged; why others may not is in `reasons`."""
    case = _case(now.spec, result)
    for cure in judge.cures(now, result.id):
        try:
            after = cured_text(text, judge.file, case, cure, language_of(judge.file))
            then = judge.of(after)
        except SwzError as error:
            reasons.append(error.message)
            continue
        except SpecError as error:
            reasons.append(f"'{cure.change}' would leave no spec: {error.problems[0].message}")
            continue
        broken = _broken(now, then, result)
        if broken:
            reasons.append(f"'{cure.change}' would break {broken}")
        else:
            yield after, cure, then


def _broken(now: _Judged, then: _Judged, result: ClaimResult) -> str:
    """The first claim that speaks against a change, in words; empty where none does."""
    if list(now.results) != list(then.results):
        return "the list of the claims"
    for name, before in now.results.items():
        after = then.results[name]
        if (before.ok or name == result.id) and not after.ok:
            return f"{after.kind} {after.subject}, which would be {after.verdict.outcome.value}"
        if after.verdict.outcome is Outcome.ERROR:
            return f"{after.kind} {after.subject}: {after.verdict.reason}"
    return ""


def _case(spec: Spec, result: ClaimResult) -> SpecCase:
    return next(each for each in spec.cases if not result.case or dict(each.chosen) == dict(result.case))


def _lines(text: str) -> list[str]:
    return plain_lines(text).removesuffix("\n").split("\n")
