"""What instructions do to barriers: the named ones, those of a warp, and objects in shared memory.

Every barrier operation of the kernel has to be one of these; else nothing is said of the order that any of
them makes. Operations on the objects of other blocks are not: an arrival at an object of the cluster is known where
the block is alone in it.

Source: PTX ISA, bar, barrier; bar.warp.sync; barrier.cluster; mbarrier; cp.async.bulk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.kernel.bulk import COPY_TO_PHASE, TENSOR_TO_PHASE
from swzverify.compiled.kernel.clusters import REMOTE_ARRIVE
from swzverify.compiled.kernel.effects import registers_of, written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.barriers import CLUSTER_BARRIER, releases
from swzverify.compiled.ptx import Address, Instruction, Register
from swzverify.ir.expr import TRUE, Const, Expr, Var, const, extend

_ZERO: Final = const(0, 32)
_ONE: Final = const(1, 32)
MASKS: Final = 16
_MASK_BITS: Final = 64
_FIRST_MASK: Final = const(MASKS, _MASK_BITS)
"""The name of a barrier of a warp is its mask plus this number."""
CLUSTER: Final = -2
"""The name of the barrier of the cluster."""
_WITH_OTHERS: Final = re.compile(
    r".*\.(?:multicast::cluster|cta_group::2)\b.*|cp\..*\.shared::cluster\.shared::cta\b.*"
)
_SYNC: Final = re.compile(r"bar(?:rier)?(?:\.cta)?\.(?:sync(?:\.aligned)?|red(?:\.aligned)?\..*)")
_ARRIVE: Final = re.compile(r"bar(?:rier)?(?:\.cta)?\.arrive(?:\.aligned)?")
_OBJECT: Final = re.compile(
    r"mbarrier\.(init|inval|arrive|arrive\.expect_tx|expect_tx|(?:test_wait|try_wait)(?:\.parity)?)"
    r"(?:\.(?:release|acquire)\.(?:cta|cluster))?\.shared(?P<space>::cta|::cluster)?\.b64"
)
_SILENT: Final = re.compile(r"mbarrier\.pending_count\..*")
_OTHERS: Final = re.compile(r"(?:bar|barrier|mbarrier)\..*|cp\.async\.mbarrier\..*|.*\.mbarrier::complete_tx::bytes.*")


class Act(Enum):
    """What an instruction does to a barrier."""

    INIT = auto()
    ARRIVE = auto()
    EXPECT = auto()
    WAIT = auto()
    SYNC = auto()
    LEAVE = auto()
    COPY = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Event:
    """An instruction that works on a barrier.

    The bytes of a box of a tensor map are not known here: `is_box` says so, and `bytes` is 0.

    Attributes:
        index: The instruction.
        act: What it does; `LEAVE` is an arrival at a barrier without a place, and `END` is `mbarrier.inval`.
        place: The address of the object; None for other barriers.
        name: The number of a named barrier, `CLUSTER`, or of a warp's barrier `MASKS` and its mask, of 64 bits if
            registers have it.
        count: Arrivals that it makes, or that `INIT` names, or the threads of a named barrier; 0 for all.
        parity: The parity that `WAIT` waits for.
        bytes: The bytes that are expected, or copied.
        answer: The leaf that has the answer of `WAIT`.
        guard: When the instruction is executed.
        state: The register of the state that `ARRIVE` gives, or that `WAIT` waits for.
        is_box: Whether a tensor map says how many bytes are copied.
        given: The bytes that are expected, if the launch gives them; `bytes` is 0 then.
        mask: The ranks of the blocks to which `COPY` copies, as bits; None for the block of `place`. Of a copy to
            several blocks, `place` is relative to each of them.
    """

    index: int
    act: Act
    place: Expr | None = None
    name: Expr | int = -1
    count: Expr = _ONE
    parity: Expr = _ZERO
    bytes: Expr = _ZERO
    answer: Var | None = None
    guard: Expr = TRUE
    state: Register | None = None
    is_box: bool = False
    given: Expr | None = None
    mask: Expr | None = None

    @property
    def is_question(self) -> bool:
        """Whether a thread goes on behind it whatever it answers."""
        return self.act is Act.WAIT and self.name != CLUSTER

    @property
    def is_of_warp(self) -> bool:
        """Whether it is a barrier of lanes of a warp."""
        return self.name >= MASKS if isinstance(self.name, int) else self.name.width == _MASK_BITS

    @property
    def values(self) -> tuple[Expr, ...]:
        """What has to be known of it in each trip."""
        named = [] if isinstance(self.name, int) else [self.name]
        places = [each for each in (self.place, self.mask) if each is not None]
        return (*places, *named, self.count, self.parity, self.bytes)


class LostError(Exception):
    """Nothing is known of the order that barriers of parts of the block make; the text says why."""


def events_of(kernel: Kernel) -> dict[int, Event]:
    """The events of a kernel by their instructions.

    Raises:
        LostError: One of them is not known.
    """
    found: dict[int, Event] = {}
    for each in kernel.function.instructions:
        is_one = _OTHERS.fullmatch(each.opcode) and not _SILENT.fullmatch(each.opcode)
        if not is_one or not kernel.flow.is_reachable(kernel.flow.block_of[each.index]):
            continue
        event = _of_name(kernel, each) if base_name(each) in ("bar", "barrier") else _of_object(kernel, each)
        if event is not None and event.place is not None and event.mask is None:
            event = replace(event, place=kernel.ranks.where(event.guard, add(event.place, kernel.ranks.own)))
        if event is None:
            raise LostError(_reason(kernel, each))
        is_given = event.act in (Act.ARRIVE, Act.EXPECT) and kernel.leaves.are_of_launch(event.bytes)
        found[each.index] = replace(event, bytes=_ZERO, given=event.bytes) if is_given else event
    _check_states(kernel, found)
    return found


def _reason(kernel: Kernel, instruction: Instruction) -> str:
    """Why nothing is known of an instruction."""
    opcode, where = instruction.opcode, f"`{instruction.opcode}` at line {instruction.line}"
    if REMOTE_ARRIVE.fullmatch(opcode) and not kernel.is_alone and kernel.ranks.count == 1:
        return f"{where} may arrive at an object of another block of the cluster, which is not modelled"
    if _WITH_OTHERS.fullmatch(opcode):
        return f"{where} may write to other blocks of the cluster, which is not modelled"
    if CLUSTER_BARRIER.fullmatch(opcode) and ".relaxed" in opcode:
        return f"{where} does not release what its thread did in shared memory before"
    return f"{where} is not modelled"


def _check_states(kernel: Kernel, events: dict[int, Event]) -> None:
    """A register that a wait takes as a state is written by arrivals alone."""
    waited = {each.state for each in events.values() if each.act is Act.WAIT and each.state is not None}
    for each in kernel.function.instructions if waited else ():
        act = events[each.index].act if each.index in events else None
        is_other = act not in (Act.ARRIVE, Act.WAIT)
        if is_other and not waited.isdisjoint(map(registers_of, written(each))):
            raise LostError(f"line {each.line} writes the state of a barrier object that a wait reads")


def _of_name(kernel: Kernel, instruction: Instruction) -> Event | None:
    index, opcode = instruction.index, instruction.opcode
    known = kernel.constants[index]
    if (of_cluster := CLUSTER_BARRIER.fullmatch(opcode)) and instruction.guard is None:
        if of_cluster[1] == "wait":
            return Event(index, Act.WAIT, name=CLUSTER, count=_ZERO)
        return Event(index, Act.LEAVE, name=CLUSTER, count=_ZERO) if releases(kernel, instruction) else None
    if instruction.guard is not None or not known:
        return None
    if opcode.startswith("bar.warp.sync"):
        if known[0] is not None:
            return Event(index, Act.SYNC, name=(known[0] & ALL_LANES) + MASKS) if known[0] else None
        mask = kernel.objects[index][0]
        return (
            None
            if mask is None
            else Event(index, Act.SYNC, name=add(extend(mask, _MASK_BITS, signed=False), _FIRST_MASK))
        )
    act = Act.SYNC if _SYNC.fullmatch(opcode) else Act.LEAVE if _ARRIVE.fullmatch(opcode) else None
    if act is None:
        return None
    in_registers = kernel.objects.get(index, known)
    values = [in_registers[at] if each is None else const(each, 32) for at, each in enumerate(known)]
    if ".red" in opcode:
        # The result comes first, and a predicate last.
        values = values[1:-1]
    name, count = values[0], values[1] if len(values) > 1 else const(0, 32)
    is_whole = count == const(0, 32)
    if not isinstance(name, Expr) or not isinstance(count, Expr) or (act is Act.LEAVE and is_whole):
        return None
    if isinstance(name, Const):
        return Event(index, act, name=name.value, count=count) if name.value < MASKS else None
    return None if is_whole else Event(index, act, name=name, count=count)


def _of_object(kernel: Kernel, instruction: Instruction) -> Event | None:
    index = instruction.index
    values, guard = kernel.objects.get(index, ()), kernel.owns.get(index, TRUE)
    if kernel.ranks.is_copy(instruction):
        return _of_multicast(kernel, instruction)
    if COPY_TO_PHASE.fullmatch(instruction.opcode):
        if len(values) < 4 or values[3] is None or values[2] is None:
            return None
        return Event(index, Act.COPY, values[3], bytes=values[2], guard=guard)
    if TENSOR_TO_PHASE.fullmatch(instruction.opcode):
        places = [at for at, each in enumerate(instruction.operands) if isinstance(each, Address)]
        place = values[places[-1]] if len(places) == 2 and len(values) > places[-1] else None
        return None if place is None else Event(index, Act.COPY, place, guard=guard, is_box=True)
    form = _OBJECT.fullmatch(instruction.opcode)
    if form is None or (form["space"] == "::cluster" and not kernel.is_alone and kernel.ranks.count == 1):
        return None
    operation = form[1]
    first = 0
    if operation in ("init", "inval", "expect_tx"):
        place, rest = values[:1], values[1:]
    else:
        # The state, or the answer, comes first; a state may be left out.
        first = 0 if instruction.operands and _is_address(instruction, 0) else 1
        place, rest = values[first : first + 1], values[first + 1 :]
    if not place or place[0] is None or any(each is None for each in rest):
        return None
    known = [each for each in rest if each is not None]
    given = instruction.operands[0] if first else None
    state = given if isinstance(given, Register) else None
    if operation == "init" and known:
        return Event(index, Act.INIT, place[0], count=known[0], guard=guard)
    if operation == "inval":
        return Event(index, Act.END, place[0], guard=guard)
    if operation == "arrive":
        return Event(index, Act.ARRIVE, place[0], count=known[0] if known else _ONE, guard=guard, state=state)
    if operation == "arrive.expect_tx" and known:
        return Event(index, Act.ARRIVE, place[0], bytes=known[0], guard=guard, state=state)
    if operation == "expect_tx" and known:
        return Event(index, Act.EXPECT, place[0], bytes=known[0], guard=guard)
    answer = _answer_of(kernel, instruction)
    if "parity" in operation and known and answer is not None:
        return Event(index, Act.WAIT, place[0], parity=known[0], answer=answer, guard=guard)
    asked = instruction.operands[2] if "wait" in operation and len(instruction.operands) > 2 else None
    if isinstance(asked, Register) and answer is not None:
        return Event(index, Act.WAIT, place[0], answer=answer, guard=guard, state=asked)
    return None


def _of_multicast(kernel: Kernel, instruction: Instruction) -> Event | None:
    index, values, guard = (
        instruction.index,
        kernel.objects[instruction.index],
        kernel.owns.get(instruction.index, TRUE),
    )
    places = [at for at, each in enumerate(instruction.operands) if isinstance(each, Address)]
    place, mask = values[places[-1]], kernel.ranks.masks[index]
    is_box = "tensor" in instruction.opcode.split(".")
    size = _ZERO if is_box else values[2]
    if place is None or size is None:
        return None
    return Event(index, Act.COPY, place, bytes=size, guard=guard, is_box=is_box, mask=mask)


def _is_address(instruction: Instruction, at: int) -> bool:
    return instruction.text.split(",")[at].strip().startswith("[")


def _answer_of(kernel: Kernel, instruction: Instruction) -> Var | None:
    """The leaf of what a wait answers; None if it is not read, or is not one bit."""
    begin = f"{instruction.opcode} at line {instruction.line}: {instruction.index}."
    found = [leaf.variable for name, leaf in kernel.leaves.by_name.items() if name.startswith(begin)]
    return found[0] if len(found) == 1 and found[0].width == 1 else None
