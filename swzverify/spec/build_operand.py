"""From the models of operands to the subjects, in one case of the constants."""

from __future__ import annotations

from dataclasses import replace

from swzverify.claims.operand_points import OperandPoints
from swzverify.hardware import Target
from swzverify.hardware.tensor_cores import (
    Major,
    OperandRole,
    TensorInstruction,
    find_tensor_instruction,
    require_tensor,
)
from swzverify.ir.c_formula import CFormula
from swzverify.layout.tma import parse_tma_mode
from swzverify.spec.build_access import build_block, build_loop, check_block_keys
from swzverify.spec.build_tile import build_base
from swzverify.spec.names import Names
from swzverify.spec.operand_models import DescriptorPart, OperandPart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Base, Descriptor, Operand
from swzverify.subjects.descriptor import check_field
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.operand import NOT_FOR_OPERANDS, FromCode


def build_operand(name: str, part: OperandPart, values: Values, names: Names, target: Target) -> Operand:
    """An operand. Raises `Broken` after noting what is wrong with it."""
    instruction = _instruction(part, values, target)
    loops = tuple(build_loop(loop, value, values, NOT_FOR_OPERANDS) for loop, value in part.for_.items())
    _check_keys(part, values)
    at = tuple(values.expression(each, part.for_, "reads", "at", mode) for mode, each in enumerate(part.reads.at))
    stated = part.reads.stage
    stage = None if stated is None else values.expression(stated, part.for_, "reads", "stage")
    tile = names.tile(part.reads.tile, values.at("reads", "tile"))
    first, second = part.reads.modes
    if first == second:
        values.fail("SWZ105", f"both modes are {first}", values.at("reads", "modes"), "[MN, K] or [K, MN]")
    descriptor, start, place, code = _computed(name, part, instruction, loops, tile.base, values, names)
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
            code=code,
        )
        _ = OperandPoints(found).places  # whatever is claimed: the bases have to be related
        return found
    raise Broken


def _check_keys(part: OperandPart, values: Values) -> None:
    """An operand has one of `descriptor` and `compiled`; some keys go with `compiled` alone."""
    if part.compiled is None and part.descriptor is None:
        hint = "its fields; or `compiled`, instructions of a PTX file"
        values.fail("SWZ104", "the key 'descriptor' is missing", values.name, hint)
    elif part.compiled is None:
        for key in ("threads", "block", "base"):
            if getattr(part, key) is not None:
                hint = "`base` of `descriptor` says where `start` counts from" if key == "base" else "leave it out"
                values.fail("SWZ105", f"`{key}` goes with `compiled`", values.key(key), hint)
    else:
        if part.descriptor is not None:
            hint = "the code says the fields of the descriptor"
            values.fail("SWZ105", "an operand has `descriptor` or `compiled`, not both", values.key("descriptor"), hint)
        check_block_keys(part, values, "an operand with `compiled`")


def _computed(
    name: str,
    part: OperandPart,
    instruction: TensorInstruction | None,
    loops: tuple[AnyLoop, ...],
    of_tile: Base,
    values: Values,
    names: Names,
) -> tuple[Descriptor | None, CFormula, Base | None, FromCode | None]:
    """The fields of the descriptor, the start address and its base: as they are stated, or as the code has them."""
    if part.descriptor is not None:
        stated = part.descriptor
        start = values.expression(stated.start, part.for_, "descriptor", "start")
        place = None if stated.base is None else build_base(stated.base, values, names, "descriptor")
        return _descriptor(stated, values), start, place, None
    place = None if part.base is None else build_base(part.base, values, names)
    block = build_block(part, values)
    values.require_sound()
    if instruction is None or part.compiled is None:
        raise Broken
    # Few specs need the reader of PTX, which takes as long to import as all the rest.
    from swzverify.spec.build_compiled_operand import build_compiled_operand  # noqa: PLC0415 - see above

    found = build_compiled_operand(part, part.compiled, instruction, values, loops, block, place or of_tile)
    names.code["operands", name] = replace(found.code, subject=f"operand {name}")
    return found.descriptor, found.start, place, found.place


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
