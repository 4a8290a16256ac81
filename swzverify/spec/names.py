"""The tiles, accesses, maps, operands, listings and memories of one case, found by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from swzverify.claims.form import Role, Subject, role_of
from swzverify.core.words import listed
from swzverify.errors import nearest
from swzverify.explain.notebook import Access, Tile
from swzverify.spec.lets import Lets
from swzverify.spec.problems import Problems
from swzverify.spec.read_code import ReadCode
from swzverify.spec.tree import Node, Place
from swzverify.spec.values import Broken
from swzverify.subjects import IndexMap, Listing, Memory, Operand, Phase

T = TypeVar("T")

SINGULAR = {
    "memories": "memory",
    "tiles": "tile",
    "accesses": "access",
    "maps": "map",
    "listings": "listing",
    "operands": "operand",
    "phases": "phase",
}


def _article(word: str) -> str:
    return "an" if word[0] in "ao" else "a"


@dataclass(slots=True)
class Names:
    """What has been built so far in one case.

    Attributes:
        problems: The problems that were noted.
        broken: The entries (section, name) that cannot be built.
        memories: The memories by name.
        tiles: The tiles by name.
        accesses: The accesses by name.
        weights: The weights of the accesses.
        maps: The index maps by name.
        listings: The listings by name.
        phases: The phases by name.
        lets: The lets at the top of the spec.
        code: The entries that are read from code.
        uses: The constants that each entry rests on.
    """

    problems: Problems
    broken: set[tuple[str, str]]
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    tiles: dict[str, Tile] = field(default_factory=dict[str, Tile])
    accesses: dict[str, Access] = field(default_factory=dict[str, Access])
    weights: dict[str, int] = field(default_factory=dict[str, int])
    maps: dict[str, IndexMap] = field(default_factory=dict[str, IndexMap])
    listings: dict[str, Listing] = field(default_factory=dict[str, Listing])
    operands: dict[str, Operand] = field(default_factory=dict[str, Operand])
    phases: dict[str, Phase] = field(default_factory=dict[str, Phase])
    lets: Lets = field(default_factory=Lets)
    code: dict[tuple[str, str], ReadCode] = field(default_factory=dict[tuple[str, str], ReadCode])
    uses: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict[tuple[str, str], frozenset[str]])
    _asked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def used_since(self, own: Collection[str]) -> frozenset[str]:
        """The constants that an entry rests on.

        They are its `own`, and those of every entry that was asked for since the last call.

        >>> names = Names(Problems("a.yaml"), set())
        >>> sorted(names.used_since(["BM"]))
        ['BM']
        """
        found = frozenset(own).union(*(self.uses.get(entry, frozenset()) for entry in self._asked))
        self._asked.clear()
        return found

    def code_of(self, subjects: Iterable[Subject]) -> tuple[ReadCode, ...]:
        """What code the subjects of a claim are."""
        found = (self.code.get((role_of(each).section, each.name)) for each in subjects)
        return tuple(each for each in found if each is not None)

    def memory(self, name: str, where: Node | Place) -> Memory:
        """The memory of that name.

        Raises:
            Broken: The memory is unknown (SWZ106, which is noted before) or broken.
        """
        return self._find(self.memories, "memories", name, where)

    def tile(self, name: str, where: Node | Place) -> Tile:
        """The tile of that name; errors as for `memory`."""
        return self._find(self.tiles, "tiles", name, where)

    def access(self, name: str, where: Node | Place) -> Access:
        """The access of that name; errors as for `memory`."""
        return self._find(self.accesses, "accesses", name, where)

    def operand(self, name: str, where: Node | Place) -> Operand:
        """The operand of that name; errors as for `memory`."""
        return self._find(self.operands, "operands", name, where)

    def phase(self, name: str, where: Node | Place) -> Phase:
        """The phase of that name; errors as for `memory`."""
        return self._find(self.phases, "phases", name, where)

    def of(self, roles: Sequence[Role], name: str, where: Node | Place) -> Subject:
        """The subject of one of these roles by name; SWZ106 if ambiguous, else as for `memory`."""
        sections = [role.section for role in roles]
        tables: dict[str, Mapping[str, Subject]] = {
            "tiles": self.tiles,
            "accesses": self.accesses,
            "maps": self.maps,
            "listings": self.listings,
            "operands": self.operands,
            "phases": self.phases,
        }
        holding = [section for section in sections if name in tables[section] or (section, name) in self.broken]
        if len(holding) > 1:
            kinds = " and ".join(f"{_article(SINGULAR[section])} {SINGULAR[section]}" for section in holding)
            hint = " or ".join(f"{{{SINGULAR[section]}: {name}}}" for section in holding)
            self.problems.add("SWZ106", f"'{name}' is {kinds}", where, f"say which: {hint}")
            raise Broken
        if holding:
            return self._find(tables[holding[0]], holding[0], name, where)
        known = [known for section in sections for known in tables[section]]
        self._note_unknown(listed((SINGULAR[section] for section in sections), "or"), name, known, where)
        raise Broken

    def _find(self, table: Mapping[str, T], section: str, name: str, where: Node | Place) -> T:
        if name in table:
            self._asked.add((section, name))
            return table[name]
        if (section, name) not in self.broken:
            self._note_unknown(SINGULAR[section], name, table, where)
        raise Broken

    def _note_unknown(self, what: str, name: str, known: Collection[str], where: Node | Place) -> None:
        listed = f"known: {', '.join(known)}" if known else "the file has none"
        hint = nearest(name, known) or listed
        for section, word in SINGULAR.items():
            if (name in getattr(self, section) or (section, name) in self.broken) and word not in what:
                hint = f"'{name}' is {_article(word)} {word}; {listed}"
        self.problems.add("SWZ106", f"unknown {what} '{name}'", where, hint)
