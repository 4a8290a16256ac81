"""`swzverify --version`."""

from __future__ import annotations

from swzverify.apps.commands.terminal import say
from swzverify.apps.run.version import installed_version


def version() -> None:
    """Print the version."""
    say(f"swzverify {installed_version()}\n")
