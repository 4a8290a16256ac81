"""`swzverify explain`: why an access takes its wavefronts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.show import is_file, subject_of
from swzverify.apps.commands.terminal import echo, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.explain import ExplainOptions
from swzverify.apps.options.show import ShowOptions
from swzverify.apps.run.one_case import one_case
from swzverify.claims.cost_claim import CostClaim
from swzverify.errors import SwzError, nearest
from swzverify.explain.explanations import Explanation, explain_access, explain_tile
from swzverify.explain.explanations.explain import limit_of
from swzverify.explain.explanations.statements import Cost, Explained
from swzverify.report.escape import log_lines
from swzverify.report.explain_json import render_explanations_json
from swzverify.report.explain_latex import render_explanations_latex
from swzverify.report.explain_text import render_explanations_text
from swzverify.spec import Spec, load_spec
from swzverify.spec.build import SpecCase, SpecClaim
from swzverify.subjects import Access, IndexMap, Tile

_SUFFIXES = {".tex": "latex", ".json": "json", ".txt": "text"}


def explain_command(options: ExplainOptions) -> None:
    """Tell why an access takes its wavefronts."""
    check_output(options.output, [options.what], "--output")
    form = options.form or _SUFFIXES.get(os.path.splitext(options.output or "")[1].lower(), "text")
    _tell(explain(options), form, options.output)


def _tell(explained: Explained, form: str, output: str | None) -> None:
    if form == "json":
        write_text(render_explanations_json(explained), output)
    elif form == "latex":
        write_text(render_explanations_latex(explained.explanations), output)
    else:
        _tell_text(explained, output)


def _tell_text(explained: Explained, output: str | None) -> None:
    if output is not None:
        write_text(log_lines(render_explanations_text(explained)), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(log_lines(render_explanations_text(explained, style.columns)), style, err=False)


def explain(wanted: ExplainOptions) -> Explained:
    """The explanations of a layout, or of what is named of a spec.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ591 if nothing can be explained, SWZ581 for a name or a value that does not exist;
            those of the notation.
    """
    what, layout = wanted.what, wanted.layout
    if layout.loops and layout.coord is None:
        raise SwzError("SWZ591", "--for would do nothing: a loop is one of --coord", hint="leave it out")
    if not is_file(what):
        if wanted.claim is not None:
            raise SwzError("SWZ591", f"--claim names a claim of a spec, and '{what}' is no file", hint="a spec file")
        return _of_subject(wanted, {})
    if wanted.claim is not None:
        return _of_claim(wanted, wanted.claim)
    spec = load_spec(what, target=wanted.target)
    case, _ = one_case(spec, layout.at)
    chosen: Mapping[str, int] = case.chosen if len(spec.cases) > 1 else {}
    if wanted.tile is None and wanted.access is None:
        each = [_of_subject(one, chosen).explanations for one in _all_of(wanted, case)]
        return Explained(what, chosen, tuple(chain.from_iterable(each)))
    return _of_subject(wanted, chosen)


def _all_of(wanted: ExplainOptions, case: SpecCase) -> list[ExplainOptions]:
    """One request for each access to shared memory, and for each tile that none of them uses.

    Raises:
        SwzError: SWZ591 if there is none, or if `--at` names a warp instruction and there are several.
    """
    accesses = {name: each for name, each in case.accesses.items() if not each.instruction.is_global}
    used = [each.tile for each in accesses.values()]
    found = [replace(wanted, access=name) for name in accesses]
    found += [replace(wanted, tile=name) for name, tile in case.tiles.items() if tile not in used]
    if not found:
        what = f"{wanted.what} has no tile and no access to shared memory"
        raise SwzError("SWZ591", what, hint="a spec with `tiles:` or `accesses:`")
    if len(found) > 1 and set(wanted.layout.at) - set(case.chosen):
        names = " or ".join(f"--access {name}" for name in [*accesses][:8])
        raise SwzError("SWZ591", "--at names a warp instruction of one access", hint=names or "leave it out")
    return found


def _of_subject(wanted: ExplainOptions, chosen: Mapping[str, int]) -> Explained:
    what, accesses = wanted.what, () if wanted.access is None else (wanted.access,)
    subject = subject_of(ShowOptions(what, None, wanted.tile, accesses, layout=wanted.layout, target=wanted.target))
    if subject.accesses:
        return Explained(what, chosen, tuple(explain_access(each, subject.at) for each in subject.accesses))
    if subject.at:
        raise SwzError("SWZ591", "--at would do nothing: only an access has warp instructions", hint="leave it out")
    if subject.tile is None:  # a subject without accesses is a tile
        raise SwzError("SWZ591", f"{what} has no tile", hint="a layout, or a spec with a tile")
    return Explained(what, chosen, (explain_tile(subject.tile),))


def _of_claim(wanted: ExplainOptions, text: str) -> Explained:
    """The explanations of all that a claim is about; for a cost also whether it keeps the limit."""
    for option, value in (("--tile", wanted.tile), ("--access", wanted.access)):
        if value is not None:
            raise SwzError("SWZ591", f"{option} goes without --claim, which names its subjects", hint="leave it out")
    spec = load_spec(wanted.what, target=wanted.target)
    found = _claim(spec, text, wanted)
    at = {name: value for name, value in wanted.layout.at.items() if name not in found.case}
    explanations: list[Explanation] = []
    for each in found.claim.subjects:
        if isinstance(each, Access):
            explanations.append(_with_limit(explain_access(each, at), found))
        elif isinstance(each, Tile):
            explanations.append(explain_tile(each))
    if not explanations:
        whose = next(each for each in found.claim.subjects if isinstance(each, IndexMap))
        raise SwzError(
            "SWZ591",
            f"{found.kind} is claimed of the map {whose.name}, and a map has no banks",
            hint="a claim on a tile or an access",
        )
    return Explained(wanted.what, found.case, tuple(explanations))


def _with_limit(explanation: Explanation, found: SpecClaim) -> Explanation:
    costs = next((each for each in explanation.statements if isinstance(each, Cost)), None)
    if costs is None or not isinstance(found.claim, CostClaim):
        return explanation
    first, *rest = explanation.statements
    return replace(explanation, statements=(first, limit_of(found.claim, costs), *rest))


def _claim(spec: Spec, text: str, wanted: ExplainOptions) -> SpecClaim:
    """The claim with an id, or with the part of an id after the file, as in `read_A::conflict_free`.

    Of several cases it is the first one with the values of `--at`.
    """
    known = {each.id.split("::", 1)[-1]: each for each in spec.claims}
    named = [each for each in spec.claims if text in (each.id, each.id.split("::", 1)[-1])] or [
        each for each in spec.claims if text == f"{each.subject}::{each.kind}"
    ]
    if not named:
        hint = nearest(text, known) or f"there are: {', '.join([*known][:8]) or 'none'}"
        raise SwzError("SWZ591", f"{spec.path} has no claim '{text}'", hint=hint)
    for each in named:
        if all(each.case.get(name, value) == value for name, value in wanted.layout.at.items()):
            return each
    told = ", ".join(f"{name} = {value}" for name, value in wanted.layout.at.items())
    raise SwzError("SWZ591", f"the claim {text} has no case with {told}", hint="`constants:` lists the values")
