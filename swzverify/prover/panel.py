"""The engines in the order in which they are asked, each imported when it is first needed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from swzverify.engines.bounds import Intervals
from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.gather import Matching
from swzverify.engines.gf2 import GF2
from swzverify.engines.native import Native
from swzverify.engines.obligations import Always, Answer, Engine, Finding, Obligation, formula_of
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.ir.expr import TRUE, Expr
from swzverify.prover.options import Options

if TYPE_CHECKING:
    from swzverify.engines.smt import SMT
    from swzverify.prover.isolation import IsolatedSMT

NATIVE: tuple[Engine, ...] = (Intervals(), GF2(), Radix(), Matching(), Residues(), Exhaustion())
"""The registry, cheapest first; the first that has an answer is the second engine of a proof."""
FOLDING = "folding"
"""What stands for Z3 where a formula folded to `true` as it was built: nothing is left that Z3
could be asked.
"""


MEMORY = 4096
"""Answers kept: claims on one access share its alignment, its conditions and more."""


@lru_cache(maxsize=MEMORY)
def _native(engine: Engine, obligation: Obligation) -> Finding:
    return engine.decide(obligation)


@lru_cache(maxsize=MEMORY)
def _by_z3(engine: Engine, obligation: Obligation) -> Finding:
    return engine.decide(obligation)


def is_folded(obligation: Obligation) -> bool:
    """Whether an obligation's formula is already `true` when it is built.

    This happens with constants, and with values that are equal to themselves.
    """
    return isinstance(obligation, Always) and obligation.holds is TRUE


class Panel:
    """Asks engines, within a claim's options; what was asked before is not asked again."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._smt: SMT | IsolatedSMT | None = None

    def natives(self, obligation: Obligation) -> list[Finding]:
        """The answers of the engines that apply: of the first one, or of all with `every_engine`.

        Of a formula that is `true` as built, engines that read it would only say so again.
        """
        if self.options.single_engine:
            return []
        found: list[Finding] = []
        formula = formula_of(obligation)
        for engine in NATIVE:
            reads_formula = isinstance(engine, Native) and engine.reads_formula
            if reads_formula and is_folded(obligation):
                continue
            finding = _native(engine, formula if reads_formula else obligation)
            if finding.answer is not Answer.NOT_APPLICABLE:
                found.append(finding)
                if not self.options.every_engine:
                    break
        return found

    def smt(self, obligation: Obligation) -> Finding:
        """Z3's answer, or that of the folding which has left it no question."""
        if is_folded(obligation):
            return Finding(FOLDING, Answer.HOLDS)
        return _by_z3(self._engine(), formula_of(obligation))

    def possible(self, condition: Expr) -> Finding:
        """Whether some point satisfies a one-bit condition: yes, no, or Z3 gave up."""
        return self._engine().possible(condition)

    def _engine(self) -> SMT | IsolatedSMT:
        if self._smt is None:
            # Z3 takes a third of a second to import: only when there is something to prove.
            from swzverify.engines.smt import SMT  # noqa: PLC0415

            smt, limits = SMT(self.options.rlimit), self.options.limits
            self._smt = smt
            if limits is not None:
                from swzverify.prover.isolation import IsolatedSMT  # noqa: PLC0415 - few runs have limits

                self._smt = IsolatedSMT(smt, limits)
        return self._smt
