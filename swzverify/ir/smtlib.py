"""Reading: a complete SMT-LIB 2 script for a condition, so that any other solver can judge it
again.

One definition a shared node, so the text is linear in the nodes. Operators keep their names: the
form's operators are SMT-LIB's own. A one-bit comparison is spelled `(ite ... #b1 #b0)`, because
SMT-LIB's comparisons are Boolean.

Source: SMT-LIB 2.6 reference manual, sections 3.1 and 3.9; logic QF_BV.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from swzverify.ir.expr import Binary, Compare, Const, Expr, Extend, Extract, Ite, Var, postorder, variables

_SIMPLE = re.compile(r"[A-Za-z~!%^&*_\-+=<>?/][A-Za-z0-9~!%^&*_\-+=<>.?/@]*")
_TAKEN_WORDS = (
    "_ ! as let exists forall match par BINARY DECIMAL HEXADECIMAL NUMERAL STRING "
    "assert check-sat check-sat-assuming declare-const declare-datatype declare-datatypes declare-fun declare-sort "
    "define-fun define-fun-rec define-funs-rec define-sort echo exit get-assertions get-assignment get-info get-model "
    "get-option get-proof get-unsat-assumptions get-unsat-core get-value pop push reset reset-assertions set-info "
    "set-logic set-option true false not => and or xor = distinct ite Bool BitVec concat extract repeat zero_extend "
    "sign_extend rotate_left rotate_right bvnot bvneg bvand bvor bvxor bvnand bvnor bvxnor bvadd bvsub bvmul bvudiv "
    "bvurem bvsdiv bvsrem bvsmod bvshl bvlshr bvashr bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge bvcomp "
    # Names that solvers add to QF_BV on their own.
    "implies iff if + - * / < <= > >= ~ % div mod rem abs select store const map bv2nat bv2int int2bv ubv_to_int "
    "sbv_to_int int_to_bv bvredor bvredand bvnego bvuaddo bvsaddo bvumulo bvsmulo bvusubo bvssubo bvsdivo bit2bool "
    "ext_rotate_left ext_rotate_right bvsmul_noovfl bvsmul_noudfl bvumul_noovfl pi"
)
_TAKEN = frozenset(_TAKEN_WORDS.split())


def smtlib_symbol(name: str) -> str:
    """The SMT-LIB symbol for a variable's name, |quoted| where needed; different names give
    different symbols.

    `|x|` and `x` are one symbol, so a name that SMT-LIB or a solver has taken gets a `$` in front.

    >>> smtlib_symbol("tid"), smtlib_symbol("leaf.0"), smtlib_symbol("k'"), smtlib_symbol("bvadd")
    ('tid', 'leaf.0', "|k'|", '$bvadd')
    """
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "$|\\" else f"$x{ord(c):x}$" for c in name)
    if plain != name or name in _TAKEN or name.startswith((".", "@")):
        plain = "$" + plain
    return plain if _SIMPLE.fullmatch(plain.replace("$", "_")) else f"|{plain}|"


def smtlib_term(root: Expr) -> str:
    """One SMT-LIB term over the variables' symbols, shared nodes bound by `let`.

    >>> from swzverify.ir.expr import BinaryOperator, binary, const, var
    >>> smtlib_term(binary(BinaryOperator.ADD, var("x", 8), const(5, 3)))
    '(let ((n0 (bvadd x (_ bv5 3)))) n0)'
    """
    definitions, texts = _definitions(root)
    opening = "".join(f"(let (({symbol} {text})) " for symbol, _, text in definitions)
    return opening + texts[root] + ")" * len(definitions)


def smtlib_script(condition: Expr, *, comments: Sequence[str] = ()) -> str:
    """A script whose check-sat says whether some point of the variables' box makes the one-bit
    condition 1.

    Errors: ValueError for a condition of more than one bit, or one name for two variables.

    >>> from swzverify.ir.expr import Comparison, compare, const, var
    >>> print(smtlib_script(compare(Comparison.ULT, const(5, 3), var("x", 7)), comments=["x above 5"]), end="")
    ; x above 5
    (set-logic QF_BV)
    (declare-const x (_ BitVec 3))
    (assert (bvule x (_ bv6 3)))
    (define-fun n0 () (_ BitVec 1) (ite (bvult (_ bv5 3) x) #b1 #b0))
    (assert (= n0 #b1))
    (check-sat)
    (exit)
    """
    if condition.width != 1:
        raise ValueError(f"a condition has one bit, not {condition.width}")
    lines = [f"; {line}".rstrip() for comment in comments for line in comment.splitlines() or [""]]
    lines.append("(set-logic QF_BV)")
    for node in variables(condition):
        symbol = smtlib_symbol(node.name)
        lines.append(f"(declare-const {symbol} {_sort(node.width)})")
        if node.limit < 1 << node.width:
            lines.append(f"(assert (bvule {symbol} {_constant(node.limit - 1, node.width)}))")
    definitions, texts = _definitions(condition)
    lines += [f"(define-fun {symbol} () {_sort(width)} {text})" for symbol, width, text in definitions]
    lines += [f"(assert (= {texts[condition]} #b1))", "(check-sat)", "(exit)"]
    return "\n".join(lines) + "\n"


def _sort(width: int) -> str:
    return f"(_ BitVec {width})"


def _constant(value: int, width: int) -> str:
    return f"#b{value}" if width == 1 else f"(_ bv{value} {width})"


def _definitions(root: Expr) -> tuple[list[tuple[str, int, str]], dict[Expr, str]]:
    """A symbol, width and term for every node that is neither a variable nor a constant, and each
    node's text.
    """
    names = [node.name for node in variables(root)]
    if len(set(names)) != len(names):
        raise ValueError(f"one name for two variables: {sorted(names)}")
    prefix = "n"
    while any(re.fullmatch(rf"{prefix}[0-9]+", name) for name in names):
        prefix += "_"
    definitions: list[tuple[str, int, str]] = []
    texts: dict[Expr, str] = {}
    for node in postorder(root):
        match node:
            case Const(value, width):
                texts[node] = _constant(value, width)
            case Var(name):
                texts[node] = smtlib_symbol(name)
            case _:
                texts[node] = f"{prefix}{len(definitions)}"
                definitions.append((texts[node], node.width, _term(node, texts)))
    return definitions, texts


def _term(node: Binary | Compare | Extract | Extend | Ite, texts: dict[Expr, str]) -> str:
    match node:
        case Binary(operator, left, right):
            return f"({operator} {texts[left]} {texts[right]})"
        case Compare(comparison, left, right):
            return f"(ite ({comparison} {texts[left]} {texts[right]}) #b1 #b0)"
        case Extract(operand, low, width):
            return f"((_ extract {low + width - 1} {low}) {texts[operand]})"
        case Extend(operand, width, signed):
            widen = "sign_extend" if signed else "zero_extend"
            return f"((_ {widen} {width - operand.width}) {texts[operand]})"
        case Ite(condition, then, otherwise):
            return f"(ite (= {texts[condition]} #b1) {texts[then]} {texts[otherwise]})"
        case _:
            assert_never(node)
