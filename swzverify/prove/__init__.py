"""From a claim to a verdict: obligations to engines, the two-engine rule, replay, vacuity, worst cases.

May import `claims`, `subjects`, `engines`, `hardware`, `layout`, `ir`, `errors`.
"""

from swzverify.prove.prover import Options, prove

__all__ = ["Options", "prove"]
