"""Formulas for the proofs: words of fixed width with unsigned operators, and truths that are terms.

This file prevents three errors: z3py's `<`, `>>`, `/` and `%` on bit-vectors are signed, `bool(x ==
y)` is silently False, and `BitVecVal(300, 8)` wraps. Proofs are written with these classes and never
see z3py. Products of symbols are hard in bit-vectors: `Whole` is a number without a width.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar

import z3

WIDTH = 32
"""Bits of a variable or constant; `bits` gives words of other widths."""

_Term = TypeVar("_Term", z3.BitVecRef, z3.ArithRef)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A formula. Joined with `&`, `|`, `~` and `implies`; `if truth:` and `truth and truth` raise."""

    term: z3.BoolRef

    def __and__(self, other: Truth) -> Truth:
        """True where both are."""
        return Truth(z3.And(self.term, other.term))

    def __or__(self, other: Truth) -> Truth:
        """True where at least one is."""
        return Truth(z3.Or(self.term, other.term))

    def __invert__(self) -> Truth:
        """True where this one is not."""
        return Truth(z3.Not(self.term))

    def implies(self, other: Truth) -> Truth:
        """True where the other one holds, or this one does not."""
        return Truth(z3.Implies(self.term, other.term))

    def iff(self, other: Truth) -> Truth:
        """True where both are, and where neither is."""
        return Truth(self.term == other.term)

    def __bool__(self) -> NoReturn:
        """Refuses: a formula has no value yet."""
        raise TypeError("a formula is neither true nor false; use & | ~ and implies")

    def __eq__(self, other: object) -> NoReturn:
        """Refuses: z3py would compare the formulas' text."""
        raise TypeError("use iff to say that two formulas hold together")

    __hash__ = None  # pyright: ignore[reportAssignmentType]


