"""Which PTX texts of a binary count for a target: for each kernel the newest that can run there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_NAME: Final = re.compile(r"sm_(\d{2,3})([af]?)")
_ENTRY: Final = re.compile(r"\.entry\s+([\w$%]+)")
_SUFFIXES: Final = ("", "f", "a")


@dataclass(frozen=True, slots=True)
class Held:
    """A PTX text that a file holds, with its target, such as `sm_90a`, and its number in the file."""

    target: str
    text: str
    number: int = 1

    @property
    def kernels(self) -> frozenset[str]:
        """The names of its kernels."""
        return frozenset(_ENTRY.findall(self.text))


def chosen(held: Sequence[Held], target: str) -> list[Held]:
    """The texts to scan, in their order.

    Each is the newest text for one of its kernels among those that `target` runs. Of texts without
    kernels, the newest is scanned.

    >>> old, new, last = (Held(name, ".entry k()") for name in ("sm_80", "sm_90", "sm_100"))
    >>> [each.target for each in chosen([old, new, last], "sm_90")]
    ['sm_90']
    """
    usable = [(rank, each) for each in held if (rank := _rank(each.target, target)) is not None]
    best: dict[str, tuple[int, int]] = {}
    for rank, each in usable:
        for kernel in each.kernels or {""}:
            best[kernel] = max(rank, best.get(kernel, rank))
    return [each for rank, each in usable if any(best[kernel] == rank for kernel in each.kernels or {""})]


def _rank(name: str, target: str) -> tuple[int, int] | None:
    """How near PTX of one target is to another one; None where it does not run there.

    PTX of sm_90a runs on compute capability 9.0 only, that of sm_100f on 10.x from 10.0 on. Source:
    PTX ISA, PTX Module Directives: .target.
    """
    mine, wanted = _NAME.fullmatch(name), _NAME.fullmatch(target)
    if mine is None or wanted is None:
        return None
    number, limit = int(mine[1]), int(wanted[1])
    one_chip = number == limit
    family = number // 10 == limit // 10 and number <= limit
    runs = {"a": one_chip, "f": family}.get(mine[2], number <= limit)
    return (number, _SUFFIXES.index(mine[2])) if runs else None


def runs_on(code: str, target: str) -> int | None:
    """How near machine code of one GPU is to a target; None where the target cannot run it.

    Source: CUDA Programming Guide, Binary Compatibility: within one major revision, from the minor
    one on.

    >>> runs_on("sm_86", "sm_89"), runs_on("sm_80", "sm_90")
    (86, None)
    """
    mine, wanted = _NAME.fullmatch(code), _NAME.fullmatch(target)
    if mine is None or wanted is None:
        return None
    number, limit = int(mine[1]), int(wanted[1])
    runs = number == limit if mine[2] == "a" else number // 10 == limit // 10 and number <= limit
    return number if runs else None
