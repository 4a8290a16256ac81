"""The smallest spec that still disagrees: parts left out, expressions exchanged for parts of
theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy

from tests.differential.comparison import Disagreement, compare
from tests.oracle import c_expr
from tests.oracle.c_expr import Op
from tests.oracle.grammar import places
from tests.oracle.oracle_errors import OracleError
from tests.oracle.random_expressions import text_of
from tests.oracle.yaml_values import Spec, Yaml

LIMIT_S = 60.0
SECTIONS = ("claims", "phases", "accesses", "maps", "tiles", "memories", "let", "constants")


def smallest(spec: Spec, found: Disagreement, rlimit: int) -> Spec:
    """A spec that disagrees in the same way, with as little in it as 60 s of trying allow."""
    return shrunk(spec, lambda smaller: _disagrees(smaller, found, rlimit))


def _disagrees(spec: Spec, found: Disagreement, rlimit: int) -> bool:
    sort = found.problem.split("(")[0][:40]
    try:
        outcome = compare(spec, found.seed, rlimit)
    except Exception as error:  # noqa: BLE001 - a break of the tool is what is being made small
        return sort.startswith("it breaks") and type(error).__name__ in found.problem
    return any(each.problem.startswith(sort) for each in outcome.disagreements)


def shrunk(spec: Spec, keeps: Callable[[Spec], bool], limit_s: float = LIMIT_S) -> Spec:
    """The smallest spec reached step by step for which `keeps` holds.

    >>> shrunk({"claims": [1, 2, 3], "tiles": {"A": {}, "B": {}}}, lambda s: 2 in s.get("claims", []))
    {'claims': [2]}
    """
    end = time.perf_counter() + limit_s
    went_on = True
    while went_on and time.perf_counter() < end:
        went_on = False
        for smaller in _steps(spec):
            if time.perf_counter() > end:
                break
            if keeps(smaller):
                spec, went_on = smaller, True
                break
    return spec


def _steps(spec: Spec) -> Iterator[Spec]:
    """The spec with one thing less, the largest first."""
    for section in SECTIONS:
        if section in spec:
            yield {key: value for key, value in spec.items() if key != section}
    for section in SECTIONS:
        yield from _less(spec, (section,))
    for section in ("accesses", "tiles", "maps", "memories"):
        entries = spec.get(section)
        for name in entries if isinstance(entries, dict) else ():
            yield from _less(spec, (section, name))
    yield from _simpler(spec)


def _less(spec: Spec, path: tuple[str, ...]) -> Iterator[Spec]:
    """The spec without one of the entries at `path`."""
    entries: Yaml = spec
    for step in path:
        entries = entries.get(step) if isinstance(entries, dict) else None
    keys = list(entries) if isinstance(entries, dict) else range(len(entries)) if isinstance(entries, list) else ()
    for key in keys:
        smaller = deepcopy(spec)
        holder: Yaml = smaller
        for step in path:
            holder = holder[step] if isinstance(holder, dict) else None
        if isinstance(holder, dict | list):
            del holder[key]  # type: ignore[arg-type]  # the key is the holder's own
            yield smaller


def _simpler(spec: Spec) -> Iterator[Spec]:
    """The spec with one expression exchanged for an operand of it."""
    for index, place in enumerate(places(spec)):
        if not isinstance(place.value, str):
            continue
        try:
            tree = c_expr.parse(place.value)
            constant = c_expr.evaluate(tree, {}, 1)[0] if not c_expr.names_in(tree) else None
        except OracleError:
            constant = None
        choices: list[Yaml] = [] if constant is None else [constant]
        choices += [text_of(each) for each in _parts(tree)]
        for choice in choices:
            if len(str(choice)) < len(place.value):
                smaller = deepcopy(spec)
                list(places(smaller))[index].put(choice)
                yield smaller


def _parts(tree: c_expr.Expr) -> Iterator[c_expr.Expr]:
    """The operands, and the tree with one operand exchanged for a part of it."""
    if isinstance(tree, Op):
        yield from tree.operands
        for index, operand in enumerate(tree.operands):
            for part in _parts(operand):
                yield Op(tree.symbol, (*tree.operands[:index], part, *tree.operands[index + 1 :]))
