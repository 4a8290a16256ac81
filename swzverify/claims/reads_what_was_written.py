"""`reads_what_was_written`: each byte that a step of a phase reads has what the right run of another step wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NoReturn

from swzverify.claims.claim import Claim
from swzverify.claims.common_base import check_bases_of_phase
from swzverify.claims.form import Direction, Form, Named, Number, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.phase_points import Pair
from swzverify.claims.phase_sources import Source, find_lag, first_byte
from swzverify.claims.phase_words import active_from, phase_scope
from swzverify.claims.places import Places, numbers
from swzverify.claims.race_free import hang_of, named_pairs
from swzverify.claims.verdict import Counterexample
from swzverify.errors import SwzError
from swzverify.hardware import Kind
from swzverify.ir.expr import FALSE
from swzverify.ir.whole import keep_whole
from swzverify.subjects import Access, Operand, Phase, Tile
from swzverify.subjects.phase import Part, Place, Run
from swzverify.subjects.phase_order import Meeting, Who, iterations, meetings

if TYPE_CHECKING:
    from swzverify.claims.role_sources import Delivery

MOST_BACK = 64
"""Iterations in which the write of a byte is looked for."""
MAX_LAG = 256
"""The most iterations between a write and its read: the writes of each of them are a question."""


@dataclass(frozen=True)
class ReadsWhatWasWritten(Claim):
    """Each byte that the read touches was written last by the right run of the write, which is ordered before it."""

    kind: ClassVar[str] = "reads_what_was_written"
    form = Form(
        title="Each byte that is read was written by the right iteration.",
        says="each byte that an access of a phase reads was written last by the right run of another one, which is "
        "ordered before it",
        roles=(Role.PHASE, Role.ACCESS, Role.OPERAND, Role.TILE),
        examples=({"read": "read_A", "write": "write_A"}, {"read": "read_A", "write": "copy_A", "lag": 2}),
        keys=(
            Named(
                Role.PHASE,
                "the name of a phase; default: the only one with both among its steps",
                "mainloop",
                optional=True,
            ),
            Named(
                Role.ACCESS,
                "the name of the access that reads, or of the operand that `wgmma` reads",
                "read_A",
                key="read",
                others=(Role.OPERAND,),
            ),
            Named(
                Role.ACCESS,
                "the name of the access that writes, or of the tile that `tma` fills",
                "write_A",
                key="write",
                others=(Role.TILE,),
            ),
            Number(
                "lag",
                "how many iterations of the loop lie between the write and the read; without it they are found",
                (2, 1),
                least=0,
                optional=True,
                when_more=Direction.NEITHER,
                when_less=Direction.NEITHER,
            ),
        ),
        keys_title="The read, and the write whose bytes it should get.",
    )
    phase: Phase
    read: Access | Operand
    write: Access | Tile
    lag: int | None = None

    def __post_init__(self) -> None:
        """Refuse steps that are not there, or that stand where no iteration is the right one."""
        self.check_subjects()
        keep_whole(self, self.kind, optional=("lag",))
        check_bases_of_phase(self.kind, self.phase)
        for subject, is_read in ((self.read, True), (self.write, False)):
            access = self._access_of(subject)
            kind = access.instruction.kind
            if kind.loads != is_read or kind is Kind.ATOMIC:
                word = "reads" if is_read else "writes"
                self._refuse(f"access {access.name} is no access that {word}", f"name one that {word} the tile")
            if access.read_unknowns:
                unknown = access.read_unknowns[0].name
                self._refuse(
                    f"access {access.name} reads {unknown}, so that nothing says which bytes it touches",
                    "the claim is about accesses without `lanes:`",
                )
        reads, writes = self._places(self.read), self._places(self.write)
        if [place.part for place in reads] != [Part.STEPS]:
            self._refuse(
                f"{self.read.name} stands {len(reads)} times in phase {self.phase.name}, or outside of `steps`",
                "the claim is about one step of the loop; give another step an access of its own",
            )
        if not writes or sum(place.part is Part.STEPS for place in writes) > 1 or writes[-1].part is Part.AFTER:
            self._refuse(
                f"{self.write.name} stands nowhere in phase {self.phase.name}, several times in `steps`, or in `after`",
                "the claim is about one step of the loop, and those of `before` that do the same for its first "
                "iterations",
            )
        if self.phase.roles and writes[-1].part is Part.BEFORE:
            self._refuse(
                f"{self.write.name} stands only before the loop of phase {self.phase.name}, which has roles",
                "claim it of a write that stands in the loop",
            )

    def _access_of(self, subject: Access | Operand | Tile) -> Access:
        """What a step that names the subject touches."""
        found = next((run.access for _, run in self.phase.runs if run.subject is subject), None)
        if found is None and isinstance(subject, Access):
            return subject
        if found is None:
            self._refuse(
                f"no step of phase {self.phase.name} names {subject.name}",
                "name an access, the tile of a `tma` step, or the operand of a `wgmma` step",
            )
        return found

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise SwzError("SWZ105", f"{self.kind}: {what}", hint=hint)

    def _places(self, subject: Access | Operand | Tile) -> list[Place]:
        return [place for place, run in self.phase.runs if run.subject is subject]

    @property
    def numbers(self) -> dict[str, int]:
        """The lag, if it is stated."""
        return {} if self.lag is None else {"lag": self.lag}

    @property
    def _reading(self) -> Place:
        return self._places(self.read)[0]

    @cached_property
    def _writing(self) -> Place | None:
        """The write in the loop; None if it stands before it only."""
        return next((place for place in self._places(self.write) if place.part is Part.STEPS), None)

    @property
    def _stated_lag(self) -> int | None:
        """The lag that the steps say: the read and the write of one value of the loop variable belong together."""
        if self._writing is None:
            return None
        write, read = self.phase.run_at(self._writing), self.phase.run_at(self._reading)
        if write.follows is None or read.follows is None:
            return None
        if not (write.follows.is_stated or read.follows.is_stated):
            return None
        return write.follows.number - read.follows.number

    @cached_property
    def _found_lag(self) -> int | None:
        """The least number of iterations between a write and a read of one byte; None if none was found."""
        return None if self._found is None else self._found[0]

    @cached_property
    def _found(self) -> tuple[int | None, bool] | None:
        return None if self._writing is None else find_lag(self.phase, self._reading, self._writing, MOST_BACK)

    @cached_property
    def actual_lag(self) -> int | None:
        """The lag that is proved."""
        return self._stated_lag if self._stated_lag is not None else self._found_lag if self.lag is None else self.lag

    def plan(self) -> Plan:
        """The bytes are written by one run, by no other one afterwards, and nothing races with either."""
        lag, run = self.actual_lag, self.phase.run_at(self._reading)
        always = active_from(self.phase, self._reading, run, 0)
        if self._writing is not None and lag is None:
            note = f"no run of {self.write.name} before {self.read.name} touches what it reads"
            if self._found is not None and self._found[1]:
                byte = first_byte(self.phase, self._reading, MOST_BACK)
                return Plan(facts=(Fact(False, f"{note}: {byte}"),), exists=always)
            return Plan(unknown=f"{note}, as far as was looked")
        wrong = self._wrong_lag(lag)
        if wrong:
            return Plan(facts=(Fact(False, wrong),), exists=always)
        unknown = self._beyond(lag)
        if unknown:
            return Plan(unknown=unknown)
        if lag is not None and lag > MAX_LAG:
            return Plan(unknown=f"{lag} iterations lie between write and read, and {MAX_LAG} are looked through")
        first = 0 if lag is None or (self.phase.before is not None and not self.phase.roles) else lag
        exists = active_from(self.phase, self._reading, run, first)
        if exists is FALSE:
            return Plan(empty=f"no iteration of {self.read.name} has one that is {lag} earlier")
        wrong = hang_of(self.phase) or (self._delivery.wrong if self.phase.roles else "")
        if wrong:
            return Plan(facts=(Fact(False, wrong),), exists=exists)
        if self._is_silent:
            return Plan(facts=(Fact(False, f"no right run of {self.write.name} touches a byte"),), exists=exists)
        goals = [Goal(pair.obligation(), name) for name, pair in self.pairs.items()]
        for source in self.sources:
            goals += source.goals()
        facts = tuple(Fact(False, note) for note in self._missing())
        return Plan(tuple(goals), facts, exists=exists)

    @property
    def _is_silent(self) -> bool:
        """Whether the write touches nothing in any iteration, and the read does in one that it should have written."""
        writing, count = self._writing, self.phase.count
        if writing is None or count is None or count > MOST_BACK:
            return False
        reads = first_byte(self.phase, self._reading, MOST_BACK, self.actual_lag or 0)
        return bool(reads) and not first_byte(self.phase, writing, MOST_BACK)

    def _wrong_lag(self, lag: int | None) -> str:
        """Why no run of the write can be the right one, in words; empty if one can."""
        if self._writing is None or lag is None:
            return ""
        if self.lag is not None and self.lag != lag:
            return f"the steps say that {lag} iterations lie between, and the claim says {self.lag}"
        if self.phase.roles:
            return ""  # the order of the text says nothing
        if lag < 0 or (lag == 0 and self._writing.index > self._reading.index):
            return f"{self.phase.describe(self._reading)} comes before {self.phase.describe(self._writing)} of its data"
        return ""

    def _beyond(self, lag: int | None) -> str:
        """Which write of a phase with roles is not looked for, in words; empty if it is."""
        if self.phase.roles and lag is not None and lag < 0:
            return f"{self.write.name} of the right iteration is {-lag} iterations later in its own role"
        if self.phase.roles and lag and self._places(self.write)[0].part is Part.BEFORE:
            return f"{self.write.name} in `before` is not looked for in a phase with roles"
        return ""

    @cached_property
    def _delivery(self) -> Delivery:
        from swzverify.claims.role_sources import Delivery  # noqa: PLC0415 - few phases have roles

        assert self._writing is not None  # noqa: S101 - with roles it stands in the loop
        assert self.actual_lag is not None  # noqa: S101 - the plan has looked
        return Delivery(self.phase, self._writing, self._reading, self.actual_lag)

    @cached_property
    def pairs(self) -> dict[str, Pair]:
        """What may not meet: what races with the read or the write, and what writes between the two."""
        racing = [Pair(self.phase, each) for each in meetings(self.phase) if self._is_about(each)]
        if self.phase.roles:
            return named_pairs([*self._delivery.pairs(), *racing])
        return named_pairs([*racing, *(Pair(self.phase, each) for each in self._between())])

    def _is_about(self, each: Meeting) -> bool:
        """Whether it is the read with a write, or the write with a write: another read may race with the write."""
        own, both = {*self._places(self.write), self._reading}, {each.first, each.second}
        return bool(own & both) and all(self.phase.run_at(place).writes or place == self._reading for place in both)

    def _between(self) -> Iterator[Meeting]:
        """Other writes behind the right one and before the read."""
        lag, reading, writing = self.actual_lag, self._reading, self._writing
        if writing is not None and lag is not None:
            line = iterations(self.phase, lag + 1)
            for spot in line[writing.index + 1 : lag * len(self.phase.steps) + reading.index]:
                if isinstance(spot.step, Run) and spot.step.writes:
                    # Without `before`, nothing is claimed of a read in the first iterations.
                    start = spot.iteration if self.phase.before is None else 0
                    yield Meeting(spot.place, reading, lag - spot.iteration, Who.ANY, start=start)
        for source in self.sources:
            if source.writing.part is Part.BEFORE:
                behind = [place for place, run in self.phase.runs if run.writes and place.part is Part.BEFORE]
                for place in behind:
                    if place.index > source.writing.index:
                        yield Meeting(place, reading, source.iteration or 0, Who.ANY, at_least=source.iteration is None)
        if writing is None:
            for place, run in self.phase.runs:
                if run.writes and place.part is Part.STEPS:
                    least = 0 if place.index < reading.index else 1
                    yield Meeting(place, reading, least, Who.ANY, at_least=True)

    @cached_property
    def sources(self) -> list[Source]:
        """The runs of the write that the read gets its bytes from."""
        lag, count = self.actual_lag, self.phase.count
        first = [place for place in self._places(self.write) if place.part is Part.BEFORE]
        if self._writing is None:
            return [Source(self.phase, first[-1], self._reading, None)]
        assert lag is not None  # noqa: S101 - the plan has looked
        found = [Source(self.phase, self._writing, self._reading, None, lag)] if count is None or lag < count else []
        for iteration in range(lag if count is None else min(lag, count)):
            place = self._early(iteration)
            if place is not None:
                found.append(Source(self.phase, place, self._reading, iteration))
        return found

    def _early(self, iteration: int) -> Place | None:
        """The run before the loop that stands for one of an iteration before the first."""
        bound = None if self._writing is None else self.phase.run_at(self._writing).follows
        for place in reversed(self._places(self.write)):
            if place.part is not Part.BEFORE:
                continue
            if bound is None:
                return place if iteration - (self.actual_lag or 0) == -1 else None
            own = next((each for each in self.phase.run_at(place).bound if each.loop == bound.loop), None)
            if own is not None and own.at(0) == iteration - (self.actual_lag or 0) + bound.number:
                return place
        return None

    def _missing(self) -> Iterator[str]:
        """Early iterations that read what nothing wrote; not if nothing is said of what runs before the loop."""
        if self._writing is None or self.phase.before is None or self.phase.roles:
            return
        lag, count = self.actual_lag or 0, self.phase.count
        for iteration in range(lag if count is None else min(lag, count)):
            byte = first_byte(self.phase, self._reading, iteration, iteration) if self._early(iteration) is None else ""
            if byte:
                yield f"{byte}, which no run of {self.write.name} in `before` wrote"

    def scope(self) -> str:
        """The phase, and which run of the write is the right one."""
        lag = self.actual_lag
        if self._writing is None:
            which = f"what {self.write.name} wrote before the loop"
        elif lag is None:
            which = f"what {self.write.name} wrote"
        elif lag == 0:
            which = f"what {self.write.name} wrote in the same iteration"
        else:
            which = f"what {self.write.name} wrote {lag} iteration{'s' * (lag > 1)} before"
            if self.phase.before is None or self.phase.roles:
                which += f", from {self.phase.variable} = {lag} on"
        return f"{self.read.name} reads {which}; {phase_scope(self.phase)}"

    def broken(self, *sides: Places) -> list[int]:
        """The bytes of the read that the write does not touch exactly once."""
        read, written = sides[1], sides[2]
        return numbers(read.touched_by(written) != 1)

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """The order of roles may leave open when a write comes, or whether two steps meet."""
        pair = self.pairs.get(goal.what)
        return "" if pair is None else pair.doubt(point)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The two threads that meet, or the byte that was not written."""
        pair = self.pairs.get(goal.what)
        if pair is not None:
            return pair.replay(point)
        source = next((each for each in self.sources if goal.what in each.names), None)
        return None if source is None else source.replay(goal.what, point)
