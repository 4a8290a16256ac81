"""The touches of a block's shared memory, and which of them race."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from .knowledge import Knowledge, Told

Group: TypeAlias = tuple[str, int, int]


class Touch(NamedTuple):
    """One access of one cell that later accesses have to be ordered behind."""

    thread: int
    time: int
    line: int
    kind: str
    """R reads, S reads and is strong, W writes, A is atomic or a strong write."""
    start: int
    size: int
    data: bytes | None = None
    """What was written, where it is known."""
    copy: int = -1
    """The number of the asynchronous operation that makes it, or -1."""
    is_async: bool = False
    """It is made through the async proxy."""

    @property
    def is_fenced(self) -> bool:
        """Whether the async proxy needs a fence behind it."""
        return not self.is_async and self.kind not in ("R", "S")


class Race(NamedTuple):
    """Two accesses of one byte without order; the line of the first is not the larger one.

    `copies` says of each whether an asynchronous copy did it. `unfenced` is set if they have order,
    but no fence of the proxies is between them.
    """

    lines: tuple[int, int]
    kinds: tuple[str, str]
    threads: tuple[int, int]
    copies: tuple[bool, bool]
    byte: int
    is_benign: bool
    unfenced: bool = False

    @property
    def key(self) -> tuple[tuple[int, int], tuple[str, str], bool]:
        """What tells pairs of instructions apart."""
        return self.lines, self.kinds, self.is_benign


class Touches:
    """Who touched which byte, as far as that matters later."""

    def __init__(self, knowledge: Knowledge, base: int, *, proxies: bool = True) -> None:
        self.knowledge = knowledge
        self.base = base
        self.proxies = proxies
        """Whether the kernel has operations of the async proxy."""
        self.races: dict[tuple[tuple[int, int], tuple[str, str], bool], Race] = {}
        self._kept: dict[int, dict[Group, dict[tuple[object, ...], Touch]]] = defaultdict(dict)
        """Earlier accesses of each byte, by what they are."""
        nothing = knowledge.nothing()
        self._by_all: tuple[list[int], int, int] = (nothing.clock.tolist(), nothing.copies, nothing.covered)

    def all_know(self, common: Told) -> None:
        """Every thread knows this: such touches race with nothing any more."""
        self._by_all = (common.clock.tolist(), common.copies, common.covered)

    def add(self, new: Touch, bytes_written: Sequence[bytes | None] = ()) -> None:
        """Judge an access of `size` bytes against those before, and keep it."""
        for offset in range(new.size):
            touch = new._replace(data=bytes_written[offset]) if bytes_written else new
            self._touch(new.start + offset, touch)

    def add_product(self, new: Touch, told: Told) -> None:
        """Judge a read that several threads began, each of whom knew this; some may have waited for it already."""
        known = told.clock.tolist(), told.copies, told.covered
        for offset in range(new.size):
            self._touch(new.start + offset, new, known)

    def _touch(self, at: int, new: Touch, known: tuple[list[int], int, int] | None = None) -> None:
        groups = self._kept[at]
        own = group_of(new)
        row = self.knowledge.row(new.thread)
        copies, covered = self.knowledge.copies[new.thread], self.knowledge.covered[new.thread]
        if known is not None:
            row, copies, covered = known
        for group, kept in groups.items():
            if never_race(group, own):
                continue
            for key, old in list(kept.items()):
                if self._is_before(old, *self._by_all, fenced=self.proxies and old.is_fenced):
                    del kept[key]
                    continue
                if known is not None and self.knowledge.is_behind(old.thread, old.time, new.copy):
                    continue
                fenced = new.is_async and old.is_fenced
                if not self._is_before(old, row, copies, covered, fenced=fenced):
                    unfenced = fenced and self._is_before(old, row, copies, covered, fenced=False)
                    self._found(at, old, new, unfenced=unfenced)
        # Of a thread's own accesses the last one stands for all, but copies complete in no order.
        groups.setdefault(own, {})[new.thread, new.line, new.start, new.data, new.copy] = new

    def _is_before(self, old: Touch, row: list[int], copies: int, covered: int, *, fenced: bool) -> bool:
        """Whether who knows this knows a touch; `fenced` asks for a fence behind it."""
        if old.copy >= 0:
            return bool((covered if fenced else copies) >> old.copy & 1)
        return row[old.thread + (self.knowledge.lanes if fenced else 0)] >= old.time

    def _found(self, at: int, old: Touch, new: Touch, *, unfenced: bool) -> None:
        first, second = (old, new) if (old.line, old.kind) <= (new.line, new.kind) else (new, old)
        same = first.data is not None and first.data == second.data
        is_benign = same and first.kind == second.kind == "W" and not unfenced
        threads, copies = (first.thread, second.thread), (first.copy >= 0, second.copy >= 0)
        lines, kinds = (first.line, second.line), (first.kind, second.kind)
        race = Race(lines, kinds, threads, copies, at - self.base, is_benign, unfenced)
        if race.key not in self.races or (self.races[race.key].unfenced and not unfenced):
            self.races[race.key] = race


def group_of(touch: Touch) -> Group:
    """What a touch does, and the bytes of atomic and strong ones."""
    return (touch.kind, touch.start, touch.size) if touch.kind in "AS" else (touch.kind, 0, 0)


def never_race(one: Group, two: Group) -> bool:
    """Whether both read, or both are atomic or strong at the same bytes."""
    kinds = {one[0], two[0]}
    return kinds <= {"R", "S"} or (kinds <= {"A", "S"} and one[1:] == two[1:])
