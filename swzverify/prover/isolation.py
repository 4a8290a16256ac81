"""Z3 in a process of its own per query, with hard limits; a fault there costs an answer, no verdict.

A solver can hang, run out of memory or crash. In a forked process this has no effect on the parent.
The answer comes back through a pipe, as JSON under a key that only the two processes know. Anything
else (no answer, half an answer, an unsigned one, a process that does not end well) is `undecided`.
The fork copies the obligation, functions included; on systems without fork there is no isolation.
"""

from __future__ import annotations

import ctypes
import gc
import hmac
import json
import os
import selectors
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from swzverify.engines.obligations import Answer, Finding, Obligation, WarpCost, WorstCost
from swzverify.ir.expr import Expr

if TYPE_CHECKING:
    from swzverify.engines.smt import SMT

MIB = 1 << 20
_KEY_BYTES = 32
_MAX_ANSWER_BYTES = 16 * MIB
_LAST_SECONDS = 2.0
"""For a process that has said all to end."""
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux's prctl(2)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query: `seconds` of wall clock and `memory_mib` beyond the process's start.

    Unless a user sets other limits, the clock is a safety net, and the budget decides.
    """

    seconds: float = 3600.0
    memory_mib: int = 4096

    def __post_init__(self) -> None:
        """Refuse limits that allow nothing."""
        if self.seconds <= 0 or self.memory_mib <= 0:
            raise ValueError(f"limits must be positive: {self.seconds} s, {self.memory_mib} MiB")


class LostAnswerError(Exception):
    """A query's process gave no answer that can be trusted; the text says why."""


@dataclass(frozen=True, slots=True)
class IsolatedSMT:
    """The Z3 engine, each question in a process of its own.

    It answers as `SMT` does, and `undecided` where the process was lost.
    """

    inner: SMT
    limits: Limits

    @property
    def name(self) -> str:
        """The name of the engine in reports."""
        return self.inner.name

    def decide(self, obligation: Obligation) -> Finding:
        """The answer of Z3, or undecided."""
        return self._found(lambda: self.inner.decide(obligation))

    def possible(self, condition: Expr) -> Finding:
        """Whether some point satisfies a one-bit condition, or undecided."""
        return self._found(lambda: self.inner.possible(condition))

    def _found(self, question: Callable[[], Finding]) -> Finding:
        try:
            return _finding_from(ask(lambda: asdict(question()), self.limits))
        except LostAnswerError as reason:
            return Finding(self.name, Answer.UNDECIDED, detail=str(reason))


def ask(question: Callable[[], object], limits: Limits) -> Any:
    """The JSON value that `question` returns in a forked process.

    The process is gone when this returns or raises, also after an interrupt from the keyboard.

    Raises:
        LostAnswerError: The process sent anything else.

    >>> ask(lambda: [1, "two"], Limits(seconds=10))
    [1, 'two']
    """
    key = os.urandom(_KEY_BYTES)
    ours, theirs = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child runs the question and touches nothing that
        # they could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _answer(question, theirs, key, limits, parent)
    os.close(theirs)
    status: int | None = None
    try:
        text = _read(ours, monotonic() + limits.seconds, limits)
        status = _ended(child, monotonic() + _LAST_SECONDS)
    finally:
        os.close(ours)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return _checked(text, key, status)


def _read(pipe: int, deadline: float, limits: Limits) -> bytes:
    """Everything until the other end closes."""
    parts: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - monotonic())):
                raise LostAnswerError(f"Z3 was stopped after {limits.seconds:g} s, the time limit of a query")
            part = os.read(pipe, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > _MAX_ANSWER_BYTES:
                raise LostAnswerError("Z3's process sent more than any answer takes")


def _ended(child: int, deadline: float) -> int | None:
    """The exit status, once the pipe is closed; None when the process goes on all the same."""
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        if monotonic() > deadline:
            return None
        sleep(0.001)  # it has nothing left to do but to end


def _checked(text: bytes, key: bytes, status: int | None) -> object:
    if status is None:
        raise LostAnswerError("Z3's process closed its pipe and did not end")
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        raise LostAnswerError(f"Z3's process was killed by {signal.Signals(-code).name}")
    if code:
        raise LostAnswerError(f"Z3's process ended with code {code}: {_last_words(text)}")
    mark, body = text[:_KEY_BYTES], text[_KEY_BYTES:]
    if not hmac.compare_digest(mark, hmac.digest(key, body, "sha256")):
        raise LostAnswerError("Z3's process sent an answer that is cut off or not its own")
    return json.loads(body)


def _last_words(text: bytes) -> str:
    """What a failing process said, as one short line."""
    return " ".join(text.decode("utf-8", "replace").split())[:200] or "no word"


def _answer(question: Callable[[], object], pipe: int, key: bytes, limits: Limits, parent: int) -> None:
    """Answer the question in the child, and leave by `_exit`.

    Thus nothing of the parent is flushed or run twice.
    """
    code, said = 1, b""
    try:
        _settle(limits, parent)
        body = json.dumps(question()).encode()
        code, said = 0, hmac.digest(key, body, "sha256") + body
    except BaseException as error:  # noqa: BLE001 - the process ends here, whatever it was
        said = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    try:
        while said:
            said = said[os.write(pipe, said) :]
    except OSError:
        code = 1
    finally:
        os._exit(code)


def _settle(limits: Limits, parent: int) -> None:
    """Out of the terminal's reach, under the memory limit, and gone when the parent is."""
    gc.disable()  # what the parent holds is not this process's to tidy up
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    import resource  # noqa: PLC0415 - there is none on Windows

    held = _address_space_bytes()
    if held:
        most = held + limits.memory_mib * MIB
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    seconds = int(limits.seconds) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _address_space_bytes() -> int:
    """How much address space this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


_WORST_CASES = ("most_wavefronts", "most_conflicts")


def _finding_from(value: Any) -> Finding:
    """The finding that `asdict` made a mapping of."""
    try:
        worst = value["worst"]
        return Finding(
            str(value["engine"]),
            Answer(value["answer"]),
            value["point"],
            None if worst is None else WorstCost(*(WarpCost(**worst[name]) for name in _WORST_CASES)),
            str(value["detail"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LostAnswerError(f"Z3's process answered with a malformed finding: {error}") from error
