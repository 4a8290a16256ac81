"""The parser of C integer expressions: trees, spans, text again, refusals and limits."""

from __future__ import annotations

import random
import re
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.ir.c_ast import (
    CUDA_NAMES,
    VALUE_MAX,
    Binary,
    BinaryOp,
    Call,
    CExpr,
    Conditional,
    Name,
    Number,
    Unary,
    UnaryOp,
    children,
    names,
    precedence,
    render,
)
from swzverify.ir.c_parse import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, expression, parse

NOWHERE = (0, 0)


def shape(node: CExpr) -> object:
    """The tree without its spans, fully bracketed: what two trees must share to be the same
    expression.
    """
    match node:
        case Number():
            return node.value
        case Name():
            return node.name
        case Unary():
            return (node.op.value, shape(node.operand))
        case Binary():
            return (shape(node.left), node.op.value, shape(node.right))
        case Conditional():
            return (shape(node.condition), "?", shape(node.then), ":", shape(node.otherwise))
        case Call():
            return (node.function, *(shape(argument) for argument in node.arguments))


def refused(text: str) -> SwzError:
    """The error that `parse(text)` must raise."""
    with pytest.raises(SwzError) as caught:
        parse(text)
    return caught.value


# Trees written out by hand from C's grammar.
TREES = [
    pytest.param("a + b * c", ("a", "+", ("b", "*", "c")), id="product-before-sum"),
    pytest.param("a * b + c", (("a", "*", "b"), "+", "c"), id="product-before-sum-left"),
    pytest.param("a - b - c", (("a", "-", "b"), "-", "c"), id="difference-to-the-left"),
    pytest.param("a / b * c % d", ((("a", "/", "b"), "*", "c"), "%", "d"), id="products-to-the-left"),
    pytest.param("a << 4 + 2048", ("a", "<<", (4, "+", 2048)), id="sum-before-shift"),
    pytest.param("a >> b << c", (("a", ">>", "b"), "<<", "c"), id="shifts-to-the-left"),
    pytest.param("a & b == c", ("a", "&", ("b", "==", "c")), id="equality-before-and"),
    pytest.param("a == b < c", ("a", "==", ("b", "<", "c")), id="order-before-equality"),
    pytest.param("a < b << c", ("a", "<", ("b", "<<", "c")), id="shift-before-order"),
    pytest.param("0 <= a < 4", ((0, "<=", "a"), "<", 4), id="comparisons-chain-to-the-left"),
    pytest.param("a | b ^ c & d", ("a", "|", ("b", "^", ("c", "&", "d"))), id="and-xor-or"),
    pytest.param("a & b ^ c | d", ((("a", "&", "b"), "^", "c"), "|", "d"), id="and-xor-or-reversed"),
    pytest.param("a ^ b & c + 1", ("a", "^", ("b", "&", ("c", "+", 1))), id="sum-before-bits"),
    pytest.param("a || b && c | d", ("a", "||", ("b", "&&", ("c", "|", "d"))), id="logic-last"),
    pytest.param("a && b || c && d", (("a", "&&", "b"), "||", ("c", "&&", "d")), id="and-before-or"),
    pytest.param("a != b == c", (("a", "!=", "b"), "==", "c"), id="equalities-to-the-left"),
    pytest.param("-a * b", (("-", "a"), "*", "b"), id="unary-before-product"),
    pytest.param("~a & !b", (("~", "a"), "&", ("!", "b")), id="unary-before-bits"),
    pytest.param("-~!+a", ("-", ("~", ("!", ("+", "a")))), id="unary-chain"),
    pytest.param("a - -b", ("a", "-", ("-", "b")), id="minus-minus"),
    pytest.param("a&&!b", ("a", "&&", ("!", "b")), id="without-spaces"),
    pytest.param("a<-b", ("a", "<", ("-", "b")), id="less-than-minus"),
    pytest.param("a ? b : c ? d : e", ("a", "?", "b", ":", ("c", "?", "d", ":", "e")), id="ternary-right"),
    pytest.param("a ? b ? c : d : e", ("a", "?", ("b", "?", "c", ":", "d"), ":", "e"), id="ternary-middle"),
    pytest.param("(a ? b : c) ? d : e", (("a", "?", "b", ":", "c"), "?", "d", ":", "e"), id="ternary-left"),
    pytest.param("a || b ? c : d + 1", (("a", "||", "b"), "?", "c", ":", ("d", "+", 1)), id="ternary-loosest"),
    pytest.param("a * (b ? c : d)", ("a", "*", ("b", "?", "c", ":", "d")), id="ternary-in-parentheses"),
    pytest.param("a * (b + c)", ("a", "*", ("b", "+", "c")), id="parentheses"),
    pytest.param("a - (b - c)", ("a", "-", ("b", "-", "c")), id="parentheses-right"),
    pytest.param("((a))", "a", id="parentheses-around-a-name"),
    pytest.param("min(a, b + 1, 3) * 2", (("min", "a", ("b", "+", 1), 3), "*", 2), id="min-of-three"),
    pytest.param("max (a, a ? b : c)", ("max", "a", ("a", "?", "b", ":", "c")), id="max-with-ternary"),
    pytest.param("threadIdx.x/8+blockDim.z", (("threadIdx.x", "/", 8), "+", "blockDim.z"), id="dotted-names"),
    pytest.param(" a\n\t+ b ", ("a", "+", "b"), id="white-space"),
    pytest.param("integer + min_ + _x9", (("integer", "+", "min_"), "+", "_x9"), id="names-near-keywords"),
]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_tree(text: str, tree: object) -> None:
    parsed = parse(text)
    assert shape(parsed.root) == tree
    assert (str(parsed), parsed.text) == (text, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("7", 7), ("4294967295", VALUE_MAX), ("0xFf", 255), ("0X0010", 16), ("0b101", 5),
        ("0B0", 0),
        ("8u", 8), ("8U", 8), ("8l", 8), ("8L", 8), ("8ul", 8), ("8LU", 8), ("8ll", 8), ("8LL", 8),
        ("8ull", 8),
        ("8llU", 8), ("0u", 0), ("0xFu", 15), ("0b11ull", 3), ("0x" + "0" * 90 + "f", 15),
    ],
)  # fmt: skip
def test_literal(text: str, value: int) -> None:
    assert parse(text).root == Number(value, (0, len(text)))


