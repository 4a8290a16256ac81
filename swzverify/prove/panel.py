"""The engines in the order in which they are asked, each imported when it is first needed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.f2 import GF2
from swzverify.engines.obligation import Answer, Engine, Finding, Obligation
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.ir.expr import Expr
from swzverify.prove.isolation import IsolatedSMT

if TYPE_CHECKING:
    from swzverify.engines.smt import SMT
    from swzverify.prove.prover import Options

NATIVE: tuple[Engine, ...] = (GF2(), Radix(), Residues(), Exhaustion())
"""Cheapest first; the first that has an answer is the second engine of a proof."""


MEMORY = 4096
"""Answers kept: claims on one access share its alignment, its conditions and more."""


@lru_cache(maxsize=MEMORY)
def _native(engine: Engine, obligation: Obligation) -> Finding:
    return engine.decide(obligation)


@lru_cache(maxsize=MEMORY)
def _by_z3(engine: Engine, obligation: Obligation) -> Finding:
    return engine.decide(obligation)


class Panel:
    """Asks engines, within a claim's options; what was asked before is not asked again."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._smt: SMT | IsolatedSMT | None = None

    def natives(self, obligation: Obligation) -> list[Finding]:
        """The answers of the engines that apply: of the first one, or of all with `every_engine`."""
        if self.options.single_engine:
            return []
        found: list[Finding] = []
        for engine in NATIVE:
            finding = _native(engine, obligation)
            if finding.answer is not Answer.NOT_APPLICABLE:
                found.append(finding)
                if not self.options.every_engine:
                    break
        return found

    def smt(self, obligation: Obligation) -> Finding:
        """Z3's answer."""
        return _by_z3(self._engine(), obligation)

    def satisfiable(self, condition: Expr) -> bool | None:
        """Whether Z3 finds a point for a one-bit condition."""
        return self._engine().satisfiable(condition)

    def _engine(self) -> SMT | IsolatedSMT:
        if self._smt is None:
            # Z3 takes a third of a second to import: only when there is something to prove.
            from swzverify.engines.smt import SMT  # noqa: PLC0415

            smt, limits = SMT(self.options.rlimit), self.options.limits
            self._smt = smt if limits is None else IsolatedSMT(smt, limits)
        return self._smt
