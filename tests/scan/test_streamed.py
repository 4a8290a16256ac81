"""A scan says what it found as it goes on; what was found stays after Ctrl-C and after a kill."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.apps.commands import scan_reports
from swzverify.apps.run import scan_jobs
from swzverify.apps.run.scan_kept import _Reader, kept_in
from swzverify.compiled.ptx import Function
from swzverify.core import on_dask
from swzverify.hardware import Kind
from tests.kernel.texts import HEAD, TOP
from tests.nightly import share
from tests.scan.texts import strided

NAMES = ("_Z3onei", "_Z3twoi", "_Z5threei")
CHASED = (
    "ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r10, [%d1];"
    " and.b32 %r10, %r10, 1023; mad.lo.u32 %r20, %r1, 4, %r3; st.shared.u32 [%r20], %r10; bar.sync 0;"
    " ld.shared.u32 %r11, [%r20]; mad.lo.u32 %r21, %r11, 4, %r3; ld.shared.u32 %r12, [%r21];"
)
"""The word that a word of shared memory says: a trial meets the conflict."""
SCAN = [sys.executable, "-m", "swzverify", "scan"]


def kernels(*bodies: str) -> str:
    """A kernel for each body, in one text."""
    shared, entry = HEAD.split("\n", 1)
    made = (entry.replace("k(", f"{name}(", 1) + body + "ret; }\n" for name, body in zip(NAMES, bodies, strict=True))
    return TOP + shared + "\n" + "".join(made)


@pytest.fixture
def ptx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three kernels: free, conflicting, and one whose trial conflicts."""
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(kernels(strided(4), strided(8), CHASED), encoding="utf-8")
    return "k.ptx"


def run(*words: str) -> Result:
    trials = () if "--trials" in words else ("--trials", "12")
    result = CliRunner().invoke(main, ["scan", *words, "--block", "64", *trials], prog_name="swzverify")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that are judged, in order."""
    found: list[str] = []
    before(monkeypatch, found.append)
    return found


def before(monkeypatch: pytest.MonkeyPatch, call: Callable[[str], object]) -> None:
    """Call something before each function is judged."""
    real = scan_jobs.scan_function

    def scanned(module: Any, function: Function, *rest: Any, **more: Any) -> Any:
        call(function.name)
        return real(module, function, *rest, **more)

    monkeypatch.setattr(scan_jobs, "scan_function", scanned)


def interrupt_at(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def call(each: str) -> None:
        if each == name:
            raise KeyboardInterrupt

    before(monkeypatch, call)


@pytest.mark.parametrize("words", [(), ("-v",), ("-q",), ("--format", "jsonl")])
@pytest.mark.parametrize("jobs", share(["1", "2"], 2))
def test_the_parts_are_the_whole(ptx: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], jobs: str) -> None:
    streamed = run(ptx, *words, "-j", jobs)

    def is_streamed(*_: object, needs_all: bool) -> bool:
        del needs_all
        return False

    monkeypatch.setattr("swzverify.apps.commands.scan.is_streamed", is_streamed)
    assert run(ptx, *words, "-j", jobs).stdout == streamed.stdout
    assert streamed.stdout


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_results_come_before_the_next_function_is_judged(ptx: str, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    written: list[str] = []
    seen: dict[str, str] = {}
    monkeypatch.setattr(scan_reports, "say", written.append)
    before(monkeypatch, lambda name: seen.__setitem__(name, "".join(written)))
    run(ptx, "--format", form, "-j", "1")
    assert [("one" in seen[name], "two" in seen[name]) for name in NAMES] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def test_a_file_gets_results_as_they_come(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def count(_: str) -> None:
        seen.append(len(Path("out.jsonl").read_text().splitlines()) if Path("out.jsonl").exists() else 0)

    before(monkeypatch, count)
    Path("out.jsonl").write_text("of another scan\n" * 9)
    result = run(ptx, "--format", "jsonl", "--output", "out.jsonl", "-j", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert seen[1:] == [1, 2]
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert lines[-1]["type"] == "summary"


@pytest.mark.parametrize("form", ["text", "jsonl", "json", "sarif", "markdown", "junit", "github", "html"])
def test_after_ctrl_c_the_report_is_on_what_was_judged(ptx: str, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    interrupt_at(monkeypatch, NAMES[2])
    result = run(ptx, "--format", form, "-j", "1", "--write-baseline", "known.json", "--write-spec", "k.swz.yaml")
    assert (result.exit_code, result.stderr) == (130, "SWZ903: interrupted: 2 of 3 functions judged\n")
    shown = result.stdout.replace("\\", "")  # Markdown escapes
    assert "interrupted: 2 of 3 functions judged; the others have no verdict" in shown
    assert "two" in result.stdout
    assert "three" not in result.stdout
    assert not Path("known.json").exists()
    assert not Path("k.swz.yaml").exists()


def test_json_says_that_it_is_partial(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(run(ptx, "--format", "json").stdout)["partial"] is False
    assert json.loads(run(ptx, "--format", "jsonl").stdout.splitlines()[-1])["partial"] is False
    interrupt_at(monkeypatch, NAMES[1])
    assert json.loads(run(ptx, "--format", "json", "-j", "1").stdout)["partial"] is True
    assert json.loads(run(ptx, "--format", "jsonl", "-j", "1").stdout.splitlines()[-1])["partial"] is True


def test_before_the_first_function_there_is_no_report(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, NAMES[0])
    result = run(ptx, "-j", "1")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted: no report\n")


@pytest.mark.parametrize("words", [(), ("--format", "json"), ("--no-suggest", "--trials", "20")])
def test_a_scan_goes_on_where_it_was(ptx: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    whole = run(ptx, *words)
    with monkeypatch.context() as patched:
        interrupt_at(patched, NAMES[2])
        assert run(ptx, *words, "--resume", "kept", "-j", "1").exit_code == 130
    found: list[str] = []
    before(monkeypatch, found.append)
    assert run(ptx, *words, "--resume", "kept", "-j", "1").stdout == whole.stdout
    assert found == [NAMES[2]]
    assert run(ptx, *words, "--resume", "kept", "-j", "1").stdout == whole.stdout
    assert found == [NAMES[2]]
    # How it is written is no other scan.
    assert run(ptx, *words, "--resume", "kept", "--fail-on", "conflict", "-j", "2").exit_code == 1
    assert found == [NAMES[2]]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_scan_goes_on_where_it_was(ptx: str, judged: list[str]) -> None:
    slow = """
