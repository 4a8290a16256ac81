"""How hard the prover tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from swzverify.errors import SwzError
from swzverify.ir.whole import keep_whole

if TYPE_CHECKING:
    from swzverify.prover.isolation import Limits

DEFAULT_RLIMIT = 30_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """The budgets of the prover, and which engines it asks.

    `rlimit` is Z3's budget per query; `single_engine` leaves the second engine out (the verdict
    says so); `every_engine` asks all of them, even where one has refuted already, and compares
    their answers; `limits` runs each Z3 query in a process of its own, which they end.
    """

    rlimit: int = DEFAULT_RLIMIT
    single_engine: bool = False
    every_engine: bool = False
    limits: Limits | None = None

    def __post_init__(self) -> None:
        """Make a budget of numpy's an int, and check it.

        Raises:
            SwzError: SWZ105 for a budget below 1, which Z3 reads as no limit.
        """
        keep_whole(self, "options", "rlimit")
        if self.rlimit < 1:
            raise SwzError("SWZ105", f"options: rlimit={self.rlimit}: at least 1, in Z3's resource units")
