"""Races that a run shows: the interpreter confirms witnesses of races and divergent barriers, and looks for more.

The analysis of paths over-approximates which accesses can meet and which barriers some threads miss. This
supports `free`, never `race`: a path may be impossible for a reason that the analysis does not see. So a
race and a divergent barrier need a launch that shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import BarrierFinding, KernelRaces, Pair, RaceVerdict
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.race_barriers import Values
from swzverify.compiled.scan.race_search import BOXES, with_shown, with_verdict
from swzverify.compiled.trial.clocks import STEPS, STEPS_OF_WITNESS, Launches, Outcome, Shown

MOST_RUNS: Final = 12
"""Witnesses of one kernel that are run; one race is enough for its verdict."""
_MOST_BENIGN: Final = 128
"""The same where all pairs are harmless: then each of them has to be shown."""
NOT_SHOWN: Final = "no barrier is known to order the accesses, and no run that was tried shows a race"
TWO_VALUES: Final = "a proof says that both threads write one value, and a run writes two: one of them is wrong"
MAY_BE_ONE: Final = "nothing orders the stores, but no run shows that they write two values: they may write one"
NOT_MISSED: Final = "{}, and no run that was tried shows it"
_SHOWN: Final = (RaceVerdict.RACE, RaceVerdict.DEPENDS, RaceVerdict.BENIGN)


@dataclass(frozen=True, slots=True)
class Runs:
    """The launches of a kernel that may be run.

    Attributes:
        module: The module of the kernel.
        function: The kernel.
        block: The shape of its block.
        facts: What is given of its parameters and of the grid.
        smem: The bytes of dynamic shared memory; None if not given.
        is_lockstep: Whether the lanes of a warp run each instruction together.
    """

    module: Module
    function: Function
    block: BlockShape
    facts: Facts
    smem: int | None = None
    is_lockstep: bool = False

    def confirmed(self, found: KernelRaces, parting: Callable[[], Sequence[Values]] = list) -> KernelRaces:
        """The verdicts, with `unknown` in place of races and divergent barriers that no run shows.

        `parting` gives launches in which threads may part before a barrier.
        """
        races = [at for at, each in enumerate(found.pairs) if each.verdict in _SHOWN]
        is_harmless = all(found.pairs[at].verdict is RaceVerdict.BENIGN for at in races)
        most = _MOST_BENIGN if is_harmless else MOST_RUNS
        pairs, has_boxes = self._run(found.pairs, races[:most], STEPS_OF_WITNESS)
        pairs = [_not_shown(each) if at in races[most:] else each for at, each in enumerate(pairs)]
        if races and not any(each.verdict in _SHOWN for each in pairs):
            pairs, has_boxes = self._at_length(found.pairs, pairs)
        if has_boxes:
            found = replace(found, assumptions=(*found.assumptions, BOXES))
        missed: Mapping[int, tuple[tuple[str, int], ...]] = {}
        if any(each.verdict is RaceVerdict.DIVERGENT for each in found.barriers):
            missed = self._launches.missed_barriers(parting())
        barriers = [_barrier(each, missed) for each in found.barriers]
        found = with_verdict(found, pairs, barriers)
        return self.searched(found) if found.verdict is RaceVerdict.UNKNOWN else found

    def searched(self, found: KernelRaces) -> KernelRaces:
        """The verdicts, with the races and hangs that a few launches show."""
        return with_shown(found, self.module, self.function, self._launches.search())

    @property
    def _launches(self) -> Launches:
        facts = self.facts
        conditions = tuple(each.condition for each in facts.assumed)
        return Launches(
            self.module, self.function, self.block, facts.arguments, conditions, self.smem, self.is_lockstep
        )

    def _at_length(self, found: Sequence[Pair], pairs: list[Pair]) -> tuple[list[Pair], bool]:
        """The pairs behind one longer run, for the race that the fewest trips come before."""
        first = min((at for at, each in enumerate(found) if each.verdict in _SHOWN), key=lambda at: _trips(found[at]))
        shown, has_boxes = self._run(found, [first], STEPS)
        return [*pairs[:first], shown[first], *pairs[first + 1 :]], has_boxes

    def _run(self, found: Sequence[Pair], races: Sequence[int], most_steps: int) -> tuple[list[Pair], bool]:
        """The pairs, with what runs show of some that have a witness; and whether this rests on what boxes bring.

        Copies of boxes are followed only for what no other run shows.
        """
        pairs, asked, launches = list(found), dict[int, Shown](), self._launches
        for at in races:
            witness, pairs[at] = found[at].witness, _not_shown(found[at])
            if witness is not None:
                asked[at] = witness, (found[at].first.line, found[at].second.line)
        shown = dict(zip(asked, launches.replayed([*asked.values()], most_steps), strict=True))
        open_ones = [at for at, outcome in shown.items() if not outcome] if launches.has_boxes else []
        of_boxes = launches.replayed([asked[at] for at in open_ones], most_steps, follows_boxes=True)
        for at, outcome in (shown | dict(zip(open_ones, of_boxes, strict=True))).items():
            pairs[at] = _as_shown(found[at], outcome)
        return pairs, any(of_boxes)


def _as_shown(pair: Pair, outcome: Outcome) -> Pair:
    """A pair with a witness, as runs show it."""
    is_benign = pair.verdict is RaceVerdict.BENIGN
    if outcome is Outcome.RACE and is_benign:
        # What is proved and what is run have no code in common: one of both has a mistake.
        return replace(_not_shown(pair), reason=TWO_VALUES)
    if pair.witness is not None and (outcome is Outcome.RACE or (outcome and is_benign)):
        return replace(pair, witness=replace(pair.witness, is_replayed=True))
    return replace(_not_shown(pair), reason=MAY_BE_ONE) if outcome else _not_shown(pair)


def _not_shown(pair: Pair) -> Pair:
    return replace(pair, verdict=RaceVerdict.UNKNOWN, reason=NOT_SHOWN, witness=None, condition="")


def _trips(pair: Pair) -> int:
    """The trips that come before the accesses of a witness."""
    return 0 if pair.witness is None else sum(trip for trips in pair.witness.trips for _, trip in trips)


def _barrier(barrier: BarrierFinding, missed: Mapping[int, tuple[tuple[str, int], ...]]) -> BarrierFinding:
    """A divergent barrier only if a run shows that some threads miss it; the reason has the values of that run."""
    if barrier.verdict is not RaceVerdict.DIVERGENT:
        return barrier
    if barrier.line in missed:
        values = ", ".join(f"{name} = {value}" for name, value in missed[barrier.line])
        return replace(barrier, reason=f"{barrier.reason}, in a run with {values}") if values else barrier
    return replace(barrier, verdict=RaceVerdict.UNKNOWN, reason=NOT_MISSED.format(barrier.reason))
