"""A finite set of iterations that stands for all those of loops marked `any`, exactly.

An open loop k is replaced by finitely many values that do whatever values the other open loops
have, the ordinary loops having one value each. So values of each loop found apart stand together
for all; where that is not to be had, one loop is replaced first, and the next one looked at for
each value of the first. The range 0 .. 2^32 - 1 is cut into stretches (courses.py), and of each one
of four things is true, for one access, or for two that are compared:

- *short*: each value stands for itself.
- *dead*: in none of its iterations the access runs. Nothing stands for them.
- *still*: stage, coordinates or address, whether a lane is active, what is assumed, what every
  other sub-expression that may leave the range is worth, and divisors and amounts that may be
  undefined, all repeat after a period P. The values of a period then stand for all, each for as
  many as are equal to it modulo P.
- *moving*: the like, but coordinates or the address also grow. P is multiplied until the byte
  address of every thread moves by one and the same multiple of 128 and of the swizzle's span, so
  that costs and alignment repeat. A lane's coordinates and its place in the allocation are monotone
  in steps of P, so their extremes lie in the first and the last P values. The difference of two
  accesses' addresses is linear in the number of steps, so if it is zero in the first and the last P
  values, it is zero in all. So these stand for all; but they do not tell how often a place is
  touched.

Where a stretch is none of these, the oracle does not judge. Iterations that do not exist may stand
among the others: each is evaluated in plain integers afterwards (existence.py), and left out if a
value leaves the range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import gcd, lcm, prod

from . import c_expr
from .access_forms import AccessForm, Iteration
from .c_expr import LEAST, MOST, Expr, Literal, Name, Op
from .courses import UNDEFINED, Course, Stretch
from .oracle_errors import OracleAmbiguousError, OracleError

FEW = 48
"""So many values are enumerated even where fewer stand for them."""
MANY = 2048
"""More values of one loop are never enumerated."""
MOST_STRETCHES = 600
MOST_POINTS = 150_000
COST_BYTES = 128

Value = tuple[int, int | None]
Assignment = dict[str, int]


class _LeavesRangeError(Exception):
    """A sub-expression without an open loop leaves the range, so no iteration exists."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What one thread evaluates, everything known put in; several threads may have the same."""

    truths: tuple[Expr, ...]
    stage: Expr | None
    places: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class _Look:
    """What one access is like on a stretch."""

    dead: bool
    cuts: frozenset[int] = frozenset()
    unclear: bool = False
    period: int = 1
    moving: bool = False


def representatives(forms: list[AccessForm]) -> list[Iteration]:
    """Iterations that stand for all of accesses with the same loops, some of which are open.

    >>> from .access_forms import read_form
    >>> access = {"instruction": "ld.shared.b8", "threads": 1, "for": {"k": "any"}, "address": "k%2", "if": "k < 64"}
    >>> representatives([read_form("a", access, {}, {}, {}, "sm_90")])[:3]
    [Iteration(values=(0,), weight=32), Iteration(values=(1,), weight=32), Iteration(values=(64,), weight=2147483616)]
    """
    problem: OracleAmbiguousError | None = None
    for order in permutations(forms[0].open_loops):
        try:
            return _in_order(forms, list(order))
        except OracleAmbiguousError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _in_order(forms: list[AccessForm], order: list[str]) -> list[Iteration]:
    names = forms[0].loop_names
    closed = [name for name in names if name not in order]
    threads = max(form.threads for form in forms)
    found: list[Iteration] = []
    for values in product(*(forms[0].loops[name].judged for name in closed)):
        kinds = [_kinds(form, dict(zip(closed, values, strict=True))) for form in forms]
        for open_values, weight in _assignments(forms, kinds, order):
            assigned = dict(zip([*closed, *order], [*values, *open_values], strict=True))
            found.append(Iteration(tuple(assigned[name] for name in names), weight))
            if len(found) * threads > MOST_POINTS:
                raise OracleAmbiguousError("too many iterations to enumerate")
    return found


