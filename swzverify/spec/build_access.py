"""From the models of accesses and index maps to the subjects, in one case of the constants.

`lanes:` of an access gives its unknowns, and `walk:` its address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from swzverify.errors import SwzError
from swzverify.explain.notebook import Access
from swzverify.hardware import MOST_BLOCK_THREADS, Instruction, Target, find_any_instruction, require
from swzverify.hardware.fragments import find_mma
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import expression
from swzverify.spec.access_models import (
    AccessPart,
    FragmentPart,
    LaneBitsPart,
    LaneRangePart,
    LoopPart,
    SourcePart,
    WalkPart,
)
from swzverify.spec.build_lets import build_lets
from swzverify.spec.build_tile import build_base
from swzverify.spec.models import MapPart
from swzverify.spec.names import Names
from swzverify.spec.operand_models import OperandPart
from swzverify.spec.place_models import AlignedBasePart
from swzverify.spec.tree import Node, Place
from swzverify.spec.values import Broken, Values
from swzverify.subjects import IndexMap, Loop, Unknown
from swzverify.subjects.fragment import REGISTER, Fragment
from swzverify.subjects.listed_loop import AnyLoop, geometric, listed
from swzverify.subjects.loop import AXIS_WORDS, NOT_FOR_MAPS, RESERVED_NAMES, WARP
from swzverify.subjects.memory import AlignedBase, FixedBase
from swzverify.subjects.stated_access import ANYWHERE, UNSAID
from swzverify.subjects.walk import walked

MAX_WEIGHT = 1_000_000
"""The largest weight of an access: sums of weighted wavefronts stay small."""

THREAD_NAMES = frozenset(("tid", "lane", "warp")).union(f"{word}{axis}" for word in AXIS_WORDS for axis in "xyz")
"""What an access's expressions may read besides constants and loop variables."""


def build_access(name: str, part: AccessPart, values: Values, names: Names, target: Target) -> Access:
    """An access.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    _check_keys(part, values)
    instruction = _instruction(part, values, target)
    block = build_block(part, values)
    values.lets = names.lets
    loops = tuple(build_loop(loop, value, values) for loop, value in part.for_.items())
    unknowns = build_unknowns(part.lanes, values, part.for_)
    known = THREAD_NAMES.union(part.for_, part.lanes)
    values.lets = build_lets(part.let, values, {**part.for_, **part.lanes}, names.lets)
    coord = tuple(values.expression(entry, known, "coord", mode) for mode, entry in enumerate(part.coord or ()))
    address = None if part.address is None else values.expression(part.address, known, "address")
    if part.walk is not None:
        address = build_walk(part, part.walk, values, known, loops)
    source, source_base = _source(part, values, known)
    fragment = None if part.fragment is None else _fragment(part.fragment, values, part.for_, names)
    stage = None if part.stage is None else values.expression(part.stage, known, "stage")
    predicate = None if part.if_ is None else values.expression(part.if_, known, "if")
    assume = tuple(values.expression(entry, part.for_, "assume", index) for index, entry in enumerate(part.assume))
    size = None if part.bytes is None else values.number(part.bytes, "bytes", least=1)
    names.weights[name] = values.number(part.weight, "weight", least=1, most=MAX_WEIGHT)
    tile = None if part.tile is None else names.tile(part.tile, values.at("tile"))
    base = None if part.base is None else build_base(part.base, values, names)
    if part.compiled is not None and instruction is not None and instruction.is_global:
        message = f"`compiled` reads accesses to shared memory, and {instruction.name} goes to global memory"
        values.fail(
            "SWZ409", message, values.key("compiled"), "say its `address:`, in bytes from where the array begins"
        )
    elif part.compiled is not None:
        # Few specs need the reader of PTX, which takes as long to import as all the rest.
        from swzverify.spec.build_compiled import build_compiled  # noqa: PLC0415 - see above

        found = build_compiled(part, part.compiled, values, loops, block, base)
        address, predicate, base = found.address, found.predicate, found.base
        names.code["accesses", name] = replace(found.code, subject=f"access {name}")
    if values.sound and tile is not None and part.coord is not None and len(coord) != len(tile.extents):
        shape = ", ".join(map(str, tile.extents))
        message = f"{len(coord)} coordinates for tile {tile.name}, which has {len(tile.extents)} modes ({shape})"
        values.fail("SWZ105", message, values.at("coord"), "give one expression per mode")
    values.require_sound()
    if instruction is None:
        raise Broken
    with values.noted(values.name):
        return Access(
            name,
            instruction,
            target,
            block,
            loops=loops,
            constants=values.constants,
            tile=tile,
            coord=coord,
            stage=stage,
            address=address,
            base=base or UNSAID,
            bytes=size,
            predicate=predicate,
            assume=assume,
            unknowns=unknowns,
            source=source,
            source_base=source_base,
            fragment=fragment,
        )
    raise Broken


def build_map(name: str, part: MapPart, values: Values, names: Names) -> IndexMap:
    """An index map.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    over = tuple((variable, values.number(extent, "over", variable, least=1)) for variable, extent in part.over.items())
    values.lets = names.lets
    for variable, _ in over:
        values.refuse_taken(variable, values.key("over", variable), NOT_FOR_MAPS, "give the variable another name")
    known = {*part.over, "base"}
    values.lets = build_lets(part.let, values, part.over, names.lets)
    value = tuple(values.expression(entry, known, "value", index) for index, entry in enumerate(part.value))
    onto = None
    if part.onto is not None:
        onto = tuple(values.number(extent, "onto", index, least=1) for index, extent in enumerate(part.onto))
        if len(onto) != len(value):
            message = f"{len(value)} values, but a box of {len(onto)} dimensions"
            values.fail("SWZ105", message, values.at("onto"), "`onto` has one extent per value")
    base = None if part.base is None else build_base(part.base, values, names)
    values.require_sound()
    with values.noted(values.name):
        return IndexMap(name, over, value, onto=onto, constants=values.constants, base=base)
    raise Broken


