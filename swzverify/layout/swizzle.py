"""`Swizzle<B,M,S>`: the XOR of one field of an offset's bits onto another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

from swzverify.core.shown import Drawn
from swzverify.errors import SwzError
from swzverify.ir.whole import whole
from swzverify.layout.int_tuple import Array, Ints, check_index
from swzverify.layout.source_text import swizzle_text

MAX_SPAN_BITS = 62  # so that a mask and what it selects fit an int64 array


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Swizzle(Drawn):
    """The map `x ^ ((x & yyy) >> shift)`, which XORs some bits of x with higher ones.

    It changes `bits` (B) bits, from bit `base` (M) on: they are XORed with those `shift` (S) bits
    higher. With `Swizzle<3,4,3>` the bits of an offset are, from the high ones to the low ones,

        ...x YYY ZZZ xxxx        Y: read, unchanged    Z: becomes Z ^ Y    x: not looked at
             |   |   +--- M = 4 bits below
             |   +------- B = 3 bits that change
             +----------- B = 3 bits, S = 3 places higher

    A negative shift moves the other way: the upper field is XORed with the lower one. The swizzle acts
    on the value that it gets, an element offset or a byte address; the caller says which. One text, such
    as `Swizzle<3,3,3>` or `Sw<3,4,3>`, stands for the three numbers.

    Raises:
        SwzError: SWZ200 if the text is no swizzle; SWZ210 where CuTe's static_asserts would refuse.

    Source: NVIDIA CUTLASS, include/cute/swizzle.hpp.

    >>> swizzle = Swizzle(3, 3, 3)
    >>> print(swizzle, swizzle(64), swizzle(64 + 8), swizzle.span)
    Swizzle<3,3,3> 72 64 512
    >>> Swizzle("Swizzle<3,3,3>") == swizzle
    True
    """

    bits: int
    base: int
    shift: int

    @overload
    def __init__(self, bits: str) -> None: ...
    @overload
    def __init__(self, bits: int, base: int, shift: int) -> None: ...
    def __init__(self, bits: int | str, base: int | None = None, shift: int | None = None) -> None:
        """Refuses what CuTe's static_asserts refuse."""
        self._keep(*_fields(bits, base, shift))
        reason = _why_illegal(self.bits, self.shift)
        if reason:
            raise SwzError(
                "SWZ210",
                f"{self} is not a legal swizzle: {reason}",
                hint="CuTe needs |S| >= B; Swizzle.unchecked builds it nevertheless, to study it",
            )

    @classmethod
    def unchecked(cls, bits: int, base: int, shift: int) -> Swizzle:
        """The same formula, also for |shift| < bits, for research.

        A negative `bits` or `base` has no meaning.

        >>> broken = Swizzle.unchecked(3, 4, 0)
        >>> broken(0x70), broken(0x10), broken.is_legal
        (0, 0, False)
        """
        swizzle = object.__new__(cls)
        swizzle._keep(bits, base, shift)
        return swizzle

    def _keep(self, bits: object, base: object, shift: object) -> None:
        """Check the three numbers and store them."""
        for name, value in zip(("bits", "base", "shift"), _checked_fields(bits, base, shift), strict=True):
            object.__setattr__(self, name, value)

    @overload
    def __call__(self, value: int) -> int: ...
    @overload
    def __call__(self, value: Array) -> Array: ...
    def __call__(self, value: Ints) -> Ints:
        """The swizzled offset or address; int64 arrays may stand for ints.

        Raises:
            SwzError: SWZ202 if the value is no integer, SWZ306 if it is negative.

        >>> Swizzle(2, 0, -4)(0b11)
        51
        """
        value = check_index(value)
        selected = value & self.yyy_mask
        return value ^ (selected >> self.shift if self.shift >= 0 else selected << -self.shift)

    @property
    def yyy_mask(self) -> int:
        """The bits that are read.

        >>> hex(Swizzle(3, 4, 3).yyy_mask), hex(Swizzle(3, 4, -3).yyy_mask)
        ('0x380', '0x70')
        """
        return ((1 << self.bits) - 1) << (self.base + max(0, self.shift))

    @property
    def zzz_mask(self) -> int:
        """The bits that are changed.

        >>> hex(Swizzle(3, 4, 3).zzz_mask), hex(Swizzle(3, 4, -3).zzz_mask)
        ('0x70', '0x380')
        """
        return ((1 << self.bits) - 1) << (self.base - min(0, self.shift))

    @property
    def span(self) -> int:
        """The period, 2^(base + bits + |shift|).

        Adding a multiple of it to the input adds the same to the output.

        >>> Swizzle(3, 4, 3).span
        1024
        """
        return 1 << (self.base + self.bits + abs(self.shift))

    @property
    def block(self) -> int:
        """The smallest power of two such that the swizzle maps each aligned block of it onto itself.

        >>> Swizzle(3, 4, 3).block, Swizzle(3, 4, -3).block, Swizzle(0, 4, 3).block
        (128, 1024, 1)
        """
        return 1 << self.zzz_mask.bit_length() if self.bits else 1

    @property
    def is_legal(self) -> bool:
        """Whether CuTe accepts it, which makes it a bijection that is its own inverse."""
        return not _why_illegal(self.bits, self.shift)

    def recast(self, element_bytes_log2: int) -> Swizzle:
        """The same swizzle counted in units 2^k times larger, with k = `element_bytes_log2`.

        For k < 0 the units are smaller. A swizzle of byte addresses becomes the one of the offsets of
        2^k-byte elements: the two agree wherever the base address is a multiple of `span` bytes.

        Raises:
            SwzError: SWZ211 if the swizzle moves bits inside a unit.

        >>> print(Swizzle(3, 4, 3).recast(1), Swizzle(3, 3, 3).recast(-1))
        Swizzle<3,3,3> Swizzle<3,4,3>
        >>> Swizzle(3, 0, 3).recast(1)
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ211: Swizzle<3,0,3> moves bits inside units of 2^1; it cannot be counted in them
        """
        base = self.base - element_bytes_log2
        if base < 0 and self.bits:
            raise SwzError(
                "SWZ211",
                f"{self} moves bits inside units of 2^{element_bytes_log2}; it cannot be counted in them",
            )
        make = Swizzle if self.is_legal else Swizzle.unchecked
        return make(self.bits, max(base, 0), self.shift)

    def __str__(self) -> str:
        """CuTe's C++ spelling, which `parse_swizzle` reads back."""
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"

    def __repr__(self) -> str:
        """Python that makes an equal swizzle."""
        make = "Swizzle" if self.is_legal else "Swizzle.unchecked"
        return f"{make}({self.bits}, {self.base}, {self.shift})"