@pytest.mark.parametrize("name", [*sorted(CUDA_NAMES), "tid_x", "_", "K9"])
def test_name(name: str) -> None:
    assert parse(f" {name}").root == Name(name, (1, 1 + len(name)))


def test_spans_are_the_source_of_each_node() -> None:
    text = "(a + b) / max(c, -d) ? (x) : y<<3"
    found: list[str] = []

    def visit(node: CExpr) -> None:
        found.append(text[slice(*node.span)])
        for child in children(node):
            visit(child)

    visit(parse(text).root)
    assert found == [
        text, "(a + b) / max(c, -d)", "a + b", "a", "b", "max(c, -d)", "c", "-d", "d", "x", "y<<3", "y", "3",
    ]  # fmt: skip


def test_names() -> None:
    parsed = parse("tid ? k : max(lane, k, threadIdx.x) + 4")
    assert parsed.names == names(parsed.root) == {"tid", "k", "lane", "threadIdx.x"}
    assert parse("1 + 2").names == frozenset()


def test_nodes_are_values() -> None:
    first, second = parse("a + 1"), parse("a + 1")
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(AttributeError):
        first.root.span = (0, 1)  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(first.root, "__dict__")


def test_integers_are_expressions() -> None:
    assert expression(64) == parse("64")
    assert shape(expression(-(2**31)).root) == ("-", 2**31)
    assert expression("tid / 8") == parse("tid / 8")


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 10**5000], ids=["above", "below", "huge"])
def test_integer_out_of_range(value: int) -> None:
    with pytest.raises(SwzError) as caught:
        expression(value)
    assert caught.value.code == "SWZ303"
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("value", "hint"), [(True, "write 1"), (False, "write 0")])
def test_truth_values_are_not_integers(value: bool, hint: str) -> None:
    with pytest.raises(SwzError, match="is not an integer") as caught:
        expression(value)
    assert (caught.value.code, caught.value.hint) == ("SWZ302", hint)


