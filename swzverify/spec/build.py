"""From a checked file to its claims: each on its subjects, once per case of the constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TypeVar

from swzverify.claims import Claim
from swzverify.claims.form import Subject, role_of
from swzverify.claims.verdict import Outcome
from swzverify.explain.notebook import Access, Tile
from swzverify.hardware import Target, find_target
from swzverify.spec.access_models import CodePart
from swzverify.spec.build_access import build_access, build_map
from swzverify.spec.build_claims import PlacedClaim, build_claim, standard_claims
from swzverify.spec.build_lets import build_lets
from swzverify.spec.build_tile import build_memory, build_tile
from swzverify.spec.check import Checked
from swzverify.spec.deciding import DecidingConstant, deciding, tile_constants
from swzverify.spec.names import Names
from swzverify.spec.problems import Problems
from swzverify.spec.read_code import ReadCode
from swzverify.spec.tree import Mapping as MappingNode
from swzverify.spec.tree import Node, Scalar, Sequence, get, key_of, place_of
from swzverify.spec.values import Broken, Values
from swzverify.subjects import IndexMap, Listing, Operand, Phase
from swzverify.subjects.loop import RESERVED_NAMES

Part = TypeVar("Part")
Built = TypeVar("Built")
MAX_CASES = 1024
MAX_ENTRIES = 100_000
"""Over all cases; more would take minutes before the first proof."""


@dataclass(frozen=True, slots=True)
class ReadName:
    """A constant read from the code: its name in both, the file seen from here and from the spec.

    `beside` is empty where the spec stands in that file itself.
    """

    name: str
    in_code: str
    file: str
    beside: str


@dataclass(frozen=True, slots=True)
class SpecClaim:
    """One claim of a spec.

    Attributes:
        id: `path::subject::kind`, unique in the file.
        claim: The claim.
        kind: The kind of the claim.
        subject: The subjects in words.
        line: The line, from 1.
        column: The column, from 1.
        expected: The expected outcome.
        because: The spec's reason for the expected outcome.
        source: The spec's source of the claim.
        case: The values of the constants that have several.
        notes: Where the code defines the constants of `read`.
        read: The constants of `uses` that the code defines.
        uses: The constants that the claim and its subjects name.
        deciding: The constants that the layouts of its tiles name.
        code: The compiled code of its subjects.
    """

    id: str
    claim: Claim
    kind: str
    subject: str
    line: int
    column: int
    expected: Outcome
    because: str
    source: str
    case: Mapping[str, int]
    notes: tuple[str, ...] = ()
    read: tuple[ReadName, ...] = ()
    uses: frozenset[str] = frozenset()
    deciding: tuple[DecidingConstant, ...] = ()
    code: tuple[ReadCode, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecCase:
    """A spec in one case: objects by name, in the order of the file.

    Attributes:
        chosen: The values of the constants that have several.
        constants: The values of all constants.
        tiles: The tiles.
        accesses: The accesses.
        maps: The index maps.
        weights: The weights of the accesses.
        listings: The listings.
    """

    chosen: Mapping[str, int]
    constants: Mapping[str, int]
    tiles: Mapping[str, Tile]
    accesses: Mapping[str, Access]
    maps: Mapping[str, IndexMap]
    weights: Mapping[str, int] = field(default_factory=dict[str, int])
    listings: Mapping[str, Listing] = field(default_factory=dict[str, Listing])
    operands: Mapping[str, Operand] = field(default_factory=dict[str, Operand])
    phases: Mapping[str, Phase] = field(default_factory=dict[str, Phase])


@dataclass(frozen=True, slots=True)
class BuiltSpec:
    """A spec file: its claims in order, each in all cases of the constants before the next one.

    Attributes:
        path: The path of the file.
        title: The title of the spec.
        source: The source that the spec states.
        claims: The claims.
        cases: The cases, with the very objects that the claims are about, and others.
        text: The text that was read: the file, or the contract in a kernel source, with plain line ends.
        tma_tiles: The tiles whose layout is that of a TMA mode.
    """

    path: str
    title: str
    source: str
    claims: tuple[SpecClaim, ...]
    cases: tuple[SpecCase, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    tma_tiles: frozenset[str] = frozenset()


def build(checked: Checked, path: str, problems: Problems, target: str | None = None) -> BuiltSpec:
    """The spec of a file's models; `target` overrides the file's. What is wrong goes to `problems`.

    The result holds for use only when no problem was noted.
    """
    chip = _target(checked, problems, target)
    cases = _cases(checked, problems)
    placed: list[list[PlacedClaim]] = []
    stated: list[SpecCase] = []
    used: frozenset[str] = frozenset()
    problems.cases = len(cases)
    if chip is not None:
        for case in cases:
            problems.case = _case_text(case.chosen) if len(cases) > 1 else ""
            names = _build_subjects(checked, case.constants, chip, problems)
            placed.append(_build_claims(checked, case.constants, names, problems))
            objects = (names.tiles, names.accesses, names.maps, names.weights, names.listings, names.operands)
            stated.append(SpecCase(case.chosen, case.constants, *objects, phases=names.phases))
            used = used.union(*names.uses.values(), *(entry.uses for entry in placed[-1]))
        problems.case = ""
        _check_used(checked, used, problems)
    ids: dict[str, int] = {}
    shared = _shared_names(checked)
    named = tile_constants(checked)
    claims = [
        replace(
            _spec_claim(entry, path, case.chosen if len(cases) > 1 else {}, shared, ids),
            deciding=deciding(entry.claim, named, case.constants),
            notes=_of_code(checked, entry),
        )
        for of_one_claim in zip(*placed, strict=False)  # they differ in number only where a mistake was noted
        for case, entry in zip(cases, of_one_claim, strict=True)
    ]
    by_tma = frozenset(name for name, tile in checked.spec.tiles.items() if tile.tma is not None)
    return BuiltSpec(path, checked.spec.title, checked.spec.source, tuple(claims), tuple(stated), tma_tiles=by_tma)


def _check_used(checked: Checked, used: frozenset[str], problems: Problems) -> None:
    """Refuse constants read from the code that nothing uses: the spec only seems to follow it."""
    spec = checked.spec
    if len(problems) or not (spec.tiles or spec.accesses or spec.maps or spec.operands or spec.listings or spec.phases):
        return  # what is broken may be what uses them, and a spec of constants alone only pins them
    node = get(checked.root, "from_source")
    for index, name in enumerate(checked.spec.from_source):
        if name not in used:
            where = node.items[index] if isinstance(node, Sequence) else key_of(node, name) or node
            message = f"'{name}' is read from the code, and nothing in this spec uses it"
            hint = "write the name where the spec has the number, or take it out of `from_source`"
            problems.add("SWZ126", message, where, hint)


@dataclass(frozen=True, slots=True)
class _Case:
    """One combination of the constants' values, and the part of it that other cases differ in."""

    constants: dict[str, int]
    chosen: dict[str, int]


