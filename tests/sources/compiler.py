"""A C++ compiler as the judge of what a source's text means."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import pytest

PROGRAM = shutil.which("g++")
INCLUDES = "#include <cstddef>\n#include <cstdint>\n"
needs_compiler = pytest.mark.skipif(PROGRAM is None, reason="needs a C++ compiler")


def compiles(text: str, flags: Sequence[str] = ("-std=c++20",)) -> bool:
    """Whether it takes the text, behind the headers of the standard types."""
    ran = subprocess.run(
        [str(PROGRAM), *flags, "-fsyntax-only", "-w", "-x", "c++", "-"],
        input=(INCLUDES + text).encode(),
        capture_output=True,
        check=False,
    )
    return ran.returncode == 0


def has_value(expression: str, value: int) -> str:
    """A line that compiles where the expression has that value."""
    suffix = "u" if value >= 2**31 else ""
    return f'\nstatic_assert(({expression}) == {value}{suffix}, "");\n'
