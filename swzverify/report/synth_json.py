"""A synthesis as JSON, schema "swzverify.synth/1": ASCII only, keys in a fixed order."""

from __future__ import annotations

from swzverify.report.plain import Json, json_text, members, to_json
from swzverify.report.synth import SynthResult
from swzverify.report.synth_code import cuda_text, cute_text, plain_layout
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.proof import Proof
from swzverify.search.synth.search import Member

SCHEMA = "swzverify.synth/1"


def render_synth_json(result: SynthResult) -> str:
    """The result as JSON text with a line feed at its end."""
    return json_text(synth_document(result))


def synth_document(result: SynthResult) -> dict[str, Json]:
    """The result as plain JSON values.

    `answers` are all the best ones that were asked for, the answer first.
    """
    solution = result.solution
    answer = solution.answer
    problem = solution.problem
    reason = solution.reason
    return {
        "schema": SCHEMA,
        **members(result, "path", "tile"),
        "family": problem.family,
        "answer": _member(problem, answer),
        "excess": answer.excess,
        "wavefronts": dict(zip(problem.labels, answer.wavefronts, strict=True)),
        "bank_conflicts": dict(zip(problem.labels, answer.conflicts, strict=True)),
        "weights": dict(zip(problem.labels, problem.weight_of, strict=True)),
        **members(solution, "optimal", "looked_at"),
        "unsat_core": [] if reason is None else to_json(reason.core),
        "argument": [] if reason is None else to_json(reason.arguments),
        "proved": result.confirmed,
        "claims": [_claim(each) for each in result.proofs[0]],
        "answers": [_member(problem, member) for member in solution.members],
        "spec": result.spec_text,
        **members(result, "not_patched", "wall_ms"),
    }


def _member(problem: Problem, member: Member) -> Json:
    return {
        "swizzle": to_json(member.swizzle),
        "on": None if member.swizzle is None else member.on,
        "pad_elements": member.pad_elements,
        "tma": to_json(member.mode),
        "xor": [[term.target, term.source] for term in member.terms],
        "layout": str(plain_layout(problem, member)),
        "bytes": member.score.bytes,
        "cute": cute_text(problem, member),
        "cuda": cuda_text(problem, member),
    }


def _claim(proof: Proof) -> Json:
    return {
        "kind": proof.claim.kind,
        "subject": proof.subject,
        "numbers": to_json(proof.claim.numbers),
        "verdict": proof.verdict.outcome.value,
        **members(proof.verdict, "engines", "evidence", "reason"),
    }
