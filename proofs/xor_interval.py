"""x -> x ^ c on intervals: where it is a bijection, and where it was published to be one."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word

from ._sources import LEI_MAO
from ._swizzle import ones

BIJECTION = f'{LEI_MAO}, section "Offset Bijection"'


def block(v: Symbols) -> tuple[Word, Word, Word, Truth]:
    """The values c, first and last element of [k 2^m, (k+1) 2^m), and the condition on them.

    c is below 2^m, and the interval is below 2^32.
    """
    m, k, c = v.word("m", below=32), v.word("k"), v.word("c")
    first = k << m
    return c, first, first + ones(m), (c <= ones(m)) & (first >> m == k)


def inside(x: Word, first: Word, last: Word) -> Truth:
    """The condition that x lies in the closed interval."""
    return (first <= x) & (x <= last)


def closed(v: Symbols) -> Sequent:
    """The image stays in the interval."""
    c, first, last, fits = block(v)
    x = v.word("x")
    return Sequent((fits, inside(x, first, last)), inside(x ^ c, first, last))


def one_to_one(v: Symbols) -> Sequent:
    """Different elements have different images."""
    c, first, last, fits = block(v)
    x, y = v.word("x"), v.word("y")
    return Sequent((fits, inside(x, first, last), inside(y, first, last), x != y), x ^ c != y ^ c)


def onto(v: Symbols) -> Sequent:
    """The element y ^ c lies in the interval and is mapped to y."""
    c, first, last, fits = block(v)
    y = v.word("y")
    return Sequent((fits, inside(y, first, last)), inside(y ^ c, first, last) & ((y ^ c) ^ c == y))


def only_aligned(v: Symbols) -> Sequent:
    """From [a, a + 2^m), a not a multiple of 2^m, the element a leaves under c = a mod 2^m."""
    m, a = v.word("m", below=32), v.word("a")
    c = a & ones(m)
    return Sequent((c != 0, a <= a + ones(m)), (c <= ones(m)) & ~inside(a ^ c, a, a + ones(m)))


def published(v: Symbols) -> Sequent:
    """The image of x in [k, k 2^m] stays there."""
    m, k, c, x = (v.word(name, below=1 << 8) for name in ("m", "k", "c", "x"))
    last = k << m
    return Sequent((m >= 1, m <= 8, k >= 1, c <= ones(m), inside(x, k, last)), inside(x ^ c, k, last))


def leaves_published(point: Point) -> bool:
    """Whether x ^ c falls out of the published interval."""
    first, last = point["k"], point["k"] * 2 ** point["m"]
    return first <= point["x"] <= last and not first <= point["x"] ^ point["c"] <= last


THEOREMS = (
    Theorem(
        "xor-interval",
        "x -> x ^ c is a bijection of [k 2^m, (k+1) 2^m) onto itself, for every m, k and c < 2^m",
        r"\forall m,k,\ c < 2^m:\quad x \mapsto x \oplus c \text{ permutes } [k\,2^m,\ (k+1)\,2^m)",
        f"{BIJECTION}, for k = 0",
        "x, y, c, k, m",
        (Obligation("closed", closed), Obligation("one to one", one_to_one), Obligation("onto", onto)),
    ),
    Theorem(
        "xor-interval-only-aligned",
        "an interval [a, a + 2^m) is kept by x -> x ^ c for every c < 2^m only if a is a multiple of 2^m",
        r"2^m \nmid a \Rightarrow \exists c < 2^m,\ x \in [a, a + 2^m):\quad x \oplus c \notin [a, a + 2^m)",
        "the converse of xor-interval",
        "a, m",
        (Obligation("c = a mod 2^m takes a out", only_aligned),),
    ),
    Theorem(
        "xor-interval-published",
        "x -> x ^ c permutes [k, k 2^m], for k >= 1, m >= 1 and c < 2^m",
        r"\forall k \ge 1,\ m \ge 1,\ c < 2^m:\quad x \mapsto x \oplus c \text{ permutes } [k,\ k\,2^m]",
        f"{BIJECTION}, last paragraph",
        "x, c, k, m, all below 2^8, which a counterexample may be",
        (Obligation("closed", published),),
        expected=Outcome.REFUTED,
        refutes=leaves_published,
        because="the interval must begin at a multiple of 2^m and have 2^m elements",
        mended_by="xor-interval",
    ),
)
