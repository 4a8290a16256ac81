"""Versions of what is installed, for `--version` and for reports of faults."""

from __future__ import annotations

from importlib import import_module


def installed_version(distribution: str = "swzverify") -> str:
    """The installed version of a distribution; our own is the one that runs.

    >>> installed_version("no-such-distribution")
    '(not installed)'
    """
    if distribution == "swzverify":
        return package_version()
    from importlib import metadata  # noqa: PLC0415 - 14 ms that only a fault report should cost

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def package_version() -> str:
    """The version of the package that runs, which may differ from the installed one.

    It is imported by name: the package exports names of higher layers, so no module may import it.

    >>> import swzverify
    >>> package_version() == swzverify.__version__
    True
    """
    return str(import_module("swzverify").__version__)


def versions() -> str:
    """The versions for the report of a fault."""
    import platform  # noqa: PLC0415 - likewise

    solver = installed_version("z3-solver")
    return f"swzverify {installed_version()}, z3-solver {solver}, Python {platform.python_version()}"
