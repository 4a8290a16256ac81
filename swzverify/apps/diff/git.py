"""The questions to git: revisions, a tree's files, their contents. Nothing changes a repository.

Codes: SWZ514 not a git repository, SWZ515 no git, SWZ516 no such revision or path, SWZ517 git
failed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from swzverify.errors import SwzError

_SECONDS = 300.0
_AT_ONCE = 500
"""Files whose contents are held in memory together."""
_LINK_MODE = "120000"
_FILE_MODES = frozenset({"100644", "100755", _LINK_MODE})


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: its path from the root, its contents' name, and whether it is a link."""

    path: str
    blob: str
    is_link: bool


def resolve_commit(revision: str) -> str | None:
    """The full name of a revision's commit; None where it is no revision.

    What begins with a dash is no revision, and never an option.

    Raises:
        SwzError: SWZ514, SWZ515.
    """
    if revision.startswith("-") or not revision or "\0" in revision:
        return None
    done = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", check=False)
    name = done.stdout.decode("ascii", "replace").strip()
    return name if done.returncode == 0 and name else None


def in_repository() -> bool:
    """Whether the current folder lies in a repository that git can be asked about."""
    try:
        return _git("rev-parse", "--git-dir", check=False).returncode == 0
    except SwzError as error:
        if error.code != "SWZ515":
            raise
        return False


def require_repository(why: str) -> None:
    """Refuse where the current folder is in no repository (SWZ514), or there is no git (SWZ515)."""
    done = _git("rev-parse", "--git-dir", check=False)
    if done.returncode == 0:
        return
    reason = _error_text(done)
    if "dubious ownership" in reason:
        raise SwzError("SWZ514", f"{why}, but git refuses this repository: its files are another user's", hint=reason)
    hint = "run it inside of one, or look for a typing mistake"
    raise SwzError("SWZ514", f"{why}, but this folder is in no git repository", hint=hint)


def merge_base(one: str, other: str) -> str:
    """The commit at which two histories part.

    Raises:
        SwzError: SWZ516 if they have none in common.
    """
    done = _git("merge-base", one, other, check=False)
    name = done.stdout.decode("ascii", "replace").strip()
    if done.returncode or not name:
        hint = "a shallow clone may lack it: fetch the whole history (actions/checkout: fetch-depth: 0)"
        raise SwzError("SWZ516", f"{one[:12]} and {other[:12]} have no commit in common here", hint=hint)
    return name


def top_folder() -> str:
    """The root of the working tree.

    Raises:
        SwzError: SWZ514 if there is none, as in a bare repository.
    """
    done = _git("rev-parse", "--show-toplevel", check=False)
    if done.returncode:
        raise SwzError("SWZ514", "this repository has no working tree", hint="name two revisions")
    return os.fsdecode(done.stdout.removesuffix(b"\n"))


def prefix() -> str:
    """The current folder as seen from the working tree's root, with a `/` at its end; or empty."""
    return os.fsdecode(_git("rev-parse", "--show-prefix").stdout.removesuffix(b"\n"))


def object_type(commit: str, path: str) -> str:
    """What a commit has at a path: `blob`, `tree`, `commit` for a submodule; else empty."""
    if not path:
        return "tree"
    listed = _git("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path).stdout
    for line in listed.split(b"\0"):
        head, _, name = line.partition(b"\t")
        if os.fsdecode(name) == path:
            return head.split()[1].decode("ascii")
    return ""


def tree_files(commit: str) -> Iterator[Entry]:
    """Every file and link of a commit; what submodules hold is not among them."""
    for line in _git("ls-tree", "-r", "-z", "--full-tree", commit).stdout.split(b"\0"):
        if line:
            head, _, name = line.partition(b"\t")
            mode, _, blob = head.decode("ascii").split(" ")
            if mode in _FILE_MODES:
                yield Entry(os.fsdecode(name), blob, mode == _LINK_MODE)


def working_files(root: str) -> list[str]:
    """The files of the working tree that git has or would take: tracked, or not ignored."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=root).stdout
    return sorted({os.fsdecode(name) for name in listed.split(b"\0") if name})


def contents(commit: str, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
    """Each file with its bytes; None for a link that leads to no file of the commit."""
    files = [entry for entry in entries if not entry.is_link]
    for start in range(0, len(files), _AT_ONCE):
        some = files[start : start + _AT_ONCE]
        wanted = "".join(f"{entry.blob}\n" for entry in some).encode("ascii")
        data = _git("cat-file", "--batch", stdin=wanted).stdout
        for entry, content in zip(some, _batched(data), strict=True):
            if content is None:
                hint = "the clone is not complete: see `git fsck`"
                raise SwzError("SWZ517", f"git has no contents for {entry.path!r}", hint=hint)
            yield entry, content
    for entry in entries:
        if entry.is_link:
            yield entry, _through_link(commit, entry.path)


def _through_link(commit: str, path: str) -> bytes | None:
    """What a link leads to inside of the commit; git cannot be asked for a name with a line end."""
    if "\n" in path:
        return None
    wanted = os.fsencode(f"{commit}:{path}") + b"\n"
    return next(_batched(_git("cat-file", "--batch", "--follow-symlinks", stdin=wanted).stdout))


def _batched(data: bytes) -> Iterator[bytes | None]:
    """The answers of `git cat-file --batch`; None for each that is no blob.

    Source: git-cat-file(1), "Batch output".
    """
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].split(b" ")
        at = end + 1
        if words[-1] in (b"missing", b"ambiguous") or len(words) < 2:
            yield None
            continue
        size = int(words[-1])
        found = data[at : at + size]
        at += size + 1
        yield found if len(words) == 3 and words[1] == b"blob" else None


def _git(
    *arguments: str, check: bool = True, stdin: bytes = b"", folder: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git without a shell, a pager, a prompt or a watcher.

    Raises:
        SwzError: SWZ515, SWZ517.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
    environment = os.environ | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": ""}
    try:
        done = subprocess.run(  # noqa: S603 - no shell; what is a user's is refused where it could be an option
            command, input=stdin, capture_output=True, check=False, timeout=_SECONDS, env=environment, cwd=folder
        )
    except FileNotFoundError as error:
        hint = "install it, or compare two files or folders, which needs no git"
        raise SwzError("SWZ515", "git is needed for that, and is not installed", hint=hint) from error
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        _failed(arguments[0], str(error))
    if check and done.returncode:
        _failed(arguments[0], _error_text(done))
    return done


def _error_text(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip()


def _failed(command: str, reason: str) -> NoReturn:
    raise SwzError("SWZ517", f"git {command} failed: {reason or 'without a word'}")
