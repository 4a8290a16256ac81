"""What tests of barrier objects and arrivals at them give the lanes of a warp.

Lanes that test one object for one phase together get one result. Lanes that arrive at one object together get
tokens of one phase. What else a token holds is each lane's own: the arrivals that the phase lacks.

Source: docs/hardware.md, "What lanes get together"; PTX ISA, mbarrier.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final

from swzverify.compiled.kernel.leaves import OpaqueLeaf
from swzverify.compiled.kernel.slices import MaybeSteps, Slices, Steps, Wanted
from swzverify.compiled.ptx import Address, Instruction
from swzverify.hardware import capability_of
from swzverify.ir.expr import Const, Expr, Var

_TEST: Final = re.compile(r"mbarrier\.(?:test|try)_wait\b.*")
_ARRIVE: Final = re.compile(
    r"mbarrier\.arrive(?:\.(?:release|relaxed))?(?:\.(?:cta|cluster))?(?:\.shared(?:::cta)?)?\.b64"
)
_TOKEN_BITS: Final = 64
_CAPABILITY: Final = 90
"""For targets before, ptxas takes the phases of lanes' tokens as different."""


def of_object(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    """The value that an operation on a barrier object writes into a register."""
    feeds: list[Expr] | None = None
    if _TEST.fullmatch(instruction.opcode) and at == 0:
        feeds = yield from _tested(slices, instruction)
    if feeds is None:
        return slices.opaque(instruction, at, width, f"`{instruction.opcode}` is not followed")
    return slices.moment(instruction, at, width, f"`{instruction.opcode}` gives lanes one result", tuple(feeds))


def _tested(slices: Slices, instruction: Instruction) -> Generator[Wanted, Expr, list[Expr] | None]:
    """What lanes have to share for one result; None if that is not known."""
    operands = instruction.operands[1:]
    feeds = [(yield from _address(slices, instruction))]
    for number, operand in enumerate(operands[1:]):
        if number or "parity" in instruction.opcode.split("."):
            feeds.append((yield from slices.read(operand, 32, instruction)))
        else:
            token = yield from slices.read(operand, _TOKEN_BITS, instruction)
            feeds.append((yield from _phase(slices, token)))
    known = [each for each in feeds if each is not None]
    return known if len(known) == len(feeds) else None


def _address(slices: Slices, instruction: Instruction) -> MaybeSteps:
    place = next((each for each in instruction.operands if isinstance(each, Address)), None)
    return None if place is None else (yield from slices.place(place, 64, instruction))


def _phase(slices: Slices, token: Expr | None) -> MaybeSteps:
    """The phase of a token that one arrival for each lane gives."""
    leaf = slices.leaves[token] if isinstance(token, Var) else None
    capability = capability_of(slices.module.target)
    if not isinstance(leaf, OpaqueLeaf) or leaf.index < 0 or capability is None or capability < _CAPABILITY:
        return None
    arrival = slices.function.instructions[leaf.index]
    address = yield from _address(slices, arrival)
    if address is None or not _ARRIVE.fullmatch(arrival.opcode):
        return None
    for count in arrival.operands[2:]:
        number = yield from slices.read(count, 32, arrival)
        if not isinstance(number, Const) or number.value != 1:
            return None
    return slices.moment(arrival, 0, 1, "lanes that arrive together get one phase", (address,))
