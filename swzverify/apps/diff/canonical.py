"""Claims in a canonical form: two that say the same are equal, however their specs are written.

Built objects are read, never YAML: constants are put in, spaces, parentheses and the order of loops
and assumptions are gone. Every field of every dataclass takes part unless it is named here, so that
none that comes later is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias, cast

from swzverify.errors import InternalError
from swzverify.hardware import Instruction, Target
from swzverify.ir.c_formula import CFormula
from swzverify.subjects import Access, IndexMap, MemoryBase, OffsetMap, Operand, Phase
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop

Canon: TypeAlias = "int | str | tuple[Canon, ...] | None"


def canonical(value: object, *, named: bool = True) -> Canon:
    """A normal form of a claim or subject; without `named`, the names of its parts do not matter.

    The parts are tiles, accesses, memories and loops.

    >>> from swzverify.claims import Injective
    >>> from swzverify.layout import Layout
    >>> from swzverify.subjects import Tile
    >>> one, other = (Injective(Tile(name, 16, Layout(8, 1))) for name in "AB")
    >>> canonical(one) == canonical(other), canonical(one, named=False) == canonical(other, named=False)
    (False, True)
    """
    return _Form(named, {}, {}, {}).of(value)


def spelled(formula: CFormula, access: Access, loops: Mapping[str, str] | None = None) -> str:
    """An access's formula with its constants' values and, if wanted, renamed loop variables.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> load, chip = find_instruction("ld.shared.b32"), find_target("sm_90")
    >>> access = Access("a", load, chip, (32,), constants={"BK": 4}, address=parse("(tid)*BK"))
    >>> spelled(access.address, access)
    'tid * 4'
    """
    return formula.spelled(access.constants, loops or {})


def spelled_values(index_map: IndexMap) -> tuple[str, ...]:
    """A map's formulas with its constants' values; its variables are called by their places."""
    return tuple(each.spelled(index_map.constants, _places(index_map)) for each in index_map.value)


def _places(index_map: IndexMap) -> dict[str, str]:
    return {name: f"over{index}" for index, (name, _) in enumerate(index_map.over)}


@dataclass(frozen=True, slots=True)
class _Form:
    """How values are taken apart: whether names count, and what names in expressions stand for."""

    _named: bool
    _constants: Mapping[str, int]
    _renamed: Mapping[str, str]
    _memories: dict[str, int]

    def of(self, value: object) -> Canon:
        match value:
            case None | int() | str():
                return value
            case CFormula():
                return value.spelled(self._constants, self._renamed)
            case Instruction() | Target():
                return value.name
            case MemoryBase():
                return self._in_memory(value)
            case Access():
                return self._access(value)
            case IndexMap():
                return self._map(value)
            case Operand():
                return self._operand(value)
            case Phase():
                return self._phase(value)
            case OffsetMap():
                return (value.word, *spelled_values(value.index), value.extents)
            case tuple():
                return tuple(self.of(each) for each in cast("tuple[object, ...]", value))
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._fields(value, frozenset())
            case _:
                raise InternalError(f"a {type(value).__name__} in a claim has no canonical form")

    def _fields(self, value: object, left_out: frozenset[str]) -> Canon:
        skipped = left_out if self._named else left_out | {"name"}
        listed = fields(value)  # pyright: ignore[reportArgumentType]
        parts = [(each.name, self.of(getattr(value, each.name))) for each in listed if each.name not in skipped]
        return (type(value).__name__, *parts)

    def _in_memory(self, base: MemoryBase) -> Canon:
        """A claim sees whether subjects share a memory, but not its name or size."""
        memory = base.memory
        name = memory.name if self._named else self._memories.setdefault(memory.name, len(self._memories))
        return ("memory", name, memory.align_bytes, memory.base_bytes, base.offset_bytes)

    def _access(self, access: Access) -> Canon:
        """Constants go into the expressions; loops and assumptions are sets."""
        renamed = {} if self._named else {loop.name: f"loop{index}" for index, loop in enumerate(access.loops)}
        inner = _Form(self._named, access.constants, renamed, self._memories)
        whole = inner._fields(access, frozenset({"constants", "loops", "assume"}))
        loops = [self._loop(loop, index) for index, loop in enumerate(access.loops)]
        assumed = {each.spelled(access.constants, renamed) for each in access.assume}
        return (whole, tuple(sorted(loops, key=str)), tuple(sorted(assumed)))

    def _operand(self, operand: Operand) -> Canon:
        """As of an access: constants go into the expressions, and loops are a set."""
        renamed = {} if self._named else {loop.name: f"loop{index}" for index, loop in enumerate(operand.loops)}
        inner = _Form(self._named, operand.constants, renamed, self._memories)
        loops = [self._loop(loop, index) for index, loop in enumerate(operand.loops)]
        stages = operand.stages_of_code
        known = inner._fields(operand, frozenset({"constants", "loops", "code"}))
        return (known, None if stages is None else renamed.get(stages.name, stages.name), tuple(sorted(loops, key=str)))

    def _phase(self, phase: Phase) -> Canon:
        """The steps; of accesses the phase's own form says which are the same."""
        loop = None if phase.loop is None else self._loop(phase.loop, 0)
        return (loop, *(self.of(getattr(phase, part)) for part in ("before", "steps", "after")))

    def _loop(self, loop: AnyLoop, index: int) -> Canon:
        """The loop's values: not where it stops within a step, nor a lone value's step."""
        name = loop.name if self._named else f"loop{index}"
        if isinstance(loop, ListedLoop):
            return (name, loop.values)
        step = loop.step if loop.count is None or loop.count > 1 else 1
        return (name, loop.start, loop.count, step)

    def _map(self, index_map: IndexMap) -> Canon:
        """A map's variables are positions of its box; their names do not count."""
        inner = _Form(self._named, index_map.constants, _places(index_map), self._memories)
        whole = inner._fields(index_map, frozenset({"constants", "over"}))
        return (whole, tuple(extent for _, extent in index_map.over))
