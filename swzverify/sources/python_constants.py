"""Integer constants of Python sources: names that one plain statement of a module, class or function assigns, once."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from swzverify.errors import SwzError
from swzverify.sources.definitions import NOT_CONSTANT, Definition

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)


def python_definitions(text: str) -> list[Definition]:
    """Every binding of a name in a module's text, in its order; those that are no constant say why.

    Errors: SWZ123 for text that is not Python of the version that runs.

    >>> [(each.full_name, each.body) for each in python_definitions("class A:\\n    BK: int = 2 * 32\\n")]
    [('A', None), ('A::BK', '2 * 32')]
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or "too deep"
        where = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise SwzError(NOT_CONSTANT, f"it is not Python that can be read: {reason}{where}") from error
    counter = iter(range(1, 1 << 30))
    found = list(_of_scope(tree, (), 0, counter, text))
    return sorted(_once(found), key=lambda each: each.line)


def _once(found: list[Definition]) -> Iterator[Definition]:
    """The definitions, those of a name that its scope binds again refused: the first of each is kept."""
    lines: dict[tuple[int, str], list[int]] = {}
    for each in found:
        lines.setdefault((each.place, each.name), []).append(each.line)
    told: set[tuple[int, str]] = set()
    for each in found:
        key = (each.place, each.name)
        if len(lines[key]) == 1:
            yield each
        elif key not in told:
            told.add(key)
            others = ", ".join(map(str, lines[key][1:6]))
            refusal = f"is bound again at line {others}"
            yield Definition(each.name, each.scope, each.place, each.line, None, refusal)


def _of_scope(
    node: _Scope, scope: tuple[str, ...], place: int, places: Iterator[int], text: str
) -> Iterator[Definition]:
    """The bindings of one scope and of those within it."""
    for statement in node.body:
        yield from _of_statement(statement, scope, place, places, text, "")
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if each is not None:
                yield Definition(each.arg, scope, place, each.lineno, None, "is a parameter")


def _of_statement(
    statement: ast.stmt, scope: tuple[str, ...], place: int, places: Iterator[int], text: str, condition: str
) -> Iterator[Definition]:
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            body = None if value is None or condition else ast.get_source_segment(text, value)
            refusal = condition or ("" if body else "is declared without a value")
            yield Definition(name, scope, place, statement.lineno, body, refusal)
            yield from _walrus(statement, scope, place)
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield Definition(statement.name, scope, place, statement.lineno, None, "is a class or a function")
            yield from _of_scope(statement, (*scope, statement.name), next(places), places, text)
        case _ if isinstance(statement, _BLOCKS):
            yield from _of_block(statement, scope, place, places, text)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            # the names are bound in a scope further out, by a function that may run at any time
            for name in names:
                yield Definition(name, (), 0, statement.lineno, None, "is set by a function")
        case _:
            yield from _bound(statement, scope, place, "is no plain assignment of one name")


def _of_block(
    statement: ast.stmt, scope: tuple[str, ...], place: int, places: Iterator[int], text: str
) -> Iterator[Definition]:
    """The bindings under `if`, `for`, `try` and the like, none of which is sure to be made (or made once)."""
    word = type(statement).__name__.lower()
    condition = f"is assigned under `{word.removeprefix('async').removesuffix('star')}`"
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield from _of_statement(child, scope, place, places, text, condition)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            if isinstance(child, ast.ExceptHandler) and child.name:
                yield Definition(child.name, scope, place, child.lineno, None, condition)
            for inner in child.body:
                yield from _of_statement(inner, scope, place, places, text, condition)
            if isinstance(child, ast.match_case):
                yield from _bound(child.pattern, scope, place, condition)
        else:
            yield from _bound(child, scope, place, condition)


def _walrus(node: ast.AST, scope: tuple[str, ...], place: int) -> Iterator[Definition]:
    for each in ast.walk(node):
        if isinstance(each, ast.NamedExpr):
            yield Definition(each.target.id, scope, place, each.lineno, None, "is assigned inside an expression")


def _bound(node: ast.AST, scope: tuple[str, ...], place: int, refusal: str) -> Iterator[Definition]:
    """Every other way to bind a name: targets, imports, patterns, deletions."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield Definition(name, scope, place, each.lineno, None, refusal)
            case ast.alias(name=name, asname=asname):
                yield Definition(asname or name.split(".")[0], scope, place, each.lineno, None, "is imported")
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield Definition(name, scope, place, each.lineno, None, refusal)
            case _:
                pass