import os, signal
from swzverify.apps.run import scan_jobs
real = scan_jobs.scan_function
def scanned(module, function, *rest, **more):
    if function.name == "_Z5threei":
        os.kill(os.getpid(), signal.SIGKILL)
    return real(module, function, *rest, **more)
scan_jobs.scan_function = scanned
from swzverify.apps.cli import main
main()
"""
    words = ["scan", ptx, "--block", "64", "--trials", "12", "-j", "1", "--resume", "kept"]
    done = subprocess.run([sys.executable, "-c", slow, *words], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert "kernel two" in done.stdout
    whole = run(ptx)
    judged.clear()
    assert run(ptx, "--resume", "kept", "-j", "1").stdout == whole.stdout
    assert judged == [NAMES[2]]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--smem-align", "256"), "options"),
        (("--target", "sm_80"), "options"),
        (("--param", "1=3"), "options"),
        (("--trials", "3"), "options"),
    ],
)
def test_another_scan_is_refused(ptx: str, words: tuple[str, ...], what: str) -> None:
    run(ptx, "--resume", "kept")
    result = run(ptx, *words, "--resume", "kept")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"SWZ574: kept has the results of a scan with other {what}" in result.stderr


def test_another_text_is_refused(ptx: str) -> None:
    run(ptx, "--resume", "kept")
    Path(ptx).write_text(kernels(strided(8), strided(8), CHASED), encoding="utf-8")
    assert "SWZ574: kept has the results of a scan with other files" in run(ptx, "--resume", "kept").stderr


def test_a_folder_of_other_files_is_refused(ptx: str) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear", encoding="utf-8")
    assert "SWZ574: mine has other files, such as letter.txt, and no scan" in run(ptx, "--resume", "mine").stderr


class _Payload:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("owned",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(_Payload()),
        b"cswzverify.compiled.binaries.tools\nrun\n(tR.",
        b"cswzverify.core.processes\nusable_cpus\n(tR.",
        b"cbuiltins\ngetattr\n(cswzverify.hardware.kinds\nKind\nVmro\ntR.",
        pickle.dumps("text"),
        b"",
        b"\x80\x05",
    ],
    ids=["call", "a function of ours", "a function of another room", "an attribute", "text", "empty", "cut"],
)
def test_only_records_are_read(ptx: str, judged: list[str], data: bytes) -> None:
    whole = run(ptx, "--resume", "kept", "-j", "1")
    (part,) = Path("kept/parts").glob("*-000001.pickle")
    part.write_bytes(data)
    judged.clear()
    assert run(ptx, "--resume", "kept", "-j", "1").stdout == whole.stdout
    assert judged == [NAMES[1]]
    assert not Path("owned").exists()


def test_members_of_enumerations_are_read_as_each_python_writes_them() -> None:
    """Python 3.11.0 to 3.11.3 writes a member as an attribute."""

    class Older:
        def __reduce__(self) -> tuple[object, ...]:
            return getattr, (Kind, "ATOMIC")

    for each in (Older(), Kind.ATOMIC):
        assert _Reader(BytesIO(pickle.dumps(each))).load() is Kind.ATOMIC


def test_two_scans_do_not_share_a_folder(ptx: str) -> None:
    pytest.importorskip("fcntl")
    with kept_in("kept", {}):
        assert "another scan runs in kept" in run(ptx, "--resume", "kept").stderr


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals of POSIX")
@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_shows_how_far_it_is(ptx: str, quiet: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    words = [*SCAN, ptx, "--block", "64", "--trials", "12", "-j", "1", *(("-q",) if quiet else ())]
    environment = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(words, env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        assert process.stdout is not None
        out = process.stdout.read().decode()
    os.close(ours)
    assert process.returncode == 0
    assert "accesses: 3 free" in out
    assert "\x1b" not in out
    assert bool(re.search(r"of 3 functions", seen.decode())) is not quiet


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process."""
    distributed = pytest.importorskip("distributed", reason="Dask is an extra")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_finds_the_same(ptx: str, cluster: Any) -> None:
    alone = run(ptx, "--format", "json", "--trials", "20")
    words = (ptx, "--format", "json", "--trials", "20", "--scheduler", cluster.scheduler_address)
    result = run(*words, "--resume", "kept")
    assert (result.exit_code, result.stdout) == (0, alone.stdout)
    assert len([*Path("kept/parts").glob("*.pickle")]) == len(NAMES)
    assert import_module("distributed")


def test_no_scheduler_answers(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is an extra")
    monkeypatch.setattr(on_dask, "CONNECT_SECONDS", 1)
    result = run(ptx, "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert "SWZ576: no Dask scheduler answers at tcp://127.0.0.1:9" in result.stderr


def test_certificates_are_not_written_by_a_cluster(ptx: str) -> None:
    result = run(ptx, "--scheduler", "tcp://127.0.0.1:9", "--certificates", "certs")
    assert result.exit_code == 2
    assert "--certificates and --scheduler" in result.stderr
