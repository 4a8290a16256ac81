"""The differences between two tiles, accesses, maps or listings of a claim."""

from __future__ import annotations

from dataclasses import fields
from operator import ge

from swzverify.apps.diff.canonical import canonical, spelled, spelled_values
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.apps.diff.choices import choice_change
from swzverify.apps.diff.fragments import fragment_changes
from swzverify.apps.diff.places import base_change, period_bytes
from swzverify.apps.diff.points import cover, same_stage, stages_perhaps
from swzverify.claims import claim_type
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Subject
from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, Instruction
from swzverify.ir.c_formula import CFormula
from swzverify.subjects import Access, IndexMap, Listing, OffsetMap, Tile
from swzverify.subjects.listing import Work
from swzverify.subjects.memory import base_text

_TILE_FIELDS = frozenset(
    {"name", "element_bits", "layout", "swizzle", "swizzle_on", "base", "stages", "allocation_bytes", "pitch_bytes"}
)
_ACCESS_FIELDS = frozenset(
    {"name", "instruction", "target", "block", "loops", "constants", "tile", "coord", "stage", "address", "base"}
    | {"bytes", "predicate", "assume", "unknowns", "source", "source_base", "fragment"}
)
_LISTING_FIELDS = frozenset({"name", "target", "instructions"})
_COUNTED = frozenset({Work.ARITHMETIC, Work.UNKNOWN})
"""What a claim on register banks judges, or cannot judge."""
_MAP_FIELDS = frozenset({"name", "over", "value", "onto", "constants", "base"})


def is_cost(kind: str) -> bool:
    """Whether a kind of claim is about wavefronts."""
    claim = claim_type(kind)
    return claim is not None and issubclass(claim, CostClaim)


def counts_room(kind: str) -> bool:
    """Whether a kind of claim, also one of another package, says less of a larger allocation.

    >>> counts_room("in_bounds"), counts_room("injective")
    (True, False)
    """
    claim = claim_type(kind)
    return claim is not None and claim.counts_room


def tile_changes(before: Tile, after: Tile, kind: str, elements: int = 1) -> list[Change]:
    """The differences between two tiles of a claim of this kind; `elements` is its vectors' length.

    >>> from swzverify.layout import Layout
    >>> one, other = (Tile("A", 16, Layout((8, n), (n, 1))) for n in (64, 32))
    >>> [(each.what, each.direction.value) for each in tile_changes(one, other, "injective")][:1]
    [('shape of A', 'weaker')]
    """
    changes = [_shape(before, after), _element(before, after), _count(before, after)]
    changes.append(base_change(before.base, after.base, before.name, period_bytes((before, after), elements)))
    changes += [*_tile_inside(before, after), _own_room(before, after, kind), *_unknown(before, after, _TILE_FIELDS)]
    return [change for change in changes if change is not None]


def _shape(before: Tile, after: Tile) -> Change | None:
    if before.extents == after.extents:
        return None
    same_rank = len(before.extents) == len(after.extents)
    grown = same_rank and all(old <= new for old, new in zip(before.extents, after.extents, strict=True))
    way = Direction.STRONGER if grown else Direction.WEAKER
    return Change(Aspect.DOMAIN, way, f"shape of {before.name}", str(before.extents), str(after.extents))


def _element(before: Tile, after: Tile) -> Change | None:
    if before.element_bits == after.element_bits:
        return None
    smaller = after.element_bits < before.element_bits
    old, new = (f"{tile.element_bits} bits" for tile in (before, after))
    if smaller:
        return Change(Aspect.DOMAIN, Direction.WEAKER, f"element of {before.name}", old, new)
    return _kernel(f"element of {before.name}", old, new)


def _count(before: Tile, after: Tile) -> Change | None:
    if before.stages == after.stages:
        return None
    way = Direction.STRONGER if after.stages > before.stages else Direction.WEAKER
    return Change(Aspect.DOMAIN, way, f"stages of {before.name}", str(before.stages), str(after.stages))


def _tile_inside(before: Tile, after: Tile) -> list[Change]:
    """Layout, swizzle and pitch: the kernel's own."""
    name = before.name
    changes: list[Change] = []
    if canonical(before.layout) != canonical(after.layout):
        changes.append(_kernel(f"layout of {name}", str(before.layout), str(after.layout)))
    swizzles = [f"{tile.swizzle or 'none'} on {tile.swizzle_on}" for tile in (before, after)]
    if swizzles[0] != swizzles[1]:
        changes.append(_kernel(f"swizzle of {name}", swizzles[0], swizzles[1]))
    if before.pitch_bytes != after.pitch_bytes:
        changes.append(_kernel(f"pitch of {name}", f"{before.pitch_bytes} bytes", f"{after.pitch_bytes} bytes"))
    return changes


