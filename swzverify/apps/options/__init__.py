"""The options of each command, as a dataclass in the file of the command's name.

They import click and no more than their defaults and choices need, so that `--help` is quick.
`declare` makes a click command of a dataclass; `shared` has the options of several commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.apps.options.calibrate import CalibrateOptions
    from swzverify.apps.options.completions import CompletionsOptions
    from swzverify.apps.options.crosscheck import CrosscheckOptions
    from swzverify.apps.options.diff import DiffOptions
    from swzverify.apps.options.explain import ExplainOptions
    from swzverify.apps.options.explore import ExploreOptions
    from swzverify.apps.options.init import InitOptions
    from swzverify.apps.options.locality import LocalityOptions
    from swzverify.apps.options.prove import ProveOptions
    from swzverify.apps.options.recheck import RecheckOptions
    from swzverify.apps.options.scan import ScanOptions
    from swzverify.apps.options.schema import SchemaOptions
    from swzverify.apps.options.show import ShowOptions
    from swzverify.apps.options.sweep import SweepOptions
    from swzverify.apps.options.synth import SynthOptions
    from swzverify.apps.options.theorems import TheoremsOptions

__all__ = [
    "CalibrateOptions",
    "CompletionsOptions",
    "CrosscheckOptions",
    "DiffOptions",
    "ExplainOptions",
    "ExploreOptions",
    "InitOptions",
    "LocalityOptions",
    "ProveOptions",
    "RecheckOptions",
    "ScanOptions",
    "SchemaOptions",
    "ShowOptions",
    "SweepOptions",
    "SynthOptions",
    "TheoremsOptions",
]

__getattr__ = importer(__name__, {name: f".{name.removesuffix('Options').lower()}" for name in __all__})
__dir__ = lister(__name__, __all__)
