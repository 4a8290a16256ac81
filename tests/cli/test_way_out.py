"""How every command ends that cannot go on: a fault of ours and Ctrl-C, each in one line and with
its exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import COMMANDS as EVERY_COMMAND
from swzverify.apps.cli import main

COMMANDS = {
    "prove": (["prove", "a.swz.yaml"], "swzverify.apps.commands.prove.run_specs"),
    "diff": (["diff", "a.swz.yaml", "a.swz.yaml"], "swzverify.apps.commands.diff.compare"),
    "explain": (["explain", "(8,8)"], "swzverify.apps.commands.explain.explain"),
    "explore": (["explore"], "swzverify.apps.commands.explore.serve"),
    "crosscheck": (["crosscheck", "a.swz.yaml"], "swzverify.apps.commands.crosscheck.run_crosscheck"),
    "calibrate": (["calibrate"], "swzverify.apps.commands.calibrate.measure"),
    "init": (["init", "-"], "swzverify.apps.commands.init.make_starter"),
    "locality": (["locality", "a.swz.yaml"], "swzverify.apps.commands.locality.count_locality"),
    "recheck": (["recheck", "."], "swzverify.apps.commands.recheck.load_list"),
    "lsp": (["lsp"], "swzverify.apps.editor.server.serve"),
    "mcp": (["mcp"], "swzverify.apps.commands.mcp_server.serve"),
    "scan": (["scan", "a.ptx"], "swzverify.apps.commands.scan.scan_files"),
    "show": (["show", "(8,8)"], "swzverify.apps.commands.show.show"),
    "sweep": (["sweep", "a.swz.yaml"], "swzverify.apps.commands.sweep.run_sweep"),
    "synth": (["synth", "a.swz.yaml"], "swzverify.apps.commands.synth.synthesize"),
    "theorems": (["theorems"], "swzverify.apps.commands.theorems.judge_all"),
}
WORDS = {
    "explain": "no explanation",
    "explore": "no page",
    "init": "nothing written",
    "locality": "nothing counted",
    "lsp": "the server has ended",
    "mcp": "the server has ended",
    "recheck": "no judgement",
    "show": "no picture",
    "sweep": "what is finished stays; run the same command again to go on",
    "synth": "no answer",
    "theorems": "no list",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.swz.yaml").write_text("swzverify: 1\n", encoding="utf-8")


def ended(command: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    words, where = COMMANDS[command]

    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(where, broken)
    result = CliRunner().invoke(main, words, prog_name="swzverify")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_of_ours_says_what_to_send(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = ended(command, KeyError("stage"), monkeypatch)
    assert (code, out) == (2, "")
    assert "SWZ901" in err
    assert "KeyError" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_ends_with_130(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = f"interrupted: {WORDS.get(command, 'no report')}\n"
    assert ended(command, KeyboardInterrupt(), monkeypatch) == (130, "", words)


def test_every_command_is_here() -> None:
    assert set(EVERY_COMMAND) - set(COMMANDS) == {"schema", "completions"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["schema"],
        ["completions", "bash"],
        ["init", "-"],
        ["prove", "a.swz.yaml", "--allow-no-claims"],
        ["show", "8:1"],
        ["show", "8:1", "--format", "png"],
    ],
)
@pytest.mark.parametrize("stream", [">/dev/full", pytest.param(">&-", marks=pytest.mark.nightly)])
def test_an_output_that_takes_nothing_is_an_error_of_one_line(arguments: list[str], stream: str) -> None:
    words = " ".join([sys.executable, "-m", "swzverify", *arguments, stream])
    fakes = Path("fakes").resolve()
    fakes.mkdir()
    (fakes / "resvg_py.py").write_text("def svg_to_bytes(**_): return bytes(100_000)", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[2]}{os.pathsep}{fakes}"}
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert "standard output" in done.stderr
    assert "Traceback" not in done.stderr
    assert "SWZ901" not in done.stderr
