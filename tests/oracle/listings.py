"""Listings and register banks, from section 8 of the page and the tables of docs/registers.md alone.

The texts that `random_listings` writes are read here by splitting them; nothing of the package is
used.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from .oracle_errors import OracleError
from .yaml_values import Yaml, as_dict, as_str

Class = Literal["arithmetic", "other", "control", "call", "unknown"]
Pair = tuple[int, int]
EVERY_SLOT = (2, 3, 4)

FOUR_BANKS = {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"}
TWO_BANKS = {"sm_70"}

THREE, TWO, OPEN_THREE, OPEN_TWO = (2, 3, 4), (2, 3), (2, None, None), (2, None)
OLD = {
    **dict.fromkeys(("FFMA", "IADD3", "LOP3", "XMAD", "SHF", "PRMT", "BFI"), THREE),
    **dict.fromkeys(("FADD", "FMUL", "IADD", "SEL", "ISETP", "FSETP", "LEA", "SHL"), TWO),
    "MOV": (3,),
}
NEW = {
    **dict.fromkeys(("FFMA", "IADD3", "LOP3", "IMAD"), THREE),
    "FMUL": TWO,
    "FADD": (2, 4),
    **dict.fromkeys(("SHF", "PRMT"), OPEN_THREE),
    **dict.fromkeys(("SEL", "ISETP", "FSETP", "LEA"), OPEN_TWO),
    "MOV": (None,),
}
NO_RESULT = {"ISETP", "FSETP"}
OTHER = {"LDS", "STS", "LDG", "STG", "MUFU", "S2R", "TEX", "SHFL"}
CONTROL = {"BRA", "EXIT", "BAR", "NOP", "SSY", "SYNC", "BRX", "DEPBAR", "PSETP"}
CALLS = {"CAL", "CALL"}


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction as the page sees it."""

    kind: Class
    sources: tuple[tuple[int, int | None, bool], ...] = ()
    """Register, slot, and whether it is marked."""
    writes: frozenset[int] = frozenset()
    always: bool = True
    yields: bool = False
    label: str = ""
    place: int | None = None
    goes_to: str = ""
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The sums of a listing; `most` is None where an instruction is unknown."""

    most: int | None
    least: int
    empty: bool


def conflicts_of(listing: Yaml, spec_target: str) -> Conflicts:
    """The conflicts of a listing of a spec."""
    fields = as_dict(listing)
    target = as_str(fields.get("target", spec_target))
    if target not in FOUR_BANKS | TWO_BANKS:
        raise OracleError(f"nothing is known of the banks of {target}", "SWZ408")
    is_old = target in FOUR_BANKS
    steps: list[Step] = []
    label = ""
    for line in as_str(fields["text"]).splitlines():
        if found := re.fullmatch(r"\s*(\w+):\s*", line):
            label = found[1]
        elif (step := _step(line, is_old, label)) is not None:
            steps.append(step)
            label = ""
    return counted(steps, is_old)


def verdict_of(found: Conflicts, limit: int) -> str:
    """What the page says of at most so many."""
    if found.empty:
        return "vacuous"
    if found.most is not None and found.most <= limit:
        return "proved"
    return "refuted" if found.least > limit else "unknown"


def _step(line: str, is_old: bool, label: str) -> Step | None:
    bare = line.split("//", maxsplit=1)[0].split("#", maxsplit=1)[0].strip().rstrip(";").strip()
    if not bare:
        return None
    place: int | None = None
    if at := re.match(r"/\*([0-9a-f]{4})\*/\s*", bare):
        place, bare = int(at[1], 16), bare[at.end() :]
    yields = False
    if code := re.match(r"\S\S:\S:\S:(\S):\S\s+", bare):
        yields = code[1] == "Y"
        bare = bare[code.end() :]
    always = True
    if bare.startswith("@"):
        predicate, _, bare = bare.partition(" ")
        always = predicate == "@PT"
        bare = bare.strip()
    words = bare.split(None, 1)
    name, _, modifiers = words[0].partition(".")
    operands = [each.strip() for each in words[1].split(",")] if len(words) > 1 else []
    rest = {"always": always, "yields": yields, "label": label, "place": place}
    slots = (OLD if is_old else NEW).get(name)
    if name == "LEA" and modifiers.startswith("HI"):
        slots = THREE if is_old else OPEN_THREE
    if slots is not None and not (name == "IMAD" and modifiers.startswith("WIDE")):
        return _arithmetic(name, slots, operands, rest)
    marked = tuple((int(n), None, True) for n in re.findall(r"\bR(\d+)\.reuse", bare))
    if name in OTHER | CALLS | CONTROL and marked:
        return Step("unknown", marked, **rest)  # type: ignore[arg-type]
    if name in OTHER:
        outside = re.sub(r"\[.*?\]", "", bare)
        named = [int(n) for n in re.findall(r"\bR(\d+)", outside)]
        return Step("other", (), frozenset(n + i for n in named for i in range(4)), **rest)  # type: ignore[arg-type]
    if name in CALLS:
        return Step("call", goes_to=operands[0] if operands else "", **rest)  # type: ignore[arg-type]
    if name in CONTROL:
        goes_to = operands[-1] if name in ("BRA", "SSY") else ""
        return Step("control", goes_to=goes_to, indirect=name == "BRX", **rest)  # type: ignore[arg-type]
    return Step("unknown", marked, **rest)  # type: ignore[arg-type]


def _arithmetic(name: str, slots: tuple[int | None, ...], operands: list[str], rest: dict[str, object]) -> Step:
    values = [each for each in operands if not re.fullmatch(r"!?P[0-6T]", each)]
    writes: frozenset[int] = frozenset()
    if name not in NO_RESULT:
        result = re.fullmatch(r"R(\d+|Z)", values.pop(0))
        assert result is not None
        writes = frozenset() if result[1] == "Z" else frozenset({int(result[1])})
    values = values[: len(slots)]
    registers = [re.fullmatch(r"[-|]*R(\d+|Z)\|?(\.reuse)?\|?", each) for each in values]
    all_registers = len(registers) == len(slots) and None not in registers
    sources: list[tuple[int, int | None, bool]] = []
    for position, found in enumerate(registers):
        if found is None or found[1] == "Z":
            continue
        slot = slots[position]
        if not all_registers and not (position == 0 and slot == EVERY_SLOT[0]):
            slot = None
        sources.append((int(found[1]), slot, found[2] is not None))
    return Step("arithmetic", tuple(sources), writes, **rest)  # type: ignore[arg-type]


def _pairs(register: int, slot: int | None) -> set[Pair]:
    return {(each, register) for each in (EVERY_SLOT if slot is None else (slot,))}


def _cycles(registers: set[int], is_old: bool) -> int:
    banks, width = (4, 1) if is_old else (2, 2)
    counts = Counter(register % banks for register in registers)
    return sum((count + width - 1) // width - 1 for count in counts.values())


def _named(goes_to: str, steps: list[Step]) -> int | None:
    """The number of the instruction that a branch names; None where the listing does not show it."""
    label, _, offset = goes_to.strip("`()").partition(" + ")
    at = [number for number, step in enumerate(steps) if step.label == label]
    if label.startswith("0x"):
        wanted = int(label, 16)
    elif at and not offset:
        return at[0]
    elif at and (start := steps[at[0]].place) is not None:
        wanted = start + int(offset, 16)
    else:
        return None
    return next((number for number, step in enumerate(steps) if step.place == wanted), None)


def counted(steps: list[Step], is_old: bool) -> Conflicts:
    """The sums of some instructions, for Maxwell and Pascal (`is_old`) or Volta."""
    marked: set[Pair] = set().union(*(_pairs(r, s) for step in steps for r, s, mark in step.sources if mark))
    every = {(slot, register) for slot in EVERY_SLOT for register in range(255)}
    strange = [step.kind == "unknown" and bool(step.sources) for step in steps]
    if any(strange):
        marked = every
    named = {step.goes_to for step in steps if step.goes_to}
    words = set(re.findall(r"\w+", " ".join(named)))
    went = [_named(step.goes_to, steps) for step in steps if step.goes_to and step.kind == "control"]
    anywhere = any(step.indirect for step in steps) or None in went
    most, least, is_known = 0, 0, True
    sure: set[Pair] = set()
    perhaps: set[Pair] = set()
    for number, step in enumerate(steps):
        enters = step.label and (number > 0 or step.label in words)
        if enters or anywhere or number in went:
            sure, perhaps = set(), perhaps | marked
        if step.kind == "arithmetic":
            most += _cycles({r for r, s, _ in step.sources if s is None or (s, r) not in sure}, is_old)
            least += _cycles({r for r, s, _ in step.sources if not _pairs(r, s) & perhaps}, is_old)
        is_known &= step.kind != "unknown"
        if step.kind == "arithmetic" and step.always:
            sure = {(s, r) for r, s, mark in step.sources if mark and s is not None}
            perhaps = perhaps - {(s, r) for r, s, mark in step.sources if not mark and s is not None}
        elif step.kind == "call" or strange[number]:
            sure, perhaps = set(), every
        elif not (step.kind == "other" and is_old):
            sure = set()
        perhaps = perhaps | {pair for r, s, mark in step.sources if mark for pair in _pairs(r, s)}
        if step.yields:
            sure = set()
        sure = {(s, r) for s, r in sure if r not in step.writes}
    empty = all(step.kind not in ("arithmetic", "unknown") for step in steps)
    return Conflicts(most if is_known else None, least, empty)
