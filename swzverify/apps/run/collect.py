"""Finds the spec files that the paths on the command line stand for."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from swzverify.errors import Problem, nearest
from swzverify.report.result import NO_CLAIM
from swzverify.spec.guard import is_spec_name
from swzverify.spec.kernel_source import holds_contract

SUFFIX = ".swz.yaml"
"""How names of specs end; `is_spec_name` knows other spellings too."""


@dataclass(slots=True)
class Collected:
    """Spec files as paths from the current folder, each once, in the order given; and problems.

    `reached` has the files of each path that was given, also those that an earlier path reached.
    """

    files: list[str] = field(default_factory=list[str])
    problems: list[Problem] = field(default_factory=list[Problem])
    reached: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def without_claims(self, told: Container[str]) -> list[Problem]:
        """A problem for each path that leads to no file of those that are `told` of.

        >>> Collected(reached={"a": ["a/x.swz.yaml"], "b": []}).without_claims({"a/x.swz.yaml"})[0].file
        'b'
        """
        hint = "take the path out, or allow it with --allow-no-claims"
        empty = (path for path, files in self.reached.items() if not any(each in told for each in (path, *files)))
        return [Problem(NO_CLAIM, "no claim found here", hint, path) for path in empty]


def collect_specs(paths: Iterable[str], stdin: str = "") -> Collected:
    """The spec files of files, folders and patterns (`**` crosses folders).

    Of a folder: every `*.swz.yaml` below it, and every kernel source with a contract in its
    comments, those in hidden folders and in virtual environments left out. A path that exists is
    never read as a pattern. Files of a folder or pattern come in the order of their names; a file
    that several paths reach counts where it comes first. With `stdin`, the path `-` stands for a
    spec of that name, which is no file.

    >>> collect_specs(["no/such.swz.yaml"]).problems[0].code
    'SWZ501'
    """
    collected = Collected()
    seen: dict[str, str] = {}
    for path in paths:
        if stdin and path == "-":
            collected.files += [stdin] * (stdin not in collected.files)
            collected.reached[path] = [stdin]
            continue
        reached = collected.reached.setdefault(path, [])
        for file in _files_of(path, collected.problems):
            # a link in another folder is another spec: what it names, it names from its own folder
            folder, name = os.path.split(file)
            identity = os.path.join(os.path.realpath(folder or os.curdir), name)
            if identity not in seen:
                seen[identity] = _from_here(file)
                collected.files.append(seen[identity])
            reached.append(seen[identity])
    return collected


def _files_of(path: str, problems: list[Problem]) -> list[str]:
    if os.path.isdir(path):
        return _below(path, problems)
    if os.path.lexists(path):
        return [path]
    if not glob.has_magic(path):
        problems.append(_missing(path))
        return []
    return _matching(path, problems)


def _matching(pattern: str, problems: list[Problem]) -> list[str]:
    """The files that match, and the specs below matching folders; a last `**` means folders."""
    matches = _expanded(pattern)
    if not matches:
        hint = "`*` stays in one folder, `**` crosses folders"
        problems.append(Problem("SWZ502", "no file matches this pattern", hint, pattern))
    folders_only = os.path.basename(pattern) == "**"
    found: list[str] = []
    for match in matches:
        if os.path.isdir(match):
            found += _below(match, problems)
        elif not folders_only or is_spec_name(match) or holds_contract(match):
            found.append(match)
    return sorted(found, key=_parts)


def _expanded(pattern: str) -> list[str]:
    """Expand a pattern as `glob.glob(pattern, recursive=True)`, but `**` follows no links to folders.

    Two links that loop would have no end. Names that start with a dot match only if the pattern's part
    does too.
    """
    drive, rest = os.path.splitdrive(pattern)
    parts = rest.replace(os.altsep or os.sep, os.sep).split(os.sep)
    found = [drive]
    if rest.startswith(os.sep):
        found, parts = [drive + os.sep], parts[1:]
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        # Each path once: `**/**` reaches the same folder in many ways.
        found = list(dict.fromkeys(path for folder in found for path in _step(folder, part, is_last=is_last)))
    return found


def _step(folder: str, part: str, *, is_last: bool) -> list[str]:
    """What one part of a pattern stands for in a folder."""
    if part == "**":
        return _all_below(folder, with_files=is_last)
    if not glob.has_magic(part):
        path = os.path.join(folder, part)
        return [path] if os.path.lexists(path) else []
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:
        return []
    shown = names if part.startswith(".") else [name for name in names if not name.startswith(".")]
    return [os.path.join(folder, name) for name in fnmatch.filter(shown, part)]


def _all_below(folder: str, *, with_files: bool) -> list[str]:
    """The folder and the folders below it, on request with their files."""
    found: list[str] = []
    for parent, folders, files in os.walk(folder or os.curdir):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = folder if parent == (folder or os.curdir) else os.path.normpath(parent)
        found.append(here)
        if with_files:
            found += [os.path.join(here, name) for name in files if not name.startswith(".")]
    return found


def _below(folder: str, problems: list[Problem]) -> list[str]:
    """Every spec file below a folder, sorted by path parts; it follows no links to folders."""

    def unreadable(error: OSError) -> None:
        problems.append(Problem("SWZ503", f"cannot read the folder: {error.strerror}", file=str(error.filename)))

    found: list[str] = []
    foreign: set[str] = set()
    for parent, folders, names in os.walk(folder, onerror=unreadable):
        if parent in foreign or "pyvenv.cfg" in names:
            foreign.update(os.path.join(parent, name) for name in folders)
            sources = False
        else:
            foreign.update(os.path.join(parent, name) for name in folders if name.startswith("."))
            sources = True
        paths = [os.path.join(parent, name) for name in names]
        found += [path for path in paths if is_spec_name(path) or (sources and holds_contract(path))]
    return sorted(found, key=_parts)


def size_bytes(file: str) -> int:
    """A file's size; 0 where it cannot be read: who reads the file reports that."""
    try:
        return os.stat(file).st_size
    except OSError:
        return 0


def _parts(file: str) -> list[str]:
    return file.split(os.sep)


def _missing(path: str) -> Problem:
    folder, name = os.path.split(path)
    try:
        hint = nearest(name, os.listdir(folder or os.curdir))
    except OSError:
        hint = f"there is no folder '{folder}'"
    return Problem("SWZ501", "no such file or folder", hint, path)


def _from_here(file: str) -> str:
    """The path from the current folder, with `/` between its parts; on another drive as it is."""
    try:
        shown = os.path.relpath(file)
    except ValueError:
        shown = file
    return shown.replace(os.sep, "/")
