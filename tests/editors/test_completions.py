"""Completion scripts in the shells themselves: bash always, zsh and fish where they are installed."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from swzverify.apps.cli import COMMANDS, main
from swzverify.apps.options import values
from swzverify.apps.options.completions import SHELLS
from swzverify.claims import KINDS
from swzverify.hardware import INSTRUCTIONS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS

ROOT = Path(__file__).parents[2]
BELL = "\x07"
PROGRAM = f"#!{sys.executable}\nfrom swzverify.__main__ import main\nmain()\n"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An installed `swzverify`, and a folder with specs to run it in."""
    program = tmp_path / "bin" / "swzverify"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    work = tmp_path / "work"
    (work / "specifics").mkdir(parents=True)
    (work / "specimen.swz.yaml").write_text("swzverify: 1\n")
    (work / "specifics" / "z3.py").write_text("raise SystemExit('imported from the working folder')\n")
    (work / "click.py").write_text("raise SystemExit('imported from the working folder')\n")
    monkeypatch.chdir(work)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "TERM": "dumb",
    }


def run(command, environment):
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def protocol(shell, words, environment):
    """What the program answers to the shell's script: the words so far, of which the last is to be
    completed.
    """
    asked = {"_SWZVERIFY_COMPLETE": f"{shell}_complete", "COMP_WORDS": " ".join(["swzverify", *words])}
    asked["COMP_CWORD"] = words[-1] if shell == "fish" else str(len(words))
    done = run(["swzverify"], environment | asked)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    match shell:
        case "bash":
            return {tuple(line.split(",", 1)) for line in lines}
        case "zsh":
            return {(lines[at], lines[at + 1]) for at in range(0, len(lines) - 2, 3)}
        case "fish":
            return {(line.split(",", 1)[0], re.split(r"[\t,]", line)[1]) for line in lines}


def plain(names):
    return {("plain", name) for name in names}


