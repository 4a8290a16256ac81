"""Integer constants of Python: names that one plain statement of a scope assigns, once.

Nothing is run. What else might bind a name, as far as the text shows it, makes it no constant.

Source: The Python Language Reference 3.11, 2.1.4 (encoding declarations), 4.2 (naming and binding),
7.12 (`global`).

What may bind unseen names in a Python module: `exec`, `globals()`, `setattr` and the like.

Source: The Python Standard Library 3.11, Built-in Functions.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from swzverify.errors import SwzError
from swzverify.spec.sources.definitions import NOT_CONSTANT, Definition

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
_SCOPE = "is a class or a function"
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
_UTF8 = frozenset(("utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"))
_LIKE_ASCII = frozenset(("latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-8859-15", "iso8859-15", "cp1252"))
"""Encodings in which a text of ASCII characters alone is that text."""
_PLAINLY = "set it in one plain statement"
_COLUMNS = 1_000_000
"""More than a line has: line * this + column puts statements in order."""


def python_definitions(text: str) -> list[Definition]:
    r"""Every binding of a name in a module's text, in its order; those that are no constant say why.

    Raises:
        SwzError: SWZ123 for text that is not Python of the version that runs.

    >>> [(each.full_name, each.body) for each in python_definitions("class A:\n    BK: int = 2 * 32\n")]
    [('A', None), ('A::BK', '2 * 32')]
    """
    _refuse_other_encoding(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or "too deep"
        where = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise SwzError(NOT_CONSTANT, f"it is not Python that can be read: {reason}{where}") from error
    walk = _Walk(text)
    walk.scope(tree, (), 0, "")
    found = sorted(_once(walk.found), key=lambda each: each.order)
    unsure = {(*each.scope, each.name) for each in found if each.refusal != _SCOPE}
    elsewhere, anything = _bound_elsewhere(tree), bound_unseen(tree)
    return [_judged(each, unsure, elsewhere, anything) for each in found]


def _refuse_other_encoding(text: str) -> None:
    """SWZ123 for a text that Python reads in another encoding, in which a comment may be code."""
    for number, line in enumerate(text.split("\n", 2)[:2], start=1):
        found = _COOKIE.match(line)
        name = "utf-8" if found is None else found[1].lower().replace("_", "-")
        if name not in _UTF8 and not (name in _LIKE_ASCII and text.isascii()):
            message = f"it is in the encoding '{name}' (line {number}), which is not read here"
            raise SwzError(NOT_CONSTANT, message, hint="save the file in UTF-8")
        if line.strip() and not line.lstrip().startswith("#"):
            return


def _judged(each: Definition, unsure: set[tuple[str, ...]], elsewhere: dict[str, str], anything: str) -> Definition:
    """The definition, refused where something else may bind it, or the scope that it is in."""
    if each.body is None:
        return each
    if anything:
        return replace(each, body=None, refusal=f"may be bound by {anything}", hint=_PLAINLY)
    if each.name in elsewhere:
        return replace(each, body=None, refusal=elsewhere[each.name])
    for end in range(1, len(each.scope) + 1):
        if each.scope[:end] in unsure or each.scope[end - 1] in elsewhere:
            refusal = f"stands in '{'.'.join(each.scope[:end])}', which is bound in another way too"
            return replace(each, body=None, refusal=refusal)
    return each


def _bound_elsewhere(tree: ast.Module) -> dict[str, str]:
    """Names bound in a scope that is not looked for: `x := `, `global`, `nonlocal`, `a.x = `."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.NamedExpr(target=target):
                found.setdefault(target.id, f"is assigned inside an expression at line {node.lineno}")
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    found.setdefault(name, f"is set from another scope by line {node.lineno}")
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                found.setdefault(name, f"is the name of an attribute that line {node.lineno} sets")
            case ast.Call() if name := name_set_by(node):
                found.setdefault(name, f"is the name of an attribute that line {node.lineno} sets")
            case _:
                pass
    return found


