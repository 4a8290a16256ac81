"""The report as an HTML page: verdicts with filters, costs by case, counterexamples and pictures.

The page is one file. Its policy allows its own style sheet and script, by their hashes; no text of a
spec is markup. Without scripts everything is there but the filters and the marks under a pointer.

Source: W3C, Content Security Policy Level 3, 2.3.1 (hash sources) and 3.3 (the meta element).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from swzverify.claims.verdict import Outcome
from swzverify.errors import Problem
from swzverify.report import words
from swzverify.report.by_file import counts_words, worst_words
from swzverify.report.cases import Told, told_once
from swzverify.report.escape import visible
from swzverify.report.html.assets import policy, script, style
from swzverify.report.html.claim import claim_block, evidence_block, headline, text
from swzverify.report.matrix import TITLE, Matrix, matrix
from swzverify.report.result import BaselineUse, ClaimResult, ExitCode, Report
from swzverify.report.rules import Rule, Vocabulary, claim_vocabulary

EVIDENCE_BYTES = 8 * 1024 * 1024
"""What counterexamples and pictures of a page may take: more makes browsers slow."""
_TONES = {ExitCode.AS_EXPECTED: ("good", "\u2713"), ExitCode.UNDECIDED: ("open", "?")}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A claim of the page: the id of its element, and its counterexample; None where it is left out."""

    told: Told
    name: str
    evidence: str | None


@dataclass(frozen=True, slots=True)
class _File:
    """A file's results, and as entries those that read the same put together."""

    spec: str
    results: Sequence[ClaimResult]
    entries: Sequence[_Entry]


