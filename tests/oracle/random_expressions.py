"""Random C expressions: of a wanted value, of any value, and rewritten without a change; and their
text.

Every operator is drawn as often as every other one, at every depth.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from .c_expr import LEVELS, Expr, Literal, Name, Op
from .grammar import OPERATORS, UNARY

ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")
RELATIONS = ("<", "<=", ">", ">=", "==", "!=")
NUMBERS = ("hex", "binary", "suffix")
_LEVEL = {symbol: level for level, symbols in enumerate(LEVELS) for symbol in symbols}
_UNARY_LEVEL = len(LEVELS)


# --- text ------------------------------------------------------------------------------------------------------------


def bracketed(tree: Expr) -> str:
    """The tree as C text that leaves nothing to precedence.

    >>> bracketed(Op("+", (Op("*", (Name("a"), Literal(2))), Name("b"))))
    '((a * 2) + b)'
    """
    match tree:
        case Op("?:", (condition, then, otherwise)):
            return f"({bracketed(condition)} ? {bracketed(then)} : {bracketed(otherwise)})"
        case Op("min" | "max" as name, operands):
            return f"{name}({', '.join(bracketed(each) for each in operands)})"
        case Op(symbol, (operand,)):
            return f"({symbol[0]}({bracketed(operand)}))"
        case Op(symbol, (left, right)):
            return f"({bracketed(left)} {symbol} {bracketed(right)})"
        case _:
            return _text(tree, None)[0]


def text_of(tree: Expr, rng: random.Random | None = None, level: int = -1) -> str:
    """The tree as C text: brackets where the grammar needs them, and with `rng` sometimes where it
    does not.

    >>> text_of(Op("*", (Op("+", (Name("a"), Literal(1))), Op("-1", (Name("b"),)))))
    '(a + 1) * -b'
    """
    text, own = _text(tree, rng)
    extra = rng is not None and isinstance(tree, Op) and rng.random() < 0.15
    return f"({text})" if own < level or extra else text


def _text(tree: Expr, rng: random.Random | None) -> tuple[str, int]:
    """The text without outer brackets, and the level that binds it."""
    match tree:
        case Literal(value, spelling):
            return spelling or str(value), _UNARY_LEVEL if value < 0 else _UNARY_LEVEL + 1
        case Name(name):
            return name, _UNARY_LEVEL + 1
        case Op("?:", (condition, then, otherwise)):
            # C's middle operand needs no brackets, and a `?:` as the last one neither.
            return f"{text_of(condition, rng, 0)} ? {text_of(then, rng)} : {text_of(otherwise, rng)}", -1
        case Op("min" | "max" as name, operands):
            return f"{name}({', '.join(text_of(each, rng) for each in operands)})", _UNARY_LEVEL + 1
        case Op(symbol, (operand,)):
            inner = text_of(operand, rng, _UNARY_LEVEL)
            # `--` and `++` would be other tokens.
            return symbol[0] + (" " if inner[0] == symbol[0] else "") + inner, _UNARY_LEVEL
        case Op(symbol, (left, right)):
            own = _LEVEL[symbol]
            return f"{text_of(left, rng, own)} {symbol} {text_of(right, rng, own + 1)}", own
        case _:
            raise ValueError(f"no text for {tree}")


# --- numbers ---------------------------------------------------------------------------------------------------------


def number(rng: random.Random, value: int, form: str = "") -> Expr:
    """A literal of the value, in one of C's notations; a negative one is the minus of a literal."""
    if value < 0:
        return Op("-1", (number(rng, -value, form),))
    match form or rng.choice(("", "", "", "", *NUMBERS)):
        case "hex":
            return Literal(value, rng.choice((f"{value:#x}", f"0X{value:X}")))
        case "binary":
            return Literal(value, f"{value:#b}")
        case "suffix":
            return Literal(value, f"{value}{rng.choice(('u', 'U', 'l', 'UL', 'LLU', 'll'))}")
        case _:
            return Literal(value)


@dataclass(frozen=True, slots=True)
class Source:
    """What random expressions are drawn from: chance, constants with their values, and names that
    are never negative.

    `slip` is the chance that a shift amount, a divisor or a large operand is left without its
    guard.
    """

    rng: random.Random
    constants: Mapping[str, int]
    names: tuple[str, ...] = ()
    slip: float = 0.0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability


