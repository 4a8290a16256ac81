"""What commands beside `prove` make of an access to global memory: they refuse it with the reason, or
leave it out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.inner_pytest import run_inner

Run = Callable[..., Result]

SPEC = """\
swzverify: 1
target: sm_90
constants: {LD: 64}
tiles:
  A: {element: f16, layout: "(8,LD):(LD,1)"}
accesses:
  read: {tile: A, instruction: ldmatrix.x4, threads: 32, coord: [lane%8, lane/8*8]}
  store: {instruction: st.global.v4.f32, threads: 64, base: {align: 16}, address: tid*16}
  data: {instruction: ld.global.f32, threads: 64, lanes: {b: 4}, base: {align: 256}, address: b*4}
sweep:
  over: {LD: [64, 72]}
claims:
  - conflict_free: read
  - coalesced: store
  - coalesced: {access: store, at_most: 16}
  - coalesced: {access: data, at_most: 1}
"""


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.swz.yaml").write_text(SPEC)


@pytest.mark.parametrize(
    "command",
    [
        ("show", "k.swz.yaml", "--access", "store"),
        ("show", "k.swz.yaml", "--access", "data", "--view", "ownership"),
        ("explain", "k.swz.yaml", "--access", "store"),
        ("explain", "k.swz.yaml", "--claim", "store::coalesced"),
    ],
)
def test_what_speaks_of_banks_refuses_it(swzverify: Run, command: tuple[str, ...]) -> None:
    result = swzverify(*command)
    assert result.exit_code == 2
    assert "SWZ409" in result.stderr
    assert "goes to global memory, which has no banks" in result.stderr


def test_a_sweep_leaves_it_out(swzverify: Run) -> None:
    result = swzverify("sweep", "k.swz.yaml", "--output", "found", "--format", "json")
    assert result.exit_code == 0, result.stderr
    with (Path("found") / "cases.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["conflicts", "free"]
    assert [row["read_wavefronts"] for row in rows] == ["32", "4"]
    assert {row[f"{name}_wavefronts"] for row in rows for name in ("store", "data")} == {""}


def test_synth_and_cures_leave_it_out(swzverify: Run) -> None:
    assert 'swizzle: "Swizzle<3,3,3>"' in swzverify("synth", "k.swz.yaml").output
    told = json.loads(swzverify("prove", "k.swz.yaml", "--format", "json").stdout)["claims"]
    assert [bool(claim["cures"]) for claim in told] == [True, False, False, False]


def test_reports_tell_the_most_sectors(swzverify: Run) -> None:
    told = json.loads(swzverify("prove", "k.swz.yaml", "--format", "json").stdout)["claims"]
    assert [claim["verdict"] for claim in told] == ["refuted", "refuted", "refuted", "proved"]
    assert told[1]["measure"] is told[0]["sectors"] is None
    assert told[1]["sectors"] == {"sectors": 17, "minimum": 16, "where": {"warp": 0, "base": 16}, "exact": True}
    for form in ("text", "markdown", "html"):
        output = swzverify("prove", "k.swz.yaml", "--format", form).output.replace("\\", "")
        assert "1 sector (minimum 4)" in output
        assert "17 sectors" in output


def test_a_known_failure_may_not_touch_more(swzverify: Run) -> None:
    swzverify("prove", "k.swz.yaml", "--write-baseline", "known.json")
    known = json.loads(Path("known.json").read_text())
    assert [each.get("sectors") for each in known["known_failures"]] == [None, 17, 17]
    assert swzverify("prove", "k.swz.yaml", "--baseline", "known.json").exit_code == 0
    for each in known["known_failures"]:
        if "sectors" in each:
            each["sectors"] = 16
    Path("known.json").write_text(json.dumps(known))
    assert swzverify("prove", "k.swz.yaml", "--baseline", "known.json").exit_code == 1


def test_its_counterexample_becomes_a_test_that_fails(swzverify: Run) -> None:
    swzverify("prove", "k.swz.yaml", "--write-test", "test_k.py")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "test_k.py"]
    _, shown = run_inner(options)
    assert "3 failed" in shown
    assert "A bound of the sectors of global memory." in shown
    Path("k.swz.yaml").write_text(SPEC.replace("base: {align: 16}", "base: {align: 32}"))
    _, shown = run_inner([*options, "-k", "store"])
    assert "2 skipped" in shown  # the array begins nowhere where the case was
