"""What may bind unseen names in a Python module: `exec`, `globals()`, `setattr` and the like.

Source: The Python Standard Library 3.11, Built-in Functions.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

_RUNS_TEXT = frozenset(("exec", "eval"))
_BUILTINS = frozenset(("builtins", "__builtins__"))
_IMPORTERS = frozenset(("__import__", "import_module"))
_FRAME_TEXT = "__globals__ f_globals f_locals f_builtins _getframe currentframe tb_frame gi_frame cr_frame"
_FRAMES = frozenset(_FRAME_TEXT.split())
"""Ways to a module's names that start at a function, a frame or a traceback."""
_REPLACED = frozenset(("__dict__", "__class__"))
_NAMESPACES = frozenset(("globals", "locals", "vars"))
_SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
_READING = frozenset(("get", "items", "keys", "values", "copy"))
_WRITING = frozenset(("update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"))
_SPELLED = _RUNS_TEXT | _BUILTINS | _FRAMES | _NAMESPACES | _SETTERS | {"__dict__", "__import__"}
"""Words that `getattr` and the like may be given as texts."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_Parents: TypeAlias = dict[ast.AST, ast.AST]


def bound_unseen(tree: ast.Module) -> str:
    r"""What in a module may bind any name, with its line; '' where nothing does.

    >>> bound_unseen(ast.parse("BK = 64\nglobals()['BK'] = 3\n"))
    '`globals` at line 2'
    """
    parents: _Parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        what = _unseen(node, parents)
        if what:
            return f"`{what}` at line {getattr(node, 'lineno', 0)}"
    return ""


def name_set_by(call: ast.Call) -> str:
    """The attribute that a call such as `setattr(a, "name", ...)` sets; '' if the call shows none.

    >>> name_set_by(ast.parse("monkeypatch.setattr('m.BK', 3)").body[0].value)
    'BK'
    """
    if _called(call) not in _SETTERS:
        return ""
    names = [each.value for each in call.args[:2] if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return names[-1].split(".")[-1] if names else ""


def _unseen(node: ast.AST, parents: _Parents) -> str:
    """The word of this node that may bind any name; '' where it does not."""
    match node:
        case ast.Name(id=name) if name in _RUNS_TEXT | _BUILTINS:
            return name
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _SETTERS | _IMPORTERS:
            return "" if _is_called(node, parents) else name
        case ast.Import() | ast.ImportFrom():
            return _imported(node)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _FRAMES:
            return name
        case ast.Call():
            return _unseen_call(node)
        case ast.Name(id=name) if name in _NAMESPACES:
            return name if _namespace_is_written(node, parents) else ""
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in _REPLACED:
            return name
        case ast.Attribute(attr="__dict__"):
            return "" if _is_read(node, parents) or _is_copied(node, parents) else "__dict__"
        case ast.Attribute(attr="modules") if _is_written(node, parents):
            return "modules"
        case _:
            return ""


def _imported(node: ast.Import | ast.ImportFrom) -> str:
    """The word of an import that brings such a function under any name."""
    if isinstance(node, ast.ImportFrom) and node.module in _BUILTINS:
        return str(node.module)
    for each in node.names:
        if each.name in _BUILTINS | _FRAMES or (each.name in _SETTERS | _IMPORTERS and each.asname):
            return each.name
    return ""


def _unseen_call(call: ast.Call) -> str:
    """The word of a call that may bind any name: a setter, an import, or a word as text."""
    name = _called(call)
    if name in _SETTERS and not name_set_by(call):
        return name
    texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
    if name in _IMPORTERS and (not texts or texts[0] in _BUILTINS):
        return name
    return next((str(each) for each in texts if each in _SPELLED), "")


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _namespace_is_written(node: ast.Name, parents: _Parents) -> bool:
    """Whether names may be bound through `globals`, `locals`, `vars`: written to or handed on."""
    call = parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return True
    if call.args or call.keywords:
        return not (_is_read(call, parents) or _is_copied(call, parents))  # the object may be the module
    if node.id != "globals" and _is_in_function(node, parents):
        return False  # a copy
    return _is_written(call, parents) or not _is_read(call, parents)


def _is_written(node: ast.expr, parents: _Parents) -> bool:
    """Whether a dictionary is changed right where it stands."""
    match parents.get(node):
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return value is node
        case ast.Attribute(attr=name):
            return name in _WRITING
        case ast.AugAssign(target=target):
            return target is node
        case _:
            return False


def _is_read(node: ast.expr, parents: _Parents) -> bool:
    """Whether one value of a dictionary is taken, or looked for, right where it stands."""
    match parents.get(node):
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is node
        case ast.Attribute(attr=name):
            return name in _READING
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case _:
            return False


def _is_copied(node: ast.expr, parents: _Parents) -> bool:
    """Whether a dictionary is unpacked, or is what `dict` makes a copy of."""
    match parents.get(node):
        case ast.keyword(arg=None) | ast.Starred():
            return True
        case ast.Call(func=ast.Name(id="dict"), args=[only]):
            return only is node
        case _:
            return False


def _is_called(node: ast.expr, parents: _Parents) -> bool:
    """Whether a function is called right where it stands."""
    call = parents.get(node)
    return isinstance(call, ast.Call) and call.func is node


def _is_in_function(node: ast.AST, parents: _Parents) -> bool:
    at = parents.get(node)
    while at is not None and not isinstance(at, _FUNCTIONS):
        at = parents.get(at)
    return at is not None
