"""Constants that a spec reads from the kernel's code (`from_source:`), to follow the code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from swzverify.errors import SwzError
from swzverify.spec.beside import UNREADABLE, below
from swzverify.spec.build import ReadName, SpecClaim
from swzverify.spec.check import Checked
from swzverify.spec.kernel_source import read_source
from swzverify.spec.problems import Problems
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import SOURCE_SUFFIXES, language_of
from swzverify.spec.tree import Node, Sequence, get, key_of

DIFFERENT = "SWZ125"


@dataclass(frozen=True, slots=True)
class ReadConstant:
    """A constant as read: `file` as the spec is named, `line` from 1, `in_code` its name there."""

    name: str
    value: int
    file: str
    line: int
    in_code: str = ""


@dataclass(frozen=True, slots=True)
class Constants:
    """What the spec at a path reads from the code."""

    path: str
    read: tuple[ReadConstant, ...]

    def told(self, claim: SpecClaim) -> SpecClaim:
        """A claim that says which of the constants it uses, and where they were read."""
        own = [each for each in self.read if each.name in claim.uses]
        return replace(claim, notes=(*claim.notes, *notes_of(own)), read=names_of(own, self.path))


def names_of(read: Iterable[ReadConstant], path: str) -> tuple[ReadName, ...]:
    """What was read by the spec at a path, without the values and lines, which change freely.

    >>> names_of([ReadConstant("BM", 64, "src/gemm.cu", 12, "kM")], "src/a.swz.yaml")
    (ReadName(name='BM', in_code='kM', file='src/gemm.cu', beside='gemm.cu'),)
    """
    folder = os.path.dirname(path) or os.curdir
    return tuple(
        ReadName(
            each.name,
            each.in_code or each.name,
            each.file,
            "" if each.file == path else os.path.relpath(each.file, folder).replace(os.sep, "/"),
        )
        for each in read
    )


def notes_of(read: Iterable[ReadConstant]) -> tuple[str, ...]:
    """What was read, one note per file.

    >>> notes_of([ReadConstant("BM", 64, "gemm.cu", 12), ReadConstant("BK", 32, "gemm.cu", 13)])
    ('read from gemm.cu: BM = 64 (line 12), BK = 32 (line 13)',)
    """
    of_files: dict[str, list[str]] = {}
    for each in read:
        of_files.setdefault(each.file, []).append(f"{each.name} = {each.value} (line {each.line})")
    return tuple(f"read from {file}: {', '.join(values)}" for file, values in of_files.items())


def read_constants(checked: Checked, path: str, problems: Problems) -> tuple[Checked, Constants]:
    """The spec with the constants of `from_source:` among its own, and where they were read.

    `path` is the spec's. Noted in `problems`: SWZ122 and SWZ123 for what the code does not define
    as a plain integer constant, SWZ124 for a file that may not or cannot be read, SWZ125 for one
    that differs from the spec's own value.
    """
    texts: dict[str, str] = {}
    found: list[ReadConstant] = []
    for wanted in _wanted(checked):
        with problems.at(wanted.node):
            found.append(_read(wanted, path, texts))
    constants = dict(checked.spec.constants)
    for each in found:
        own = constants.get(each.name, each.value)
        if own != each.value:
            shown = "several values" if isinstance(own, list) else str(own)
            message = f"'{each.name}' is {shown} here and {each.value} in {each.file}, line {each.line}"
            place = key_of(get(checked.root, "constants"), each.name) or checked.root
            problems.add(DIFFERENT, message, place, "the code has changed: does the spec still describe it?")
        constants[each.name] = each.value
    spec = checked.spec.model_copy(update={"constants": constants})
    return replace(checked, spec=spec), Constants(path, tuple(found))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A constant to read: the spec's name, the code's, the file (None: the spec's), its entry."""

    name: str
    in_code: str
    file: str | None
    node: Node


def _wanted(checked: Checked) -> Iterator[_Wanted]:
    node, entries = get(checked.root, "from_source"), checked.spec.from_source
    if not isinstance(entries, dict):
        items = node.items if isinstance(node, Sequence) else ()
        yield from (_Wanted(name, name, None, item) for name, item in zip(entries, items, strict=True))
        return
    for name, entry in entries.items():
        where = get(node, name)
        if isinstance(entry, str):
            yield _Wanted(name, entry, None, where)
        else:
            yield _Wanted(name, name if entry.name is None else entry.name, entry.file, where)


def _read(wanted: _Wanted, path: str, texts: dict[str, str]) -> ReadConstant:
    file = path if wanted.file is None else _source(path, wanted.file)
    language = language_of(file)
    if language is None:
        hint = f"say in which file: {wanted.name}: {{file: gemm.cu}}; sources are {', '.join(SOURCE_SUFFIXES)}"
        raise SwzError(UNREADABLE, f"'{file}' is no kernel source", hint=hint)
    if file not in texts:
        texts[file] = _text(file)
    try:
        found = constant(texts[file], language, wanted.in_code)
    except SwzError as error:
        raise SwzError(error.code, f"{file}: {error.message}", hint=error.hint) from error
    return ReadConstant(wanted.name, found.value, file, found.line, wanted.in_code)


def _source(path: str, file: str) -> str:
    """The path of a source that the spec names.

    A link must lead to a source, because messages quote what they refuse.
    """
    shown, real = below(path, file)
    if language_of(shown) is not None and language_of(real) is None:
        raise SwzError(UNREADABLE, f"'{file}' is a link to something that is no kernel source")
    return shown


def _text(file: str) -> str:
    own = Problems(file)
    text = read_source(Path(file), own)
    if text is None:
        reason = next((problem.message for problem in own.found), "cannot be read")
        raise SwzError(UNREADABLE, f"{file}: {reason}")
    return text
