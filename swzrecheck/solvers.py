"""The solvers that judge a script again: bitwuzla and cvc5, as packages or as programs on PATH.

Each is imported or started at its first use, and each query has a solver of its own. Z3 is not among
them.

Source: bitwuzla 0.9.1 and cvc5 1.4.2, their Python interfaces; both programs' `--help`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swzrecheck.errors import CertificateError

PROGRAM_GRACE_S = 2.0


class SolverAnswer(StrEnum):
    """The answer of a solver to one script."""

    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


def _bitwuzla(text: str, timeout_s: float) -> SolverAnswer:
    bitwuzla: Any = import_module("bitwuzla")  # an extra, without types
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(timeout_s * 1000)))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    # Parsed only: the script's own check-sat would print the answer instead of returning it.
    parser.parse(text, parse_only=True, parse_file=False)
    found = parser.bitwuzla().check_sat()
    if found == bitwuzla.Result.UNSAT:
        return SolverAnswer.UNSAT
    return SolverAnswer.SAT if found == bitwuzla.Result.SAT else SolverAnswer.UNKNOWN


def _cvc5(text: str, timeout_s: float) -> SolverAnswer:
    cvc5: Any = import_module("cvc5")  # an extra, without types
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, int(timeout_s * 1000))))
    solver.setOption("strict-parsing", "true")
    # Its usual lazy way takes twenty times as long on counts of lanes.
    solver.setOption("bitblast", "eager")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    symbols = parser.getSymbolManager()
    said: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        result = str(command.invoke(solver, symbols)).strip()
        if command.getCommandName() == "check-sat":
            said.append(result)
        elif result not in ("", "success"):
            raise ValueError(result[:200])
    return _only_answer(said)


_PACKAGES: Mapping[str, Callable[[str, float], SolverAnswer]] = {"bitwuzla": _bitwuzla, "cvc5": _cvc5}
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "bitwuzla": ("--lang", "smt2"),
    "cvc5": ("--lang", "smt2", "--strict-parsing", "--bitblast=eager"),
}
NAMES = tuple(_PACKAGES)


def choose(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The solvers to ask: those wanted, or the first that is installed.

    Raises:
        CertificateError: SWZ608 if one is not installed.
    """
    missing = [name for name in wanted or NAMES if not version(name)]
    if wanted and missing:
        raise CertificateError("SWZ608", f"{missing[0]} is not installed", hint=_install(missing[0]))
    if not wanted and len(missing) == len(NAMES):
        raise CertificateError("SWZ608", "no solver is installed that could recheck", hint=_install("bitwuzla"))
    return wanted or tuple(name for name in NAMES if name not in missing)[:1]


def _install(name: str) -> str:
    return f"pip install 'swzverify[recheck]', or put a program {name} on PATH"


def version(name: str) -> str:
    """The version of an installed solver in words; empty where it is not installed."""
    if find_spec(name) is not None:
        return f"{name} {metadata.version(name)}"
    return f"{name} (program)" if shutil.which(name) else ""


def ask(name: str, text: str, timeout_s: float) -> SolverAnswer:
    """A solver's answer to a script; the caller guards time and memory from outside too.

    Raises:
        ValueError: The solver gave no answer; the error has its words.
        MemoryError: The solver ran out of memory.
    """
    if find_spec(name) is None:
        return _ask_program(name, text, timeout_s)
    try:
        return _PACKAGES[name](text, timeout_s)
    except MemoryError:
        raise
    except Exception as error:
        # Each package has exceptions of its own, which all say that the script, or the solver, is
        # at fault.
        raise ValueError(f"{name} refuses the script: {str(error)[:300]}") from error


def _ask_program(name: str, text: str, timeout_s: float) -> SolverAnswer:
    program = shutil.which(name)
    if program is None:
        raise ValueError(f"{name} is not installed")
    with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
        path = Path(folder, "question.smt2")
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - a program found on PATH, and a file of our own
                [program, *_OPTIONS[name], str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
                timeout=timeout_s + PROGRAM_GRACE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return SolverAnswer.UNKNOWN
        except OSError as error:
            raise ValueError(f"{name} cannot be run: {error.strerror}") from error
    return _only_answer(done.stdout.removesuffix("\n").split("\n"))


def _only_answer(said: list[str]) -> SolverAnswer:
    """One line that is an answer; a solver that says anything else has not answered."""
    if len(said) != 1 or said[0].strip() not in set(SolverAnswer):
        raise ValueError(f"the solver answers {' '.join(said)[:200]!r}")
    return SolverAnswer(said[0].strip())
