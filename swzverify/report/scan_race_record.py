"""The races of compiled kernels as plain data, for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import BarrierFinding, KernelRaces, Pair, Participant, RaceVerdict, Witness
from swzverify.report.plain import members

BARRIERS: Final = {
    RaceVerdict.FREE: "uniform",
    RaceVerdict.DIVERGENT: "divergent",
    RaceVerdict.DEADLOCK: "deadlock",
    RaceVerdict.DEPENDS: "depends",
}
"""What a barrier is called; one of any other verdict is `unknown`."""


def races_record(races: KernelRaces, block: BlockShape | None, sources: Mapping[int, str]) -> dict[str, Any]:
    """The verdict on a kernel with its pairs, and its barriers."""
    return {
        "races": {
            **members(races, "verdict", "reason", "free_pairs"),
            "free_by": dict(races.free_by),
            "lockstep": races.is_lockstep,
            "assumptions": list(races.assumptions),
            "pairs": [_pair(each, block, sources) for each in races.pairs],
        },
        "barriers": [_barrier(each, sources) for each in races.barriers],
    }


def _pair(pair: Pair, block: BlockShape | None, sources: Mapping[int, str]) -> dict[str, Any]:
    return {
        "first": _participant(pair.first, sources),
        "second": _participant(pair.second, sources),
        **members(pair, "verdict", "reason", "condition", "engines"),
        "witness": None if pair.witness is None else _witness(pair.witness, block),
    }


def _participant(side: Participant, sources: Mapping[int, str]) -> dict[str, Any]:
    return {**members(side, "line", "opcode", "calls"), "source": _source(side.source, sources)}


def _barrier(barrier: BarrierFinding, sources: Mapping[int, str]) -> dict[str, Any]:
    return {
        **members(barrier, "line", "opcode"),
        "source": _source(barrier.source, sources),
        "verdict": BARRIERS.get(barrier.verdict, "unknown"),
        "reason": barrier.reason,
    }


def _witness(witness: Witness, block: BlockShape | None) -> dict[str, Any]:
    return {
        "threads": list(witness.threads),
        "coordinates": None if block is None else [list(coordinates_of(each, block)) for each in witness.threads],
        "trips": [[{"loop": line, "trip": trip} for line, trip in each] for each in witness.trips],
        **members(witness, "byte", "array"),
        "parameters": dict(witness.parameters),
        "replayed": witness.is_replayed,
    }


def _source(text: str, sources: Mapping[int, str]) -> dict[str, Any] | None:
    found = source_place(text, sources)
    return None if found is None else {"file": found[0], "line": found[1]}


def source_place(text: str, sources: Mapping[int, str]) -> tuple[str, int] | None:
    """The file and line that a text such as `kernel.cu:12` names, as `.file` has the file; None without one.

    >>> source_place("kernel.cu:12", {1: "/src/kernel.cu"}), source_place("", {})
    (('/src/kernel.cu', 12), None)
    """
    name, _, line = text.rpartition(":")
    if not name or not line.isdecimal():
        return None
    whole = {each for each in sources.values() if each == name or PurePosixPath(each.replace("\\", "/")).name == name}
    return (whole.pop() if len(whole) == 1 else name), int(line)


def coordinates_of(thread: int, block: BlockShape) -> tuple[int, int, int]:
    """The coordinates of a thread in its block.

    >>> coordinates_of(37, (32, 2, 1))
    (5, 1, 0)
    """
    x, y, _ = block
    return thread % x, thread // x % y, thread // (x * y)