# text, the offending part's span, a word of the message, a word of the hint.
REFUSALS = [
    ("", (0, 0), "empty", "tid / 8"),
    ("  ", (0, 2), "empty", "tid / 8"),
    ("a +", (3, 3), "ends where an operand", "number"),
    ("a + ", (4, 4), "ends where an operand", "number"),
    ("a * / b", (4, 5), "operand is missing before '/'", "number"),
    ("& a", (0, 1), "operand is missing before '&'", "number"),
    ("()", (1, 2), "operand is missing before ')'", "number"),
    ("(a", (0, 1), "never closed", "')'"),
    ("((a) + min(b, c)", (0, 1), "never closed", "')'"),
    ("a)", (1, 2), "closes no", "leave"),
    ("a b", (2, 3), "operator is missing before 'b'", "between"),
    ("3 (a)", (2, 3), "operator is missing before '('", "between"),
    ("(a + b) 3", (8, 9), "operator is missing before '3'", "between"),
    ("a !b", (2, 3), "operator is missing before '!'", "between"),
    ("a and b", (2, 5), "'and'", "write &&"),
    ("not a", (0, 3), "'not'", "write !"),
    ("min(a)", (0, 6), "two or more arguments, not 1", "min(a, b)"),
    ("1 + max()", (4, 9), "two or more arguments, not 0", "max(a, b)"),
    ("min(a,)", (6, 7), "operand is missing", "number"),
    ("min(,a)", (4, 5), "operand is missing", "number"),
    ("min(a, b", (3, 4), "never closed", "')'"),
    ("min + 1", (0, 3), "is a function", "min(a, b)"),
    ("mim(a, b)", (0, 3), "unknown function 'mim'", "did you mean 'min'?"),
    ("a + foo(b)", (4, 7), "unknown function 'foo'", "min and max"),
    ("a, b", (1, 2), "outside the arguments", "one expression"),
    ("(a, b)", (2, 3), "outside the arguments", "one expression"),
    ("a ? b", (2, 3), "'?' has no ':'", "condition ? a : b"),
    ("(a ? b) + 1", (3, 4), "'?' has no ':'", "condition ? a : b"),
    ("min(a ? b, c)", (6, 7), "'?' has no ':'", "condition ? a : b"),
    ("a ? b c", (6, 7), "operator is missing", "between"),
    ("a : b", (2, 3), "':' has no '?'", "condition ? a : b"),
    ("a ?: b", (3, 4), "operand is missing before ':'", "number"),
    ("tid = 4", (4, 5), "'=' assigns", "write =="),
    ("tid += 4", (4, 6), "'+=' assigns", "value alone"),
    ("tid <<= 4", (4, 7), "'<<=' assigns", "value alone"),
    ("a =< b", (2, 4), "not an operator", "write <="),
    ("a => b", (2, 4), "not an operator", "write >="),
    ("a === b", (2, 5), "not an operator", "write =="),
    ("a !== b", (2, 5), "not an operator", "write !="),
    ("a <=> b", (2, 5), "not an operator", "compare with"),
    ("i++", (1, 3), "'++' changes", "x + 1"),
    ("a--1", (1, 3), "'--' changes", "'- -'"),
    ("a ** 2", (2, 4), "'**'", "1 << n"),
    ("a // b", (2, 4), "comments", "single '/'"),
    ("a /* b */", (2, 4), "comments", "leave"),
    ("a[1]", (1, 2), "indexes", "index expression"),
    ("a + p->x", (5, 7), "pointer", "name of its own"),
    ("std::min(a, b)", (3, 5), "namespace", "min(a, b)"),
    ("v.x", (0, 3), "'v' has none", "threadIdx.x"),
    ("threadIdx / 8", (0, 9), "'threadIdx' is not an integer", "threadIdx.x, threadIdx.y or threadIdx.z"),
    ("blockDim.w", (0, 10), "'blockDim.w' is not an integer", "blockDim.x"),
    ("threadIdx.x.x", (0, 13), "is not an integer", "threadIdx.x"),
    ("(a) . b", (4, 5), "reads a member", "threadIdx.x"),
    ("1 + (int)x", (4, 9), "'(int)' is a cast", "exact integers"),
    ("( unsigned  int * )x", (0, 19), "is a cast", "exact integers"),
    ("(uint32_t)(x)", (0, 10), "is a cast", "exact integers"),
    ("(my_int) x", (0, 8), "'(my_int)' before 'x' reads as a cast", "exact integers"),
    ("int(x)", (0, 3), "type or a cast", "exact integers"),
    ("static_cast<int>(x)", (0, 11), "type or a cast", "exact integers"),
    ("sizeof(x)", (0, 6), "'sizeof'", "bytes"),
    ("010", (0, 3), "octal", "write 10, or 0x8"),
    ("a + 0017u", (4, 9), "octal", "write 17, or 0xf"),
    ("09", (0, 2), "octal", "write 9"),
    ("1'000", (0, 5), "digit separators", "write 1000"),
    ("1_000", (0, 5), "digit separators", "write 1000"),
    ("2 * 1.5", (4, 7), "floating-point", "integer"),
    (".5", (0, 2), "floating-point", "integer"),
    ("1.", (0, 2), "floating-point", "integer"),
    ("1e5", (0, 3), "floating-point", "integer"),
    ("1e-5f", (0, 5), "floating-point", "integer"),
    ("0x1p3", (0, 5), "floating-point", "integer"),
    ("0xe+1", (0, 5), "as one literal", "space"),
    ("0x", (0, 2), "not an integer literal", "0x and hex digits"),
    ("0b12", (0, 4), "not an integer literal", "0b and bits"),
    ("0o17", (0, 4), "not an integer literal", "decimal"),
    ("5lL", (0, 3), "not an integer literal", "ull"),
    ("5uu", (0, 3), "not an integer literal", "ull"),
    ("2tid", (0, 4), "not an integer literal", "decimal"),
    ("a;", (1, 2), "statement", "leave"),
    ("{a}", (0, 1), "'{'", "( and )"),
    ("a + 'b'", (4, 5), "characters", "integer"),
    ('"b"', (0, 1), "strings", "integer"),
    ("a # b", (2, 3), "'#'", "leave"),
    ("a\x00", (1, 2), "'\\x00'", "leave"),
    ("a \u00d7 b", (2, 3), "not ASCII", "write *"),
    ("\u0430 + 1", (0, 1), "not ASCII", "ASCII"),
    ("a\u00a0+ 1", (1, 2), "not ASCII", "ASCII"),
    ("\uff15", (0, 1), "not ASCII", "ASCII"),
    ("a b = 'c", (2, 3), "operator is missing", "between"),  # the leftmost mistake is the one told
]


