"""The families of layouts, one per file: each is a finite set of layouts, listed whole.

`xor` is searched in another way, beside this folder.
"""

from __future__ import annotations

from swzverify.search.synth.families import pad, swizzle, tma
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.problem import Problem

__all__ = ["frames_of"]


def frames_of(problem: Problem) -> list[Frame]:
    """Every member of a family, frame by frame.

    Errors are those of the family.
    """
    match problem.family:
        case "swizzle":
            return swizzle.frames(problem)
        case "tma":
            return tma.frames(problem)
        case "pad":
            return pad.frames(problem, swizzled=False)
        case "pad+swizzle":
            return pad.frames(problem, swizzled=True)
        case _:
            raise ValueError(problem.family)
