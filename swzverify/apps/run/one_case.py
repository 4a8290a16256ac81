"""One case of a spec, and one thing of it by name: where the commands that draw begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from swzverify.errors import SwzError, nearest
from swzverify.spec import Spec
from swzverify.spec.build import SpecCase

_T = TypeVar("_T")


def one_case(spec: Spec, at: Mapping[str, int]) -> tuple[SpecCase, tuple[str, ...]]:
    """The first case of the constants with the values of `at`, and that case in words.

    There are no words if there is one case. `at` may name values that are no constants.

    Raises:
        SwzError: SWZ581 if no case has those values.
    """
    names = {name for case in spec.cases for name in case.chosen}
    asked = {name: value for name, value in at.items() if name in names}
    for case in spec.cases:
        if all(case.chosen[name] == value for name, value in asked.items()):
            if len(spec.cases) == 1:
                return case, ()
            chosen_words = ", ".join(f"{name} = {value}" for name, value in case.chosen.items())
            return case, (f"The case is {chosen_words}, one of {len(spec.cases)}.",)
    told = ", ".join(f"{name} = {value}" for name, value in asked.items())
    raise SwzError("SWZ581", f"{spec.path} has no case with {told}", hint="`constants:` lists the values")


def named(known: Mapping[str, _T], name: str, what: str, path: str) -> _T:
    """The thing of that name in the spec.

    Raises:
        SwzError: SWZ581 with the nearest name.
    """
    if name not in known:
        hint = nearest(name, known) or f"there are: {', '.join(known) or 'none'}"
        raise SwzError("SWZ581", f"{path} has no {what} '{name}'", hint=hint)
    return known[name]