def valued(source: Source, value: int, depth: int) -> Expr:
    """An expression of constants with that value, defined everywhere, about `depth` operators deep.

    >>> from .c_expr import evaluate, parse
    >>> source = Source(random.Random(1), {})
    >>> {evaluate(parse(text_of(valued(source, 48, 3))), {}, 1)[0] for _ in range(100)}
    {48}
    """
    rng = source.rng
    if depth <= 0:
        return _leaf(source, value)
    form = rng.choice(OPERATORS)
    if form in NUMBERS:
        form = "+" if value < 0 else form
        if form in NUMBERS:
            return number(rng, value, form)
    operands = _operands(rng, form, value)
    if operands is None:
        # A truth value, or an operator that cannot give this value: what it gives is made up for.
        other = rng.randrange(2)
        operands = _operands(rng, form, other)
        if operands is None:
            return valued(source, value, depth)
        made = Op(form, _all_valued(source, form, operands, depth - 1))
        return Op("+", (made, valued(source, value - other, depth - 1)))
    return Op(form, _all_valued(source, form, operands, depth - 1))


def _all_valued(source: Source, form: str, values: tuple[int, ...], depth: int) -> tuple[Expr, ...]:
    operands = [valued(source, value, depth - source.rng.randrange(2)) for value in values]
    if form in ("/", "%", "<<", ">>") and source.slip and source.chance(source.slip):
        operands[1] = valued(source, 0 if form in ("/", "%") else source.rng.choice((-1, 32, 40)), 1)
    return tuple(operands)


def _leaf(source: Source, value: int) -> Expr:
    rng = source.rng
    if source.constants and source.chance(0.3):
        name = rng.choice(list(source.constants))
        rest = value - source.constants[name]
        if rest == 0:
            return Name(name)
        return Op("+" if rest > 0 else "-", (Name(name), number(rng, abs(rest))))
    return number(rng, value)


