"""One claim's certificate as a file: a JSON object with a fixed set of fields, read without trust.

A reader gets errors with the file and the place; nothing of a certificate is believed before it is checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from swzverify.errors import SwzError

SCHEMA = "swzverify.certificate/1"
Json: TypeAlias = Mapping[str, object]
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Formula:
    """A question of a goal: its name, and the fingerprint of its script."""

    part: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Possible:
    """Something that must be possible: a statement's text, and a point of its variables at which it is."""

    obligation: str
    point: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Goal:
    """One obligation: its statement, its questions, a point that keeps it from being empty, and witnesses.

    `engines` found that it holds; `witnesses` are by engine. `unwritten` says why there are no formulas.
    """

    what: str
    engines: tuple[str, ...]
    statement: Possible
    formulas: tuple[Formula, ...]
    witnesses: Mapping[str, Json]
    unwritten: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A count that plain arithmetic decides: the points of a goal, each `times` units, fill `room` units."""

    text: str
    goal: int
    times: int
    room: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proved claim. `spec_sha256` names the spec's text; `exists` is what must be possible for it to say anything."""

    id: str
    spec: str
    spec_sha256: str
    line: int
    kind: str
    subject: str
    case: Mapping[str, int]
    scope: str
    evidence: str
    engines: tuple[str, ...]
    reason: str
    assumptions: tuple[str, ...]
    versions: Mapping[str, str]
    goals: tuple[Goal, ...]
    exists: Possible | None = None
    facts: tuple[Fact, ...] = ()


def write_certificate(certificate: Certificate) -> str:
    """The text of a certificate: keys in one order, so that the same proof gives the same bytes."""
    data = {
        "schema": SCHEMA,
        "id": certificate.id,
        "verdict": "proved",
        "spec": {"path": certificate.spec, "line": certificate.line, "sha256": certificate.spec_sha256},
        "kind": certificate.kind,
        "subject": certificate.subject,
        "case": dict(certificate.case),
        "scope": certificate.scope,
        "evidence": certificate.evidence,
        "engines": list(certificate.engines),
        "reason": certificate.reason,
        "assumptions": list(certificate.assumptions),
        "versions": dict(certificate.versions),
        "exists": None if certificate.exists is None else _possible_data(certificate.exists),
        "facts": [{"text": f.text, "goal": f.goal, "times": f.times, "room": f.room} for f in certificate.facts],
        "goals": [_goal_data(goal) for goal in certificate.goals],
    }
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def _possible_data(possible: Possible) -> dict[str, object]:
    return {"obligation": possible.obligation.split("\n"), "point": dict(possible.point)}


def _goal_data(goal: Goal) -> dict[str, object]:
    return {
        "what": goal.what,
        "engines": list(goal.engines),
        **_possible_data(goal.statement),
        "formulas": [{"part": formula.part, "sha256": formula.sha256} for formula in goal.formulas],
        "unwritten": goal.unwritten,
        "witnesses": {name: dict(data) for name, data in goal.witnesses.items()},
    }


def read_json(text: str, file: str) -> Json:
    """The object in a text.

    Errors: SWZ602 with line and column for what is no JSON object.
    """
    try:
        data = json.loads(text, object_pairs_hook=_no_twins)
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise SwzError("SWZ602", f"{where}: {error.msg}: damaged or cut short", hint=_AGAIN) from None
    except (ValueError, RecursionError) as error:
        raise SwzError("SWZ602", f"{file}: {str(error)[:200]}", hint=_AGAIN) from None
    if not _is_object(data):
        raise SwzError("SWZ602", f"{file}:1:1: no JSON object", hint=_AGAIN)
    return data


_AGAIN = "write it again: swzverify prove PATH --certificates DIR"


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


