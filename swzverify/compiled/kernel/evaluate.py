"""The value that one instruction writes into a register, as an expression.

Source: PTX ISA, Instruction Set.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, bit_and, bit_or, either, joined, sub, widened
from swzverify.compiled.kernel.butterflies import moved, reduced
from swzverify.compiled.kernel.effects import DETERMINED, width_of, written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.generic import in_shared
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.kernel.leaves import Open, UniformLeaf, parameter_variable
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.object_values import of_object
from swzverify.compiled.kernel.opcodes import Operation, operation
from swzverify.compiled.kernel.parameters import Piece
from swzverify.compiled.kernel.shuffles import source_lane
from swzverify.compiled.kernel.slices import MaybeSteps, Slices, Steps, Wanted
from swzverify.compiled.kernel.special import MOST_WARPS
from swzverify.compiled.kernel.warps import is_one_in_warp, lane_in_whole_warp, of_lane
from swzverify.compiled.ptx import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Parameter,
    Register,
    SpecialRegister,
    SymbolRef,
    Vector,
    size_of_type,
)
from swzverify.ir.expr import FALSE, TRUE, Const, Expr, const, extract, ite

_LOADS: Final = frozenset({"ld", "ldu"})
_VOTES: Final = re.compile(r"vote\.sync\.(?:all|any|uni)\.pred|vote\.sync\.ballot\.b32")
_OLD_VOTES: Final = re.compile(r"vote\.(?:all|any|uni)\.pred|vote\.ballot\.b32")
_REDUCE: Final = re.compile(r"redux\.sync\.\w+\.[busf]32|match\.all\.sync\.b(?:32|64)")
_SHUFFLE: Final = re.compile(r"shfl\.sync\.(up|down|bfly|idx)\.b32")
_CVTA: Final = re.compile(r"cvta(\.to)?\.(shared|global|const|local|param)(?:::cta|::entry|::func)?\.u(32|64)")
_IS_SHARED: Final = re.compile(r"isspacep\.shared(?:::cta)?")
_CLOCK: Final = re.compile(r"%clock(?:_hi|64)?|%globaltimer(?:_lo)?")
"""Lanes that read one of them together get one value: docs/hardware.md, "What lanes get together"."""
_SIGNED_LOAD: Final = re.compile(r"s\d+")
_MOST_PIECE: Final = 8
"""Bytes of a parameter that one variable stands for, at most."""
SPACES: Final = ("shared", "global", "const", "local", "param")


def evaluate(slices: Slices, instruction: Instruction, at: int) -> Steps:
    """The value for the operand at a place of `written`, as wide as its register."""
    target = written(instruction)[at]
    width = width_of(target) if isinstance(target, Register) else 32
    name, opcode = base_name(instruction), instruction.opcode
    if name in _LOADS:
        return (yield from _load(slices, instruction, at, width))
    if found := _CVTA.fullmatch(opcode):
        return (yield from _change_space(slices, instruction, found, width))
    if _IS_SHARED.fullmatch(opcode) and len(instruction.operands) == 2:
        return (yield from _is_shared(slices, instruction, at, width))
    if name == "mov":
        return (yield from _move(slices, instruction, at, width))
    if name in ("vote", "redux", "match", "shfl", "activemask"):
        return (yield from _across_lanes(slices, instruction, at, width))
    made = yield from reduced(slices, instruction)
    if made is not None:
        return widened(made, width)
    meaning = operation(opcode, len(instruction.operands) - 1)
    if meaning is not None and at < len(meaning.results):
        value = yield from _compute(slices, instruction, meaning, at)
        if value is not None:
            return widened(value, width, signed=meaning.signed)
    if name in DETERMINED:
        return (yield from _determined(slices, instruction, at, width))
    if name == "mbarrier":
        return (yield from of_object(slices, instruction, at, width))
    return slices.opaque(instruction, at, width, f"`{opcode}` is not followed")


def _compute(slices: Slices, instruction: Instruction, meaning: Operation, at: int) -> MaybeSteps:
    values: list[Expr] = []
    for operand, width in zip(instruction.operands[1:], meaning.sources, strict=True):
        value = yield from slices.read(operand, width, instruction)
        if value is None:
            return None
        values.append(value)
    built = meaning.build(tuple(values))
    if built is None:
        return None
    result = built[at]
    if meaning.undefined is not None:
        by_zero, overflow = meaning.undefined(tuple(values))
        condition = either(by_zero, overflow)
        if condition is not FALSE:
            reason = "PTX does not say what this division gives"
            anything = slices.opaque(instruction, at, result.width, reason)
            slices.leaves.tell(anything, Open(by_zero, overflow, values[1], result, instruction.index))
            result = ite(condition, anything, result)
    return result


def _determined(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    """A value that depends on its operands alone."""
    feeds: list[Expr] = []
    for operand in instruction.operands[1:]:
        value = yield from _whole(slices, operand, instruction)
        if value is None:
            reason = f"an operand of `{instruction.opcode}` cannot be read"
            return slices.opaque(instruction, at, width, reason)
        feeds.append(value)
    reason = f"`{instruction.opcode}` is not computed"
    return slices.determined(instruction, at, width, reason, tuple(feeds))


def _whole(slices: Slices, operand: Operand, instruction: Instruction) -> MaybeSteps:
    """All bits of an operand, whatever its type is."""
    if isinstance(operand, Register):
        return (yield from slices.before(operand, instruction.index))
    if isinstance(operand, Vector):
        parts: list[Expr] = []
        for item in operand.items:
            part = yield from _whole(slices, item, instruction)
            if part is None:
                return None
            parts.append(part)
        return joined(tuple(parts))
    if isinstance(operand, Immediate):
        return const(operand.value, 64)
    if isinstance(operand, SpecialRegister | SymbolRef):
        return (yield from slices.read(operand, 64, instruction))
    for width in (1, 32, 64):
        value = yield from slices.read(operand, width, instruction)
        if value is not None:
            return value
    return None


def _move(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    """A move between registers, or between a register and its parts."""
    operands = instruction.operands
    kind = instruction.opcode.rpartition(".")[2]
    whole = 1 if kind == "pred" else 8 * (size_of_type(kind) or 0)
    if len(operands) == 2 and instruction.opcode.count(".") == 1 and whole:
        value = yield from slices.read(operands[1], whole, instruction)
        parts = len(operands[0].items) if isinstance(operands[0], Vector) else 1
        piece = whole // parts if parts and whole % parts == 0 else 0
        if value is not None and piece == width and (at + 1) * piece <= whole:
            return extract(value, at * piece, piece)
    if len(operands) == 2 and operands[1] == SpecialRegister("%warpid"):
        reason = "%warpid is one number for all lanes of a warp"
        return widened(slices.moment(instruction, at, (MOST_WARPS - 1).bit_length(), reason, ()), width)
    if len(operands) == 2 and isinstance(operands[1], SpecialRegister):
        reason = f"{operands[1].name} may change from read to read"
        if _CLOCK.fullmatch(operands[1].name):
            return slices.moment(instruction, at, width, reason, ())
        return slices.opaque(instruction, at, width, reason)
    return (yield from _determined(slices, instruction, at, width))


def _change_space(slices: Slices, instruction: Instruction, found: re.Match[str], width: int) -> Steps:
    """Generic addresses of global memory are its own; the other spaces have windows."""
    bits, space = int(found[3]), found[2]
    if len(instruction.operands) != 2:
        return slices.opaque(instruction, 0, width, f"`{instruction.opcode}` has other operands than usual")
    value = yield from slices.read(instruction.operands[1], bits, instruction)
    if value is None or bits != width:
        return slices.opaque(instruction, 0, width, f"an operand of `{instruction.opcode}` cannot be read")
    if space == "global":
        return value
    window = slices.symbols.window(space, bits)
    return normal(sub(value, window) if found[1] else add(value, window))


def _is_shared(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    """Whether a generic address is a shared one."""
    for bits in (64, 32):
        value = yield from slices.read(instruction.operands[1], bits, instruction)
        found = None if value is None else in_shared(slices, normal(value))
        if found is not None and width == 1:
            return found.holds
    return (yield from _determined(slices, instruction, at, width))


# ---- memory


def space_of(opcode: str) -> str:
    """The state space that an opcode names, without `::cta` and the like; empty for generic ones.

    >>> space_of("ld.volatile.shared::cta.v4.f32"), space_of("ld.f32")
    ('shared', '')
    """
    words = (word.partition("::")[0] for word in opcode.split(".")[1:])
    return next((word for word in words if word in SPACES), "")


def _load(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    opcode = instruction.opcode
    kind = opcode.rpartition(".")[2]
    piece = size_of_type(kind)
    address = instruction.operands[1] if len(instruction.operands) > 1 else None
    if piece is None or not isinstance(address, Address) or 8 * piece > width:
        return slices.opaque(instruction, at, width, f"`{opcode}` is not followed")
    place = yield from slices.place(address, 64, instruction)
    signed = _SIGNED_LOAD.fullmatch(kind) is not None
    space = space_of(opcode)
    if place is None:
        return slices.opaque(instruction, at, width, "the address cannot be read")
    if space == "param":
        value = _parameter(slices, place, at * piece, piece)
        if value is None:
            return slices.opaque(instruction, at, width, "a parameter or a result of a call")
        return widened(value, width, signed=signed)
    bits = 8 * piece
    if space in ("shared", "global", "const") or (space == "" and _is_in_shared(slices, place)):
        reason = f"what {space or 'shared'} memory holds"
        made = slices.moment(instruction, at, bits, reason, (place,), is_input=space in ("global", "const"))
        return widened(made, width, signed=signed)
    reason = "what local memory holds" if space == "local" else "what memory of an unknown space holds"
    return widened(slices.opaque(instruction, at, bits, reason), width, signed=signed)


def _is_in_shared(slices: Slices, place: Expr) -> bool:
    found = in_shared(slices, place)
    return found is not None and found.holds is TRUE


def _parameter(slices: Slices, place: Expr, offset: int, size: int) -> Expr | None:
    """Bytes of a kernel's parameter, which all threads share."""
    found = slices.symbols.parameter(place)
    if found is None:
        return None
    name, start = found
    parameter: Parameter | None = slices.function.parameter(name)
    if parameter is None or parameter.size_bytes is None or start + offset + size > parameter.size_bytes:
        return None
    begin = start + offset
    known = slices.arguments.value(name, begin, size)
    if known is not None:
        return const(known, 8 * size)
    # What other loads read of these bytes has to be the same: all are parts of the widest one.
    own = (begin, size)
    around = [each for each in _pieces(slices).get(name, ()) if _is_in(own, each)]
    first, count = max(around, key=lambda each: each[1], default=own)
    whole = parameter_leaf(slices, name, first, count)
    mask, bits = slices.arguments.bits(name, first, count)
    if mask:
        whole = bit_or(bit_and(whole, const(~mask, whole.width)), const(bits, whole.width))
    return extract(whole, 8 * (begin - first), 8 * size)


