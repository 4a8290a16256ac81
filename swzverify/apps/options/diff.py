"""The options of `swzverify diff`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, option, several
from swzverify.apps.options.prove import Settings
from swzverify.apps.options.shared import PageFormat, jobs_option


class Allow(StrEnum):
    """What `diff` may let be lost without a failure."""

    DELETED = "deleted"
    WEAKENED = "weakened"
    BROKEN_BASE = "broken-base"


@dataclass(frozen=True, slots=True)
class DiffOptions(Options):
    """List the claims that were added, deleted or weakened between BASE and HEAD.

    Claims whose verdict changed are listed too. BASE and HEAD are each a spec file, a folder, or a
    git revision such as main, HEAD~1 or v1.2:path. git:NAME is a revision even if a file has that
    name. Without HEAD, the working tree is compared.

    \b
    Exit codes:
      0  nothing was lost
      1  a claim was deleted or weakened, or a verdict is no longer as expected
      2  an error in a spec, in the usage, or in swzverify
      5  no claim on either side
    """

    base: str = argument("BASE")
    head: str | None = argument("[HEAD]", default=None)
    paths: tuple[str, ...] = several("--path PATH", "Compare only what is here; may be given again.")
    merge_base: bool = flag(
        "--merge-base", "Compare with the commit where HEAD's history left BASE's, as for a pull request."
    )
    allow: tuple[Allow, ...] = several(
        "--allow",
        "Do not fail for such claims, or for specs of BASE that cannot be read; may be given again.",
        Allow,
    )
    allow_claim: tuple[str, ...] = several("--allow-claim ID", "Let this one claim be lost; may be given again.")
    prove: bool = flag("--no-prove", "Compare what is claimed, and prove nothing.", turns=False)
    form: PageFormat = option("--format", "What to write the comparison as.", PageFormat, default=PageFormat.TEXT)
    output: str | None = option("--output FILE", "Write the comparison to a file instead of standard output.")
    jobs: int | None = jobs_option("Processes to use, as for `prove`.")
    target: str | None = option("--target NAME", "Compare for this target instead of the specs' own, such as sm_90.")
    rlimit: int | None = option("--rlimit N", "Budget of a query, in Z3's resource units.", POSITIVE)
    verbose: bool = flag("-v, --verbose", "List unchanged claims too.")
    quiet: bool = flag("-q, --quiet", "Show only what fails, and the summary.")

    @property
    def settings(self) -> Settings:
        """How the claims of both sides are proved."""
        return Settings(jobs=self.jobs, target=self.target, rlimit=self.rlimit)
