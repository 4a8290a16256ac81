"""The recheck's own integers and its own reading of C, against Python's integers and the front
end's parser.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

from swzrecheck.c_text import MAX_CHARACTERS, Node, names_of, read_expression
from swzrecheck.c_value import VALUE_MAX, VALUE_MIN, Conditions, Values
from swzrecheck.exact import Arithmetic, Exact, width_of
from swzrecheck.meaning import signed
from swzrecheck.program import Builder, evaluate
from swzverify.errors import SwzError
from swzverify.ir.c_ast import Binary, Call, CExpr, Conditional, Name, Number, Unary
from swzverify.ir.c_eval import evaluate as evaluate_c
from swzverify.ir.c_parse import parse
from tests.certificates.judge import all_points
from tests.nightly import counts

Point: TypeAlias = Mapping[str, int]
Plain: TypeAlias = Callable[[Point], int]


def towards_zero(a: int, b: int) -> int:
    """C's quotient; 0 for a divisor of 0, as the recheck's total operators have it."""
    if not b:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shift(b: int) -> int:
    return min(31, max(0, b))


INFIX: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": towards_zero,
    "remainder": lambda a, b: a - b * towards_zero(a, b) if b else 0,
    "shift_left": lambda a, b: a << shift(b),
    "shift_right": lambda a, b: a >> shift(b),
    "least": min,
    "largest": max,
}
BITS: dict[str, Callable[[int, int], int]] = {
    "bvand": lambda a, b: a & b,
    "bvor": lambda a, b: a | b,
    "bvxor": lambda a, b: a ^ b,
}
ORDER: dict[str, Callable[[int, int], bool]] = {
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
}


def read(out: Builder, value: Exact, point: Point) -> int:
    """The integer that a line stands for."""
    width = out.width(value.place)
    assert width == width_of(value.low, value.high)
    bits = evaluate(tuple(out.lines), point)[value.place]
    return signed(bits, width) if value.low < 0 else bits


def drawn(rng: random.Random, numbers: Arithmetic) -> list[tuple[Exact, Plain]]:
    """Two leaves and some operators on them, each with what it means."""

    def leaf(name: str) -> tuple[Exact, Plain]:
        low, count = rng.randint(-9, 9), rng.randint(1, 9)
        if rng.random() < 0.3:
            return numbers.number(low), lambda _: low
        return numbers.add(numbers.variable(name, count), numbers.number(low)), lambda p: p[name] + low

    found = [leaf("x"), leaf("y")]
    for _ in range(rng.randint(1, 4)):
        (a, f), (b, g), (c, h) = (rng.choice(found) for _ in range(3))
        name = rng.choice([*INFIX, *BITS, *ORDER, "choose", "invert", "truth", "clamp", "within"])
        if name in INFIX and not (name == "shift_left" and b.high > 8):
            found.append((getattr(numbers, name)(a, b), lambda p, f=f, g=g, n=name: INFIX[n](f(p), g(p))))
        elif name in BITS:
            found.append((numbers.bitwise(name, a, b), lambda p, f=f, g=g, n=name: BITS[n](f(p), g(p))))
        elif name in ORDER:
            bit = numbers.bit(getattr(numbers, name)(a, b))
            found.append((bit, lambda p, f=f, g=g, n=name: int(ORDER[n](f(p), g(p)))))
        elif name == "choose":
            chosen = numbers.choose(numbers.truth(c), a, b)
            found.append((chosen, lambda p, f=f, g=g, h=h: f(p) if h(p) else g(p)))
        elif name == "invert":
            found.append((numbers.invert(a), lambda p, f=f: ~f(p)))
        elif name == "truth":
            found.append((numbers.bit(numbers.truth(a)), lambda p, f=f: int(f(p) != 0)))
        elif name == "clamp":
            found.append((numbers.clamp(a, -2, 3), lambda p, f=f: min(3, max(-2, f(p)))))
        elif name == "within":
            found.append((numbers.bit(numbers.within(a, -2, 3)), lambda p, f=f: int(-2 <= f(p) <= 3)))
    return found


@pytest.mark.parametrize("count", counts(600, 2500))
def test_every_operator_is_exact_and_inside_its_bounds(count: int) -> None:
    looked = 0
    for seed in range(count):
        numbers = Arithmetic(Builder())
        found = drawn(random.Random(seed), numbers)
        for point in all_points(tuple(numbers.out.lines)):
            for value, plain in found:
                wanted = plain({"x": 0, "y": 0, **point})
                assert value.low <= wanted <= value.high, (seed, point)
                assert read(numbers.out, value, point) == wanted, (seed, point)
                looked += 1
    assert looked > 40 * count


def test_remainders_and_quotients_by_1() -> None:
    numbers = Arithmetic(Builder())
    x = numbers.variable("x", 9)
    assert numbers.divide(x, numbers.number(1)) == x
    rest = numbers.remainder(x, numbers.number(1))
    assert (rest.low, rest.high, numbers.out.known(rest.place)) == (0, 0, 0)


# --- C ---------------------------------------------------------------------------------------------------------------

OPERATORS = ("*", "/", "%", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||")


def text_of(rng: random.Random, depth: int) -> str:
    """A random expression; parentheses are often left out, so that precedence counts."""
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return rng.choice(["x", "y", "lane", str(rng.randint(0, 9)), "0x1F", "3u", "0b101", "4294967295", "65536"])
    inner = [text_of(rng, depth - 1) for _ in range(3)]
    if kind < 0.3:
        return rng.choice(["- ", "~", "! ", "+ "]) + inner[0]
    if kind < 0.38:
        return f"({inner[0]}) ? {inner[1]} : {inner[2]}"
    if kind < 0.46:
        return f"{rng.choice(['min', 'max'])}({inner[0]}, {inner[1]})"
    text = f"{inner[0]} {rng.choice(OPERATORS)} {inner[1]}"
    return f"({text})" if rng.random() < 0.5 else text


def same_tree(node: Node, other: CExpr) -> bool:
    match other:
        case Number(value):
            return (node.operator, node.number) == ("number", value)
        case Name(name):
            return (node.operator, node.name) == ("name", name)
        case Unary(operator, operand):
            return node.operator == f"u{operator.value}" and same_tree(node.operands[0], operand)
        case Binary(operator, left, right):
            sides = zip(node.operands, (left, right), strict=True)
            return node.operator == operator.value and all(same_tree(a, b) for a, b in sides)
        case Conditional(condition, then, otherwise):
            sides = zip(node.operands, (condition, then, otherwise), strict=True)
            return node.operator == "?" and all(same_tree(a, b) for a, b in sides)
        case Call(function, arguments):
            sides = zip(node.operands, arguments, strict=True)
            return node.operator == function and all(same_tree(a, b) for a, b in sides)


@pytest.mark.parametrize("count", counts(1000, 3000))
def test_both_parsers_read_the_same_trees(count: int) -> None:
    for seed in range(count):
        text = text_of(random.Random(seed), 4)
        assert same_tree(read_expression(text), parse(text).root), text


def front_end(text: str, names: Point) -> int | None:
    """The front end's value; None where it has none."""
    try:
        return evaluate_c(parse(text), names)
    except SwzError:
        return None


