"""cp.async of all sizes, and bulk copies.

Small copies are done at once; clocks know when a thread may rely on them. Bulk copies are done at
once or later, and have no addresses of lanes: they are listed without a cost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .access import copy_async, everyone, load, store
from .fetch import Array, Batch, Env, Getter, Step
from .mbarriers import find
from .model import Addr, Imm, Instr, Vec
from .parse import address_of
from .record import Access
from .spaces import SHARED_SPAN
from .table import nothing, opcode
from .tensors import box_at


@opcode("cp")
def compile_cp(instr: Instr, env: Env) -> Step:
    """Compile the cp.async family."""
    mods = instr.mods
    if "mbarrier" in mods:
        return arrive_later(instr, env)
    if "prefetch" in mods:
        return nothing
    if any(mod in mods for mod in ("commit_group", "wait_group", "wait_all")):
        return group(instr)
    return bulk(instr, env) if "bulk" in mods else copy_async(instr, env)


def group(instr: Instr) -> Step:
    """Compile what puts copies into groups and waits for them, which nothing but clocks notices."""
    pending = instr.operands[0] if instr.operands else None
    count = int(pending.value) if isinstance(pending, Imm) else None

    def step(batch: Batch, mask: Array) -> None:
        clocks, lanes = batch.block.clocks, np.flatnonzero(mask).tolist()
        if clocks is None:
            return
        if "commit_group" in instr.mods:
            clocks.commit(lanes, bulk="bulk" in instr.mods)
        else:
            clocks.wait_copies(lanes, count, bulk="bulk" in instr.mods)

    return step


def arrive_later(instr: Instr, env: Env) -> Step:
    """Compile cp.async.mbarrier.arrive: the copies of a thread arrive, which happens at once here."""
    record = env.record(instr, "mbarrier", 8, blind=True)
    record.is_placed = True
    where = env.address(address_of(instr), instr.line)

    def step(batch: Batch, mask: Array) -> None:
        block, address = batch.block, everyone(batch, where(batch))
        record.note(block.index, mask, address)
        for lane in np.flatnonzero(mask).tolist():
            place = block.place(lane, int(address[lane]))
            barrier = find(batch, place)
            if block.clocks is not None:
                block.clocks.touch_in([lane], batch.place, batch.depth)
                block.clocks.touch_object(instr.line, lane, place)
                barrier.hear(block.clocks.knowledge.nothing()._replace(copies=block.clocks.copies_of(lane)))
            if "noinc" in instr.mods and barrier.arrive(1):
                block.woken = True

    return step


SPACES = ("shared", "global")


def bulk(instr: Instr, env: Env) -> Step:
    """Compile bulk copies: plain ones move bytes, tensors and reductions leave memory as it is."""
    record = env.record(instr, "cp.async.bulk", 0, blind=True)
    if "tensor" in instr.mods:
        return tensor(instr, env, record)
    into, source = (env.address(address_of(instr, at), instr.line) for at in (0, 1))
    size = env.src(instr.operands[2], "u32", instr.line)
    to_space, from_space = (mod.split("::")[0] for mod in instr.mods if mod.split("::")[0] in SPACES)
    loads = to_space == "shared"
    is_multicast = any(mod.startswith("multicast") for mod in instr.mods)
    record.is_placed = from_space != to_space
    object_at = env.address(address_of(instr, 2), instr.line) if loads else None
    mask_of = env.src(instr.operands[4], "u16", instr.line) if is_multicast else None

    def step(batch: Batch, mask: Array) -> None:
        record.note(batch.block.index, mask, np.zeros(mask.shape, np.uint64))
        to, origin, count = (everyone(batch, get(batch)) for get in (into, source, size))
        objects = everyone(batch, object_at(batch)) if object_at else to
        masks = everyone(batch, mask_of(batch)) if mask_of else None
        if masks is not None and batch.block.ranks == 1:
            record.is_placed = False
        for lane in np.flatnonzero(mask).tolist():
            for rank in _ranks(batch, lane, masks):
                # A copy to several blocks writes to the same place of each, and counts there.
                there = rank * SHARED_SPAN
                places = (there + int(to[lane]), int(origin[lane]), there + int(objects[lane]))
                flight = _flight(batch, instr, lane, places, int(count[lane]), spaces=(to_space, from_space))
                if batch.block.flights is None:
                    flight()
                else:
                    batch.block.flights.append(flight)

    return step


def tensor(instr: Instr, env: Env, record: Access) -> Step:
    """Compile tensor copies: one into shared memory moves its box if the launch says what its map is."""
    is_load = len(instr.operands) == 3 and "im2col" not in instr.mods  # a store has two, one to several blocks more
    operands = instr.operands if is_load else []
    where = [env.address(each, instr.line) for each in operands]
    source = operands[1] if operands else None
    coordinates: list[Getter] = []
    if isinstance(source, Addr) and source.extra and isinstance(source.extra[0], Vec):
        coordinates = [env.src(each, "s32", instr.line) for each in source.extra[0].items]

    def step(batch: Batch, mask: Array) -> None:
        record.note(batch.block.index, mask, np.zeros(mask.shape, np.uint64))
        if not where or not coordinates or not batch.block.has_maps:
            return
        to, at, objects = (everyone(batch, get(batch)) for get in where)
        numbers = [everyone(batch, get(batch)) for get in coordinates]
        for lane in np.flatnonzero(mask).tolist():
            box = box_at(batch, lane, int(at[lane]))
            record.is_placed = box is not None
            if box is not None:
                first = tuple(int(each[lane]) for each in numbers)
                move = partial(box.copy, batch, batch.block.place(lane, int(to[lane])), first)
                places = int(to[lane]), int(at[lane]), int(objects[lane])
                spaces = "shared", "global"
                _depart(batch, _flight(batch, instr, lane, places, box.bytes, spaces=spaces, move=move))

    return step


def _depart(batch: Batch, flight: Callable[[], None]) -> None:
    """A copy is done at once, or when the launch decides."""
    if batch.block.flights is None:
        flight()
    else:
        batch.block.flights.append(flight)


def _ranks(batch: Batch, lane: int, masks: Array | None) -> list[int]:
    """For each block that a copy goes to its rank plus 1; 0 for the block that its address names."""
    if masks is None or batch.block.ranks == 1:
        return [0]
    return [rank + 1 for rank in range(16) if int(masks[lane]) >> rank & 1]


def _flight(
    batch: Batch,
    instr: Instr,
    lane: int,
    places: tuple[int, int, int],
    count: int,
    *,
    spaces: tuple[str, str],
    move: Callable[[], None] | None = None,
) -> Callable[[], None]:
    """Issue a bulk copy of one lane; give what is to be done when it completes."""
    block, (to, origin, object_at) = batch.block, places
    loads, number = spaces[0] == "shared", -1
    if block.clocks is not None:
        block.clocks.touch_in([lane], batch.place, batch.depth)
        mine = block.place(lane, to if loads else origin)
        number = block.clocks.bulk(instr.line, lane, mine, count, writes=loads)
        if loads:
            block.clocks.touch_object(instr.line, lane, block.place(lane, object_at), copy=number)
        else:
            block.clocks.put_in_group(lane, number, bulk=True)

    def done() -> None:
        if block.clocks is not None:
            block.clocks.settle()
        if move is not None:
            move()
        elif "reduce" not in instr.mods:
            offsets = np.arange(0, count, 4, dtype=np.uint64)
            lanes = np.full(len(offsets), lane)
            words = load(block, spaces[1], lanes, np.uint64(origin) + offsets, 4)
            store(block, spaces[0], lanes, np.uint64(to) + offsets, words)
        if loads:
            place = block.place(lane, object_at)
            if block.clocks is None and place not in block.mbarriers:
                return  # Such a kernel still shows what its other accesses cost.
            barrier = find(batch, place)
            if block.clocks is not None:
                barrier.hear(block.clocks.knowledge.nothing()._replace(copies=1 << number))
            if block.counts_bytes and barrier.expect(-count):
                block.woken = True

    return done
