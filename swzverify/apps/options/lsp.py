"""The options of `swzverify lsp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import Options, flag


@dataclass(frozen=True, slots=True)
class LspOptions(Options):
    """Serve an editor by the Language Server Protocol, over standard input and output.

    The server marks mistakes and refuted claims of specs, and of contracts in .cu and .py files,
    while they are typed. It shows what a claim means, its scope and cost, and pictures of tiles and
    accesses; it completes keys and names, finds definitions, and offers proved cures.
    """

    without: ClassVar[str] = "the server has ended"
    stdio: bool = flag("--stdio", "Use standard input and output, as it does anyway; editors pass this.")
