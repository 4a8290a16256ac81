"""The figures of a corpus: how much is decided, how long it takes, and what was wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

WRONG = ("wrong free", "wrong ways")


def report(found: Sequence[dict[str, Any]]) -> tuple[str, bool]:
    """The figures as text, and whether nothing crashed and no verdict was wrong."""
    real = [each for each in found if each["origin"] != "other"]
    crashes = [each for each in found if each["crash"]]
    lines = [
        f"kernels: {len({(each['file'], each['kernel']) for each in found})} of "
        f"{len({each['file'] for each in found})} files; {len(found)} scans ({len(real)} at shapes of the manifest)",
        f"crashes: {len(crashes)}",
    ]
    accesses = [access for each in found for access in each["accesses"]]
    kinds = Counter(access["kind"] for access in accesses)
    visible = [access for access in accesses if access["kind"] == "visible"]
    verdicts = Counter(access["verdict"] for access in visible)
    decided = len(visible) - verdicts["unknown"]
    share = 100 * decided / max(1, len(visible))
    lines += [
        f"accesses: {len(accesses)}: {kinds['visible']} visible, {kinds['hidden']} not judged, "
        f"{kinds['never']} that no lane makes",
        f"decided: {decided} of {len(visible)} visible ({share:.2f} %): "
        + ", ".join(f"{verdicts[each]} {each}" for each in ("free", "conflict", "depends", "unknown")),
    ]
    seconds = sorted(each["seconds"] for each in found if not each["crash"])
    per = sorted(1000 * each["seconds"] / len(each["accesses"]) for each in found if each["accesses"])
    if seconds and per:
        lines.append(
            f"time of a scan: median {1000 * median(seconds):.0f} ms, longest {seconds[-1]:.1f} s; an access: "
            f"median {median(per):.1f} ms, longest {per[-1]:.0f} ms; memory: "
            f"at most {max(each['megabytes'] for each in found):.0f} MB"
        )
    lines += ["", "reasons of unknown, visible:", *_reasons(visible), "", "not judged:"]
    lines += _reasons([access for access in accesses if access["kind"] == "hidden"])
    lines += ["", "against the interpreter:"]
    table = Counter((access["verdict"], access["outcome"]) for access in visible)
    lines += [f"  {count:6} {verdict}: {outcome}" for (verdict, outcome), count in sorted(table.items())]
    missing = sum(len(each["missing"]) for each in found)
    lines.append(f"  {missing:6} accesses that ran and are not listed")
    wrong = [(each, access) for each in found for access in each["accesses"] if access["outcome"] in WRONG]
    lines += ["", *(_named(each, access) for each, access in wrong)]
    lines += [f"crash: {each['file']} {each['kernel']}: {each['crash']}" for each in crashes]
    return "\n".join(lines).rstrip(), not wrong and not crashes and not missing


def _named(each: dict[str, Any], access: dict[str, Any]) -> str:
    block = "x".join(map(str, each["block"]))
    return (
        f"{access['outcome']}: {each['file']} {each['kernel']} block {block} line {access['line']}: "
        f"{access['instruction']}: {access['verdict']} {access['ways']}, seen {access['seen_ways']}"
    )


def _reasons(accesses: Sequence[dict[str, Any]]) -> list[str]:
    """Reasons of `unknown` with their numbers, the names in them left out."""
    found = Counter(short(access["reason"]) for access in accesses if access["verdict"] == "unknown")
    return [f"  {count:6} {reason}" for reason, count in found.most_common()]


def short(reason: str) -> str:
    """A reason without what names one kernel.

    >>> short("the address depends on values of each lane: load@12 (a load from memory)")
    'the address depends on values of each lane: (a load from memory)'
    """
    if reason.startswith("the address depends on values of each lane"):
        kinds = sorted(set(re.findall(r"\(([^()]*)\)", reason)))
        return f"the address depends on values of each lane: ({'; '.join(kinds)})"
    reason = re.sub(r"line \d+", "line N", reason)
    reason = re.sub(r"for some values of .*; whether", "for some values of ...; whether", reason)
    reason = re.sub(r"it depends on .*; no", "it depends on ...; no", reason)
    reason = re.sub(r"not judged: .*", "not judged", reason)
    return reason[:160]
