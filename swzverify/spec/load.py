"""The way in: a file or a text to its `Spec`, or to one `SpecError` with all that is wrong."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from swzverify.spec.build import Spec, build
from swzverify.spec.check import check
from swzverify.spec.limits import check_limits
from swzverify.spec.patience import OutOfPatience, patience
from swzverify.spec.problems import Problem, Problems, SpecError, TooManyProblems
from swzverify.spec.source import read_text, read_tree
from swzverify.spec.tree import Place

LOAD_SECONDS = 30.0
"""Processor time for reading one spec; ordinary ones take milliseconds."""


def load_spec(path: str | PathLike[str], *, target: str | None = None) -> Spec:
    """The spec in a file, for `target` if given, else for the target that the file names.

    Raises `SpecError` with every mistake of the file, and `SwzError` SWZ402 for an unknown `target` argument.
    """
    shown = Path(path).as_posix()
    problems = Problems(shown)
    text = read_text(Path(fspath(path)), problems)
    problems.raise_any()
    if text is None:
        raise SpecError((Problem("SWZ101", "cannot be read", file=shown),))
    return parse_spec(text, path=shown, target=target)


def parse_spec(text: str, *, path: str = "<text>", target: str | None = None) -> Spec:
    """The spec in a text, as `load_spec`; `path` is what messages and ids call it.

    >>> spec = parse_spec('''
    ... swzverify: 1
    ... tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
    ... claims: [{bijective: A}]
    ... ''', path="a.yaml")
    >>> [claim.id for claim in spec.claims]
    ['a.yaml::A::bijective']
    """
    problems = Problems(path)
    spec: Spec | None = None
    try:
        with patience(LOAD_SECONDS):
            spec = _read(text, path, problems, target)
    except TooManyProblems:
        pass  # those that were found are raised below
    except OutOfPatience:
        message = f"reading this spec takes more than {LOAD_SECONDS:g} seconds"
        problems.add("SWZ107", message, Place(1, 1), "split it, or make its expressions simpler")
    problems.raise_any()
    if spec is None:
        raise SpecError((Problem("SWZ101", "cannot be read", file=path),))
    return spec


def _read(text: str, path: str, problems: Problems, target: str | None) -> Spec | None:
    root = read_tree(text, problems)
    checked = None if root is None else check(root, problems)
    if checked is None or not check_limits(checked, len(text), problems):
        return None
    return build(checked, path, problems, target)
