"""Atheris target: text of any origin, read by the code that reads it in use.

The first byte of an input chooses the reader: `e` an expression, `n` CuTe notation, `c` and `p` a
kernel source in C or Python, anything else a spec file. A reader must not raise anything but its own
errors, must not hang, and must not contradict itself; see README.md beside this file.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["swzverify", "ruamel.yaml"]):  # pyright: ignore
    from swzverify.errors import SwzError
    from swzverify.ir.c_ast import Expression, names
    from swzverify.ir.c_eval import evaluate
    from swzverify.ir.c_eval_many import evaluate_many
    from swzverify.ir.c_parse import parse
    from swzverify.layout import parse_notation
    from swzverify.report.problems import render_problems
    from swzverify.report.style import TextStyle
    from swzverify.spec import SpecError, parse_spec
    from swzverify.spec.guard import decoded, is_readable, plain_lines
    from swzverify.spec.problems import Problems, TooManyProblems
    from swzverify.spec.sources.constants import constant
    from swzverify.spec.sources.languages import Language
    from swzverify.spec.tree import Mapping
    from swzverify.spec.yaml_tree import read_yaml
    from tests.spec.ruamel_tree import ruamel_shape, shape_of

CONSTANTS = {"BM": 64, "BK": 32, "N": 3}
LONGEST_COMPARED = 1000
"""Characters of a text that ruamel.yaml reads too: it takes most of an input's time; its coverage
leads to new YAML.
"""
LONGEST_OUTPUT = 400_000
"""Characters that all problems of one file may take on the screen."""


class FindingError(Exception):
    """The reader did something that it may not do."""


def read_spec(data: bytes) -> None:
    """Read a spec file: it loads, or ends in problems that can be shown.

    ruamel.yaml must read the same tree.
    """
    problems = Problems("fuzz.swz.yaml")
    text = decoded(data, problems)
    if text is None:
        _check_shown(problems)
        return
    if len(text) <= LONGEST_COMPARED:
        _check_tree(text)
    try:
        parse_spec(text, path="fuzz.swz.yaml")
    except SpecError as error:
        _check_text(render_problems(error.problems, TextStyle()) + str(error))
        if any(not problem.line for problem in error.problems):
            raise FindingError("a problem without a line") from error


def _check_shown(problems: Problems) -> None:
    try:
        problems.raise_any()
    except SpecError as error:
        _check_text(render_problems(error.problems, TextStyle()))
    else:
        raise FindingError("refused without a reason")


def _check_text(shown: str) -> None:
    if len(shown) > LONGEST_OUTPUT:
        raise FindingError(f"{len(shown)} characters of problems")
    if "\x1b" in shown or "\u202e" in shown:
        raise FindingError("a control character is shown")


def _check_tree(text: str) -> None:
    """A mapping that our reader accepts is the same to ruamel.yaml, where that accepts it."""
    text = plain_lines(text) + "\n"
    problems = Problems("f")
    try:
        root = read_yaml(text, problems) if is_readable(text, problems) else None
    except TooManyProblems:
        return
    if isinstance(root, Mapping) and not len(problems) and ruamel_shape(text) not in (None, shape_of(root)):
        raise FindingError("the readers differ")


def read_expression(text: str) -> None:
    """An expression: its text read back gives the same tree, and its two evaluators the same value."""
    tree = parse(text)
    again = parse(str(tree))
    if str(again) != str(tree):
        raise FindingError("read back differently")
    env = dict.fromkeys(names(tree.root), 5)
    if _value(tree, env, many=False) != _value(tree, env, many=True):
        raise FindingError("two values")


def _value(tree: Expression, env: dict[str, int], *, many: bool) -> int | str:
    try:
        return int((evaluate_many if many else evaluate)(tree, env))
    except SwzError as error:
        return str(error)


def read_notation(text: str) -> None:
    """A layout: what it prints is read back as the same layout."""
    found = parse_notation(text, CONSTANTS)
    if str(parse_notation(str(found))) != str(found):
        raise FindingError("read back differently")


def read_source(data: bytes, language: Language) -> None:
    """Read a kernel source: its contract loads, or ends in problems that can be shown.

    A constant is one that it defines.
    """
    text = plain_lines(data.decode("utf-8-sig", "surrogateescape"))
    try:
        parse_spec(text, path="fuzz.cu", language=language)
    except SpecError as error:
        _check_text(render_problems(error.problems, TextStyle()) + str(error))
    for name in CONSTANTS:
        try:
            found = constant(text, language, name)
        except SwzError as error:
            _check_text(str(error))
            continue
        if not -(2**31) <= found.value < 2**32 or name not in text.split("\n")[found.line - 1]:
            raise FindingError(f"{name} = {found.value} of line {found.line}")


def one_input(data: bytes) -> None:
    """Read one input."""
    kind, rest = data[:1], data[1:]
    try:
        match kind:
            case b"e":
                read_expression(rest.decode("utf-8", "replace"))
            case b"n":
                read_notation(rest.decode("utf-8", "replace"))
            case b"c":
                read_source(rest, Language.C)
            case b"p":
                read_source(rest, Language.PYTHON)
            case _:
                read_spec(rest)
    except SwzError as error:
        _check_text(str(error).replace(rest.decode("utf-8", "replace"), ""))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
