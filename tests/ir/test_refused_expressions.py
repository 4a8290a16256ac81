"""What is said of each text that is no expression, word for word, and where; and the edges of what
is read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.ir.c_ast import Call, Name, Number
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_eval_many import evaluate_many
from swzverify.ir.c_parse import MAX_DEPTH, MAX_NODES, expression, parse

CASTS = "all values are exact integers, so leave the type out"

# text, code, the characters that are marked, message, hint
REFUSED = [
    ("", "SWZ302", (0, 0), "the expression is empty", "write one, such as tid / 8"),
    ("   ", "SWZ302", (0, 3), "the expression is empty", "write one, such as tid / 8"),
    ("a +", "SWZ302", (3, 3), "the expression ends where an operand is missing", "write a number, a name or a '('"),
    (
        "a b",
        "SWZ302",
        (2, 3),
        "an operator is missing before 'b'",
        "write one of + - * / % << >> & | ^ or a comparison between the two",
    ),
    (
        "a 3",
        "SWZ302",
        (2, 3),
        "an operator is missing before '3'",
        "write one of + - * / % << >> & | ^ or a comparison between the two",
    ),
    ("(a", "SWZ302", (0, 1), "'(' is never closed", "add the missing ')'"),
    ("a)", "SWZ302", (1, 2), "')' closes no '('", "leave it out, or add the '('"),
    ("a ? b", "SWZ302", (2, 3), "'?' has no ':'", "write condition ? a : b"),
    (
        "a ? b : ",
        "SWZ302",
        (8, 8),
        "the expression ends where an operand is missing",
        "write a number, a name or a '('",
    ),
    ("min(a)", "SWZ302", (0, 6), "'min' needs two or more arguments, not 1", "write min(a, b)"),
    ("min()", "SWZ302", (0, 5), "'min' needs two or more arguments, not 0", "write min(a, b)"),
    ("max", "SWZ302", (0, 3), "'max' is a function", "write max(a, b)"),
    ("maxi(a, b)", "SWZ302", (0, 4), "unknown function 'maxi'", "did you mean 'max'?"),
    ("foo(a)", "SWZ302", (0, 3), "unknown function 'foo'", "the functions are min and max; a product needs its '*'"),
    ("a : b", "SWZ302", (2, 3), "':' has no '?'", "write condition ? a : b"),
    ("a, b", "SWZ302", (1, 2), "',' stands outside the arguments of min and max", "write one expression"),
    ("(int)a", "SWZ302", (0, 5), "'(int)' is a cast, and there are none", CASTS),
    ("(a) b", "SWZ302", (0, 3), "'(a)' before 'b' reads as a cast", CASTS),
    ("(a) 3", "SWZ302", (0, 3), "'(a)' before '3' reads as a cast", CASTS),
    ("sizeof(a)", "SWZ302", (0, 6), "'sizeof' is not read", "write the number of bytes"),
    ("int", "SWZ302", (0, 3), "'int' is a type or a cast, and there are none", CASTS),
    ("a and b", "SWZ302", (2, 5), "'and' is not read as an operator", "write &&"),
    ("not a", "SWZ302", (0, 3), "'not' is not read as an operator", "write !"),
    ("threadIdx", "SWZ302", (0, 9), "'threadIdx' is not an integer", "write threadIdx.x, threadIdx.y or threadIdx.z"),
    (
        "threadIdx.w",
        "SWZ302",
        (0, 11),
        "'threadIdx.w' is not an integer",
        "write threadIdx.x, threadIdx.y or threadIdx.z",
    ),
    ("a.b", "SWZ302", (0, 3), "'a.b' reads a member, and 'a' has none", "write threadIdx.x"),
    ("a = b", "SWZ302", (2, 3), "'=' assigns, and an expression cannot", "to compare, write =="),
    ("a += b", "SWZ302", (2, 4), "'+=' assigns, and an expression cannot", "write the value alone"),
    ("a <<= b", "SWZ302", (2, 5), "'<<=' assigns, and an expression cannot", "write the value alone"),
    (
        "a++",
        "SWZ302",
        (1, 3),
        "'++' changes a variable, and an expression cannot",
        "write x + 1; a plus of a plus is '+ +'",
    ),
    (
        "a--b ++",
        "SWZ302",
        (1, 3),
        "'--' changes a variable, and an expression cannot",
        "write x - 1; a minus of a minus is '- -'",
    ),
    (
        "a[0]",
        "SWZ302",
        (1, 2),
        "'[' indexes an array, and there are none",
        "write the index expression itself; a loop variable is no stand-in for data, as it is the same in all lanes",
    ),
    ("a->b", "SWZ302", (1, 3), "'->' reads through a pointer, and there are none", "give the value a name of its own"),
    ("a \u00d7 b", "SWZ302", (2, 3), "'\\xd7' is not ASCII", "write *"),
    ("a \u2264 b", "SWZ302", (2, 3), "'\\u2264' is not ASCII", "write <="),
    ("a \u03b1 b", "SWZ302", (2, 3), "'\\u03b1' is not ASCII", "write it in ASCII"),
    ("a @ b", "SWZ302", (2, 3), "'@' has no meaning in an expression", "leave it out"),
    ("a # b", "SWZ302", (2, 3), "'#' has no meaning in an expression", "leave it out"),
    ("'a'", "SWZ302", (0, 1), "characters are not read", "write the integer"),
    ('"a"', "SWZ302", (0, 1), "strings are not read", "write the integer"),
    ("1.5", "SWZ302", (0, 3), "'1.5' is a floating-point literal", "write an integer"),
    ("1e3", "SWZ302", (0, 3), "'1e3' is a floating-point literal", "write an integer"),
    ("0x1p3", "SWZ302", (0, 5), "'0x1p3' is a floating-point literal", "write an integer"),
    ("0x1.8", "SWZ302", (0, 5), "'0x1.8' is a floating-point literal", "write an integer"),
    ("08", "SWZ302", (0, 2), "'08' starts with a zero, which C reads as octal", "write 8"),
    ("010", "SWZ302", (0, 3), "'010' starts with a zero, which C reads as octal", "write 10, or 0x8 for C's value"),
    ("09u", "SWZ302", (0, 3), "'09u' starts with a zero, which C reads as octal", "write 9"),
    ("00", "SWZ302", (0, 2), "'00' starts with a zero, which C reads as octal", "write 0, or 0x0 for C's value"),
    ("1'000", "SWZ302", (0, 5), '"1\'000" has digit separators', "write 1000"),
    ("1_000", "SWZ302", (0, 5), '"1_000" has digit separators', "write 1000"),
    ("0xFF_FF", "SWZ302", (0, 7), '"0xFF_FF" has digit separators', "write 0xFFFF"),
    ("0b1'0", "SWZ302", (0, 5), '"0b1\'0" has digit separators', "write 0b10"),
    (
        "0xE+1",
        "SWZ302",
        (0, 5),
        "C reads '0xE+1' as one literal, and it is none",
        "put a space before the sign",
    ),
    ("0xe+1", "SWZ302", (0, 5), "C reads '0xe+1' as one literal, and it is none", "put a space before the sign"),
    (
        "1zz",
        "SWZ302",
        (0, 3),
        "'1zz' is not an integer literal",
        "literals are decimal, 0x and hex digits, or 0b and bits; then at most u, l, ul, ll or ull",
    ),
    ("4294967296", "SWZ303", (0, 10), "the literal is out of range", "literals lie in 0..4294967295"),
    ("0x100000000", "SWZ303", (0, 11), "the literal is out of range", "literals lie in 0..4294967295"),
    ("min(a, b", "SWZ302", (3, 4), "'(' is never closed", "add the missing ')'"),
    ("min a", "SWZ302", (0, 3), "'min' is a function", "write min(a, b)"),
    ("static_cast<int>(a)", "SWZ302", (0, 11), "'static_cast' is a type or a cast, and there are none", CASTS),
    ("a ? b , c", "SWZ302", (2, 3), "'?' has no ':'", "write condition ? a : b"),
    ("a ? b ) : c", "SWZ302", (2, 3), "'?' has no ':'", "write condition ? a : b"),
    ("/* a */", "SWZ302", (0, 2), "comments are not read", "leave the comment out"),
    ("// a", "SWZ302", (0, 2), "comments are not read", "leave the comment out; division is a single '/'"),
    ("a; b", "SWZ302", (1, 2), "';' ends a statement, and this is one expression", "leave the ';' out"),
    ("a { b", "SWZ302", (2, 3), "'{' opens no expression", "group with ( and )"),
    ("\\", "SWZ302", (0, 1), "'\\\\' has no meaning in an expression", "leave it out"),
    ("a ** b", "SWZ302", (2, 4), "'**' is not an operator of C", "write a product; a power of two is 1 << n"),
    ("a === b", "SWZ302", (2, 5), "'===' is not an operator of C", "to compare, write =="),
    ("a <=> b", "SWZ302", (2, 5), "'<=>' is not an operator of C", "compare with < <= > >= == !="),
    ("a ?: b", "SWZ302", (3, 4), "an operand is missing before ':'", "write a number, a name or a '('"),
    ("(unsigned int) a", "SWZ302", (0, 14), "'(unsigned int)' is a cast, and there are none", CASTS),
    ("a %% b", "SWZ302", (3, 4), "an operand is missing before '%'", "write a number, a name or a '('"),
    ("1E3", "SWZ302", (0, 3), "'1E3' is a floating-point literal", "write an integer"),
    ("1e+3", "SWZ302", (0, 4), "'1e+3' is a floating-point literal", "write an integer"),
    ("5.", "SWZ302", (0, 2), "'5.' is a floating-point literal", "write an integer"),
    (".5", "SWZ302", (0, 2), "'.5' is a floating-point literal", "write an integer"),
    ("0X1P3", "SWZ302", (0, 5), "'0X1P3' is a floating-point literal", "write an integer"),
    ("0xe+1.5", "SWZ302", (0, 7), "'0xe+1.5' is a floating-point literal", "write an integer"),
    ("077u", "SWZ302", (0, 4), "'077u' starts with a zero, which C reads as octal", "write 77, or 0x3f for C's value"),
    ("1__0", "SWZ302", (0, 4), '"1__0" has digit separators', "write 10"),
    ("3'", "SWZ302", (0, 2), '"3\'" has digit separators', "write 3"),
]


@pytest.mark.parametrize(
    ("text", "code", "span", "message", "hint"), REFUSED, ids=[row[0] or "empty" for row in REFUSED]
)
def test_refusal(text: str, code: str, span: tuple[int, int], message: str, hint: str) -> None:
    with pytest.raises(SwzError) as caught:
        parse(text)
    found = caught.value
    assert (found.code, found.message, found.hint, found.text, found.span) == (code, message, hint, text, span)


RANGE = "values lie in -2147483648..4294967295"
VALUES: list[tuple[int, str, str, str]] = [
    (True, "'true' is not an integer", "true", "write 1"),
    (False, "'false' is not an integer", "false", "write 0"),
    (-(2**31) - 1, "the integer is out of range", "-2147483649", RANGE),
    (2**32, "the integer is out of range", "4294967296", RANGE),
    (2**127, "the integer is out of range", str(2**127), RANGE),
    (2**128, "the integer is out of range", "an integer of 129 bits", RANGE),
]


@pytest.mark.parametrize(("value", "message", "shown", "hint"), VALUES, ids=[row[2] for row in VALUES])
def test_value_that_is_none(value: int, message: str, shown: str, hint: str) -> None:
    with pytest.raises(SwzError) as caught:
        expression(value)
    found = caught.value
    assert (found.message, found.text, found.span, found.hint) == (message, shown, (0, len(shown)), hint)


@pytest.mark.parametrize("value", [-(2**31), -1, 0, 2**32 - 1])
def test_value_at_the_edge(value: int) -> None:
    assert evaluate(expression(value), {}) == value


LITERALS = {
    "0": 0,
    "4294967295": 2**32 - 1,
    "0xFFFFFFFF": 2**32 - 1,
    "0b" + "1" * 32: 2**32 - 1,
    "0x0ff": 255,
    "0B10": 2,
}
LITERALS |= {"0XaB": 171, "7ull": 7, "7LU": 7, "0x1u": 1, "0b" + "0" * 40 + "1": 1, "0x" + "0" * 40 + "1": 1}


@pytest.mark.parametrize(("text", "value"), LITERALS.items())
def test_literal(text: str, value: int) -> None:
    assert parse(text).root == Number(value, (0, len(text)))


DEEP = "group a long sum as (a + b) + (c + d), or name parts of the expression"
NESTED = "leave out the parentheses that group nothing, or name parts of the expression"
LIMITS: dict[str, tuple[str, str, str, str]] = {
    # a text that is read, one that is not, its message and hint
    "sums": (
        "a" + "+a" * MAX_DEPTH,
        "a" + "+a" * (MAX_DEPTH + 1),
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "signs": (
        "~" * MAX_DEPTH + "a",
        "~" * (MAX_DEPTH + 1) + "a",
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "choices": (
        "a?b:" * MAX_DEPTH + "c",
        "a?b:" * (MAX_DEPTH + 1) + "c",
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "choices inside choices": (
        "a?" * MAX_DEPTH + "b" + ":c" * MAX_DEPTH,
        "a?" * (MAX_DEPTH + 1) + "b" + ":c" * (MAX_DEPTH + 1),
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "a sum inside a choice": (
        "a?b" + "+b" * (MAX_DEPTH - 1) + ":c",
        "a?b" + "+b" * MAX_DEPTH + ":c",
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "a sum inside a condition": (
        "(a" + "+a" * (MAX_DEPTH - 1) + ")?b:c",
        "(a" + "+a" * MAX_DEPTH + ")?b:c",
        f"more than {MAX_DEPTH} operators lie one inside the other",
        DEEP,
    ),
    "parentheses after others": (
        "(1)+" * 10 + "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH,
        "(1)+" * 10 + "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1),
        f"more than {MAX_DEPTH} parentheses are open here",
        NESTED,
    ),
    "parentheses": (
        "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH,
        "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1),
        f"more than {MAX_DEPTH} parentheses are open here",
        NESTED,
    ),
    "parts": (
        f"min({','.join('a' * (MAX_NODES - 1))})",
        f"min({','.join('a' * MAX_NODES)})",
        f"more than {MAX_NODES} literals, names and operators",
        "split it, or name parts of it",
    ),
}


@pytest.mark.parametrize(("read", "refused", "message", "hint"), LIMITS.values(), ids=LIMITS)
def test_limit(read: str, refused: str, message: str, hint: str) -> None:
    assert parse(read).text == read
    with pytest.raises(SwzError) as caught:
        parse(refused)
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("SWZ302", message, hint)


def test_parentheses_that_are_closed_count_no_more() -> None:
    pair = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    assert evaluate(parse(f"{pair}+{pair}+{pair}"), {}) == 3


A = Name("a", (0, 1))
MADE: dict[str, tuple[Callable[[], object], str]] = {
    "negative": (
        lambda: Number(-1, (0, 1)),
        "SWZ303: a literal must lie in 0..4294967295\n  a negative value is a unary minus and a literal",
    ),
    "no name": (
        lambda: Name("3a", (0, 1)),
        "SWZ302: '3a' is not a name\n  a name is letters, digits and '_', not starting with a digit",
    ),
    "function": (
        lambda: Call("abs", (A, A), (0, 1)),  # type: ignore[arg-type]  # what the type forbids
        "SWZ302: unknown function 'abs'\n  the functions are min and max",
    ),
    "one argument": (
        lambda: Call("max", (A,), (0, 1)),
        "SWZ302: 'max' needs two or more arguments, not 1\n  write max(a, b)",
    ),
}


@pytest.mark.parametrize(("make", "said"), MADE.values(), ids=MADE)
def test_tree_that_no_text_has(make: Callable[[], object], said: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()
    assert str(caught.value) == said


UNDEFINED = {
    "1 / (a - 3)": "SWZ305: the divisor 'a - 3' is 0 when a = 3",
    "a % (a-3)": "SWZ305: the divisor 'a-3' is 0 when a = 3",
    "1 << a - 4": "SWZ304: the shift amount 'a - 4' is -1, outside 0..31 when a = 3",
    "1 >> 29+a": "SWZ304: the shift amount '29+a' is 32, outside 0..31 when a = 3",
    "a * 4294967295": "SWZ303: 'a * 4294967295' is 12884901885 when a = 3",
}


@pytest.mark.parametrize(("text", "said"), UNDEFINED.items())
def test_undefined_value(text: str, said: str) -> None:
    hints = {
        "SWZ305": "divisors are judged for every value of their names, also under ?:, && and ||",
        "SWZ304": "judged for every value of its names; + and - bind tighter than << and >>",
        "SWZ303": "every intermediate value must lie in -2147483648..4294967295",
    }
    for judge in (lambda: evaluate(parse(text), {"a": 3}), lambda: evaluate_many(parse(text), {"a": np.array([3])})):
        with pytest.raises(SwzError) as caught:
            judge()
        assert f"{caught.value.code}: {caught.value.message}" == said
        assert caught.value.hint == hints[caught.value.code]


def test_undefined_where_the_other_name_is_a_scalar_of_an_array() -> None:
    # the divisor is 0 at the second b; a has one value, and is told
    with pytest.raises(SwzError) as caught:
        evaluate_many(parse("a / b"), {"a": np.array([[7], [8]]), "b": np.array([[1, 0, 0]])})
    assert caught.value.message == "the divisor 'b' is 0"
    with pytest.raises(SwzError) as caught:
        evaluate_many(parse("a * b"), {"a": np.array([[1], [4294967295]]), "b": np.array([[1, 2, 3]])})
    assert caught.value.message == "'a * b' is 8589934590 when a = 4294967295, b = 2"
