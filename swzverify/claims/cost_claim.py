"""`conflict_free` and `wavefronts`: what a warp instruction costs in the worst case."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from swzverify.claims.access_points import access_enough, access_scope, aligned_addresses, exists_active, lane_table
from swzverify.claims.aligned import aligned_goals, misaligned
from swzverify.claims.claim import Claim
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.places import Places, numbers
from swzverify.claims.verdict import Counterexample, Measure, WarpMeasure
from swzverify.core.words import spans
from swzverify.engines.obligations import Always, AnyCost, Arrays, CopyCost, Cost, GatherCost, Numbers, Truths
from swzverify.hardware import BANK_WORD_BYTES, BANKS, AccessCost, GroupCost, Space, access_cost, evidence, turn_bytes
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.subjects import Access
from swzverify.subjects.plain_access import sources


class CostClaim(Claim):
    """A claim on what the warp instructions of one access to shared memory take."""

    __slots__ = ()
    space = Space.SHARED
    access: Access

    @property
    @abstractmethod
    def limit(self) -> int | None:
        """The wavefronts that a warp instruction may take; None: its active lanes' minimum."""

    @property
    def reaches(self) -> int | None:
        """The wavefronts that some warp instruction must take; None where nothing is claimed."""
        return None

    def plan(self) -> Plan:
        """Alignment, which the rule presumes, and the cost."""
        return cost_plan(self.access, self.limit)

    def scope(self) -> str:
        """The scope in words: every warp instruction."""
        return access_scope(self.access, hardware=True)

    def evidence(self) -> str:
        """How well the cost rule is known for the instruction and target."""
        return str(evidence(self.access.target, self.access.instruction))

    def broken(self, *sides: Places) -> list[int]:
        """The misaligned lanes; without any, those that collide in warp instructions that cost too much."""
        (lanes,) = sides
        bad = numbers(lanes.misaligned)
        for row, each in enumerate([] if bad else lanes.rows):
            addresses, access = each.addresses, self.access
            if any(address is not None for address in addresses):
                found = access_cost(access.instruction, addresses, access.target, sources=each.read)
                if exceeds(found, self.limit):
                    # Octets that take one wavefront each single out no lane.
                    marks = colliding(found, addresses)[0] or found.groups[0].lanes
                    bad += [row * len(addresses) + lane for lane in sorted(marks)]
        return bad

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Evaluate a point in plain integers, and give the lanes that collide."""
        return cost_replay(self.access, self.limit, goal, point, "at most" if self.reaches is None else "exactly")

    def exceeded(self, measure: Measure) -> WarpMeasure | None:
        """The case of these worst ones that breaks the claim, if one does."""
        if self.limit is None:
            return measure.most_conflicts if measure.bank_conflicts > 0 else None
        return measure.most_wavefronts if measure.wavefronts > self.limit else None


def cost_plan(access: Access, at_most: int | None) -> Plan:
    """What claims on costs ask; in global memory sectors stand for wavefronts."""
    aligned, cost = aligned_goals(access, "aligned"), cost_goal(access, at_most)
    lanes = access.instruction.address_lanes
    if at_most is not None and at_most >= lanes:
        # An aligned lane has at most one word in a bank; a copied one is in one class.
        # In global memory an aligned lane lies in one sector.
        each = "touches at most one sector" if access.instruction.is_global else "takes at most one wavefront"
        note = f"a warp instruction {each} for each lane with an address, {lanes} here"
        fact = Fact(holds=True, note=note, decides=True)
        return Plan(aligned, (fact,), exists_active(access), measured=cost)
    return Plan((*aligned, Goal(cost, "cost")), exists=exists_active(access))


def cost_goal(access: Access, at_most: int | None) -> AnyCost:
    """The cost of every warp instruction over byte addresses, for every choice of lanes' values."""
    lowered = access.lowered
    bits_per_unit = ints.integer(8 // access.unit_bits)
    address = ints.divide(lowered.position, bits_per_unit)
    granule = turn_bytes(access.instruction)

    def definition(arrays: Arrays) -> tuple[Truths, Numbers, Truths]:
        assumed, active, position, _ = access.definition(arrays)
        return assumed, position // (8 // access.unit_bits), active

    enough = access_enough(access, max(granule, access.instruction.width_bytes))
    place = None if access.source is None else access.source_origin.variable
    nodes = (access.lane, *access.free, *(() if place is None else (place,)))
    cost = Cost(
        Domain(nodes, lowered.assumption, enough),
        access.lane,
        address.bits,
        lowered.active,
        access.instruction,
        at_most,
        definition,
    )
    if lowered.source is not None:
        return CopyCost(cost, lowered.source.bits, lambda arrays: sources(access, arrays))
    return GatherCost(cost, access.own) if access.own else cost


def cost_at(access: Access, point: Mapping[str, int]) -> AccessCost | None:
    """The cost at one point, by the plain rule; None where no lane is active or one is misaligned."""
    addresses = aligned_addresses(access, point)
    if addresses is None:
        return None
    read = None if access.source is None else [each.source_bytes for each in access.lanes_at(point)]
    return access_cost(access.instruction, addresses, access.target, sources=read)


def exceeds(found: AccessCost, at_most: int | None) -> bool:
    """Whether a warp instruction takes more than is claimed; without a number, than its minimum."""
    return found.wavefronts > (found.minimum if at_most is None else at_most)


def measured(access: Access, point: Mapping[str, int]) -> WarpMeasure | None:
    """The cost at a point as reports show it; None where no lane is active or one is misaligned."""
    found = cost_at(access, point)
    if found is None:
        return None
    free = {name: value for name, value in point.items() if name != "lane"}
    return WarpMeasure(found.wavefronts, found.minimum, access.binding(free), free)


def cost_replay(
    access: Access, at_most: int | None, goal: Goal, point: Mapping[str, int], word: str = "at most"
) -> Counterexample | None:
    """The counterexample of a warp instruction, in plain integers; None if it keeps the claim.

    `word` is the claim's word before its number.
    """
    if isinstance(goal.obligation, Always):
        return misaligned(access, point)
    if not access.assumed_at(point):
        return None
    found = cost_at(access, point)
    if found is None or not exceeds(found, at_most):
        return None
    marks, worst = colliding(found, [record.address_bytes for record in access.lanes_at(point)])
    claimed = f"instead of {found.minimum}" if at_most is None else f"where {word} {at_most} are claimed"
    least = "" if found.is_exact else "at least "
    few = f"{least}{found.wavefronts} wavefronts {claimed}"
    note = f"{access.instruction.name} takes {few}" + (f"; {worst}" if worst else "")
    return lane_table(access, point, note, marks)


def colliding(found: AccessCost, addresses: Sequence[int | None]) -> tuple[dict[int, str], str]:
    """The lanes of the worst bank of the costliest group, in marks and words; or `octet_marks`."""
    worst = max(found.groups, key=lambda group: group.wavefronts)
    if worst.bank is None:
        return octet_marks(worst)
    lanes = [lane for lane in worst.lanes if worst.bank in banks_of(addresses[lane], found.instruction.words)]
    distinct = len({addresses[lane] for lane in lanes})
    text = f"lanes {spans(lanes)} touch {distinct} different addresses in bank {worst.bank}"
    return dict.fromkeys(lanes, "x"), text


def banks_of(address: int | None, words: int) -> list[int]:
    """The banks of so many words from a byte address on.

    >>> banks_of(124, 2), banks_of(None, 1)
    ([31, 0], [])
    """
    return [] if address is None else [(address // BANK_WORD_BYTES + word) % BANKS for word in range(words)]


def octet_marks(octet: GroupCost) -> tuple[dict[int, str], str]:
    """The lanes of an octet that copy, each marked with the number of its class, and that in words.

    No bank is to blame, so no lane is singled out: lanes with one number share a wavefront, lanes
    with different numbers cannot. Lanes that do not copy, as a lower one has their address, have no
    mark; nor has an octet that takes one wavefront.

    >>> octet_marks(GroupCost((0, 1, 2, 3), 2, None, ((0, 2), (1, 3))))
    ({0: '1', 2: '1', 1: '2', 3: '2'}, 'lanes 0, 2 | 1, 3 copy in wavefronts of their own')
    >>> octet_marks(GroupCost((0, 1), 1, None, ((0, 1),)))
    ({}, '')
    """
    if octet.wavefronts == 1:
        return {}, ""
    marks = {lane: str(number) for number, lanes in enumerate(octet.apart, 1) for lane in lanes}
    parts = " | ".join(spans(lanes) for lanes in octet.apart)
    return marks, f"lanes {parts} copy in wavefronts of their own"