def _once(found: list[Definition]) -> Iterator[Definition]:
    """The first definition of each name in each scope, refused where the scope binds it again."""
    groups: dict[tuple[int, str], list[Definition]] = {}
    for each in found:
        groups.setdefault((each.place, each.name), []).append(each)
    for first, *others in groups.values():
        if others:
            lines = ", ".join(str(each.line) for each in others[:5])
            yield replace(first, body=None, refusal=f"is bound again at line {lines}")
        else:
            yield first


@dataclass(slots=True)
class _Walk:
    """The bindings found so far, and how many scopes there were."""

    text: str
    found: list[Definition] = field(default_factory=list[Definition])
    places: int = 0

    def note(
        self, name: str, scope: tuple[str, ...], place: int, node: ast.stmt | ast.expr | ast.arg, refusal: str
    ) -> None:
        """A binding that is no constant."""
        order = node.lineno * _COLUMNS + node.col_offset
        self.found.append(Definition(name, scope, place, node.lineno, order, None, refusal))

    def scope(self, node: _Scope, scope: tuple[str, ...], place: int, condition: str) -> None:
        """The bindings of one scope and of those within it."""
        for statement in node.body:
            self.statement(statement, scope, place, condition)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            each = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            for argument in each:
                if argument is not None:
                    self.note(argument.arg, scope, place, argument, "is a parameter")
        self._stars(node.body, place)

    def _stars(self, body: list[ast.stmt], place: int) -> None:
        """`import *` may bind any name that was bound before it."""
        lines = [
            child.lineno
            for statement in body
            for child in ast.walk(statement)
            if isinstance(child, ast.ImportFrom) and any(alias.name == "*" for alias in child.names)
        ]
        if lines:
            self.found = [
                replace(each, body=None, refusal=f"may be bound again by `import *` at line {max(lines)}")
                if each.place == place and each.body is not None and each.line <= max(lines)
                else each
                for each in self.found
            ]

    def statement(self, statement: ast.stmt, scope: tuple[str, ...], place: int, condition: str) -> None:
        """The bindings of one statement; `condition` says under what it stands."""
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                body = None if value is None or condition else ast.get_source_segment(self.text, value)
                refusal = condition or ("" if body else "is declared without a value")
                order = statement.lineno * _COLUMNS + statement.col_offset
                self.found.append(Definition(name, scope, place, statement.lineno, order, body, refusal))
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                self.note(statement.name, scope, place, statement, condition or _SCOPE)
                self.places += 1
                self.scope(statement, (*scope, statement.name), self.places, condition)
            case _ if isinstance(statement, _BLOCKS):
                self.block(statement, scope, place)
            case _:
                self.bound(statement, scope, place, "is no plain assignment of one name")

    def block(self, statement: ast.stmt, scope: tuple[str, ...], place: int) -> None:
        """The bindings under `if`, `for`, `try` and the like: none is sure to happen just once."""
        word = type(statement).__name__.lower()
        condition = f"is assigned under `{word.removeprefix('async').removesuffix('star')}`"
        for child in ast.iter_child_nodes(statement):
            match child:
                case ast.stmt():
                    self.statement(child, scope, place, condition)
                case ast.ExceptHandler(name=name, body=body):
                    if name:
                        self.note(name, scope, place, body[0], condition)
                    for inner in body:
                        self.statement(inner, scope, place, condition)
                case ast.match_case(pattern=pattern, body=body):
                    self.bound(pattern, scope, place, condition, body[0])
                    for inner in body:
                        self.statement(inner, scope, place, condition)
                case _:
                    self.bound(child, scope, place, condition, statement)

    def bound(
        self, node: ast.AST, scope: tuple[str, ...], place: int, refusal: str, near: ast.stmt | None = None
    ) -> None:
        """Every other way to bind a name: targets, imports, patterns, deletions."""
        at = near if near is not None else node
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    self.note(name, scope, place, each, refusal)
                case ast.alias(name=name, asname=asname) if isinstance(at, ast.stmt):
                    self.note(asname or name.split(".")[0], scope, place, at, "is imported")
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                    if isinstance(at, ast.stmt):
                        self.note(name, scope, place, at, refusal)
                case _:
                    pass


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