NINETIES = [name for name in TARGETS if name.startswith("sm_9")]
ASKED = [
    (["pro"], plain(["prove"])),
    (["prove", "--tar"], plain(["--target"])),
    (["prove", "--target", "sm_9"], plain(NINETIES)),
    (["prove", "--select", "con"], plain(["contiguous", "conflict_free"])),
    (["prove", "--format", "js"], plain(["json", "jsonl"])),
    (["prove", "spec"], {("file", "spec")}),
    (["prove", "a.swz.yaml", "spec"], {("file", "spec")}),
    (["prove", "--output", "o"], {("file", "o")}),
    (["prove", "--certificates", "c"], {("dir", "c")}),
    (["recheck", "c"], {("dir", "c")}),
    (["init", "--instruction", "ldmatrix.x4"], plain(["ldmatrix.x4", "ldmatrix.x4.trans"])),
    (["init", "--element", "bf"], plain(["bf16"])),
    (["init", "--swizzle", "a"], plain(["auto"])),
    (["completions", "z"], plain(["zsh"])),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_the_program_answers(shell, environment):
    for words, expected in ASKED:
        assert protocol(shell, words, environment) == expected, words


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script_that_click_makes(shell, environment):
    printed = run(["swzverify", "completions", shell], environment)
    made = run(["swzverify"], environment | {"_SWZVERIFY_COMPLETE": f"{shell}_source"})
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout == made.stdout
    assert f"{shell}_complete" in printed.stdout


def test_another_shell_is_refused(swzverify):
    result = swzverify("completions", "csh")
    assert result.exit_code == 2
    assert "'csh' is not one of 'bash', 'zsh', 'fish'" in result.stderr


BASH = """\
eval "$(swzverify completions bash)"
complete -p swzverify
COMP_WORDS=(swzverify prove --target sm_9)
COMP_CWORD=3
_swzverify_completion swzverify sm_9 --target
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash_calls_the_script_s_function(environment):
    done = run(["bash", "--norc", "--noprofile", "-c", BASH], environment)
    assert done.stderr == ""
    head, *words = done.stdout.splitlines()
    assert head == "complete -o nosort -F _swzverify_completion swzverify"
    assert words == NINETIES


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("swzverify prove --target sm_90", "sm_90a"),
        ("swzverify prove specim", "specimen.swz.yaml"),
        ("swzverify prove specif", "specifics/"),
        ("swzverify prove --sel", "--select"),
        ("swzverify prove --select conf", "conflict_free"),
        ("swzverify compl", "completions"),
    ],
)
def test_bash_at_a_terminal(typed, shown, environment):
    screen = typed_into(
        ["bash", "--norc", "--noprofile", "-i"], 'eval "$(swzverify completions bash)"', typed, shown, environment
    )
    assert shown in screen


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    ("typed", "shown"), [("swzverify prove --target sm_90", "sm_90a"), ("swzverify prove specim", "specimen.swz.yaml")]
)
def test_zsh_at_a_terminal(typed, shown, environment):
    setup = 'autoload -Uz compinit; compinit -u; eval "$(swzverify completions zsh)"'
    screen = typed_into(["zsh", "-f", "-i"], setup, typed, shown, environment)
    assert shown in screen


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("swzverify prove --target sm_9", NINETIES),
        ("swzverify prove --select con", ["contiguous", "conflict_free"]),
        ("swzverify prove specim", ["specimen.swz.yaml"]),
    ],
)
def test_fish_completes(typed, shown, environment):
    script = f'swzverify completions fish | source; complete -C "{typed}"'
    done = run(["fish", "--no-config", "-c", script], environment)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == set(shown)


def typed_into(shell, setup, typed, shown, environment):
    """What stands on the screen of an interactive shell when a line is typed and Tab pressed."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(shell[0], shell, environment)  # noqa: S606 - it is a shell
    screen = ""

    def until(*texts):
        nonlocal screen
        end = time.monotonic() + 30
        while not any(text in screen for text in texts) and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    screen += os.read(terminal, 4096).decode(errors="replace")
                except OSError:
                    return

    try:
        os.write(terminal, f"PS1='%> '; {setup}; echo rea''dy\n".encode())
        until("ready\r\n")
        until("%> ")
        screen = ""
        os.write(terminal, f"{typed}\t".encode())
        until(shown, BELL)
        if shown not in screen:  # there are several; another Tab lists them
            os.write(terminal, b"\t")
            until(shown)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return screen


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


class TestTables:
    """What is completed is what the tables have."""

    def test_names(self):
        for what, names in (("target", TARGETS), ("instruction", INSTRUCTIONS), ("element", ELEMENT_BITS)):
            assert [item.value for item in values.Text(what).shell_complete(None, None, "")] == list(names)

    def test_every_path_and_target_of_every_command_completes(self):
        told = [
            (parameter.metavar.strip("[]."), parameter.type)
            for name in COMMANDS
            for parameter in command(name).params
            if parameter.metavar and parameter.metavar.strip("[].") in ("FILE", "PATH", "DIR")
        ]
        assert len(told) > 10
        assert all(
            isinstance(kind, values.Text) and kind.what == ("dir" if what == "DIR" else "file") for what, kind in told
        )
        prove = {parameter.name: parameter for parameter in command("prove").params}
        assert prove["target"].type.what == "target"
        assert tuple(prove["select"].type.choices) == tuple(KINDS)


def test_completion_imports_nothing_heavy(environment):
    script = (
        "import os, sys, swzverify.apps.cli\n"
        "os.environ.update(_SWZVERIFY_COMPLETE='bash_complete', COMP_CWORD='3')\n"
        "os.environ['COMP_WORDS'] = 'swzverify prove --target sm_'\n"
        "try: swzverify.apps.cli.main(prog_name='swzverify')\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'z3', 'numpy', 'pydantic', 'rich', 'yaml', 'swzverify.spec.load'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    (Path.cwd() / "click.py").unlink()
    done = run([sys.executable, "-c", script], environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain,sm_90" in done.stdout
