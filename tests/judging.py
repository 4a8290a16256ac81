"""What stands in the prover's place where a test wants its answers and not its work."""

from collections.abc import Callable

from swzverify.claims.verdict import Verdict
from swzverify.prover import Judgement


def by_verdict(prove: Callable[..., Verdict]) -> Callable[..., Judgement]:
    """A `judge` that has verdicts only: no plan, no point, no engines."""

    def judge(claim, *, options=None) -> Judgement:
        return Judgement(claim, prove(claim, options=options), None, None, None)

    return judge
