"""The command as a process of its own: start-up, pipes, signals, a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-m", "swzverify"]

SLOW = """\
import sys, time
import swzverify.apps.run.one as one

def prove(claim, *, options):
    print("started", file=sys.stderr, flush=True)
    time.sleep(60)

one.judge = prove
from swzverify.apps.cli import main
main(["prove", "a.swz.yaml"])
"""


def test_help_and_import_load_nothing_heavy(clean_environment):
    script = (
        "import sys, click, swzverify.apps.cli\n"
        "try: swzverify.apps.cli.main(['prove', '--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'z3', 'numpy', 'pydantic', 'rich', 'yaml', 'sympy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], env=clean_environment, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "Exit codes" in run.stdout


SMALL_PROOF = """
import atexit, gc, runpy, sys
atexit.register(lambda: print("frozen", gc.get_freeze_count() > 0))
atexit.register(lambda: print("loaded", *sys.modules))
sys.argv = ["swzverify", "prove", "a.swz.yaml"]
runpy.run_module("swzverify", run_name="__main__")
"""
_UNUSED = """
difflib html.entities multiprocessing pytest sqlite3 ssl sympy swzrecheck.folder
swzverify.apps.diff swzverify.apps.explorer swzverify.apps.run.cures swzverify.apps.run.pool
swzverify.certificates swzverify.compiled swzverify.core.pool swzverify.explain.explanations
swzverify.explain.pictures swzverify.gpu swzverify.prover.isolation swzverify.report.html
swzverify.report.json swzverify.report.sarif swzverify.search.cures swzverify.search.synth
swzverify.spec.build_listing swzverify.spec.schema swzverify.spec.starter swzverify.testing
"""
MOST_MODULES = 225


def test_a_small_proof_loads_what_it_uses_and_leaves_its_memory_to_the_system(write, specs, clean_environment):
    write({"a.swz.yaml": specs.good})
    command = [sys.executable, "-c", SMALL_PROOF]
    run = subprocess.run(command, env=clean_environment, capture_output=True, text=True, check=True)
    *_, loaded, frozen = run.stdout.splitlines()
    assert frozen == "frozen True"
    names = loaded.split()[1:]
    assert [name for name in names for each in _UNUSED.split() if f"{name}.".startswith(f"{each}.")] == []
    ours = [name for name in names if name.startswith("swzverify.")]
    assert len(ours) <= MOST_MODULES, f"a module more for every proof: {sorted(ours)}"


def test_version(clean_environment):
    run = subprocess.run([*COMMAND, "--version"], env=clean_environment, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("swzverify ")


def test_a_run_in_a_pipe_is_plain_and_quiet_on_stderr(write, specs, clean_environment):
    write({"a.swz.yaml": specs.documented})
    run = subprocess.run(
        [*COMMAND, "prove", "a.swz.yaml"], env=clean_environment, capture_output=True, encoding="utf-8", check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1].startswith("1 proved, 1 refuted as expected, 0 unexpected in")
    assert "\x1b" not in run.stdout


def test_an_encoding_without_our_signs(write, specs, clean_environment):
    write({"a.swz.yaml": specs.bad})
    run = subprocess.run(
        [*COMMAND, "prove", "a.swz.yaml"],
        env=clean_environment | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert "  x refuted" in run.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_has_gone_is_no_error(write, specs, clean_environment):
    write({"a.swz.yaml": specs.bad})
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [*COMMAND, "prove", "a.swz.yaml"], env=clean_environment, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (run.returncode, run.stderr) == (1, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_cleanly(write, specs, clean_environment):
    write({"a.swz.yaml": specs.good})
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], env=clean_environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "started\n"
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted: no report\n")
    assert time.monotonic() - started < 20


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals of POSIX")
def test_on_a_terminal_there_is_colour_and_a_progress_line_that_goes_away(write, specs, clean_environment):
    import pty

    write({"a.swz.yaml": specs.good})
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "prove", "a.swz.yaml"],
        env=clean_environment | {"TERM": "xterm-256color"},
        stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        seen = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not chunk:
                break
            seen += chunk
    os.close(ours)
    assert process.returncode == 0
    text = seen.decode()
    # A quick proof may be done before the line is drawn first.
    begin = re.search("proving|1 of 1 spec", text)
    assert begin is not None
    assert begin.start() < text.rindex("\x1b[2K") < text.index("1 proved")
    assert "\x1b[32m" in text
