"""What the device's own answers say of a claim, where it ran: no model is asked for these.

A tile's places, an access's addresses and the costs are taken as the device computed and counted
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np

from swzverify.claims import Aligned, Claim, Covers, InBounds
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.places import Places
from swzverify.core.words import counted
from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.launch import DeviceAnswer
from swzverify.gpu.map_run import MapRun
from swzverify.gpu.plan import Key, Plan, Run, ran
from swzverify.gpu.product_run import ProductRun
from swzverify.gpu.source import row_variables
from swzverify.gpu.tile_run import TileRun

_Sides: TypeAlias = "list[tuple[Run, Sequence[DeviceAnswer]]]"
"""The runs of a claim's subjects, with the device's answers."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether the claim held wherever it was run (None: it does not show), and that in words.

    `partly` tells that a failure might not show: then `holds` is no answer to a refuted claim.
    """

    holds: bool | None
    text: str
    partly: bool = False


@dataclass(frozen=True, slots=True)
class CostSeen:
    """The costs counted for the patterns of one access.

    `counted` of the `patterns` were run. `wavefronts` is the worst cost, and `conflicted` patterns had
    conflicts. `differing` patterns break the rule; `differences` has the first ones in words.
    """

    patterns: int
    counted: int
    wavefronts: int
    conflicted: int
    differing: int = 0
    differences: tuple[str, ...] = ()


def seen(claim: Claim, plan: Plan, answers: Mapping[Key, Sequence[DeviceAnswer]], cost: CostSeen | None) -> Seen:
    """What the device says of a claim; `cost` is the counted cost of the claim's access."""
    runs = [(plan.find(*subject), answers[id(subject[0]), subject[1]]) for subject in ran(claim)]
    if any(
        answer.status and not launch.faults
        for run, own in runs
        for launch, answer in zip(run.launches, own, strict=True)
    ):
        return Seen(None, "some launches failed")
    if not all(run.launches for run, _ in runs):
        return Seen(None, "nothing to run")
    if isinstance(claim, CostClaim):
        aligned = _placed(Aligned(claim.access), runs)
        return _cost(claim, cost) if aligned.holds else aligned
    return _placed(claim, runs)


def _placed(claim: Claim, runs: _Sides) -> Seen:
    """Whether a claim holds of the places that the device computed."""
    (run, own), *_ = runs
    if isinstance(claim, Covers) and isinstance(run, AccessRun) and not run.is_whole:
        return Seen(None, "the access was sampled")
    wrong = [fact.note for fact in claim.plan().facts if not fact.holds]
    variables = [sorted(node.name for node in row_variables(each.access)) for each in _accesses(runs)]
    if len(runs) > 1 and (wrong or (len(variables) > 1 and variables[0] != variables[1])):
        return Seen(None, "of different shapes")
    total = bad = 0
    for sides in _cases(claim, runs):
        for part in claim.arranged(*sides):
            total += len(part[0].first) if isinstance(run, MapRun) else part[-1].first.size
            bad += len(claim.broken(*part))
    if not total:
        return Seen(None, "nothing that could be compared was run")
    words = f"{counted(total, _noun(run))}, {bad} against the claim"
    if any(launch.faults and answer.status for launch, answer in zip(run.launches, own, strict=True)):
        words += ", and the hardware trapped"
    # A coordinate outside the shape may still give an address inside the allocation.
    partly = isinstance(claim, InBounds) and isinstance(run, AccessRun) and run.access.tile is not None
    return Seen(not bad and not wrong, "; ".join([words, *wrong]), partly)


def _noun(run: Run) -> str:
    return "lane" if isinstance(run, AccessRun) else "element" if isinstance(run, TileRun | ProductRun) else "point"


def _cases(claim: Claim, runs: _Sides) -> Iterator[list[Places]]:
    """The places of each subject, at every base, or pair of bases, that was run."""
    if any(isinstance(run, ProductRun) for run, _ in runs):
        # Each operand by itself: an order of K that two share is in what each should read.
        yield from ([*both] for run, own in runs if isinstance(run, ProductRun) for both in run.sides(own))
        return
    sides = [run.places(own) for run, own in runs if not isinstance(run, ProductRun)]
    accesses = _accesses(runs)
    for bases in product(*sides):
        if claim.shares_base and len(set(bases)) > 1:
            continue
        places = [side[base] for side, base in zip(sides, bases, strict=True)]
        yield _common_rows(accesses[0], accesses[1], places) if len(accesses) > 1 else places


def _accesses(runs: _Sides) -> list[AccessRun]:
    return [run for run, _ in runs if isinstance(run, AccessRun)]


def _common_rows(first: AccessRun, second: AccessRun, places: list[Places]) -> list[Places]:
    """The rows of two accesses that have the same values of the same variables."""
    names = [node.name for node in row_variables(first.access)]
    order = [[node.name for node in row_variables(second.access)].index(name) for name in names]
    mine = {tuple(row): number for number, row in enumerate(first.rows.tolist())}
    pairs = [(mine[key], j) for j, row in enumerate(second.rows[:, order].tolist()) if (key := tuple(row)) in mine]
    rows = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return [
        replace(each, first=each.first[at], active=np.broadcast_to(each.active, each.first.shape)[at])
        for each, at in zip(places, rows, strict=True)
    ]


def _cost(claim: CostClaim, cost: CostSeen | None) -> Seen:
    if cost is None or not cost.counted:
        return Seen(None, "cost not counted")
    some = "" if cost.counted == cost.patterns else f"{cost.counted} of "
    patterns, worst = counted(cost.patterns, "pattern"), counted(cost.wavefronts, "wavefront")
    words = f"{some}{patterns}, worst {worst}, {cost.conflicted} with conflicts"
    if claim.reaches is not None:
        holds = cost.wavefronts == claim.reaches
    else:
        holds = cost.conflicted == 0 if claim.limit is None else cost.wavefronts <= claim.limit
    return Seen(holds, words, partly=cost.counted < cost.patterns)
