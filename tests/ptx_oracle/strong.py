"""Release and acquire patterns: what strong accesses and fences of a block put in order."""

from __future__ import annotations

from .knowledge import Knowledge, Told

STRONG = ("relaxed", "acquire", "release", "acq_rel", "mmio")


def strength(mods: tuple[str, ...] | list[str], *, atomic: bool = False) -> str:
    """How strong an access is, by its modifiers; empty if it is weak."""
    found = next((mod for mod in mods if mod in STRONG), "relaxed" if atomic else "")
    return "relaxed" if found == "mmio" else found


class Strong:
    """What was released at which places, and what threads have read of it."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._released: dict[tuple[int, int], Told | None] = {}
        self._fenced: dict[int, Told] = {}
        """What each thread knew at its last fence."""
        self._read: dict[int, Told] = {}
        """What each thread has read since, and has not acquired."""

    def access(self, lane: int, place: tuple[int, int], how: str, *, reads: bool, writes: bool) -> None:
        """A strong access of some bytes, by start and size."""
        before = self._released.get(place)
        if reads and before is not None:
            self._read[lane] = before.joined(self._read.get(lane))
            if how in ("acquire", "acq_rel"):
                self.knowledge.learn([lane], before)
        if not writes:
            return
        releases = how in ("release", "acq_rel")
        told = self.knowledge.tell([lane]) if releases else self._fenced.get(lane)
        # An atomic goes on with what was released before it.
        if reads and before is not None:
            told = before.joined(told)
        self._released[place] = told

    def overwrite(self, start: int, size: int) -> None:
        """A weak access writes some bytes."""
        for place in [at for at in self._released if at[0] < start + size and start < at[0] + at[1]]:
            del self._released[place]

    def fence(self, lanes: list[int]) -> None:
        """Threads execute a fence."""
        for lane in lanes:
            self.knowledge.learn([lane], self._read.pop(lane, None))
            self._fenced[lane] = self.knowledge.tell([lane])
