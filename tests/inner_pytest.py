"""Runs pytest in this process, as `pytester.runpytest` does, for tests that have no `pytester`.

A new process spends a second on imports before its first test. `tests/pytest_plugin/` and
`tests/examples/` start pytest in processes of its own, so that its start is tested too.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

_NOT_REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
"""The plugin is imported already, which a new process would do after pytest asked for it."""
_NO_COLLECTION = ["-p", "no:unraisableexception"]
"""At its end a run would collect garbage five times, in all that the tests of this process have made."""


def run_inner(arguments: Sequence[str], **environment: str | None) -> tuple[int, str]:
    """Run pytest in the working folder.

    Args:
        arguments: pytest's own.
        environment: variables to set for the run; None unsets one.

    Returns:
        The exit code, and what pytest writes to both of its streams.
    """
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
    with _environment(environment), _imports(), contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = pytest.main(["-W", _NOT_REWRITTEN, *_NO_COLLECTION, *arguments])
    return int(code), raw.getvalue().decode("utf-8")


@contextlib.contextmanager
def _environment(changed: Mapping[str, str | None]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update({name: value for name, value in changed.items() if value is not None})
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _imports() -> Iterator[None]:
    """Forget the modules of the working folder, so that another run reads its files again.

    Libraries stay: numpy cannot be imported twice.
    """
    here = Path.cwd()
    hooks, path = sys.meta_path[:], sys.path[:]
    try:
        yield
    finally:
        sys.meta_path[:], sys.path[:] = hooks, path
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and Path(file).is_relative_to(here):
                del sys.modules[name]
