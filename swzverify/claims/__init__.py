"""The claims: one property per file, with its obligations as expressions and its table of failures."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from swzverify.core import outside
from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.claims.aligned import Aligned
    from swzverify.claims.bijective import Bijective
    from swzverify.claims.claim import Claim
    from swzverify.claims.coalesced import Coalesced
    from swzverify.claims.conflict_free import ConflictFree
    from swzverify.claims.contiguous import Contiguous
    from swzverify.claims.covers import Covers
    from swzverify.claims.delivers import Delivers
    from swzverify.claims.disjoint import Disjoint
    from swzverify.claims.equivalent import Equivalent
    from swzverify.claims.in_bounds import InBounds
    from swzverify.claims.injective import Injective
    from swzverify.claims.permutation import Permutation
    from swzverify.claims.race_free import RaceFree
    from swzverify.claims.reads_what_was_written import ReadsWhatWasWritten
    from swzverify.claims.register_conflict_free import RegisterConflictFree
    from swzverify.claims.register_conflicts import RegisterConflicts
    from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, SectorMeasure, Verdict, WarpMeasure
    from swzverify.claims.wavefronts import Wavefronts

__all__ = [
    "KINDS",
    "Aligned",
    "Bijective",
    "Claim",
    "Coalesced",
    "ConflictFree",
    "Contiguous",
    "Counterexample",
    "Covers",
    "Delivers",
    "Disjoint",
    "Equivalent",
    "InBounds",
    "Injective",
    "Measure",
    "Outcome",
    "Permutation",
    "RaceFree",
    "ReadsWhatWasWritten",
    "RegisterConflictFree",
    "RegisterConflicts",
    "Row",
    "SectorMeasure",
    "Verdict",
    "WarpMeasure",
    "Wavefronts",
    "claim_type",
    "claim_types",
    "is_outside",
    "outside_kinds",
]

KINDS: Mapping[str, str] = {
    "injective": "Injective",
    "bijective": "Bijective",
    "contiguous": "Contiguous",
    "aligned": "Aligned",
    "in_bounds": "InBounds",
    "conflict_free": "ConflictFree",
    "wavefronts": "Wavefronts",
    "coalesced": "Coalesced",
    "covers": "Covers",
    "equivalent": "Equivalent",
    "disjoint": "Disjoint",
    "permutation": "Permutation",
    "delivers": "Delivers",
    "register_conflict_free": "RegisterConflictFree",
    "register_conflicts": "RegisterConflicts",
    "race_free": "RaceFree",
    "reads_what_was_written": "ReadsWhatWasWritten",
}
"""The kinds of claims in the order of the docs, each with its class; a kind is also a module. This is
their registry: other packages add kinds by entry points of the group `swzverify.claims`.
"""

__getattr__ = importer(
    "swzverify.claims",
    {
        "Claim": ".claim",
        **dict.fromkeys(
            ("Counterexample", "Measure", "Outcome", "Row", "SectorMeasure", "Verdict", "WarpMeasure"), ".verdict"
        ),
        **{name: f".{kind}" for kind, name in KINDS.items()},
    },
)
__dir__ = lister("swzverify.claims", __all__)


@cache
def claim_types() -> Mapping[str, type["Claim"]]:
    """The class of every kind of claim, by its kind.

    >>> list(claim_types()) == list(KINDS)
    True
    """
    return MappingProxyType({kind: _claim_of(kind) for kind in KINDS})


def _claim_of(kind: str) -> type["Claim"]:
    """The class of one of swzverify's own kinds."""
    return cast("type[Claim]", __getattr__(KINDS[kind]))


def claim_type(kind: str) -> "type[Claim] | None":
    """The class of a kind, also of one that another package adds; None for an unknown kind.

    Raises:
        SwzError: SWZ821 if what the package adds cannot be used.

    >>> claim_type("aligned").__name__, claim_type("beautiful")
    ('Aligned', None)
    """
    if kind in KINDS:
        return _claim_of(kind)
    return _outside_type(kind) if outside.has(outside.Group.CLAIMS, kind) else None


def outside_kinds() -> list[str]:
    """The kinds of claims that other packages add, by name."""
    return outside.names(outside.Group.CLAIMS, KINDS)


def _outside_type(kind: str) -> "type[Claim]":
    from swzverify.claims.claim import Claim  # noqa: PLC0415 - few specs have such claims
    from swzverify.claims.form import Form  # noqa: PLC0415

    found = outside.load(outside.Group.CLAIMS, kind)
    rule = f"it must be a dataclass below swzverify.claims.Claim, with `kind = {kind!r}`, a `form` and every method"
    if not (isinstance(found, type) and issubclass(found, Claim) and is_dataclass(found)):
        raise outside.refuse(outside.Group.CLAIMS, kind, f"it is {found!r}", rule)
    stated = getattr(found, "kind", None)
    if stated != kind or not isinstance(getattr(found, "form", None), Form):
        raise outside.refuse(outside.Group.CLAIMS, kind, f"its kind is {stated!r}", rule)
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise outside.refuse(outside.Group.CLAIMS, kind, f"it has no {' and no '.join(missing)}", rule)
    return found


def is_outside(claim: "Claim") -> bool:
    """Whether another package defines a claim."""
    return type(claim).__module__.partition(".")[0] != "swzverify"