def _check_keys(part: AccessPart, values: Values) -> None:
    """Check the keys of an access: it has one of `tile`, `address`, `walk` and `compiled`.

    The other keys go with some of these.
    """
    given = [key for key in ("tile", "address", "walk", "compiled") if getattr(part, key) is not None]
    if not given:
        values.fail("SWZ104", "an access needs `tile` and `coord`, or `address`, `walk` or `compiled`", values.name)
    elif len(given) > 1:
        values.fail("SWZ105", f"an access has `{given[0]}` or `{given[1]}`, not both", values.key(given[1]))
    elif part.tile is not None:
        if part.coord is None:
            values.fail("SWZ104", "the key 'coord' is missing", values.name, "one expression per mode of the tile")
        for key in ("base", "bytes"):
            if getattr(part, key) is not None:
                hint = f"the tile's own `{key}` counts"
                values.fail("SWZ105", f"`{key}` goes with `address` or `walk`, not with `tile`", values.key(key), hint)
    else:
        for key in ("coord", "stage"):
            if getattr(part, key) is not None:
                values.fail("SWZ105", f"`{key}` goes with `tile`, not with `{given[0]}`", values.key(key))
    check_block_keys(part, values, "an access")


def check_block_keys(part: AccessPart | OperandPart, values: Values, what: str) -> None:
    """Check that the block is said once."""
    if part.threads is None and part.block is None:
        values.fail("SWZ104", "the key 'threads' is missing", values.name, "threads: 128, or block: [32, 4]")
    elif part.threads is not None and part.block is not None:
        values.fail("SWZ105", f"{what} has `threads` or `block`, not both", values.key("block"))


def _instruction(part: AccessPart, values: Values, target: Target) -> Instruction | None:
    with values.noted(values.at("instruction")):
        instruction = find_any_instruction(part.instruction)
        require(target, instruction)
        return instruction
    return None


