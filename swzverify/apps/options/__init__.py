"""The options of each command, as a dataclass in the file of the command's name.

They import click and no more than their defaults and choices need, so that `--help` is quick.
`declare` makes a click command of a dataclass; `shared` has the options of several commands.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swzverify.apps.options.calibrate import CalibrateOptions as CalibrateOptions
    from swzverify.apps.options.completions import CompletionsOptions as CompletionsOptions
    from swzverify.apps.options.crosscheck import CrosscheckOptions as CrosscheckOptions
    from swzverify.apps.options.diff import DiffOptions as DiffOptions
    from swzverify.apps.options.explain import ExplainOptions as ExplainOptions
    from swzverify.apps.options.explore import ExploreOptions as ExploreOptions
    from swzverify.apps.options.init import InitOptions as InitOptions
    from swzverify.apps.options.locality import LocalityOptions as LocalityOptions
    from swzverify.apps.options.lsp import LspOptions as LspOptions
    from swzverify.apps.options.mcp import McpOptions as McpOptions
    from swzverify.apps.options.prove import ProveOptions as ProveOptions
    from swzverify.apps.options.recheck import RecheckOptions as RecheckOptions
    from swzverify.apps.options.scan import ScanOptions as ScanOptions
    from swzverify.apps.options.schema import SchemaOptions as SchemaOptions
    from swzverify.apps.options.show import ShowOptions as ShowOptions
    from swzverify.apps.options.sweep import SweepOptions as SweepOptions
    from swzverify.apps.options.synth import SynthOptions as SynthOptions
    from swzverify.apps.options.theorems import TheoremsOptions as TheoremsOptions


def __getattr__(name: str) -> object:
    home = name.removesuffix("Options").lower()
    if home == name.lower():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
