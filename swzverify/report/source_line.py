"""The line of the source at which a person mends an access.

`.loc` names the innermost line, which is often in a header that wraps one instruction. Reports show the
innermost line of the program itself. Headers of the toolkit and the system are not part of the program.
Libraries that wrap instructions are not either, if the chain has a line outside of them.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.ptx import Location

_TOOLKIT: Final = re.compile(
    r"^/usr/(?:local/)?(?:include|lib\w*)/"
    r"|/(?:nvidia/)?(?:cuda(?:[-_.\d]*|_runtime|_nvcc|_cccl)|cu\d+)/(?:[^/]+/)*include/"
    r"|/CUDA/v[\d.]+/include/"
    r"|/targets/[\w.-]+/include/"
    r"|/include/(?:cuda/(?:std|__\w+)|cooperative_groups|crt)/"
    r"|(?:^|/)cuda_(?:fp16|bf16|fp4|fp6|fp8|pipeline|pipeline_helpers|pipeline_primitives|awbarrier\w*"
    r"|runtime|runtime_api|device_runtime_api)\.h(?:pp)?$"
    r"|(?:^|/)sm_\d+_(?:intrinsics|atomic_functions)\.h(?:pp)?$"
    r"|(?:^|/)device(?:_atomic)?_functions\.h(?:pp)?$"
)
"""Headers of the CUDA toolkit, in its folders or by their names, and of the system."""
_WRAPPERS: Final = re.compile(r"/cutlass/arch/|/include/cute/|/triton/language/")
"""Headers that write one instruction for those who include them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file, as `.loc` names it."""

    file: str
    line: int

    @property
    def name(self) -> str:
        """The line with the file's own name, without its folders.

        >>> Place("/usr/include/mma.hpp", 12).name
        'mma.hpp:12'
        """
        return f"{posixpath.basename(self.file.replace(chr(92), '/'))}:{self.line}"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The line that is shown, with the lines around it in the chain of inlining.

    Those of what was inlined at it come with the outermost first, those at which it was inlined itself with
    the innermost first.
    """

    shown: Place
    inner: tuple[Place, ...] = ()
    callers: tuple[Place, ...] = ()

    @property
    def chain(self) -> tuple[Place, ...]:
        """The line that is shown and what was inlined at it, in one line once."""
        found = [self.shown]
        found += [each for before, each in zip((self.shown, *self.inner), self.inner, strict=False) if each != before]
        return tuple(found)

    @property
    def words(self) -> str:
        """The line that is shown and the innermost one, for text.

        >>> SourceLine(Place("/src/mm.cuh", 506), (Place("/usr/include/cuda_bf16.hpp", 113),)).words
        '/src/mm.cuh:506 -> cuda_bf16.hpp:113'
        """
        path = below(self.shown.file) or self.shown.file
        inner = [each.name for each in self.chain[1:]]
        return " -> ".join([f"{path}:{self.shown.line}", *(inner if len(inner) < 2 else ["...", inner[-1]])])


def source_line(location: Location | None, sources: Mapping[int, str]) -> SourceLine | None:
    """The line at which a person mends what is at a location; None if no line is known.

    `sources` are the files that `.file` numbers.

    >>> sources = {1: "/src/mm.cuh", 2: "/usr/local/cuda-13.0/include/cuda_bf16.hpp"}
    >>> source_line(Location(2, 113, 0, "f", Location(1, 506, 0)), sources).words
    '/src/mm.cuh:506 -> cuda_bf16.hpp:113'
    """
    places: list[Place] = []
    while location is not None:
        if location.line and (file := sources.get(location.file)):
            places.append(Place(file, location.line))
        location = location.inlined_at
    if not places:
        return None
    at = min(range(len(places)), key=lambda number: (_rank(places[number].file), number))
    return SourceLine(places[at], tuple(reversed(places[:at])), tuple(places[at + 1 :]))


def _rank(file: str) -> tuple[int, bool]:
    """How far a file is from the program.

    Its own files come first, and of these the ones below the current folder.
    """
    return _kind(file), not below(file)


def _kind(file: str) -> int:
    path = posixpath.normpath(file.replace("\\", "/"))
    return 2 if _TOOLKIT.search(path) else 1 if _WRAPPERS.search(path) else 0


def is_of_the_program(file: str) -> bool:
    """Whether a file is no header of the toolkit, of the system, or of a library that wraps instructions.

    >>> is_of_the_program("/src/mm.cuh"), is_of_the_program("/usr/local/cuda-13.0/include/cuda_bf16.hpp")
    (True, False)
    """
    return _kind(file) == 0


def below(path: str) -> str:
    """A path as seen from the current folder; empty where it does not lie below it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return ""
    return "" if relative.startswith(os.pardir) else relative
