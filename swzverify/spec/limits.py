"""Caps on what a well-formed spec may ask for: large products would take hours.

A cap is an answer: it says what is too much and where. docs/limits.md lists them all.
"""

from __future__ import annotations

from math import prod

from swzverify.spec.check import Checked
from swzverify.spec.problems import Problems
from swzverify.spec.tree import get, key_of, place_of

MAX_CONSTANTS = 256
MAX_LETS = 256
"""At the top, and in one access or map."""
MAX_VARIABLES = 32
"""Loops of an access; variables of a map."""
MAX_EXPRESSIONS = 64
"""In one list: coordinates, values, assumptions."""
MAX_WORK = 2 * 2**20
"""Characters of the file, times cases of the constants: every case reads every expression anew."""


def check_limits(checked: Checked, characters: int, problems: Problems) -> bool:
    """Whether a file's models stay within the caps; SWZ107 for each that they do not.

    `characters` is the length of the file's text.
    """
    before = len(problems)
    _check_constants(checked, characters, problems)
    _check_count(checked, ("let",), len(checked.spec.let), MAX_LETS, "lets", problems)
    for name, access in checked.spec.accesses.items():
        _check_count(checked, ("accesses", name, "let"), len(access.let), MAX_LETS, "lets", problems)
        _check_count(checked, ("accesses", name, "for"), len(access.for_), MAX_VARIABLES, "loops", problems)
        _check_count(checked, ("accesses", name, "lanes"), len(access.lanes), MAX_VARIABLES, "values", problems)
        for key, entries in (("coord", access.coord or []), ("assume", access.assume)):
            _check_count(checked, ("accesses", name, key), len(entries), MAX_EXPRESSIONS, "expressions", problems)
    for name, operand in checked.spec.operands.items():
        _check_count(checked, ("operands", name, "for"), len(operand.for_), MAX_VARIABLES, "loops", problems)
    for name, index_map in checked.spec.maps.items():
        _check_count(checked, ("maps", name, "over"), len(index_map.over), MAX_VARIABLES, "variables", problems)
        _check_count(checked, ("maps", name, "let"), len(index_map.let), MAX_LETS, "lets", problems)
        for key, values in (("value", index_map.value), ("onto", index_map.onto or [])):
            _check_count(checked, ("maps", name, key), len(values), MAX_EXPRESSIONS, "expressions", problems)
    return len(problems) == before


def _check_constants(checked: Checked, characters: int, problems: Problems) -> None:
    constants = checked.spec.constants
    _check_count(checked, ("constants",), len(constants), MAX_CONSTANTS, "constants", problems)
    # Each factor is capped, so that a product of thousands of lists stays a number that can be
    # printed.
    cases = prod(len(value) for value in list(constants.values())[:MAX_CONSTANTS] if isinstance(value, list))
    if cases > 1 and cases * characters > MAX_WORK:
        where = key_of(checked.root, "constants") or place_of(checked.root)
        counted = str(cases) if cases < 10**6 else "millions of"
        message = f"{counted} cases of a file of {characters} characters: too many for one spec"
        hint = f"at most {MAX_WORK} characters over all cases: split the file, or give the constants fewer values"
        problems.add("SWZ107", message, where, hint)


def _check_count(checked: Checked, path: tuple[str, ...], count: int, most: int, what: str, problems: Problems) -> None:
    if count > most:
        holder = get(checked.root, *path[:-1])
        where = key_of(holder, path[-1]) or place_of(holder)
        problems.add("SWZ107", f"{count} {what}: at most {most} are read", where)
