"""The spec files of the ini option `swzverify_specs`, and which of them a run must collect.

All of them where pytest runs without paths in the rootdir; else those that lie in the paths on its
command line, or in the folder that it runs in. pytest's `norecursedirs` does not hide them,
`--ignore`, `--ignore-glob` and a conftest's `collect_ignore` do.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from swzverify.apps.run.collect import collect_specs
from swzverify.core.words import counted
from swzverify.errors import Problem
from swzverify.report.escape import visible
from swzverify.report.problems import render_problems
from swzverify.report.style import TextStyle
from swzverify.spec.guard import is_spec_name

_INI = "swzverify_specs"


@dataclass(frozen=True, slots=True)
class NamedSpecs:
    """The named files, and those added to the session in the order of the ini, by their identities.

    A file that pytest was told to collect is not among the added ones: pytest comes across it.
    """

    named: frozenset[str]
    added: Mapping[str, Path]

    def names(self, path: Path) -> bool:
        """Whether a file that pytest has come across is a named one."""
        return _identity(path) in self.named

    def leaves(self, path: Path) -> bool:
        """Whether it is to be collected where pytest has come across it."""
        return _identity(path) not in self.added

    def without_ignored(self, config: pytest.Config) -> NamedSpecs:
        """The same without the added files that the user has told pytest to ignore.

        What is not added is collected where pytest comes across it: in a linked folder, which is
        not ignored.
        """
        added = {identity: path for identity, path in self.added.items() if not _is_ignored(path, config)}
        return replace(self, added=added)


def named_specs(config: pytest.Config, entries: Sequence[str]) -> NamedSpecs:
    """What the entries stand for in this run. Raises a usage error for an entry that names no file."""
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    for entry in entries:
        asked = _below_root(config.rootpath, entry)
        collected = collect_specs([asked])
        problems += [replace(each, file=entry) if each.file == asked else each for each in collected.problems]
        if not collected.files and not collected.problems:
            what, hint = "neither a *.swz.yaml file nor a contract is there", "name the files, or take this entry out"
            problems.append(Problem("SWZ801", what, hint, entry))
        for file in collected.files:
            files.setdefault(_identity(file), Path(os.path.abspath(file)))
    if problems:
        told = render_problems(problems, TextStyle(unicode=False))
        raise pytest.UsageError(f"the ini option `swzverify_specs`:\n{told.rstrip()}")
    folders, given = _paths_given(config)
    inside = {
        identity: path
        for identity, path in files.items()
        if identity not in given and (folders is None or any(_is_below(identity, folder) for folder in folders))
    }
    return NamedSpecs(frozenset(files), inside)


def unnamed_contracts(config: pytest.Config) -> str:
    """How to collect the contracts of the sources below the paths of this run; empty where there are none."""
    here = config.invocation_params.dir
    places = [place for place in _places(here, config.args) if place.exists()]
    sources = [file for file in collect_specs(map(str, places)).files if not is_spec_name(os.path.basename(file))]
    if not sources:
        return ""
    roots = dict.fromkeys(os.path.relpath(place, config.rootpath) for place in places)
    entries = "".join(f"\n    {visible(Path(root).as_posix())}" for root in roots)
    found = counted(len(sources), "source")
    how = "to collect them, name them in the configuration of pytest"
    return f"swzverify: {found} with contracts; {how}:\n{_INI} ={entries}"


def _below_root(root: Path, entry: str) -> str:
    """The entry from the rootdir on; only what the entry itself says is a pattern."""
    plain = os.path.join(root, entry)
    return plain if os.path.lexists(plain) or not glob.has_magic(entry) else os.path.join(glob.escape(str(root)), entry)


def _identity(path: str | os.PathLike[str]) -> str:
    """What a file is known by: its folder's real path and its name.

    A link to a spec is another spec, since what it names, it names from its own folder; a folder
    has one place only.
    """
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _paths_given(config: pytest.Config) -> tuple[list[str] | None, frozenset[str]]:
    """The folders of this run by their real paths (None: all), and the files that pytest collects.

    A run is about what its own command line says. Paths in `addopts` or PYTEST_ADDOPTS stand there
    for every run, as `testpaths` do; they say where tests lie.
    """
    here = config.invocation_params.dir
    asked = _positional(config)
    # A part of a file that every run is given does not stand for the file: the rest would vanish.
    collected = [each for each in config.args if "::" not in each or each in asked]
    files = frozenset(_identity(place) for place in _places(here, collected) if place.is_file())
    if not asked:
        is_root = os.path.realpath(here) == os.path.realpath(config.rootpath)
        return (None if is_root else [os.path.realpath(here)]), files
    return [os.path.realpath(place) for place in _places(here, asked) if place.is_dir()], files


def _positional(config: pytest.Config) -> list[str]:
    """The paths on this run's command line; only pytest's parser knows which words are values."""
    parser = config._parser  # pyright: ignore[reportPrivateUsage]  # a plugin is handed it too early
    return cast("list[str]", parser.parse(config.invocation_params.args).file_or_dir)


def _places(here: Path, arguments: Sequence[str]) -> list[Path]:
    """The paths of arguments such as `kernels/gemm.swz.yaml::A::bijective`."""
    return [here / argument.partition("[")[0].split("::")[0] for argument in arguments]


def _is_below(path: str, folder: str) -> bool:
    return Path(folder) in Path(path).parents


def _is_ignored(path: Path, config: pytest.Config) -> bool:
    here = config.invocation_params.dir
    identity = _identity(path)
    for ignored in cast("list[str] | None", config.getoption("ignore")) or []:
        place = here / ignored
        if identity == _identity(place) or _is_below(identity, os.path.realpath(place)):
            return True
    return bool(config.hook.pytest_ignore_collect(collection_path=path, config=config))
