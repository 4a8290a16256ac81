"""One spec, both ways: the brute-force oracle against the whole tool, verdict by verdict."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from swzverify.claims.form import role_of
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.prover import Options, prove
from swzverify.prover.options import DEFAULT_RLIMIT
from swzverify.spec import SpecError
from swzverify.spec.build import SpecClaim
from swzverify.spec.load import parse_spec
from tests.engines.memory import forget
from tests.oracle.brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from tests.oracle.random_specs import DRAWS
from tests.oracle.role_runs import all_runs
from tests.oracle.yaml_values import Spec, Yaml

EVERY_ENGINE_EACH = 5
"""Every so many specs all engines are asked, not only the first that applies."""
FULL_YAML_EACH = 8
"""Every so many specs are written as JSON, which only the slow and complete YAML reader takes."""
STARVED_RLIMIT = 1
"""Every claim is judged once more by a starved prover, whose budget is too small for most of Z3's
questions.
"""
UNDEFINED = frozenset(("SWZ303", "SWZ304", "SWZ305"))
"""What an expression can be refused for; of several in one spec the tool and the oracle may meet
another one first.
"""
UNSHOWN = frozenset(("SWZ206", "SWZ304", "SWZ305", "SWZ306"))
"""What the tool may refuse in a spec with an unbounded loop because it cannot show that it never
happens.
"""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What the tool says otherwise: `claim` is empty where the spec as a whole is read or refused
    otherwise.
    """

    seed: int
    claim: str
    problem: str


@dataclass(slots=True)
class Comparison:
    """What came of some specs.

    `claims` are judgements: two of each claim, by a prover and by a starved one. `verdicts` are the
    oracle's, and `unknown` where the starved prover says so; `unknown` by itself counts claims left
    open within the whole budget. `unshown` counts specs that the tool refused because it could not
    show them to be sound.
    """

    specs: int = 0
    claims: int = 0
    unknown: int = 0
    verdicts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unshown: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    ambiguous: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])

    def add(self, other: Comparison) -> None:
        """Count another comparison in."""
        self.specs += other.specs
        self.claims += other.claims
        self.unknown += other.unknown
        self.unshown += other.unshown
        for kind, counter in other.verdicts.items():
            self.verdicts[kind].update(counter)
        self.refused.update(other.refused)
        self.ambiguous.update(other.ambiguous)
        self.disagreements += other.disagreements


def drawn(seed: int, *, themes: str = "all") -> Spec:
    """The spec of a seed; `themes` as in `DRAWS`."""
    return DRAWS[themes](random.Random(seed))


def compare_seed(seed: int, rlimit: int = DEFAULT_RLIMIT, *, starve: bool = True, themes: str = "all") -> Comparison:
    """The spec of a seed, both ways."""
    return compare(drawn(seed, themes=themes), seed, rlimit, starve=starve)


def compare(spec: Spec, seed: int, rlimit: int = DEFAULT_RLIMIT, *, starve: bool = True) -> Comparison:
    """One spec, both ways; `seed` chooses how it is written down and how many engines are asked.

    Without `starve` each claim is judged once only, on the whole budget.
    """
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
    if refusal is not None and _may_be_unshown(spec, refusal):
        # Of a spec that is wrong elsewhere too, the tool names what it meets first.
        outcome.unshown += 1
    elif declined is not None:
        _compare_refusals(seed, declined, refusal, outcome)
    elif refusal is not None:
        outcome.disagreements.append(Disagreement(seed, "", f"the tool refuses it: {refusal}"))
    else:
        options = Options(rlimit, every_engine=seed % EVERY_ENGINE_EACH == 0)
        for claim, judgement in _paired(seed, spec, expected, claims, outcome):
            for each in (options, replace(options, rlimit=STARVED_RLIMIT))[: 1 + starve]:
                _compare_claim(seed, claim, judgement, each, outcome)
    return outcome


def _may_be_unshown(spec: Spec, refusal: SpecError) -> bool:
    """Whether some access has an unbounded loop, and nothing but what is hard to show there is
    refused.
    """
    accesses = spec.get("accesses")
    loops = (
        [each.get("for") for each in accesses.values() if isinstance(each, dict)] if isinstance(accesses, dict) else []
    )
    unbounded = any("any" in each.values() for each in loops if isinstance(each, dict))
    return unbounded and {problem.code for problem in refusal.problems} <= UNSHOWN


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


