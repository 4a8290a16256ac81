"""What a synthesis came to, for the renderers."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.claims import Outcome
from swzverify.search.synth.proof import Proof
from swzverify.search.synth.solution import Solution


def is_confirmed(proof: Proof) -> bool:
    """Whether a claim was proved, by two engines or by plain numbers."""
    return proof.verdict.outcome is Outcome.PROVED and not proof.verdict.is_by_one_engine


@dataclass(frozen=True, slots=True)
class SynthResult:
    """A solution with its proofs, and the spec that has the answer in it.

    Attributes:
        path: The path of the spec.
        tile: The name of the tile.
        solution: The solution.
        proofs: The verdicts on each of the solution's members.
        before: The text of the spec.
        spec_text: The patched text; empty if the text cannot be patched.
        not_patched: Why it cannot be patched.
        wall_ms: The time of the search.
    """

    path: str
    tile: str
    solution: Solution
    proofs: tuple[tuple[Proof, ...], ...]
    before: str
    spec_text: str
    not_patched: str
    wall_ms: float

    @property
    def confirmed(self) -> bool:
        """Whether every claim on every member that is told was proved, by two engines."""
        return all(is_confirmed(each) for proofs in self.proofs for each in proofs)

    @property
    def free(self) -> bool:
        """Whether the answer has no bank conflict."""
        return not self.solution.answer.score.conflicted
