"""Release and acquire: what strong writes tell the threads that read them.

A strong write with `.release`, or behind a fence of its thread, tells what the thread did before; a strong read with
`.acquire`, or with a fence behind it, learns it. An atomic also tells on what it read. Volatile accesses count as
strong ones here, as PTX says; whether two of them race is another question.

Source: PTX ISA, Memory Consistency Model: Release and Acquire Patterns; docs/semantics.md, section 11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from swzverify.compiled.trial.history import History
from swzverify.compiled.trial.knowledge import Known
from swzverify.compiled.trial.memory import Array

STRONG: Final = frozenset({"acquire", "release", "acq_rel", "relaxed", "mmio", "sc"})
_ORDERED: Final = STRONG | {"volatile"}
_PRIVATE: Final = frozenset({"local", "param", "const"})
_FENCE: Final = re.compile(
    r"fence\.(?:sc|acq_rel|acquire|release)\b.*|fence\.(?:cta|cluster|gpu|sys)|membar\.(?!proxy).*"
)


@dataclass(frozen=True, slots=True)
class Strong:
    """What a strong access does."""

    reads: bool
    writes: bool
    acquires: bool
    releases: bool


@cache
def strong_of(opcode: str) -> Strong | None:
    """What a strong access to shared or global memory does; None for another instruction."""
    name, *words = opcode.split(".")
    if name not in ("ld", "st", "atom", "red") or _PRIVATE & {word.partition("::")[0] for word in words}:
        return None
    is_atomic = name in ("atom", "red")
    if not is_atomic and not _ORDERED & {*words}:
        return None
    acquires = bool({"acquire", "acq_rel"} & {*words})
    releases = bool({"release", "acq_rel"} & {*words})
    return Strong(is_atomic or name == "ld", is_atomic or name == "st", acquires, releases)


def is_fence(opcode: str) -> bool:
    """Whether an instruction makes patterns with strong accesses of its thread."""
    return _FENCE.fullmatch(opcode) is not None


class Flags:
    """What reads of each address learn, and what fences have made ready."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._told: dict[int, Array] = {}
        self._fenced: dict[int, Known] = {}
        self._read: dict[int, Array] = {}

    def fence(self, threads: Array) -> None:
        """Some threads execute a fence."""
        knowledge = self._history.knowledge
        self._history.time += 1
        for thread in threads.tolist():
            if (read := self._read.pop(thread, None)) is not None:
                knowledge.learn(np.array([thread]), read)
            self._fenced[thread] = knowledge.known(thread, self._history.time)

    def access(self, strong: Strong, threads: Array, places: Array) -> None:
        """Some threads make a strong access, one after the other, at addresses."""
        if not strong.releases and not self._fenced and not self._told:
            return
        for thread in threads.tolist():
            place = int(places[thread])
            before = self._told.get(place) if strong.reads else None
            if before is not None and strong.acquires:
                self._history.knowledge.learn(np.array([thread]), before)
            elif before is not None:
                known = self._read.get(thread)
                self._read[thread] = before if known is None else np.maximum(known, before)
            if strong.writes:
                self._write(thread, place, before, releases=strong.releases)

    def _write(self, thread: int, place: int, before: Array | None, *, releases: bool) -> None:
        knowledge = self._history.knowledge
        told = before
        if releases:
            told = self._history.told(np.array([thread]))
        elif (fenced := self._fenced.get(thread)) is not None:
            told = knowledge.row_of(fenced)
        if told is None:
            self._told.pop(place, None)
        else:
            self._told[place] = told if before is None else np.maximum(told, before)