def _source(
    part: AccessPart, values: Values, known: Collection[str]
) -> tuple[CFormula | None, AlignedBase | FixedBase]:
    """What a copy reads, and where that begins."""
    match part.source:
        case None:
            return None, ANYWHERE
        case SourcePart(address=address, base=base):
            source = values.expression(address, known, "source", "address")
            if base is None:
                return source, ANYWHERE
            with values.noted(values.at("source", "base")):
                if isinstance(base, AlignedBasePart):
                    return source, AlignedBase(values.power_of_two(base.align, "source", "base", "align"))
                return source, FixedBase(values.number(base, "source", "base", least=0))
            raise Broken
        case address:
            return values.expression(address, known, "source"), ANYWHERE


def _fragment(part: FragmentPart, values: Values, loops: Collection[str], names: Names) -> Fragment | None:
    """What the registers should hold; None after noting what is wrong with it."""
    tile = None if part.tile is None else names.tile(part.tile, values.at("fragment", "tile"))
    stage = None if part.stage is None else values.expression(part.stage, {WARP, *loops}, "fragment", "stage")
    known = {WARP, REGISTER, *loops}
    at = tuple(values.expression(each, known, "fragment", "at", mode) for mode, each in enumerate(part.at))
    register = values.expression(part.register_, known, "fragment", "register")
    with values.noted(values.at("fragment", "mma")):
        mma = find_mma(part.mma)
        with values.noted(values.at("fragment")):
            return Fragment(mma, OperandRole(part.role), at, register, tuple(part.modes), tile, stage)
    return None


def build_block(part: AccessPart | OperandPart, values: Values) -> tuple[int, ...]:
    """The extents of the block."""
    if part.block is None:
        threads = 1 if part.threads is None else part.threads
        return (values.number(threads, "threads", least=1, most=MOST_BLOCK_THREADS),)
    block = tuple(values.number(extent, "block", axis, least=1) for axis, extent in enumerate(part.block))
    if prod(block) > MOST_BLOCK_THREADS:
        values.fail("SWZ105", f"a block of {prod(block)} threads: at most {MOST_BLOCK_THREADS}", values.at("block"))
    return block


