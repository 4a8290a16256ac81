"""Imports at first use, and functions that are defined in layers above their callers.

A command does not wait for packages that it does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__` for names that live in the given modules of it, relative or whole.

    >>> importer("swzverify", {"Layout": ".layout"})("Layout").__name__
    'Layout'
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name], package), name)

    return get


def lister(package: str, names: Iterable[str]) -> Callable[[], list[str]]:
    """A package's `__dir__`: its public names, imported or not, and its modules that were imported.

    >>> import swzverify
    >>> "Tile" in dir(swzverify), "importer" in dir(swzverify)
    (True, False)
    """
    public = frozenset(names)

    def list_names() -> list[str]:
        found = vars(sys.modules[package])
        others = (name for name, value in found.items() if name.startswith("__") or isinstance(value, ModuleType))
        return sorted({*public, *others})

    return list_names


_PROVIDED: dict[str, Callable[[object], object]] = {}


def provide(what: str, function: Callable[[object], object]) -> None:
    """Register the function for something that lower modules ask for: they cannot import it."""
    _PROVIDED[what] = function


def provided(what: str) -> Callable[[object], object] | None:
    """The function that does it; None where none was provided.

    >>> provided("a dinner") is None
    True
    """
    return _PROVIDED.get(what)
