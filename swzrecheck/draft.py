"""What the goals of all claims share: a program in the making, and goals over its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzrecheck.exact import Arithmetic
from swzrecheck.places import Origin
from swzrecheck.program import Builder, Program, reachable, selected
from swzrecheck.statement import Always, Statement


class UntrueError(Exception):
    """A claim that is false by its numbers alone; the text says why."""


class MeaninglessError(Exception):
    """A statement that says nothing, or has no meaning in docs/semantics.md; the text says why."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that a claim rests on; `what` names it where there are several."""

    what: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Goals:
    """A claim's goals. `exists` must be possible, else it says nothing; None: nothing excluded."""

    asked: tuple[Asked, ...]
    exists: Always | None = None
    counted: str = ""


class Draft:
    """A program in the making, and the exact integers over it."""

    def __init__(self) -> None:
        self.out = Builder()
        self.numbers = Arithmetic(self.out)

    @property
    def true(self) -> int:
        """The constant 1."""
        return self.out.const(1, 1)

    def base(self, *origins: Origin) -> list[int]:
        """The variables of some bases."""
        open_ = [origin for origin in origins if origin.count > 1]
        return list(dict.fromkeys(self.numbers.variable(origin.name, origin.count).place for origin in open_))

    def closed(self, variables: Sequence[int], roots: Sequence[int]) -> tuple[Program, dict[int, int]]:
        """Some variables and all lines that the roots need, as a program; where each line went."""
        own = set(variables)
        others = [place for place in reachable(self.out.lines, roots) if place not in own]
        return selected(self.out.lines, [*variables, *others])

    def always(self, variables: Sequence[int], assumption: int, holds: int) -> Always:
        """A condition at every point."""
        program, at = self.closed(variables, (assumption, holds))
        return Always(program, tuple(at[place] for place in variables), at[assumption], at[holds])

    def possible(self, variables: Sequence[int], condition: int) -> Always | None:
        """A condition that must be possible; None where it visibly holds at every point."""
        return None if self.out.known(condition) == 1 else self.always(variables, condition, condition)

    def defined(self, variables: Sequence[int], present: int, must_hold: Sequence[int]) -> list[Asked]:
        """The goal that expressions mean something, where bounds do not show it."""
        if not must_hold:
            return []
        return [Asked("defined", self.always(variables, present, self.out.all(must_hold)))]
