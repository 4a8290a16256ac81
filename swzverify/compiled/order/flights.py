"""What runs on behind its instruction until its own thread waits for it, or puts a fence behind it.

`wgmma` reads its operands until a wait covers its group. So does a bulk copy out of shared memory. What is written
through the generic proxy reaches the async proxy behind a fence of the proxies: until then it runs on here. A
`cp.async` writes until its thread waits for it, and then it is such a write.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from swzverify.compiled.kernel.whole import Kernel, SharedAccess
from swzverify.compiled.order.arrays import arrays_of
from swzverify.compiled.ptx import Immediate, Instruction
from swzverify.ir.expr import Expr, Var

Values = tuple[tuple[Var, Expr], ...]
"""What the tracked leaves are, by their names."""
MOST_GROUPS: Final = 9
"""Groups of a thread that are counted."""
_FENCE: Final = re.compile(r"fence\.proxy\.async(?:\.shared::(?:cta|cluster))?")
_COMMIT: Final = re.compile(r"(cp\.async\.bulk|cp\.async|wgmma)\.commit_group(?:\.sync\.aligned)?")
_WAIT: Final = re.compile(r"(cp\.async\.bulk|cp\.async|wgmma)\.wait_group(?:\.read)?(?:\.sync\.aligned)?")
_WAIT_ALL: Final = "cp.async.wait_all"


class Running(Enum):
    """What runs on, by what ends it."""

    PRODUCT = auto()
    STORE = auto()
    COPY = auto()
    UNFENCED = auto()


_OF_GROUP: Final = {"wgmma": Running.PRODUCT, "cp.async.bulk": Running.STORE, "cp.async": Running.COPY}


@dataclass(frozen=True, slots=True)
class Flight:
    """An access that runs on.

    Attributes:
        index: The instruction.
        values: What the leaves in its address were when it began.
        how: What it is.
        groups: How many groups its thread has surely put together since.
    """

    index: int
    values: Values
    how: Running
    groups: int = 0


class Flights:
    """What runs on in a kernel.

    Attributes:
        begins: The instructions at which something begins to run on.
        guards: The guards of what begins and ends it, where they have some.
    """

    def __init__(self, kernel: Kernel) -> None:
        bulk = [each for each in kernel.accesses if each.is_bulk]
        reached = [arrays_of(kernel, each.address) for each in bulk]
        self.begins: dict[int, Running] = {}
        for each in kernel.accesses:
            how = _running(each)
            arrays = arrays_of(kernel, each.address)
            is_far = all(len(arrays) == len(other) == 1 and arrays != other for other in reached)
            if how is not None and (each.is_bulk or not is_far):
                self.begins[each.index] = how
        self._ends: dict[int, Callable[[Iterable[Flight]], frozenset[Flight]]] = {}
        for each in kernel.function.instructions if self.begins else ():
            change = _change_of(each)
            if change is not None:
                self._ends[each.index] = change
        self.guards = {each: kernel.owns[each] for each in (*self.begins, *self._ends) if each in kernel.owns}

    def behind(self, index: int, flights: frozenset[Flight]) -> frozenset[Flight]:
        """What still runs behind an instruction that is executed."""
        change = self._ends.get(index)
        return flights if change is None or not flights else change(flights)


def _running(access: SharedAccess) -> Running | None:
    if access.operand is not None:
        return Running.PRODUCT
    if access.is_bulk:
        return None if access.is_write else Running.STORE
    if not access.is_write or access.is_object or access.reason:
        return None
    return Running.COPY if access.is_copy else Running.UNFENCED


def _change_of(instruction: Instruction) -> Callable[[Iterable[Flight]], frozenset[Flight]] | None:
    opcode = instruction.opcode
    if _FENCE.fullmatch(opcode):
        return lambda flights: frozenset(each for each in flights if each.how is not Running.UNFENCED)
    if found := _COMMIT.fullmatch(opcode):
        how = _OF_GROUP[found[1]]
        return lambda flights: frozenset(
            replace(each, groups=min(each.groups + 1, MOST_GROUPS)) if each.how is how else each for each in flights
        )
    count = instruction.operands[0] if instruction.operands else None
    if opcode == _WAIT_ALL:
        return lambda flights: _waited(flights, Running.COPY, -1)
    if (found := _WAIT.fullmatch(opcode)) and isinstance(count, Immediate):
        how, left = _OF_GROUP[found[1]], count.value
        return lambda flights: _waited(flights, how, left)
    return None


def _waited(flights: Iterable[Flight], how: Running, left: int) -> frozenset[Flight]:
    """What runs behind a wait for all groups but the last `left`. A complete copy is a write without a fence."""
    kept: list[Flight] = []
    for each in flights:
        if each.how is not how or each.groups <= left:
            kept.append(each)
        elif how is Running.COPY:
            kept.append(replace(each, how=Running.UNFENCED, groups=0))
    return frozenset(kept)