def _is_in(piece: Piece, other: Piece) -> bool:
    return other[0] <= piece[0] and sum(piece) <= sum(other)


def _pieces(slices: Slices) -> dict[str, set[Piece]]:
    """The bytes of each parameter that a load of the function, or a condition on it, reads at once.

    PTX aligns loads, so if two pieces have a byte in common, one contains the other.
    """
    if slices.pieces is None:
        found = slices.pieces = {
            name: {(0, each.size_bytes)}
            for name in slices.arguments.whole
            if (each := slices.function.parameter(name)) is not None and each.size_bytes is not None
        }
        loads = [each for each in slices.function.instructions if space_of(each.opcode) == "param"]
        loads = [each for each in loads if base_name(each) in _LOADS and len(each.operands) > 1]
        # An address in a register may itself read a parameter.
        for instruction in sorted(loads, key=lambda each: any(map(_is_indirect, each.operands))):
            size = size_of_type(instruction.opcode.rpartition(".")[2])
            place = slices.symbols.parameter(slices.run(_known_place(slices, instruction)))
            if size is None or place is None or size > _MOST_PIECE:
                continue
            target = instruction.operands[0]
            count = len(target.items) if isinstance(target, Vector) else 1
            found.setdefault(place[0], set()).update((place[1] + at * size, size) for at in range(count))
    return slices.pieces


