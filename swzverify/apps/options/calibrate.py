"""The options of `swzverify calibrate`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from swzverify.apps.options.declare import POSITIVE, Options, option, several


@dataclass(frozen=True, slots=True)
class CalibrateOptions(Options):
    """Compare the counters of this GPU with the cost rule.

    For every instruction, it runs address patterns for which different rules give different costs.

    \b
    Exit codes:
      0  the rule holds for every pattern
      1  it does not; the report names the patterns
      2  an error in the usage, or with the device
    """

    output: str | None = option("--output FILE", "Write the patterns and counts (.npz), for `prove --calibration`.")
    source: str | None = option("--from FILE", "Judge such a file instead of running here.")
    form: str = option("--format", "What to write the report as.", ("text", "json"), default="text")
    names: tuple[str, ...] = several("--instruction NAME", "Only this one; may be given again.")
    patterns: int = option("--patterns", "Patterns for each instruction.", POSITIVE, default=650)
    seed: int = option("--seed", "Seed of the random patterns.", click.IntRange(min=0), default=1)
