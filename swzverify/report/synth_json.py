"""A synthesis as JSON, schema "swzverify.synth/1": ASCII only, keys in a fixed order."""

from __future__ import annotations

from swzverify.report.json import Json, json_text
from swzverify.report.synth_code import cuda_text, cute_text, plain_layout
from swzverify.report.synth_result import SynthResult
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.proof import Proof
from swzverify.search.synth.search import Member

SCHEMA = "swzverify.synth/1"


def render_synth_json(result: SynthResult) -> str:
    """The result as JSON text with a line feed at its end."""
    return json_text(synth_document(result))


def synth_document(result: SynthResult) -> dict[str, Json]:
    """The result as the plain values that JSON knows. `answers` are all of the best ones that were
    asked for, the answer first.
    """
    solution = result.solution
    answer = solution.answer
    problem = solution.problem
    reason = solution.reason
    return {
        "schema": SCHEMA,
        "path": result.path,
        "tile": result.tile,
        "family": problem.family,
        "answer": _member(problem, answer),
        "excess": answer.excess,
        "wavefronts": dict(zip(problem.labels, answer.wavefronts, strict=True)),
        "bank_conflicts": dict(zip(problem.labels, answer.conflicts, strict=True)),
        "weights": dict(zip(problem.labels, problem.weight_of, strict=True)),
        "optimal": solution.optimal,
        "looked_at": solution.looked_at,
        "unsat_core": [] if reason is None else list(reason.core),
        "argument": [] if reason is None else list(reason.arguments),
        "proved": result.confirmed,
        "claims": [_claim(each) for each in result.proofs[0]],
        "answers": [_member(problem, member) for member in solution.members],
        "spec": result.spec_text,
        "not_patched": result.not_patched,
        "wall_ms": round(result.wall_ms, 3),
    }


def _member(problem: Problem, member: Member) -> Json:
    swizzle = member.swizzle
    return {
        "swizzle": None if swizzle is None else [swizzle.bits, swizzle.base, swizzle.shift],
        "on": None if swizzle is None else member.on,
        "pad_elements": member.pad_elements,
        "tma": None if member.mode is None else member.mode.value,
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
        "numbers": dict(proof.claim.numbers),
        "verdict": proof.verdict.outcome.value,
        "engines": list(proof.verdict.engines),
        "evidence": proof.verdict.evidence,
        "reason": proof.verdict.reason,
    }
