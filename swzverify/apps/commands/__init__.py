"""What each command of the command line does, in the file of its name: a function that takes the options.

A file here imports at its top whatever it needs: it is imported when the command runs. Beside the
commands, `terminal`, `writing`, `files`, `reports` and `drawing` say how a command speaks and what it
writes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swzverify.apps.commands.calibrate import calibrate_command as calibrate_command
    from swzverify.apps.commands.completions import completions_command as completions_command
    from swzverify.apps.commands.crosscheck import crosscheck_command as crosscheck_command
    from swzverify.apps.commands.diff import diff_command as diff_command
    from swzverify.apps.commands.explain import explain_command as explain_command
    from swzverify.apps.commands.explore import explore_command as explore_command
    from swzverify.apps.commands.init import init_command as init_command
    from swzverify.apps.commands.locality import locality_command as locality_command
    from swzverify.apps.commands.lsp import lsp_command as lsp_command
    from swzverify.apps.commands.mcp import mcp_command as mcp_command
    from swzverify.apps.commands.prove import prove_command as prove_command
    from swzverify.apps.commands.recheck import recheck_command as recheck_command
    from swzverify.apps.commands.scan import scan_command as scan_command
    from swzverify.apps.commands.schema import schema_command as schema_command
    from swzverify.apps.commands.show import show_command as show_command
    from swzverify.apps.commands.sweep import sweep_command as sweep_command
    from swzverify.apps.commands.synth import synth_command as synth_command
    from swzverify.apps.commands.theorems import theorems_command as theorems_command


def __getattr__(name: str) -> object:
    home = name.removesuffix("_command")
    if home == name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