def _target(checked: Checked, problems: Problems, override: str | None) -> Target | None:
    if override is not None:
        return find_target(override)
    where = get(checked.root, "target")
    with problems.at(where if isinstance(where, Scalar) else place_of(checked.root)):
        return find_target(checked.spec.target)
    return None


def _cases(checked: Checked, problems: Problems) -> list[_Case]:
    lists: dict[str, list[int]] = {}
    for name, value in checked.spec.constants.items():
        lists[name] = value if isinstance(value, list) else [value]
        if name in RESERVED_NAMES:
            where = key_of(get(checked.root, "constants"), name) or checked.root
            problems.add("SWZ105", f"'{name}' has a meaning of its own in expressions", where, "give it another name")
        if len(set(lists[name])) < len(lists[name]):
            where = get(checked.root, "constants", name)
            problems.add("SWZ105", f"'{name}' has the same value twice", where, "each value is a case of its own")
    count = prod(len(values) for values in lists.values())
    if count > MAX_CASES:
        where = key_of(checked.root, "constants") or checked.root
        problems.add("SWZ107", f"the constants make {count} cases, at most {MAX_CASES} are read", where)
        return []
    spec = checked.spec
    sections = (spec.tiles, spec.accesses, spec.maps, spec.operands, spec.listings, spec.phases, spec.claims)
    entries = sum(map(len, sections))
    if count > 1 and count * entries > MAX_ENTRIES:
        where = key_of(checked.root, "constants") or checked.root
        what = f"{count} cases of {entries} tiles, accesses, maps, operands, listings, phases and claims"
        message = f"{what}: at most {MAX_ENTRIES} in all are read"
        problems.add("SWZ107", message, where, "split the file, or give the constants fewer values")
        return []
    varied = [name for name, values in lists.items() if len(values) > 1]
    cases = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    return [_Case(case, {name: case[name] for name in varied}) for case in cases]