def _is_indirect(operand: Operand) -> bool:
    """Whether an operand is an address that a register has."""
    return isinstance(operand, Address) and isinstance(operand.base, Register)


def _known_place(slices: Slices, instruction: Instruction) -> Steps:
    address = instruction.operands[1]
    place = (yield from slices.place(address, 64, instruction)) if isinstance(address, Address) else None
    return const(0, 64) if place is None else place


def parameter_leaf(slices: Slices, name: str, begin: int, size: int) -> Expr:
    """The variable that stands for some bytes of a parameter."""
    reason = f"bytes {begin} to {begin + size - 1} of the parameter {name}"
    leaf = UniformLeaf(parameter_variable(name, begin, size), reason, slices.function.line, None)
    slices.symbols.parameters.add(leaf.name)
    return slices.leaves.add(leaf)


# ---- lanes that exchange values


def _across_lanes(slices: Slices, instruction: Instruction, at: int, width: int) -> Steps:
    """Results that all lanes share: votes and reductions over all lanes, and the value of one lane."""
    opcode, operands, given = instruction.opcode, instruction.operands, None
    shared = f"`{opcode}` gives all lanes one value"
    if opcode == "activemask.b32" or _OLD_VOTES.fullmatch(opcode):
        return slices.moment(instruction, at, width, shared, ())
    if _VOTES.fullmatch(opcode) or _REDUCE.fullmatch(opcode):
        if (yield from names_all(slices, operands[-1], instruction)):
            return slices.moment(instruction, at, width, shared, ())
    elif (found := _SHUFFLE.fullmatch(opcode)) and len(operands) == 5:
        limit = yield from slices.read(operands[3], 32, instruction)
        source = yield from slices.read(operands[2], 32, instruction)
        if (yield from names_all(slices, operands[4], instruction)) and source is not None and isinstance(limit, Const):
            value = yield from slices.read(operands[1], 32, instruction)
            result = None if value is None else _shuffled(slices, instruction, found[1], value, source, limit.value)
            if result is not None:
                return widened(result[at], width)
            plain = bit_and(limit, const(0x1F1F, 32)) is const(0x1F, 32)
            if found[1] == "idx" and at == 0 and plain and isinstance(source, Const):
                # Where PTX gives a value at all, the lane that is read has what each lane has.
                if value is not None and is_one_in_warp(slices, value, slices.flow.block_of[instruction.index]):
                    return widened(value, width)
                return slices.moment(instruction, at, width, shared, ())
            is_whole = at == 0 and _lane(slices, instruction) is not None
            given = moved(found[1], value, source, limit, is_whole=is_whole)
    reason = f"`{opcode}` may give each lane its own value"
    return slices.exchanged(instruction, at, width, reason, given)


def _shuffled(
    slices: Slices, instruction: Instruction, mode: str, value: Expr, step: Expr, control: int
) -> tuple[Expr, Expr] | None:
    """The results of a shuffle that whole warps execute, if its operands are uniform or coordinates."""
    lane = _lane(slices, instruction)
    if lane is None or of_lane(slices, step, lane) is None:
        return None
    place, is_in = source_lane(mode, lane, step, control)
    moved = of_lane(slices, value, place)
    return None if moved is None else (moved, is_in)


def _lane(slices: Slices, instruction: Instruction) -> Expr | None:
    """The lane of a thread at an instruction that whole warps execute; None for others."""
    return None if instruction.guard else lane_in_whole_warp(slices, slices.flow.block_of[instruction.index])


def names_all(slices: Slices, mask: Operand, instruction: Instruction) -> Generator[Wanted, Expr, bool]:
    """Whether a mask surely names all lanes that are there."""
    value = yield from slices.read(mask, 32, instruction)
    return isinstance(value, Const) and value.value == ALL_LANES
