"""What engines and prover remember from one question to the next, emptied where tests exchange
engines.
"""

from __future__ import annotations

from swzverify.claims import aligned, conflict_free, equivalent, in_bounds, injective
from swzverify.engines import gf2, radix, residue
from swzverify.engines.smt import cost, engine, linear, query
from swzverify.engines.smt import injective as smt_injective
from swzverify.prover import panel

_MODULES = (
    *(aligned, conflict_free, equivalent, in_bounds, injective, gf2, radix, residue),
    *(cost, engine, smt_injective, linear, panel),
)


def forget() -> None:
    for module in _MODULES:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
    query._shared.place = None  # it has translated expressions
