"""What would make a refuted cost claim hold: an alignment, a pad, a swizzle. Each is proved first.

May import `prover`, `costs`, `claims`, `subjects`, `hardware`, `layout`, `errors`.
"""

from swzverify.cures.cure import Cure
from swzverify.cures.find import Surroundings, find_cures

__all__ = ["Cure", "Surroundings", "find_cures"]
