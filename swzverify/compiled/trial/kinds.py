"""The kinds of instructions that the machine tells apart, and how many steps they may take.

Source: PTX ISA, Control Flow Instructions; Parallel Synchronization and Communication Instructions: bar, barrier.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache, lru_cache
from typing import Final

from swzverify.compiled.ptx import Function
from swzverify.compiled.trial.code import runs_alone
from swzverify.compiled.trial.exchange import REDUCTION
from swzverify.compiled.trial.schedule import paths_of

_BARRIER: Final = re.compile(r"bar(?:\.cta)?\.sync|barrier(?:\.cta)?\.sync(?:\.aligned)?")
_OTHER_BARRIER: Final = re.compile(r"bar(?:rier)?\..*")


class Kind(Enum):
    """What the machine does with an instruction."""

    PLAIN = auto()
    JUMP = auto()
    BARRIER = auto()
    OTHER_BARRIER = auto()
    TRAP = auto()


@cache
def kind_of(opcode: str) -> Kind:
    """What the machine does with instructions of an opcode."""
    name = opcode.partition(".")[0]
    if _BARRIER.fullmatch(opcode) or REDUCTION.fullmatch(opcode):
        return Kind.BARRIER
    if _OTHER_BARRIER.fullmatch(opcode) and opcode != "bar.warp.sync":
        return Kind.OTHER_BARRIER
    if name == "trap":
        return Kind.TRAP
    return Kind.JUMP if name in ("bra", "brx", "ret", "exit") else Kind.PLAIN


@lru_cache(maxsize=4)
def steps_of_blocks(function: Function, threads: int) -> list[int]:
    """The most steps that each block of a function takes: of threads that run alone, each may take one."""
    return [
        sum(1 + threads * runs_alone(each) for each in function.instructions[block.start : block.stop])
        for block in paths_of(function)[0].blocks
    ]