def _paired(
    seed: int, spec: Spec, expected: list[Judgement], claims: tuple[SpecClaim, ...], outcome: Comparison
) -> Iterator[tuple[SpecClaim, Judgement]]:
    """Each claim of the tool with what the oracle says of it."""
    by_key: dict[tuple[object, ...], list[Judgement]] = defaultdict(list)
    for judgement in expected:
        by_key[judgement.kind, judgement.subject, judgement.subject_kind, judgement.case].append(judgement)
    constants = spec.get("constants")
    varied = (
        {name for name, value in constants.items() if isinstance(value, list)}
        if isinstance(constants, dict)
        else set[str]()
    )
    for claim in claims:
        # A cover's subject is the access and the tile here, the access alone to the oracle.
        subjects = claim.claim.subjects[: 1 if claim.kind == "covers" else None]
        names, words = (", ".join(each) for each in zip(*((x.name, role_of(x).value) for x in subjects), strict=True))
        case = tuple((name, value) for name, value in claim.case.items() if name in varied)
        wanted = by_key[claim.kind, names, words, case]
        if wanted:
            yield claim, wanted.pop(0)
        else:
            outcome.disagreements.append(Disagreement(seed, claim.id, "the oracle does not know this claim"))
    for left in by_key.values():
        outcome.disagreements += [
            Disagreement(seed, each.subject, f"the tool drops the claim {each.kind} of {each.subject_kind}")
            for each in left
        ]


def _compare_claim(seed: int, claim: SpecClaim, judgement: Judgement, options: Options, outcome: Comparison) -> None:
    starved = options.rlimit == STARVED_RLIMIT
    verdict = prove(claim.claim, options=options)
    left_open = verdict.outcome is Outcome.UNKNOWN
    outcome.claims += 1
    outcome.verdicts[claim.kind]["unknown" if left_open and starved else judgement.verdict] += 1
    outcome.unknown += left_open and not starved
    if problem := difference(judgement, verdict, starved=starved):
        budget = " (on a tiny budget)" if starved else ""
        outcome.disagreements.append(Disagreement(seed, claim.id, f"{problem}{budget}"))


def difference(judgement: Judgement, verdict: Verdict, *, starved: bool = False) -> str:
    """What the tool says otherwise; `unknown`, which is honest, differs from nothing, but a worst
    case with it may.

    A starved prover need not find the smallest alignment; it may not name another one.
    """
    if verdict.outcome is not Outcome.UNKNOWN and verdict.outcome != judgement.verdict:
        return f"the tool says {verdict.outcome} ({verdict.reason}), the oracle {judgement.verdict}"
    measure = verdict.measure
    if measure is not None and measure.exact and judgement.wavefronts is not None:
        for found, wanted in (
            (measure.most_wavefronts, judgement.slowest),
            (measure.most_conflicts, judgement.clashing),
        ):
            if (found.wavefronts, found.minimum) not in wanted:
                return f"worst case {found.wavefronts} of {found.minimum} wavefronts, the oracle one of {wanted}"
    sectors = verdict.sectors
    if sectors is not None and sectors.exact and (sectors.sectors, sectors.minimum) not in judgement.slowest:
        return f"worst case {sectors.sectors} of {sectors.minimum} sectors, the oracle one of {judgement.slowest}"
    alignment = judgement.smallest_base_alignment
    if alignment is None or verdict.outcome is Outcome.UNKNOWN:
        return ""
    named = any(words in verdict.reason for words in ("base alignment", "a multiple of"))
    if str(alignment) not in verdict.reason and (named or not starved):
        return f"smallest alignment {alignment}, the tool: {verdict.reason}"
    return ""


def against_runs(spec: Spec, iterations: int) -> tuple[str, bool]:
    """The verdict on the one claim of a phase with roles, and whether all runs of some iterations contradict it."""
    [claim] = parse_spec(as_yaml(spec)).claims
    outcome = prove(claim.claim).outcome.value
    runs = all_runs(spec, iterations)
    wrong = {"proved": runs.race, "refuted": not (runs.race or runs.hang), "unknown": False, "vacuous": runs.race}
    return outcome, wrong.get(outcome, True)


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


def first_disagreement(seeds: Iterable[int], themes: str = "all") -> Disagreement | None:
    """What the first of these seeds finds wrong; specs of all themes also with a starved budget.

    Engines are asked anew: a mistake may have been planted since they were asked the same.
    """
    forget()
    for seed in seeds:
        try:
            outcome = compare_seed(seed, themes=themes, starve=themes == "all")
        except Exception as error:  # noqa: BLE001 - a planted mistake may break the tool; that shows too
            return Disagreement(seed, "", f"it breaks: {type(error).__name__}")
        if outcome.disagreements:
            return outcome.disagreements[0]
    return None
