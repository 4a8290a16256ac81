"""What the kinds of claims and the codes of problems mean, for reports that list their rules.

The words are those of the claims' forms (`claims/form.py`) and of the error codes' table: there is
no third place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from swzverify.claims import KINDS, claim_type, claim_types
from swzverify.core.error_codes import TITLES
from swzverify.report.result import ExitCode

_EXIT_WORDS = {
    ExitCode.AS_EXPECTED: "every claim came out as expected",
    ExitCode.UNEXPECTED: "some claims did not come out as expected",
    ExitCode.ERROR: "an error in a spec, in the usage, or in swzverify",
    ExitCode.UNDECIDED: "nothing was refuted unexpectedly, but something is unknown or vacuous",
    ExitCode.NO_CLAIM: "no claim found",
    ExitCode.INTERRUPTED: "interrupted: the report is on what was judged",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that can be violated: its name, its meaning in a sentence, what to do about it."""

    name: str
    meaning: str
    help: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a command's results are about: its rules, and what its exit codes mean."""

    rules: tuple[Rule, ...]
    exit_words: Mapping[int, str]


def claim_vocabulary(kinds: Iterable[str] = ()) -> Vocabulary:
    """That of `swzverify prove`; `kinds` of claims that other packages add are in it, too.

    >>> claim_vocabulary().exit_words[5]
    'no claim found'
    """
    return Vocabulary(tuple(claim_rules(kinds)), {int(code): told for code, told in _EXIT_WORDS.items()})


def claim_rules(kinds: Iterable[str] = ()) -> list[Rule]:
    """The rule of every kind of claim, in the order of the docs; then those of other packages among `kinds`.

    >>> claim_rules()[0].meaning
    'No two elements share a bit.'
    """
    others = {kind: claim_type(kind) for kind in sorted({*kinds} - {*KINDS})}
    known = {**claim_types(), **others}
    return [Rule(kind, claim.form.title, _claim_help(kind)) for kind, claim in known.items() if claim is not None]


def problem_rule(code: str) -> Rule:
    """The rule that a problem of this code violates.

    >>> problem_rule("SWZ103").meaning
    'A key given twice.'
    """
    title = TITLES.get(code, "a problem of a spec or of the command line")
    text = "The message says what is wrong with which value, and what to do next. No claim of the file has a verdict."
    return Rule(code, f"{title[:1].upper()}{title[1:]}.", text)


def _claim_help(kind: str) -> str:
    return (
        f"The spec claims `{kind}`. A refuted claim comes with a case that breaks it, replayed in plain integers: "
        "change the layout, the swizzle or the access, or say `expect: refuted` with a `because:` where that is meant. "
        "An undecided one says what ran out or is not modelled."
    )
