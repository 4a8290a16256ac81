"""Two accesses: the same lanes active, at the same addresses, in every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from swzverify.claims.stated import equal
from swzverify.claims.tile_points import address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Truths
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Expr, binary, compare, conjunction, negation
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.integers import Integer
from swzverify.subjects import Access
from swzverify.subjects.memory import Origin
from swzverify.subjects.plain_access import LaneRecord
from swzverify.subjects.unknown import columns as own_columns
from swzverify.subjects.unknown import own_values


def equal_lanes(first: Access, other: Access, places: tuple[Origin, Origin]) -> Always:
    """In every case the same lanes are active, each at the same address; both share their loops."""
    one, two = first.moved(places[0]), other.moved(places[1])
    (a, active_a), (b, active_b) = _lowered(one), _lowered(two)
    same = equal(a, b)
    either = binary(BinaryOperator.OR, negation(active_a), same)
    holds = conjunction([compare(Cmp.EQ, active_a, active_b), either])
    nodes = [node for node in one.variables if node.name != one.origin.name]
    nodes += [node for node in two.variables if node.name != two.origin.name and node not in nodes]
    base = places[0].variable
    if base is not None:
        nodes.append(base)
    span = max(address_span(first.tile), address_span(other.tile))
    enough = () if base is None else ((base.name, base_values(places[0], span)),)

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        (on_a, at_a), (on_b, at_b) = _plain(one, arrays), _plain(two, arrays)
        return np.asarray(True), (on_a == on_b) & (~on_a | (at_a == at_b))

    return Always(Domain(tuple(nodes), enough=enough), holds, definition)


def _lowered(access: Access) -> tuple[Integer, Expr]:
    lowered = access.lowered
    # An iteration that an access's assumption excludes, or that does not exist for it, is one in
    # which no lane runs.
    runs = conjunction([lowered.assumption, lowered.active])
    return ints.multiply(lowered.position, ints.integer(access.unit_bits)), runs


def _plain(access: Access, arrays: Arrays) -> tuple[Truths, Numbers]:
    assumed, active, position, _ = access.definition(arrays)
    return assumed & active, position * access.unit_bits


def over_common_loops(first: Access, other: Access) -> tuple[Access, Access]:
    """Both over the longer loops of the two: iterations that only one has are compared too."""
    rooms = [dict(zip((loop.name for loop in x.loops), x.loop_room, strict=True)) for x in (first, other)]
    common = {name: max(room, rooms[1].get(name, 1)) for name, room in rooms[0].items()}
    return first.within(common), other.within(common)


def lanes_of(access: Access, point: Mapping[str, int]) -> tuple[LaneRecord, ...]:
    """The lanes of an access at a point; where it does not run, no lane is active."""
    nothing = tuple(LaneRecord(lane, None, None, None) for lane in range(LANES))
    return access.lanes_at(point) if access.assumed_at(point) else nothing


def lanes_that_differ(
    a: Access, b: Access, point: Mapping[str, int], lanes: Sequence[Sequence[LaneRecord]], differing: Sequence[int]
) -> Counterexample:
    """All lanes of both at a point, the differing ones marked."""
    # With the bit where either side has elements that are no whole bytes.
    in_bits = min(a.unit_bits, b.unit_bits) < 8
    rows: list[Row] = []
    note = ""
    own = tuple(dict.fromkeys(each for x in (a, b) for each in x.read_unknowns))
    for one, two in zip(*lanes, strict=True):
        shown = [_shown_address(record, in_bits=in_bits) for record in (one, two)]
        if one.lane == differing[0]:
            note = f"lane {one.lane}: {a.name} gives {shown[0]}, {b.name} gives {shown[1]}"
        values = own_values(own, point, one.lane).values()
        rows.append(Row((one.lane, *values, *shown), "x" if one.lane in differing else ""))
    note += "".join(_not_there(x, point) for x in (a, b) if not x.exists_at(point))
    columns = ("lane", *own_columns(own, (a.name, b.name)), a.name, b.name)
    return Counterexample(a.binding({k: v for k, v in point.items() if k != "lane"}), note, columns, tuple(rows))


def _not_there(access: Access, point: Mapping[str, int]) -> str:
    """Why an access does not run at a point."""
    where = ", ".join(f"{loop.name} = {loop.value(point.get(loop.name, 0))}" for loop in access.loops)
    return f"; for {access.name} there is no iteration {where}, as a thread's value leaves C's range"


def _shown_address(record: LaneRecord, *, in_bits: bool) -> int | str | None:
    if record.address_bytes is None or not in_bits:
        return record.address_bytes
    return f"{record.address_bytes}.{record.bit}"
