"""A bound on a block's processor time: the safety net below the caps on size."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class OutOfPatience(Exception):  # noqa: N818 - no error of the input by itself: the caller says what took too long
    """The block was ended."""


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfPatience


@contextmanager
def patience(seconds: float) -> Generator[None]:
    """Raise `OutOfPatience` in the block once the process has worked for so many seconds.

    Without effect where it cannot be had: outside the main thread, on systems without virtual
    timers, and where the program has a use of its own for them.

    >>> with patience(60):
    ...     print(sum(range(10)))
    45
    """
    if not _is_possible():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _end)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _is_possible() -> bool:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    is_free = signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL
    return is_free and signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
