"""A sweep from end to end: the folder, going on after a stop or a kill, and refusals."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swzverify.apps.commands import sweep as run
from swzverify.apps.commands.sweep import Progress, SweepResult, run_sweep
from swzverify.apps.options.sweep import SweepOptions
from swzverify.errors import SwzError
from swzverify.spec import SpecError
from swzverify.spec.sweep.arrow import column_names, read_row
from swzverify.spec.sweep.bench import Bench, Question
from swzverify.spec.sweep.chunk import chunk_cases, chunks_of
from tests.sweep.conftest import TEXT

FEWER = TEXT.replace("P: [0, 8]", "P: [8]")
CASES = 2 * 2 * 2 * 4 * 2 - 2 * 4 * 2  # i8 with 32 columns is left out


def sweep(spec: Path, out: Path, **options: object) -> SweepResult:
    wanted = SweepOptions(str(spec), str(out), jobs=1)
    for name, value in options.items():
        object.__setattr__(wanted, name, value)
    return run_sweep(wanted, lambda _: None)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "cases.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of one group, so that there are several."""
    monkeypatch.setattr(run, "chunk_cases", lambda bench: bench.cases.group)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a sweep that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    spec = folder / "a.swz.yaml"
    spec.write_text(TEXT, encoding="utf-8")
    sweep(spec, folder / "out")
    return (folder / "out" / "cases.csv").read_bytes()


def test_every_case_is_in_both_tables_once(spec: Path, tmp_path: Path) -> None:
    result = sweep(spec, tmp_path / "out")
    rows = table(tmp_path / "out")
    assert len(rows) == result.summary.cases == CASES
    assert [int(row["case"]) for row in rows] == sorted({int(row["case"]) for row in rows})
    assert {row["swzverify"] for row in rows}
    assert len({row["spec_sha256"] for row in rows}) == 1
    parquet = [read_row(tmp_path / "out" / "cases.parquet", place) for place in (0, CASES - 1)]
    assert [str(row["case"]) for row in parquet] == [rows[0]["case"], rows[-1]["case"]]
    assert column_names(tmp_path / "out" / "cases.parquet") == list(rows[0])
    assert not list((tmp_path / "out" / "parts").iterdir())
    assert {row["row_evidence"] for row in rows if row["status"] == "free"} == {"measured"}


def test_rows_are_those_of_the_bench(spec: Path, tmp_path: Path) -> None:
    sweep(spec, tmp_path / "out")
    bench = Bench(Question(TEXT, "a.yaml"))
    expected = list(bench.rows(0, len(bench.cases)))
    for row, wanted in zip(table(tmp_path / "out"), expected, strict=True):
        shown = {name: "" if value is None else str(value) for name, value in wanted.items()}
        assert {name: row[name] for name in shown} == shown


class StopError(Exception):
    """What stands for a power cut."""


def test_a_stopped_sweep_goes_on_where_it_was(spec: Path, tmp_path: Path, whole: bytes) -> None:
    out = tmp_path / "out"
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 4:
            raise StopError

    with pytest.raises(StopError):
        run_sweep(SweepOptions(str(spec), str(out), jobs=1), stop)
    assert len(list((out / "parts").glob("*.parquet"))) == 3
    (out / "parts" / "00000007.parquet.new").write_bytes(b"half a chunk")
    result = sweep(spec, out)
    assert result.measured == seen[-1].total - seen[-1].done
    assert (out / "cases.csv").read_bytes() == whole
    again = sweep(spec, out)
    assert again.measured == 0
    assert again.summary == result.summary


