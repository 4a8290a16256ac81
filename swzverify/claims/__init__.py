"""The claims: one property per file, each with its obligations over the expression form and the
table of its failures.

May import `subjects`, `engines` (for the obligations), `hardware`, `layout`, `ir`, `errors`.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.claims.aligned import Aligned
    from swzverify.claims.bijective import Bijective
    from swzverify.claims.claim import Claim
    from swzverify.claims.coalesced import Coalesced
    from swzverify.claims.conflict_free import ConflictFree
    from swzverify.claims.contiguous import Contiguous
    from swzverify.claims.covers import Covers
    from swzverify.claims.disjoint import Disjoint
    from swzverify.claims.equivalent import Equivalent
    from swzverify.claims.in_bounds import InBounds
    from swzverify.claims.injective import Injective
    from swzverify.claims.permutation import Permutation
    from swzverify.claims.register_conflict_free import RegisterConflictFree
    from swzverify.claims.register_conflicts import RegisterConflicts
    from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, SectorMeasure, Verdict, WarpMeasure
    from swzverify.claims.wavefronts import Wavefronts

__all__ = [
    "KINDS",
    "Aligned",
    "Bijective",
    "Claim",
    "Coalesced",
    "ConflictFree",
    "Contiguous",
    "Counterexample",
    "Covers",
    "Disjoint",
    "Equivalent",
    "InBounds",
    "Injective",
    "Measure",
    "Outcome",
    "Permutation",
    "RegisterConflictFree",
    "RegisterConflicts",
    "Row",
    "SectorMeasure",
    "Verdict",
    "WarpMeasure",
    "Wavefronts",
    "claim_types",
]

KINDS: Mapping[str, str] = {
    "injective": "Injective",
    "bijective": "Bijective",
    "contiguous": "Contiguous",
    "aligned": "Aligned",
    "in_bounds": "InBounds",
    "conflict_free": "ConflictFree",
    "wavefronts": "Wavefronts",
    "coalesced": "Coalesced",
    "covers": "Covers",
    "equivalent": "Equivalent",
    "disjoint": "Disjoint",
    "permutation": "Permutation",
    "register_conflict_free": "RegisterConflictFree",
    "register_conflicts": "RegisterConflicts",
}
"""The kinds of claims in the order of the docs, each with its class; a kind is also a module."""

__getattr__ = importer(
    "swzverify.claims",
    {
        "Claim": ".claim",
        **dict.fromkeys(
            ("Counterexample", "Measure", "Outcome", "Row", "SectorMeasure", "Verdict", "WarpMeasure"), ".verdict"
        ),
        **{name: f".{kind}" for kind, name in KINDS.items()},
    },
)
__dir__ = lister("swzverify.claims", __all__)


@cache
def claim_types() -> Mapping[str, type["Claim"]]:
    """The class of every kind of claim, by its kind.

    >>> list(claim_types()) == list(KINDS)
    True
    """
    return MappingProxyType({kind: cast("type[Claim]", __getattr__(name)) for kind, name in KINDS.items()})
