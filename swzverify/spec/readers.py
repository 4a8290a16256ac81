"""Files of other kinds: a reader that another package adds makes the text of a spec of such a file.

The registry of front ends has three parts, which are asked in this order by the end of a file's name:
specs in YAML, kernel sources with a contract in their comments (`sources/languages.py`), and the entry
points of the group `swzverify.readers`, whose names are ends of file names without the dot. A reader
only writes a spec: what the spec claims is checked and judged as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePath
from typing import cast

from swzverify.core import outside
from swzverify.core.outside import Group
from swzverify.errors import SwzError
from swzverify.spec.guard import decoded, plain_lines, read_bytes
from swzverify.spec.problems import Problems
from swzverify.spec.sources.languages import MAX_SOURCE_BYTES, SOURCE_SUFFIXES

_INSIDE = frozenset({"", ".yaml", ".yml", *SOURCE_SUFFIXES})
_RULE = "it must be a function that takes a file's text and path, and returns the text of a spec"


def reader_of(path: str | PurePath) -> str | None:
    """The name of the reader that another package adds for a file; None for files that swzverify reads.

    >>> reader_of("gemm.swz.yaml"), reader_of("gemm.cu")
    (None, None)
    """
    suffix = PurePath(path).suffix.lower()
    if suffix in _INSIDE or not outside.has(Group.READERS, suffix[1:]):
        return None
    return suffix[1:]


def read_outside(path: Path, name: str, problems: Problems) -> str | None:
    """The text of the spec that a reader makes of a file; None: `problems` has the reason.

    Raises:
        SwzError: SWZ821 for a reader that cannot be used.
    """
    data = read_bytes(path, problems, (f".{name}",), MAX_SOURCE_BYTES)
    text = None if data is None else decoded(data, problems)
    if text is None:
        return None
    reader = outside.load(Group.READERS, name)
    if not callable(reader):
        raise outside.refuse(Group.READERS, name, f"it is {reader!r}", _RULE)
    try:
        spec = cast("Callable[[str, str], object]", reader)(text, path.as_posix())
    except SwzError as error:
        problems.add(error.code, error.message, None, error.hint)
        return None
    except Exception as error:
        rule = f"{_RULE}; it may raise no other error than SwzError"
        raise outside.refuse(Group.READERS, name, f"{type(error).__name__}: {error}", rule) from error
    if not isinstance(spec, str):
        raise outside.refuse(Group.READERS, name, f"it returned {spec!r}", _RULE)
    return plain_lines(spec)
