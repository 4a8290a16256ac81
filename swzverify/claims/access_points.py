"""What claims about accesses share: domain, scope in words, and the table of a warp's lanes."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.claims.tile_points import address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.hardware import BANK_WORD_BYTES, BANKS, CHUNKS_PER_LINE, SECTOR_BYTES, Kind, evidence
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Expr, conjunction
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE
from swzverify.subjects.memory import base_text
from swzverify.subjects.plain_access import LaneRecord
from swzverify.subjects.unknown import columns as own_columns


def access_enough(access: Access, granule_bytes: int) -> tuple[tuple[str, int], ...]:
    """How many bases stand for all, where shifts by multiples of `granule_bytes` change nothing."""
    if access.origin.variable is None:
        return ()
    period = max(granule_bytes, address_span(access.tile))
    return ((access.origin.name, base_values(access.origin, period)),)


def access_domain(access: Access, granule_bytes: int) -> Domain:
    """Every lane, warp, iteration, stage and base that satisfies the assumptions, and every unknown.

    It is about one lane at a time: an obligation on several lanes needs a copy of the unknowns for each.
    """
    return Domain(access.variables, access.lowered.assumption, access_enough(access, granule_bytes))


def source_domain(access: Access, granule_bytes: int) -> Domain:
    """The same, for what reads where the lanes of a copy read."""
    place = access.source_origin.variable
    nodes = access.variables if place is None else (*access.variables, place)
    return Domain(nodes, access.lowered.assumption, access_enough(access, granule_bytes))


def exists_active(access: Access) -> Expr:
    """Some lane is active in some case: without it a claim says nothing."""
    return conjunction([access.lowered.assumption, access.lowered.active])


def access_scope(access: Access, *, hardware: bool, base: bool = True) -> str:
    """Everything that a proof covers."""
    parts = [f"all {access.warps} warps" if access.warps > 1 else "the warp"]
    if access.threads % 32:
        parts.append(f"{access.threads} threads")
    parts += [*access.describe_loops(), *access.describe_unknowns()]
    if access.predicate is not None:
        parts.append(f"lanes with {access.predicate}")
    parts += [f"assuming {condition}" for condition in access.assume]
    if base and access.tile is not None and access.tile.stages > 1:
        parts.append(f"all {access.tile.stages} stages" if access.stage is None else f"stage {access.stage}")
    if base and access.place is not None:
        parts.append(access.place.describe())
    elif base and (access.tile is not None or access.origin.variable is not None or access.origin.start_bytes):
        parts.append(base_text(access.base if access.tile is None else access.tile.base))
    parts.append(access.instruction.name)
    text = ", ".join(parts)
    if hardware:
        text += f" on {access.target.name} ({evidence(access.target, access.instruction)})"
        if access.instruction.kind is Kind.CP_ASYNC:
            text += f", {_sources(access)}"
    return text


def _sources(access: Access) -> str:
    """Where a copy reads, or the rule's own condition: semantics.md, section 7."""
    if access.source is None:
        lanes = access.instruction.group_lanes
        who = "octet" if lanes == CHUNKS_PER_LINE else f"group of {lanes} lanes"
        return f"assuming that each {who} reads one 128-byte line in order"
    return f"sources at {access.source}, {base_text(access.source_base)}"


def aligned_addresses(access: Access, point: Mapping[str, int]) -> list[int | None] | None:
    """The lanes' addresses at a point; None where no lane is active or one is misaligned, or its source."""
    records = access.lanes_at(point)
    used = [each for record in records for each in (record.address_bytes, record.source_bytes) if each is not None]
    is_aligned = used and not any(address % access.instruction.width_bytes for address in used)
    return [record.address_bytes for record in records] if is_aligned else None


def lane_where(record: LaneRecord) -> str:
    """A lane's address in words."""
    return f"address {record.address_bytes}" + ("" if record.in_whole_bytes else " and some bits")


def lane_table(access: Access, point: Mapping[str, int], note: str, marks: Mapping[int, str]) -> Counterexample:
    """The table of all lanes at a point; the marked lanes collide, and inactive lanes have no cells.

    A lane has a word and a bank in shared memory, and a sector in global memory.
    """
    is_global = access.instruction.is_global
    rest = ("address", "sector") if is_global else ("address", "word", "bank")
    if access.source is not None:
        rest = (*rest, "source")
    unit_bytes = SECTOR_BYTES if is_global else BANK_WORD_BYTES
    in_tile = access.tile is not None and not is_global
    if in_tile:
        rest = ("coord", "offset", *rest)
    own = own_columns(access.read_unknowns, rest)
    rows: list[Row] = []
    for record in access.lanes_at(point):
        address = record.address_bytes
        unit = None if address is None else address // unit_bytes
        cells = (record.lane, *(record.values or (None,) * len(own)))
        cells += (record.coord, record.offset_elements, address, unit) if in_tile else (address, unit)
        if not is_global:
            cells += (None if unit is None else unit % BANKS,)
        if access.source is not None:
            cells += (record.source_bytes,)
        rows.append(Row(cells, marks.get(record.lane, "")))
    free = {name: value for name, value in point.items() if name != LANE}
    return Counterexample(access.binding(free), note, ("lane", *own, *rest), tuple(rows))
