"""The questions of the claims about accesses of kernels, over the lanes of a block.

The rule is docs/semantics.md, section 4. The coordinates of a thread, the lanes that exist and those
that are equally far beyond a multiple of the width are derived here. The statement has the address
and the guard over them.
"""

from __future__ import annotations

from math import prod

from swzrecheck.affine import forms
from swzrecheck.compiled import KernelAccess
from swzrecheck.draft import Asked, Draft, Goals
from swzrecheck.exact import Exact
from swzrecheck.kernel_file import ADDRESS_BITS, COORDINATES, LANE_ID
from swzrecheck.lanes import thread_names
from swzrecheck.program import Program
from swzrecheck.statement import Cost, GatherCost, read_program
from swzrecheck.warp_rule import ALONE, LANES, WORD_BYTES, warp_rule

REST = "rest"
"""How far all lanes that count are beyond a multiple of the width."""


def conflict_free(access: KernelAccess) -> Goals:
    """No two lanes of a group make the access conflict.

    Groups do not join: an access that is free without joins costs one wavefront per group.
    """
    draft, program, rule = Draft(), read_program(access.program), warp_rule(access.instruction)
    out, numbers, threads = draft.out, draft.numbers, prod(access.block)
    lane, warp = numbers.variable("lane", LANES), numbers.variable("warp", -(-threads // LANES))
    tid = numbers.add(numbers.times(warp, LANES), lane)
    places = thread_names(numbers, access.block, tid)
    coordinates = {**{name: places[name.replace(".", "_")] for name in COORDINATES}, LANE_ID: lane}
    values = _values(draft, program, coordinates)
    address, guard, facts = out.copy(program, (access.address, access.guard, access.facts), values)
    is_own = {each.name: each.own for each in access.values}
    opened = [(place, is_own[line.name]) for place, line in enumerate(program) if line.name in is_own]
    shared = [values[place] for place, own in opened if not own]
    own = [values[place] for place, own in opened if own]
    active = [guard]
    if threads % LANES:
        active.append(numbers.less(tid, numbers.number(threads)))
    if rule.address_lanes < LANES:
        active.append(numbers.less(lane, numbers.number(rule.address_lanes)))
    bits = rule.width_bytes.bit_length() - 1
    if bits:
        low = out.extract(address, 0, bits)
        if rule.width_bytes < WORD_BYTES:
            # Parts of words: where in its word the address lies is part of the statement.
            active.append(out.op("=", low, out.const(0, bits)))
        elif not _is_one_number(draft, (lane.place, warp.place, *shared, *own), low):
            shared.append(numbers.variable(REST, rule.width_bytes).place)
            active.append(out.op("=", low, shared[-1]))
        address = out.op("bvand", address, out.const(-rule.width_bytes, ADDRESS_BITS))
    makes = out.all(active)
    variables = (lane.place, warp.place, *shared, *own)
    closed, at = draft.closed(variables, (facts, address, makes))
    goal = Cost(
        program=closed,
        lane=at[lane.place],
        free=tuple(at[place] for place in (warp.place, *shared)),
        assumption=at[facts],
        address=at[address],
        active=at[makes],
        instruction=f"{access.instruction}{ALONE}",
        at_most=(),
    )
    asked = GatherCost.of(goal, tuple(at[place] for place in own)) if own else goal
    return Goals((Asked("cost", asked),), draft.possible(variables, out.all([facts, makes])))


def _values(draft: Draft, program: Program, coordinates: dict[str, Exact]) -> dict[int, int]:
    """The line of each variable of a program: a coordinate, or a variable of its own."""
    found: dict[int, int] = {}
    for place, line in enumerate(program):
        if line.operator != "var":
            continue
        known = coordinates.get(line.name)
        if known is None:
            found[place] = draft.out.var(line.name, line.number, line.width)
        elif draft.out.width(known.place) <= line.width:
            found[place] = draft.out.widen(known.place, line.width)
        else:
            # The value is below the variable's limit: the bits above are 0.
            found[place] = draft.out.extract(known.place, 0, line.width)
    return found


def _is_one_number(draft: Draft, variables: tuple[int, ...], low: int) -> bool:
    """Whether the circuit shows that a line has one value everywhere."""
    program, at = draft.closed(variables, (low,))
    return all(form in (0, 1) for form in forms(program, [at[place] for place in variables], [at[low]])[0])
