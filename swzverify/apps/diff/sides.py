"""What BASE and HEAD stand for, as folders of specs: a path, a revision, the working tree.

A revision is never checked out: its specs and sources are written into a temporary folder, at the
paths that they have from the root of the repository. So are those of the working tree, without what
git ignores.

Codes: SWZ516 a side that names nothing, or nothing certain; SWZ519 a file of a tree that cannot be
read as one.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import TypeAlias

from swzverify.apps.diff import git
from swzverify.apps.diff.result import SideName
from swzverify.core.regular_file import NotRegularError, read_regular
from swzverify.errors import Problem, SwzError
from swzverify.spec.beside import LISTING_SUFFIXES, PTX_SUFFIX
from swzverify.spec.guard import is_spec_name
from swzverify.spec.sources.languages import SOURCE_SUFFIXES

MARK = "git:"
"""Before a name: it is a revision, whatever file has that name."""
VENV = "pyvenv.cfg"
"""A file that marks a virtual environment, whose sources no run reads: that it is there matters,
not what it says.
"""
_MOST_BYTES = (32 << 20) + 1
"""Of one file; a longer one is cut here, and still too long for every reader."""
_BESIDE_SPECS = (*SOURCE_SUFFIXES, PTX_SUFFIX, *LISTING_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Side:
    """One side: the folder that ids are relative to, and the paths in it to look for specs at.

    `single` is a side that is one spec file, whose path is no part of what claims are known by.
    """

    name: SideName
    root: str
    paths: tuple[str, ...] = (".",)
    single: bool = False
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """A path as it is given."""

    given: str


@dataclass(frozen=True, slots=True)
class _Revision:
    """A commit, and a path in it where one is named."""

    given: str
    commit: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class _WorkingTree:
    """The files as they are now."""

    given: str = "the working tree"


_Given: TypeAlias = _OnDisk | _Revision | _WorkingTree


@dataclass(slots=True)
class _Snapshot:
    """A temporary folder that is filled with a tree's files."""

    root: str
    problems: list[Problem] = field(default_factory=list[Problem])

    @staticmethod
    def begin(stack: ExitStack) -> _Snapshot:
        """An empty one until the stack closes; it is a repository's root: no spec reads beyond."""
        root = stack.enter_context(TemporaryDirectory(prefix="swzverify-"))
        os.mkdir(os.path.join(root, ".git"))
        return _Snapshot(root)

    def put(self, path: str, content: bytes | None) -> None:
        """Write one file, or note the problem: a claim must not vanish without a word."""
        parts = path.split("/")
        if content is None:
            self.refuse(path, "a symbolic link that leads to no file of the tree")
        elif any(part in ("", ".", "..", ".git") or "\0" in part or os.sep in part for part in parts):
            self.refuse(path, "a path that no working tree has")
        else:
            target = os.path.join(self.root, *parts)
            try:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "xb") as file:  # two names that this file system takes for one must not both vanish
                    file.write(content[:_MOST_BYTES])
            except (OSError, ValueError) as error:
                self.refuse(path, f"cannot be written to a temporary folder: {getattr(error, 'strerror', error)}")

    def refuse(self, path: str, why: str) -> None:
        """Note why a file of the tree is no spec or source."""
        self.problems.append(Problem("SWZ519", why, "give specs as plain files", path))


