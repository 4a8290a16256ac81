"""From the models of operands to the subjects, in one case of the constants."""

from __future__ import annotations

from swzverify.claims.operand_points import OperandPoints
from swzverify.hardware import Target
from swzverify.hardware.tensor_cores import (
    Major,
    OperandRole,
    TensorInstruction,
    find_tensor_instruction,
    require_tensor,
)
from swzverify.layout.tma import parse_tma_mode
from swzverify.spec.build_access import build_loop
from swzverify.spec.build_tile import build_base
from swzverify.spec.names import Names
from swzverify.spec.operand_models import DescriptorPart, OperandPart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Descriptor, Operand
from swzverify.subjects.descriptor import check_field
from swzverify.subjects.operand import NOT_FOR_OPERANDS


def build_operand(name: str, part: OperandPart, values: Values, names: Names, target: Target) -> Operand:
    """An operand. Raises `Broken` after noting what is wrong with it."""
    instruction = _instruction(part, values, target)
    loops = tuple(build_loop(loop, value, values, NOT_FOR_OPERANDS) for loop, value in part.for_.items())
    start = values.expression(part.descriptor.start, part.for_, "descriptor", "start")
    descriptor = _descriptor(part.descriptor, values)
    at = tuple(values.expression(each, part.for_, "reads", "at", mode) for mode, each in enumerate(part.reads.at))
    stated = part.reads.stage
    stage = None if stated is None else values.expression(stated, part.for_, "reads", "stage")
    tile = names.tile(part.reads.tile, values.at("reads", "tile"))
    base = part.descriptor.base
    place = None if base is None else build_base(base, values, names, "descriptor")
    first, second = part.reads.modes
    if first == second:
        values.fail("SWZ105", f"both modes are {first}", values.at("reads", "modes"), "[MN, K] or [K, MN]")
    values.require_sound()
    if instruction is None or descriptor is None:
        raise Broken
    with values.noted(values.name):
        found = Operand(
            name,
            instruction,
            target,
            OperandRole(part.role),
            Major(part.major),
            descriptor,
            start,
            tile,
            at,
            stage=stage,
            modes=(first, second),
            base=place,
            loops=loops,
            constants=values.constants,
        )
        _ = OperandPoints(found).places  # whatever is claimed: the bases have to be related
        return found
    raise Broken


def _instruction(part: OperandPart, values: Values, target: Target) -> TensorInstruction | None:
    with values.noted(values.at("instruction")):
        found = find_tensor_instruction(part.instruction)
        require_tensor(target, found)
        return found
    return None


def _descriptor(part: DescriptorPart, values: Values) -> Descriptor | None:
    """The fields; a number that its field cannot hold is noted where it stands."""
    fields: dict[str, int] = {}
    for key, value in (("lbo", part.lbo), ("sbo", part.sbo)):
        fields[key] = values.number(value, "descriptor", key)
        with values.noted(values.at("descriptor", key)):
            check_field(key, fields[key])
    offset = values.number(part.base_offset, "descriptor", "base_offset", least=0, most=7)
    with values.noted(values.at("descriptor", "swizzle")):
        mode = parse_tma_mode(part.swizzle)
        return Descriptor(fields["lbo"], fields["sbo"], mode, offset) if values.sound else None
    return None
