"""One spec, both ways: the brute-force oracle against the whole tool, verdict by verdict."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.prove import Options, prove
from swzverify.prove.prover import DEFAULT_RLIMIT
from swzverify.spec import SpecError
from swzverify.spec.build import SpecClaim
from swzverify.spec.load import parse_spec
from tests.oracle.brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from tests.oracle.random_specs import random_spec
from tests.oracle.yaml_values import Spec, Yaml

EVERY_ENGINE_EACH = 5
"""Every so many specs all engines are asked, not only the first that applies."""
FULL_YAML_EACH = 8
"""Every so many specs are written as JSON, which only the slow and complete YAML reader takes."""
UNDEFINED = frozenset(("SWZ303", "SWZ304", "SWZ305"))
"""What an expression can be refused for; of several in one spec the tool and the oracle may meet another one first."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What the tool says otherwise: `claim` is empty where the spec as a whole is read or refused otherwise."""

    seed: int
    claim: str
    problem: str


@dataclass(slots=True)
class Comparison:
    """What came of some specs."""

    specs: int = 0
    claims: int = 0
    unknown: int = 0
    verdicts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    refused: Counter[str] = field(default_factory=Counter[str])
    ambiguous: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])

    def add(self, other: Comparison) -> None:
        """Count another comparison in."""
        self.specs += other.specs
        self.claims += other.claims
        self.unknown += other.unknown
        for kind, counter in other.verdicts.items():
            self.verdicts[kind].update(counter)
        self.refused.update(other.refused)
        self.ambiguous.update(other.ambiguous)
        self.disagreements += other.disagreements


def drawn(seed: int) -> Spec:
    """The spec of a seed."""
    return random_spec(random.Random(seed))


def compare_seed(seed: int, rlimit: int = DEFAULT_RLIMIT) -> Comparison:
    """The spec of a seed, both ways."""
    return compare(drawn(seed), seed, rlimit)


def compare(spec: Spec, seed: int, rlimit: int = DEFAULT_RLIMIT) -> Comparison:
    """One spec, both ways; `seed` chooses how it is written down and how many engines are asked."""
    outcome = Comparison(specs=1)
    text = json.dumps(spec) if seed % FULL_YAML_EACH == 0 else as_yaml(spec)
    expected: list[Judgement] = []
    declined: OracleError | None = None
    try:
        expected = judge(spec)
    except OracleAmbiguousError as error:
        outcome.ambiguous[str(error).split(":")[-1].strip()] += 1
        return outcome
    except OracleError as error:
        declined = error
    refusal: SpecError | None = None
    claims: tuple[SpecClaim, ...] = ()
    try:
        claims = parse_spec(text, path="random.swz.yaml").claims
    except SpecError as error:
        refusal = error
    if declined is not None:
        _compare_refusals(seed, declined, refusal, outcome)
    elif refusal is not None:
        outcome.disagreements.append(Disagreement(seed, "", f"the tool refuses it: {refusal}"))
    else:
        _compare_claims(
            seed, spec, expected, claims, Options(rlimit, every_engine=seed % EVERY_ENGINE_EACH == 0), outcome
        )
    return outcome


def _compare_refusals(seed: int, declined: OracleError, refusal: SpecError | None, outcome: Comparison) -> None:
    if refusal is None:
        problem = f"the oracle refuses it ({declined}), the tool does not"
        outcome.disagreements.append(Disagreement(seed, "", problem))
        return
    codes = {problem.code for problem in refusal.problems}
    alike = UNDEFINED if declined.code in UNDEFINED else {declined.code}
    if declined.code and not codes & alike:
        problem = f"the oracle refuses it for {declined.code} ({declined}), the tool for {sorted(codes)}"
        outcome.disagreements.append(Disagreement(seed, "", problem))
    outcome.refused[declined.code or "other"] += 1


def _compare_claims(
    seed: int,
    spec: Spec,
    expected: list[Judgement],
    claims: tuple[SpecClaim, ...],
    options: Options,
    outcome: Comparison,
) -> None:
    by_key: dict[tuple[object, ...], list[Judgement]] = defaultdict(list)
    for judgement in expected:
        by_key[judgement.kind, judgement.subject, judgement.case].append(judgement)
    constants = spec.get("constants")
    varied = (
        {name for name, value in constants.items() if isinstance(value, list)}
        if isinstance(constants, dict)
        else set[str]()
    )
    for claim in claims:
        # A cover's subject is the access and the tile here, the access alone to the oracle.
        subject = claim.subject.split(",")[0] if claim.kind == "covers" else claim.subject.replace(",", ", ")
        case = tuple((name, value) for name, value in claim.case.items() if name in varied)
        wanted = by_key[claim.kind, subject.split("[")[0], case]
        if not wanted:
            outcome.disagreements.append(Disagreement(seed, claim.id, "the oracle does not know this claim"))
            continue
        judgement = wanted.pop(0) if len(wanted) > 1 else wanted[0]
        verdict = prove(claim.claim, options=options)
        outcome.claims += 1
        outcome.verdicts[claim.kind][judgement.verdict] += 1
        problem = difference(judgement, verdict)
        if problem == "unknown":
            outcome.unknown += 1
        elif problem:
            outcome.disagreements.append(Disagreement(seed, claim.id, problem))


def difference(judgement: Judgement, verdict: Verdict) -> str:
    """What the tool says otherwise; "unknown" where it gives no answer, which is honest but counted."""
    if verdict.outcome is Outcome.UNKNOWN and judgement.verdict != "unknown":
        return "unknown"
    if verdict.outcome != judgement.verdict:
        return f"the tool says {verdict.outcome} ({verdict.reason}), the oracle {judgement.verdict}"
    measure = verdict.measure
    if measure is not None and measure.exact and judgement.wavefronts is not None:
        if judgement.kind == "wavefronts" and measure.wavefronts != judgement.wavefronts:
            return f"worst case {measure.wavefronts} wavefronts, the oracle {judgement.wavefronts}"
        if judgement.kind == "conflict_free" and measure.bank_conflicts != judgement.most_bank_conflicts:
            return f"worst case {measure.bank_conflicts} conflicts, the oracle {judgement.most_bank_conflicts}"
    if judgement.smallest_base_alignment is not None and str(judgement.smallest_base_alignment) not in verdict.reason:
        return f"smallest alignment {judgement.smallest_base_alignment}, the tool: {verdict.reason}"
    return ""


def as_yaml(value: Yaml, indent: int = 0) -> str:
    """A spec as block YAML of the plain kind that people write.

    >>> print(as_yaml({"tiles": {"A": {"bits": 8, "layout": "8:1"}}, "claims": [{"bijective": "A"}]}))
    tiles:
      A:
        bits: 8
        layout: "8:1"
    claims:
      - {"bijective": "A"}
    """
    if not isinstance(value, dict):
        return json.dumps(value)
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            lines += [f"{' ' * indent}{key}:", as_yaml(item, indent + 2)]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{' ' * indent}{key}:")
            lines += [f"{' ' * indent}  - {json.dumps(entry)}" for entry in item]
        else:
            lines.append(f"{' ' * indent}{key}: {json.dumps(item)}")
    return "\n".join(lines)
