"""A judgement on certificates as JSON, schema "swzverify.recheck/1"."""

from __future__ import annotations

from collections.abc import Sequence

from swzrecheck.recheck import Limits, Rechecked, Status
from swzrecheck.solvers import version
from swzverify.report.plain import Json, json_text, members

SCHEMA = "swzverify.recheck/1"


def render_recheck_json(outcomes: Sequence[Rechecked], limits: Limits, spent_s: float) -> str:
    """Every certificate with what came of it, as JSON text with a line feed at its end.

    >>> '"rechecked": 1' in render_recheck_json([Rechecked("a", Status.RECHECKED)], Limits((), 1, 256, False), 0.5)
    True
    """
    counts: dict[str, Json] = {_name(each): sum(found.status is each for found in outcomes) for each in Status}
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "summary": counts,
        "solvers": [version(name) for name in limits.solvers],
        "certificates": [
            {
                "id": each.id,
                "status": _name(each.status),
                **members(each, "why", "formulas", "witnesses", "proofs", "once", "folded"),
            }
            for each in outcomes
        ],
        "wall_ms": round(1000 * spent_s, 3),
    }
    return json_text(document)


def _name(status: Status) -> str:
    return str(status).replace(" ", "_")
