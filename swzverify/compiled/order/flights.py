"""What runs on behind its instruction until its own thread waits for it, or puts a fence behind it.

`wgmma` reads its operands until a wait covers its group. So does a bulk copy out of shared memory. What is written
through the generic proxy reaches the async proxy behind a fence of the proxies: until then it runs on here. A
`cp.async` writes until its thread waits for it, and then it is such a write. Other warps of a warp group may begin
with `wgmma` before this thread does: for them a write runs on until a barrier that all of them meet at. Such a barrier
may stand before the fence, if each of them executes a fence of its own behind it.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.whole import Kernel
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
    UNMET = auto()


_OF_GROUP: Final = {"wgmma": Running.PRODUCT, "cp.async.bulk": Running.STORE, "cp.async": Running.COPY}


@dataclass(frozen=True, slots=True)
class Flight:
    """An access that runs on.

    Attributes:
        index: The instruction.
        values: What the leaves in its address were when it began.
        how: What it is.
        groups: How many groups its thread has surely put together since.
        is_fenced: Whether its thread has executed a fence of the proxies between its last event and the issue.
        is_met: Whether its thread has waited for others at a barrier with a number since the write was complete.
    """

    index: int
    values: Values
    how: Running
    groups: int = 0
    is_fenced: bool = False
    is_met: bool = False


class Flights:
    """What runs on in a kernel.

    Attributes:
        begins: The instructions at which something begins to run on.
        guards: The guards of what begins and ends it, where they have some.
        fences: The fences of the proxies.
    """

    def __init__(self, kernel: Kernel) -> None:
        bulk = [each for each in kernel.accesses if each.is_bulk]
        reached = [arrays_of(kernel, each.address) for each in bulk]
        self.begins: dict[int, Running] = {}
        self._far: set[int] = set()
        """Copies of threads that no operation of the async proxy meets: they need no fence."""
        for each in kernel.accesses:
            how = _running(each)
            arrays = arrays_of(kernel, each.address)
            is_far = all(len(arrays) == len(other) == 1 and arrays != other for other in reached)
            if is_far and how is Running.COPY:
                self._far.add(each.index)
            if how is not None and (each.is_bulk or not is_far or how is Running.COPY):
                self.begins[each.index] = how
        self.fences: set[int] = set()
        self._before_products = _before_products(kernel, self.begins)
        self._ends: dict[int, Callable[[Iterable[Flight]], frozenset[Flight]]] = {}
        for each in kernel.function.instructions if self.begins else ():
            is_fence = _FENCE.fullmatch(each.opcode) is not None
            if is_fence:
                self.fences.add(each.index)
            change = self._fenced if is_fence else _change_of(each)
            if change is not None:
                self._ends[each.index] = change
        self.guards = {each: kernel.owns[each] for each in (*self.begins, *self._ends) if each in kernel.owns}

    @property
    def changes(self) -> tuple[int, ...]:
        """The instructions at which something begins or ceases to run on."""
        return (*self.begins, *self._ends)

    def behind(self, index: int, flights: frozenset[Flight]) -> frozenset[Flight]:
        """What still runs behind an instruction that is executed."""
        change = self._ends.get(index)
        if change is None or not flights:
            return flights
        return frozenset(e for e in change(flights) if e.how is not Running.UNFENCED or e.index not in self._far)

    def _fenced(self, flights: Iterable[Flight]) -> frozenset[Flight]:
        """What runs behind a fence of the proxies."""
        return frozenset(
            replace(each, how=Running.UNMET) if each.how is Running.UNFENCED else each
            for each in flights
            if each.how is not Running.UNFENCED or each.index in self._before_products
        )


def are_unordered(one: Running, two: Running) -> bool:
    """Whether what runs on has no order with what its own thread begins: the async proxy, and what is written."""
    is_bulk = [each in (Running.PRODUCT, Running.STORE) for each in (one, two)]
    return two is Running.PRODUCT if one is Running.UNMET else is_bulk[0] is not is_bulk[1]


def met(flights: Iterable[Flight]) -> frozenset[Flight]:
    """What runs behind a barrier at which the thread waits for others."""
    left = (each for each in flights if each.how is not Running.UNMET)
    return frozenset(replace(each, is_met=True) if each.how is Running.UNFENCED else each for each in left)


def _before_products(kernel: Kernel, begins: Mapping[int, Running]) -> set[int]:
    """The writes from which a path leads to a product."""
    flow = kernel.flow
    products = [flow.block_of[index] for index, how in begins.items() if how is Running.PRODUCT]
    before = reached(products, flow.before, lambda _: False)
    return {index for index in begins if flow.block_of[index] in before}


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


def with_values(values: Values, new: Mapping[Var, Expr | None]) -> Values:
    """The values with other ones; None for what is not known any more."""
    whole = {**dict(values), **new}
    kept = ((each, value) for each, value in whole.items() if value is not None)
    return tuple(sorted(kept, key=lambda item: item[0].name))
