"""The options of `swzverify crosscheck`."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.options.declare import Options, argument, flag, option


@dataclass(frozen=True, slots=True)
class CrosscheckOptions(Options):
    """Compare the claims of spec files with this machine's GPU.

    The GPU evaluates the same maps, runs the real instructions, and counts their costs.

    \b
    Exit codes:
      0  the device agrees with everything that it can see
      1  it disagrees with something
      2  an error in a spec, in the usage, or with the device
      5  no claim found
    """

    paths: tuple[str, ...] = argument("PATH...")
    form: str = option("--format", "What to write the report as.", ("text", "json"), default="text")
    output: str | None = option("--output FILE", "Write the report to a file instead of standard output.")
    method: str = option(
        "--cost",
        "How to take costs: Nsight Compute's counters, the slope of the clock (coarser), or not at all.",
        ("counters", "clocks", "none"),
        default="counters",
    )
    record: str | None = option("--record FILE", "Write the device's answers, for `swzverify prove --recording`.")
    emit: str | None = option("--emit DIR", "Write a CUDA program to run elsewhere instead of running here.")
    against: str | None = option(
        "--against FILE", "Compare with the answers of an emitted program instead of running here."
    )
    verbose: bool = flag("-v, --verbose", "Also show what was left out.")
    quiet: bool = flag("-q, --quiet", "Show only disagreements, and the summary.")
