"""From an access of a kernel to a verdict.

Every verdict of `free` is a cost that the prover's engines decide (`cost_goal`): an engine that
enumerates, and Z3. Prices at some values must not contradict them, and a conflict needs such a
price. Whatever does not fit together, or is not decided within the budget, is `unknown`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Final

from swzverify.compiled.kernel import KernelAccess, LoopAround, TripsLeaf, accesses, count_synchronizations, inlined
from swzverify.compiled.kernel.listing import OF_BULK, OF_MAP, Touch
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.sass import Listing, SassInstruction
from swzverify.compiled.scan.asker import Asker, OutOfClockError
from swzverify.compiled.scan.assuming import judged
from swzverify.compiled.scan.claims import all_claims
from swzverify.compiled.scan.copies import by_cache, filled
from swzverify.compiled.scan.exact import exact
from swzverify.compiled.scan.given import NOTHING_GIVEN, Facts, Given, module_and_facts
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.merged import INCREMENTED, INCREMENTS_FROM, MAY_INCREMENT, ONE_LANE, is_warps_own
from swzverify.compiled.scan.mixed import mixed
from swzverify.compiled.scan.octets import octets
from swzverify.compiled.scan.on_chip import OnChip, on_chip
from swzverify.compiled.scan.one_block import for_one_block
from swzverify.compiled.scan.one_dimension import (
    MOST_THREADS,
    ONE_DIMENSION,
    decide_for_every_length,
    has_one_dimension,
    of_first_threads,
    reads_shape,
)
from swzverify.compiled.scan.price import block_of
from swzverify.compiled.scan.question import Question, in_each_place
from swzverify.compiled.scan.scanned import ScannedAccess, place_of
from swzverify.compiled.scan.spell import spell
from swzverify.compiled.scan.split import Parts, split
from swzverify.compiled.scan.tried import Kernel, tried
from swzverify.compiled.scan.verdict import (
    FAULTS,
    NO_BLOCK,
    Decision,
    NoVerdictError,
    Verdict,
    unknown,
)
from swzverify.compiled.scan.written import Written, written
from swzverify.engines.obligations import Answer
from swzverify.errors import SwzError
from swzverify.hardware import (
    BANK_PERIOD_BYTES,
    BANK_WORD_BYTES,
    Instruction,
    Kind,
    capability_of,
    find_target,
    require,
)
from swzverify.ir.expr import TRUE, Expr

if TYPE_CHECKING:
    from swzverify.search.cures.cure import Cure

_COSTS: Final = (20, 40)
"""How many cost queries may use the full budget, and the fraction 1/N of it that later queries get."""
_BRIEF: Final = (0, 40)
"""Limits for the query "is this access ever executed?". It is asked only for accesses that are free for every set of
lanes."""
_CLAIMS: Final = (2, 20)
"""Limits for queries on claims. They have a budget of their own, so that cost queries keep theirs.