def render_html(
    report: Report,
    *,
    exit_code: int | None = None,
    vocabulary: Vocabulary | None = None,
    evidence_bytes: int = EVIDENCE_BYTES,
) -> str:
    """The HTML page, ASCII only.

    `vocabulary` is that of claims by default. `evidence_bytes` is the limit of all counterexamples in
    UTF-8 bytes; those of findings come first.

    >>> page = render_html(Report((), wall_ms=20.0))
    >>> "<h1>swzverify: no claim found in 20 ms</h1>" in page, "://" in page
    (True, False)
    """
    code = ExitCode(report.exit_code if exit_code is None else exit_code)
    known = claim_vocabulary(result.kind for result in report.results) if vocabulary is None else vocabulary
    files = _files(report, evidence_bytes)
    title = text(f"swzverify: {words.summary_line(report)}")
    body = [
        f"<header>\n<h1>{title}</h1>\n{_outcome(report, code, known.exit_words[code])}</header>\n",
        _problems(report.problems),
        _baseline(report.baseline),
        _findings(files),
        _filters(report, files),
        _index(files),
        *(_section(place, file) for place, file in enumerate(files, 1)),
        _rules(report.results, known.rules),
    ]
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style()}</style>
</head>
<body>
<main>
{"".join(body)}</main>
<script>{script()}</script>
</body>
</html>
"""
    # Standard output may be of any encoding: references say the same in each of them.
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _outcome(report: Report, code: ExitCode, meaning: str) -> str:
    """What the exit code says; a scan that found conflicts and was not asked to fail is not green."""
    found = report.summary.unexpected or report.problems
    grade = ("open", "!") if code is ExitCode.AS_EXPECTED and found else _TONES.get(code, ("bad", "\u2717"))
    return f'<p class="total"><span class="{grade[0]}">{grade[1]} {text(meaning)}</span> (exit code {code.value})</p>\n'


def _files(report: Report, evidence_bytes: int) -> list[_File]:
    """The claims by file, with those counterexamples that fit: of findings first, then in order."""
    results: dict[str, list[ClaimResult]] = {}
    for result in report.results:
        results.setdefault(result.spec, []).append(result)
    told = [(spec, each) for spec, found in results.items() for each in told_once(found)]
    evidence: dict[int, str | None] = {}
    left = evidence_bytes
    for place in sorted(range(len(told)), key=lambda place: not told[place][1].result.failing):
        block = evidence_block(told[place][1].result)
        size_bytes = len(block.encode("utf-8", "backslashreplace"))
        evidence[place] = block if size_bytes <= left else None
        left -= size_bytes if size_bytes <= left else 0
    seen: Counter[str] = Counter()
    entries: dict[str, list[_Entry]] = {}
    for place, (spec, each) in enumerate(told):
        name = f"c-{each.result.fingerprint[:12]}"
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}-{seen[name]}"
        entries.setdefault(spec, []).append(_Entry(each, unique, evidence[place]))
    return [_File(spec, found, entries[spec]) for spec, found in results.items()]


def _problems(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    rows = "".join(
        f"<tr><td>{text(visible(each.place))}</td><td>{text(each.code)}</td><td>{text(each.message)}</td>"
        f"<td>{text(each.hint)}</td><td><code>{text(each.source_line.strip())}</code></td></tr>\n"
        for each in problems
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("at", "code", "what is wrong", "next step", "line"))
    return (
        '<h2>Problems</h2>\n<div class="scroll" role="group" aria-label="problems" tabindex="0">'
        f'<table class="problems"><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n'
    )


def _baseline(use: BaselineUse | None) -> str:
    """Where the file of known failures no longer fits the run."""
    if use is None:
        return ""
    kinds = (("known, but not so", use.changed), ("known, and no longer found", use.fixed),
             ("known, and not in this run", use.unseen))  # fmt: skip
    lines = "".join(f"<li>{said}: <code>{text(each)}</code></li>\n" for said, ids in kinds for each in ids)
    return f"<h2>Known failures</h2>\n<ul>\n{lines}</ul>\n" if lines else ""


def _findings(files: Sequence[_File]) -> str:
    found = [(file.spec, entry) for file in files for entry in file.entries if entry.told.result.failing]
    if not found:
        return ""
    lines = "".join(
        f'<li><a href="#{entry.name}">{headline(entry.told)}</a> '
        f'<span class="faint">{text(visible(f"{spec}:{entry.told.result.line}"))}</span></li>\n'
        for spec, entry in found
    )
    return f"<h2>Not as expected</h2>\n<ul>\n{lines}</ul>\n"


def _filters(report: Report, files: Sequence[_File]) -> str:
    if not report.results:
        return ""
    summary = report.summary
    counts = Counter(result.verdict.outcome for result in report.results)
    outcomes = [(outcome.value, f"{outcome.value} ({counts[outcome]})") for outcome in Outcome if counts[outcome]]
    states = [("unexpected", f"not as expected ({summary.unexpected})")]
    states += [("known", f"known failures ({summary.accepted})")] if summary.accepted else []
    kinds = Counter(result.kind for result in report.results)
    selects = [
        _select("f-outcome", "Outcome", [*states, *outcomes]),
        _select("f-kind", "Claim", [(kind, f"{kind} ({count})") for kind, count in sorted(kinds.items())]),
        _select("f-spec", "File", [(file.spec, visible(file.spec)) for file in files]),
        '<label>Text <input id="f-text" type="search" autocomplete="off" placeholder="words, in any order"></label>\n',
    ]
    return (
        f'<form id="filters" hidden aria-label="filters">\n{"".join(selects)}'
        '<button type="reset">Show all</button>\n<button type="button" id="f-open">Open all</button>\n'
        '<button type="button" id="f-close">Close all</button>\n<p id="f-shown" role="status"></p>\n</form>\n'
    )


def _select(name: str, label: str, options: Iterable[tuple[str, str]]) -> str:
    shown = "".join(f'<option value="{text(value)}">{text(said)}</option>' for value, said in options)
    return f'<label>{label} <select id="{name}"><option value="">all</option>{shown}</select></label>\n'


def _index(files: Sequence[_File]) -> str:
    if len(files) < 2:
        return ""
    lines = "".join(
        f'<li><a href="#s-{place}">{text(visible(file.spec))}</a></li>\n' for place, file in enumerate(files, 1)
    )
    return f"<details>\n<summary>{len(files)} files</summary>\n<ul>\n{lines}</ul>\n</details>\n"


def _section(place: int, file: _File) -> str:
    costs = matrix(file.results, least=1)
    told = "; ".join(part for part in (counts_words(file.results), worst_words(file.results)) if part)
    claims = "".join(claim_block(entry.told, entry.name, entry.evidence) for entry in file.entries)
    return (
        f'<section class="spec" id="s-{place}" data-spec="{text(file.spec)}">\n<h2>{text(visible(file.spec))}</h2>\n'
        f'<p class="faint">{text(told)}</p>\n{_costs(costs)}{claims}</section>\n'
    )


def _costs(costs: Matrix | None) -> str:
    """What each access costs in each case of the constants; cells with conflicts have a cross."""
    if costs is None:
        return ""
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in costs.accesses)
    rows = "".join(
        f'<tr><th scope="row">{text(label)}</th>{"".join(map(_cost, cells, conflicts))}</tr>\n'
        for (label, cells), conflicts in zip(costs.rows, costs.conflicts, strict=True)
    )
    marks = "; \u2717 has bank conflicts" if any(map(any, costs.conflicts)) else ""
    return (
        '<div class="scroll" role="group" aria-label="costs by case" tabindex="0"><table class="costs">'
        f'<caption>Costs by case: {TITLE}{marks}</caption>\n<thead><tr><th scope="col">case</th>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _cost(cell: str, conflicts: bool) -> str:
    return f'<td class="x">\u2717 {text(cell)}</td>' if conflicts else f"<td>{text(cell)}</td>"


def _rules(results: Iterable[ClaimResult], rules: Sequence[Rule]) -> str:
    kinds = {result.kind for result in results}
    lines = "".join(
        f"<dt><code>{text(rule.name)}</code></dt><dd>{text(rule.meaning)}</dd>" for rule in rules if rule.name in kinds
    )
    return f'<footer>\n<h2>What the claims mean</h2>\n<dl class="rules">{lines}</dl>\n</footer>\n' if lines else ""