def _case_text(chosen: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in chosen.items())


def _build_subjects(checked: Checked, constants: Mapping[str, int], target: Target, problems: Problems) -> Names:
    """Every memory, tile, access, map, operand and listing that can be built; the others are noted as broken."""
    names = Names(problems, set(checked.broken))
    spec, root = checked.spec, checked.root

    def values(section: str, name: str) -> Values:
        entries = get(root, section)
        return Values(get(root, section, name), key_of(entries, name) or entries, constants, problems)

    names.lets = build_lets(spec.let, Values(root, key_of(root, "let") or root, constants, problems))

    def each(section: str, parts: Mapping[str, Part], make: Callable[[str, Part, Values], Built]) -> dict[str, Built]:
        found: dict[str, Built] = {}
        for name, part in parts.items():
            read = values(section, name)
            try:
                found[name] = make(name, part, read)
            except Broken:
                names.broken.add((section, name))
            names.uses[section, name] = names.used_since(read.used)
        return found

    names.memories |= each("memories", spec.memories, lambda name, part, read: build_memory(name, part, read, target))
    names.tiles |= each("tiles", spec.tiles, lambda name, part, read: build_tile(name, part, read, names, target))
    names.accesses |= each(
        "accesses", spec.accesses, lambda name, part, read: build_access(name, part, read, names, target)
    )
    names.maps |= each("maps", spec.maps, lambda name, part, read: build_map(name, part, read, names))
    if spec.operands:
        from swzverify.spec.build_operand import build_operand  # noqa: PLC0415 - few specs have operands

        names.operands |= each(
            "operands", spec.operands, lambda name, part, read: build_operand(name, part, read, names, target)
        )
    if spec.phases:
        from swzverify.spec.build_phase import build_phase  # noqa: PLC0415 - few specs have phases

        names.phases |= each(
            "phases", spec.phases, lambda name, part, read: build_phase(name, part, read, names, target)
        )
    if spec.listings:
        from swzverify.spec.build_listing import build_listing  # noqa: PLC0415 - it reads machine code, which few specs have

        names.listings |= each(
            "listings", spec.listings, lambda name, part, read: build_listing(name, part, read, names, target.name)
        )
    return names


def _build_claims(
    checked: Checked, constants: Mapping[str, int], names: Names, problems: Problems
) -> list[PlacedClaim]:
    """The claims of one case. `standard` leaves out claims that the list states itself."""
    node = get(checked.root, "claims")
    if checked.spec.claims == "standard":
        return [_standard(claim, node, names) for claim in standard_claims(names)]
    placed: list[PlacedClaim | Node] = []
    for part, index in zip(checked.spec.claims, checked.claim_places, strict=True):
        item = node.items[index] if isinstance(node, Sequence) else node
        if isinstance(part, str):
            placed.append(item)
            continue
        key = _claim_key(item, part.__class__.model_fields)
        read = Values(item, key, constants, problems)
        try:
            claim = build_claim(part, read, names)
        except Broken:
            continue
        placed.append(PlacedClaim(claim, part, key, names.used_since(read.used), names.code_of(claim.subjects)))
    stated = {_heading(entry.claim) for entry in placed if isinstance(entry, PlacedClaim)}
    result: list[PlacedClaim] = []
    for entry in placed:
        if isinstance(entry, PlacedClaim):
            result.append(entry)
            continue
        for claim in standard_claims(names):
            if _heading(claim) not in stated:
                stated.add(_heading(claim))
                result.append(_standard(claim, entry, names))
    return result