def _fields(bits: object, base: object, shift: object) -> tuple[object, object, object]:
    """B, M and S as they are given, or out of a text that has all three."""
    if not isinstance(bits, str):
        if base is None or shift is None:
            hint = 'Swizzle(3, 3, 3), or Swizzle("Swizzle<3,3,3>")'
            raise SwzError(
                "SWZ202", f"a swizzle has three numbers, B, M and S, not ({bits!r}, {base!r}, {shift!r})", hint=hint
            )
        return bits, base, shift
    if base is not None or shift is not None:
        raise SwzError(
            "SWZ202", f"the text {bits!r} stands for all three numbers of a swizzle", hint="leave the others out"
        )
    return swizzle_text(bits)


def _checked_fields(bits: object, base: object, shift: object) -> tuple[int, int, int]:
    width, lowest = _checked("B", bits, signed=False), _checked("M", base, signed=False)
    places = _checked("S", shift, signed=True)
    if width + lowest + abs(places) > MAX_SPAN_BITS:
        raise SwzError("SWZ206", f"Swizzle<{bits},{base},{shift}> reaches beyond bit {MAX_SPAN_BITS}: not modelled")
    return width, lowest, places


def _checked(name: str, given: object, *, signed: bool) -> int:
    value = whole(given)
    if value is None:
        raise SwzError("SWZ202", f"{name} of a swizzle is {given!r} ({type(given).__name__}); it must be an int")
    if value < 0 and not signed:
        raise SwzError("SWZ210", f"{name} of a swizzle is {value}; it must be at least 0")
    return value


def _why_illegal(bits: int, shift: int) -> str:
    if bits == 0 or abs(shift) >= bits:
        return ""
    if shift == 0:
        return f"with S = 0 and B = {bits} it clears the bits it reads, so it is not one to one"
    return f"with 0 < |S| = {abs(shift)} < B = {bits} it is a bijection, but applying it twice does not undo it"