Of 816 measured queries only one took more than 260,000 steps. If two use up 4,000,000, the other queries
of the function are unlikely to gain from a full budget.
"""


def scanned_functions(module: Module, kernel: str | None = None) -> list[int]:
    """The indices of the functions to scan: the kernels, and functions that are not inlined in them.

    With `kernel`, it is the kernel of that name.
    """
    kernels = [each for each in module.functions if each.is_entry and kernel in (None, each.name)]
    wanted = {each.name for each in (*kernels, *_alone(module, kernels, is_whole=kernel is None))}
    return [place for place, each in enumerate(module.functions) if each.name in wanted]


def _alone(module: Module, kernels: list[Function], *, is_whole: bool) -> list[Function]:
    """The functions that are not inlined in every call.

    For a whole module these include functions that nobody calls by name.
    """
    others = [each for each in module.functions if not each.is_entry]
    placed: set[str] = set()
    called: set[str | None] = set()
    for function in kernels:
        whole = inlined(module, function)
        placed |= whole.names
        called |= whole.left
    if is_whole or None in called:
        return [each for each in others if each.name in called or each.name not in placed]
    return [each for each in others if each.name in called]


def scan_function(
    module: Module,
    function: Function,
    block: BlockShape | None = None,
    target: str = "sm_90",
    given: Given = NOTHING_GIVEN,
    smem: int | None = None,
    machine: Listing | None = None,
    *,
    suggest: bool = False,
    trials: int | None = None,
    assumed: str = "",
) -> list[ScannedAccess]:
    """All accesses of one function, in the order of the text; each has a verdict or a reason.

    Operations on barrier objects are none: `synchronizations` counts these. So are the operands of
    `wgmma`: `scan_operands_and_stages` has these.

    With machine code, each has the machine instructions that it became, too. `suggest` searches for
    changes that free conflicts. At most `trials` launches are tried, `MOST_LAUNCHES` without a number. If
    the block is an assumption, `assumed` has its words, which then stand at each verdict.

    Raises:
        SwzError: SWZ551 or SWZ552 for `given`; SWZ555 for a block that the function does not allow.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found, = scan_function(module, module.functions[0], (32, 1, 1))
    >>> found.decision.verdict.value, found.decision.ways
    ('conflict', 2)
    """
    block = block_of_launch(function, block)
    is_line = block is None and has_one_dimension(module, function)
    judge, asker = _Judge(block, target, is_line=is_line), Asker(*_CLAIMS)
    module, facts = module_and_facts(module, function, given)
    found: list[ScannedAccess] = []

    def decide(access: KernelAccess) -> Decision:
        return judge.safely(facts.on(access))

    def is_never_made(access: KernelAccess) -> bool:
        return judge.is_never_made(facts.on(access))

    capability = capability_of(target)
    both = [
        judged(access, decide, is_never_made)
        for access in accesses(module, function, block, facts.arguments, capability)
    ]
    read = [access for access, _ in both]
    kernel = Kernel(module, function, block, target, facts, smem, trials)
    decisions = for_one_block(kernel, tried(kernel, read, [decision for _, decision in both]), decide, is_never_made)
    code = _code_of(function, machine)
    chips: list[OnChip | None] = [None] * len(read)
    if code is not None:
        chips = [*on_chip([facts.on(access) for access in read], decisions, code, judge.safely, judge.may)]
    claims = all_claims(read, facts, block, asker, smem, target, is_line=is_line)
    if any(ONE_DIMENSION in each.assumes for each in decisions) or any(
        ONE_DIMENSION in each.assumptions for of_access in claims for each in of_access
    ):
        assumed = ONE_DIMENSION
    assumptions = (assumed,) if assumed else ()
    helped: list[tuple[tuple[Cure, ...], str]] = [((), "")] * len(read)
    if suggest and any(each.verdict is Verdict.CONFLICT for each in decisions):
        from swzverify.compiled.scan.cured import Judged, Launched, advice  # noqa: PLC0415 - few kernels need it

        judgements = [Judged(*each) for each in zip(read, decisions, claims, strict=True)]
        helped = [(each.cures, each.reason) for each in advice(judgements, Launched(block, target, smem))]
    for access, decision, chip, of_claims, (cures, no_cure) in zip(read, decisions, chips, claims, helped, strict=True):
        if access.touch in (Touch.BARRIER, Touch.OPERAND):
            # It may lie in any array, so that the search for cures needs it; no verdict is about it.
            continue
        address = "" if access.address is None else spell(access.address, access.leaves)
        text = " ".join(f"{access.site.opcode} {access.site.text}".split())
        is_of_ptx = chip is None or chip.decision is decision
        found.append(
            ScannedAccess(
                **place_of(function, access, block, assumed),
                assumptions=tuple(dict.fromkeys((*assumptions, *facts.texts_on(access), *decision.assumes))),
                instruction=text,
                address=address,
                decision=decision,
                claims=tuple(
                    replace(each, assumptions=tuple(dict.fromkeys((*assumptions, *each.assumptions))))
                    for each in of_claims
                ),
                chip=chip,
                is_certain=access.who.sure is TRUE and not access.who.loops,
                executions=most_executions(access),
                written=_as_spec(access, decision, block, facts),
                cures=cures if is_of_ptx else (),
                no_cure=no_cure if is_of_ptx else "",
            )
        )
    return found


def synchronizations(module: Module, function: Function) -> int:
    """How many barriers, fences and waits a function has, with the functions that it calls.

    Operations on barrier objects count as well. The scan does not judge them.
    """
    return 0 if function.problem else count_synchronizations(inlined(module, function).function.instructions)


def _code_of(function: Function, machine: Listing | None) -> tuple[SassInstruction, ...] | None:
    """The machine instructions that may be those of a function; None where that is not known."""
    if machine is None or not machine.has_lines:
        return None
    return machine.of_kernel(function.name) if function.is_entry else machine.of_all()


def _as_spec(access: KernelAccess, decision: Decision, block: BlockShape | None, facts: Facts) -> Written:
    if block is None:
        return Written(reason="the shape of the block is not known")
    if access.site.piece is not None:
        return Written(reason="a spec does not say what ptxas makes of wmma")
    if access.assumes:
        return Written(reason="a spec does not say that divisions have a result")
    if facts.texts_on(access):
        return Written(reason="parameters, the grid, or how an array begins, are given")
    if access.cost.merging.of_words is not False:
        return Written(reason="a spec has no atomic that adds 1 without a result")
    if decision.is_of_source:
        return Written(reason="a spec does not say where a copy reads")
    if access.source is not None and access.source.fills_parts:
        return Written(reason="a spec has no copy that fills a part with zeros")
    return written(access, decision)


class _Judge:
    """Decides the accesses of one function."""

    def __init__(self, shape: BlockShape | None, target: str, *, is_line: bool = False) -> None:
        self._shape, self._target, self._is_line = shape, target, is_line
        self._asker, self._briefly = Asker(*_COSTS), Asker(*_BRIEF)
        self._alike: dict[tuple[object, ...], Decision] = {}
        """Verdicts of accesses that are free."""

    def safely(self, access: KernelAccess) -> Decision:
        """As `decide`; what cannot be computed is unknown."""
        try:
            return self.decide(access)
        except NoVerdictError as error:
            return unknown(str(error))
        except ValueError as error:
            return unknown(f"the address cannot be computed: {error}")

    def is_never_made(self, access: KernelAccess) -> bool:
        """Whether no lane makes a free access with an address and a row; False if that is not known."""
        row, shape = access.cost.row, self._shape or (MOST_THREADS if self._is_line else (32, 1, 1))
        if row is None or access.address is None:
            return False
        question = Question(row, split(access, access.address), block_of(shape), self._asker, access.who.loops)
        try:
            brief = replace(question, asker=self._briefly) if question.is_free_for_all else question
            return brief.not_made() is not None
        except NoVerdictError:
            return False

    def may(self, condition: Expr) -> bool:
        """Whether a condition is known to be possible."""
        try:
            return self._asker.possible(condition).answer is Answer.HOLDS
        except OutOfClockError:
            return False

    def decide(self, access: KernelAccess) -> Decision:
        """The verdict on one access."""
        if access.reason:
            return unknown(access.reason)
        row = access.cost.row
        if access.cost.reason in (OF_BULK, OF_MAP):
            return Decision(Verdict.BULK, access.cost.reason)
        if row is None:
            return unknown(access.cost.reason or "the instruction is not in the table of costs")
        if access.address is None:
            return unknown("the address is not known")
        try:
            require(self._target, row)
        except SwzError as error:
            return unknown(error.message)
        if self._shape is not None:
            return self._in_block(access, row, split(access, access.address), self._shape)
        if not reads_shape(access):
            # Lanes are the same in every block; by the octet rule the fewer lanes of the last warp may cost more.
            alike = of_first_threads(access) if row.by_octets else access
            decided = self._in_block(alike, row, split(alike, access.address), (32, 1, 1))
            if decided.verdict is Verdict.FREE:
                return decided
        return decide_for_every_length(access, row, self._in_block) if self._is_line else unknown(NO_BLOCK)

    def _in_block(self, access: KernelAccess, row: Instruction, parts: Parts, shape: BlockShape) -> Decision:
        """The verdict for one shape of the block."""
        note, decided = access.cost.note, self._placed(row, parts, shape, access.who.loops)
        if row.kind is Kind.ATOMIC and decided.verdict in (Verdict.CONFLICT, Verdict.DEPENDS):
            decided = self._merged(access, row, parts, shape, decided)
        elif row.kind is Kind.CP_ASYNC and not row.by_octets:
            decided = by_cache(decided, row, parts, block_of(shape))
        elif row.by_octets and access.source is not None and access.source.fills_parts:
            decided = filled(decided)
        if note:
            reason = f"{decided.reason}; {note}" if decided.reason else note
            return replace(decided, reason=reason, wavefronts=None, minimum=None)
        return decided

    def _merged(
        self, access: KernelAccess, row: Instruction, parts: Parts, shape: BlockShape, decided: Decision
    ) -> Decision:
        """The verdict on an atomic that conflicts as it is written, by what ptxas may make of it."""
        merged = self._placed(replace(row, counts_equal_words=False), parts, shape, access.who.loops)
        if merged == decided:
            return decided
        of_words = access.cost.merging.of_words if find_target(self._target).capability >= INCREMENTS_FROM else False
        if of_words:
            return replace(merged, assumes=(INCREMENTED,)) if merged.verdict is not Verdict.UNKNOWN else merged
        if access.cost.merging.of_warps and is_warps_own(block_of(shape), parts):
            return unknown(ONE_LANE)
        return decided if of_words is False else unknown(MAY_INCREMENT)

    def _placed(self, row: Instruction, parts: Parts, shape: BlockShape, loops: tuple[LoopAround, ...]) -> Decision:
        # Accesses of unrolled code differ in a number that all lanes add. It rotates the banks: only its rest counts.
        period = BANK_PERIOD_BYTES if row.by_octets else max(row.width_bytes, BANK_WORD_BYTES)
        key = (row, parts.shared.number % period, shape, loops, *parts.key)
        if key not in self._alike:
            found = in_each_place(Question(row, parts, block_of(shape), self._asker, loops), self._decided)
            if found.verdict is not Verdict.FREE:
                return found
            self._alike[key] = found
        return self._alike[key]

    def _decided(self, question: Question) -> Decision:
        found = (octets if question.row.by_octets else exact if question.parts.is_exact else mixed)(question)
        if found.verdict is Verdict.FREE and question.is_free_for_all:
            return replace(question, asker=self._briefly).not_made() or found
        return found if found.reason == FAULTS else question.never_made() or found


def most_executions(access: KernelAccess) -> int | None:
    """The most executions of one warp in a launch: the trips of all loops around the access.

    None if the trips of some loop are not counted. A guard or an early exit may leave fewer.
    """
    last = {leaf.name: leaf.most for leaf in (*access.leaves, *access.around) if isinstance(leaf, TripsLeaf)}
    trips = [None if loop.trips is None else last.get(loop.trips.name) for loop in access.who.loops]
    known = [each for each in trips if each is not None]
    return prod(each + 1 for each in known) if len(known) == len(trips) else None
