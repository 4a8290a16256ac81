"""The base of every claim: what it is about, what it asks, how it answers for a failing point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self

from swzverify.claims.form import Form, NumberChange, Subject
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.places import Places
from swzverify.claims.verdict import Counterexample
from swzverify.errors import SwzError
from swzverify.hardware import Space
from swzverify.subjects import Access, Operand, Phase
from swzverify.subjects.memory import Origin


class Claim(ABC):
    """A property of some subjects.

    `kind` is the key that states it in a spec, `form` says how. `counts_room` tells that the claim
    is about the room of an allocation: with more room it says less. `space` is the memory that its
    accesses must go to; None where it may be any.
    """

    __slots__ = ()
    kind: ClassVar[str]
    form: ClassVar[Form]
    counts_room: ClassVar[bool] = False
    space: ClassVar[Space | None] = None
    __match_args__: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        """Refuse what the claim cannot be about."""
        self.check_subjects()

    @classmethod
    def stated(cls, subjects: Sequence[Subject], numbers: Mapping[str, int]) -> Self:
        """The claim that a spec states: subjects in the order of the form, without those left out.

        Errors are those of the claim's own constructor.
        """
        return cls(*subjects, **numbers)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the claim is about, in the order in which it is stated: its fields, but for numbers."""
        numbers = {number.name for number in self.form.numbers}
        return tuple(getattr(self, name) for name in self.__match_args__ if name not in numbers)

    @abstractmethod
    def plan(self) -> Plan:
        """The obligations, the facts, and what must be possible for the claim to say anything."""

    @abstractmethod
    def scope(self) -> str:
        """What a proof covers, in words."""

    @abstractmethod
    def broken(self, *sides: Places) -> list[int]:
        """Which of some concrete places show that the claim does not hold; none where it holds there.

        Args:
            sides: The places of each subject, in the order of `subjects`.

        Returns:
            The numbers of the places of the first side that break the claim, counted row after row.
        """

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """What `broken` judges of an operand in one iteration; nothing for claims on other subjects."""
        del point
        return ()

    def arranged(self, *sides: Places) -> Iterator[tuple[Places, ...]]:
        """Whole subjects in the parts that `broken` judges, if that is not all at once."""
        yield sides

    @property
    def shares_base(self) -> bool:
        """Whether the subjects have one base; otherwise the claim is about every pair of bases."""
        return True

    @abstractmethod
    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The failing point in plain integers; None when it does not fail there after all."""

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:  # noqa: ARG002
        """Why a failing point that was replayed may be one that never occurs, in words; empty if it occurs."""
        return ""

    def evidence(self) -> str:
        """How well the hardware fact behind the claim is known; empty where it needs none."""
        return ""

    @property
    def subject(self) -> str:
        """The names of what the claim is about, with commas between."""
        return ",".join(subject.name for subject in self.subjects)

    @property
    def numbers(self) -> dict[str, int]:
        """The integers that the claim states, by name; a default stands for one left out."""
        return {number.name: getattr(self, number.name) for number in self.form.numbers}

    @property
    def placed(self) -> tuple[tuple[Subject, Origin | None], ...]:
        """Each subject with the origin that the claim uses; None for an access's or map's own."""
        return tuple(
            (each, None if isinstance(each, Access | Operand | Phase) else each.origin) for each in self.subjects
        )

    def number_changes(self, after: Claim) -> Iterator[NumberChange]:
        """The numbers in which a newer claim of this kind differs."""
        for number in self.form.numbers:
            old, new = self.numbers[number.name], after.numbers[number.name]
            if old != new:
                way = number.when_more if new > old else number.when_less
                yield NumberChange(number.name, str(old), str(new), way)

    def check_subjects(self) -> None:
        """Refuse subjects of a wrong kind, and accesses to another memory.

        A name in place of an object is a wrong kind.

        Raises:
            SwzError: SWZ105 for a wrong kind, SWZ409 for another memory.
        """
        types = tuple(role.type for role in self.form.roles)
        for subject in self.subjects:
            if not isinstance(subject, types):  # pyright: ignore[reportUnnecessaryIsInstance]
                wanted = " or ".join(f"{'an' if each.__name__[0] in 'AIO' else 'a'} {each.__name__}" for each in types)
                raise SwzError(
                    "SWZ105",
                    f"{self.kind} is claimed of {wanted}, not of {subject!r} ({type(subject).__name__})",
                    hint="give the object itself, not its name",
                )
            if self.space is not None and isinstance(subject, Access) and subject.instruction.space is not self.space:
                raise SwzError(
                    "SWZ409",
                    f"{self.kind} is about accesses to {self.space}, and {subject.instruction.name} of access "
                    f"{subject.name} goes to {subject.instruction.space}",
                    hint=_OF_MEMORY[subject.instruction.space],
                )


_OF_MEMORY = {
    Space.GLOBAL: "of an access to global memory claim `coalesced`, `aligned`, `in_bounds` or `equivalent`",
    Space.SHARED: "of an access to shared memory claim `conflict_free` or `wavefronts`",
}
"""What can be claimed in place of a claim that is about another memory."""
