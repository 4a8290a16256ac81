"""The options of `swzverify mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import Options, option


@dataclass(frozen=True, slots=True)
class McpOptions(Options):
    """Serve an agent by the Model Context Protocol, over standard input and output.

    The tools are prove, scan, synth, explain, show and cost. They read files below the root only,
    links followed, and write none. Each call is bounded in counted work and in the size of its
    answer.
    """

    without: ClassVar[str] = "the server has ended"
    root: str = option("--root DIR", "The folder whose files may be read.", default=".")
