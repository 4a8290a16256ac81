"""Reductions over a warp by butterflies: after the last step all lanes have one value.

A step is `w = f(v, shfl.bfly(v, d))` with a commutative f. Lane l then has f(v[l], v[l ^ d]), and lane l ^ d has
f(v[l ^ d], v[l]), which is the same. If v is the same in lanes l and l ^ e already, w is so, too. So each step adds
its distance to those that came before. Once these are 1, 2, 4, 8 and 16, w is one value for the whole warp.
"""

from __future__ import annotations

import re
from typing import Final

from swzverify.compiled.kernel.leaves import Moved, OpaqueLeaf, UniformLeaf
from swzverify.compiled.kernel.slices import MaybeSteps, Slices
from swzverify.compiled.ptx import Instruction
from swzverify.hardware import LANES
from swzverify.ir.expr import Const, Expr, Var, variables

_COMMUTES: Final = re.compile(
    r"(?:add|mul|min|max)(?:\.(?:rn|rz|rm|rp|ftz|sat|NaN))*\.(?:f32|f16|f16x2|bf16|bf16x2)"
    r"|(?:add|mul\.lo|min|max)\.[su](?:16|32)|(?:and|or|xor)\.b(?:16|32)"
)
"""Opcodes whose two sources may change places, to the last bit.

Source: PTX ISA, Floating-Point Instructions: NaN results of `.f32` are canonical. Measured on an H100:
tests/data/h100_commutes.csv.
"""
_ADDS: Final = re.compile(r"add(?:\.(?:ftz|sat))*\.(?:f32|(?:f|bf)16(?:x2)?)")
_PRODUCT: Final = re.compile(r"(?:mul|neg)(?:\.(?:ftz|sat))*\.(?:f32|(?:f|bf)16(?:x2)?) ")
"""What ptxas may make one `fma` with a sum, where neither has a rounding: each lane rounds its own product less.

Source: PTX ISA, Floating-Point Instructions: add. Half-Precision Floating-Point Instructions: add.
"""
ALL_DISTANCES: Final = LANES - 1


def moved(mode: str, value: Expr | None, step: Expr, control: Expr, *, is_whole: bool) -> Moved | None:
    """What a `shfl` moves, if it is a step of a butterfly among all lanes of whole warps.

    Args:
        mode: The mode of the `shfl`.
        value: What each lane gives; None if it cannot be read.
        step: The distance of the lanes.
        control: The operand that clamps lanes and divides the warp.
        is_whole: Whether all lanes of a warp execute it together.
    """
    if mode != "bfly" or value is None or not isinstance(step, Const) or not isinstance(control, Const):
        return None
    is_plain = control.value & 0x1F1F == ALL_DISTANCES
    distance = step.value & ALL_DISTANCES
    return Moved(value, distance) if is_whole and is_plain and distance.bit_count() == 1 else None


def reduced(slices: Slices, instruction: Instruction) -> MaybeSteps:
    """The result of a step of a butterfly; None for other instructions."""
    if not _COMMUTES.fullmatch(instruction.opcode) or len(instruction.operands) != 3:
        return None
    kind = instruction.opcode.rpartition(".")[2]
    width = 32 if kind.endswith(("32", "x2")) else 16
    values: list[Expr] = []
    for operand in instruction.operands[1:]:
        value = yield from slices.read(operand, width, instruction)
        if value is None:
            return None
        values.append(value)
    for own, other in (values, reversed(values)):
        leaf = slices.leaves[other] if isinstance(other, Var) else None
        if isinstance(leaf, OpaqueLeaf) and leaf.moved is not None and leaf.moved.is_of(own):
            if _ADDS.fullmatch(instruction.opcode) and any(_PRODUCT.match(each.name) for each in variables(own)):
                return None
            distances = _distances(slices, own) | leaf.moved.distance
            return slices.reduced(instruction, width, (own, other), distances)
    return None


def _distances(slices: Slices, value: Expr) -> int:
    """The distances over which lanes surely have one value, as bits."""
    found = ALL_DISTANCES
    for variable in variables(value):
        leaf = slices.leaves[variable]
        if isinstance(leaf, OpaqueLeaf):
            found &= leaf.distances
        elif not isinstance(leaf, UniformLeaf):
            return 0
    return found
