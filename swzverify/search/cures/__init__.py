"""What would make a refuted cost claim hold: an alignment, a pad, a swizzle. Each is proved first.

May import `prover`, `costs`, `claims`, `subjects`, `hardware`, `layout`, `errors`.
"""

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.search.cures.cure import Cure
    from swzverify.search.cures.find import OtherCase, Surroundings, find_cures

__all__ = ["Cure", "OtherCase", "Surroundings", "find_cures"]

__getattr__ = importer(
    "swzverify.search.cures",
    {"Cure": ".cure", "OtherCase": ".find", "Surroundings": ".find", "find_cures": ".find"},
)
__dir__ = lister("swzverify.search.cures", __all__)
