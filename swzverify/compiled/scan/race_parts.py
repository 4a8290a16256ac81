"""What barriers of parts of a block say of a kernel's races, and what no barrier is trusted with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import WINDOW_ALIGNED
from swzverify.compiled.kernel.whole import OBJECT_BYTES, Kernel
from swzverify.compiled.order.arrays import Arrays
from swzverify.compiled.order.barriers import Orders, Scope
from swzverify.compiled.order.events import LostError
from swzverify.compiled.order.instance import Instances
from swzverify.compiled.order.intervals import Meeting
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.pipelines import LEVELS, Pipelines, pipelines_of
from swzverify.compiled.order.proxies import Proxies
from swzverify.compiled.order.step import in_step, missed_by_lanes
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.scan.operand_claims import IN_WINDOW
from swzverify.compiled.scan.race_meetings import IN_ARRAYS, OF_COPY, TRIPS, Found, MeetingJudge

UNFENCED: Final = "no order with a fence of the proxies is known of a write and what the async proxy does"
ONE_WAIT: Final = "a warp that has waited for wgmma has waited for all that its warp group reads"
OF_OBJECT: Final = "it may touch the bytes of a barrier object"
_FREE: Final = Found(RaceVerdict.FREE, "the runs of a few threads decide it", ("runs",))


def is_of_proxies(one: SharedAccess, two: SharedAccess) -> bool:
    """Whether the order of two accesses needs a fence of the proxies, or ends where an operation that reads does."""
    for first, second in ((one, two), (two, one)):
        if first.is_bulk and (not first.is_write or (second.is_write and not second.is_bulk)):
            return True
    return False


class Parts:
    """The order by barriers of parts of the block.

    Attributes:
        barriers: The instructions that are known and right, those of the whole block and of warps left out.
        of_block, of_warp: What the barriers of the whole block and of whole warps say beside them.
        arrays: The arrays of the accesses.
        lost: Why nothing is known of such an order, in words; empty if something is.
        assumptions: What the order assumes.
    """

    def __init__(self, kernel: Kernel, orders: Orders, judge: MeetingJudge) -> None:
        self._kernel, self._judge = kernel, judge
        self.arrays = Arrays(kernel)
        self.of_block, self.of_warp = (in_step(kernel, scope, orders) for scope in (Scope.BLOCK, Scope.WARP))
        blocks = (each for each, scope in orders.barriers.items() if scope is Scope.BLOCK)
        is_whole = self.of_block.barriers.issuperset(blocks) and not orders.unmodelled
        self._pipelines: Pipelines | None = None
        self._of_couple: dict[Couple, Instances] = {}
        self.lost = ""
        if not is_whole or any(each.is_bulk or each.is_object for each in kernel.accesses):
            try:
                self._pipelines = pipelines_of(kernel, judge.never)
            except LostError as error:
                self.lost = str(error)
        self._proxies = None if self._pipelines is None else Proxies(kernel, self._pipelines, judge.never)
        self.barriers: frozenset[int] = frozenset()
        if self._pipelines is not None:
            # Lemma 3 needs that nothing but barriers of all threads orders what is written with the loads.
            self.of_block, self.of_warp = (
                in_step(kernel, scope, orders, is_partly_ordered=True) for scope in (Scope.BLOCK, Scope.WARP)
            )
            missed = missed_by_lanes(kernel, self.of_warp.barriers, self._pipelines.named)
            self.barriers = frozenset(self._pipelines.partial) - missed

    @property
    def assumptions(self) -> list[str]:
        """What the order assumes, a sentence each."""
        found = [] if self._pipelines is None else self._pipelines.assumptions
        if self._proxies is not None and self._proxies.is_in_window:
            found.append(IN_WINDOW)
        if self._proxies is not None and self._proxies.is_window_aligned:
            found.append(WINDOW_ALIGNED)
        if self._proxies is not None and self._proxies.has_products:
            found.append(ONE_WAIT)
        return found

    def refined(self, asked: Asked) -> Iterator[Asked]:
        """The same question at the moments at which both threads can be there; closer to the truth each time."""
        for level in range(LEVELS if self._pipelines is not None else 0):
            moments = None if self._pipelines is None else self._pipelines.moments(asked.accesses, asked.couple, level)
            if moments is not None:
                yield asked.at(moments)

    def decide_proxies(self) -> None:
        """Decide the pairs of which one is an operation of the async proxy, or a write to a barrier object."""
        accesses = [each for each in self._kernel.accesses if not each.reason]
        bulk = [each for each in accesses if each.is_bulk]
        writes = [each for each in accesses if each.is_write and not each.is_bulk]
        data = [each for each in writes if not each.is_object]
        for one in bulk:
            others = data if one.is_write else [*data, *(each for each in bulk if each.is_write)]
            near = [two for two in others if not self._is_elsewhere(one, two)]
            for two in near:
                # Where no order is known, one access stands for all others that the operation may meet.
                if not self._decide(one, two) and self.lost:
                    break
        if self.lost:
            return
        for one in bulk:
            for two in writes:
                if two.is_object:
                    self._keep_apart(one, two)
        for one in writes if self._pipelines is not None else ():
            for two in data if one.is_object and not one.is_atomic else ():
                self._keep_apart(one, two)

    def _is_elsewhere(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether two accesses name distinct arrays: then it is kept that they are free."""
        is_distinct = self.arrays.are_distinct(one, two)
        if is_distinct:
            self._judge.assumptions[IN_ARRAYS] = None
            self._judge.keep((one.index, two.index), Found(RaceVerdict.FREE, "the arrays are distinct"))
        return is_distinct

    def _decide(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether a pair is free; the verdict on it is kept."""
        asked = self._asked(one, two, Couple.ANY)
        is_free = self._is_ordered(asked) or self._is_apart(one, two)
        reason = self.lost or (OF_COPY if two.is_bulk else UNFENCED)
        self._judge.keep(asked.key, _FREE if is_free else Found(RaceVerdict.UNKNOWN, reason))
        return is_free

    def _is_ordered(self, asked: Asked) -> bool:
        for level in range(LEVELS if self._proxies is not None else 0):
            moments = None if self._proxies is None else self._proxies.moments(*asked.accesses, level)
            if moments is not None and self._are_free(asked, moments):
                self._judge.assumptions[TRIPS] = None
                return True
        return False

    def _are_free(self, asked: Asked, moments: list[Moment]) -> bool:
        """Whether two accesses touch distinct bytes at each moment."""
        open_ones = [each for each in moments if each.surely_meets() is not False]
        if any(each.surely_meets() for each in open_ones):
            return False
        return all(self._judge.is_free(each) for moment in open_ones for each in self._at(asked, moment))

    def _at(self, asked: Asked, moment: Moment) -> Iterator[Asked]:
        """The question for one moment, for two threads and for one if one can make both."""
        one, two = asked.accesses
        address, width = moment.addresses[0], one.width_bytes if moment.widths is None else moment.widths[0]
        one = replace(one, address=address, width_bytes=width)
        yield self._asked(one, two, Couple.ANY).at([moment])
        if moment.is_one_warp is None:
            # Either access may be the later one of a thread.
            yield self._asked(one, two, Couple.SELF).at([moment])
            yield self._asked(two, one, Couple.SELF).at([moment.reversed()])

    def _keep_apart(self, one: SharedAccess, two: SharedAccess) -> None:
        if self.arrays.are_distinct(one, two):
            self._judge.assumptions[IN_ARRAYS] = None
            return
        if not self._is_far_from_objects(one, two) and not self._is_apart(one, two):
            self._judge.keep((one.index, two.index), Found(RaceVerdict.UNKNOWN, OF_OBJECT))

    def _is_far_from_objects(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether what an operation touches has no byte in common with any barrier object."""
        if self._proxies is None or self._pipelines is None or not (one.is_bulk and two.is_object):
            return False
        places, objects = self._proxies.places(one), self._pipelines.objects
        return places is not None and all(
            Moment((each.address, key), None, None, (each.width_bytes, OBJECT_BYTES)).surely_meets() is False
            for each in places
            for key in objects
        )

    def _is_apart(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether two accesses touch distinct bytes whatever is ordered."""
        return one.operand is None and all(
            self._judge.is_free(self._asked(first, second, couple))
            for first, second in ((one, two), (two, one))
            for couple in (Couple.ANY, Couple.SELF)
        )

    def _asked(self, one: SharedAccess, two: SharedAccess, couple: Couple) -> Asked:
        is_own = couple is Couple.SELF
        meeting = Meeting(one.index, two.index, ((), ()), (), (), is_own=is_own)
        return Asked(self._instances(couple), meeting, (one, two))

    def _instances(self, couple: Couple) -> Instances:
        if couple not in self._of_couple:
            sharing = (self.of_block if couple is Couple.ANY else self.of_warp).sharing
            self._of_couple[couple] = Instances(self._kernel, sharing, couple, self.of_warp.sharing)
        return self._of_couple[couple]
