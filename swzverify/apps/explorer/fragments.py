"""The answer to a query string: the page's parts in HTML, the texts to copy, or what is wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal, TypedDict

from swzverify.apps.explorer.cells import board_html, group_of_lane, groups_html, lanes_html
from swzverify.apps.explorer.state import FieldError, State, WrongStateError
from swzverify.apps.explorer.thread_maps import loop_words
from swzverify.apps.explorer.view import Shown, Try, changes_of, shown_of
from swzverify.claims.verdict import Outcome
from swzverify.core.shown import html_text
from swzverify.explain.explanations import Explanation
from swzverify.explain.explanations.statements import BankBit, Matrix, TileBankBit
from swzverify.report import words
from swzverify.report.explain_text import matrix_lines
from swzverify.report.explain_words import sections, sentence
from swzverify.report.result import ClaimResult

_TONES = {Outcome.PROVED: ("good", "\u2713"), Outcome.REFUTED: ("bad", "\u2717")}


class Answer(TypedDict):
    """What the browser is sent. With `errors` the other fields are empty.

    `parts` are HTML by the id of their place, `texts` plain texts by name. `fields` are values for
    fields of the form that the state does not read, such as the expressions of a named map.
    """

    query: str
    errors: list[dict[str, str]]
    headline: str
    outcome: str
    parts: dict[str, str]
    texts: dict[str, str]
    fields: dict[str, str]
    groups: int


Ask = Literal["view", "changes", "all"]
"""What is asked for: what is quick to compute, what takes long (`changes`), or both."""


def answer(query: str, ask: Ask = "all") -> Answer:
    """The answer to a query string; what is wrong with it is part of the answer.

    >>> answer("rows=0")["errors"][0]["field"]
    'rows'
    """
    try:
        state = State.from_query(query)
        return _changes(state) if ask == "changes" else _of(shown_of(state, changes=ask == "all"))
    except WrongStateError as error:
        return wrong(query, *error.errors)


def wrong(query: str, *errors: FieldError) -> Answer:
    """The answer where something is wrong."""
    return {**_empty(query), "errors": [asdict(each) for each in errors]}


def _changes(state: State) -> Answer:
    explanation, tries = changes_of(state)
    parts = {"tries": _tries(tries), "explanation": _explanation(explanation)}
    return {**_empty(state.to_query()), "parts": parts}


def _empty(query: str) -> Answer:
    return Answer(query=query, errors=[], headline="", outcome="", parts={}, texts={}, fields={}, groups=0)


def _of(shown: Shown) -> Answer:
    state, run = shown.state, shown.run
    no_run = f'<p class="faint">No warp instruction is drawn: {html_text(shown.unpriced)}.</p>\n'
    no_board = f'<p class="faint">The tile is not drawn: {html_text(shown.undrawn)}.</p>\n'
    lanes = {} if run is None else group_of_lane(run)
    fields = {"layout": str(shown.tile.layout)} if state.order != "layout" else {}
    if state.map != "own":
        fields |= {"coord": ", ".join(shown.spec.map.coord), "loops": loop_words(shown.spec.map.loops)}
    return Answer(
        query=state.to_query(),
        errors=[],
        headline=shown.headline,
        outcome=shown.outcome.value,
        parts={
            "verdict": _verdict(shown),
            "claims": _claims(shown.claims),
            "tries": _tries(shown.tries),
            "groups": no_run if run is None or shown.groups is None else groups_html(shown.groups, run),
            "board": no_board if shown.board is None else board_html(shown.board, lanes),
            "lanes": no_run if run is None or shown.lanes is None else lanes_html(shown.lanes, run),
            "explanation": _explanation(shown.explanation),
        },
        texts={"spec": shown.spec.text, "cute": shown.cute, "cuda": shown.cuda},
        fields=fields,
        groups=0 if run is None else len(run.cost.groups),
    )


def _verdict(shown: Shown) -> str:
    tone, sign = _TONES.get(shown.outcome, ("open", "?"))
    costs = None if shown.run is None else shown.run.costs
    known = "" if costs is None else f" The cost rule is {costs.evidence} on {shown.access.target.name}."
    return (
        f'<span class="{tone}">{sign} {html_text(shown.headline)}</span><span class="faint">{html_text(known)}</span>'
    )


def _claims(claims: tuple[ClaimResult, ...]) -> str:
    rows = "".join(map(_claim, claims))
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("claim", "verdict", "by", "for", "because"))
    return (
        '<div class="scroll" role="group" aria-label="claims" tabindex="0"><table class="claims">'
        f"<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _claim(result: ClaimResult) -> str:
    verdict = result.verdict
    tone, sign = _TONES.get(verdict.outcome, ("open", "?"))
    reason = verdict.reason or ("" if verdict.measure is None else words.cost_in_full(verdict.measure))
    return (
        f'<tr><th scope="row"><code>{html_text(result.kind)}: {html_text(result.subject)}</code></th>'
        f'<td class="{tone}">{sign} {html_text(verdict.outcome.value)}</td>'
        f"<td>{html_text(' + '.join(verdict.engines))}</td><td>{html_text(verdict.scope)}</td>"
        f"<td>{html_text(reason)}</td></tr>\n"
    )


def _tries(tries: tuple[Try, ...]) -> str:
    if not tries:
        return ""
    links = " ".join(
        f'<a class="try" href="/?{html_text(each.state.to_query())}">{html_text(each.words)}</a>' for each in tries
    )
    return f"<p>Fewest wavefronts for this access: try {links}</p>\n"


def _explanation(explanation: Explanation) -> str:
    parts: list[str] = []
    for title, statements in sections(explanation):
        lines: list[str] = []
        for each in statements:
            if isinstance(each, BankBit | TileBankBit):
                lines.append(f"<li><code>{html_text(str(each))}</code></li>")
                continue
            drawn = _matrix(each) if isinstance(each, Matrix) else ""
            lines.append(f"<li>{html_text(sentence(each))}{drawn}</li>")
        parts.append(f"<h3>{html_text(title)}</h3>\n<ul>{''.join(lines)}</ul>\n")
    return "".join(parts)


def _matrix(matrix: Matrix) -> str:
    lines = html_text("\n".join(matrix_lines(matrix)))
    return f'<pre tabindex="0" role="group" aria-label="matrix over GF(2)">{lines}</pre>'
