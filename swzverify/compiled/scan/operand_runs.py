"""`delivers` of operands that the proof left open: a run of a launch that is given may refute it.

Source: docs/semantics.md, section 9, "Elements in a run".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.parameters import place_of
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Module, Space, SpecialRegister, SymbolRef
from swzverify.compiled.ptx.operands import nested
from swzverify.compiled.scan.claim import Claim, ClaimVerdict
from swzverify.compiled.scan.delivers import Elements
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.trial.clocks import DYNAMIC_BYTES
from swzverify.compiled.trial.launch import ONE_BLOCK, POINTS_AT, Data, Launch, Launcher, Plan
from swzverify.compiled.trial.memory import LimitError
from swzverify.compiled.trial.placement import Placement
from swzverify.compiled.trial.repeats import Repeat, find_repeats
from swzverify.compiled.trial.tagged import BUFFER_BITS, products_of

STEPS: Final = 10_000
"""Instructions of one run, each for all warps that are there."""
ENGINES: Final = ("a run",)
REPEATED: Final = (
    "in the launch {}, block (0, 0, 0), warp {}: line {} multiplies element (0, {}) of A, from byte {}, with element "
    "(0, {}) of B, from byte {}; line {} adds the product of the same two bytes to the same sum again, as its elements "
    "(0, {}), which should come from another column of K"
)
_WHOLE: Final = 1024
"""The bytes after which swizzle patterns repeat."""
_LEAST_OPERAND: Final = 256
"""A smaller array has no operand of `wgmma`: 8 rows of 32 bytes."""
_OF_CLUSTER: Final = ("%cluster_", "%is_explicit_cluster", "%nclusterid", "%clusterid")
Delivered = tuple[Claim, Elements | None]


def refuted_by_run(
    module: Module,
    function: Function,
    block: BlockShape | None,
    facts: Facts,
    smem: int | None,
    lines: Sequence[int],
    found: Sequence[Delivered],
) -> list[Delivered]:
    """The verdicts, of which a run refutes some that are `unknown`; `lines` are those of the instructions."""
    is_open = any(claim.verdict is ClaimVerdict.UNKNOWN for claim, _ in found)
    if not is_open or block is None or not function.is_entry or function.tuning.cluster not in (None, ONE_BLOCK):
        return list(found)
    try:
        whole = inlined(module, function).function
        conditions = tuple(each.condition for each in facts.assumed)
        launcher = Launcher(whole, block, DYNAMIC_BYTES if smem is None else smem, facts.arguments, conditions)
        launch = launcher.launch(Plan((1,), (Data.ZERO,)), 0)
        is_given = launch is not None and not launcher.made_up(launch) and _is_closed(module, whole, smem)
        if launch is None or not is_given or not _is_placed(module, whole, launch):
            return list(found)
        shown: dict[int, str] = {}
        for each in find_repeats(products_of(module, whole, launch, STEPS)):
            for line in each.lines:
                shown.setdefault(line, _words(each, facts, launcher))
    except (FlowError, LimitError):
        return list(found)
    return [
        (Claim(ClaimVerdict.REFUTED, shown[line], engines=ENGINES), elements)
        if claim.verdict is ClaimVerdict.UNKNOWN and line in shown
        else (claim, elements)
        for line, (claim, elements) in zip(lines, found, strict=True)
    ]


def _is_closed(module: Module, function: Function, smem: int | None) -> bool:
    """Whether parameters by their names are all that a kernel reads of what the host chooses."""
    symbols = (*module.symbols, *function.symbols)
    outside = {each.name for each in symbols if each.space in (Space.GLOBAL, Space.CONST)}
    outside |= {each.name for each in function.parameters}
    chosen = (() if function.tuning.cluster else _OF_CLUSTER) + (("%dynamic_smem",) if smem is None else ())
    for instruction in function.instructions:
        if not function.tuning.cluster and "cluster" in instruction.opcode:
            return False
        if instruction.opcode.startswith("ld.param") and place_of(instruction) is not None:
            continue
        for each in (part for operand in instruction.operands for part in nested(operand)):
            if isinstance(each, SymbolRef) and each.name in outside:
                return False
            if isinstance(each, SpecialRegister) and each.name.startswith(chosen):
                return False
    return True


def _is_placed(module: Module, function: Function, launch: Launch) -> bool:
    """Whether arrays that may have an operand begin where swizzle patterns begin."""
    places = Placement(module, function, replace(launch, buffers=())).addresses
    shared = [each for each in (*module.symbols, *function.symbols) if each.space is Space.SHARED]
    sizes = {each.name: each.size_bytes for each in shared}
    return all(
        place % _WHOLE == 0 or 0 < (sizes[each.name] or 0) < _LEAST_OPERAND
        for each, place in places.items()
        if each.name in sizes
    )


def _words(found: Repeat, facts: Facts, launcher: Launcher) -> str:
    one, other = found.products
    a, b = (_place(each, launcher) for each in (found.a, found.b))
    given = ", ".join(facts.applied) or "of any parameters"
    first, second = found.columns
    return REPEATED.format(given, one.warp, one.line, first, a, first, b, other.line, second)


def _place(place: int, launcher: Launcher) -> str:
    """A byte of global memory, as a pointer plus an offset."""
    offset = place % (1 << BUFFER_BITS) - POINTS_AT
    return f"{launcher.pointer_names[(place >> BUFFER_BITS) - 1]} {'-' if offset < 0 else '+'} {abs(offset)}"