def _assignments(
    forms: list[AccessForm], kinds: list[list[_Known] | None], order: list[str]
) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """The values of the open loops from `order` on; `kinds` is None for an access that does not
    exist.
    """
    if not order:
        yield (), 1
        return
    name, *later = order
    values_of_it = list(_values_of(forms, kinds, name))
    others_values = _apart(forms, kinds, later)
    if others_values is not None:
        for chosen in product(values_of_it, *others_values):
            weights = [weight for _, weight in chosen if weight is not None]
            yield tuple(value for value, _ in chosen), prod(weights) if len(weights) == len(chosen) else None
        return
    for value, weight in values_of_it:
        narrower = [None if known is None else _with(known, {name: value}) for known in kinds]
        for values, others in _assignments(forms, narrower, later):
            yield (value, *values), None if weight is None or others is None else weight * others


def _apart(forms: list[AccessForm], kinds: list[list[_Known] | None], names: list[str]) -> list[list[Value]] | None:
    """The values of each of some loops, whatever the others are; None where one must know the
    others' values.
    """
    try:
        return [list(_values_of(forms, kinds, name)) for name in names]
    except OracleAmbiguousError:
        return None


def _values_of(forms: list[AccessForm], kinds: list[list[_Known] | None], name: str) -> Iterator[Value]:
    """The values of one open loop, each with the number of values that it stands for."""
    todo = [(0, MOST)]
    seen = 0
    while todo:
        first, last = todo.pop()
        seen += 1
        if seen > MOST_STRETCHES:
            raise OracleAmbiguousError("an `any` loop in too many pieces")
        size = last - first + 1
        if size <= FEW:
            yield from ((value, 1) for value in range(first, last + 1))
            continue
        pairs = zip(forms, kinds, strict=True)
        looks = [_look(form, known, name, first, last) for form, known in pairs if known is not None]
        alive = [look for look in looks if not look.dead]
        if not alive:
            continue
        if cuts := sorted({cut for look in alive for cut in look.cuts}):
            edges = [first, *cuts, last + 1]
            todo += [(a, b - 1) for a, b in pairwise(edges)][::-1]
        else:
            yield from _of_whole_stretch(alive, first, last)


