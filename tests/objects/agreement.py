"""Whether the package proves of an access made in Python what enumeration says of it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from swzverify.claims import Aligned, Claim, ConflictFree, Equivalent, InBounds, Wavefronts
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout, Swizzle
from swzverify.prover import prove
from swzverify.subjects import Access, AlignedBase, FixedBase, ListedLoop, Tile
from swzverify.subjects import Loop as SubjectLoop
from swzverify.subjects.memory import Origin
from tests.objects import drawn as plain


def make(drawn: plain.Drawn) -> Access:
    """The access, made and then treated as a careless caller may treat it."""
    stated = FixedBase(drawn.stated.start) if drawn.stated.count == 1 else AlignedBase(drawn.stated.unit)
    given: dict[str, Any] = {
        "loops": [_loop(loop) for loop in drawn.loops],
        "constants": {name: np.int16(value) for name, value in drawn.constants.items()},
        "assume": [parse(term.text) for term in drawn.assume],
        "predicate": None if drawn.predicate is None else parse(drawn.predicate.text),
    }
    terms = [parse(term.text) for term in drawn.terms]
    if drawn.tile is None:
        given |= {"address": terms[0], "base": stated, "bytes": np.int64(drawn.size)}
    else:
        given |= {"tile": _tile(drawn.tile, stated), "coord": terms}
    moved = None if drawn.moved is None else Origin(drawn.moved.start, np.int32(drawn.moved.unit), drawn.moved.count)  # type: ignore[arg-type]
    if moved is not None and not drawn.by_moving:
        given["place"] = moved
    if drawn.room is not None:
        given["room"] = list(drawn.room)
    found = Access("a", find_instruction(drawn.instruction), find_target("sm_90"), (drawn.threads,), **given)
    if moved is not None and drawn.by_moving:
        found = found.moved(moved)
    if drawn.within is not None:
        found = found.within(drawn.within)
    for name in drawn.changes:
        _change(given, terms, name)
        _refuse_change(found, name)
    return found


def _loop(loop: plain.Loop) -> SubjectLoop | ListedLoop:
    values = loop.values
    if loop.open_step:
        return SubjectLoop(loop.name, values[0], None, loop.open_step)
    steps = {b - a for a, b in pairwise(values)} or {1}
    if len(steps) > 1:
        listed = [np.int64(value) for value in values]
        made = ListedLoop(loop.name, listed)  # type: ignore[arg-type]
        listed.clear()
        return made
    return SubjectLoop(loop.name, values[0], values[-1] + 1, steps.pop()) if values else SubjectLoop(loop.name, 3, 3)


def _tile(tile: plain.Tile, base: FixedBase | AlignedBase) -> Tile:
    swizzle = None if tile.swizzle is None else Swizzle(*tile.swizzle)
    layout = Layout((tile.rows, tile.columns), (tile.stride, 1))
    on = "address" if tile.on_address else "offset"
    return Tile("T", 32, layout, swizzle, on, base, tile.stages, tile.allocation, tile.pitch)


def _change(given: dict[str, Any], terms: list[Any], name: str) -> None:
    """Change what the caller gave."""
    match name:
        case "constants":
            given["constants"].update(dict.fromkeys(given["constants"], 0))
        case "terms":
            terms[:] = [parse("0") for _ in terms]
        case _:
            given[name].clear()


def _refuse_change(access: Access, name: str) -> None:
    """Try to change what the access has."""
    try:
        match name:
            case "constants":
                access.constants["P"] = 0  # type: ignore[index]
            case "terms":
                access.coord[0] = parse("0")  # type: ignore[index]
            case _:
                getattr(access, name).clear()
    except (TypeError, AttributeError):
        return
    raise AssertionError(f"{name} of an access can be changed")


def judged(drawn: plain.Drawn, seed: int) -> list[tuple[Claim, str]]:
    """Claims on the access, each with the verdict that enumeration gives it."""
    access, found = make(drawn), plain.truth(drawn)

    def verdict(holds: bool) -> str:
        return "vacuous" if not found.active else "proved" if holds else "refuted"

    limit = max(1, found.most - seed % 2)
    claims: list[tuple[Claim, str]] = [
        (Aligned(access), verdict(found.aligned)),
        (InBounds(access), verdict(found.inside)),
        (ConflictFree(access), verdict(found.aligned and found.free)),
        (Wavefronts(access, limit), verdict(found.aligned and found.most <= limit)),
    ]
    if drawn.moved is None:
        other = plain.variant(drawn, seed)
        holds = plain.lanes(drawn) == plain.lanes(other)
        is_said = found.active or plain.truth(other).active
        claims.append((Equivalent(access, make(other)), ("proved" if holds else "refuted") if is_said else "vacuous"))
    return claims


def differences(seed: int, counts: Counter[str]) -> list[str]:
    """What differs for the access of a seed, in words; verdicts are counted."""
    drawn = plain.draw(seed)
    try:
        claims = judged(drawn, seed)
    except SwzError as error:
        refused = error.code == "SWZ105" and "room=" in error.message
        if plain.room_fits(drawn) or not refused:
            return [f"refused: {error}"]
        counts["room refused"] += 1
        return []
    if not plain.room_fits(drawn):
        return [f"room={drawn.room} was accepted"]
    wrong: list[str] = []
    for claim, wanted in claims:
        found = prove(claim)
        counts[f"{claim.kind} {found.outcome.value}"] += 1
        if found.outcome.value != wanted:
            wrong.append(
                f"{claim.kind} is {found.outcome.value}, by enumeration {wanted}: {found.scope}; {found.reason}"
            )
        lacking = [part for part in plain.scope_parts(drawn) if part not in found.scope]
        if lacking and not isinstance(claim, Equivalent):
            wrong.append(f"{claim.kind}: the scope '{found.scope}' does not name {lacking}")
    return wrong
