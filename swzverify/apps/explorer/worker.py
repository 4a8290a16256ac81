"""The process that computes answers: one at a time, and ended when one takes too long."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any

from swzverify.apps.explorer.fragments import Answer, Ask, answer, wrong
from swzverify.apps.explorer.state import FieldError
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.core.processes import collect_rarely, start
from swzverify.errors import SwzError

SECONDS = 10.0
"""Wall clock that an answer may take, and that a request waits for the requests before it."""


def serve(pipe: Connection[Any, Any]) -> None:
    """Answer the queries of a pipe until it is closed."""
    collect_rarely()
    with contextlib.suppress(EOFError, OSError):
        while True:
            job: tuple[str, Ask] = pipe.recv()
            query, what = job
            try:
                found = answer(query, what)
            except Exception as error:  # noqa: BLE001 - a fault of ours costs one answer, not the page
                found = wrong(query, FieldError("", "SWZ901", fault(error), what_to_send()))
            pipe.send(found)


def asked(ask: Callable[[str, Ask], Answer], query: str, what: Ask) -> Answer:
    """The answer to a query string; what stopped it becomes an answer too."""
    try:
        return ask(query, what)
    except SwzError as error:
        return wrong(query, FieldError("", error.code, error.message, error.hint))


class Worker:
    """A process that answers, started when it is first asked, and again after it was ended."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds` is what one answer may take."""
        self.seconds = seconds
        self._turn = Lock()
        self._running: tuple[BaseProcess, Connection[Any, Any]] | None = None

    def ask(self, query: str, what: Ask = "all") -> Answer:
        """The answer to a query string.

        Raises:
            SwzError: SWZ598 if it takes too long, or the process died.
        """
        if not self._turn.acquire(timeout=self.seconds):
            raise SwzError("SWZ598", "other requests take all the time", hint="one page at a time; try again")
        try:
            return self._ask((query, what))
        finally:
            self._turn.release()

    def _ask(self, job: tuple[str, Ask]) -> Answer:
        running = self._running
        if running is None:
            running = self._running = start(serve, first=job)
        else:
            with contextlib.suppress(OSError):  # a process that died shows below
                running[1].send(job)
        process, pipe = running
        try:
            if pipe.poll(self.seconds):
                found: Answer = pipe.recv()
                return found
            why = f"this state takes more than {self.seconds:g} seconds"
        except (EOFError, OSError):
            process.join(timeout=1)
            why = f"the process that computes died with exit code {process.exitcode}"
        self.close()
        raise SwzError("SWZ598", why, hint="a smaller tile, or simpler expressions")

    def close(self) -> None:
        """End the process, if there is one; a later question starts another one."""
        if self._running is not None:
            process, pipe = self._running
            self._running = None
            process.kill()
            process.join()
            pipe.close()


class Workers:
    """Two workers: a quick answer never waits for one that takes long."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds` is what one answer may take."""
        self._quick, self._slow = Worker(seconds), Worker(seconds)

    def ask(self, query: str, what: Ask) -> Answer:
        """The answer to a query string.

        Raises:
            SwzError: SWZ598.
        """
        return (self._slow if what == "changes" else self._quick).ask(query, what)

    def close(self) -> None:
        """End the processes."""
        self._quick.close()
        self._slow.close()
