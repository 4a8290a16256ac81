"""The server of `swzverify mcp`; this file alone knows the SDK."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import wraps
from threading import Lock

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from swzverify.apps.commands.mcp_tools import TOOLS, called
from swzverify.errors import SpecError, SwzError
from swzverify.report.escape import visible_lines
from swzverify.spec.beside import confined

_INSTRUCTIONS = (
    "Proves shared-memory layouts of GPU kernels and finds bank conflicts and races of compiled kernels. Paths are "
    "relative to the server's root. Answers are the JSON documents of the command line; show answers with text. "
    "A verdict `proved` holds for every value in its scope; `unknown` says nothing."
)


def make_server(root: str, version: str) -> MCPServer:
    """The server with its tools, whose working folder is the root; nothing runs it yet."""
    server = MCPServer("swzverify", instructions=_INSTRUCTIONS, version=version, log_level="WARNING")
    real, turn = os.path.realpath(root), Lock()
    about = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in TOOLS:
        server.add_tool(_as_agent_tool(tool, real, turn), annotations=about, structured_output=False)
    return server


def serve(root: str, version: str) -> None:
    """Answer an agent over the standard streams until it goes."""
    os.chdir(root)
    make_server(os.curdir, version).run("stdio")


def _as_agent_tool(tool: Callable[..., str], root: str, turn: Lock) -> Callable[..., str]:
    """The tool, one call at a time; what it refuses is told to the agent."""

    @wraps(tool)
    def answer(**arguments: object) -> str:
        with turn, confined(root):
            try:
                return called(tool, arguments)
            except (SwzError, SpecError) as error:
                raise ToolError("\n".join(visible_lines(str(error)))) from error

    answer.__signature__ = inspect.signature(tool, eval_str=True)  # pyright: ignore[reportAttributeAccessIssue]
    return answer
