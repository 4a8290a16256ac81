"""The banks of the register file as data, and what an instruction's registers cost by them.

The shared-memory banks of `wavefronts` are another matter: here one warp reads up to three registers
for one instruction, and two registers of one bank may have to wait for each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.hardware.targets import Evidence

REGISTERS = 255
"""R0 to R254 have a place in the register file; RZ, which is encoded as 255, has none."""


@dataclass(frozen=True, slots=True)
class RegisterBanks:
    """The register banks of some targets: register r lies in bank r % `banks`.

    One cycle reads `reads_per_bank` registers of a bank. If `others_keep_reuse` is true, instructions
    that do not read through the operand reuse cache, such as those of memory and conversions, leave the
    cache unchanged. If it is false, this is not known.
    """

    capabilities: tuple[int, ...]
    banks: int
    reads_per_bank: int
    others_keep_reuse: bool
    evidence: Evidence
    source: str

    def bank(self, register: int) -> int:
        """The bank of register 0 .. 254.

        >>> [register_banks("sm_52").bank(register) for register in (0, 4, 5)]
        [0, 0, 1]
        """
        return register % self.banks

    def extra_cycles(self, registers: Iterable[int]) -> int:
        """The cycles beyond the first that reading these registers takes.

        A register that is named twice is read once.

        >>> maxwell, volta = register_banks("sm_52"), register_banks("sm_70")
        >>> maxwell.extra_cycles([4, 5, 0]), maxwell.extra_cycles([4, 4, 5]), maxwell.extra_cycles([0, 4, 8])
        (1, 0, 2)
        >>> volta.extra_cycles([4, 5, 0]), volta.extra_cycles([0, 4, 8])
        (0, 1)
        """
        counts = Counter(map(self.bank, set(registers)))
        return sum(-(-count // self.reads_per_bank) - 1 for count in counts.values())

    @property
    def text(self) -> str:
        """The rule in a few words."""
        width = "" if self.reads_per_bank == 1 else f", {self.reads_per_bank} registers of a bank in a cycle"
        return f"{self.banks} register banks{width}"


REGISTER_BANKS: tuple[RegisterBanks, ...] = (
    RegisterBanks(
        (50, 52, 53, 60, 61, 62),
        banks=4,
        reads_per_bank=1,
        others_keep_reuse=True,
        evidence=Evidence.DOCUMENTED,
        source="S. Gray, maxas, wiki SGEMM and MaxAs.pm (register number mod 4, reuse by operand slot)",
    ),
    RegisterBanks(
        (70,),
        banks=2,
        reads_per_bank=2,
        others_keep_reuse=False,
        evidence=Evidence.DOCUMENTED,
        source="Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv:1804.06826 "
        "(two banks of 64 bits)",
    ),
)
"""Every rule that is known, oldest targets first. No rule is known for later targets."""

MEASURED_LATER = (
    "on an H200 (sm_90) each bank reads one register per cycle, and neighbouring instructions share the demand: "
    "a count of each instruction alone is wrong in both directions"
)
"""Why no later target has the rule of sm_70."""

_TARGET = re.compile(r"sm_(\d{2,3})[af]?")


def register_banks(target: str) -> RegisterBanks:
    """The register banks of a target such as `sm_52` or `sm_70`.

    Source: each row's own.

    Raises:
        SwzError: SWZ408 for a target whose banks are not known.

    >>> register_banks("sm_61").banks, register_banks("sm_70").banks
    (4, 2)
    """
    found = _TARGET.fullmatch(target.strip())
    for row in REGISTER_BANKS:
        if found is not None and int(found[1]) in row.capabilities:
            return row
    known = ", ".join(f"sm_{each}" for each in sorted(each for row in REGISTER_BANKS for each in row.capabilities))
    is_later = found is not None and int(found[1]) > REGISTER_BANKS[-1].capabilities[-1]
    hint = f"{MEASURED_LATER}; known are {known}" if is_later else f"known are {known}"
    raise SwzError("SWZ408", f"no rule is known of the register banks of '{target}'", hint=hint)
