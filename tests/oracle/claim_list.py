"""The claims of a spec one by one: `standard` written out, and each name with what it names
(section 5 of the page).

A tile, an access and a map may have one name and stay different subjects. So a claim's subject is a
name together with a sort, and what `standard` leaves out is what the list states of the same kind
and subject.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .hardware import read_instruction
from .oracle_errors import OracleError
from .yaml_values import Spec, Yaml, as_dict, as_list, as_str

SECTIONS = {"tile": "tiles", "access": "accesses", "map": "maps", "operand": "operands", "phase": "phases"}
SORTS: dict[str, tuple[str, ...]] = {
    "injective": ("tile",),
    "bijective": ("tile",),
    "contiguous": ("tile",),
    "aligned": ("access", "operand"),
    "in_bounds": ("tile", "access", "operand"),
    "conflict_free": ("access",),
    "wavefronts": ("access",),
    "coalesced": ("access",),
    "covers": ("access",),
    "equivalent": ("tile", "access", "map"),
    "disjoint": ("tile", "operand"),
    "permutation": ("map",),
    "delivers": ("operand",),
    "race_free": ("phase",),
    "reads_what_was_written": ("phase", "access"),
}
"""What each kind of claim can be about."""

Subject = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Claim:
    """A kind with its subjects as (sort, name), its numbers as written, and the tile that `covers`
    names.
    """

    kind: str
    subjects: tuple[Subject, ...]
    argument: Yaml
    numbers: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    covered: str | None = None


def expand_claims(spec: Spec) -> list[tuple[str, Yaml]]:
    """The claims as (kind, argument), with `standard` written out but for what the list states
    itself.

    >>> spec = {"tiles": {"T": {}}, "claims": ["standard", {"in_bounds": "T"}]}
    >>> expand_claims(spec)
    [('injective', {'tile': 'T'}), ('in_bounds', 'T')]
    """
    return [(claim.kind, claim.argument) for claim in listed_claims(spec)]


def listed_claims(spec: Spec) -> list[Claim]:
    """The claims in order."""
    items = as_list(spec.get("claims"))
    read = [None if item == "standard" else read_claim(as_dict(item), spec) for item in items]
    stated = {(claim.kind, claim.subjects) for claim in read if claim is not None}
    claims: list[Claim] = []
    for claim in read:
        if claim is not None:
            claims.append(claim)
            continue
        claims += [each for each in _standard(spec) if (each.kind, each.subjects) not in stated]
        stated |= {(each.kind, each.subjects) for each in claims}
    return claims


def read_claim(item: dict[str, Yaml], spec: Spec) -> Claim:
    """One stated claim.

    >>> read_claim({"in_bounds": {"access": "A"}}, {"tiles": {"A": {}}, "accesses": {"A": {}}}).subjects
    (('access', 'A'),)
    """
    kinds = [kind for kind in SORTS if kind in item]
    if len(kinds) != 1:
        raise OracleError(f"{item!r} is no claim")
    [kind] = kinds
    argument = item[kind]
    if not isinstance(argument, dict):
        return Claim(kind, tuple(_bare(kind, as_str(name), spec) for name in as_list(argument)), argument)
    if kind == "reads_what_was_written":
        named = [as_str(argument[role]) for role in ("read", "write")]
        phase = as_str(argument["phase"]) if "phase" in argument else _phase_of(named, spec)
        return Claim(kind, (("phase", phase), *(("access", name) for name in named)), argument, argument)
    if kind == "covers":
        covered = as_str(argument["tile"]) if "tile" in argument else None
        return Claim(kind, (("access", as_str(argument["access"])),), argument, argument, covered)
    subjects: list[Subject] = []
    for sort in SORTS[kind]:
        if sort in argument:
            subjects.append((sort, as_str(argument[sort])))
        plural = SECTIONS[sort]
        if kind in ("equivalent", "disjoint", "delivers") and plural in argument:
            subjects += [(sort, as_str(name)) for name in as_list(argument[plural])]
    if not subjects:
        raise OracleError(f"{item!r} names no subject")
    return Claim(kind, tuple(subjects), argument, argument)


def _phase_of(named: list[str], spec: Spec) -> str:
    """The one phase with these accesses among its steps."""
    found: list[str] = []
    for name, phase in as_dict(spec.get("phases")).items():
        items = [item for part in ("before", "steps", "after") for item in as_list(as_dict(phase).get(part))]
        steps = {item.get("access") if isinstance(item, dict) else item for item in items}
        if steps.issuperset(named):
            found.append(name)
    if len(found) != 1:
        raise OracleError(f"{len(found)} phases have the steps {named}", "SWZ106")
    return found[0]


def _bare(kind: str, name: str, spec: Spec) -> Subject:
    """What a name alone means, where it can mean one thing only."""
    holders = [sort for sort, section in SECTIONS.items() if name in as_dict(spec.get(section))]
    fitting = [sort for sort in holders if sort in SORTS[kind]]
    if not fitting:
        raise OracleError(f"{kind} of {name!r} is no claim")
    if len(fitting) > 1:
        raise OracleError(f"{name!r} in {kind} is the name of several subjects", "SWZ106")
    return fitting[0], name


def _standard(spec: Spec) -> Iterator[Claim]:
    for name in as_dict(spec.get("tiles")):
        yield _of("injective", "tile", name)
        yield _of("in_bounds", "tile", name)
    for name, value in as_dict(spec.get("accesses")).items():
        yield _of("aligned", "access", name)
        if "tile" in as_dict(value) or "bytes" in as_dict(value):
            yield _of("in_bounds", "access", name)
        yield _of("coalesced" if _is_of_global_memory(as_dict(value)) else "conflict_free", "access", name)

    for name in as_dict(spec.get("operands")):
        for kind in ("aligned", "in_bounds", "delivers"):
            yield _of(kind, "operand", name)


def _is_of_global_memory(access: dict[str, Yaml]) -> bool:
    return read_instruction(as_str(access["instruction"])).of_global_memory


def _of(kind: str, sort: str, name: str) -> Claim:
    return Claim(kind, ((sort, name),), {sort: name})
