"""Named expressions, `let:` (section 1 of the page): trees in which each name is replaced."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from . import c_expr
from .c_expr import Expr, Literal, Name, Op
from .oracle_errors import OracleError
from .yaml_values import Yaml, as_dict

RESERVED = frozenset(
    (
        *("tid", "tid_x", "tid_y", "tid_z", "lane", "warp", "stage", "base", "min", "max", "any"),
        *("threadIdx", "blockDim", "blockIdx", "gridDim"),
    )
)
"""Names that mean something in every expression."""

Trees = Mapping[str, Expr]


def read_lets(value: Yaml, taken: Collection[str], outer: Trees | None = None) -> dict[str, Expr]:
    """The lets of one place with those of the place around it, each as a tree without lets.

    >>> read_lets({"a": "b", "b": "tid"}, ())["a"]
    Name(name='tid')
    """
    own = {name: c_expr.parse(text) for name, text in as_dict(value).items()}
    for name in own:
        if name in RESERVED or name in taken or name in (outer or {}):
            raise OracleError(f"the let {name} has another meaning already", "SWZ105")
    found = dict(outer or {})
    for name in own:
        found[name] = _resolved(Name(name), own, outer or {}, ())
    return found


def _resolved(tree: Expr, own: Trees, outer: Trees, within: tuple[str, ...]) -> Expr:
    match tree:
        case Name(name) if name in own:
            if name in within:
                raise OracleError(f"the let {name} stands for itself", "SWZ310")
            return _resolved(own[name], own, outer, (*within, name))
        case Name(name):
            return outer.get(name, tree)
        case Op(symbol, operands):
            return Op(symbol, tuple(_resolved(each, own, outer, within) for each in operands))
        case Literal():
            return tree


def put_in(tree: Expr, lets: Trees) -> Expr:
    """The tree with the lets in place of their names."""
    return _resolved(tree, {}, lets, ())
