"""Any claim, for those who take them all."""

from typing import TypeAlias

from swzverify.claims.aligned import Aligned
from swzverify.claims.bijective import Bijective
from swzverify.claims.conflict_free import ConflictFree
from swzverify.claims.contiguous import Contiguous
from swzverify.claims.covers import Covers
from swzverify.claims.disjoint import Disjoint
from swzverify.claims.equivalent import Equivalent
from swzverify.claims.in_bounds import InBounds
from swzverify.claims.injective import Injective
from swzverify.claims.permutation import Permutation
from swzverify.claims.wavefronts import Wavefronts

Claim: TypeAlias = (
    Injective
    | Bijective
    | Contiguous
    | Aligned
    | InBounds
    | ConflictFree
    | Wavefronts
    | Covers
    | Equivalent
    | Disjoint
    | Permutation
)
"""Any of the eleven."""
