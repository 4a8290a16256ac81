"""What ruamel.yaml reads in a text: a second reader, in Python and for YAML 1.2, that ours is held
against.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

from swzverify.spec.tree import Mapping, Node, Scalar

Shape: TypeAlias = tuple[Any, ...]
_FAULTS = (YAMLError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, Warning)
"""Its own errors and warnings, and what its code runs into on some broken texts."""


def ruamel_shape(text: str) -> Shape | None:
    """The tree of a text as tuples; None where ruamel.yaml finds none or reads no further."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except _FAULTS:
        return None
    return None if root is None else _of_ruamel(root)


def _of_ruamel(node: Any) -> Shape:
    if isinstance(node, ScalarNode):
        # an empty value has no place of its own, and readers choose different ones
        mark = node.start_mark
        return (node.value, node.style is None, mark.line + 1, mark.column + 1) if node.value else (node.value,)
    place = (node.start_mark.line + 1, node.start_mark.column + 1, bool(node.flow_style))
    if isinstance(node, MappingNode):
        return ("map", *place, *((_of_ruamel(key), _of_ruamel(value)) for key, value in node.value))
    return ("list", *place, *map(_of_ruamel, node.value))


def shape_of(node: Node) -> Shape:
    """Our tree in the same form."""
    if isinstance(node, Scalar):
        return (node.text, node.plain, node.line, node.column) if node.text else (node.text,)
    if isinstance(node, Mapping):
        entries = ((shape_of(key), shape_of(value)) for key, value in node.entries)
        return ("map", node.line, node.column, node.in_flow, *entries)
    return ("list", node.line, node.column, node.in_flow, *map(shape_of, node.items))
