"""`--watch`: what changed is judged again. A real process watches real files."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from swzverify.apps.run.watched import Watched, files_of_spec

TILE = "swzverify: 1\ntiles: {A: {element: f16, layout: '(8,64):(64,1)', swizzle: 'Swizzle<3,3,3>'}}\n"
GOOD = TILE + "claims: [{bijective: A}]\n"
BAD = GOOD.replace("bijective: A", "contiguous: {tile: A, elements: 16}")
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
.reqntid 32, 1, 1
{
  .reg .b32 %r<4>;
  .shared .align 4 .b8 t[8192];
  mov.u32 %r1, %tid.x;
  shl.b32 %r1, %r1, SHIFT;
  mov.u32 %r2, t;
  add.s32 %r2, %r2, %r1;
  ld.shared.u32 %r3, [%r2];
  ret;
}
"""
LONGEST_S = 60


class Running:
    """A process and the lines that it writes, to both streams in their order."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: Iterator[str]) -> None:
        for line in stream:
            self.lines.put(line)

    def until(self, part: str) -> list[str]:
        """The lines up to one with this part."""
        found: list[str] = []
        ends = time.monotonic() + LONGEST_S
        while time.monotonic() < ends:
            try:
                found.append(self.lines.get(timeout=1))
            except queue.Empty:
                assert self.process.poll() is None, found
                continue
            if part in found[-1]:
                return found
        pytest.fail(f"no {part!r} in {found}")

    def end(self) -> int:
        """Ctrl-C, and the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LONGEST_S)


@contextmanager
def running(environment: dict[str, str], *arguments: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "swzverify", *arguments]
    with subprocess.Popen(command, env=environment, stdout=-1, stderr=-2, text=True, bufsize=1) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def test_only_what_changed_is_proved_again(write: Callable[..., None], clean_environment: dict[str, str]) -> None:
    write({"a.swz.yaml": GOOD, "b.swz.yaml": GOOD})
    with running(clean_environment, "prove", "--watch", "-v") as run:
        assert any("b.swz.yaml" in line for line in run.until("watching 2 specs"))
        write({"a.swz.yaml": BAD})
        told = run.until("all 2 specs")
        assert any("refuted" in line for line in told)
        assert not any("b.swz.yaml" in line for line in told)
        assert "1 proved, 1 unexpected (1 refuted)" in told[-1]
        write({"a.swz.yaml": "swzverify: 1\nclaims: [\n"})
        run.until("SWZ102")
        write({"c.swz.yaml": GOOD, "a.swz.yaml": GOOD})
        assert "3 proved, 0 unexpected" in run.until("all 3 specs")[-1]
        write({"c.swz.yaml": BAD})
        run.until("all 3 specs")
        assert run.end() == 1


def test_a_spec_is_proved_again_when_its_source_changes(
    write: Callable[..., None], clean_environment: dict[str, str]
) -> None:
    spec = "swzverify: 1\nfrom_source: {N: {file: ../k.cu}}\ntiles: {A: {element: f32, layout: '(8,N):(64,1)'}}\n"
    write({"s/a.swz.yaml": spec + "claims: [{injective: A}]\n", "k.cu": "constexpr int N = 64;\n"})
    with running(clean_environment, "prove", "--watch", "s/a.swz.yaml") as run:
        run.until("watching 1 spec")
        write({"k.cu": "constexpr int N = 80;\n"})
        assert "1 unexpected" in run.until("all 1 spec")[-1]
        assert run.end() == 1


def test_a_kernel_is_scanned_again(write: Callable[..., None], clean_environment: dict[str, str]) -> None:
    write({"a.ptx": PTX.replace("SHIFT", "2"), "b.ptx": PTX.replace("SHIFT", "2")})
    with running(clean_environment, "scan", "--watch", "--fail-on", "conflict", "a.ptx", "b.ptx") as run:
        assert not any("32 wavefronts" in line for line in run.until("watching 2 files"))
        write({"a.ptx": PTX.replace("SHIFT", "7")})
        told = run.until("1 conflict")
        assert not any("b.ptx" in line for line in told)
        write({"b.ptx": "no PTX"})
        run.until("b.ptx")
        assert run.end() > 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fix"],
        ["--output", "r.txt"],
        ["--format", "json"],
        ["--certificates", "c"],
        ["--report", "json=r.json"],
        ["-"],
    ],
)
def test_what_goes_with_one_run_only(swzverify, write, arguments: list[str]) -> None:
    write({"a.swz.yaml": GOOD})
    result = swzverify("prove", "--watch", "a.swz.yaml", *arguments)
    assert result.exit_code == 2
    assert "--watch" in result.stderr


def test_without_watchfiles_the_error_names_the_extra(swzverify, write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.swz.yaml": GOOD})
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = swzverify("prove", "--watch", "a.swz.yaml")
    assert result.exit_code == 2
    assert "SWZ611" in result.stderr
    assert "pip install 'swzverify[watch]'" in result.stderr


def test_the_files_that_a_spec_names(write: Callable[..., None]) -> None:
    write({"s/a.swz.yaml": "x: {file: ../k.cu, other: 'sub/none.ptx', v: 1.5}\n", "k.cu": "", "s/sub/there.ptx": ""})
    found = {os.path.relpath(os.path.realpath(file)) for file in files_of_spec("s/a.swz.yaml")}
    assert found == {"s/a.swz.yaml", "k.cu", "s/sub/none.ptx"}
    before = Watched.of(files_of_spec("s/a.swz.yaml"))
    assert Watched.of(files_of_spec("s/a.swz.yaml")) == before
    Path("s/sub/none.ptx").write_text("", "utf-8")
    assert Watched.of(files_of_spec("s/a.swz.yaml")) != before
