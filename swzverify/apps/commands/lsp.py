"""`swzverify lsp`: a language server for specs and contracts."""

from __future__ import annotations

from swzverify.apps.options.lsp import LspOptions
from swzverify.apps.run.version import installed_version
from swzverify.core.extras import extra


def lsp_command(options: LspOptions) -> None:
    """Serve an editor until it goes."""
    del options
    with extra("lsp", "pygls", "the language server"):
        from swzverify.apps.editor.server import serve  # noqa: PLC0415 - an extra has what it needs
    serve(installed_version())
