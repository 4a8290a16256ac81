"""What counters say of a scan: counts, remarks, and an issue to send for each contradiction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from swzverify.compiled.scan import ScannedAccess
from swzverify.compiled.scan.measured import Measured, Status
from swzverify.report.escape import markdown_code, markdown_text, shortened, visible
from swzverify.report.scan import ScannedFile, shape_words
from swzverify.report.scan_chip import chip_words
from swzverify.report.scan_counts import row_words

MOST_ISSUES: Final = 20
_MOST_ROWS: Final = 1000
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class Check:
    """The origin of counters and remarks on them.

    `sources` are the files, `notes` say what was not compared, and `again` is the command that repeats
    the check. `devices` and `versions` are set if they are known; `launches` has those of each kernel.
    """

    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    again: str = ""
    devices: tuple[str, ...] = ()
    launches: Mapping[str, int] = field(default_factory=dict[str, int])
    versions: str = ""


def check_text(files: Sequence[ScannedFile], check: Check) -> str:
    """The lines below the summary: how many accesses have each status, remarks, and the issues."""
    lines = [f"counters: {_counts_words(files)}", *(f"counters: {visible(each)}" for each in check.notes)]
    issues = list(_issues(files, check))
    for each in issues[:MOST_ISSUES]:
        lines += ["", *each.rstrip("\n").split("\n")]
    if len(issues) > MOST_ISSUES:
        lines += ["", f"{len(issues) - MOST_ISSUES} more contradictions are in the JSON report"]
    return "\n".join(lines) + "\n"


def check_record(files: Sequence[ScannedFile], check: Check) -> dict[str, Any]:
    """The key `check` of the JSON document."""
    return {
        "sources": list(check.sources),
        "notes": list(check.notes),
        "devices": list(check.devices),
        "launches": dict(check.launches),
        **_counts(files),
        "issues": list(_issues(files, check)),
    }


def check_markdown(files: Sequence[ScannedFile], check: Check) -> str:
    """A section for a job summary: a row for each access, and the issues."""
    lines = ["", "### Counters", "", markdown_text(_counts_words(files)), ""]
    lines += [f"- {markdown_text(_short(each))}" for each in check.notes]
    lines += ["", "| kernel | line | status | counted |", "|---|---|---|---|"]
    rows: list[str] = []
    for _, access, found in _held(files):
        status = _short(f"{found.status}: {found.reason}" if found.reason else str(found.status))
        counted = "; ".join(markdown_code(_short(row_words(each))) for each in found.rows[:4])
        kernel = markdown_code(_short(access.kernel))
        rows.append(f"| {kernel} | {access.line} | {markdown_text(status)} | {counted} |")
    lines += rows[:_MOST_ROWS]
    if len(rows) > _MOST_ROWS:
        lines += ["", f"{len(rows) - _MOST_ROWS} more accesses are in the JSON report"]
    for each in list(_issues(files, check))[:MOST_ISSUES]:
        lines += ["", each.rstrip("\n")]
    return "\n".join(lines) + "\n"


def _held(files: Sequence[ScannedFile]) -> Iterator[tuple[ScannedFile, ScannedAccess, Measured]]:
    for file in files:
        for access, found in zip(file.accesses, file.measured, strict=False):
            yield file, access, found


def _counts(files: Sequence[ScannedFile]) -> dict[str, int]:
    seen = Counter(found.status for _, _, found in _held(files))
    return {each.value.replace(" ", "_"): seen[each] for each in Status}


def _counts_words(files: Sequence[ScannedFile]) -> str:
    words = {"agrees": "agree", "disagrees": "disagree"}
    return ", ".join(f"{count} {words.get(name, name.replace('_', ' '))}" for name, count in _counts(files).items())


def _short(text: str) -> str:
    return shortened(text, _LONGEST)


def _issues(files: Sequence[ScannedFile], check: Check) -> Iterator[str]:
    for file, access, found in _held(files):
        if found.status is Status.DISAGREES:
            yield _issue(file, access, found, check)


def _issue(file: ScannedFile, access: ScannedAccess, found: Measured, check: Check) -> str:
    """Everything that a maintainer needs, as Markdown; the kernel itself is to be added."""
    assert access.chip is not None  # noqa: S101 - without machine code nothing is counted
    facts = [
        ("file", file.name + (f" ({file.origin})" if file.origin else "")),
        ("kernel", access.kernel),
        ("PTX", f"line {access.line}: {access.instruction}"),
        ("address", access.address),
        ("block", shape_words(access)),
        ("given", "; ".join(access.assumptions)),
        ("verdict", f"{chip_words(access.chip)} (by {', '.join(access.chip.decision.engines) or 'no engine'})"),
        *(("counted", row_words(each)) for each in found.rows),
        ("contradiction", found.reason),
        ("machine code", file.machine),
        ("GPU", ", ".join(check.devices)),
        ("counters from", ", ".join(check.sources)),
        ("launches", str(check.launches.get(access.kernel, ""))),
        ("again", check.again),
        ("versions", check.versions),
    ]
    name = markdown_code(_short(access.kernel))
    lines = [f"### scan: line {access.line} of {name} and the counters disagree", ""]
    lines += [f"- {label}: {markdown_code(_short(text))}" for label, text in facts if text]
    lines += ["", "Please add the PTX, or the source that it is compiled from, and the file of the counters."]
    return "\n".join(lines) + "\n"
