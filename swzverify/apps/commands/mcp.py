"""`swzverify mcp`: the commands that read, as tools of an agent."""

from __future__ import annotations

import os

import click

from swzverify.apps.options.mcp import McpOptions
from swzverify.apps.run.version import installed_version
from swzverify.core.extras import extra


def mcp_command(options: McpOptions) -> None:
    """Serve an agent until it goes."""
    if not os.path.isdir(options.root):
        raise click.BadParameter(f"there is no folder {options.root!r}", param_hint="--root")
    with extra("mcp", "mcp", "the server for agents"):
        from swzverify.apps.commands.mcp_server import serve  # noqa: PLC0415 - an extra has what it needs
    serve(options.root, installed_version())