def _operands(rng: random.Random, form: str, value: int) -> tuple[int, ...] | None:
    """Values of the operands with which an operator gives `value`; None where it cannot."""
    r = rng.choice((0, 1, 2, 3, 5, 7, 12, 31, 100, rng.randrange(4096)))
    match form:
        case "+":
            return r, value - r
        case "-":
            return value + r, r
        case "*":
            if value == 0:
                return rng.choice(((0, r), (r, 0)))
            factor = rng.choice([n for n in (1, -1, 2, -2, 3, 4, 5, 8, 16) if value % n == 0])
            return (value // factor, factor) if rng.random() < 0.5 else (factor, value // factor)
        case "/":
            divisor = rng.choice((1, -1, 2, 3, 5, -3, 7, 16, -16))
            rest = rng.randrange(abs(divisor))
            product = value * divisor
            return product + (rest if product > 0 or (product == 0 and r % 2) else -rest), divisor
        case "%":
            divisor = abs(value) + 1 + rng.randrange(9)
            times = rng.randrange(4) * divisor
            dividend = value + times if value > 0 or (value == 0 and r % 2) else value - times
            return dividend, divisor if rng.random() < 0.7 else -divisor
        case "<<":
            most = (value & -value).bit_length() - 1 if value else 9
            amount = rng.randint(0, min(most, 9))
            return value >> amount, amount
        case ">>":
            amount = rng.choice((0, 1, 2, 3, 6))
            return (value << amount) + rng.randrange(1 << amount), amount
        case "&":
            return value | r, value | (rng.randrange(4096) & ~r)
        case "|":
            return value & r, value & ~(r & rng.randrange(4096))
        case "^":
            return r, value ^ r
        case "-1":
            return (-value,)
        case "+1":
            return (value,)
        case "~1":
            return (~value,)
        case "?:":
            return rng.choice(((rng.choice((1, 2, -1)), value, r), (0, r, value)))
        case "min":
            return _shuffled(rng, (value, value + r) if r % 2 else (value, value + r, value + rng.randrange(9)))
        case "max":
            return _shuffled(rng, (value, value - r) if r % 2 else (value, value - r, value - rng.randrange(9)))
        case _ if value in (0, 1):
            return _truth_operands(rng, form, bool(value), r)
        case _:
            return None


def _shuffled(rng: random.Random, values: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(rng.sample(values, len(values)))


def _truth_operands(rng: random.Random, form: str, wanted: bool, r: int) -> tuple[int, ...] | None:
    if form == "!1":
        return (0,) if wanted else (rng.choice((1, 2, -1, r + 1)),)
    other = r + rng.choice((-1, 0, 0, 1))
    some = rng.choice((1, 2, -3))
    truths = {
        "<": (r, other, r < other),
        "<=": (r, other, r <= other),
        ">": (r, other, r > other),
        ">=": (r, other, r >= other),
        "==": (r, other, r == other),
        "!=": (r, other, r != other),
        "&&": (some * rng.randrange(2), some, None),
        "||": (some * rng.randrange(2), 0, None),
    }
    a, b, found = truths[form]
    if found is None:
        found = bool(a and b) if form == "&&" else bool(a or b)
    if found is wanted:
        return a, b
    return _truth_operands(rng, form, wanted, r)


# --- expressions of variables ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wild:
    """A random expression with a bound of its absolute value."""

    tree: Expr
    bound: int


_MOST = 1 << 22
_BY_LEVEL = (*LEVELS, *LEVELS, RELATIONS, RELATIONS, ARITHMETIC, UNARY, ("?:", "min", "max"), NUMBERS)
"""Operators by how tightly they bind: levels are drawn alike, so that neighbours of different
levels are.
"""


def wild(source: Source, depth: int) -> Wild:
    """Any expression of the names: shift amounts and divisors are composite too, and guarded unless
    they slip.
    """
    rng = source.rng
    if depth <= 0 or source.chance(0.08):
        return _wild_leaf(source)
    form = rng.choice(rng.choice(_BY_LEVEL))
    if form in NUMBERS:
        return Wild(number(rng, rng.randrange(64), form), 64)
    first = _tame(source, wild(source, depth - 1))
    a, bound = first.tree, first.bound
    if form in UNARY:
        return Wild(Op(form, (a,)), 1 if form == "!1" else bound + 1)
    if form in ("<<", ">>"):
        amount, most = _amount(source, depth - 1)
        return Wild(Op(form, (a, amount)), bound << most if form == "<<" else bound)
    if form in ("/", "%"):
        return Wild(Op(form, (a, _divisor(source, depth - 1))), bound)
    second = _tame(source, wild(source, depth - 1))
    b, most = second.tree, second.bound
    if form == "?:":
        condition = wild(source, depth - 1).tree
        return Wild(Op(form, (condition, a, b)), max(bound, most))
    if form in ("min", "max"):
        more = (number(rng, rng.randrange(40)),) if source.chance(0.4) else ()
        return Wild(Op(form, (a, b, *more)), max(bound, most, 40))
    if form in ("+", "-"):
        return Wild(Op(form, (a, b)), bound + most)
    if form == "*":
        return Wild(Op(form, (a, b)), bound * most)
    if form in ("&", "|", "^"):
        return Wild(Op(form, (a, b)), 2 * max(bound, most) + 1)
    return Wild(Op(form, (a, b)), 1)


def _wild_leaf(source: Source) -> Wild:
    rng = source.rng
    if source.names and source.chance(0.75):
        return Wild(Name(rng.choice(source.names)), 2048)
    if source.constants and source.chance(0.4):
        name = rng.choice(list(source.constants))
        return Wild(Name(name), abs(source.constants[name]) + 256)
    return Wild(number(rng, rng.choice((0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33))), 33)


def _tame(source: Source, drawn: Wild) -> Wild:
    """The expression cut to some bits where it grows too large."""
    if drawn.bound * drawn.bound < _MOST or (source.slip and source.chance(source.slip)):
        return drawn
    mask = source.rng.choice((7, 31, 63, 255))
    return Wild(Op("&", (drawn.tree, number(source.rng, mask))), mask)


def _amount(source: Source, depth: int) -> tuple[Expr, int]:
    """A shift amount and its largest value."""
    rng = source.rng
    if source.slip and source.chance(source.slip):
        drawn = wild(source, depth)
        return rng.choice((drawn.tree, Op("-", (drawn.tree, number(rng, rng.randrange(1, 9)))))), 8
    if source.chance(0.4):
        amount = rng.randrange(6)
        return number(rng, amount), amount
    mask = rng.choice((1, 3, 7))
    drawn, other = wild(source, depth).tree, wild(source, depth - 1).tree
    low = Op("&", (drawn, number(rng, mask)))
    match rng.randrange(4):
        case 0:
            return Op(rng.choice((*RELATIONS, "&&", "||")), (drawn, other)), 1
        case 1:
            return Op(rng.choice("/%+*|^"), (low, number(rng, rng.choice((1, 2))))), 14
        case 2:
            return rng.choice(
                (
                    Op("min", (low, number(rng, 3))),
                    Op("+1", (low,)),
                    Op("!1", (drawn,)),
                    Op(">>", (low, number(rng, 1))),
                    Op("<<", (low, number(rng, 1))),
                    Op("-", (number(rng, mask), low)),
                    Op("?:", (other, low, number(rng, 2))),
                )
            ), 14
        case _:
            return low, mask


def _divisor(source: Source, depth: int) -> Expr:
    rng = source.rng
    if source.slip and source.chance(source.slip):
        drawn = wild(source, depth).tree
        return rng.choice((drawn, Op("-", (drawn, number(rng, rng.randrange(1, 9)))), Op("&", (drawn, number(rng, 3)))))
    if source.chance(0.4):
        return number(rng, rng.choice((1, 2, 3, 4, 5, 7, 8, 16, -1, -2, -3, -8)))
    low = Op("&", (wild(source, depth).tree, number(rng, rng.choice((1, 3, 7, 12)))))
    positive = Op("+", (low, number(rng, rng.randrange(1, 5))))
    other = wild(source, depth - 1).tree
    one_of = (
        positive,
        positive,
        Op("-1", (positive,)),
        Op("|", (low, number(rng, 1))),
        Op("^", (low, number(rng, 16))),
        Op("&", (number(rng, 6), Op("|", (low, number(rng, 2))))),
        Op("max", (low, number(rng, 2))),
        Op("*", (positive, number(rng, rng.choice((1, 2, 3))))),
        Op("/", (Op("+", (low, number(rng, 4))), number(rng, rng.choice((1, 2, 3))))),
        Op("%", (positive, number(rng, 64))),
        Op("<<", (positive, number(rng, rng.randrange(3)))),
        Op(">>", (Op("+", (low, number(rng, 8))), number(rng, rng.randrange(3)))),
        Op("-", (number(rng, rng.choice((13, 20))), low)),
        Op("~1", (low,)),
        Op("?:", (other, positive, number(rng, 3))),
        Op(rng.choice((">", ">=", "!=")), (positive, number(rng, 0))),
        Op(rng.choice((">", ">=", "!=")), (positive, number(rng, 0))),
        Op(rng.choice(("<", "<=")), (low, number(rng, 13))),
        Op("==", (low, low)),
        Op("||", (rng.choice((positive, other)), positive)),
        Op("&&", (positive, positive)),
    )
    return rng.choice(one_of)


def condition(source: Source, depth: int = 3) -> Expr:
    """A composite condition, true at some points and false at others more often than not."""
    rng = source.rng
    if depth > 1 and source.chance(0.35):
        form = rng.choice(("&&", "||", "!1", "?:", "!=", "^", "|", "&", "=="))
        if form == "!1":
            return Op(form, (condition(source, depth - 1),))
        parts = [condition(source, depth - 1), condition(source, depth - 1)]
        if form == "?:":
            parts.append(condition(source, depth - 1))
        return Op(form, tuple(parts))
    left = _tame(source, wild(source, depth)).tree
    if source.chance(0.25):
        return left
    right = (
        number(rng, rng.choice((0, 1, 2, 3, 5, 8, 16, 20, 31))) if source.chance(0.5) else wild(source, depth - 1).tree
    )
    pair = (left, right) if source.chance(0.7) else (right, left)
    return Op(rng.choice(RELATIONS), pair)


def same(source: Source, tree: Expr, depth: int = 1) -> Expr:
    """The tree in other words: one operator more, and no other value where |value| < 2^19."""
    rng = source.rng
    form = rng.choice(OPERATORS)
    k = rng.choice((1, 2, 3, 5, 8, 16, 33))
    zero, one = _known(source, 0, depth), _known(source, 1, depth)
    large = number(rng, (1 << 19) + rng.randrange(99))
    match form:
        case "+" | "|" | "^" | "<<" | ">>" | "-":
            if form in ("^", "+", "-", "<<") and source.chance(0.4):
                back = {"^": "^", "+": "-", "-": "+", "<<": ">>"}[form]
                amount = number(rng, k % 6 if form == "<<" else k)
                return Op(back, (Op(form, (tree, amount)), amount))
            return Op(form, (tree, zero))
        case "*" | "/":
            if form == "/" and source.chance(0.5):
                return Op("/", (Op("*", (tree, number(rng, k))), number(rng, k)))
            return Op(form, (tree, one))
        case "%":
            return Op("%", (tree, number(rng, (1 << 21) + rng.choice((0, k)))))
        case "&":
            return Op("&", (tree, rng.choice((Op("~1", (zero,)), Op("-1", (one,)), tree))))
        case "-1" | "~1":
            return Op(form, (Op(form, (tree,)),))
        case "+1":
            return Op(form, (tree,))
        case "!1":
            return Op("*", (tree, Op("!1", (zero,))))
        case "?:":
            return rng.choice(
                (Op("?:", (one, tree, zero)), Op("?:", (zero, one, tree)), Op("?:", (wild(source, 1).tree, tree, tree)))
            )
        case "min":
            return Op("min", (tree, large) if source.chance(0.6) else (large, tree, tree))
        case "max":
            return Op("max", (tree, Op("-1", (large,))) if source.chance(0.6) else (tree, Op("-1", (large,)), tree))
        case "hex" | "binary" | "suffix":
            return Op("+", (tree, Op("*", (zero, number(rng, k, form)))))
        case _:
            return _same_by_truth(source, tree, form)


def _same_by_truth(source: Source, tree: Expr, form: str) -> Expr:
    """The tree with a comparison or a logical operator whose truth is known added or multiplied in."""
    rng = source.rng
    nonnegative: Expr = Name(rng.choice(source.names)) if source.names else number(rng, 3)
    minus = Op("-1", (number(rng, rng.randrange(1, 5)),))
    true, false = Op(">=", (nonnegative, number(rng, 0))), Op("==", (nonnegative, minus))
    known = {
        "<": (Op("<", (minus, nonnegative)), True),
        "<=": (Op("<=", (nonnegative, minus)), False),
        ">": (Op(">", (minus, nonnegative)), False),
        ">=": (true, True),
        "==": (false, False),
        "!=": (Op("!=", (nonnegative, minus)), True),
        "&&": (Op("&&", (true, Op("-", (nonnegative, minus)))), True),
        "||": (Op("||", (false, Op("<", (nonnegative, number(rng, 0))))), False),
    }
    made, truth = known[form]
    return Op("*", (tree, made)) if truth else Op("+", (tree, made))


def _known(source: Source, value: int, depth: int) -> Expr:
    """0 or 1, as a constant or as an expression of the names."""
    rng = source.rng
    if not source.names or source.chance(0.5):
        return valued(source, value, depth)
    name = Name(rng.choice(source.names))
    zero = rng.choice(
        (
            Op("-", (name, name)),
            Op("&", (name, number(rng, 0))),
            Op("<", (name, number(rng, 0))),
            Op("^", (name, name)),
            Op("%", (name, number(rng, 1))),
        )
    )
    return zero if value == 0 else Op("+", (zero, number(rng, value)))


def rewritten(source: Source, tree: Expr, times: int) -> Expr:
    """The tree with some of its parts in other words; its values stay."""
    for _ in range(times):
        tree = _at_some_node(source, tree)
    return tree


def _at_some_node(source: Source, tree: Expr) -> Expr:
    if not isinstance(tree, Op) or source.chance(0.4):
        return same(source, tree)
    at = source.rng.randrange(len(tree.operands))
    operands = list(tree.operands)
    if tree.symbol in ("/", "%", "<<", ">>") and at == 1:
        # Not by what only enumeration could show to be defined.
        operands[at] = Op("+", (operands[at], valued(source, 0, 1)))
    else:
        operands[at] = _at_some_node(source, operands[at])
    return Op(tree.symbol, tuple(operands))
