"""Instructions in which lanes exchange values: shfl, vote, match, redux, elect, activemask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .access import everyone
from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Getter, Step
from .integers import first_of_pair
from .model import Instr
from .table import opcode

LANE = np.arange(32, dtype=np.int64)


def rows(batch: Batch, value: Array) -> Array:
    """Values as one row of 32 for each warp."""
    return np.ascontiguousarray(everyone(batch, value)).reshape(-1, 32)


def active_bits(mask: Array) -> Array:
    """The active lanes of each warp as a 32-bit number."""
    return np.packbits(mask, bitorder="little").view(np.uint32)


def spread(value: Array) -> Array:
    """One value of each warp for all its lanes."""
    return np.repeat(value, 32)


def source_lane(mode: str, amount: Array, control: Array) -> tuple[Array, Array]:
    """Which lane each lane reads, and whether it is in range, as the PTX ISA defines shfl."""
    clamp, segment = control & 31, control >> 8 & 31
    highest = (LANE & segment) | (clamp & ~segment)
    lowest = LANE & segment
    step = amount & 31
    if mode == "up":
        lane = LANE - step
        return lane, lane >= highest
    if mode == "down":
        lane = LANE + step
    elif mode == "bfly":
        lane = LANE ^ step
    else:
        lane = lowest | (step & ~segment)
    return lane, lane <= highest


@opcode("shfl")
def compile_shfl(instr: Instr, env: Env) -> Step:
    """Compile shfl; a lane whose source is out of range keeps its own value."""
    head, flag = first_of_pair(instr)
    mode = next(mod for mod in instr.mods if mod in ("up", "down", "bfly", "idx"))
    value, amount, control = (env.src(operand, "b32", instr.line) for operand in instr.operands[1:4])
    put = env.dst(head, instr.line)
    put_flag = env.dst(flag, instr.line) if flag is not None else None

    def step(batch: Batch, mask: Array) -> None:
        steps, controls = (rows(batch, get(batch)).astype(np.int64) for get in (amount, control))
        lane, good = source_lane(mode, steps, controls)
        lane = np.where(good, lane, LANE)
        put(batch, np.take_along_axis(rows(batch, value(batch)), lane, 1).reshape(-1), mask)
        if put_flag is not None:
            put_flag(batch, good.reshape(-1), mask)

    return step


def members(instr: Instr, env: Env, place: int) -> Getter:
    """The lanes that each lane says take part; all, in the old forms without .sync."""
    if "sync" not in instr.mods:
        return lambda _batch: np.full(1, 0xFFFFFFFF, np.uint32)
    return env.src(instr.operands[place], "b32", instr.line)


@opcode("vote")
def compile_vote(instr: Instr, env: Env) -> Step:
    """Compile vote: ballot, all, any, uni of the active lanes among those that a lane names."""
    mode = next(mod for mod in instr.mods if mod in ("ballot", "all", "any", "uni"))
    get, put = env.src(instr.operands[1], "pred", instr.line), env.dst(instr.operands[0], instr.line)
    named = members(instr, env, 2)

    def step(batch: Batch, mask: Array) -> None:
        among = rows(batch, named(batch))
        yes = active_bits(everyone(batch, get(batch)) & mask)[:, None] & among
        active = active_bits(mask)[:, None] & among
        answers = {"ballot": yes, "all": yes == active, "any": yes != 0, "uni": (yes == 0) | (yes == active)}
        put(batch, answers[mode].reshape(-1), mask)

    return step


@opcode("activemask")
def compile_activemask(instr: Instr, env: Env) -> Step:
    """Compile activemask."""
    put = env.dst(instr.operands[0], instr.line)
    return lambda batch, mask: put(batch, spread(active_bits(mask)), mask)


@opcode("match")
def compile_match(instr: Instr, env: Env) -> Step:
    """Compile match: .any gives the lanes with the same value, .all all if they agree, else 0."""
    head, flag = first_of_pair(instr)
    get, put = env.src(instr.operands[1], instr.type, instr.line), env.dst(head, instr.line)
    put_flag = env.dst(flag, instr.line) if flag is not None else None
    named = members(instr, env, 2)

    def step(batch: Batch, mask: Array) -> None:
        value, lanes, among = rows(batch, get(batch)), mask.reshape(-1, 32), rows(batch, named(batch))
        same = (value[:, :, None] == value[:, None, :]) & lanes[:, None, :]
        found = (same.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(2).astype(np.uint32) & among
        if "all" in instr.mods:
            every = found == active_bits(mask)[:, None] & among
            found = np.where(every, found, np.uint32(0))
            if put_flag is not None:
                put_flag(batch, every.reshape(-1), mask)
        put(batch, found.reshape(-1), mask)

    return step


REDUCE: dict[str, Callable[..., Array]] = {
    "add": np.add.reduce,
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


@opcode("redux")
def compile_redux(instr: Instr, env: Env) -> Step:
    """Compile redux of 32-bit integers over the active lanes."""
    mode = next((mod for mod in instr.mods if mod in REDUCE), "")
    if instr.type not in ("u32", "s32", "b32"):
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    get, put = env.src(instr.operands[1], instr.type, instr.line), env.dst(instr.operands[0], instr.line)
    named = members(instr, env, 2)

    def step(batch: Batch, mask: Array) -> None:
        value, lanes, among = rows(batch, get(batch)), mask.reshape(-1, 32), rows(batch, named(batch))
        result = np.zeros(value.shape, value.dtype)
        for warp in np.flatnonzero(lanes.any(1)):
            for group in np.unique(among[warp][lanes[warp]]).tolist():
                there = lanes[warp] & (group >> LANE & 1 != 0)
                if there.any():
                    result[warp][among[warp] == group] = REDUCE[mode](value[warp][there], dtype=value.dtype)
        put(batch, result.reshape(-1), mask)

    return step


@opcode("elect")
def compile_elect(instr: Instr, env: Env) -> Step:
    """Compile elect: the lowest active lane of those named is the leader."""
    head, flag = first_of_pair(instr)
    put = env.dst(head, instr.line)
    put_flag = env.dst(flag, instr.line) if flag is not None else None
    named = members(instr, env, 1)

    def step(batch: Batch, mask: Array) -> None:
        among = rows(batch, named(batch)) & active_bits(mask)[:, None]
        leader = np.bitwise_count((among & -among) - np.uint32(1))
        put(batch, leader.astype(np.uint32).reshape(-1), mask)
        if put_flag is not None:
            put_flag(batch, (leader == LANE).reshape(-1), mask)

    return step


@opcode("bar", "barrier")
def compile_bar(instr: Instr, env: Env) -> Step:
    """Compile what does not wait: bar.arrive."""
    if "cluster" in instr.mods:
        releases = "relaxed" not in instr.mods

        def come(batch: Batch, mask: Array) -> None:
            batch.block.on_arrive_in_cluster(active_bits(mask).tolist(), instr.line, releases)

        return come
    number, count = (env.src(operand, "u32", instr.line) for operand in instr.operands)

    def step(batch: Batch, mask: Array) -> None:
        numbers, counts = (everyone(batch, get(batch)) for get in (number, count))
        masks = active_bits(mask).tolist()
        for warp, bits in enumerate(masks):
            if bits:  # each warp may name another barrier
                lane = 32 * warp + (bits & -bits).bit_length() - 1
                alone = [bits if each == warp else 0 for each in range(len(masks))]
                batch.block.on_arrive(int(numbers[lane]), int(counts[lane]), alone, instr.line)

    return step
