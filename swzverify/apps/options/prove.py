"""The options of `swzverify prove`, and those of them that other runs have too."""

from __future__ import annotations

import re
from dataclasses import dataclass

import click

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, group, option, several
from swzverify.apps.options.shared import Reports, jobs_option
from swzverify.apps.options.values import OpenChoice
from swzverify.claims import KINDS, claim_type
from swzverify.core.outside import Group

_NAME = re.compile(r"[A-Za-z_][\w.,:-]*|.+::.+", re.ASCII)
"""A name of a spec, several as in `write,tile`, or the id of a claim."""
STDIN = "<stdin>"
"""The name of the spec on standard input."""


class _KindOrName(OpenChoice):
    """A kind of claim, or a name that some spec has: that it has one is known when the specs are read."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The kind or the name. A usage error for what can be neither."""
        return super().convert(value, param, ctx) if self.knows(value) or not _NAME.fullmatch(value) else value


@dataclass(frozen=True, slots=True)
class Settings:
    """Which claims to prove, and how; the last two are no options."""

    jobs: int | None = jobs_option("Processes to use.  [default: one per processor, for more than a few specs]")
    select: tuple[str, ...] = several(
        "--select KIND|NAME",
        "Prove only claims of this kind, or about this tile, access, map, ...; a name such as "
        f"read_A::conflict_free is one claim. May be given again. Kinds: {', '.join(KINDS)}.",
        _KindOrName(list(KINDS), Group.CLAIMS, claim_type),
    )
    target: str | None = option("--target NAME", "Prove for this target instead of the specs' own, such as sm_90.")
    rlimit: int | None = option("--rlimit N", "Budget of a query, in Z3's resource units.", POSITIVE)
    time_limit_s: float | None = option(
        "--time-limit SECONDS",
        "Limit the time of a Z3 query, in a separate process; beyond it the claim is unknown.",
        click.FloatRange(min=0, min_open=True),
    )
    memory_limit_mib: int | None = option(
        "--memory-limit MIB",
        "Limit the memory of a Z3 query, in a separate process; beyond it the claim is unknown.",
        POSITIVE,
    )
    certificates: str | None = option(
        "--certificates DIR", "Write a certificate of every proof, for `swzverify recheck DIR`."
    )
    recording: str | None = option(
        "--recording FILE",
        "Name the device as evidence of costs that `swzverify crosscheck --record` measured in full.",
    )
    calibration: str | None = option(
        "--calibration FILE",
        "Name the device as evidence of instructions whose rule `swzverify calibrate --output` found to hold.",
    )
    single_engine: bool = flag("--single-engine", "Skip the second engine; the report says so.")
    cures: bool = flag(
        "--no-cures, --no-suggest", "Do not look for changes that would make refuted costs hold.", turns=False
    )
    stdin: bytes | None = None
    """The bytes of the spec from standard input, whose file is called `STDIN`."""
    pictures: bool = False
    """Whether to draw the case that breaks a cost, for reports that show it."""


@dataclass(frozen=True, slots=True)
class ProveOptions(Options):
    """Prove the claims of spec files.

    PATH is a spec file, a folder (every *.swz.yaml below it) or a pattern in quotes, such as
    'specs/**/*.swz.yaml'; - is standard input, which is called <stdin>. Without a PATH it is the
    current folder.

    \b
    Exit codes:
      0  every claim came out as expected
      1  some did not
      2  an error in a spec, in the usage, or in swzverify
      3  nothing was refuted unexpectedly, but something is unknown or vacuous
      5  no claim found, or none at one of the paths, without --allow-no-claims
    """

    paths: tuple[str, ...] = argument("PATH...", default=())
    reports: Reports = group(Reports)
    settings: Settings = group(Settings)
    baseline: str | None = option("--baseline FILE", "Accept the known failures in this file; fail on new ones only.")
    write_baseline: str | None = option(
        "--write-baseline FILE", "Write what fails now as known failures; the exit code stays what it would be."
    )
    write_test: str | None = option(
        "--write-test FILE", "Write each new counterexample as a pytest test, which fails until the spec is corrected."
    )
    fix: bool = flag(
        "--fix", "Write the nearest proved cure of each refuted claim into its spec, if no other claim breaks."
    )
    diff: bool = flag("--diff", "Show what --fix writes as a diff in place of the report; alone it writes nothing.")
    watch: bool = flag("--watch", "Prove again the specs that change, or whose files do, until Ctrl-C.")
    allow_no_claims: bool = flag(
        "--allow-no-claims", "Exit with 0 where no claim is found, or none at a path, for files that may hold none."
    )
    verbose: bool = flag("-v, --verbose", "Show everything about every claim.")
    quiet: bool = flag("-q, --quiet", "Show only what came out unexpectedly, and the summary.")
