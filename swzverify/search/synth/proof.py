"""The answer as ordinary claims: what a member promises, for the prover to judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from swzverify.claims import Aligned, Claim, ConflictFree, Contiguous, InBounds, Injective, Outcome, Verdict, Wavefronts
from swzverify.errors import SwzError
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.search.synth.problem import Problem, Variant
from swzverify.search.synth.search import Member
from swzverify.search.synth.starts import start_step
from swzverify.subjects import Access, Tile


@dataclass(frozen=True, slots=True)
class Proof:
    """One claim on a member, with the access's or the tile's name in reports, and its verdict."""

    claim: Claim
    subject: str
    verdict: Verdict


def check_premises(problem: Problem, options: Options) -> None:
    """Refuse a tile or an access that is wrong whatever the layout.

    Raises:
        SwzError: SWZ566 if two elements of the tile share a byte, or an access leaves it.
    """
    for variant in problem.variants:
        tile = variant.bare()
        claims: list[tuple[Claim, str]] = [(Injective(tile), f"tile {tile.name} is not one to one")]
        for label, access in variant.accesses.items():
            bare = replace(access, tile=tile)
            claims.append((InBounds(bare), f"access {label} leaves tile {tile.name}"))
        for claim, message in claims:
            verdict = prove(claim, options=options)
            if verdict.outcome is Outcome.REFUTED:
                hint = "no layout mends that; `swzverify prove` shows where"
                raise SwzError("SWZ566", f"{message}: {verdict.reason}", hint=hint)


def prove_member(problem: Problem, member: Member, options: Options) -> tuple[Proof, ...]:
    """Every claim on a member, with its verdict.

    Raises:
        SwzError: SWZ567 if the prover refutes what the search found: a fault of ours, and no answer.
    """
    found: list[Proof] = []
    for claim, subject in _claims(problem, member):
        verdict = prove(claim, options=options)
        if verdict.outcome in (Outcome.REFUTED, Outcome.ERROR, Outcome.VACUOUS):
            raise SwzError(
                "SWZ567",
                f"the search found {claim.kind} of {subject}, and the prover says {verdict.outcome}: {verdict.reason}",
                hint="this is a fault of swzverify, and there is no answer: please send the spec and this text",
            )
        found.append(Proof(claim, subject, verdict))
    return tuple(found)


def _claims(problem: Problem, member: Member) -> Iterator[tuple[Claim, str]]:
    wavefronts, conflicts = iter(member.wavefronts), iter(member.conflicts)
    vectors = iter(problem.vector_bits_of)
    several = len(problem.variants) > 1
    for number, (variant, tile) in enumerate(zip(problem.variants, member.tiles, strict=True), 1):
        name = f"{tile.name} [{number}]" if several else tile.name
        yield Injective(tile), name
        yield InBounds(tile), name
        widest = max(next(vectors) for _ in variant.accesses) // tile.element_bits
        if widest > 1 and _runs(variant, tile, widest):
            yield Contiguous(tile, widest, variant.bare().contiguous_mode), name
        for label, access in variant.accesses.items():
            changed: Access = replace(access, tile=tile)
            yield Aligned(changed), label
            yield InBounds(changed), label
            if next(conflicts) == 0:
                yield ConflictFree(changed), label
            yield Wavefronts(changed, exactly=next(wavefronts)), label


def _runs(variant: Variant, tile: Tile, elements: int) -> bool:
    """Whether vectors of `elements` elements lie in one mode, each at a whole vector of the memory.

    This is without the swizzle: `contiguous` then says that the vectors stay whole. Rows may start
    inside a vector if that matters to no access.
    """
    layout = tile.layout if isinstance(tile.layout, Layout) else variant.layout
    leaves = [leaf for leaf in layout.modes[variant.bare().contiguous_mode].leaves if leaf[0] > 1]
    if not leaves or leaves[0][1] != 1 or leaves[0][0] % elements:
        return False
    others = [stride for extent, stride in layout.leaves if extent > 1 and stride != 1]
    return not any(stride % elements for stride in others) and not 8 * start_step(tile) % (elements * tile.element_bits)
