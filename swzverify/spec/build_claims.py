"""From the models of claims to the claims themselves, in one case of the constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from swzverify.claims import KINDS, Claim, claim_type
from swzverify.claims.form import Form, Named, Role, Subject
from swzverify.core.outside import Group, refuse
from swzverify.errors import InternalError, SwzError
from swzverify.spec.claim_models import ClaimPart
from swzverify.spec.fields import Part
from swzverify.spec.names import Names
from swzverify.spec.read_code import ReadCode
from swzverify.spec.tree import Node
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Phase


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim of the file with its place, and the constants that it and its subjects use.

    `part` is its model; None for one that `standard` stands for. `code` is what its subjects are read
    from.
    """

    claim: Claim
    part: ClaimPart | None
    where: Node
    uses: frozenset[str]
    code: tuple[ReadCode, ...] = ()


def build_claim(part: ClaimPart, values: Values, names: Names) -> Claim:
    """A claim; `values.node` is its list item.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    claim = claim_type(part.kind)
    if claim is None:
        raise InternalError(f"no claim is called {part.kind}")
    stated = getattr(part, part.kind)
    numbers: dict[str, int] = {}
    if claim.form.keys and isinstance(stated, Part):
        subjects = _by_key(stated, part.kind, claim.form, values, names)
        numbers = dict(_numbers(stated, part.kind, claim.form, subjects[0], values))
    else:
        subjects = _by_name(stated, part.kind, claim.form, values, names)
    with values.noted(values.at(part.kind)):
        built = _stated(claim, subjects, numbers)
        values.require_sound()
        return built
    raise Broken


def _stated(claim: type[Claim], subjects: Sequence[Subject], numbers: Mapping[str, int]) -> Claim:
    """The claim of these subjects.

    Raises:
        SwzError: Those of the claim, or SWZ821 if another package's code fails.
    """
    try:
        return claim.stated(subjects, numbers)
    except SwzError:
        raise
    except Exception as error:
        if claim.kind in KINDS:
            raise
        found = f"{type(error).__name__}: {error}"
        raise refuse(Group.CLAIMS, claim.kind, found, "it may raise no other error than SwzError") from error


def _by_key(stated: Part, kind: str, form: Form, values: Values, names: Names) -> list[Subject]:
    """The subjects of a claim that is stated key by key, without those that are left out."""
    named = [(key, getattr(stated, key.name)) for key in form.keys if isinstance(key, Named)]
    found = [
        names.of((key.role, *key.others), name, values.at(kind, key.name)) for key, name in named if name is not None
    ]
    if any(key.role is Role.PHASE and name is None for key, name in named):
        return [_phase_of(found, kind, values, names), *found]
    return found


def _phase_of(subjects: Sequence[Subject], kind: str, values: Values, names: Names) -> Phase:
    """The phase that has these accesses among its steps.

    Raises:
        Broken: There is none, or several do; the problem is noted before.
    """
    having = [
        each
        for each in names.phases.values()
        if all(any(run.subject is one for _, run in each.runs) for one in subjects)
    ]
    if len(having) == 1:
        return names.phase(having[0].name, values.at(kind))
    told = " and ".join(f"'{each.name}'" for each in subjects)
    if having:
        hint = "say which: " + " or ".join(f"phase: {each.name}" for each in having)
        values.fail("SWZ106", f"several phases have the steps {told}", values.at(kind), hint)
    elif not any(section == "phases" for section, _ in names.broken):
        hint = "state the order in `phases:`, with both among the steps of one phase"
        values.fail("SWZ106", f"no phase has the steps {told}", values.at(kind), hint)
    raise Broken


def _numbers(stated: Part, kind: str, form: Form, first: Subject, values: Values) -> Iterator[tuple[str, int]]:
    """The numbers of a claim that are given."""
    for number in form.numbers:
        value = getattr(stated, number.name)
        if value is not None:
            most = number.most(first) if callable(number.most) else number.most
            yield number.name, values.number(value, kind, number.name, least=number.least, most=most)


def _by_name(stated: object, kind: str, form: Form, values: Values, names: Names) -> list[Subject]:
    """The subjects of a claim by names only: `A`, `[A, B]`, `{tile: A}` or `{tiles: [A, B]}`."""
    roles, path = form.roles, (kind,)
    if isinstance(stated, Part):
        (key,) = type(stated).model_fields
        roles, path = tuple(role for role in Role if key in (role.value, role.section)), (kind, key)
        stated = getattr(stated, key)
    if isinstance(stated, str):
        return [names.of(roles, stated, values.at(*path))]
    pair = cast("list[str]", stated)
    return [names.of(roles, name, values.at(*path, index)) for index, name in enumerate(pair)]


def standard_claims(names: Names) -> Iterator[Claim]:
    """What `standard` stands for: tiles first, then accesses and operands, in the order of the file."""
    # Only here, since other specs need few of them.
    from swzverify.claims import Aligned, Coalesced, ConflictFree, Delivers, InBounds, Injective  # noqa: PLC0415

    for tile in names.tiles.values():
        yield Injective(tile)
        yield InBounds(tile)
    for access in names.accesses.values():
        yield Aligned(access)
        if access.tile is not None or access.bytes is not None:
            yield InBounds(access)
        yield Coalesced(access) if access.instruction.is_global else ConflictFree(access)
    for operand in names.operands.values():
        yield Aligned(operand)
        yield InBounds(operand)
        yield Delivers(operand)
