"""A synthesis as text: the answer, what it costs, what it rests on, and the change of the spec.

What a synthesis came to, for the renderers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swzverify.claims import Outcome
from swzverify.claims.verdict import ARITHMETIC
from swzverify.core.words import counted
from swzverify.hardware import evidence
from swzverify.report.console import rendered
from swzverify.report.escape import visible
from swzverify.report.style import TextStyle
from swzverify.report.synth_code import cuda_text, cute_text
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.proof import Proof
from swzverify.search.synth.search import Member
from swzverify.search.synth.solution import Solution


def render_synth(result: SynthResult, style: TextStyle) -> str:
    """The result as text."""
    return rendered(_blocks(result), style)


def _blocks(result: SynthResult) -> Iterator[RenderableType]:
    solution = result.solution
    answer, problem = solution.answer, solution.problem
    yield Text(f"{visible(result.path)}: tile {visible(result.tile)}, family {problem.family}")
    yield _facts(
        [
            ("answer", member_text(answer)),
            *[("also", member_text(member)) for member in solution.members[1:]],
            ("bytes", f"{answer.score.bytes}{_stages(answer)}"),
            *[("cost", line) for line in _costs(problem, answer)],
            ("optimal", _optimal(result)),
            *[("impossible", line) for line in _impossible(result)],
            ("proved" if result.confirmed else "not proved", _proved(result)),
            ("cute", cute_text(problem, answer)),
            *[("cuda", line) for line in cuda_text(problem, answer).splitlines()],
        ]
    )
    if result.not_patched:
        yield Text(f"The spec cannot be patched: {visible(result.not_patched)}.")
    elif result.spec_text == result.before:
        yield Text("The spec has this layout already.")
    else:
        for line in unified_diff(
            result.before.splitlines(), result.spec_text.splitlines(), result.path, result.path, n=1, lineterm=""
        ):
            colour = "green" if line[:1] == "+" else "red" if line[:1] == "-" else ""
            yield Text(visible(line), style=colour, no_wrap=True, overflow="ignore")


def member_text(member: Member) -> str:
    """A member in words."""
    if member.mode is not None:
        return f"TMA swizzle mode {member.mode}"
    parts: list[str] = []
    if member.pad_elements:
        parts.append(
            f"pad {member.pad_elements} after every {member.pad_row} elements, layout {member.tiles[0].layout}"
        )
    if member.swizzle is not None:
        parts.append(f"{member.swizzle} on {'byte addresses' if member.on == 'address' else 'element offsets'}")
    if member.terms:
        said = ", ".join(f"{term.target} ^= {term.source}" for term in member.terms)
        parts.append(f"{len(member.terms)} XOR terms on bits of the byte offset: {said}")
    return "; ".join(parts) or "the plain layout: no swizzle, no pad"


def _facts(rows: list[tuple[str, str]]) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 1))
    table.add_column()
    table.add_column(overflow="fold")
    last = ""
    for name, value in rows:
        table.add_row(Text(f"  {name}" if name != last else ""), Text(visible(value)))
        last = name
    return table


def _stages(member: Member) -> str:
    tile = member.tiles[0]
    return f", {tile.stages} stages {tile.pitch_bytes} bytes apart" if tile.stages > 1 else ""


def _costs(problem: Problem, member: Member) -> Iterator[str]:
    rows = zip(problem.labels, problem.accesses, member.wavefronts, member.conflicts, problem.weight_of, strict=True)
    for label, access, wavefronts, conflicts, weight in rows:
        also = f", weight {weight}" if weight != 1 else ""
        known = evidence(access.target, access.instruction)
        many = f"{counted(wavefronts, 'wavefront')}, {counted(conflicts, 'bank conflict')}"
        yield f"{label}: {many}{also}; {access.instruction.name} ({known})"


def _optimal(result: SynthResult) -> str:
    solution = result.solution
    if not solution.optimal:
        return f"not shown: the budget ended after {solution.looked_at} candidates; a better one may exist"
    if solution.problem.family == "xor":
        return f"no linear map of the family is better: {solution.looked_at} were looked at, the others are ruled out"
    many = solution.looked_at
    if many == 1:
        return "it is the only one"
    larger = "" if solution.problem.family == "swizzle" or not result.free else ", or takes more bytes than a free one"
    return f"none of the {many} layouts of the family is better: each was priced{larger}"


def _impossible(result: SynthResult) -> Iterator[str]:
    reason = result.solution.reason
    if reason is None:
        return
    core = " and ".join(reason.core)
    if len(reason.core) == 1:
        yield f"no layout of the family frees {core} of bank conflicts"
    elif core:
        yield f"no layout of the family frees {core} together"
    yield from reason.arguments


def _proved(result: SynthResult) -> str:
    proofs = result.proofs[0]
    left = [each for proofs in result.proofs for each in proofs if not is_confirmed(each)]
    if left:
        return "; ".join(dict.fromkeys(f"{each.claim.kind} {each.subject}: {_why(each)}" for each in left))
    by_engines = [each for each in proofs if each.verdict.engines != (ARITHMETIC,)]
    engines = dict.fromkeys(name for each in by_engines for name in each.verdict.engines)
    kinds = dict.fromkeys(each.claim.kind for each in proofs)
    plain = dict.fromkeys(f"{each.claim.kind} {each.subject}" for each in proofs if each not in by_engines)
    alone = f"; plain arithmetic decides {', '.join(plain)}" if plain else ""
    return f"{len(proofs)} claims ({', '.join(kinds)}), by {', '.join(engines)}, two for each{alone}"


def _why(proof: Proof) -> str:
    if proof.verdict.outcome is Outcome.PROVED:
        return f"by one engine alone, {', '.join(proof.verdict.engines)}"
    return proof.verdict.outcome.value


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
