"""The spec files that the ini option `swzverify_specs` names, and which of them a run of pytest must collect.

All of them where pytest runs without paths in the rootdir; else those that lie in the paths that it was given, or in
the folder that it runs in. pytest's `norecursedirs` does not hide them, `--ignore`, `--ignore-glob` and a conftest's
`collect_ignore` do.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from swzverify.report.problems import render_problems
from swzverify.report.style import TextStyle
from swzverify.run.collect import SUFFIX, collect_specs
from swzverify.spec.problems import Problem


@dataclass(frozen=True, slots=True)
class NamedSpecs:
    """The named files, and those of them that are added to the session in the order of the ini, by their real paths.

    A file that the command line names itself is not among the added ones: pytest comes across it.
    """

    named: frozenset[str]
    added: Mapping[str, Path]

    def names(self, path: Path) -> bool:
        """Whether a file that pytest has come across is a named one."""
        return os.path.realpath(path) in self.named

    def leaves(self, path: Path) -> bool:
        """Whether it is to be collected where pytest has come across it."""
        return os.path.realpath(path) not in self.added

    def to_add(self, config: pytest.Config) -> list[Path]:
        """The added files that the user has not told pytest to ignore."""
        return [path for path in self.added.values() if not _is_ignored(path, config)]


def named_specs(config: pytest.Config, entries: Sequence[str]) -> NamedSpecs:
    """What the entries stand for in this run. Raises a usage error for an entry that names no file."""
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    for entry in entries:
        asked = _below_root(config.rootpath, entry)
        collected = collect_specs([asked])
        problems += [replace(each, file=entry) if each.file == asked else each for each in collected.problems]
        if not collected.files and not collected.problems:
            what, hint = f"neither a *{SUFFIX} file nor a contract is there", "name the files, or take this entry out"
            problems.append(Problem("SWZ801", what, hint, entry))
        for file in collected.files:
            files.setdefault(os.path.realpath(file), Path(os.path.abspath(file)))
    if problems:
        told = render_problems(problems, TextStyle(unicode=False))
        raise pytest.UsageError(f"the ini option `swzverify_specs`:\n{told.rstrip()}")
    folders, given = _paths_given(config)
    inside = {
        real: path
        for real, path in files.items()
        if real not in given and (folders is None or any(_is_below(real, folder) for folder in folders))
    }
    return NamedSpecs(frozenset(files), inside)


def _below_root(root: Path, entry: str) -> str:
    """The entry from the rootdir on; only what the entry itself says is a pattern."""
    plain = os.path.join(root, entry)
    return plain if os.path.lexists(plain) or not glob.has_magic(entry) else os.path.join(glob.escape(str(root)), entry)


def _paths_given(config: pytest.Config) -> tuple[list[str] | None, frozenset[str]]:
    """The folders that this run is about (None: everything), and the files; by their real paths."""
    here = config.invocation_params.dir
    is_asked = config.args_source is pytest.Config.ArgsSource.ARGS
    if not is_asked and os.path.realpath(here) == os.path.realpath(config.rootpath):
        return None, frozenset()
    places = [os.path.realpath(here / argument.partition("[")[0].split("::")[0]) for argument in config.args]
    return [place for place in places if os.path.isdir(place)], frozenset(filter(os.path.isfile, places))


def _is_below(path: str, folder: str) -> bool:
    return Path(folder) in Path(path).parents


def _is_ignored(path: Path, config: pytest.Config) -> bool:
    here = config.invocation_params.dir
    for ignored in cast("list[str] | None", config.getoption("ignore")) or []:
        place = os.path.realpath(here / ignored)
        if os.path.realpath(path) == place or _is_below(os.path.realpath(path), place):
            return True
    return bool(config.hook.pytest_ignore_collect(collection_path=path, config=config))
