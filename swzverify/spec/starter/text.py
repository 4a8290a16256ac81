"""Writes a starter spec: every line with a comment that says what it is for."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.spec.starter.plan import Plan, PlannedAccess, PlannedClaim

_WIDTH = 118
_COMMENT_COLUMN = 42


@dataclass(frozen=True, slots=True)
class Expectation:
    """How a claim came out when it was proved, where that is not `proved`, and why."""

    outcome: str
    because: str


def starter_text(plan: Plan, expectations: Mapping[int, Expectation] | None = None) -> str:
    """The spec's text; `expectations` are those of claims that are not `proved`, by index.

    >>> from swzverify.spec.starter import StarterOptions, make_plan
    >>> print(starter_text(make_plan(StarterOptions(pad=8))).split("accesses:")[0].split("tiles:")[1].rstrip())
    <BLANKLINE>
      A:
        element: f16                          # 16 bits each
        layout: {shape: [64, 64], order: row, pad: 8}  # 64 rows of 64, a row 72 elements (144 bytes) after the other
        base: {align: 1024}                   # at every address that is a multiple of 1024
    """
    found = expectations or {}
    lines = [*_head(plan, found), "", "tiles:", *_tile(plan), "", "accesses:"]
    for access in plan.accesses:
        lines += _access(access)
    lines += ["", "claims:"]
    for index, claim in enumerate(plan.claims):
        lines += _claim(claim, found.get(index))
    return "\n".join(lines) + "\n"


def _head(plan: Plan, found: Mapping[int, Expectation]) -> list[str]:
    options = plan.options
    what = f"{options.rows} x {options.columns} {options.element}, {_arrangement(plan)}, and {plan.instruction}"
    outcome = "every claim below is proved" if not found else "some claims below are not proved, and say why"
    return [
        f"# A starter spec, written by `swzverify init`: {outcome}. Change it, and see by",
        "#   swzverify prove FILE",
        "# Editors complete and explain the keys by the schema that `swzverify schema` prints.",
        _line("swzverify: 1", "the version of this form"),
        f"title: {json.dumps(what)}",
        _line(f"target: {options.target}", "the GPU: which instructions it has, and how much shared memory"),
    ]


def _arrangement(plan: Plan) -> str:
    if plan.options.pad:
        return f"rows padded by {plan.options.pad}"
    return f"under {plan.swizzle}" if plan.swizzle is not None else "without a swizzle"


def _tile(plan: Plan) -> list[str]:
    options = plan.options
    rows, columns = options.rows, options.columns
    pitch = columns + options.pad
    size = f"{pitch * plan.element_bits // 8} bytes" if pitch * plan.element_bits % 8 == 0 else "not whole bytes"
    layout = f"({rows},{columns}):({columns},1)"
    if options.pad:
        layout = f"{{shape: [{rows}, {columns}], order: row, pad: {options.pad}}}"
    lines = [
        "  A:",
        _line(f"    element: {options.element}", f"{plan.element_bits} bits each"),
        _line(f"    layout: {layout}", f"{rows} rows of {columns}, a row {pitch} elements ({size}) after the other"),
    ]
    if plan.swizzle is not None:
        lines.append(_line(f"    swizzle: {plan.swizzle}", f"of element offsets, {plan.swizzle_why}"))
    elif plan.swizzle_why:
        lines.append(f"    # {plan.swizzle_why}")
    lines.append(_line("    base: {align: 1024}", "at every address that is a multiple of 1024"))
    if options.stages > 1:
        lines.append(_line(f"    stages: {options.stages}", "copies, one behind the other"))
    return lines


def _access(access: PlannedAccess) -> list[str]:
    lanes = access.lanes
    warps = "a warp" if access.threads == 32 else f"{access.threads // 32} warps"
    lines = [
        f"  {access.name}:",
        _line("    tile: A", access.purpose),
        _line(f"    instruction: {access.instruction}", "by its PTX name"),
        _line(f"    threads: {access.threads}", f"of the block: {warps}"),
    ]
    if lanes.loops:
        lines.append(_line("    for:", "every iteration is proved"))
        lines += [_line(f"      {name}: {_loop(bounds)}", _values(name, bounds)) for name, bounds in lanes.loops]
    lines.append(_line(f"    coord: [{lanes.row}, {lanes.column}]", "row and column of each lane, as C integers"))
    if lanes.predicate:
        lines.append(_line(f"    if: {lanes.predicate}", "the other lanes stay away"))
    return lines


def _loop(bounds: tuple[int, int, int]) -> str:
    start, stop, step = bounds
    return str(stop) if (start, step) == (0, 1) else f"{{start: {start}, stop: {stop}, step: {step}}}"


def _values(name: str, bounds: tuple[int, int, int]) -> str:
    values = range(*bounds)
    shown = ", ".join(map(str, values[:3]))
    if len(values) > 4:
        return f"{name} = {shown}, ... {values[-1]}"
    return f"{name} = {', '.join(map(str, values))}"


def _claim(claim: PlannedClaim, expectation: Expectation | None) -> list[str]:
    lines = [_line(f"  - {claim.kind}: {claim.argument}", claim.meaning)]
    if expectation is not None:
        is_refuted = expectation.outcome == "refuted"
        why = "it does not hold, and that is known" if is_refuted else "it is undecided"
        lines += [_line(f"    expect: {expectation.outcome}", why), "    because: >-"]
        lines += textwrap.wrap(
            expectation.because, _WIDTH, initial_indent="      ", subsequent_indent="      ", break_on_hyphens=False
        )
    return lines


def _line(text: str, comment: str) -> str:
    """A line and its comment beside it, or above it where both are too long for one."""
    beside = f"{text:<{_COMMENT_COLUMN - 2}}  # {comment}"
    if len(beside) <= _WIDTH:
        return beside
    indent = " " * (len(text) - len(text.lstrip()))
    return f"{indent}# {comment}\n{text}"