def _own_room(before: Tile, after: Tile, kind: str) -> Change | None:
    """More room, beyond what the elements need, lets more of them count as inside."""
    needed = [_natural_bytes(tile) for tile in (before, after)]
    if needed[0] is None or needed[1] is None:
        note = "what the elements need is not known"
        return _room(
            before, after, note if counts_room(kind) and after.allocation_bytes > before.allocation_bytes else ""
        )
    spare = [before.allocation_bytes - needed[0], after.allocation_bytes - needed[1]]
    looser = spare[1] > max(0, spare[0]) or (
        canonical(before.layout) == canonical(after.layout)
        and before.element_bits == after.element_bits
        and after.allocation_bytes > before.allocation_bytes
    )
    return _room(before, after, f"{spare[1]} bytes more than the elements need" if counts_room(kind) and looser else "")


def _room(before: Tile, after: Tile, looser: str) -> Change | None:
    """The change of the allocation: the kernel's own, unless `looser` says why more may pass."""
    if before.allocation_bytes == after.allocation_bytes:
        return None
    what = f"allocation of {before.name}"
    old, new = (f"{tile.allocation_bytes} bytes" for tile in (before, after))
    return Change(Aspect.STATEMENT, Direction.WEAKER, what, old, new, looser) if looser else _kernel(what, old, new)


