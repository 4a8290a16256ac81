"""What barriers of parts of a block say of a kernel's races, and what no barrier is trusted with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias

from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import WINDOW_ALIGNED
from swzverify.compiled.kernel.tiles import Range
from swzverify.compiled.kernel.whole import OBJECT_BYTES, Kernel
from swzverify.compiled.order.arrays import Arrays
from swzverify.compiled.order.at_once import AtOnce
from swzverify.compiled.order.barriers import Orders, Scope
from swzverify.compiled.order.events import LostError
from swzverify.compiled.order.groups import LEVELS
from swzverify.compiled.order.handed import Handed
from swzverify.compiled.order.instance import Instances
from swzverify.compiled.order.intervals import Meeting
from swzverify.compiled.order.lifetimes import STAYS, late_lines
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.pipelines import Pipelines, pipelines_of
from swzverify.compiled.order.proxies import Proxies
from swzverify.compiled.order.step import in_step, missed_by_lanes
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.scan.operand_claims import IN_WINDOW
from swzverify.compiled.scan.race_found import IN_ARRAYS, MOST_OF_PARTS, OF_COPY, TRIPS, Found
from swzverify.compiled.scan.race_meetings import MeetingJudge
from swzverify.compiled.scan.race_ranges import Ranges
from swzverify.ir.expr import Expr

UNFENCED: Final = "no proxy fence is known to order a write and an access through the async proxy"
ONE_WAIT: Final = "a warp that has waited for wgmma has waited for all that its warp group reads"
OF_WORD: Final = "it may write the word that a load reads to decide what threads do"
OF_OBJECT: Final = "it may touch the bytes of a barrier object"
OF_LINES: Final = (
    "where the lines begin that `wgmma` reads is not known; `--smem-align 1024` says it if its array is dynamic"
)
_Both: TypeAlias = tuple[SharedAccess, SharedAccess]
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
        of_cluster: What the barriers of the cluster say, where several blocks are looked at; else that is `of_block`.
        arrays: The arrays of the accesses.
        lost: Why nothing is known of such an order, in words; empty if something is.
        assumptions: What the order assumes.
    """

    def __init__(self, kernel: Kernel, orders: Orders, judge: MeetingJudge) -> None:
        self._kernel, self._judge = kernel, judge
        self.arrays = Arrays(kernel)
        self.of_block, self.of_warp = (in_step(kernel, scope, orders) for scope in (Scope.BLOCK, Scope.WARP))
        has_ranks = kernel.ranks.count > 1
        self.of_cluster = in_step(kernel, Scope.CLUSTER, orders) if has_ranks else self.of_block
        blocks = (each for each, scope in orders.barriers.items() if scope is Scope.BLOCK)
        is_whole = self.of_block.barriers.issuperset(blocks) and not orders.unmodelled
        self._pipelines: Pipelines | None = None
        self._of_couple: dict[Couple, Instances] = {}
        self._at_once: AtOnce | None = None
        self._ranges, self._touched = Ranges(kernel), dict[SharedAccess, list[Range] | None]()
        self.lost = ""
        self._late: list[int] = []
        if has_ranks or not is_whole or any(each.is_bulk or each.is_object for each in kernel.accesses):
            try:
                self._pipelines = pipelines_of(kernel, judge.never)
                judge.most_meetings = MOST_OF_PARTS
                self._late = late_lines(kernel, self._pipelines) if has_ranks else []
            except LostError as error:
                self._pipelines, self.lost = None, str(error)
        self._proxies = None if self._pipelines is None else Proxies(kernel, self._pipelines, judge.never)
        self.barriers: frozenset[int] = frozenset()
        if self._pipelines is not None:
            # Lemma 3 needs that nothing but barriers of all threads orders what is written with the loads.
            self.of_block, self.of_warp = (
                in_step(kernel, scope, orders, is_partly_ordered=True) for scope in (Scope.BLOCK, Scope.WARP)
            )
            self.of_cluster = in_step(kernel, Scope.CLUSTER, orders) if has_ranks else self.of_block
            handed = () if self._pipelines.handed is None else self._pipelines.handed.resolved
            missed = missed_by_lanes(kernel, self.of_warp.barriers, self._pipelines.of_lanes, handed)
            self.barriers = frozenset(self._pipelines.partial) - missed

    @property
    def is_known(self) -> bool:
        """Whether runs say what barriers of parts of the block order."""
        return self._pipelines is not None

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
        if self._late:
            found.append(STAYS.format("line " + ", ".join(map(str, self._late))))
        return found

    def never_at_once(self, one: SharedAccess, two: SharedAccess, couple: Couple) -> bool:
        """Whether two threads are never at both accesses at one time, as few runs say; they are kept as free."""
        if self._pipelines is None or self._kernel.ranks.count > 1:
            return False
        self._at_once = self._at_once or AtOnce(self._pipelines, self._kernel.accesses)
        is_free = self._at_once.never(one, two, couple)
        if is_free:
            self._judge.assumptions[TRIPS] = None
            self._judge.keep((one.index, two.index), _FREE)
        return is_free

    def is_apart_from_objects(self, access: SharedAccess) -> bool:
        """Whether a plain access has no byte in common with any barrier object that runs know."""
        if self._pipelines is None or self._kernel.ranks.count > 1 or access.is_bulk:
            return False
        objects = ((each, OBJECT_BYTES) for each in self._pipelines.objects)
        return self._ranges.are_apart((access.address, access.width_bytes), objects)

    def refined(self, asked: Asked) -> Iterator[Asked]:
        """The same question at the moments at which both threads can be there; closer to the truth each time."""
        known: set[Moment] | None = None
        for level in range(LEVELS if self._pipelines is not None else 0):
            moments = None if self._pipelines is None else self._pipelines.moments(asked.accesses, asked.couple, level)
            if moments is not None and (found := set(moments)) != known:
                known = found
                yield asked.at(moments)

    def decide_proxies(self) -> None:
        """Decide the pairs of which one is an operation of the async proxy, or a write to a barrier object."""
        accesses = [each for each in self._kernel.accesses if not each.reason]
        bulk = [each for each in accesses if each.is_bulk]
        writes = [each for each in accesses if each.is_write and not each.is_bulk]
        data = [each for each in writes if not each.is_object]
        for one in bulk:
            others = data if one.is_write else [*data, *(each for each in bulk if each.is_write)]
            self._decide(
                [(one, two) for two in others if not self._is_elsewhere(one, two) and not self._is_beside(one, two)]
            )
        if self.lost:
            return
        for one in bulk:
            for two in writes:
                if two.is_object:
                    self._keep_apart(one, two)
        for one in writes if self._pipelines is not None else ():
            for two in data if one.is_object and not one.is_atomic else ():
                self._keep_apart(one, two)
        if self._pipelines is not None and (handed := self._pipelines.handed) is not None:
            others = [each for each in accesses if each.is_write and each.index not in handed.stores]
            for index, one in product(sorted(handed.used), others):
                self._keep_from_word(handed, index, one)

    def _is_elsewhere(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether two accesses name distinct arrays: then it is kept that they are free."""
        is_distinct = self.arrays.are_distinct(one, two)
        if is_distinct:
            self._judge.assumptions[IN_ARRAYS] = None
            self._judge.keep((one.index, two.index), Found(RaceVerdict.FREE, "the arrays are distinct"))
        return is_distinct

    def _is_beside(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether a plain write is apart from all that an operation may touch: then it is kept that they are free."""
        places = self._places_of(one) if not two.is_bulk and self._kernel.ranks.count == 1 else None
        ranges = [(each.address, each.width_bytes) for each in places or ()]
        is_apart = bool(ranges) and self._ranges.are_apart((two.address, two.width_bytes), ranges)
        if is_apart:
            self._judge.assumptions[TRIPS] = None
            self._judge.keep((one.index, two.index), _FREE)
        return is_apart

    def _places_of(self, one: SharedAccess) -> list[Range] | None:
        """The bytes that an operation of the async proxy may touch; None if they are not known."""
        if one not in self._touched:
            self._touched[one] = None if self._proxies is None else self._proxies.places(one)
        return self._touched[one]

    def _why_open(self, one: SharedAccess, reason: str) -> str:
        """Why nothing is known of an operation, where a reason says it of those whose bytes are known."""
        is_rounded = one.operand is not None and any(each.is_rounded for each in self._places_of(one) or ())
        return OF_LINES if is_rounded else reason

    def _decide(self, pairs: Sequence[_Both]) -> None:
        """Keep the verdicts on pairs of one operation."""
        for level in range(LEVELS if self._proxies is not None else 0):
            pairs = self._unordered(pairs, level)
        for one, two in pairs:
            is_free = self._is_apart(one, two)
            reason = self.lost or self._why_open(one, OF_COPY if two.is_bulk else UNFENCED)
            self._judge.keep((one.index, two.index), _FREE if is_free else Found(RaceVerdict.UNKNOWN, reason))
            if not is_free and self.lost:
                # Where no order is known, one access stands for all others that the operation may meet.
                break

    def _unordered(self, pairs: Sequence[_Both], level: int) -> list[_Both]:
        """The pairs that may touch a common byte at some moment; it is kept that the others are free."""
        asked = {pair: found for pair in pairs if (found := self._at_moments(*pair, level)) is not None}
        never = self._judge.free_ones([each for of_pair in asked.values() for each in of_pair])
        left: list[_Both] = []
        for pair in pairs:
            if pair in asked and never.issuperset(asked[pair]):
                self._judge.assumptions[TRIPS] = None
                self._judge.keep((pair[0].index, pair[1].index), _FREE)
            else:
                left.append(pair)
        return left

    def _at_moments(self, one: SharedAccess, two: SharedAccess, level: int) -> list[Asked] | None:
        """The questions whether two accesses meet, for each moment; None if none is known, or they surely do."""
        moments = None if self._proxies is None else self._proxies.moments(one, two, level)
        if moments is None:
            return None
        open_ones = [each for each in moments if each.surely_meets(self._kernel.leaves) is not False]
        if any(each.surely_meets(self._kernel.leaves) for each in open_ones):
            return None
        return [each for moment in open_ones for each in self._at(one, two, moment)]

    def _at(self, one: SharedAccess, two: SharedAccess, moment: Moment) -> Iterator[Asked]:
        """The question for one moment, for two threads and for one if one can make both."""
        address, width = moment.addresses[0], one.width_bytes if moment.widths is None else moment.widths[0]
        one = replace(one, address=address, width_bytes=width)
        ranks = [{each // self._kernel.ranks.threads for each in threads} for threads in moment.threads or ()]
        is_apart = not ranks or ranks[0] != ranks[1]
        if self._kernel.ranks.count > 1 and is_apart:
            yield self._asked(one, two, Couple.RANKS).at([moment])
            if ranks and ranks[0].isdisjoint(ranks[1]):
                return
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
            self._judge.keep((one.index, two.index), Found(RaceVerdict.UNKNOWN, self._why_open(one, OF_OBJECT)))

    def _keep_from_word(self, handed: Handed, index: int, write: SharedAccess) -> None:
        """Keep that a write may change the word of a load that decides what threads do."""
        load = handed.loads[index].access
        if self.arrays.are_distinct(write, load):
            self._judge.assumptions[IN_ARRAYS] = None
        elif not handed.is_apart(index, write) and not (
            self._is_far(write, handed.places(index), load.width_bytes) or self._is_apart(write, load)
        ):
            self._judge.keep((write.index, index), Found(RaceVerdict.UNKNOWN, OF_WORD))

    def _is_far_from_objects(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether what an operation touches has no byte in common with any barrier object."""
        objects = () if self._pipelines is None else self._pipelines.objects
        return two.is_object and self._is_far(one, objects, OBJECT_BYTES)

    def _is_far(self, one: SharedAccess, places: Sequence[Expr], size: int) -> bool:
        """Whether what an operation of the async proxy touches has no byte in common with some bytes behind places."""
        touched = self._proxies.places(one) if self._proxies is not None and one.is_bulk else None
        return touched is not None and all(
            Moment((each.address, key), None, None, (each.width_bytes, size)).surely_meets(self._kernel.leaves) is False
            for each in touched
            for key in places
        )

    def _is_apart(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether two accesses touch distinct bytes whatever is ordered."""
        return one.operand is None and all(
            self._judge.is_free(self._asked(first, second, couple))
            for first, second in ((one, two), (two, one))
            for couple in (Couple.ANY, Couple.SELF, *([Couple.RANKS] if self._kernel.ranks.count > 1 else []))
        )

    def _asked(self, one: SharedAccess, two: SharedAccess, couple: Couple) -> Asked:
        is_own = couple is Couple.SELF
        meeting = Meeting(one.index, two.index, ((), ()), (), (), is_own=is_own)
        return Asked(self._instances(couple), meeting, (one, two))

    def _instances(self, couple: Couple) -> Instances:
        if couple not in self._of_couple:
            of_couple = {Couple.ANY: self.of_block, Couple.RANKS: self.of_cluster}
            sharing = of_couple.get(couple, self.of_warp).sharing
            self._of_couple[couple] = Instances(self._kernel, sharing, couple, self.of_warp.sharing)
        return self._of_couple[couple]
