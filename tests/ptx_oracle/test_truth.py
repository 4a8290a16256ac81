"""The oracle against another PTX interpreter and an H200's counters: 55 kernels, 154 launches.

The environment variable SWZVERIFY_PTX_TRUTH names a folder with launches.json, truth.json and ptx/.
What may differ:

- addresses or masks from random data, as contents of buffers are not known (class data-dependent);
- how often lanes ask for a lock, which depends on who comes first;
- 16-byte cp.async.cg, for which that truth has an upper bound: the bound is reckoned here from the
  oracle's addresses, and the oracle's own count is compared with the counters.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import Access, Buffer, Record, Result, cost, launch, summarize
from .buffers import Argument

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "truth.json").exists()
pytestmark = pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")


def kernels() -> list[str]:
    """The mangled names of all kernels."""
    return [] if MISSING else [entry["mangled"] for entry in json.loads((FOLDER / "launches.json").read_text())]


@cache
def launches() -> dict[str, Any]:
    """What each kernel is launched with."""
    return {entry["mangled"]: entry for entry in json.loads((FOLDER / "launches.json").read_text())}


@cache
def truth() -> dict[str, Any]:
    """What is known of each kernel."""
    found = json.loads((FOLDER / "truth.json").read_text())
    return {entry["mangled"]: entry for entry in found["kernels"]}


def argument(kind: str, value: Any, name: str, changed: dict[str, Any]) -> Argument:
    """An argument of launches.json, with what a launch changes."""
    if kind == "p":
        return Buffer(*value)
    if kind == "s":
        parts = [(part[0], part[1], changed.get(f"{name}.{part[0]}", part[2])) for part in value]
        return Record.of(*((f"u{64}" if k == "p" else k.replace("i", "s"), argument(k, v, n, {})) for n, k, v in parts))
    return changed.get(name, value)


@cache
def results(mangled: str) -> dict[str, Result]:
    """All launches of a kernel, by their names."""
    kernel = launches()[mangled]
    text = (FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text()
    found = {}
    for one in kernel["launches"]:
        given = [argument(a["type"], a["value"], a["name"], one["set"]) for a in kernel["args"]]
        found[one["id"]] = launch(text, mangled, one["grid"], one["block"], one["smem"], given, one["seed"])
    return found


def octet_bound(access: Access) -> tuple[int, int]:
    """The most units of an octet, and of an execution, by the upper bound for cp.async.cg."""
    most, whole = 0, 0
    for mask, base, rest in access.patterns:
        at = (np.frombuffer(rest, np.uint32).astype(np.int64) + base).tolist()
        units: dict[int, set[Any]] = defaultdict(set)
        for lane in (lane for lane in range(32) if mask >> lane & 1):
            key = (at[lane] // 128, at[lane] // 16 % 8 ^ lane % 8)
            mate = lane ^ 1
            paired = mask >> mate & 1 and (at[mate] // 128, at[mate] // 16 % 8 ^ mate % 8) == key
            units[lane // 8].add(key if paired else (*key, lane % 2))
        most = max(most, *(len(keys) for keys in units.values()))
        whole = max(whole, sum(len(keys) for keys in units.values()))
    return most, whole


def told(mangled: str) -> dict[int, dict[str, Any]]:
    """What truth.json says of each line of a kernel."""
    return {access["ptx_line"]: access for access in truth()[mangled]["accesses"]}


@pytest.mark.parametrize("mangled", kernels())
def test_every_launch_runs_without_warnings(mangled: str) -> None:
    for name, result in results(mangled).items():
        assert (name, result.error, result.warnings, result.unknown) == (name, "", [], [])


@pytest.mark.parametrize("mangled", kernels())
def test_the_same_lines_are_accesses_and_the_same_are_executed(mangled: str) -> None:
    for name, result in results(mangled).items():
        executed = {line: access.executed for line, access in result.by_line().items()}
        assert executed == {line: name in access.get("degree_by_launch", {}) for line, access in told(mangled).items()}


@pytest.mark.parametrize("mangled", kernels())
def test_ways_of_every_launch(mangled: str) -> None:
    for name, result in results(mangled).items():
        for line, access in result.by_line().items():
            known = told(mangled)[line]
            if access.executed and known["class"] != "data-dependent":
                ways = octet_bound(access)[0] if access.kind == "cp.async.cg" else access.ways
                assert (name, line, ways) == (name, line, known["degree_by_launch"][name])


@pytest.mark.parametrize("mangled", kernels())
def test_worst_execution_of_all_launches(mangled: str) -> None:
    worst: dict[int, tuple[int, int]] = {}
    for result in results(mangled).values():
        for line, access in result.by_line().items():
            if access.executed:
                most = octet_bound(access)[1] if access.kind == "cp.async.cg" else access.worst_wavefronts
                worst[line] = max(worst.get(line, (0, 0)), (most, access.minimum))
    known = {k: a for k, a in told(mangled).items() if a["executed"] and a["class"] != "data-dependent"}
    assert {line: worst[line] for line in known} == {
        line: (access["worst_wavefronts"], access["minimum"]) for line, access in known.items()
    }


@pytest.mark.parametrize("mangled", kernels())
def test_counts_of_the_first_launch(mangled: str) -> None:
    result = results(mangled)["base"]
    for line, access in result.by_line().items():
        known = told(mangled)[line]
        base = known.get("base")
        if base is None or known["class"] == "data-dependent" or access.kind == "cp.async.cg" or ".cas" in access.text:
            continue
        mine = (access.executions, access.wavefronts, access.groups, access.worst_wavefronts, access.ways)
        assert (line, *mine) == (line, *(base[k] for k in ("executions", "wavefronts", "groups", "worst", "degree")))


@pytest.mark.parametrize("mangled", kernels())
def test_wavefronts_that_the_chip_counted(mangled: str) -> None:
    result = results(mangled)["base"].by_line()
    for line, known in told(mangled).items():
        chip = known.get("hardware", {})
        same = chip.get("relation") == "exact" or (
            chip.get("relation") == "same instruction, other wavefronts" and known["kind"] == "cp.async.cg16"
        )
        if same and len(chip["sass"]) == 1 and known["class"] != "data-dependent":
            assert (line, result[line].wavefronts) == (line, chip["sass"][0]["wavefronts"])


VERDICTS = {
    "free": {"free"},
    "conflict": {"conflict", "varies"},
    "depends-on-params": {"varies"},
    "not-executed": {"unreached"},
}
"""The verdicts that each class of truth.json allows; a conflict there is one of the base launch."""


@pytest.mark.parametrize("mangled", kernels())
def test_verdicts_of_all_launches(mangled: str) -> None:
    lines = summarize(results(mangled)).lines
    wrong = {
        line: (known["class"], lines[line].verdict)
        for line, known in told(mangled).items()
        if known["class"] != "data-dependent" and lines[line].verdict not in VERDICTS[known["class"]]
    }
    assert wrong == {}


def witness_mask(known: dict[str, Any]) -> int:
    """The lanes of a witness whose addresses count; of ldmatrix.xN those are the first 8N."""
    mask = int(known["witness"]["mask"], 16)
    return mask & ((1 << 8 * known["minimum"]) - 1) if known["kind"] == "ldmatrix" else mask


@pytest.mark.parametrize("mangled", kernels())
def test_witnesses_cost_what_they_are_said_to(mangled: str) -> None:
    for known in truth()[mangled]["accesses"]:
        witness = known.get("witness")
        if witness is None or known["kind"] == "cp.async.cg16":
            continue
        mask = witness_mask(known)
        lanes = {lane: at for lane, at in enumerate(witness["addr"]) if mask >> lane & 1}
        found = cost(known["kind"].split("16")[0], known["bytes_per_lane"], lanes)
        assert (known["ptx_line"], found.wavefronts, found.ways) == (
            known["ptx_line"],
            known["worst_wavefronts"],
            known["degree"],
        )


@pytest.mark.parametrize("mangled", kernels())
def test_the_witness_is_met_again(mangled: str) -> None:
    """The other interpreter's worst execution is one of the oracle's, where data plays no part."""
    for known in truth()[mangled]["accesses"]:
        witness = known.get("witness")
        if witness is None or "data" in known["address_depends_on"]:
            continue
        access = results(mangled)[known["worst_launch"]].by_line()[known["ptx_line"]]
        mask = witness_mask(known)
        lanes = [at if mask >> lane & 1 else 0 for lane, at in enumerate(witness["addr"])]
        assert any(
            (mask, lanes) == (seen, [base + at if seen >> lane & 1 else 0 for lane, at in enumerate(offsets(rest))])
            for seen, base, rest in access.patterns
        ), (known["ptx_line"], witness)


def offsets(rest: bytes) -> list[int]:
    """The addresses of a pattern, less its base."""
    return np.frombuffer(rest, np.uint32).tolist()
