"""Where a command begins its work: the one place of the command line that imports what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module


def run(command: str, given: Mapping[str, object]) -> None:
    """Call what does the command, with the values of its arguments and options by name.

    It is the function of the command's name in `swzverify/apps/commands/`, in the file of that name. A
    test holds its parameters against the options.
    """
    from swzverify.apps.commands.terminal import one_way_out  # noqa: PLC0415 - `--help` is to be quick

    with one_way_out():
        getattr(import_module(f"swzverify.apps.commands.{command}"), command)(**given)


def words(what: str) -> list[str]:
    """The words that a shell is offered for a value, as `apps/commands/completed.py` has them."""
    from swzverify.apps.commands.completed import words as of_tables  # noqa: PLC0415 - few commands complete anything

    return of_tables(what)
