"""From a claim to a verdict: obligations to engines, the two-engine rule, replay, vacuity, worst cases.

May import `claims`, `subjects`, `engines`, `hardware`, `layout`, `ir`, `errors`.
"""

from swzverify.prover.isolation import Limits
from swzverify.prover.judge import DEFAULT_RLIMIT, Options, prove

__all__ = ["DEFAULT_RLIMIT", "Limits", "Options", "prove"]
