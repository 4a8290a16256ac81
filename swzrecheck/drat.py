"""Proofs that a SAT solver writes and another program checks.

CaDiCaL writes them; drat-trim checks them, and cake_lpr if it is installed. `lrat-check` is never
used: it accepts proofs that show nothing.

Source: CaDiCaL 1.5.3 and 3.0, `cadical --help`; drat-trim 2023, README; cake_lpr, README.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from swzrecheck.cnf import clauses_of
from swzrecheck.program import Program

SOLVER = "cadical"
CHECKERS = ("drat-trim", "cake_lpr")
_CAKE_MEMORY = {"CML_HEAP_SIZE": "1536", "CML_STACK_SIZE": "512"}
"""MiB that cake_lpr takes when it starts, unless the environment says otherwise; its own 8192
exceed our limit.
"""
UNSATISFIABLE = 20
"""The exit code by which SAT solvers say `unsatisfiable`; 10 is `satisfiable`."""


@dataclass(frozen=True, slots=True)
class ProofOutcome:
    """The outcome of a question: the programs that `checked` its proof, or the `problem` in words.

    `refuted` says that the question has a solution.
    """

    checked: tuple[str, ...] = ()
    problem: str = ""
    refuted: bool = False


def missing_tools() -> str:
    """The tools that proofs need and that are not installed; empty where none is missing."""
    missing: list[str] = []
    if shutil.which(SOLVER) is None:
        missing.append("CaDiCaL (`cadical` on PATH; Debian: apt-get install cadical)")
    if shutil.which("drat-trim") is None:
        missing.append("drat-trim (`drat-trim` on PATH, from github.com/marijnheule/drat-trim)")
    return " and ".join(missing)


def prove_unsatisfiable(program: Program, timeout_s: float) -> ProofOutcome:
    """Write clauses, refute them, check the proof; each step has its own time limit."""
    with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
        clauses, proof = Path(folder, "question.cnf"), Path(folder, "proof.drat")
        clauses.write_text(clauses_of(program).dimacs(), encoding="ascii")
        try:
            solved = _run([SOLVER, "-q", "--no-binary", str(clauses), str(proof)], timeout_s)
            if solved.returncode != UNSATISFIABLE or "s UNSATISFIABLE" not in solved.stdout.splitlines():
                refuted = solved.returncode == 10
                said = "finds a solution" if refuted else f"ends with code {solved.returncode}"
                return ProofOutcome(problem=f"CaDiCaL {said}", refuted=refuted)
            return _check(clauses, proof, timeout_s)
        except subprocess.TimeoutExpired as error:
            return ProofOutcome(problem=f"{Path(error.cmd[0]).name} took more than {timeout_s:g} s")
        except OSError as error:
            return ProofOutcome(problem=f"cannot run {error.filename}: {error.strerror}")


def _check(clauses: Path, proof: Path, timeout_s: float) -> ProofOutcome:
    """Check by drat-trim, then by cake_lpr, which is verified down to its machine code."""
    lrat = clauses.with_name("proof.lrat")
    arguments = ["drat-trim", str(clauses), str(proof), "-t", str(int(timeout_s)), "-L", str(lrat)]
    trimmed = _run(arguments, timeout_s)
    if "s VERIFIED" not in (line.strip() for line in trimmed.stdout.splitlines()):
        return ProofOutcome(problem=f"drat-trim does not verify the proof: {_last_line(trimmed.stdout)}")
    if shutil.which("cake_lpr") is None or not lrat.exists():
        return ProofOutcome(checked=("drat-trim",))
    verified = _run(["cake_lpr", str(clauses), str(lrat)], timeout_s)
    if "s VERIFIED UNSAT" not in (line.strip() for line in verified.stdout.splitlines()):
        return ProofOutcome(problem=f"cake_lpr does not verify the proof: {_last_line(verified.stdout)}")
    return ProofOutcome(checked=CHECKERS)


def _last_line(text: str) -> str:
    """The last thing that a program said."""
    return text.strip().rsplit("\n", 1)[-1][:200] or "it says nothing"


def _run(arguments: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a program on PATH, without a shell."""
    found = shutil.which(arguments[0]) or arguments[0]
    return subprocess.run(  # noqa: S603 - a fixed name on PATH, and files of our own
        [found, *arguments[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
        env=_CAKE_MEMORY | os.environ,
    )
