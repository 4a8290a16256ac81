"""Versions of what is installed, for `--version` and for reports of faults."""

from __future__ import annotations

import platform
from importlib import import_module


def installed_version(distribution: str = "swzverify") -> str:
    """The installed version of a distribution.

    >>> installed_version("no-such-distribution")
    '(not installed)'
    """
    from importlib import metadata  # noqa: PLC0415 - 40 ms that only a fault report or --version should cost

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def package_version() -> str:
    """The version of this very package, which need not be the installed one.

    The package names what layers above this one have, so that no module may import it.

    >>> import swzverify
    >>> package_version() == swzverify.__version__
    True
    """
    return str(import_module("swzverify").__version__)


def versions() -> str:
    """The versions for the report of a fault."""
    solver = installed_version("z3-solver")
    return f"swzverify {installed_version()}, z3-solver {solver}, Python {platform.python_version()}"
