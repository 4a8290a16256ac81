"""Vectors under a swizzle: which aligned runs of offsets stay runs, in order and aligned."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word, choose

from ._sources import CUTE, CUTE_4, LEI_MAO
from ._swizzle import SIGNS, SYMBOLIC, Parameters, both_signs, legal, ones, parameters, swizzle

VECTORS = f'{LEI_MAO}, section "Vectorized Memory Access"'


def whole(start: Word, step: Word, n: Word, p: Parameters) -> Truth:
    """Element `step` of the vector of 2^n at `start` keeps its place in the vector's image.

    The image is aligned.
    """
    image = swizzle(start, p)
    return (swizzle(start + step, p) == image + step) & (image & ones(n) == 0)


def kept(v: Symbols, up: bool) -> Sequent:
    """The vectors stay whole for n <= M."""
    p, n, start, step = parameters(v, up=up), v.word("n", below=33), v.word("start"), v.word("step")
    return Sequent((legal(p), n <= p.m, start & ones(n) == 0, step <= ones(n)), whole(start, step, n, p))


def broken(v: Symbols, up: bool) -> Sequent:
    """A vector is broken for n > M.

    The vector at 2^(M+S) is misaligned or, if it contains that offset itself, the one at 0 is torn there.
    """
    p, n = parameters(v, up=up), v.word("n", below=33)
    zero = v.number(0)
    reads = 1 << (p.m if up else p.m + p.s)
    start = zero if up else choose(n <= p.m + p.s, reads, zero)
    step = reads ^ start
    inside = (start & ones(n) == 0) & (step <= ones(n))
    return Sequent((legal(p), p.b > 0, n > p.m), inside & ~whole(start, step, n, p))


def neighbours(v: Symbols) -> Sequent:
    """The offsets k n .. k n + n - 1 differ in the low log2 n bits only."""
    n, start, step = v.word("n", below=33), v.word("start"), v.word("step")
    return Sequent((start & ones(n) == 0, step <= ones(n)), (start + step) >> n == start >> n)


def f16_vectors(v: Symbols) -> Sequent:
    """Vectors of eight under Swizzle<3,2,3>."""
    p = Parameters(v.number(3), v.number(2), v.number(3))
    n, start, step = v.number(3), v.word("start", below=1 << 16), v.word("step", below=8)
    return Sequent((start & 7 == 0,), whole(start, step, n, p))


def tears(point: Point) -> bool:
    """Whether the element is not where its vector's image has it, or the image is misaligned."""
    start, step = point["start"], point["step"]
    image, element = (x ^ ((x >> 5 & 7) << 2) for x in (start, start + step))
    return start % 8 == 0 and step < 8 and (image % 8 != 0 or element != image + step)


THEOREMS = (
    Theorem(
        "swizzle-vectors",
        "for B > 0 a legal Swizzle<B,M,S> keeps all aligned vectors of 2^n elements whole, in order and aligned iff "
        "n <= M",
        r"\bigl(\forall v \in 2^n\mathbb{N},\ t < 2^n:\ \sigma(v + t) = \sigma(v) + t,\ 2^n \mid \sigma(v)\bigr) "
        r"\iff n \le M",
        f'{VECTORS}, which has the "if"; {CUTE}',
        f"{SYMBOLIC}, n, the vector's start, the element's place in it",
        (*both_signs("if", kept), *both_signs("only if", broken)),
        enumerated=SIGNS,
    ),
    Theorem(
        "vectors-share-high-bits",
        "the offsets k n, ..., k n + n - 1 agree in all bits but the low log2 n, n a power of two",
        r"\lfloor (k\,2^n + t) / 2^n \rfloor = k,\quad t < 2^n",
        VECTORS,
        "n, the vector's start, the element's place in it",
        (Obligation("high bits", neighbours),),
    ),
    Theorem(
        "f16-vectors-published",
        "Swizzle<3,2,3> keeps vectors of 8 halfs whole",
        r"\sigma_{3,2,3}(8k + t) = \sigma_{3,2,3}(8k) + t,\quad 8 \mid \sigma_{3,2,3}(8k)",
        f"{CUTE_4}, section 1, whose text has vectors of 8 under swizzle<3, 3, 3> and whose code make_swizzle(3, 2, 3)",
        "the vector's start, below 2^16, and the element's place in it",
        (Obligation("whole", f16_vectors),),
        expected=Outcome.REFUTED,
        refutes=tears,
        because="M = 2 keeps 4 elements together; 8 need M = 3, as the text has",
        mended_by="swizzle-vectors",
    ),
)