class Reader:
    """Takes fields out of an object; what is missing, extra or of another type is SWZ604 with its place."""

    def __init__(self, data: object, place: str) -> None:
        if not _is_object(data):
            raise SwzError("SWZ604", f"{place}: an object is expected", hint=_AGAIN)
        self.data, self.place = dict(data), place

    def _take(self, name: str, wanted: str) -> object:
        if name not in self.data:
            raise SwzError("SWZ604", f"{self.place}: {name!r} is missing, {wanted} is expected", hint=_AGAIN)
        return self.data.pop(name)

    def refuse(self, name: str, wanted: str) -> SwzError:
        """The error of a field that is something else."""
        return SwzError("SWZ604", f"{self.place}.{name}: {wanted} is expected", hint=_AGAIN)

    def text(self, name: str) -> str:
        """A text."""
        value = self._take(name, "a text")
        if not isinstance(value, str):
            raise self.refuse(name, "a text")
        return value

    def digest(self, name: str) -> str:
        """A SHA-256 in hexadecimal."""
        value = self.text(name)
        if not _DIGEST.fullmatch(value):
            raise self.refuse(name, "a SHA-256 of 64 hexadecimal digits")
        return value

    def number(self, name: str) -> int:
        """A number, at least 0."""
        value = self._take(name, "a number")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.refuse(name, "a number, at least 0,")
        return value

    def numbers(self, name: str) -> dict[str, int]:
        """An object of whole numbers."""
        value = self.object(name)
        found = {key: item for key, item in value.items() if isinstance(item, int) and not isinstance(item, bool)}
        if len(found) != len(value):
            raise self.refuse(name, "an object of numbers")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._take(name, "a list")
        items: list[object] = list(value) if isinstance(value, list) else [None]  # type: ignore[reportUnknownArgumentType]
        found = tuple(item for item in items if isinstance(item, str))
        if len(found) != len(items):
            raise self.refuse(name, "a list of texts")
        return found

    def object(self, name: str) -> dict[str, object]:
        """An object."""
        value = self._take(name, "an object")
        if not _is_object(value):
            raise self.refuse(name, "an object")
        return value

    def objects(self, name: str) -> list[Reader]:
        """A list of objects."""
        value = self._take(name, "a list")
        if not isinstance(value, list):
            raise self.refuse(name, "a list")
        items: list[object] = list(value)  # type: ignore[reportUnknownArgumentType]
        return [Reader(item, f"{self.place}.{name}[{index}]") for index, item in enumerate(items)]

    def maybe(self, name: str) -> Reader | None:
        """An object or null."""
        value = self._take(name, "an object or null")
        return None if value is None else Reader(value, f"{self.place}.{name}")

    def done(self) -> None:
        """Nothing else may be there."""
        if self.data:
            raise SwzError("SWZ604", f"{self.place}: unknown field {min(self.data)!r}", hint=_AGAIN)


def read_certificate(text: str, file: str) -> Certificate:
    """The certificate in a text; `file` is what messages call it.

    Errors: SWZ602 and SWZ604.
    """
    reader = Reader(read_json(text, file), file)
    if reader.text("schema") != SCHEMA:
        raise reader.refuse("schema", repr(SCHEMA))
    if reader.text("verdict") != "proved":
        raise reader.refuse("verdict", "'proved': there are no certificates of anything else")
    spec = Reader(reader.object("spec"), f"{file}.spec")
    possible = reader.maybe("exists")
    certificate = Certificate(
        id=reader.text("id"),
        spec=spec.text("path"),
        spec_sha256=spec.digest("sha256"),
        line=spec.number("line"),
        kind=reader.text("kind"),
        subject=reader.text("subject"),
        case=reader.numbers("case"),
        scope=reader.text("scope"),
        evidence=reader.text("evidence"),
        engines=reader.texts("engines"),
        reason=reader.text("reason"),
        assumptions=reader.texts("assumptions"),
        versions={name: str(value) for name, value in reader.object("versions").items()},
        goals=tuple(_goal(item) for item in reader.objects("goals")),
        exists=None if possible is None else _possible(possible),
        facts=tuple(_fact(item) for item in reader.objects("facts")),
    )
    for part in (spec, reader, *(() if possible is None else (possible,))):
        part.done()
    if not certificate.goals:
        raise SwzError("SWZ604", f"{file}.goals: a certificate has at least one goal", hint=_AGAIN)
    return certificate


def _possible(reader: Reader) -> Possible:
    return Possible("\n".join(reader.texts("obligation")), reader.numbers("point"))


def _goal(reader: Reader) -> Goal:
    formulas: list[Formula] = []
    for item in reader.objects("formulas"):
        formulas.append(Formula(item.text("part"), item.digest("sha256")))
        item.done()
    witnesses = reader.object("witnesses")
    goal = Goal(
        what=reader.text("what"),
        engines=reader.texts("engines"),
        statement=_possible(reader),
        formulas=tuple(formulas),
        witnesses={name: Reader(data, f"{reader.place}.witnesses.{name}").data for name, data in witnesses.items()},
        unwritten=reader.text("unwritten"),
    )
    reader.done()
    return goal


def _fact(reader: Reader) -> Fact:
    fact = Fact(reader.text("text"), reader.number("goal"), reader.number("times"), reader.number("room"))
    reader.done()
    return fact