@pytest.mark.parametrize(("text", "span", "message", "hint"), REFUSALS, ids=[repr(row[0]) for row in REFUSALS])
def test_refusal(text: str, span: tuple[int, int], message: str, hint: str) -> None:
    error = refused(text)
    assert (error.code, error.text, error.span) == ("SWZ302", text, span)
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    "literal",
    ["4294967296", "0x100000000", "0b1" + "0" * 32, "9" * 4000, "4294967296u"],
    ids=lambda t: t[:12],
)
def test_literal_out_of_range(literal: str) -> None:
    error = refused(f"1+{literal}")
    assert (error.code, error.span) == ("SWZ303", (2, 2 + len(literal)))
    assert "0..4294967295" in error.hint


def chain(terms: int) -> str:
    return "+".join("1" * terms)


LIMITS = [
    pytest.param("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH, "(" * 101 + "1" + ")" * 101, (100, 101), id="nested"),
    pytest.param("~" * MAX_DEPTH + "1", "~" * 101 + "1", (100, 101), id="unary"),
    pytest.param(chain(MAX_DEPTH + 1), chain(MAX_DEPTH + 2), (201, 202), id="sum"),
    pytest.param("1?2:" * MAX_DEPTH + "3", "1?2:" * 101 + "3", (401, 402), id="ternary"),
    pytest.param("min(1," * 100 + "2" + ")" * 100, "min(1," * 101 + "2" + ")" * 101, (603, 604), id="calls"),
    pytest.param("1+(" * 100 + "2" + ")" * 100, "1+(" * 101 + "2" + ")" * 101, (301, 302), id="right-sums"),
    pytest.param("1".ljust(MAX_CHARACTERS), "1".ljust(MAX_CHARACTERS + 1), (0, 80), id="characters"),
    pytest.param(f"max({','.join('1' * (MAX_NODES - 1))})", f"max({','.join('1' * MAX_NODES)})", (0, 3), id="nodes"),
]


@pytest.mark.parametrize(("longest", "too_long", "span"), LIMITS)
def test_limit(longest: str, too_long: str, span: tuple[int, int]) -> None:
    assert str(parse(longest)) == longest
    error = refused(too_long)
    assert (error.code, error.span) == ("SWZ302", span)
    assert error.hint
    assert error.text is not None
    assert too_long.startswith(error.text)


@pytest.mark.parametrize(
    "text",
    ["(" * 5000, "(" * 5000 + "1" + ")" * 5000, "(" * 4000, "-(" * 2000, "min(" * 1000, "1?" * 2000,
     "!" * 4000, "(int " * 800, "(int" + " " * 4000, "0" * 4000, "1" * 4000, " " * 4000, "a." * 2000],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_hostile_text_is_refused_quickly(text: str) -> None:
    started = time.process_time()
    assert refused(text).code in ("SWZ302", "SWZ303")
    assert time.process_time() - started < 20  # milliseconds: this only catches what would hang


def test_parentheses_side_by_side_are_not_nested() -> None:
    assert len(children(parse(f"max({','.join(['(1)'] * 300)}, {','.join(['min(1, 2)'] * 200)})").root)) == 500


def test_text_is_never_run() -> None:
    assert refused("__import__('os')").span == (0, 10)
    assert refused("().__class__").code == "SWZ302"


# --- text from trees

LEAVES = st.one_of(
    st.integers(0, VALUE_MAX).map(lambda value: Number(value, NOWHERE)),
    st.sampled_from(["a", "b", "tid", "threadIdx.x"]).map(lambda name: Name(name, NOWHERE)),
)


def grow(inner: st.SearchStrategy[CExpr]) -> st.SearchStrategy[CExpr]:
    spot = st.just(NOWHERE)
    return st.one_of(
        st.builds(Unary, st.sampled_from(UnaryOp), inner, spot),
        st.builds(Binary, st.sampled_from(BinaryOp), inner, inner, spot),
        st.builds(Conditional, inner, inner, inner, spot),
        st.builds(
            Call,
            st.sampled_from(["min", "max"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
            spot,
        ),
    )


TREES_AT_RANDOM: st.SearchStrategy[CExpr] = st.recursive(LEAVES, grow, max_leaves=25)


@given(TREES_AT_RANDOM)
def test_rendered_text_parses_to_the_same_tree(tree: CExpr) -> None:
    assert shape(parse(render(tree)).root) == shape(tree)


def two_operators() -> list[CExpr]:
    """Every operator with every operator at each of its places."""
    a, b, c = (Name(name, NOWHERE) for name in "abc")

    def made(op: UnaryOp | BinaryOp | str, x: CExpr, y: CExpr, z: CExpr) -> CExpr:
        if isinstance(op, UnaryOp):
            return Unary(op, x, NOWHERE)
        if isinstance(op, BinaryOp):
            return Binary(op, x, y, NOWHERE)
        return Conditional(x, y, z, NOWHERE) if op == "?" else Call("min", (x, y), NOWHERE)

    kinds: list[UnaryOp | BinaryOp | str] = [*UnaryOp, *BinaryOp, "?", "min"]
    trees: list[CExpr] = []
    for outer, inner in product(kinds, kinds):
        small = made(inner, a, b, c)
        trees += [made(outer, small, b, c), made(outer, a, small, c), made(outer, a, b, small)]
    return trees


def test_two_operators_render_with_the_least_parentheses() -> None:
    trees = two_operators()
    assert len(trees) == 24 * 24 * 3
    for tree in trees:
        assert shape(parse(render(tree)).root) == shape(tree)
        check_no_parentheses_can_go(tree)


@given(TREES_AT_RANDOM)
def test_no_rendered_parentheses_can_go(tree: CExpr) -> None:
    check_no_parentheses_can_go(tree)


def check_no_parentheses_can_go(tree: CExpr) -> None:
    text = render(tree)
    openings: list[int] = []
    for place, character in enumerate(text):
        if character == "(":
            openings.append(place)
        elif character == ")":
            start = openings.pop()
            if text[:start].endswith(("min", "max")):
                continue
            without = f"{text[:start]} {text[start + 1 : place]} {text[place + 1 :]}"
            try:
                other = shape(parse(without).root)
            except SwzError:
                continue
            assert other != shape(tree), without


@given(TREES_AT_RANDOM, st.randoms(use_true_random=False))
def test_white_space_and_parentheses_do_not_matter(tree: CExpr, source: random.Random) -> None:
    def bracketed(node: CExpr) -> str:
        inner = [f"({bracketed(child)})" for child in children(node)]
        gap = source.choice(["", " ", "\n"])
        match node:
            case Number() | Name():
                return render(node)
            case Unary():
                return node.op.value + gap + inner[0]
            case Binary():
                return inner[0] + gap + node.op.value + inner[1]
            case Conditional():
                return f"{inner[0]}?{gap}{inner[1]}:{inner[2]}"
            case Call():
                return f"{node.function}{gap}({','.join(inner)})"

    assert shape(parse(bracketed(tree)).root) == shape(tree)


@given(TREES_AT_RANDOM)
def test_every_span_parses_to_its_node(tree: CExpr) -> None:
    parsed = parse(render(tree))
    pending = [parsed.root]
    while pending:
        node = pending.pop()
        assert shape(parse(parsed.text[slice(*node.span)]).root) == shape(node)
        pending.extend(children(node))


@given(st.text(st.sampled_from("ab01x.+-*/%<>=!&|^~?:(), '\n\u00d7") | st.characters(), max_size=60))
def test_any_text_gives_a_tree_or_a_marked_mistake(text: str) -> None:
    try:
        root = parse(text).root
    except SwzError as caught:
        error = caught
    else:
        assert shape(parse(render(root)).root) == shape(root)
        return
    assert error.code in ("SWZ302", "SWZ303")
    assert error.text == text
    assert error.span is not None
    assert 0 <= error.span[0] <= error.span[1] <= len(text)
    assert error.hint


# --- nodes made by hand


@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(lambda: Number(-1, NOWHERE), "SWZ303", id="negative-literal"),
        pytest.param(lambda: Number(2**32, NOWHERE), "SWZ303", id="large-literal"),
        pytest.param(lambda: Name("a b", NOWHERE), "SWZ302", id="name-with-space"),
        pytest.param(lambda: Name("threadIdx.w", NOWHERE), "SWZ302", id="unknown-axis"),
        pytest.param(lambda: Call("min", (Number(1, NOWHERE),), NOWHERE), "SWZ302", id="one-argument"),
        pytest.param(lambda: Call("abs", (), NOWHERE), "SWZ302", id="unknown-function"),  # pyright: ignore
    ],
)
def test_impossible_node_is_refused(make: object, code: str) -> None:
    assert callable(make)
    with pytest.raises(SwzError) as caught:
        make()
    assert caught.value.code == code


def test_operators_are_c_spellings() -> None:
    assert {op.value for op in UnaryOp} == set("+-~!")
    groups: dict[int, set[str]] = {}
    for op in BinaryOp:
        groups.setdefault(precedence(op), set()).add(op.value)
    tightest_first = ["* / %", "+ -", "<< >>", "< <= > >=", "== !=", "&", "^", "|", "&&", "||"]
    assert [groups[level] for level in sorted(groups, reverse=True)] == [set(re.split(" ", g)) for g in tightest_first]