def _natural_bytes(tile: Tile) -> int | None:
    """A layout's room with the last row's pad; None where an expression's maximum is not found."""
    if isinstance(tile.layout, OffsetMap):
        try:
            return -(-tile.layout.room_bits(tile.element_bits) // 8)
        except SwzError:
            return None
    reach = [extent * stride for extent, stride in tile.layout.leaves if extent > 1]
    return -(-max(tile.layout.cosize, *reach, 1) * tile.element_bits // 8)


def access_changes(before: Access, after: Access, kind: str) -> list[Change]:
    """The differences between two accesses of a claim of this kind."""
    changes = [
        _runs(before, after),
        choice_change(before, after),
        _instruction(before, after, kind),
        _target(before, after, kind),
    ]
    changes += [_place(before, after), _visited(before, after), _bytes(before, after, kind)]
    changes += [*_expressions(before, after), *_source(before, after), *fragment_changes(before, after, kind)]
    if before.tile is not None and after.tile is not None:
        changes += _tile_of(before.name, before.tile, after.tile, kind)
        changes.append(_count_of(before.tile, after.tile, counts_room(kind) and after.stage is not None))
    elif before.tile is not after.tile:
        old, new = ("an address" if each.tile is None else f"tile {each.tile.name}" for each in (before, after))
        changes.append(Change(Aspect.STATEMENT, Direction.WEAKER, f"what {before.name} is about", old, new))
    changes += _unknown(before, after, _ACCESS_FIELDS)
    return [change for change in changes if change is not None]


def _tile_of(access: str, old: Tile, new: Tile, kind: str) -> list[Change]:
    """The change of an access's tile: the kernel's own, unless it is a bound or another tile."""
    changes = _tile_inside(old, new)
    larger = counts_room(kind) and new.allocation_bytes > old.allocation_bytes
    room = _room(old, new, _MORE_IS_INSIDE if larger else "")
    changes += [] if room is None else [room]
    if old.extents != new.extents:
        what, was, now = f"shape of {old.name}", str(old.extents), str(new.extents)
        shrinks = len(old.extents) == len(new.extents) and all(map(ge, old.extents, new.extents))
        changes.append(_kernel(what, was, now) if not counts_room(kind) or shrinks else _looser(what, was, now))
    if old.element_bits != new.element_bits:
        changes.append(_kernel(f"element of {old.name}", f"{old.element_bits} bits", f"{new.element_bits} bits"))
    if old.name != new.name:
        same = canonical(old, named=False) == canonical(new, named=False)
        way = Direction.NEITHER if same else Direction.WEAKER
        note = "only the name differs" if same else "it speaks of another tile"
        changes.append(Change(Aspect.STATEMENT, way, f"tile of {access}", old.name, new.name, note))
    return [*changes, *_unknown(old, new, _TILE_FIELDS)]


_MORE_IS_INSIDE = "more counts as inside"


def _looser(what: str, before: str, after: str) -> Change:
    """A bound that lets more pass."""
    return Change(Aspect.STATEMENT, Direction.WEAKER, what, before, after, _MORE_IS_INSIDE)


def _count_of(old: Tile, new: Tile, is_bound: bool) -> Change | None:
    """The change of the tile's stages: a bound of the named stage, else the kernel's own."""
    if old.stages == new.stages:
        return None
    what, was, now = f"stages of {old.name}", str(old.stages), str(new.stages)
    return _looser(what, was, now) if is_bound and new.stages > old.stages else _kernel(what, was, now)


def _runs(before: Access, after: Access) -> Change | None:
    """Threads, loops, predicate and assumptions: the points at which the access runs."""
    old, new = _run_words(before), _run_words(after)
    if old == new:
        return None
    labels = list(dict.fromkeys(label for label in (*old, *new) if old.get(label) != new.get(label)))
    what = ", ".join(labels)
    was, now = ("; ".join(words.get(label, f"no {label}") for label in labels) for words in (old, new))
    there = cover(before, after)
    if there.holds is not True:
        note = there.note if there.holds is False else f"cannot be told, so it counts as weaker: {there.note}"
        return Change(Aspect.DOMAIN, Direction.WEAKER, what, was, now, note)
    back = cover(after, before)
    if back.holds is False:
        return Change(Aspect.DOMAIN, Direction.STRONGER, what, was, now, back.note.replace("left out", "new"))
    return Change(Aspect.DOMAIN, Direction.NEITHER, what, was, now, "the same points" if back.holds else "")


def _run_words(access: Access) -> dict[str, str]:
    """The parts of an access's domain in words, by name; conditions have constants' values."""
    block = str(access.threads) if len(access.block) == 1 else f"{access.threads} in a block of {access.block}"
    words = {"threads": f"{block} threads"}
    ended_by = dict(access.iterations.ended_by)
    limits = zip(access.loops, access.loop_limits, strict=True)
    words |= {
        f"loop {loop.name}": loop.describe(limit, ended_by.get(loop.name))
        for loop, limit in sorted(limits, key=lambda pair: pair[0].name)
    }
    if access.predicate is not None:
        words["if"] = f"if {spelled(access.predicate, access)}"
    if access.assume:
        words["assume"] = "assuming " + " and ".join(sorted({spelled(each, access) for each in access.assume}))
    return words


def _instruction(before: Access, after: Access, kind: str) -> Change | None:
    old, new = before.instruction, after.instruction
    if old.name == new.name:
        return None
    note = _narrower(old, new, kind)
    if note:
        return Change(Aspect.DOMAIN, Direction.WEAKER, f"instruction of {before.name}", old.name, new.name, note)
    return _kernel(f"instruction of {before.name}", old.name, new.name)


def _narrower(old: Instruction, new: Instruction, kind: str) -> str:
    """How the new instruction asks less of an access; empty where it does not."""
    if new.width_bytes < old.width_bytes:
        return f"{new.width_bytes} bytes per lane, {old.width_bytes} before"
    if new.address_lanes < old.address_lanes:
        return f"{new.address_lanes} lanes have an address, {old.address_lanes} before"
    if is_cost(kind) and old.counts_equal_words and not new.counts_equal_words:
        return "lanes in one word no longer conflict"
    return ""


def _target(before: Access, after: Access, kind: str) -> Change | None:
    """Only costs are a target's own; `sm_90` and `sm_90a` are one chip."""
    old, new = before.target, after.target
    if old.name == new.name:
        return None
    if is_cost(kind) and old.capability != new.capability:
        note = "the cost rule is known for each target by itself"
        return Change(Aspect.STATEMENT, Direction.WEAKER, "target", old.name, new.name, note)
    return _kernel("target", old.name, new.name)


def _place(before: Access, after: Access) -> Change | None:
    old, new = (each.base if each.tile is None else each.tile.base for each in (before, after))
    tiles = tuple(each.tile for each in (before, after) if each.tile is not None)
    name = before.name if before.tile is None else before.tile.name
    return base_change(old, new, name, period_bytes(tiles))


def _visited(before: Access, after: Access) -> Change | None:
    """The change of the visited stages: others leave the old ones out, unless all are visited."""
    if before.tile is None or after.tile is None:
        return None
    old, new = ("every stage" if x.stage is None else spelled(x.stage, x) for x in (before, after))
    counts = (before.tile.stages, after.tile.stages)
    if before.stage is None and after.stage is None and counts[0] == counts[1]:
        return None
    same = same_stage(before, after)
    if same and old == new:
        return None
    texts = (f"{old} of {counts[0]}", f"{new} of {counts[1]}")
    what = f"stages of {before.name}"
    if same:
        return Change(Aspect.DOMAIN, Direction.NEITHER, what, *texts, "the same stage at every point")
    if after.stage is None and stages_perhaps(before) <= frozenset(range(counts[1])):
        return Change(Aspect.DOMAIN, Direction.STRONGER, what, *texts)
    note = "some thread may no longer visit the stage that it visited"
    return Change(Aspect.DOMAIN, Direction.WEAKER, what, *texts, note)


def _bytes(before: Access, after: Access, kind: str) -> Change | None:
    if before.bytes == after.bytes:
        return None
    old, new = ("none" if each.bytes is None else f"{each.bytes} bytes" for each in (before, after))
    if not counts_room(kind) or before.bytes is None or after.bytes is None:
        return _kernel(f"bytes of {before.name}", old, new)
    way = Direction.WEAKER if after.bytes > before.bytes else Direction.STRONGER
    return Change(Aspect.STATEMENT, way, f"bytes of {before.name}", old, new)


def _expressions(before: Access, after: Access) -> list[Change]:
    """Coordinates and address: what the kernel computes."""
    changes: list[Change] = []
    for what, old, new in (
        ("coord", before.coord, after.coord),
        ("address", _some(before.address), _some(after.address)),
    ):
        was = ", ".join(spelled(each, before) for each in old)
        now = ", ".join(spelled(each, after) for each in new)
        if was != now:
            changes.append(_kernel(f"{what} of {before.name}", was or "none", now or "none"))
    return changes


def _source(before: Access, after: Access) -> list[Change]:
    """Where a copy reads: without it, a claim takes it for granted."""
    what = f"source of {before.name}"
    was, now = ("none" if each.source is None else spelled(each.source, each) for each in (before, after))
    if before.source is None or after.source is None:
        note = "another thing is taken for granted"
        return [] if was == now else [Change(Aspect.STATEMENT, Direction.WEAKER, what, was, now, note)]
    moved = base_change(before.source_base, after.source_base, what, BANK_PERIOD_BYTES)
    return [each for each in (_kernel(what, was, now) if was != now else None, moved) if each is not None]


def _some(expression: CFormula | None) -> tuple[CFormula, ...]:
    return () if expression is None else (expression,)


def map_changes(before: IndexMap, after: IndexMap) -> list[Change]:
    """The differences between two index maps: their box, the base that they read, their values."""
    changes: list[Change] = []
    old, new = ([extent for _, extent in each.over] for each in (before, after))
    if old != new:
        grown = len(old) == len(new) and all(a <= b for a, b in zip(old, new, strict=True))
        way = Direction.STRONGER if grown else Direction.WEAKER
        changes.append(Change(Aspect.DOMAIN, way, f"box of {before.name}", str(old), str(new)))
    changes += _map_base(before, after)
    boxes = ["" if each.onto is None else f" onto {list(each.onto)}" for each in (before, after)]
    was, now = (", ".join(spelled_values(each)) + box for each, box in zip((before, after), boxes, strict=True))
    if was != now:
        changes.append(_kernel(f"map {before.name}", was, now))
    return [*changes, *_unknown(before, after, _MAP_FIELDS)]


def _map_base(before: IndexMap, after: IndexMap) -> list[Change]:
    """The change of a map's base; without a base, any address or a tile's is meant."""
    if before.base == after.base:
        return []
    what = f"base of {before.name}"
    old, new = ("none of its own" if each.base is None else base_text(each.base) for each in (before, after))
    if not before.uses_base and not after.uses_base:
        return [_kernel(what, old, new)]
    if before.base is None or after.base is None:
        way = Direction.STRONGER if after.base is None else Direction.WEAKER
        return [Change(Aspect.DOMAIN, way, what, old, new)]
    moved = base_change(before.base, after.base, before.name, None)
    return [] if moved is None else [moved]


def listing_changes(before: Listing, after: Listing) -> list[Change]:
    """The differences between two listings.

    Their code is the kernel's own. Their target is not, and neither is the number of instructions that
    count.
    """
    changes: list[Change] = []
    if before.target != after.target:
        changes.append(Change(Aspect.DOMAIN, Direction.WEAKER, f"target of {before.name}", before.target, after.target))
    old, new = (sum(each.work in _COUNTED for each in listing.instructions) for listing in (before, after))
    if new < old:
        note = "instructions are left out"
        what = f"instructions of {before.name} that read registers"
        changes.append(Change(Aspect.DOMAIN, Direction.WEAKER, what, str(old), str(new), note))
    if canonical(before.instructions) != canonical(after.instructions):
        was, now = (f"{len(each.instructions)} instructions" for each in (before, after))
        changes.append(_kernel(f"code of {before.name}", was, now if now != was else f"{now}, others"))
    return [*changes, *_unknown(before, after, _LISTING_FIELDS)]


def _kernel(what: str, before: str, after: str) -> Change:
    """A difference of the kernel: a claim on it says neither less nor more."""
    return Change(Aspect.SUBJECT, Direction.NEITHER, what, before, after)


def _unknown(before: Subject, after: Subject, known: frozenset[str]) -> list[Change]:
    """Changes of fields that nothing above compares: their meaning for the claim is not known."""
    return [
        Change(Aspect.STATEMENT, Direction.WEAKER, f"{field.name} of {before.name}", "one", "another", "cannot be told")
        for field in fields(before)
        if field.name not in known and canonical(getattr(before, field.name)) != canonical(getattr(after, field.name))
    ]
