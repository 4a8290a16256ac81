"""Whether A and B of one instruction come from the same columns of K, and successive instructions from other ones.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import prod
from typing import Final, TypeAlias

from swzverify.compiled.kernel import LaneLeaf, UniformLeaf
from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.scan.filled import Fill
from swzverify.compiled.scan.operand_columns import compare_products
from swzverify.compiled.scan.operand_judged import Factor, Judged, loops_around, loops_made_once
from swzverify.compiled.scan.operand_maps import (
    MEANT,
    OTHER_COLUMNS,
    OTHER_ROWS,
    Address,
    ElementMap,
    Once,
    difference,
    parts_between,
    pointers_of,
    spelled,
)
from swzverify.compiled.scan.operand_places import MOST_POINTS, Key
from swzverify.compiled.scan.operand_trips import (
    Brought,
    Pair,
    are_apart,
    compare_rows,
    compare_trips,
    compare_with_fixed,
    find_exchanged,
    find_moves,
)
from swzverify.compiled.scan.products import Product
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import Var, variables

_Roles: TypeAlias = dict[OperandRole, Judged]
_Maps: TypeAlias = dict[OperandRole, ElementMap]
_Placed: TypeAlias = tuple[_Roles, dict[OperandRole, tuple[Address, Address]], _Maps]
"""The operands of an instruction, how far they are from those of the first one of the same matrices, and their maps."""

_NOT_DECIDED: Final = "where along K it starts is not decided"


def agree(operands: Sequence[Judged], names: Mapping[str, str]) -> None:
    """Compare the operands that are affine."""
    once = Once()
    summed = {each.kernel.sums.registers for each in operands if each.kernel.sums and each.kernel.sums.carried}
    found: list[tuple[_Roles, list[Pair]]] = []
    blocks: dict[int, dict[int, _Roles]] = {}
    for each in operands:
        kernel = each.kernel
        blocks.setdefault(kernel.block, {}).setdefault(kernel.access.site.index, {})[kernel.role] = each
    for of_block in blocks.values():
        for roles in of_block.values():
            _compare_orders(roles)
        products = [roles for roles in of_block.values() if all(each.holds for each in roles.values())]
        for roles in of_block.values():
            for role, each in roles.items():
                other = next((own for own in roles if own is not role), role)
                if not roles[other].holds and each.holds:
                    each.leave_open(
                        f"operand {other} of the instruction is {'wrong' if roles[other].broken else 'open'}"
                    )
        for of_roles in ({*OperandRole}, {OperandRole.A}, {OperandRole.B}):
            members = [roles for roles in products if set(roles) == of_roles]
            pairs: list[dict[object, Pair]] = [{} for _ in members]
            for brought in _together(members):
                _compare(members, [{role: each for role, (_, each) in own.items()} for own in brought], names, once)
                for of_member, own in zip(pairs, brought, strict=True):
                    if len(own) == len(OperandRole):
                        of_member[tuple((id(fill), id(each)) for fill, each in own.values())] = own
            for roles, of_member in zip(members, pairs, strict=True):
                for each in roles.values():
                    _settle(each)
                _go_on(roles, [*of_member.values()], names, once, summed)
                found.append((roles, [*of_member.values()]))
    known = [(roles, own) for roles, own in found if all(each.holds for each in roles.values())]
    kernels = [next(iter(roles.values())).kernel for roles, _ in known]
    own = [
        (kernel.block, kernel.sums, loops_around(kernel), pairs)
        for kernel, (_, pairs) in zip(kernels, known, strict=True)
    ]
    reasons = compare_products(own, names, once), find_exchanged(own, once)
    for (roles, _), *found_here in zip(known, *reasons, strict=True):
        for each in roles.values():
            each.leave_open(next(filter(None, found_here), ""))


def _compare_orders(roles: _Roles) -> None:
    """Find operands whose columns of K come in another order than those of the other one, wherever both lie."""
    for role, each in roles.items():
        other = next((own for own in roles if own is not role), None)
        if other is None or not each.orders or len(each.orders) < len(each.starts):
            continue
        its = roles[other]
        is_in_order = bool(its.starts) and len(its.orders) == len(its.starts)
        is_in_order = is_in_order and all(not of or of.startswith(OTHER_ROWS) for of in its.orders.values())
        if is_in_order and all(of.startswith(OTHER_COLUMNS) for of in each.orders.values()):
            first = each.orders[each.starts[0]].removeprefix(OTHER_COLUMNS + MEANT)
            each.broken, each.is_open = (
                f"its columns of K come in another order than those of {other.value}: {first}",
                "",
            )


def _go_on(
    roles: _Roles, pairs: Sequence[Pair], names: Mapping[str, str], once: Once, summed: Container[object]
) -> None:
    """Compare how A and B of an instruction go on from trip to trip; `summed` are sums that some loop carries on."""
    if pairs:
        trips = compare_trips(pairs, roles[OperandRole.B].kernel.sums, names, once)
        is_apart = any(are_apart(pair) for pair in pairs)
        for each in roles.values():
            each.is_apart = is_apart
            each.broken = each.broken or trips.broken
            each.leave_open(trips.is_open)
        kernel = roles[OperandRole.B].kernel
        brought = {role: [one for of in each.maps.values() for one in of] for role, each in roles.items()}
        around, once_made, sums = loops_around(kernel), loops_made_once(kernel), kernel.sums
        if sums is not None:
            sums = replace(sums, carried=sums.carried - once_made)
        groups = [*_of_groups(roles)]
        moves = find_moves(groups, kernel.block, around, sums)
        for each in (each for each in roles.values() if not each.broken):
            each.leave_open(compare_with_fixed(brought, kernel.block, around, sums) or _unlike_states(roles))
            if sums is not None and ((are_all := around - once_made <= sums.carried) or sums.registers in summed):
                each.leave_open(compare_rows(groups, once, are_all=are_all))
            # An instruction that is executed in some trips only may add each element once.
            is_sure = _is_in_each_trip(kernel)
            each.broken = moves.broken if is_sure else ""
            each.leave_open(moves.is_open or ("" if is_sure else moves.broken))


def _of_groups(roles: _Roles) -> Iterator[dict[OperandRole, list[Brought]]]:
    """What is brought to an instruction in each warp group, or warp, in any state."""
    starts: dict[int, dict[OperandRole, dict[int, None]]] = {}
    for role, each in roles.items():
        for (group, _), start in each.points.items():
            starts.setdefault(group, {}).setdefault(role, {}).update({} if start is None else {start: None})
    for of_group in {str(each): each for each in starts.values()}.values():
        yield {role: [one for at in own for one in roles[role].maps.get(at, ())] for role, own in of_group.items()}


def _is_in_each_trip(kernel: Factor) -> bool:
    """Whether a thread that executes an instruction does so in each trip of the loops around it."""
    kinds = {leaf.variable: leaf for leaf in kernel.access.leaves}
    return all(isinstance(kinds.get(each), LaneLeaf | UniformLeaf) for each in variables(kernel.access.who.guard))


def _settle(judged: Judged) -> None:
    wrong = [each for each in judged.compared if each]
    if not judged.compared:
        judged.leave_open("no copies bring both operands of an instruction in one trip")
    elif wrong and len(wrong) == len(judged.compared):
        judged.broken = wrong[0]
    elif wrong:
        judged.leave_open(f"not for every start address: {wrong[0]}")


def _together(members: Sequence[_Roles]) -> Iterator[list[dict[OperandRole, Brought]]]:
    """For each state and each choice of one fill for A and one for B, what these bring to each instruction."""
    keys = _joint([each.points for roles in members for each in roles.values()])
    if keys is None:
        for each in (each for roles in members for each in roles.values()):
            each.leave_open("its start address has many states")
        return
    seen: set[object] = set()
    for key in keys:
        brought = [{role: _brought(each, key) for role, each in roles.items()} for roles in members]
        alike = tuple(tuple(map(id, each)) for roles in brought for of_role in roles.values() for each in of_role)
        if alike in seen:
            continue  # warps and states that read the same places
        seen.add(alike)
        fills: dict[OperandRole, dict[int, Fill]] = {}
        for roles in brought:
            for role, of_role in roles.items():
                fills.setdefault(role, {}).update({id(fill): fill for fill, _ in of_role})
        are_one = all(map(_come_together, brought))
        for chosen in product(*(of_role.values() for of_role in fills.values())):
            if are_one and any(not _are_of_one_trip(chosen[0], each) for each in chosen[1:]):
                continue
            wanted = dict(zip(fills, chosen, strict=True))
            yield [
                {role: each for role, of_role in roles.items() for each in of_role if each[0] is wanted[role]}
                for roles in brought
            ]


def _come_together(brought: Mapping[OperandRole, Sequence[Brought]]) -> bool:
    """Whether each section that brings A or B brings both, in the same states: what they hold is of one trip of one."""
    found: list[dict[tuple[int, int], set[frozenset[tuple[Var, int]]]]] = []
    for of_role in brought.values():
        found.append({})
        for fill, _ in of_role:
            found[-1].setdefault(fill.section, set()).update(fill.states)
    return all(each == found[0] for each in found)


def _are_of_one_trip(one: Fill, other: Fill) -> bool:
    """Whether fills may be made by one section in one trip of the loops around."""
    return one.section == other.section and not one.states.isdisjoint(other.states)


def _unlike_states(roles: _Roles) -> str:
    """Why A and B may be of different trips: copies that bring both do so in different states; empty if none do.

    If they bring both in the same states, the last ones that bring A are the last ones that bring B. If a barrier parts
    the copies of A from those of B, those of one loop count as copies that bring both.
    """
    for key in _joint([each.points for each in roles.values()]) or ():
        brought = [[fill for fill, _ in _brought(each, key)] for each in roles.values()]
        both = set[tuple[int, int]].intersection(*({fill.section for fill in fills} for fills in brought))
        shared = {fill.around for fills in brought for fill in fills if fill.section in both}
        found = [_states_of(fills, shared) for fills in brought]
        if any(states[at] != found[0][at] for states in found for at in states.keys() & found[0].keys()):
            return "copies of one loop bring A and B in different states: one may be of another stage"
        around = [{fill.around for fill in fills} for fills in brought]
        common = set[frozenset[int]].intersection(*around)
        if len({any(one < loops for one in own for loops in common) for own in around}) > 1:
            return "copies before a loop fill a stage for A or B alone, and those of the loop fill it for both"
    return ""


def _states_of(
    fills: Iterable[Fill], shared: Container[frozenset[int]]
) -> dict[object, set[frozenset[tuple[Var, int]]]]:
    """The states in which an operand is brought: by the copies of a section, or by all those in the same loops.

    `shared` has the loops in which some section brings both operands.
    """
    found: dict[object, set[frozenset[tuple[Var, int]]]] = {}
    for fill in fills:
        at = fill.section if fill.around in shared else fill.around
        found.setdefault(at, set()).update(fill.states)
    return found


def _brought(judged: Judged, key: Key) -> list[Brought]:
    group, state = key
    found: list[Brought] = []
    for read in judged.read:
        start = judged.points.get((group, frozenset(each for each in state if each[0] in read)))
        found += judged.maps.get(start, ()) if start is not None else ()
    return found


def _joint(points: Iterable[Mapping[Key, int | None]]) -> list[Key] | None:
    """All warp groups and states of some operands together; None if they are many."""
    groups: set[int] = set()
    values: dict[Var, set[int]] = {}
    for group, state in (key for of in points for key in of):
        groups.add(group)
        for variable, number in state:
            values.setdefault(variable, set()).add(number)
    if prod(map(len, values.values())) > MOST_POINTS:
        return None
    states = [frozenset(zip(values, numbers, strict=True)) for numbers in product(*values.values())]
    return [(group, state) for group in sorted(groups) for state in states]


def _compare(members: Sequence[_Roles], maps: Sequence[_Maps], names: Mapping[str, str], once: Once) -> None:
    """Compare the instructions whose operands some fills bring, with the first one of the same matrices."""
    first: dict[object, tuple[int, _Maps]] = {}
    first_of_rows: dict[object, frozenset[tuple[Product, int]]] = {}
    placed: dict[object, list[_Placed]] = {}
    for at, (roles, own) in enumerate(zip(members, maps, strict=True)):
        if len(own) < len(roles):
            continue
        matrices = tuple(once(_matrix, own[role]) for role in roles)
        begin, base = first.setdefault(matrices, (at, own))
        parts: dict[OperandRole, tuple[Address, Address]] = {}
        for role, each in own.items():
            found = once(parts_between, each, base[role])
            if found is not None:
                parts[role] = found
        if len(own) == 1 and any(each.order != tuple(range(len(each.order))) for each in own.values()):
            for each in roles.values():
                each.leave_open("its elements come in another order along K, which may be meant")
            continue
        if len(parts) < len(roles):
            for each in roles.values():
                if len(own) == 1:
                    each.compared.append("")  # no other operand from shared memory
                else:
                    each.leave_open(_NOT_DECIDED)
            continue
        if reason := _other_order(own):
            # Weights are often stored in the order in which lanes load them.
            for each in roles.values():
                each.leave_open(f"{reason}, which is right if one matrix was stored in that order")
            continue
        columns = [of_k for of_k, _ in parts.values()]
        is_same = all(each == columns[0] for each in columns)
        rows = tuple(frozenset(of_rows.items()) for _, of_rows in parts.values())
        apart = frozenset(difference(columns[-1], columns[0]).items())
        in_rows = first_of_rows.setdefault((matrices, rows), apart)
        if not is_same and any(rows) and in_rows == apart:
            # A convolution moves along the rows of A for the next columns of B, alike in all products of these rows.
            for each in roles.values():
                each.leave_open(f"{_words(parts, names)}, and in other rows")
            continue
        for each in roles.values():
            each.compared.append("" if is_same else _words(parts, names))
            if is_same and set(columns[0]) <= {()} and (each.k is None or begin < each.k[0]):
                each.k = begin, columns[0].get((), 0)
        placed.setdefault(matrices, []).append((roles, parts, own))
    for of_matrices in placed.values():
        by_sums = _by_sums(of_matrices)
        for of_sums in by_sums:
            _keep_apart(of_sums)
        _find_doubles(by_sums)


def _other_order(maps: _Maps) -> str:
    """How the elements of A and B come in different orders along K; empty if they come in one."""
    orders = [each.order for each in maps.values()]
    if orders.count(orders[0]) == len(orders):
        return ""
    at = next((k for k, each in enumerate(zip(*orders, strict=True)) if len(set(each)) > 1), None)
    if at is None:
        return ""
    places = " and ".join(f"column {each.order[at]} of {role.value}" for role, each in maps.items())
    return f"the elements of A and B come in different orders along K: those at k = {at} from {places}"


def _matrix(steps: ElementMap) -> tuple[object, ...]:
    """What operands of one matrix have in common: its strides, the order along K, and the pointers of its address."""
    strides = frozenset(steps.row.items()), frozenset(steps.column.items())
    return pointers_of(steps.first, steps), *strides, steps.order


def _words(parts: Mapping[OperandRole, tuple[Address, Address]], names: Mapping[str, str]) -> str:
    starts = " and ".join(f"{role.value} at k = {spelled(of_k, names)}" for role, (of_k, _) in parts.items())
    return f"the operands of one instruction start at different columns of K: {starts}"


def _by_sums(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """Instructions that may add to the same sums."""
    found: dict[object, list[_Placed]] = {}
    sums = [of[0][next(reversed(of[0]))].kernel.sums for of in placed]
    is_known = None not in sums
    for each, own in zip(placed, sums, strict=True):
        found.setdefault((own.registers, own.resets) if is_known and own is not None else None, []).append(each)
    return [*found.values()]


def _keep_apart(placed: Sequence[_Placed]) -> None:
    """Find instructions that add the same columns of K to the same sums."""
    for (one, parts, maps), (other, more, _) in combinations(placed, 2):
        if len(one) < len(OperandRole):
            continue
        apart = difference(parts[OperandRole.B][0], more[OperandRole.B][0])
        is_one = all(parts[role][1] == more[role][1] for role in parts)
        if not is_one or not set(apart) <= {()}:
            continue
        kernel, columns, by = one[OperandRole.B].kernel, maps[OperandRole.B].order, apart.get((), 0)
        common = 0 if abs(by) > max(columns) - min(columns) else len({*columns} & {each - by for each in columns})
        if not common:
            continue
        is_added = _is_added(kernel.sums, other[OperandRole.B].kernel.sums)
        for each in other.values():
            if is_added is None:
                each.leave_open(f"whether it adds to the sums of line {kernel.access.site.line} is not known")
            elif is_added:
                each.compared[-1] = each.compared[-1] or (
                    f"it adds {common} of the same columns of K to the same sums as line {kernel.access.site.line}"
                )


def _find_doubles(by_sums: Sequence[Sequence[_Placed]]) -> None:
    """Find instructions that multiply the same elements of A and of B for other sums: some rows are left out then."""
    first: dict[object, tuple[int, _Roles]] = {}
    for number, of_sums in enumerate(by_sums):
        for roles, parts, _ in of_sums:
            place = tuple(tuple(frozenset(part.items()) for part in parts[role]) for role in roles)
            before, its = first.setdefault(place, (number, roles))
            if before == number or len(roles) < len(OperandRole):
                continue
            line = its[OperandRole.B].kernel.access.site.line
            for each in roles.values():
                each.leave_open(f"it multiplies the same rows and columns as line {line}, for other sums")


def _is_added(one: Sums | None, other: Sums | None) -> bool | None:
    """Whether two instructions of one basic block add to the same sums; None if that is not known."""
    if one is None or other is None:
        return None
    if one.registers != other.registers or one.resets != other.resets:
        return False
    return True if one == other else None
