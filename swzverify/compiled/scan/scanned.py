"""What a scan finds at one instruction: where it stands, and the verdicts on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, TypedDict

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kinds import SCAN_CLAIMS, ScanClaim
from swzverify.compiled.ptx import Function, Location
from swzverify.compiled.scan.claim import Claim, not_known
from swzverify.compiled.scan.on_chip import OnChip
from swzverify.compiled.scan.verdict import Decision, Verdict
from swzverify.compiled.scan.written import Written

if TYPE_CHECKING:
    from swzverify.search.cures.cure import Cure

_NOT_WRITTEN: Final = Written(reason="it was not scanned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """An instruction where it stands, with the verdicts on its claims.

    Attributes:
        kernel: The name of the kernel or function.
        is_entry: Whether that is a kernel.
        line: The line of the PTX.
        location: The location in the source.
        opcode: The opcode in the PTX.
        instruction: The instruction with its operands, or which operand of it this is.
        address: The byte address as text for people; empty if it is not known.
        calls: The lines of the calls that lead to it.
        loops: The lines of the loops around it.
        block: The shape of the block that was judged.
        assumptions: The given values of parameters on which it depends, and what its verdicts assume.
        assumed_block: The one of the assumptions that says where the block comes from, if neither the
            user nor `.reqntid` gives it.
        claims: The verdicts in the order of `kinds`.
    """

    kinds: ClassVar[tuple[ScanClaim, ...]] = SCAN_CLAIMS
    kernel: str
    is_entry: bool
    line: int
    location: Location | None
    opcode: str
    instruction: str
    address: str
    calls: tuple[int, ...] = ()
    loops: tuple[int, ...] = ()
    block: BlockShape | None = None
    assumptions: tuple[str, ...] = ()
    assumed_block: str = ""
    claims: tuple[Claim, ...] = (not_known(""),) * len(SCAN_CLAIMS)

    def claim(self, kind: str) -> Claim:
        """The verdict on a claim of its registry in `compiled/kinds.py`."""
        return next(found for each, found in zip(self.kinds, self.claims, strict=True) if each.kind == kind)


class Place(TypedDict):
    """The fields of `Scanned` that say where an access stands."""

    kernel: str
    is_entry: bool
    line: int
    location: Location | None
    opcode: str
    calls: tuple[int, ...]
    loops: tuple[int, ...]
    block: BlockShape | None
    assumed_block: str


def place_of(function: Function, access: KernelAccess, block: BlockShape | None, assumed: str) -> Place:
    """Where an access of a function stands."""
    return {
        "kernel": function.name,
        "is_entry": function.is_entry,
        "line": access.site.line,
        "location": access.site.location,
        "opcode": access.site.opcode,
        "calls": access.site.calls,
        "loops": tuple(loop.line for loop in access.who.loops),
        "block": block,
        "assumed_block": assumed,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedAccess(Scanned):
    """An access with its verdict.

    Attributes:
        decision: The verdict on bank conflicts.
        written: The access as a spec states it.
        chip: What machine code makes of it; None without machine code.
        is_certain: Whether every thread makes it exactly once.
        executions: How often a warp executes it in a launch at most; None if the trips of its loops are
            not known.
        cures: The changes of its array that were proved to free it.
        no_cure: Why a conflict has no cures; empty if none were searched for.
        certificate: The id of the certificate of a free access.
        no_certificate: Why there is no certificate.
    """

    decision: Decision
    written: Written = _NOT_WRITTEN
    chip: OnChip | None = None
    is_certain: bool = False
    executions: int | None = None
    cures: tuple[Cure, ...] = ()
    no_cure: str = ""
    certificate: str = ""
    no_certificate: str = ""

    @property
    def aligned(self) -> Claim:
        """What is said of its alignment."""
        return self.claim("aligned")

    @property
    def in_bounds(self) -> Claim:
        """What is said of its bounds."""
        return self.claim("in_bounds")

    @property
    def settled(self) -> Decision:
        """The verdict that findings count: that of the chip if machine code decides, else that of the PTX."""
        return self.decision if self.is_of_ptx or self.chip is None else self.chip.decision

    @property
    def is_of_ptx(self) -> bool:
        """Whether the PTX's verdict counts, for nothing else is known."""
        return self.chip is None or self.chip.decision.verdict is Verdict.UNKNOWN
