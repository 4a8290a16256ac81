"""From a claim to a verdict: obligations to engines, the two-engine rule, replay, vacuity, worst
cases.

May import `claims`, `subjects`, `engines`, `hardware`, `layout`, `ir`, `shown`, `errors`.
"""

from swzverify.prover.isolation import Limits
from swzverify.prover.judgement import Judgement, judge, prove
from swzverify.prover.options import DEFAULT_RLIMIT, Options

__all__ = ["DEFAULT_RLIMIT", "Judgement", "Limits", "Options", "judge", "prove"]
