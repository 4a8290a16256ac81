"""Addresses as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from swzverify.compiled.kernel import ArrayLeaf, CarriedLeaf, Leaf, TripsLeaf
from swzverify.compiled.kernel.linear import sum_of
from swzverify.ir.expr import Binary, Compare, Const, Count, Expr, Extend, Extract, Ite, Var, postorder, to_signed

_SIGNS = {
    "bvadd": "+", "bvsub": "-", "bvmul": "*", "bvudiv": "/", "bvurem": "%", "bvsdiv": "/", "bvsrem": "%",
    "bvshl": "<<", "bvlshr": ">>", "bvashr": ">>", "bvand": "&", "bvor": "|", "bvxor": "^",
    "=": "==", "bvult": "<", "bvule": "<=", "bvslt": "<", "bvsle": "<=",
}  # fmt: skip
MOST_CHARACTERS = 300
_MOST_NODES = 400


def spell_leaf(leaf: Leaf) -> str:
    """The name of a leaf, short.

    >>> from swzverify.ir.expr import var
    >>> from swzverify.compiled.kernel import UniformLeaf
    >>> spell_leaf(UniformLeaf(var("shared tile", 4), "", 1, None))
    'tile'
    """
    name = leaf.name
    if name.startswith(("shared ", "address of ")):
        return name.split(" ")[-1]
    if isinstance(leaf, TripsLeaf):
        return f"trips@{leaf.line}"
    if isinstance(leaf, CarriedLeaf):
        return f"loop@{leaf.line}"
    if found := re.match(r"(\S+) at line (\d+)", name):
        return f"{found[1].split('.')[0]}@{found[2]}"
    return plain_name(name)


def plain_name(name: str) -> str:
    """The name of a variable without the numbers that keep variables apart.

    >>> plain_name("n+0:4"), plain_name("ld.global.u32 at line 10: 4.0.32")
    ('n', 'ld.global.u32 at line 10')
    """
    return re.sub(r": ?[\d.]+$", "", name.replace("param ", "")).removesuffix("+0")


def spell(root: Expr, leaves: Iterable[Leaf]) -> str:
    """An expression with C's signs; sums are written as sums. A long one is cut.

    >>> from swzverify.ir.expr import var, BinaryOperator, binary, const
    >>> from swzverify.compiled.kernel import LaneLeaf
    >>> x = var("tid.x", 32)
    >>> spell(binary(BinaryOperator.MUL, x, const(4, 5)), [LaneLeaf(x, "", 0, None)])
    'tid.x*4'
    """
    if len(postorder(root)) > _MOST_NODES:
        return "(too long to write)"
    names = {leaf.name: spell_leaf(leaf) for leaf in leaves}
    text: dict[Expr, str] = {}
    bases = {leaf.name: leaf.multiple if isinstance(leaf, ArrayLeaf) else 1 for leaf in leaves}
    for node in postorder(root):
        text[node] = _cut(_spelled(node, text, names, bases))
    return _cut(_sum(root, text, names, bases))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."


def _sum(node: Expr, text: dict[Expr, str], names: dict[str, str], bases: dict[str, int]) -> str:
    found = sum_of(node)
    parts: list[str] = []
    for term, factor in sorted(found.terms.items(), key=lambda each: not _is_symbol(each[0])):
        signed = to_signed(factor, found.width)
        bare = text.get(term)
        if bare is None:
            for each in postorder(term):
                text.setdefault(each, _spelled(each, text, names, bases))
            bare = text[term]
        inner = _uncut(term)
        if isinstance(inner, Var) and bases.get(inner.name, 1) > 1 and signed == bases[inner.name]:
            signed = 1
        sized = bare if abs(signed) == 1 else f"{bare}*{abs(signed)}"
        parts.append(("-" if signed < 0 else "+") + sized)
    if found.number or not parts:
        number = to_signed(found.number, found.width)
        parts.append(("-" if number < 0 else "+") + str(abs(number)))
    whole = " ".join(f"{part[0]} {part[1:]}" for part in parts)
    return whole.removeprefix("+ ").replace("- ", "-", 1) if whole.startswith("- ") else whole.removeprefix("+ ")


def _uncut(term: Expr) -> Expr:
    """What a term is without extensions and cuts around it."""
    while isinstance(term, Extend | Extract):
        term = term.operand
    return term


def _is_symbol(term: Expr) -> bool:
    inner = _uncut(term)
    return isinstance(inner, Var) and inner.name.startswith("shared ")


def _spelled(node: Expr, text: dict[Expr, str], names: dict[str, str], bases: dict[str, int]) -> str:
    match node:
        case Const(value, width):
            return str(to_signed(value, width) if width > 1 else value)
        case Var(name):
            return names.get(name, name)
        case Extend(operand):
            return text[operand]
        case Extract(operand, low, width):
            if low == 0 and width >= 24:
                return text[operand]
            return f"{text[operand]}[{low + width - 1}:{low}]"
        case Count(operand):
            return f"popc({text[operand]})"
        case Ite(condition, then, otherwise):
            return f"({text[condition]} ? {text[then]} : {text[otherwise]})"
        case Binary(operator, left, right):
            if operator in ("bvadd", "bvsub", "bvmul", "bvshl") and node not in sum_of(node).terms:
                whole = _sum(node, text, names, bases)
                return f"({whole})" if " " in whole else whole
            return f"({text[left]} {_SIGNS[operator]} {text[right]})"
        case Compare(comparison, left, right):
            return f"({text[left]} {_SIGNS[comparison]} {text[right]})"