def open_sides(
    stack: ExitStack, base: str, head: str | None, paths: Sequence[str] = (), *, from_merge_base: bool = False
) -> tuple[Side, Side]:
    """Both sides, ready to be read until the stack is closed.

    `paths` narrow revisions and the working tree; `from_merge_base` puts the commit where HEAD's
    history left BASE's in BASE's place.

    Raises:
        SwzError: SWZ514 to SWZ519.
    """
    old = _meaning(base)
    new: _Given = _WorkingTree() if head is None else _meaning(head)
    if head is None and isinstance(old, _OnDisk):
        hint = "name HEAD too; it may be left out where BASE is a revision"
        raise SwzError("SWZ516", f"{base!r} is a file or folder, and nothing is given to compare it with", hint=hint)
    old, new, paths = _beside(old, new, paths)
    if from_merge_base:
        old = _parting(old, new)
    narrowing = _from_root(paths) if paths else ()
    for side in (old, new):
        if narrowing and (isinstance(side, _OnDisk) or (isinstance(side, _Revision) and side.path is not None)):
            message = f"--path narrows whole revisions and the working tree, and {side.given!r} is neither"
            raise SwzError("SWZ516", message, hint="name narrower ones instead")
    sides = _side(stack, old, narrowing), _side(stack, new, narrowing)
    if sides[0].single != sides[1].single:
        names = [f"{side.name.given!r} is {side.name.what}" for side in sides]
        hint = "compare two files, or two folders, or revisions"
        raise SwzError("SWZ516", f"{names[0]}, {names[1]}: they do not compare", hint=hint)
    for path in narrowing:
        if not any(os.path.lexists(os.path.join(side.root, path)) for side in sides):
            raise SwzError("SWZ516", f"neither side has anything at {path!r}", hint="--path counts from this folder")
    return sides


def _meaning(given: str) -> _Given:
    """What a name stands for; refused where it is both a path and a revision."""
    if given.startswith(MARK):
        git.require_repository(f"{given!r} is a revision")
        return _revision(given, given.removeprefix(MARK))
    if os.path.lexists(given):
        rooted = given.startswith((".", "/", os.sep)) or os.path.isabs(given)
        if not rooted and git.in_repository() and git.resolve_commit(given) is not None:
            hint = f"write {MARK}{given} for the revision, ./{given} for the path"
            raise SwzError("SWZ516", f"{given!r} is a path here and a revision too", hint=hint)
        return _OnDisk(given)
    git.require_repository(f"there is no file or folder {given!r}, so it would be a revision")
    return _revision(given, given)


def _revision(given: str, text: str) -> _Revision:
    name, colon, path = text.partition(":")
    commit = git.resolve_commit(name)
    if commit is None:
        raise SwzError("SWZ516", f"{given!r} is no file, folder or revision here", hint=_hint(name))
    if not colon:
        return _Revision(given, commit)
    # As git reads it: from the root, or with ./ or ../ from here.
    whole = posixpath.join(git.prefix(), path) if path.startswith(("./", "../")) or path in (".", "..") else path
    return _Revision(given, commit, _inside(whole, path))


def _hint(name: str) -> str:
    if ".." in name:
        return "give BASE and HEAD apart, with a blank between them; --merge-base for `...`"
    return "fetch it first where the clone is shallow (actions/checkout: fetch-depth: 0), or look for a typing mistake"


def _inside(path: str, given: str) -> str:
    """A path from the root, normalised; empty for the root itself."""
    normal = posixpath.normpath(path) if path else "."
    if normal.startswith(("..", "/")):
        raise SwzError("SWZ516", f"{given!r} lies outside of the repository", hint="name a path in it")
    return "" if normal == "." else normal