@pytest.mark.parametrize("count", counts(600, 1500))
def test_values_and_what_has_none(count: int) -> None:
    """Where the front end evaluates, the value is the same and all conditions are 1; where it
    refuses, one is 0.
    """
    seen: Counter[bool] = Counter()
    for seed in range(count):
        rng = random.Random(seed)
        text = text_of(rng, 3)
        out = Builder()
        numbers = Arithmetic(out)
        names = {
            "x": numbers.variable("x", 5),
            "y": numbers.add(numbers.variable("y", 7), numbers.number(-3)),
            "lane": numbers.variable("lane", 32),
        }
        conditions = Conditions()
        value = Values(numbers, names, conditions).of(text)
        for _ in range(6):
            point = {line.name: rng.randrange(line.number) for line in tuple(out.lines) if line.operator == "var"}
            plain = {"x": point["x"], "y": point["y"] - 3, "lane": point["lane"]}
            bits = evaluate(tuple(out.lines), point)
            good = all(bits[place] for place in (*conditions.inside, *conditions.defined))
            wanted = front_end(text, plain)
            assert good is (wanted is not None), (text, plain)
            seen[good] += 1
            if wanted is None:
                continue
            assert VALUE_MIN <= wanted <= VALUE_MAX
            assert read(out, value, point) == wanted, (text, plain)
    assert min(seen.values()) > count // 3, seen


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "1 2", "a b", "(", ")", "a)", "(a", "a +", "* a", "a ? b", "a ? b :", "a : b", "a,b", "min(a)"),
        *("min", "f(a)", "a--b", "a++b", "a---b", "a // b", "a /* b", "a = b", "a += b", "a ** b", "a->b", "a::b"),
        *("010", "08", "1.5", "1e3", "0x", "0b2", "3lu3", "1'000", "4294967296", "a.b", "a.x.y", "'a'", '"a"'),
        *("a\u00a0", "\u0661", "\u0430", "a;b", "a\x00", "a @ b", "#", "(" * 300 + "a" + ")" * 300, "-" * 9 + "a"),
        "a+" * 130 + "a",
        "a" * (MAX_CHARACTERS + 1),
    ],
)
def test_texts_that_are_no_expression(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_expression(text)


def test_names_of_an_expression() -> None:
    assert names_of(read_expression("a ? threadIdx.x : min(b, -c) + 0*d")) == {"a", "threadIdx.x", "b", "c", "d"}
