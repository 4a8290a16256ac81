"""One certificate proved again: hashes, points, counts, witnesses, and every script by a solver.

Nothing of the prover, the front end or Z3 is used. What the certificate says is compared with what follows from its
statements: the scripts are written anew from them and must be the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from swzverify.certificates.drat import missing_tools, prove_unsatisfiable
from swzverify.certificates.encode import Part, UnwrittenError, parts
from swzverify.certificates.folder import FORMULAS, SPECS, Entry, fingerprint, read_text
from swzverify.certificates.record import Certificate, Fact, Goal, Possible, read_certificate
from swzverify.certificates.smtlib import script
from swzverify.certificates.solvers import Answer, ask
from swzverify.certificates.statement import Always, Apart, Cost, Covers, Injective, Statement, read_statement
from swzverify.certificates.vacuity import check_possible
from swzverify.certificates.witness import Data, WitnessError
from swzverify.certificates.witness_gf2 import check_gf2
from swzverify.certificates.witness_radix import check_radix
from swzverify.certificates.witness_residues import check_residues
from swzverify.errors import SwzError

CHECKERS: dict[str, Callable[[Statement, Data], None]] = {
    "gf2": check_gf2,
    "radix": check_radix,
    "residues": check_residues,
}

SHAPES: dict[str, tuple[type[Statement], ...]] = {
    "injective": (Injective,),
    "bijective": (Injective, Always),
    "contiguous": (Always,),
    "aligned": (Always,),
    "in_bounds": (Always,),
    "conflict_free": (Always, Cost),
    "wavefronts": (Always, Cost),
    "covers": (Covers,),
    "equivalent": (Always,),
    "disjoint": (Apart,),
    "permutation": (Always, Injective),
}
"""The statements that make up a claim of each kind: one left out would prove less than the claim says."""
COUNTED = frozenset({"bijective", "permutation"})
"""Kinds that rest on a count besides."""


class Status(StrEnum):
    """How a certificate came out, worst first."""

    BROKEN = "broken"
    CONTRADICTED = "contradicted"
    NOT_RECHECKED = "not rechecked"
    RECHECKED = "rechecked"


@dataclass(frozen=True, slots=True)
class Limits:
    """Which solvers judge each script, whether proofs are written and checked, and what a step may take."""

    solvers: tuple[str, ...]
    timeout_s: float = 60.0
    memory_mib: int = 4096
    drat: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one certificate: `why` is empty when it was rechecked; the counts are of what held."""

    id: str
    status: Status
    why: tuple[str, ...] = ()
    formulas: int = 0
    witnesses: int = 0
    proofs: int = 0
    time_s: float = 0.0


class _ContradictedError(Exception):
    """Something in the certificate is false."""


