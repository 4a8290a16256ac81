"""Assertions for Python tests: from a layout, access or function to a verdict or AssertionError.

What stands for a layout: a `Tile`; a `Layout`, `ComposedLayout` or `PointerLayout`; CuTe's notation
as text; a layout of NVIDIA's pycute or of the CuTe DSL. What stands for an access: an `Access`; or
any of those with `instruction`, `threads` and `coord`. These are proved by two engines, as a spec's
claims are. A plain Python function is evaluated at every lane or element instead, and the verdict
says so: nothing is proved for other bases.

Nothing is guessed: what a layout does not say and the assertion depends on is a keyword argument,
and a call that lacks one raises `SwzError` SWZ802 with what to give; only `target` has a default,
sm_90. Anything but a proof is an AssertionError with the counterexample: `unknown` and `vacuous`
too.

An assertion ends with the verdict, or with an AssertionError that tells the whole story.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import TypeAlias, Unpack, cast

from swzverify.claims import Bijective, Claim, ConflictFree, Contiguous, Equivalent, Wavefronts
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.errors import SwzError
from swzverify.explain.notebook.stated import block_of, expression_of, expressions_of, loops_of
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.whole import check_int, whole
from swzverify.layout import ComposedLayout, Layout, PointerLayout
from swzverify.prover import DEFAULT_RLIMIT, Options, prove
from swzverify.report.console import rendered
from swzverify.report.result import ClaimResult
from swzverify.report.story import story
from swzverify.report.style import TextStyle
from swzverify.subjects import Access, IndexMap, Tile
from swzverify.testing.calls import bijective_call, contiguous_call, cost_of_call, equivalent_calls
from swzverify.testing.given import ALL_NAMES, Given, OfAccess, OfElements, OfTwo, takes_keywords
from swzverify.testing.layouts import Called, acts_on_is_open, tile_or_function

_Side: TypeAlias = Tile | Access | IndexMap | Called


@takes_keywords
def assert_bijective(layout: object, **given: Unpack[OfElements]) -> Verdict:
    """Assert that no two elements share a byte and that they fill the tile's allocation exactly.

    A function takes an element's index in 0..size-1 to its byte address; its elements must fill one
    run of bytes.

    >>> assert_bijective("Swizzle<3,3,3> o 0 o (8,64):(64,1)", element_bits=16).engines
    ('gf2', 'z3', 'intervals')
    >>> assert_bijective(lambda index: 1024 + 2 * index, size=64, element_bits=16).reason
    'checked exhaustively for 64 elements, not proved for other bases'
    """
    __tracebackhide__ = True
    return verdict_of(partial(_bijective, layout, Given.of(assert_bijective, given)))


@takes_keywords
def assert_contiguous(
    layout: object, *, elements: int, mode: int | None = None, **given: Unpack[OfElements]
) -> Verdict:
    """Assert that aligned vectors of `elements` neighbours lie side by side, in order and aligned.

    `mode` is the one that vectors run along; without it the one of stride 1. A function takes an
    element's index to its byte address, and vectors run along the index.

    >>> assert_contiguous("Swizzle<3,3,3> o 0 o (8,64):(64,1)", elements=8, element_bits=16).outcome.value
    'proved'
    """
    __tracebackhide__ = True
    return verdict_of(partial(_contiguous, layout, Given.of(assert_contiguous, given), elements, mode))


@takes_keywords
def assert_equivalent(first: object, second: object, **given: Unpack[OfTwo]) -> Verdict:
    """Assert that two layouts, accesses or index maps give the same address everywhere.

    Beside a `Tile`, a layout has that tile's element size and base. Two functions are compared at
    `threads` lanes.

    >>> pointer = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"
    >>> offsets = "Sw<3,3,3> o 0 o (8,64):(64,1)"
    >>> assert_equivalent(pointer, offsets, element_bits=16, base_align=1024).outcome.value
    'proved'
    """
    __tracebackhide__ = True
    return verdict_of(partial(_equivalent, first, second, Given.of(assert_equivalent, given)))


@takes_keywords
def assert_conflict_free(access: object, **given: Unpack[OfAccess]) -> Verdict:
    """Assert that no warp instruction has a bank conflict.

    `coord` are C expressions of tid, lane, warp, loop variables and constants, as in a spec. A
    function takes a thread in 0..threads-1, and loop variables by their names, to the byte address
    that it touches, None where it touches nothing.

    >>> assert_conflict_free(
    ...     "Swizzle<3,3,3> o 0 o (64,64):(64,1)", element_bits=16, base_align=1024, instruction="ldmatrix.x4",
    ...     threads=128, loops={"k": range(0, 64, 16)}, coord=["warp*16 + lane%16", "k + lane/16*8"]
    ... ).measure.wavefronts
    4
    >>> assert_conflict_free(lambda lane: 4 * lane, instruction="ld.shared.b32", threads=32).reason
    'checked exhaustively for 32 lanes, not proved for other bases'
    >>> assert_conflict_free(
    ...     lambda lane, k: 4 * (lane ^ k), loops={"k": [1, 2, 4]}, instruction="ld.shared.b32", threads=32
    ... ).reason
    'checked exhaustively for 32 lanes in 3 iterations, not proved for other bases'
    """
    __tracebackhide__ = True
    return verdict_of(partial(_cost, access, Given.of(assert_conflict_free, given)))


@takes_keywords
def assert_wavefronts(access: object, *, at_most: int, **given: Unpack[OfAccess]) -> Verdict:
    """Assert that no warp instruction takes more than `at_most` wavefronts.

    Arguments are those of `assert_conflict_free`.

    >>> assert_wavefronts(lambda lane: 8 * lane, at_most=2, instruction="ld.shared.b32", threads=32).measure.wavefronts
    2
    """
    __tracebackhide__ = True
    return verdict_of(partial(_bounded_cost, access, Given.of(assert_wavefronts, given), at_most))


def assert_proved(claim: Claim, *, rlimit: int | None = None) -> Verdict:
    """Assert any claim of `swzverify.claims`.

    >>> from swzverify import Layout, Tile
    >>> from swzverify.claims import Injective
    >>> assert_proved(Injective(Tile("A", 16, Layout((8, 64), (72, 1))))).outcome.value
    'proved'
    """
    __tracebackhide__ = True
    return verdict_of(partial(_proved, claim, rlimit))


def _proved(claim: Claim, rlimit: int | None) -> Judged:
    if rlimit is not None and (whole(rlimit) or 0) < 1:
        raise SwzError("SWZ105", f"rlimit={rlimit!r}: a positive int, in Z3's resource units")
    options = Options(DEFAULT_RLIMIT if rlimit is None else whole(rlimit) or 0)
    return Judged(claim.kind, claim.subject, prove(claim, options=options))


def _bijective(layout: object, given: Given) -> Judged:
    __tracebackhide__ = True
    given.check()
    found = tile_or_function(layout, given, "layout")
    if isinstance(found, Tile):
        return _proved(Bijective(found), given.rlimit)
    size, bits = _elements(given)
    return Judged("bijective", _name(found), bijective_call(found, size, bits))


def _contiguous(layout: object, given: Given, elements: int, mode: int | None) -> Judged:
    __tracebackhide__ = True
    given.check(elements=elements, **({} if mode is None else {"mode": mode}))
    found = tile_or_function(layout, given, "layout")
    if isinstance(found, Tile):
        return _proved(Contiguous(found, elements, mode), given.rlimit)
    size, bits = _elements(given)
    if mode is not None:
        raise SwzError("SWZ803", "mode does not go with a function", hint="leave it out: vectors run along the index")
    return Judged("contiguous", _name(found), contiguous_call(found, size, bits, elements))


def _elements(given: Given) -> tuple[int, int]:
    """What a function of elements needs to be given."""
    given.require("a function", "size", "element_bits")
    given.refuse("a function, which gives addresses", "base_align", "swizzle_on", "constants")
    return given.size or 0, given.element_bits or 0


def _equivalent(first: object, second: object, given: Given) -> Judged:
    __tracebackhide__ = True
    given.check(**({} if given.threads is None else {"threads": given.threads}))
    one, other = _sides(first, second, given)
    if isinstance(one, Tile | Access | IndexMap) and isinstance(other, Tile | Access | IndexMap):
        given.refuse("what is proved for every thread", "threads")
        return _proved(Equivalent(one, other), given.rlimit)
    for side in (one, other):
        if isinstance(side, Tile | Access | IndexMap):
            what = "a layout" if isinstance(side, Tile) else "an access" if isinstance(side, Access) else "an index map"
            raise SwzError(
                "SWZ804",
                f"{what} cannot be compared with a function, which says nothing of most of its cases",
                hint="compare two functions, or write it as C expressions: an Access, an IndexMap, a spec's `maps:`",
            )
    given.refuse("functions, which give addresses", "element_bits", "base_align", "swizzle_on", "constants")
    given.require("a function", "threads")
    functions = cast("tuple[Called, Called]", (one, other))
    names = ",".join(map(_name, functions))
    return Judged("equivalent", names, equivalent_calls(*functions, cast("int", given.threads)))


def _sides(first: object, second: object, given: Given) -> tuple[_Side, _Side]:
    """What is compared; a layout beside a tile lies where that does."""
    if all(isinstance(each, Tile | Access | IndexMap) for each in (first, second)):
        given.refuse("subjects that say it themselves", "element_bits", "base_align", "swizzle_on", "constants")
    unclear = [acts_on_is_open(each, given) for each in (first, second)]
    if not any(unclear):
        given.refuse("what says it itself", "swizzle_on")
    tile = next((each for each in (first, second) if isinstance(each, Tile)), None)
    if tile is not None:
        given.refuse("a Tile, which says it for both", "element_bits", "base_align")
    sides: list[_Side] = []
    for subject, is_open, name in zip((first, second), unclear, ("first", "second"), strict=True):
        if isinstance(subject, Tile | Access | IndexMap):
            sides.append(subject)
            continue
        own = given if is_open else replace(given, swizzle_on=None)
        if tile is not None:
            own = replace(own, element_bits=tile.element_bits, base_align=1)
        found = tile_or_function(subject, own, name)
        if tile is not None and isinstance(found, Tile):
            parts = (found.layout, found.swizzle, found.swizzle_on, tile.base, tile.stages)
            found = Tile(name, found.element_bits, *parts, pitch_bytes=tile.pitch_bytes)
        sides.append(found)
    return sides[0], sides[1]


def _bounded_cost(access: object, given: Given, at_most: int) -> Judged:
    __tracebackhide__ = True
    # Without a bound, None, the claim would be another one.
    check_int("at_most", at_most)
    return _cost(access, given, at_most)


def _cost(access: object, given: Given, at_most: int | None = None) -> Judged:
    __tracebackhide__ = True
    given.check()
    found = access_or_function(access, given)
    if isinstance(found, Access):
        return _proved(ConflictFree(found) if at_most is None else Wavefronts(found, at_most), given.rlimit)
    given.require("a function", "instruction", "threads")
    useless = ("coord", "predicate", "element_bits", "base_align", "swizzle_on", "constants")
    given.refuse("a function, which gives addresses", *useless)
    kind = "conflict_free" if at_most is None else "wavefronts"
    row = find_instruction(given.instruction or "")
    target = find_target(DEFAULT_TARGET if given.target is None else given.target)
    verdict = cost_of_call(found, row, target, block_of(given.threads or 0), at_most, loops_of(given.loops))
    return Judged(kind, _name(found), verdict)


def _name(function: Called) -> str:
    return getattr(function, "__name__", type(function).__name__)


DEFAULT_TARGET = "sm_90"
"""As in a spec, and as for `access_cost`."""
_WALK = ("instruction", "threads", "coord")


def access_or_function(subject: object, given: Given) -> Access | Called:
    """The access that `subject` and the arguments stand for, or `subject` if it is a function.

    Errors are those of `tile_or_function` and of `Access`.

    >>> given = Given(element_bits=16, base_align=16, instruction="ld.shared.b32", threads=32, coord=[0, "tid*2"])
    >>> access_or_function("(8,64):(64,1)", given).threads
    32
    """
    if isinstance(subject, Access):
        given.refuse("an Access, which says it itself", *ALL_NAMES)
        return subject
    found = tile_or_function(subject, given, "tile", is_placed=True)
    if not isinstance(found, Tile):
        return found
    shown = subject if isinstance(subject, str | Layout | ComposedLayout | PointerLayout) else found.layout
    given.require(f"an access to {'a Tile' if isinstance(subject, Tile) else repr(str(shown))}", *_WALK)
    return Access(
        "access",
        find_instruction(given.instruction or ""),
        find_target(DEFAULT_TARGET if given.target is None else given.target),
        block_of(given.threads or 0),
        loops=loops_of(given.loops),
        constants=given.constants or {},
        tile=found,
        coord=expressions_of(given.coord or ()),
        predicate=None if given.predicate is None else expression_of(given.predicate, "predicate"),
    )


_STYLE = TextStyle(unicode=False)


@dataclass(frozen=True, slots=True)
class Judged:
    """The kind of a claim, its subject, and the verdict."""

    kind: str
    subject: str
    verdict: Verdict


def verdict_of(check: Callable[[], Judged]) -> Verdict:
    """The verdict of a check that holds; else AssertionError, at the line of the assertion.

    Mistakes in the arguments (`SwzError`) come without the frames of this package.
    """
    __tracebackhide__ = True
    try:
        judged = check()
    except SwzError as error:
        raise error.with_traceback(None) from None
    if judged.verdict.outcome not in {Outcome.PROVED, Outcome.CHECKED}:
        # The frame above this one is the assertion's, and the one above that its caller's.
        raise AssertionError(failure_text(judged, _above(_above(inspect.currentframe()))))
    return judged.verdict


def _above(frame: FrameType | None) -> FrameType | None:
    return None if frame is None else frame.f_back


def failure_text(judged: Judged, caller: FrameType | None) -> str:
    """The story of a check that does not hold, with the place of the assertion."""
    result = ClaimResult(
        id=f"{judged.subject}::{judged.kind}",
        spec="" if caller is None else _shown(caller.f_code.co_filename),
        line=0 if caller is None else caller.f_lineno,
        kind=judged.kind,
        subject=judged.subject,
        expected=Outcome.PROVED,
        verdict=judged.verdict,
    )
    return f"{judged.verdict.outcome}: {judged.kind} of {judged.subject}\n{rendered([story(result, _STYLE)], _STYLE)}"


def _shown(file: str) -> str:
    """The file from the current folder, if it lies below it."""
    try:
        relative = os.path.relpath(file)
    except ValueError:
        return file
    return file if relative.startswith(os.pardir) else relative
