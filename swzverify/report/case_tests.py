"""Counterexamples as a pytest module: each test evaluates one refuted claim's case in integers.

A test fails while its case is wrong, and passes once the spec is mended. Names, paths and values
come from a spec: in code they stand as literals of ASCII, in comments without any character that
could end the line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from swzverify.claims import Claim, Counterexample
from swzverify.report.case_code import CaseCode, case_code, literal
from swzverify.report.escape import prose, visible
from swzverify.report.result import ClaimResult
from swzverify.report.table import ROW_LIMIT, cells, cut_rows, header, remainder
from swzverify.report.words import binding

MARK = "# Written by `swzverify prove --write-test`, which may replace this file."
"""The first line of a file that may be replaced."""
_DOCSTRING = (
    '"""Counterexamples of swzverify: a test fails while its case is wrong, and passes once the spec is mended."""'
)
_WIDTH = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class RefutedClaim:
    """A refuted claim: result, claim, its name in the file, and the file seen from the test."""

    result: ClaimResult
    claim: Claim
    name: str
    file: str


def render_case_tests(refuted: Sequence[RefutedClaim], target: str | None = None) -> str:
    """The module; `target` is the one that the claims were proved for in place of their specs' own."""
    helpers = {"claim_of"}
    kinds: set[str] = set()
    taken: set[str] = set()
    tests: list[str] = []
    for each in refuted:
        body = case_code(each.claim, _case(each))
        helpers.update(body.helpers)
        kinds.add(type(each.claim).__name__)
        tests.append(_test(each, body, _function_name(each.name, taken), target))
    head = [MARK, _DOCSTRING, "", "from pathlib import Path", ""]
    if any("access_cost(" in test for test in tests):
        head.append("from swzverify import access_cost")
    head.append(_import("swzverify.claims", kinds))
    head.append(_import("swzverify.testing.cases", helpers))
    head += ["", "HERE = Path(__file__).resolve().parent"]
    return "\n".join([*head, "", "", "\n\n".join(tests)])


def _import(module: str, names: set[str]) -> str:
    listed = sorted(names)
    line = f"from {module} import {', '.join(listed)}"
    return (
        line
        if len(line) <= _WIDTH - 12
        else "\n".join([f"from {module} import (", *(f"    {n}," for n in listed), ")"])
    )


def _function_name(name: str, taken: set[str]) -> str:
    """A name for a test, which no other test of the file has.

    >>> _function_name("A[BM=64]::bijective", set()), _function_name("a b", {"test_a_b"})
    ('test_A_BM_64_bijective', 'test_a_b_2')
    """
    base = "test_" + _UNSAFE.sub("_", name).strip("_")[:80]
    found, count = base, 1
    while found in taken:
        count += 1
        found = f"{base}_{count}"
    taken.add(found)
    return found


def _test(each: RefutedClaim, body: CaseCode, name: str, target: str | None) -> str:
    kind = type(each.claim).__name__
    on = "" if target is None else f", target={literal(target)}"
    find = f"    claim = claim_of({kind}, HERE / {literal(each.file)}, {literal(each.name)}{on})"
    comments = [f"    # {line}".rstrip() for line in _story(each)]
    return "\n".join([f"def {name}() -> None:", *comments, find, *(f"    {line}" for line in body.lines), ""])


def _story(each: RefutedClaim) -> list[str]:
    """The claim, its place, the case and its table; no line has a character that ends it."""
    result, counterexample = each.result, _case(each)
    lines = [
        f"claim  {visible(result.id)}",
        f"at     {visible(each.file)}:{result.line}",
        *_folded(f"found  {prose(counterexample.note)}"),
    ]
    if counterexample.binding:
        lines += _folded(f"where  {binding(counterexample.binding)}")
    if counterexample.rows:
        lines += ["", *_table(counterexample)]
    return lines


def _folded(text: str) -> list[str]:
    return wrap(text, _WIDTH, subsequent_indent=" " * 7, break_on_hyphens=False)


def _table(counterexample: Counterexample) -> list[str]:
    """The table as the report has it, in plain text."""
    shown = cut_rows(counterexample.rows, ROW_LIMIT).shown
    rows = [["", *header(counterexample.columns)]]
    rows += [[row.mark, *cells(counterexample.columns, row)] for row in shown]
    texts = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in texts]
    more = remainder(counterexample, ROW_LIMIT)
    return [*lines, *([f"... {more}"] if more else [])]


def _case(each: RefutedClaim) -> Counterexample:
    found = each.result.verdict.counterexample
    return Counterexample({}, each.result.verdict.reason) if found is None else found
