"""One claim's certificate as a file: a JSON object with a fixed set of fields, read without trust.

`claim` is what is stated; the rest is repeated from it, or shows it, or (`said`) is told and not
judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from swzrecheck.claim import Claim
from swzrecheck.claim_file import read_claim
from swzrecheck.claim_write import claim_data
from swzrecheck.reader import Json, Reader, read_json

SCHEMA = "swzverify.certificate/2"


class Shown(StrEnum):
    """How a goal is shown: by formulas and a witness, by one of them, by neither, by constants."""

    TWICE = "twice"
    ONCE = "once"
    NEVER = "never"
    FOLDED = "folded"

    @staticmethod
    def by(written: bool, witnessed: bool) -> Shown:
        """What `shown` must say of a goal that constants do not decide."""
        return (Shown.NEVER, Shown.ONCE, Shown.TWICE)[written + witnessed]


@dataclass(frozen=True, slots=True)
class Formula:
    """A question of a goal: its name, and the fingerprint of its script."""

    part: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Possible:
    """Something that must be possible: a statement's text, and a point that makes it so."""

    obligation: str
    point: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Goal:
    """One obligation: its text, a point that shows that it is not empty, its questions and witnesses.

    `unwritten` says why there are no formulas.
    """

    what: str
    statement: Possible
    shown: Shown
    formulas: tuple[Formula, ...]
    witnesses: Mapping[str, Json]
    unwritten: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the prover told of its run. A recheck neither judges nor repeats it."""

    scope: str
    evidence: str
    engines: tuple[str, ...]
    reason: str
    assumptions: tuple[str, ...]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proved claim.

    Attributes:
        id: The id of the claim.
        spec: The path of the spec.
        spec_sha256: The fingerprint of the spec's text.
        line: The line of the claim in the spec.
        case: The values of the constants.
        claim: The claim itself.
        said: What the prover reported about its run; not judged again.
        goals: The obligations.
        exists: What must be possible; else the claim says nothing.
    """

    id: str
    spec: str
    spec_sha256: str
    line: int
    case: Mapping[str, int]
    claim: Claim
    said: Said
    goals: tuple[Goal, ...]
    exists: Possible | None = None


def write_certificate(certificate: Certificate) -> str:
    """The text of a certificate: keys in one order, so that the same proof gives the same bytes."""
    said = certificate.said
    data = {
        "schema": SCHEMA,
        "id": certificate.id,
        "verdict": "proved",
        "spec": {"path": certificate.spec, "line": certificate.line, "sha256": certificate.spec_sha256},
        "case": dict(certificate.case),
        "claim": claim_data(certificate.claim),
        "said": {
            "scope": said.scope,
            "evidence": said.evidence,
            "engines": list(said.engines),
            "reason": said.reason,
            "assumptions": list(said.assumptions),
            "versions": dict(said.versions),
        },
        "exists": None if certificate.exists is None else _possible_data(certificate.exists),
        "goals": [_goal_data(goal) for goal in certificate.goals],
    }
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def _possible_data(possible: Possible) -> dict[str, object]:
    return {"obligation": possible.obligation.split("\n"), "point": dict(possible.point)}


def _goal_data(goal: Goal) -> dict[str, object]:
    return {
        "what": goal.what,
        **_possible_data(goal.statement),
        "shown": goal.shown.value,
        "formulas": [{"part": formula.part, "sha256": formula.sha256} for formula in goal.formulas],
        "unwritten": goal.unwritten,
        "witnesses": {name: dict(data) for name, data in goal.witnesses.items()},
    }


def read_certificate(text: str, file: str) -> Certificate:
    """The certificate in a text; `file` is what messages call it.

    Raises:
        CertificateError: SWZ602 and SWZ604.
    """
    reader = Reader(read_json(text, file), file)
    if reader.text("schema") != SCHEMA:
        raise reader.refuse("schema", repr(SCHEMA))
    if reader.text("verdict") != "proved":
        raise reader.refuse("verdict", "'proved': there are no certificates of anything else")
    spec = reader.reader("spec")
    possible = reader.maybe("exists")
    certificate = Certificate(
        id=reader.text("id"),
        spec=spec.text("path"),
        spec_sha256=spec.digest("sha256"),
        line=spec.number("line"),
        case=reader.numbers("case"),
        claim=read_claim(reader.reader("claim")),
        said=_said(reader.reader("said")),
        goals=tuple(_goal(item) for item in reader.readers("goals")),
        exists=None if possible is None else _possible(possible),
    )
    for part in (spec, reader, *(() if possible is None else (possible,))):
        part.done()
    return certificate


def _said(reader: Reader) -> Said:
    versions = reader.reader("versions")
    said = Said(
        scope=reader.text("scope"),
        evidence=reader.text("evidence"),
        engines=reader.texts("engines"),
        reason=reader.text("reason"),
        assumptions=reader.texts("assumptions"),
        versions={name: versions.text(name) for name in list(versions.data)},
    )
    reader.done()
    return said


def _possible(reader: Reader) -> Possible:
    return Possible("\n".join(reader.texts("obligation")), reader.numbers("point"))


def _goal(reader: Reader) -> Goal:
    formulas: list[Formula] = []
    for item in reader.readers("formulas"):
        formulas.append(Formula(item.text("part"), item.digest("sha256")))
        item.done()
    shown = reader.text("shown")
    if shown not in set(Shown):
        raise reader.refuse("shown", f"one of {', '.join(Shown)}")
    witnesses = reader.reader("witnesses")
    goal = Goal(
        what=reader.text("what"),
        statement=_possible(reader),
        shown=Shown(shown),
        formulas=tuple(formulas),
        witnesses={name: witnesses.reader(name).data for name in list(witnesses.data)},
        unwritten=reader.text("unwritten"),
    )
    reader.done()
    return goal
