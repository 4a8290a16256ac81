"""Work that is counted, since no test may measure time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, those of Python and those that are built in.

    >>> calls_of(lambda: [abs(number) for number in range(10)]) > 10
    True
    """
    calls = 0

    def note(_frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def forget_everything() -> None:
    """Empty the package's caches: what they still have depends on the order of earlier work, and calls with it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("swzverify."):
            for value in list(vars(module).values()):
                # Of the type: a proxy of another library may ask its value, which is not there.
                if hasattr(type(value), "cache_clear"):
                    value.cache_clear()
