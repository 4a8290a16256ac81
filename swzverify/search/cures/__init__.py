"""What would make a refuted claim hold: an alignment, a pad, a swizzle, a field of a descriptor, a barrier.

Each is proved first.
"""

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.search.cures.barriers import find_order_cures
    from swzverify.search.cures.cure import Cure
    from swzverify.search.cures.descriptors import find_operand_cures
    from swzverify.search.cures.find import OtherCase, Surroundings, find_cures

__all__ = ["Cure", "OtherCase", "Surroundings", "find_cures", "find_operand_cures", "find_order_cures"]

__getattr__ = importer(
    "swzverify.search.cures",
    {
        "Cure": ".cure",
        "OtherCase": ".find",
        "Surroundings": ".find",
        "find_cures": ".find",
        "find_operand_cures": ".descriptors",
        "find_order_cures": ".barriers",
    },
)
__dir__ = lister("swzverify.search.cures", __all__)
