"""The contents of the page for a state.

They are its spec, judged as by `prove`, drawn as by `show` and explained as by `explain`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.apps.explorer.board import Board, logical_board, physical_board
from swzverify.apps.explorer.spec_text import ACCESS, TILE, SpecText, spec_text
from swzverify.apps.explorer.state import FieldError, State, WrongStateError, of_error
from swzverify.apps.options.prove import Settings
from swzverify.apps.run.one import run_claim
from swzverify.claims.access_points import lane_table
from swzverify.claims.verdict import Counterexample, Outcome
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.explain.explanations import Explanation, explain_access
from swzverify.explain.explanations.statements import BestPad, BestSwizzle
from swzverify.explain.pictures import Picture
from swzverify.explain.pictures.chosen import Chosen, chosen
from swzverify.explain.pictures.views.groups import groups
from swzverify.explain.pictures.words import price_words
from swzverify.report.result import ClaimResult
from swzverify.report.tile_code import access_cuda, tile_cute
from swzverify.spec import Spec, SpecError, parse_spec
from swzverify.subjects import Access, Tile

RLIMIT = 3_000_000
"""Z3's budget for a query: a tenth of the budget of `prove`."""
_AT = re.compile(r"([A-Za-z_]\w*)\s*=\s*([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Try:
    """A change that would help, as the state after it."""

    words: str
    state: State


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that the page shows of one state.

    Attributes:
        state: The state.
        spec: The text of its spec.
        claims: The results of its claims.
        tile: The tile.
        access: The access.
        run: The warp instruction that is drawn; None if nothing can be priced.
        unpriced: Why nothing can be priced.
        board: The picture of the tile; None if it cannot be drawn.
        undrawn: Why it cannot be drawn.
        groups: The picture of the groups of the warp instruction.
        lanes: The table of its lanes.
        explanation: The explanation of the costs.
        tries: The changes that help.
        cute: The layout as CuTe C++.
        cuda: The layout as CUDA.
    """

    state: State
    spec: SpecText
    claims: tuple[ClaimResult, ...]
    tile: Tile
    access: Access
    run: Chosen | None
    unpriced: str
    board: Board | None
    undrawn: str
    groups: Picture | None
    lanes: Counterexample | None
    explanation: Explanation
    tries: tuple[Try, ...]
    cute: str
    cuda: str

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the claims."""
        order = [*Outcome]
        return max((each.verdict.outcome for each in self.claims), key=order.index)

    @property
    def headline(self) -> str:
        """The verdict in a sentence or two."""
        by_kind = {each.kind: each.verdict for each in self.claims}
        cost = by_kind["conflict_free"]
        if self.run is not None and self.run.costs is not None:
            said = f"{cost.outcome}: {price_words(self.run.costs)}."
            if cost.outcome is Outcome.PROVED:
                most = counted(self.run.costs.wavefronts, "wavefront")
                said = f"proved free of bank conflicts: at most {most} per warp instruction, the minimum."
        else:
            said = f"{cost.outcome}: {cost.reason or self.unpriced}."
        others = [f"{kind} is {each.outcome}" for kind, each in by_kind.items() if kind != "conflict_free"
                  and each.outcome is not Outcome.PROVED]  # fmt: skip
        return f"{said} Beware: {', '.join(others)}." if others else said


def shown_of(state: State, *, changes: bool = True) -> Shown:
    """Everything that the page shows.

    Without `changes`, the explanation leaves out other swizzles and pads.

    Raises:
        WrongStateError: The state has no spec that can be judged.
    """
    text = spec_text(state)
    spec = _spec(text)
    access, tile = spec.cases[0].accesses[ACCESS], spec.cases[0].tiles[TILE]
    settings = Settings(rlimit=RLIMIT, cures=False)
    claims = tuple(run_claim(spec, each, settings).result for each in spec.claims)
    run, unpriced = _run(access, _at(state))
    board, undrawn = _board(state, tile, run)
    explanation = explain_access(access, changes=changes)
    return Shown(
        state,
        text,
        claims,
        tile,
        access,
        run,
        unpriced,
        board,
        undrawn,
        None if run is None else groups(run),
        None if run is None else lane_table(access, run.point, "", {}),
        explanation,
        tuple(_tries(state, explanation)),
        tile_cute(tile),
        access_cuda(access),
    )


def changes_of(state: State) -> tuple[Explanation, tuple[Try, ...]]:
    """The whole explanation of a state, and what to try.

    Errors are those of `shown_of`.
    """
    explanation = explain_access(_spec(spec_text(state)).cases[0].accesses[ACCESS])
    return explanation, tuple(_tries(state, explanation))


def _spec(text: SpecText) -> Spec:
    try:
        return parse_spec(text.text, path="explore.swz.yaml")
    except SpecError as error:
        raise WrongStateError(*map(text.error_of, error.problems)) from error


def _at(state: State) -> Mapping[str, int]:
    """The values that say which warp instruction is drawn.

    Raises:
        WrongStateError: A value is wrong.
    """
    found: dict[str, int] = {}
    for part in filter(None, (each.strip() for each in state.at.split(","))):
        parts = _AT.fullmatch(part)
        if parts is None or parts[1] in found:
            raise WrongStateError(FieldError("at", "SWZ596", f"'{part}' is no value", "such as warp=1, k=16"))
        found[parts[1]] = int(parts[2])
    return found


def _run(access: Access, at: Mapping[str, int]) -> tuple[Chosen | None, str]:
    """The warp instruction that is drawn, or why there is none."""
    try:
        worst = chosen(access)
    except SwzError as error:
        return None, error.message
    if not at:
        return worst, ""
    try:
        return chosen(access, at), ""
    except SwzError as error:
        raise WrongStateError(of_error("at", error)) from error


def _board(state: State, tile: Tile, run: Chosen | None) -> tuple[Board | None, str]:
    """The picture of the tile, or why there is none."""
    try:
        return (logical_board if state.view == "logical" else physical_board)(tile, run), ""
    except SwzError as error:
        return None, error.message


def _tries(state: State, explanation: Explanation) -> list[Try]:
    """The best swizzle and pad of the explanation, where the state can have them."""
    found: list[Try] = []
    for each in explanation.statements:
        match each:
            case BestSwizzle(first=best, on=on) if best.bits and not (state.order == "layout" and "<" in state.layout):
                moved = {"swizzle": on, "bits": best.bits, "base": best.base, "shift": best.shift}
                found += _changed(state, f"{best} on {'offsets' if on == 'offset' else 'addresses'}", moved)
            case BestPad(pad=pad) if state.order != "layout":
                found += _changed(state, f"a pad of {state.pad + pad}", {"pad": state.pad + pad})
            case _:
                pass
    return found


def _changed(state: State, words: str, fields: Mapping[str, object]) -> list[Try]:
    """A state with other values; empty where the page cannot have it, or nothing changes."""
    try:
        changed = State.model_validate({**state.model_dump(), **fields})
    except ValueError:  # beyond the page's bounds
        return []
    return [Try(words, changed)] if changed != state else []
