"""Words for a fault of swzverify itself: what happened in one line, and what to send us."""

from __future__ import annotations

import os

from swzverify.apps.run.version import versions

DEBUG_VARIABLE = "SWZVERIFY_DEBUG"
"""With 1 in this environment variable, a fault comes with its traceback."""


def fault(error: BaseException) -> str:
    """The exception in one line with its place, or the whole traceback where that is asked for."""
    import traceback  # noqa: PLC0415 - most runs have no fault

    if os.environ.get(DEBUG_VARIABLE) == "1":
        return "".join(traceback.format_exception(error)).rstrip()
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def what_to_send() -> str:
    """What a report of the fault must hold."""
    again = "" if os.environ.get(DEBUG_VARIABLE) == "1" else f", and the output with {DEBUG_VARIABLE}=1"
    return f"this is a fault of swzverify; please report it with the spec file, {versions()}{again}"