def build_loop(
    name: str,
    value: int | str | LoopPart | Sequence[int | str],
    values: Values,
    reserved: frozenset[str] = RESERVED_NAMES,
) -> AnyLoop:
    """A loop of an entry's `for:`. Raises `Broken` after noting what is wrong with it."""
    values.refuse_taken(name, values.key("for", name), reserved, "give the variable another name")
    where = values.at("for", name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _value_loop(listed, name, where, values, value, range(len(value)))
    if isinstance(value, LoopPart) and value.times is not None:
        if "step" in value.model_fields_set:
            values.fail("SWZ105", "a loop has `step` or `times`, not both", where)
        stated, keys = (value.start, value.stop, value.times), ("start", "stop", "times")
        return _value_loop(lambda loop, found: geometric(loop, *found), name, where, values, stated, keys)
    if isinstance(value, LoopPart) and isinstance(value.step, str):
        _refuse_own_step(name, value.step, values)
    start, step = 0, 1
    stop: int | None = None
    if isinstance(value, LoopPart):
        start = values.number(value.start, "for", name, "start")
        stop = values.number(value.stop, "for", name, "stop")
        step = values.number(value.step, "for", name, "step", least=1)
    elif value != "any":
        stop = values.number(value, "for", name, least=0)
    with values.noted(where):
        return Loop(name, start, stop, step)
    raise Broken


def _refuse_own_step(name: str, step: str, values: Values) -> None:
    """Refuse `step: s` of a loop over `s`, and `step: "*2"`: name the key that doubles."""
    with values.noted(values.at("for", name, "step")):
        is_factor = step.lstrip().startswith(("*", "<<"))
        if is_factor or name in expression(step).names:
            message = f"'{step}' is no step" if is_factor else f"the step reads the loop's own variable '{name}'"
            hint = "a loop that doubles has `times: 2` in place of `step`; or list its values: [1, 2, 4]"
            raise SwzError("SWZ105", message, hint=hint)
        return
    raise Broken


def _value_loop(
    make: Callable[[str, list[int]], AnyLoop],
    name: str,
    where: Node | Place,
    values: Values,
    stated: Sequence[int | str],
    keys: Sequence[str | int],
) -> AnyLoop:
    """The loop that `make` makes of the numbers; a number that cannot be read is the one mistake."""
    before, values.sound = values.sound, True
    numbers = [values.number(value, "for", name, key) for value, key in zip(stated, keys, strict=True)]
    could_read, values.sound = values.sound, values.sound and before
    if could_read:
        with values.noted(where):
            return make(name, numbers)
    raise Broken


MAX_BITS = 32


def build_unknowns(
    part: Mapping[str, int | str | LaneRangePart | LaneBitsPart], values: Values, loops: Collection[str]
) -> tuple[Unknown, ...]:
    """The unknowns of an access.

    Raises:
        Broken: Something is wrong with one; the problem is noted before.
    """
    return tuple(_unknown(name, value, values, loops) for name, value in part.items())


def _unknown(
    name: str, value: int | str | LaneRangePart | LaneBitsPart, values: Values, loops: Collection[str]
) -> Unknown:
    where = values.key("lanes", name)
    hint = "give the lanes' value another name"
    if name in loops:
        values.fail("SWZ105", f"'{name}' is a loop's name already", where, hint)
    elif not values.refuse_taken(name, where, RESERVED_NAMES, hint) and value == "any":
        message = "'any' does not say how large a lane's value can be"
        hint = "give the number of values, or the bits of what is read: {bits: 8}"
        values.fail("SWZ105", message, values.at("lanes", name), hint)
        raise Broken
    start, step = 0, 1
    if isinstance(value, LaneBitsPart):
        stop = 1 << values.number(value.bits, "lanes", name, "bits", least=1, most=MAX_BITS)
    elif isinstance(value, LaneRangePart):
        start = values.number(value.start, "lanes", name, "start")
        stop = values.number(value.stop, "lanes", name, "stop")
        step = values.number(value.step, "lanes", name, "step", least=1)
    else:
        stop = values.number(value, "lanes", name, least=1)
    with values.noted(values.at("lanes", name)):
        return Unknown(name, start, stop, step)
    raise Broken


def build_walk(
    access: AccessPart, part: WalkPart, values: Values, known: Collection[str], loops: Sequence[AnyLoop]
) -> CFormula | None:
    """The address, as an expression; None after noting what is wrong with the walk."""
    texts = {
        key: None if value is None else values.expression(value, known, "walk", key)
        for key, value in (("start", part.start), ("step", part.step), ("xor", part.xor))
    }
    for key, text in texts.items():
        for name in sorted(text.names & set(access.lanes)) if text is not None else ():
            message = f"`walk.{key}` reads '{name}', which has new values in each iteration: a walk keeps its address"
            values.fail("SWZ105", message, values.at("walk", key), "give `address:`, the address in every iteration")
    loop = _loop(part, values, loops)
    start = texts["start"]
    if not values.sound or loop is None or start is None:
        return None
    open_loop = next((each.name for each in loops if each.is_unbounded), None)
    if open_loop is not None:
        hint = f"give the loop a bound, such as `for: {{{open_loop}: 16}}`"
        values.fail("SWZ206", f"a walk beside the loop '{open_loop}', which has no bound", values.key("walk"), hint)
        return None
    with values.noted(values.key("walk")):
        found = walked(loop, start, step=texts["step"], xor=texts["xor"], constants=values.constants)
        values.made(found.text, values.key("walk"))
        return found
    return None


def _loop(part: WalkPart, values: Values, loops: Sequence[AnyLoop]) -> AnyLoop | None:
    """The loop that the walk goes over."""
    names = ", ".join(each.name for each in loops)
    if part.over is None:
        if len(loops) == 1:
            return loops[0]
        message = f"a walk needs `over`: the access has the loops {names}" if loops else "a walk needs a loop in `for:`"
        values.fail("SWZ105", message, values.key("walk"), "name the loop in which the address moves")
        return None
    found = next((each for each in loops if each.name == part.over), None)
    if found is None:
        hint = f"loops: {names}" if loops else "give the loop in `for:`"
        values.fail("SWZ105", f"the access has no loop '{part.over}'", values.at("walk", "over"), hint)
    return found
