"""What each command of the command line does, in the file of its name: a function that takes the options.

A file here imports at its top whatever it needs: it is imported when the command runs. Beside the
commands, `terminal`, `writing`, `files`, `reports` and `drawing` say how a command speaks and what it
writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.apps.commands.calibrate import calibrate_command
    from swzverify.apps.commands.completions import completions_command
    from swzverify.apps.commands.crosscheck import crosscheck_command
    from swzverify.apps.commands.diff import diff_command
    from swzverify.apps.commands.explain import explain_command
    from swzverify.apps.commands.explore import explore_command
    from swzverify.apps.commands.init import init_command
    from swzverify.apps.commands.locality import locality_command
    from swzverify.apps.commands.prove import prove_command
    from swzverify.apps.commands.recheck import recheck_command
    from swzverify.apps.commands.scan import scan_command
    from swzverify.apps.commands.schema import schema_command
    from swzverify.apps.commands.show import show_command
    from swzverify.apps.commands.sweep import sweep_command
    from swzverify.apps.commands.synth import synth_command
    from swzverify.apps.commands.theorems import theorems_command

__all__ = [
    "calibrate_command",
    "completions_command",
    "crosscheck_command",
    "diff_command",
    "explain_command",
    "explore_command",
    "init_command",
    "locality_command",
    "prove_command",
    "recheck_command",
    "scan_command",
    "schema_command",
    "show_command",
    "sweep_command",
    "synth_command",
    "theorems_command",
]

__getattr__ = importer(__name__, {name: f".{name.removesuffix('_command')}" for name in __all__})
__dir__ = lister(__name__, __all__)