def _of_whole_stretch(looks: list[_Look], first: int, last: int) -> Iterator[Value]:
    size = last - first + 1
    period = lcm(*(look.period for look in looks))
    clear = not any(look.unclear for look in looks)
    if clear and 3 * period <= min(size, 3 * MANY):
        if any(look.moving for look in looks):
            yield from ((value, None) for value in range(first, first + period))
            yield from ((value, None) for value in range(last + 1 - period, last + 1))
        else:
            yield from ((first + r, (size - r - 1) // period + 1) for r in range(period))
    elif size <= MANY:
        yield from ((value, 1) for value in range(first, last + 1))
    else:
        raise OracleAmbiguousError("an `any` loop that neither repeats nor ends early")


def _look(form: AccessForm, kinds: list[_Known], name: str, first: int, last: int) -> _Look:
    stretch = Stretch(name, first, last)
    roots: list[Course | None] = []
    moving: list[list[Course]] = []
    for known in kinds:
        roots += [stretch.truth(tree) for tree in known.truths]
        places = [stretch.course(tree) for tree in known.places]
        stage = None if known.stage is None else stretch.course(known.stage)
        if stretch.dead:
            return _Look(dead=True)
        stretch.unclear |= stage is not None and stage.slope != 0
        roots += [*places, stage]
        moving.append([course for course in places if course is not None])
    if stretch.cuts or stretch.unclear:
        return _Look(dead=False, cuts=frozenset(stretch.cuts), unclear=stretch.unclear)
    period = lcm(*stretch.periods, *(root.period for root in roots if root is not None))
    if not any(course.slope for places in moving for course in places):
        return _Look(dead=False, period=period)
    factor = _factor(form, [[int(course.slope * period) for course in places] for places in moving])
    return _Look(dead=False, unclear=factor is None, period=period * (factor or 1), moving=True)


def _factor(form: AccessForm, moves: list[list[int]]) -> int | None:
    """How many periods move every thread's address by one multiple of what costs and swizzles
    repeat after.

    `moves` are of each thread those of its coordinates or of its address in one period; None where
    threads differ.
    """
    tile = form.tile
    if tile is None:
        if len({move for [move] in moves}) > 1:
            return None
        return COST_BYTES // gcd(COST_BYTES, moves[0][0])
    # Whole turns of all leaves but the last one of each mode, which takes the quotient without a
    # bound.
    leaves = tile.layout.modes
    inner = [prod(extent for extent, _ in mode[:-1]) for mode in leaves]
    turns = lcm(*(size // gcd(size, move) for each in moves for size, move in zip(inner, each, strict=True)))
    offsets = {
        sum(move * turns // size * mode[-1][1] for move, size, mode in zip(each, inner, leaves, strict=True))
        for each in moves
    }
    if len(offsets) > 1:
        return None
    bits = 8 * lcm(COST_BYTES, tile.span_bytes)
    unit = bits // gcd(bits, tile.element_bits)
    if not tile.on_address:
        unit = lcm(unit, tile.swizzle.span)
    return turns * (unit // gcd(unit, offsets.pop()))


# --- what is known put in --------------------------------------------------------------------------------------------


def _kinds(form: AccessForm, loops: Assignment) -> list[_Known] | None:
    """What the threads evaluate with these values of the ordinary loops; None where no iteration
    exists.
    """
    columns = form.thread_columns
    known = {**loops, **form.constants}
    kinds: dict[_Known, None] = {}
    try:
        assumed = tuple(_put_in(tree, known, form) for tree in form.assumptions)
        for tid in range(form.threads):
            names = {**{key: values[tid] for key, values in columns.items()}, **known}
            condition = () if form.condition is None else (_put_in(form.condition, names, form),)
            stage = None if form.stage is None else _put_in(form.stage, names, form)
            places = form.coordinates if form.address is None else (form.address,)
            kinds[_Known((*assumed, *condition), stage, tuple(_put_in(tree, names, form) for tree in places))] = None
    except _LeavesRangeError:
        return None
    return list(kinds)


def _with(kinds: list[_Known], names: Assignment) -> list[_Known] | None:
    """The same with one more loop known."""
    try:
        return [
            _Known(
                tuple(_put_in(tree, names) for tree in known.truths),
                None if known.stage is None else _put_in(known.stage, names),
                tuple(_put_in(tree, names) for tree in known.places),
            )
            for known in kinds
        ]
    except _LeavesRangeError:
        return None


def _put_in(tree: Expr, names: Mapping[str, int], form: AccessForm | None = None) -> Expr:
    """The tree with numbers for names and for operators of numbers; `form` tells which names may
    stay open.
    """
    match tree:
        case Name(name) if name in names:
            return Literal(names[name])
        case Name(name) if form is not None and name not in form.open_loops:
            raise OracleError(f"{name!r} is not known", "SWZ301")
        case Op(symbol, operands) if operands:
            parts = tuple(_put_in(operand, names, form) for operand in operands)
            if UNDEFINED in parts:
                # Its other operands may still leave the range.
                others = tuple(part for part in parts if part != UNDEFINED and not isinstance(part, Literal))
                return Op("undefined", others) if others else UNDEFINED
            if all(isinstance(part, Literal) for part in parts):
                return _computed(symbol, [part.value for part in parts if isinstance(part, Literal)])
            return Op(symbol, parts)
        case _:
            return tree


def _computed(symbol: str, values: list[int]) -> Expr:
    try:
        [value] = c_expr.apply(symbol, [[value] for value in values])
    except OracleError:
        return UNDEFINED
    if not LEAST <= value <= MOST:
        raise _LeavesRangeError
    return Literal(value)