def _from_root(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths given from here, as seen from the root of the repository."""
    git.require_repository("--path narrows revisions")
    here = git.prefix()
    found: list[str] = []
    for path in paths:
        shown = os.path.relpath(path).replace(os.sep, "/") if os.path.isabs(path) else path.replace(os.sep, "/")
        found.append(_inside(posixpath.join(here, shown), path) or ".")
    return tuple(found)


def _beside(old: _Given, new: _Given, paths: Sequence[str]) -> tuple[_Given, _Given, Sequence[str]]:
    """A whole revision beside a path means that path of the revision and of the working tree."""
    for one, other in ((old, new), (new, old)):
        if isinstance(one, _Revision) and one.path is None and isinstance(other, _OnDisk):
            if paths:
                raise SwzError("SWZ516", f"{other.given!r} already narrows the comparison", hint="leave --path out")
            tree = _WorkingTree(other.given)
            return (one, tree, [other.given]) if one is old else (tree, one, [other.given])
    return old, new, paths


def _parting(old: _Given, new: _Given) -> _Revision:
    """The commit at which HEAD's history left BASE's."""
    if not isinstance(old, _Revision) or isinstance(new, _OnDisk):
        raise SwzError("SWZ516", "--merge-base is for revisions", hint="leave it out for files and folders")
    tip = new.commit if isinstance(new, _Revision) else git.resolve_commit("HEAD")
    if tip is None:
        raise SwzError("SWZ516", "--merge-base: there is no commit yet", hint="commit something first")
    return replace(old, commit=git.merge_base(old.commit, tip))


def _side(stack: ExitStack, given: _Given, narrowing: tuple[str, ...]) -> Side:
    match given:
        case _OnDisk(given=path):
            if os.path.isdir(path):
                return Side(SideName(path, "a folder"), os.path.abspath(path))
            return Side(SideName(path, "a file"), os.getcwd(), (path,), single=True)
        case _Revision():
            return _revision_side(stack, given, narrowing)
        case _WorkingTree():
            git.require_repository("the working tree is wanted")
            snapshot = _Snapshot.begin(stack)
            _copy_working_tree(snapshot, git.top_folder(), narrowing)
            name = SideName(given.given, "the working tree")
            return Side(name, snapshot.root, narrowing or (".",), problems=tuple(snapshot.problems))


def _revision_side(stack: ExitStack, given: _Revision, narrowing: tuple[str, ...]) -> Side:
    commit, path = given.commit, given.path
    named = (*narrowing, *(() if path is None else (path,)))
    snapshot = _Snapshot.begin(stack)
    wanted = [entry for entry in git.tree_files(commit) if _is_wanted(entry.path, named)]
    for entry, content in git.contents(commit, wanted):
        if _is_mark(entry.path):
            snapshot.put(entry.path, b"")
        elif content is not None or is_spec_name(entry.path) or entry.path in named:
            snapshot.put(entry.path, content)
    problems = tuple(snapshot.problems)
    name = SideName(given.given, "a revision", commit)
    if path is None:
        return Side(name, snapshot.root, narrowing or (".",), problems=problems)
    match git.object_type(commit, path):
        case "blob":
            return Side(replace(name, what="a file of a revision"), snapshot.root, (path,), True, problems)
        case "tree":
            root = os.path.join(snapshot.root, *path.split("/")) if path else snapshot.root
            os.makedirs(root, exist_ok=True)  # a folder may hold no spec at all
            return Side(replace(name, what="a folder of a revision"), root, problems=problems)
        case _:
            raise SwzError("SWZ516", f"{commit[:12]} has no file or folder {path!r}", hint="see `git ls-tree`")


def _is_wanted(path: str, named: Iterable[str]) -> bool:
    """Whether a file can matter: specs, sources, compiled code, marks, files named outright."""
    return _is_mark(path) or is_spec_name(path) or path.lower().endswith(_BESIDE_SPECS) or path in named


def _is_mark(path: str) -> bool:
    return posixpath.basename(path) == VENV


def _copy_working_tree(snapshot: _Snapshot, root: str, narrowing: tuple[str, ...]) -> None:
    """Copy what git has, or would take, of the working tree; a link must lead to such a file."""
    listed = git.working_files(root)
    real = os.path.realpath(root)
    plain = {os.path.join(real, *path.split("/")) for path in listed}
    for path in listed:
        if _is_wanted(path, narrowing):
            _copy(snapshot, path, os.path.join(real, *path.split("/")), plain)


def _copy(snapshot: _Snapshot, path: str, source: str, listed: Collection[str]) -> None:
    if not os.path.lexists(source):
        return  # deleted, and not yet so for git
    if _is_mark(path):
        snapshot.put(path, b"")
        return
    target = os.path.realpath(source)
    if target not in listed or not os.path.isfile(target):
        if is_spec_name(path):
            snapshot.put(path, None)
        return
    try:
        content = read_regular(target, _MOST_BYTES)
    except NotRegularError:
        content = None
    except OSError as error:
        snapshot.refuse(path, f"cannot be read: {error.strerror}")
        return
    snapshot.put(path, content)
