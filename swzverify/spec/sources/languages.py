"""Which files are kernel sources, and how their language writes comments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath

MAX_SOURCE_BYTES = 4 * 2**20
"""Of a source file; kernels have a few hundred KiB, and generated tables want no contract."""


class Language(StrEnum):
    """How a file's comments and constants are written."""

    C = "C"
    PYTHON = "Python"


_SUFFIXES = {
    **dict.fromkeys((".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"), Language.C),
    ".py": Language.PYTHON,
}

SOURCE_SUFFIXES = tuple(_SUFFIXES)
"""What the names of source files end in."""


def language_of(path: str | PurePath) -> Language | None:
    """The language of a file by its name; None for what is no source.

    >>> language_of("src/gemm.cu").value, language_of("gemm.swz.yaml")
    ('C', None)
    """
    return _SUFFIXES.get(PurePath(path).suffix.lower())