@pytest.mark.nightly
def test_a_killed_process_loses_nothing(spec: Path, tmp_path: Path, whole: bytes) -> None:
    out = tmp_path / "out"
    slow = (
        "import sys, time\n"
        "from swzverify.apps.commands import sweep as run\n"
        "run.chunk_cases = lambda bench: bench.cases.group\n"
        "run.run_sweep(run.SweepOptions(*sys.argv[1:], jobs=1), lambda _: time.sleep(0.3))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", slow, str(spec), str(out)])
    deadline = time.monotonic() + 60
    while len(list((out / "parts").glob("*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    there = len(list((out / "parts").glob("*.parquet")))
    assert 2 <= there < 6
    result = sweep(spec, out)
    assert 0 < result.measured < json.loads((out / "sweep.json").read_text())["combinations"]
    assert (out / "cases.csv").read_bytes() == whole


@pytest.mark.nightly
def test_a_process_that_dies_is_replaced(spec: Path, tmp_path: Path, whole: bytes) -> None:
    out = tmp_path / "out"
    killed: list[int] = []

    def watch(_: Progress) -> None:
        if not killed:
            children = [
                int(pid)
                for task in Path("/proc/self/task").iterdir()
                for pid in (task / "children").read_text().split()
                if b"spawn_main" in (Path("/proc") / pid / "cmdline").read_bytes()
            ]
            for pid in children:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this system does not list the children of a process")
    run_sweep(SweepOptions(str(spec), str(out), jobs=2), watch)
    assert killed
    assert (out / "cases.csv").read_bytes() == whole


@pytest.mark.nightly
def test_another_sweep_does_not_mix_in(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep(spec, out)
    spec.write_text(TEXT.replace("P: [0, 8]", "P: [0, 8, 16]"), encoding="utf-8")
    with pytest.raises(SwzError, match=r"SWZ574.*another spec"):
        sweep(spec, out)
    assert sweep(spec, out, restart=True).summary.cases == CASES * 3 // 2
    with pytest.raises(SwzError, match=r"SWZ574.*another target"):
        sweep(spec, out, target="sm_80")


def test_a_folder_of_something_else_stays_as_it_is(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("x")
    with pytest.raises(SwzError, match=r"SWZ574.*thesis\.tex"):
        sweep(spec, out, restart=True)
    assert (out / "thesis.tex").read_text() == "x"
    (out / "sweep.json").write_text("{")
    with pytest.raises(SwzError, match=r"SWZ574"):
        sweep(spec, out)


def test_a_finished_folder_without_its_table(spec: Path, tmp_path: Path) -> None:
    sweep(spec, tmp_path / "out")
    (tmp_path / "out" / "cases.parquet").unlink()
    with pytest.raises(SwzError, match=r"SWZ574.*cases\.parquet"):
        sweep(spec, tmp_path / "out")


def test_two_sweeps_do_not_share_a_folder(spec: Path, tmp_path: Path) -> None:
    def again(progress: Progress) -> None:
        if progress.done:
            with pytest.raises(SwzError, match=r"SWZ574.*another sweep runs"):
                sweep(spec, tmp_path / "out")

    run_sweep(SweepOptions(str(spec), str(tmp_path / "out"), jobs=1), again)


def test_claims_are_proved_where_asked(spec: Path, tmp_path: Path) -> None:
    fewer = TEXT.replace("C: [32, 64]", "C: [64]").replace("P: [0, 8]", "P: [8]")
    spec.write_text(fewer + "claims: standard\n", encoding="utf-8")
    result = sweep(spec, tmp_path / "out", prove=True)
    rows = table(tmp_path / "out")
    assert result.summary.claims is not None
    assert {row["claims"] for row in rows if row["status"] == "free"} == {"proved"}
    assert {row["claims"] for row in rows if row["status"] == "conflicts"} == {"refuted"}
    assert sum(row["status"] == "free" for row in rows) >= 2


def test_chunks_are_whole_groups_one_behind_the_other() -> None:
    bench = Bench(Question(TEXT, "a.yaml"))
    cases = chunk_cases(bench, seconds=0.001)
    assert cases % bench.cases.group == 0
    chunks = chunks_of(len(bench.cases), cases)
    assert [chunk.first for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]
    assert chunks[-1].end == len(bench.cases)


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (("  over:\n", "  over:\n    Q: [1]\n"), "SWZ106", "no constant 'Q'"),
        (("at: tiles.A.element", "at: tiles.A.elements"), "SWZ106", "tiles.A.elements"),
        (("at: tiles.A.element", "at: tiles.A"), "SWZ106", "no single value"),
        (("{i8: 1, f16: 2}", "[i8, f16]"), "SWZ105", "its values are texts"),
        (("C: [32, 64]", "C: [32, 32]"), "SWZ105", "same value twice"),
        (("{start: 0, stop: 4}", "{start: 4, stop: 4}"), "SWZ105", "no value"),
        (("{start: 0, stop: 4}", "{start: 0, stop: 4, step: 0}"), "SWZ105", "never reaches"),
        (("{start: 0, stop: 4}", "{start: 0, stop: 4, times: 2}"), "SWZ105", "never reaches"),
        (("{start: 0, stop: 4}", "{start: 0, stop: 2000000000}"), "SWZ107", "more than 65536"),
        (("{start: 0, stop: 4}", "{start: 0}"), "SWZ104", "has no values"),
        (("[B <= S, C*E >= 64]", "[B <= T]"), "SWZ301", "'T' has no number"),
        (("[B <= S, C*E >= 64]", "[B <=]"), "SWZ302", ""),
        (("S: [3]", "S: {values: [3], stop: 4}"), "SWZ105", "one of them"),
        (("S: [3]", "S: [3]\n    T: {at: tiles.A.element, values: [i8]}"), "SWZ105", "both set"),
        (("[B <= S, C*E >= 64]", "[B / (M - 3) == 1]"), "SWZ305", ""),
    ],
)
def test_mistakes_are_told_at_their_place(
    change: tuple[str, str], code: str, told: str, spec: Path, tmp_path: Path
) -> None:
    assert change[0] in TEXT
    spec.write_text(TEXT.replace(*change), encoding="utf-8")
    with pytest.raises((SpecError, SwzError)) as error:
        sweep(spec, tmp_path / "out")
    assert code in str(error.value)
    assert told in str(error.value)


def test_a_spec_without_a_sweep(spec: Path, tmp_path: Path) -> None:
    spec.write_text(TEXT[: TEXT.index("sweep:")], encoding="utf-8")
    with pytest.raises(SwzError, match=r"SWZ571"):
        sweep(spec, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_columns_of_one_name(spec: Path, tmp_path: Path) -> None:
    spec.write_text(TEXT.replace("M: [3, 4]", "M: [3, 4]\n    bytes: {at: tiles.A.swizzle, values: [none]}"))
    with pytest.raises(SwzError, match=r"SWZ572.*'bytes'"):
        sweep(spec, tmp_path / "out")


def bench_rows(text: str, *, together: bool = True, target: str | None = None) -> list[dict[str, object]]:
    bench = Bench(Question(text, "a.yaml", target), together=together)
    return [dict(row) for row in bench.rows(0, len(bench.cases))]


@pytest.mark.parametrize(
    "axis",
    [
        'W: {at: tiles.A.swizzle, values: ["Swizzle<B,M,S>", "Swizzle<B,4,3>"]}',
        'W: {at: accesses.column.coord.0, values: ["(lane*B)%32", "lane"]}',
        'W: {at: tiles.A.layout.pad, values: ["B", "8*M"]}',
    ],
)
def test_cases_together_are_what_each_is_alone(axis: str) -> None:
    text = FEWER.replace("  where:", f"    {axis}\n  where:")
    assert text != FEWER
    assert bench_rows(text) == bench_rows(text, together=False)


def test_an_axis_inside_a_swizzle() -> None:
    text = FEWER.replace("swizzle: Swizzle<B,M,S>", "swizzle: {bits: B, base: M, shift: S, on: offset}")
    text = text.replace("  where:", "    W: {at: tiles.A.swizzle.on, values: [offset, address]}\n  where:")
    rows = bench_rows(text)
    assert rows == bench_rows(text, together=False)
    assert len({str(row["status"]) for row in rows if row["W"] == "address"}) > 1


def test_cases_that_are_too_much_together_are_measured_alone() -> None:
    text = FEWER.replace(
        "swizzle: Swizzle<B,M,S>", "swizzle: {bits: B, base: M, shift: S, on: address}\n    base: {align: 16}"
    )
    text = text.replace("S: [3]", "S: [3, 24]")
    rows = bench_rows(text)
    assert rows == bench_rows(text, together=False)
    assert {"SWZ206", ""} <= {str(row["code"]) for row in rows}


def test_claims_are_left_out_where_they_are_not_proved(spec: Path, tmp_path: Path) -> None:
    spec.write_text(TEXT + "claims: [{conflict_free: row}, {injective: A}]\n", encoding="utf-8")
    assert sweep(spec, tmp_path / "out").summary.cases == CASES


def test_the_numbers_of_cases_do_not_depend_on_proofs() -> None:
    proved = Bench(Question(TEXT + "claims: standard\n", "a.yaml", prove=True))
    plain = Bench(Question(TEXT, "a.yaml"))
    assert proved.cases.between(0, 9)[1].keys() == plain.cases.between(0, 9)[1].keys()
    for name, values in plain.cases.between(0, 40)[1].items():
        assert values.tolist() == proved.cases.between(0, 40)[1][name].tolist()


def test_an_axis_of_targets_and_a_target() -> None:
    text = TEXT.replace("  where:", "    T: {at: target, values: [sm_70, sm_90]}\n  where:")
    assert {str(row["code"]) for row in bench_rows(text) if row["T"] == "sm_70"} == {"SWZ403"}
    with pytest.raises(SwzError, match=r"SWZ572.*target"):
        bench_rows(text, target="sm_90")


def test_integers_and_texts_in_one_axis(spec: Path, tmp_path: Path) -> None:
    mixed = '    Q: {at: tiles.A.layout.pad, values: [0, "2*4"]}\n'
    spec.write_text(TEXT.replace("    P: [0, 8]\n", mixed), encoding="utf-8")
    sweep(spec, tmp_path / "out")
    assert {row["Q"] for row in table(tmp_path / "out")} == {"0", "2*4"}


def test_columns_that_differ_in_case_alone(spec: Path, tmp_path: Path) -> None:
    spec.write_text(TEXT.replace("{E: 2,", "{E: 2, p: 0,").replace("    S: [3]", "    S: [3]\n    p: [0, 1]"))
    with pytest.raises(SwzError, match=r"SWZ572.*'P'"):
        sweep(spec, tmp_path / "out")


def test_a_file_that_an_axis_names_is_a_part_of_what_is_swept(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "none").write_text("one")
    spec.write_text(TEXT.replace("S: [3]", "S: [3]\n    T: {at: tiles.A.swizzle, values: [none]}"), encoding="utf-8")
    sweep(spec, tmp_path / "out")
    (tmp_path / "none").write_text("two")
    with pytest.raises(SwzError, match=r"SWZ574.*another spec"):
        sweep(spec, tmp_path / "out")


@pytest.mark.parametrize("section", ["accesses", "operands"])
def test_a_sweep_depends_on_the_code_that_entries_name(section: str, tmp_path: Path) -> None:
    own = "instruction: ld.shared.b32, threads: 32"
    if section == "operands":
        own = "instruction: wgmma.m64n8k16.f16, role: A, threads: 128, reads: {tile: A, at: [0, 0]}"
    entry = f"  code: {{{own}, compiled: {{file: k.ptx, line: 1}}}}\n"
    spec = tmp_path / "a.swz.yaml"
    text = TEXT if section in TEXT else f"{TEXT}{section}:\n"
    spec.write_text(text.replace(f"{section}:\n", f"{section}:\n{entry}"), encoding="utf-8")
    found: set[str] = set()
    for code in ("one", "other"):
        (tmp_path / "k.ptx").write_text(code)
        question = Question(spec.read_text("utf-8"), spec.as_posix(), None, SweepOptions("", "").prove, version="")
        found.add(run._fingerprint(Bench(question).variants))
    assert len(found) == 2
