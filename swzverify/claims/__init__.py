"""The claims: one property a file, each with its obligations over the expression form and the table of its failures.

May import `subjects`, `engines` (for the obligations), `hardware`, `layout`, `ir`, `errors`.
"""

from typing import TYPE_CHECKING

from swzverify.lazy import importer

if TYPE_CHECKING:
    from swzverify.claims.aligned import Aligned
    from swzverify.claims.bijective import Bijective
    from swzverify.claims.claim import Claim
    from swzverify.claims.conflict_free import ConflictFree
    from swzverify.claims.contiguous import Contiguous
    from swzverify.claims.covers import Covers
    from swzverify.claims.disjoint import Disjoint
    from swzverify.claims.equivalent import Equivalent
    from swzverify.claims.in_bounds import InBounds
    from swzverify.claims.injective import Injective
    from swzverify.claims.permutation import Permutation
    from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
    from swzverify.claims.wavefronts import Wavefronts

__all__ = [
    "Aligned",
    "Bijective",
    "Claim",
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
    "Row",
    "Verdict",
    "WarpMeasure",
    "Wavefronts",
]

__getattr__ = importer(
    "swzverify.claims",
    {
        "Aligned": ".aligned",
        "Bijective": ".bijective",
        "Claim": ".claim",
        "ConflictFree": ".conflict_free",
        "Contiguous": ".contiguous",
        "Counterexample": ".verdict",
        "Covers": ".covers",
        "Disjoint": ".disjoint",
        "Equivalent": ".equivalent",
        "InBounds": ".in_bounds",
        "Injective": ".injective",
        "Measure": ".verdict",
        "Outcome": ".verdict",
        "Permutation": ".permutation",
        "Row": ".verdict",
        "Verdict": ".verdict",
        "WarpMeasure": ".verdict",
        "Wavefronts": ".wavefronts",
    },
)