@dataclass(frozen=True, slots=True, eq=False)
class _Number(Generic[_Term]):
    """What words and numbers without a width share."""

    term: _Term
    noun: ClassVar[str]

    def _operand(self, other: Any) -> _Term:
        raise NotImplementedError

    def _compared(self, other: object) -> _Term:
        if isinstance(other, type(self)) or (isinstance(other, int) and not isinstance(other, bool)):
            return self._operand(other)
        raise TypeError(f"a {self.noun} cannot be compared with {other!r}")

    def __add__(self, other: Self | int) -> Self:
        """The sum."""
        return type(self)(self.term + self._operand(other))

    __radd__ = __add__

    def __sub__(self, other: Self | int) -> Self:
        """The difference."""
        return type(self)(self.term - self._operand(other))

    def __mul__(self, other: Self | int) -> Self:
        """The product."""
        return type(self)(self.term * self._operand(other))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Truth:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Equal, as a formula."""
        return Truth(self.term == self._compared(other))

    def __ne__(self, other: object) -> Truth:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Different, as a formula."""
        return Truth(self.term != self._compared(other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]


@dataclass(frozen=True, slots=True, eq=False)
class Word(_Number[z3.BitVecRef]):
    """A word of `width` bits, unsigned; arithmetic is modulo 2^width, as in the machine.

    Python integers may stand on either side of an operator when they fit the width. A shift by the
    width or more gives 0.
    """

    noun = "word"

    @property
    def width(self) -> int:
        """The number of bits."""
        return self.term.size()

    def _operand(self, other: Word | int) -> z3.BitVecRef:
        if isinstance(other, Word):
            if other.width != self.width:
                raise TypeError(f"words of {self.width} and {other.width} bits")
            return other.term
        if not 0 <= other < 1 << self.width:
            raise ValueError(f"{other} does not fit {self.width} bits")
        return z3.BitVecVal(other, self.width, self.term.ctx)

    def __rsub__(self, other: int) -> Word:
        """The difference from an integer."""
        return Word(self._operand(other) - self.term)

    def __floordiv__(self, other: int) -> Word:
        """The quotient by a positive integer."""
        return Word(z3.UDiv(self.term, self._operand(_positive(other))))

    def __mod__(self, other: int) -> Word:
        """The remainder by a positive integer."""
        return Word(z3.URem(self.term, self._operand(_positive(other))))

    def __and__(self, other: Word | int) -> Word:
        """The bits that both have."""
        return Word(self.term & self._operand(other))

    __rand__ = __and__

    def __or__(self, other: Word | int) -> Word:
        """The bits that either has."""
        return Word(self.term | self._operand(other))

    __ror__ = __or__

    def __xor__(self, other: Word | int) -> Word:
        """The bits in one of them."""
        return Word(self.term ^ self._operand(other))

    __rxor__ = __xor__

    def __invert__(self) -> Word:
        """Every bit turned round."""
        return Word(~self.term)

    def __lshift__(self, other: Word | int) -> Word:
        """The bits moved up."""
        return Word(self.term << self._operand(other))

    def __rlshift__(self, other: int) -> Word:
        """An integer shifted up: `1 << n` is the n-th power of two."""
        return Word(self._operand(other) << self.term)

    def __rshift__(self, other: Word | int) -> Word:
        """The bits moved down, with zeros from above."""
        return Word(z3.LShR(self.term, self._operand(other)))

    def __lt__(self, other: Word | int) -> Truth:
        """Less, unsigned."""
        return Truth(z3.ULT(self.term, self._operand(other)))

    def __le__(self, other: Word | int) -> Truth:
        """At most, unsigned."""
        return Truth(z3.ULE(self.term, self._operand(other)))

    def __gt__(self, other: Word | int) -> Truth:
        """More, unsigned."""
        return Truth(z3.UGT(self.term, self._operand(other)))

    def __ge__(self, other: Word | int) -> Truth:
        """At least, unsigned."""
        return Truth(z3.UGE(self.term, self._operand(other)))

    def bits(self, high: int, low: int) -> Word:
        """The bits `high` to `low`, both included, in a word of their own width (`a[high:low]`)."""
        return Word(z3.Extract(high, low, self.term))


@dataclass(frozen=True, slots=True, eq=False)
class Whole(_Number[z3.ArithRef]):
    """An integer without a width: nothing wraps, a difference may be negative.

    There is no division: a proof names the quotient and the remainder, and states what they are.
    """

    noun = "number"

    def _operand(self, other: Whole | int) -> z3.ArithRef:
        return other.term if isinstance(other, Whole) else z3.IntVal(other, self.term.ctx)

    def __lt__(self, other: Whole | int) -> Truth:
        """Less."""
        return Truth(self.term < self._operand(other))

    def __le__(self, other: Whole | int) -> Truth:
        """At most."""
        return Truth(self.term <= self._operand(other))

    def __gt__(self, other: Whole | int) -> Truth:
        """More."""
        return Truth(self.term > self._operand(other))

    def __ge__(self, other: Whole | int) -> Truth:
        """At least."""
        return Truth(self.term >= self._operand(other))


class Symbols:
    """The variables of one query, each with its bound; `bounds` are hypotheses."""

    width = WIDTH

    def __init__(self) -> None:
        self.context = z3.Context()
        self.words: dict[str, Word] = {}
        self.wholes: dict[str, Whole] = {}
        self.bounds: list[Truth] = []

    @property
    def logic(self) -> str:
        """The theory of the variables, as SMT-LIB names it.

        Raises:
            TypeError: The query mixes two theories.
        """
        if self.words and self.wholes:
            raise TypeError("a query has words of a width, or numbers without one, never both")
        return "QF_NIA" if self.wholes else "QF_BV"

    @property
    def variables(self) -> dict[str, Word | Whole]:
        """All variables by name."""
        return {**self.words, **self.wholes}

    def whole(self, name: str, at_least: int = 0, at_most: int | None = None) -> Whole:
        """A new variable without a width: an integer from `at_least`, 0 or more, to `at_most`.

        >>> symbols = Symbols()
        >>> columns = symbols.whole("N", 1, 65535)
        >>> len(symbols.bounds), symbols.logic
        (2, 'QF_NIA')
        """
        if name in self.words or name in self.wholes:
            raise ValueError(f"two variables are called {name}")
        if at_least < 0:
            raise ValueError(f"{name} would be negative")
        made = Whole(z3.Int(name, self.context))
        self.wholes[name] = made
        self.bounds.append(made >= at_least)
        if at_most is not None:
            self.bounds.append(made <= at_most)
        return made

    def word(self, name: str, below: int | None = None) -> Word:
        """A new variable: any word, or any of 0 .. below - 1."""
        if name in self.words or name in self.wholes:
            raise ValueError(f"two variables are called {name}")
        made = Word(z3.BitVec(name, self.width, self.context))
        self.words[name] = made
        if below is not None:
            self.bounds.append(made < below)
        return made

    def number(self, value: int) -> Word:
        """A constant.

        Raises:
            ValueError: The number does not fit.
        """
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit {self.width} bits")
        return Word(z3.BitVecVal(value, self.width, self.context))

    def every(self, truths: Iterable[Truth]) -> Truth:
        """True where all are; true for none."""
        return Truth(z3.And([z3.BoolVal(True, self.context), *(truth.term for truth in truths)]))

    def some(self, truths: Iterable[Truth]) -> Truth:
        """At least one of them; false for none."""
        return Truth(z3.Or([z3.BoolVal(False, self.context), *(truth.term for truth in truths)]))

    def count(self, truths: Iterable[Truth]) -> Word:
        """The number of those that hold."""
        total = self.number(0)
        for truth in truths:
            total = total + choose(truth, self.number(1), self.number(0))
        return total


def choose(condition: Truth, then: Word, otherwise: Word) -> Word:
    """One of two words of the same width."""
    return Word(z3.If(condition.term, then.term, otherwise.term))


def choose_whole(condition: Truth, then: Whole, otherwise: Whole) -> Whole:
    """One of two numbers without a width."""
    return Whole(z3.If(condition.term, then.term, otherwise.term))


def greater(a: Word, b: Word) -> Word:
    """The larger of two words."""
    return choose(a < b, b, a)


def lesser(a: Word, b: Word) -> Word:
    """The smaller of two words."""
    return choose(a < b, a, b)


def _positive(divisor: int) -> int:
    if divisor <= 0:
        raise ValueError(f"a division by {divisor}")
    return divisor
