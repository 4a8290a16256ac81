"""Places of the source that `.loc` tells, and the names of inlined functions.

Source: PTX ISA, Debugging Directives: .loc, .section.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.ptx.instruction import Location
from swzverify.compiled.ptx.literals import plain_bytes
from swzverify.compiled.ptx.problems import MAX_DATA_CHARACTERS, MAX_INLINED
from swzverify.compiled.ptx.syntax import BLANKS, NAME, compiled
from swzverify.errors import graphic

_PART: Final = compiled(rf"\s*+(?:({NAME})\s*+:|\.b8\s++([\d,\s]*+))")
_LONGEST_NAME: Final = 4096

Place = tuple[int, int, int]
"""File, line and column."""


class DebugStrings:
    """The text of `.section .debug_str`, looked up by label and offset.

    >>> strings = DebugStrings()
    >>> strings.add("L: .b8 102,49,0")
    >>> strings.name("L", 0), strings.name(".debug_str", 1), strings.name("M", 0)
    ('f1', '1', 'M')
    """

    __slots__ = ("_data", "_labels")

    def __init__(self) -> None:
        self._data = bytearray()
        self._labels: dict[str, int] = {".debug_str": 0}

    def add(self, text: str) -> None:
        """Add the text between the section's braces.

        A text that is too long or cannot be read adds nothing.
        """
        if len(text) > MAX_DATA_CHARACTERS:
            return
        data, labels, position = bytearray(), dict[str, int](), 0
        text = text.rstrip(BLANKS)
        while position < len(text):
            found = _PART.match(text, position)
            if found is None:
                return
            position = found.end()
            if found[1]:
                labels[found[1]] = len(self._data) + len(data)
                continue
            added = plain_bytes(found[2])
            if added is None:
                return
            data += added
        self._data += data
        self._labels |= labels

    def name(self, label: str, offset: int) -> str:
        """The string `offset` bytes after a label; the label itself if the section has no such string."""
        start = self._labels.get(label, len(self._data)) + offset
        end = self._data.find(b"\0", start, start + _LONGEST_NAME)
        if start >= len(self._data) or end < 0:
            return label
        return graphic(self._data[start:end].decode("utf-8", "replace"))


class Locations:
    """The locations of one function, each distinct one made once."""

    __slots__ = ("_depths", "_known", "_latest", "_strings")

    def __init__(self, strings: DebugStrings) -> None:
        self._strings = strings
        self._known: dict[tuple[Place, str, int, int], Location] = {}
        self._latest: dict[Place, Location] = {}
        self._depths: dict[int, int] = {}

    def plain(self, place: Place) -> Location:
        """A place that is not inlined."""
        found = self._keep((place, "", 0, 0), place, None, None)
        self._latest[place] = found
        return found

    def inlined(self, place: Place, label: str, offset: int, caller: Place) -> Location:
        """A place in a function that was inlined at `caller`.

        The latest `.loc` of that place describes the caller. Of more than 32 nested calls, the outer ones
        are left out.
        """
        outer = self._latest.get(caller)
        if outer is None or self._depths[id(outer)] >= MAX_INLINED:
            outer = self._keep((caller, "", 0, 0), caller, None, None)
        key = (place, label, offset, id(outer))
        found = self._known.get(key) or self._keep(key, place, self._strings.name(label, offset), outer)
        self._latest[place] = found
        return found

    def _keep(
        self, key: tuple[Place, str, int, int], place: Place, name: str | None, outer: Location | None
    ) -> Location:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Location(*place, name, outer)
            self._depths[id(found)] = 0 if outer is None else self._depths[id(outer)] + 1
        return found
