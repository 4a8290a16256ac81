"""One certificate proved again from its statement, each goal by a solver and by a witness.

Nothing of the prover, the front end or Z3 is used. What must be shown is derived from the statement
(`kinds`), and so is every script; what the certificate has of either must be the same, byte for
byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from swzrecheck.claim_words import sentences
from swzrecheck.draft import Goals, MeaninglessError, UntrueError
from swzrecheck.drat import missing_tools, prove_unsatisfiable
from swzrecheck.encode import Part, UnwrittenError, is_folded, parts
from swzrecheck.errors import CertificateError
from swzrecheck.folder import FORMULAS, SPECS, Entry, fingerprint, read_text
from swzrecheck.identity import check_identity
from swzrecheck.kinds import goals_of
from swzrecheck.record import Certificate, Goal, Possible, Shown, read_certificate
from swzrecheck.smtlib import script
from swzrecheck.solvers import SolverAnswer, ask
from swzrecheck.statement import Statement, read_statement, write_statement
from swzrecheck.vacuity import check_possible
from swzrecheck.witness import WitnessError
from swzrecheck.witnesses import CHECKERS, find_witness


class Status(StrEnum):
    """How a certificate came out, worst first."""

    BROKEN = "broken"
    CONTRADICTED = "contradicted"
    NOT_RECHECKED = "not rechecked"
    RECHECKED = "rechecked"


@dataclass(frozen=True, slots=True)
class Limits:
    """The solvers that judge each script, whether proofs are checked, and the limits of a step."""

    solvers: tuple[str, ...]
    timeout_s: float = 300.0
    memory_mib: int = 4096
    drat: bool = False


@dataclass(frozen=True, slots=True)
class Rechecked:
    """The result of one certificate.

    Attributes:
        id: The id of the claim.
        status: The status of the recheck.
        why: What stands against the certificate, if anything, then the statement in words.
        formulas: The number of formulas that were shown.
        witnesses: The number of witnesses that hold.
        proofs: The number of proofs that were checked.
        once: The number of goals that are shown in one way only.
        folded: The number of goals that constants decide, so that nothing is asked.
    """

    id: str
    status: Status
    why: tuple[str, ...] = ()
    formulas: int = 0
    witnesses: int = 0
    proofs: int = 0
    once: int = 0
    folded: int = 0


class _ContradictedError(Exception):
    """Something in the certificate is false."""


@dataclass(slots=True)
class _Findings:
    """The findings about one certificate so far.

    Attributes:
        words: The statement in words.
        open_points: What could not be shown.
        notes: Remarks that are no open points.
        formulas: The number of formulas that were shown.
        witnesses: The number of witnesses that hold.
        proofs: The number of proofs that were checked.
        once: The number of goals that are shown in one way only.
        folded: The number of goals that constants decide.
    """

    words: tuple[str, ...] = ()
    open_points: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    formulas: int = 0
    witnesses: int = 0
    proofs: int = 0
    once: int = 0
    folded: int = 0

    def outcome(self, identity: str, status: Status, *why: str) -> Rechecked:
        """What a recheck says of a certificate."""
        counts = (self.formulas, self.witnesses, self.proofs, self.once, self.folded)
        return Rechecked(identity, status, (*why, *self.words, *self.notes), *counts)


class Recheck:
    """Rechecks the certificates of a folder, within limits; scripts that claims share run once.

    `tell` gets each step before it starts, so that a watcher can give it its time.
    """

    def __init__(self, folder: str, limits: Limits, tell: Callable[[str], None]) -> None:
        self.folder, self.limits, self.tell = folder, limits, tell
        self._answers: dict[tuple[str, str], SolverAnswer | str] = {}
        self._proofs: dict[str, str] = {}

    def entry(self, entry: Entry) -> Rechecked:
        """What comes of one certificate, whatever goes wrong with it: it must not cost the others theirs."""
        try:
            return self.claim(entry)
        except MemoryError:
            why = f"more than {self.limits.memory_mib} MiB of memory"
            return Rechecked(entry.id, Status.NOT_RECHECKED, (why,))
        except Exception as error:  # noqa: BLE001 - a fault of ours is told as one
            why = f"SWZ901 a fault of swzverify: {type(error).__name__}: {error}"
            return Rechecked(entry.id, Status.BROKEN, (why,))

    def claim(self, entry: Entry) -> Rechecked:
        """What comes of one certificate."""
        self.tell("reading")
        found = _Findings()
        try:
            certificate = self._read(entry)
            found.words = sentences(certificate.claim)
            self.tell("deriving what is to be shown")
            goals = _derived(entry.file, certificate)
            if goals.counted:
                found.notes.append(goals.counted)
            for index, (goal, asked) in enumerate(zip(certificate.goals, goals.asked, strict=True)):
                where = f"goal {index + 1}" + (f" ({asked.what})" if asked.what else "")
                self._goal(f"{entry.file}: {where}", goal, asked.statement, found)
        except CertificateError as error:
            return found.outcome(entry.id, Status.BROKEN, f"{error.code} {error.message}")
        except RecursionError:
            return found.outcome(entry.id, Status.BROKEN, f"SWZ604 {entry.file}: nested too deep")
        except (_ContradictedError, UntrueError) as error:
            return found.outcome(entry.id, Status.CONTRADICTED, str(error))
        status = Status.NOT_RECHECKED if found.open_points else Status.RECHECKED
        return found.outcome(entry.id, status, *found.open_points)

    def _read(self, entry: Entry) -> Certificate:
        name = f"{self.folder}/{entry.file}"
        certificate = read_certificate(read_text(self.folder, entry.file, entry.sha256), name)
        if certificate.id != entry.id:
            raise CertificateError("SWZ603", f"{name}: the certificate of {certificate.id!r} is listed as {entry.id!r}")
        check_identity(name, certificate)
        suffix = "ptx" if certificate.claim.kernels else "yaml"
        read_text(self.folder, f"{SPECS}/{certificate.spec_sha256}.{suffix}", certificate.spec_sha256)
        return certificate

    def _goal(self, where: str, goal: Goal, statement: Statement, found: _Findings) -> None:
        """Check one goal: that it says something, its formulas, and its witnesses."""
        _check_possible(where, goal.statement, statement)
        questions = self._questions(where, goal, statement)
        if self._is_folded(where, goal, questions):
            found.folded += 1
            found.notes.append(f"{where}: nothing to show: constants decide it")
            return
        self._witnesses(where, goal, statement, found)
        self._ways(where, goal, bool(questions), found)
        if goal.unwritten:
            found.open_points.append(f"{where}: no formula: {goal.unwritten}")
        for part, text, digest in questions:
            problem = self._solve(where, part, text, digest)
            if problem:
                found.open_points.append(problem)
            else:
                found.formulas += 1
            if self.limits.drat:
                problem = self._proof(where, part, digest)
                if problem:
                    found.open_points.append(problem)
                else:
                    found.proofs += 1

    def _is_folded(self, where: str, goal: Goal, questions: list[tuple[Part, str, str]]) -> bool:
        """Whether constants decide a goal; `shown` must say so of exactly these goals."""
        folded = bool(questions) and all(is_folded(part) for part, _, _ in questions)
        if folded != (goal.shown is Shown.FOLDED):
            how = "decide" if folded else "do not decide"
            raise CertificateError("SWZ605", f"{where}: constants {how} it, but `shown` is {goal.shown}")
        if folded and goal.witnesses:
            raise CertificateError("SWZ605", f"{where}: it has a witness, but constants decide it")
        return folded

    def _witnesses(self, where: str, goal: Goal, statement: Statement, found: _Findings) -> None:
        """Check each witness; a goal without one must be a goal for which none can be found."""
        for name, data in goal.witnesses.items():
            self.tell(f"the {name} witness")
            if name not in CHECKERS:
                raise CertificateError(
                    "SWZ604", f"{where}: witnesses.{name}: no such engine; known are {', '.join(CHECKERS)}"
                )
            try:
                CHECKERS[name](statement, data)
            except WitnessError as error:
                raise _ContradictedError(f"{where}: the {name} witness shows nothing: {error}") from None
            found.witnesses += 1
        if not goal.witnesses:
            self.tell("looking for a witness")
            missed = find_witness(statement)
            if missed is not None:
                raise CertificateError("SWZ605", f"{where}: it has a {missed[0]} witness, which was left out")

    def _ways(self, where: str, goal: Goal, written: bool, found: _Findings) -> None:
        """Check `shown`, and note a goal that is not shown twice: it is not rechecked."""
        shown = Shown.by(written, bool(goal.witnesses))
        if goal.shown is not shown:
            raise CertificateError("SWZ605", f"{where}: `shown` is {goal.shown}, but it is shown {shown}")
        if shown is not Shown.TWICE:
            only = "by solvers alone: no witness applies" if written else "by a witness alone" if goal.witnesses else ""
            found.open_points.append(f"{where}: shown {shown}{' ' + only if only else ''}")
            found.once += shown is Shown.ONCE

    def _questions(self, where: str, goal: Goal, statement: Statement) -> list[tuple[Part, str, str]]:
        """The scripts, written anew from the statement; those of the folder must be the same."""
        self.tell("writing the formulas anew")
        try:
            found = [(part, text := script(part), fingerprint(text)) for part in parts(statement)]
        except UnwrittenError as error:
            if goal.unwritten != str(error) or goal.formulas:
                raise CertificateError("SWZ604", f"{where}: unwritten: {str(error)!r} is expected") from None
            return []
        except ValueError as error:
            raise CertificateError("SWZ605", f"{where}: {error}") from None
        if goal.unwritten or [(f.part, f.sha256) for f in goal.formulas] != [(p.name, d) for p, _, d in found]:
            raise CertificateError("SWZ605", f"{where}: the formulas are not those of the statement")
        for _, text, digest in found:
            if read_text(self.folder, f"{FORMULAS}/{digest}.smt2", digest) != text:
                raise CertificateError("SWZ603", f"{where}: {FORMULAS}/{digest}.smt2 is not the statement's formula")
        return found

    def _solve(self, where: str, part: Part, text: str, digest: str) -> str:
        """Ask the solvers; returns why the question stays open, nothing where all say `unsat`."""
        for name in self.limits.solvers:
            if (name, digest) not in self._answers:
                self.tell(f"{name}: {part.name}")
                try:
                    self._answers[name, digest] = ask(name, text, self.limits.timeout_s)
                except ValueError as error:
                    self._answers[name, digest] = str(error)
            answer = self._answers[name, digest]
            if answer is SolverAnswer.SAT:
                raise _ContradictedError(f"{where}: {name} finds a case in which {part.name}")
            if answer is SolverAnswer.UNKNOWN:
                return f"{where}: {name} cannot decide within {self.limits.timeout_s:g} s whether {part.name}"
            if answer is not SolverAnswer.UNSAT:
                return f"{where}: {answer}"
        return "" if self.limits.solvers else f"{where}: no solver was asked"

    def _proof(self, where: str, part: Part, digest: str) -> str:
        """Write and check a proof; returns why there is none, or nothing."""
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


def _derived(file: str, certificate: Certificate) -> Goals:
    """The goals of the statement; the certificate must have exactly these, and such an `exists`."""
    try:
        goals = goals_of(certificate.claim)
    except MeaninglessError as error:
        raise CertificateError("SWZ605", f"{file}: the statement says nothing: {error}") from None
    wanted, found = [asked.what for asked in goals.asked], [goal.what for goal in certificate.goals]
    if wanted != found:
        raise CertificateError("SWZ605", f"{file}.goals: {certificate.claim.kind} rests on {wanted}, here are {found}")
    if (goals.exists is None) != (certificate.exists is None):
        excluded = goals.exists is not None
        why = "lanes or iterations are excluded: a point must show one" if excluded else "nothing is excluded"
        raise CertificateError("SWZ605", f"{file}.exists: {why}")
    if goals.exists is not None and certificate.exists is not None:
        _check_possible(f"{file}: exists", certificate.exists, goals.exists)
    return goals


def _check_possible(where: str, possible: Possible, statement: Statement) -> None:
    """Check that the obligation is the statement's, and says something."""
    if possible.obligation != write_statement(statement):
        try:
            read_statement(possible.obligation)
        except CertificateError as error:
            raise CertificateError(error.code, f"{where}: {error.message}", text=error.text) from None
        raise CertificateError("SWZ605", f"{where}: the obligation is not that of the statement")
    try:
        check_possible(statement, possible.point)
    except WitnessError as error:
        raise _ContradictedError(f"{where}: {error}") from None
