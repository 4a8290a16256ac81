"""The options of `swzverify theorems`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import Options, flag, option, several
from swzverify.apps.options.shared import PageFormat, jobs_option


@dataclass(frozen=True, slots=True)
class TheoremsOptions(Options):
    """List the general theorems on swizzles, pads and bank conflicts, and prove them all again.

    Published statements that do not hold are listed too, with a counterexample; their expected verdict
    is refuted.

    \b
    Exit codes:
      0  every theorem came out as expected
      1  some did not
      2  an error in the usage
    """

    without: ClassVar[str] = "no list"
    names: tuple[str, ...] = several("-k NAME", "Only theorems with this text in their name; may be given again.")
    form: PageFormat = option(
        "--format",
        "What to write the list as; docs/theorems.md is the markdown.",
        PageFormat,
        default=PageFormat.TEXT,
    )
    jobs: int | None = jobs_option("Processes to use.  [default: one per processor, for more than a few theorems]")
    verbose: bool = flag("-v, --verbose", "Show every theorem's LaTeX, source and obligations.")