def _standard(claim: Claim, where: Node, names: Names) -> PlacedClaim:
    """A claim that `standard` stands for."""
    uses = frozenset[str]().union(*(names.uses[role_of(each).section, each.name] for each in claim.subjects))
    return PlacedClaim(claim, None, where, uses, names.code_of(claim.subjects))


def _heading(claim: Claim) -> tuple[object, ...]:
    """Kind and subjects: a tile and an access of one name are two."""
    return (claim.kind, *((role_of(subject), subject.name) for subject in claim.subjects))


def _claim_key(item: Node, fields: Mapping[str, object]) -> Node:
    """The key of a list item that states the claim."""
    others = ("expect", "because", "source")
    if isinstance(item, MappingNode):
        return next((key for key, _ in item.entries if key.text in fields and key.text not in others), item)
    return item


def _shared_names(checked: Checked) -> frozenset[str]:
    """The names that several of the file's entries have."""
    spec = checked.spec
    counts = Counter([*spec.tiles, *spec.accesses, *spec.maps, *spec.operands, *spec.listings, *spec.phases])
    return frozenset(name for name, count in counts.items() if count > 1)


def _called(subject: Subject, shared: frozenset[str]) -> str:
    """A subject's name in ids and reports, with what it is where another one has that name too."""
    if subject.name not in shared:
        return subject.name
    return f"{role_of(subject).value}:{subject.name}"


def _of_code(checked: Checked, entry: PlacedClaim) -> tuple[str, ...]:
    """Which compiled code a claim speaks of, and what the reading of this code takes for granted."""
    found: list[str] = []
    for each in entry.claim.subjects:
        compiled = _compiled(checked, each)
        if compiled is not None:
            line = compiled.line
            lines = f"lines {', '.join(map(str, line))}" if isinstance(line, list) else f"line {line}"
            lines = lines if compiled.source is None else f"line {compiled.source} of the source"
            kernel = f", kernel {compiled.kernel}" if compiled.kernel else ""
            found.append(f"{each.name} is read from {compiled.file}{kernel}, {lines}")
    assumed = dict.fromkeys(text for code in entry.code for text in code.assumed)
    return (*found, *(f"assumed of the code: {text}" for text in assumed))


def _compiled(checked: Checked, subject: Subject) -> CodePart | None:
    """What a subject says of compiled code."""
    match subject:
        case Access():
            return checked.spec.accesses[subject.name].compiled
        case Operand():
            return checked.spec.operands[subject.name].compiled
        case _:
            return None


def _spec_claim(
    entry: PlacedClaim, path: str, chosen: Mapping[str, int], shared: frozenset[str], ids: dict[str, int]
) -> SpecClaim:
    claim, part = entry.claim, entry.part
    case = f"[{_case_text(chosen)}]" if chosen else ""
    subject = ",".join(_called(each, shared) for each in claim.subjects)
    name = f"{path}::{subject}{case}::{claim.kind}"
    ids[name] = ids.get(name, 0) + 1
    if ids[name] > 1:
        name = f"{name}#{ids[name]}"
    place = place_of(entry.where)
    return SpecClaim(
        id=name,
        claim=claim,
        kind=claim.kind,
        subject=subject,
        line=place.line,
        column=place.column,
        expected=Outcome(part.expect if part else "proved"),
        because=part.because if part else "",
        source=part.source if part else "",
        case=chosen,
        uses=entry.uses,
        code=entry.code,
    )