class Recheck:
    """Rechecks the certificates of a folder; scripts that claims have in common are asked once.

    `tell` hears what is about to be done, so that a watcher can give each step its time.
    """

    def __init__(self, folder: str, limits: Limits, tell: Callable[[str], None]) -> None:
        self.folder, self.limits, self.tell = folder, limits, tell
        self._answers: dict[tuple[str, str], Answer | str] = {}
        self._proofs: dict[str, str] = {}

    def claim(self, entry: Entry) -> Outcome:
        """What comes of one certificate."""
        self.tell("reading")
        open_points: list[str] = []
        counts = {"formulas": 0, "witnesses": 0, "proofs": 0}
        try:
            certificate = self._read(entry)
            if certificate.exists is not None:
                self._possible(entry.file, certificate.exists)
            _check_shape(entry.file, certificate)
            for index, goal in enumerate(certificate.goals):
                where = f"goal {index + 1}" + (f" ({goal.what})" if goal.what else "")
                self._goal(f"{entry.file}: {where}", goal, open_points, counts)
            for fact in certificate.facts:
                _check_fact(certificate, fact)
        except SwzError as error:
            return Outcome(entry.id, Status.BROKEN, (f"{error.code} {error.message}",))
        except _ContradictedError as error:
            return Outcome(entry.id, Status.CONTRADICTED, (str(error),), **counts)
        status = Status.NOT_RECHECKED if open_points else Status.RECHECKED
        return Outcome(entry.id, status, tuple(open_points), **counts)

    def _read(self, entry: Entry) -> Certificate:
        name = f"{self.folder}/{entry.file}"
        certificate = read_certificate(read_text(self.folder, entry.file, entry.sha256), name)
        if certificate.id != entry.id:
            raise SwzError("SWZ603", f"{name}.id: {certificate.id!r} is listed as {entry.id!r}")
        read_text(self.folder, f"{SPECS}/{certificate.spec_sha256}.yaml", certificate.spec_sha256)
        return certificate

    def _possible(self, file: str, possible: Possible) -> None:
        """The claim as a whole is about some case."""
        statement = _statement(f"{file}: exists", possible)
        if not isinstance(statement, Always):
            raise SwzError("SWZ605", f"{file}: exists: a condition is expected")

    def _goal(self, where: str, goal: Goal, open_points: list[str], counts: dict[str, int]) -> None:
        statement = _statement(where, goal.statement)
        questions = self._questions(where, goal, statement)
        for name, data in goal.witnesses.items():
            self.tell(f"the {name} witness")
            if name not in CHECKERS:
                raise SwzError("SWZ604", f"{where}: witnesses.{name}: no such engine; known are {', '.join(CHECKERS)}")
            try:
                CHECKERS[name](statement, data)
            except WitnessError as error:
                raise _ContradictedError(f"{where}: the {name} witness shows nothing: {error}") from None
            counts["witnesses"] += 1
        if goal.unwritten:
            open_points.append(f"{where}: no formula: {goal.unwritten}")
        for part, text, digest in questions:
            problem = self._solve(where, part, text, digest)
            if problem:
                open_points.append(problem)
            else:
                counts["formulas"] += 1
            if self.limits.drat:
                problem = self._proof(where, part, digest)
                if problem:
                    open_points.append(problem)
                else:
                    counts["proofs"] += 1

    def _questions(self, where: str, goal: Goal, statement: Statement) -> list[tuple[Part, str, str]]:
        """The scripts, written anew from the statement; those of the folder must be the same."""
        self.tell("writing the formulas anew")
        try:
            found = [(part, text := script(part), fingerprint(text)) for part in parts(statement)]
        except UnwrittenError as error:
            if goal.unwritten != str(error) or goal.formulas:
                raise SwzError("SWZ604", f"{where}: unwritten: {str(error)!r} is expected") from None
            return []
        except ValueError as error:
            raise SwzError("SWZ605", f"{where}: {error}") from None
        if goal.unwritten or [(f.part, f.sha256) for f in goal.formulas] != [(p.name, d) for p, _, d in found]:
            raise SwzError("SWZ605", f"{where}: the formulas are not those of the obligation")
        for _, text, digest in found:
            if read_text(self.folder, f"{FORMULAS}/{digest}.smt2", digest) != text:
                raise SwzError("SWZ603", f"{where}: {FORMULAS}/{digest}.smt2 is not the obligation's formula")
        return found

    def _solve(self, where: str, part: Part, text: str, digest: str) -> str:
        """Ask the solvers; why it stays open, or empty when all say `unsat`."""
        for name in self.limits.solvers:
            if (name, digest) not in self._answers:
                self.tell(f"{name}: {part.name}")
                try:
                    self._answers[name, digest] = ask(name, text, self.limits.timeout_s)
                except ValueError as error:
                    self._answers[name, digest] = str(error)
            answer = self._answers[name, digest]
            if answer is Answer.SAT:
                raise _ContradictedError(f"{where}: {name} finds a case in which {part.name}")
            if answer is Answer.UNKNOWN:
                return f"{where}: {name} cannot decide within {self.limits.timeout_s:g} s whether {part.name}"
            if answer is not Answer.UNSAT:
                return f"{where}: {answer}"
        return "" if self.limits.solvers else f"{where}: no solver was asked"

    def _proof(self, where: str, part: Part, digest: str) -> str:
        """Write and check a proof; why that did not come about, or empty."""
        if digest not in self._proofs:
            self.tell(f"a proof that not: {part.name}")
            missing = missing_tools()
            if missing:
                return f"{where}: no proof: {missing} is missing"
            done = prove_unsatisfiable(part.program, self.limits.timeout_s)
            if done.refuted:
                raise _ContradictedError(f"{where}: CaDiCaL finds a case in which {part.name}")
            self._proofs[digest] = done.problem
        problem = self._proofs[digest]
        return f"{where}: no checked proof: {problem}" if problem else ""


def _statement(where: str, possible: Possible) -> Statement:
    """The statement of a text, which must be about something."""
    try:
        statement = read_statement(possible.obligation)
    except SwzError as error:
        raise SwzError(error.code, f"{where}: {error.message}", text=error.text, span=error.span) from None
    try:
        check_possible(statement, possible.point)
    except WitnessError as error:
        raise _ContradictedError(f"{where}: {error}") from None
    return statement


def _check_shape(file: str, certificate: Certificate) -> None:
    """The goals and counts are those that a claim of this kind has."""
    wanted = SHAPES.get(certificate.kind)
    if wanted is None:
        raise SwzError("SWZ604", f"{file}.kind: {certificate.kind!r} is no kind of claim")
    found = tuple(type(read_statement(goal.statement.obligation)) for goal in certificate.goals)
    if found != wanted:
        sides = [", ".join(each.__name__.lower() for each in side) for side in (wanted, found)]
        raise SwzError("SWZ605", f"{file}.goals: {certificate.kind} is made of {sides[0]}, here are {sides[1]}")
    if len(certificate.facts) != (certificate.kind in COUNTED):
        raise SwzError("SWZ605", f"{file}.facts: {len(certificate.facts)} counts for {certificate.kind}")


def _check_fact(certificate: Certificate, fact: Fact) -> None:
    """The points of a one-to-one goal, each of so many units, are as many as there is room for."""
    if fact.goal >= len(certificate.goals):
        raise SwzError("SWZ604", f"{certificate.id}: facts: there is no goal {fact.goal + 1}")
    statement = read_statement(certificate.goals[fact.goal].statement.obligation)
    if not isinstance(statement, Injective):
        raise SwzError("SWZ604", f"{certificate.id}: facts: goal {fact.goal + 1} is not one of points that differ")
    points = prod(statement.program[place].number for place in statement.distinct)
    if points * fact.times != fact.room:
        said = f"{points} points of {fact.times} units do not fill {fact.room}"
        raise _ContradictedError(f"{certificate.id}: {fact.text}: {said}")
