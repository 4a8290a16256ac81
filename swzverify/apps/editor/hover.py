"""What a place of a spec means: claims with their verdicts, tiles and accesses with pictures, keys, constants."""

from __future__ import annotations

from swzverify.apps.editor.document import Analysis
from swzverify.apps.editor.places import Found, found_at, word_at
from swzverify.apps.editor.schemas import meaning
from swzverify.apps.run.case_picture import case_picture
from swzverify.apps.run.one import Judged
from swzverify.errors import SwzError
from swzverify.explain.pictures import Picture
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.grid import View
from swzverify.explain.pictures.text import TextLook, render_text
from swzverify.explain.pictures.views.groups import groups
from swzverify.explain.pictures.views.logical import logical
from swzverify.report.escape import log_lines, visible
from swzverify.report.story import facts, headline
from swzverify.subjects import Access, Tile

MOST_LINES = 60
"""Lines of a picture: editors show no more at once."""
_COLUMNS = 110
_ROWS = 8
_MOST_CASES = 3
_DRAWN = frozenset({"layout", "swizzle", "coord", "address", "instruction"})
"""Keys whose values a picture shows."""
_LEFT_OUT = frozenset({"at", "cure"})


def hover_at(analysis: Analysis, line: int, column: int) -> str:
    """A text in Markdown; empty where nothing is known of a place."""
    found = None if analysis.tree is None else found_at(analysis.tree, line, column)
    if found is None:
        return ""
    parts = [meaning(found.path)] if found.is_key else []
    if found.path[0] == "claims":
        parts += _claims(analysis, line, found)
    else:
        parts.append(_constant(analysis, word_at(analysis.text.split("\n")[line - 1], column)))
        parts += _object(analysis, found)
    return "\n\n".join(filter(None, parts))


def _claims(analysis: Analysis, line: int, found: Found) -> list[str]:
    """What the claim at a place says, and what became of it; the first cases of several."""
    judged = analysis.at(line)
    parts = [] if found.is_key or not judged else [meaning((*found.path[:2], judged[0].claim.kind))]
    for each in judged[:_MOST_CASES]:
        result = each.result
        known = [f"- {label}: {visible(text)}" for label, text in facts(result) if label not in _LEFT_OUT]
        parts += [f"**{headline(result)}**", "\n".join(known), _drawn_claim(each)]
    if len(judged) > _MOST_CASES:
        parts.append(f"{len(judged) - _MOST_CASES} more cases")
    return parts


def _drawn_claim(judged: Judged) -> str:
    """The case that breaks a claim, or what its access costs at most."""
    claim = judged.claim.claim
    picture = case_picture(claim, judged.result.verdict)
    if picture is not None:
        return _text(picture)
    first = claim.subjects[0]
    return _drawn_access(first) if isinstance(first, Access) and judged.result.verdict.measure is not None else ""


def _object(analysis: Analysis, found: Found) -> list[str]:
    """The picture of a tile or an access, in the first case of the constants."""
    path = found.path
    if analysis.spec is None or not analysis.spec.cases or len(path) < 2:
        return []
    if not (path[-1] in _DRAWN or (found.is_key and len(path) == 2)):
        return []
    case, name = analysis.spec.cases[0], str(path[1])
    if path[0] == "tiles" and name in case.tiles:
        return [_drawn_tile(case.tiles[name])]
    if path[0] == "accesses" and name in case.accesses:
        return [_drawn_access(case.accesses[name])]
    return []


def _drawn_tile(tile: Tile) -> str:
    try:
        return _text(logical(tile, View(most_rows=_ROWS)))
    except SwzError as error:
        return error.message


def _drawn_access(access: Access) -> str:
    try:
        access.require_banks()
        return _text(groups(chosen(access)))
    except SwzError as error:
        return error.message


def _text(picture: Picture) -> str:
    lines = log_lines(render_text(picture, TextLook(_COLUMNS))).rstrip("\n").split("\n")
    rest = [f"... {len(lines) - MOST_LINES} more lines: swzverify show"] if len(lines) > MOST_LINES else []
    return "\n".join(["```text", *(line.replace("```", "'''") for line in lines[:MOST_LINES]), *rest, "```"])


def _constant(analysis: Analysis, word: str) -> str:
    """The values of a constant, those of all cases."""
    if analysis.spec is None or not word:
        return ""
    values = dict.fromkeys(str(case.constants[word]) for case in analysis.spec.cases if word in case.constants)
    notes = {each.file: each for claim in analysis.spec.claims for each in claim.read if each.name == word}
    read = "".join(f", read from {visible(each.beside or each.file)}" for each in notes.values())
    return f"constant `{word}` = {', '.join(values)}{read}" if values else ""
