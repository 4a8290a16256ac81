"""Every operator as gates on single bits, over any values that can be XORed and ANDed.

The one circuit serves three readings: clauses for a SAT solver (`cnf`), affine forms over GF(2)
(`affine`), and the values at many points at once (`table`). A word is a list of bits, lowest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from swzrecheck.program import Operation, Program

Bit = TypeVar("Bit")
Word = list[Bit]


class Gates(Protocol[Bit]):
    """What bits are, and how they join."""

    @property
    def zero(self) -> Bit:
        """The gate that is always 0."""
        ...

    @property
    def one(self) -> Bit:
        """The gate that is always 1."""
        ...

    def conj(self, a: Bit, b: Bit) -> Bit:
        """The gate a and b."""
        ...

    def xor(self, a: Bit, b: Bit) -> Bit:
        """The gate a or b, but not both."""
        ...

    def choose(self, condition: Bit, then: Bit, otherwise: Bit) -> Bit:
        """`then` where the condition is 1, else `otherwise`."""
        ...

    def majority(self, a: Bit, b: Bit, c: Bit) -> Bit:
        """1 where two of three are 1."""
        ...


class Circuit(Generic[Bit]):
    """The operators of a program over some gates."""

    def __init__(self, gates: Gates[Bit]) -> None:
        self.gates = gates

    def run(self, program: Program, variables: Mapping[int, Word[Bit]]) -> list[Word[Bit]]:
        """The word of every line; `variables` gives those of the variables, by place."""
        words: list[Word[Bit]] = []
        for place, line in enumerate(program):
            if line.operator == "var":
                words.append(list(variables[place]))
            else:
                words.append(self._line(line, [words[operand] for operand in line.operands]))
        return words

    def _line(self, line: Operation, given: Sequence[Word[Bit]]) -> Word[Bit]:
        operator, width, gates = line.operator, line.width, self.gates
        if operator == "const":
            return [gates.one if line.number >> bit & 1 else gates.zero for bit in range(width)]
        if operator == "extract":
            return given[0][line.number : line.number + width]
        if operator in ("zero_extend", "sign_extend"):
            fill = given[0][-1] if operator == "sign_extend" else gates.zero
            return given[0] + [fill] * (width - len(given[0]))
        if operator == "ite":
            return [gates.choose(given[0][0], a, b) for a, b in zip(given[1], given[2], strict=True)]
        a, b = given
        if operator == "=":
            return [self._equal(a, b)]
        if operator in ("bvult", "bvule"):
            return [self.less(a, b)] if operator == "bvult" else [self._not(self.less(b, a))]
        if operator in ("bvslt", "bvsle"):
            # Signed order is unsigned order once both sign bits are flipped.
            a, b = [*a[:-1], self._not(a[-1])], [*b[:-1], self._not(b[-1])]
            return [self.less(a, b)] if operator == "bvslt" else [self._not(self.less(b, a))]
        if operator in ("bvand", "bvor", "bvxor"):
            join = {"bvand": gates.conj, "bvor": self._or, "bvxor": gates.xor}[operator]
            return [join(x, y) for x, y in zip(a, b, strict=True)]
        if operator in ("bvadd", "bvsub"):
            return self._add(a, b, gates.zero) if operator == "bvadd" else self._subtract(a, b)
        if operator == "bvmul":
            return self._multiply(a, b)
        if operator in ("bvudiv", "bvurem"):
            return self._divide(a, b)[operator == "bvurem"]
        if operator in ("bvsdiv", "bvsrem"):
            return self._divide_signed(a, b)[operator == "bvsrem"]
        if operator in ("bvshl", "bvlshr", "bvashr"):
            return self._shift(operator, a, b)
        raise ValueError(f"no circuit for {operator}")

    def _not(self, a: Bit) -> Bit:
        return self.gates.xor(a, self.gates.one)

    def _or(self, a: Bit, b: Bit) -> Bit:
        return self._not(self.gates.conj(self._not(a), self._not(b)))

    def _equal(self, a: Word[Bit], b: Word[Bit]) -> Bit:
        result = self.gates.one
        for x, y in zip(a, b, strict=True):
            result = self.gates.conj(result, self._not(self.gates.xor(x, y)))
        return result

    def less(self, a: Word[Bit], b: Word[Bit]) -> Bit:
        """The highest bit in which they differ decides."""
        result = self.gates.zero
        for x, y in zip(a, b, strict=True):
            result = self.gates.choose(self.gates.xor(x, y), y, result)
        return result

    def _add(self, a: Word[Bit], b: Word[Bit], carry: Bit) -> Word[Bit]:
        result: Word[Bit] = []
        for x, y in zip(a, b, strict=True):
            result.append(self.gates.xor(self.gates.xor(x, y), carry))
            carry = self.gates.majority(x, y, carry)
        return result

    def _subtract(self, a: Word[Bit], b: Word[Bit]) -> Word[Bit]:
        return self._add(a, [self._not(y) for y in b], self.gates.one)

    def _negate_if(self, condition: Bit, a: Word[Bit]) -> Word[Bit]:
        flipped = [self.gates.xor(x, condition) for x in a]
        return self._add(flipped, [self.gates.zero] * len(a), condition)

    def _choose(self, condition: Bit, then: Word[Bit], otherwise: Word[Bit]) -> Word[Bit]:
        return [self.gates.choose(condition, x, y) for x, y in zip(then, otherwise, strict=True)]

    def _multiply(self, a: Word[Bit], b: Word[Bit]) -> Word[Bit]:
        """Long multiplication; a constant factor goes second, so that its zeros cost nothing."""
        if self._constant(a) is not None:
            a, b = b, a
        result = [self.gates.zero] * len(a)
        for shift, bit in enumerate(b):
            if bit != self.gates.zero:
                row = [self.gates.zero] * shift + [self.gates.conj(x, bit) for x in a[: len(a) - shift]]
                result = self._add(result, row, self.gates.zero)
        return result

    def _constant(self, a: Word[Bit]) -> int | None:
        if any(bit not in (self.gates.zero, self.gates.one) for bit in a):
            return None
        return sum(1 << place for place, bit in enumerate(a) if bit == self.gates.one)

    def _divide(self, a: Word[Bit], b: Word[Bit]) -> tuple[Word[Bit], Word[Bit]]:
        """Quotient and remainder by long division; by 0, SMT-LIB's all ones and the dividend."""
        width, divisor = len(a), self._constant(b)
        zero = self.gates.zero
        if divisor is not None and divisor and divisor & (divisor - 1) == 0:
            shift = divisor.bit_length() - 1
            return a[shift:] + [zero] * shift, a[:shift] + [zero] * (width - shift)
        wide = [*b, zero]
        rest = [zero] * (width + 1)
        quotient = [zero] * width
        for place in range(width - 1, -1, -1):
            rest = [a[place], *rest[:-1]]
            fits = self._not(self.less(rest, wide))
            rest = self._choose(fits, self._subtract(rest, wide), rest)
            quotient[place] = fits
        return quotient, rest[:width]

    def _divide_signed(self, a: Word[Bit], b: Word[Bit]) -> tuple[Word[Bit], Word[Bit]]:
        quotient, rest = self._divide(self._negate_if(a[-1], a), self._negate_if(b[-1], b))
        return self._negate_if(self.gates.xor(a[-1], b[-1]), quotient), self._negate_if(a[-1], rest)

    def _shift(self, operator: str, a: Word[Bit], b: Word[Bit]) -> Word[Bit]:
        """One stage per bit of the amount; one as wide as the word leaves only what comes in."""
        fill = a[-1] if operator == "bvashr" else self.gates.zero
        width, result = len(a), list(a)
        for place, bit in enumerate(b):
            step = min(1 << place, width) if place < width.bit_length() else width
            incoming = [fill] * step
            moved = incoming + result[: width - step] if operator == "bvshl" else result[step:] + incoming
            result = self._choose(bit, moved, result)
        return result
