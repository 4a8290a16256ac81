"""Every benchmark runs, at a tiny size; how fast is nobody's business here."""

import re

import pytest

from benchmarks import library, sweeping
from benchmarks.__main__ import BENCHMARKS, facts, main, table
from benchmarks.measure import TINY, Row, interleaved, slowdown, speedup
from benchmarks.tensor_layouts_banks import addresses, cases, costs, differences
from swzverify.hardware import access_cost
from swzverify.layout import Layout

PROCESSES = ("library", "scan", "sweep", "explore")
"""Benchmarks that time whole commands: tests of these commands are in the ordinary run."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.nightly] * (n in PROCESSES)) for n in BENCHMARKS])
def test_each_benchmark_measures_something(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "COPIES", 2)
    monkeypatch.setattr(sweeping, "_SPEC", sweeping._SPEC.replace("stop: 8", "stop: 2"))
    rows = BENCHMARKS[name](TINY)
    assert rows
    assert all(row.what for row in rows)
    assert all(row.value >= 0 for row in rows)
    if name == "tensor_layouts":
        assert rows[-1].value == 0, rows[-1].what
    assert len(table(rows).splitlines()) == len(rows) + 2


def test_the_command_prints_one_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.QUICK", TINY)
    assert main(["--quick", "--only", "nested"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == facts(TINY)
    assert re.match(r"\| what +\| ours +\| theirs +\| ratio +\| target +\| met +\|", lines[2])


def test_what_cannot_be_measured_is_a_line_not_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> list[Row]:
        raise RuntimeError("nothing here")

    monkeypatch.setattr("benchmarks.__main__.BENCHMARKS", {"nested": broken})
    assert main(["--only", "nested"]) == 0
    assert "nested: not measured: nothing here" in capsys.readouterr().out


def test_samples_are_taken_in_turns() -> None:
    calls: list[str] = []
    interleaved([lambda: calls.append("a"), lambda: calls.append("b")], 3)
    text = re.sub(r"(.)\1+", r"\1", "".join(calls))
    assert text == "abababab"


def test_a_row_is_met_on_its_own_side_of_the_target() -> None:
    assert [Row("", "", "", value, "", 5).met for value in (4, 5)] == ["no", "yes"]
    assert [Row("", "", "", value, "", 5, at_most=True).met for value in (5, 6)] == ["yes", "no"]
    assert speedup("", int, int, 1).met == ""
    assert slowdown("", int, int, 1, 1e9).met == "yes"


def test_the_costs_that_are_timed_are_the_plain_rule_s() -> None:
    chosen = cases(60)
    layouts = [(Layout((case.shape, 1), (case.stride, 0)), case.element_bytes) for case in chosen]
    wavefronts, minimum = costs(layouts)
    names = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}
    for row, (line, (_, size)) in enumerate(zip(addresses(layouts), layouts, strict=True)):
        cost = access_cost(names[size], [int(address) for address in line])
        assert (cost.wavefronts, cost.minimum) == (wavefronts[row], minimum[row])


def test_a_difference_that_nothing_explains_is_counted() -> None:
    column = [(Layout(((32,), 1), ((32,), 0)), 4)]
    assert differences(column, [32]) == {}
    assert differences(column, [31]) == {"unexplained": 1}
