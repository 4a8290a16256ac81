"""Runs the steps of `action.yml` as GitHub's runner would: its expressions, its environment, its
way to call bash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
ACTION = YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Runner:
    """A job's folders and files, its inputs, and what the steps said so far."""

    folder: Path
    inputs: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def __post_init__(self) -> None:
        self.inputs = {name: value.get("default", "") for name, value in ACTION["inputs"].items()} | self.inputs
        self.workspace.mkdir(parents=True)
        self.temp.mkdir()
        self.summary.touch()

    @property
    def workspace(self) -> Path:
        return self.folder / "work space"

    @property
    def temp(self) -> Path:
        return self.folder / "temp dir"

    @property
    def summary(self) -> Path:
        return self.folder / "summary.md"

    def value(self, text: str) -> str:
        """A text with its expressions replaced; only those that the action uses."""

        def one(found: re.Match[str]) -> str:
            kind, *names = found[1].split(".")
            match kind:
                case "inputs":
                    return self.inputs[names[0]]
                case "steps" if names[:2] == ["prove", "outputs"]:
                    return self.outputs.get(names[2], "")
                case _:
                    raise AssertionError(found[0])

        return _EXPRESSION.sub(one, text)

    def run(self, name: str, path: str | None = None) -> int:
        """Run a step's script with bash as the runner calls it; its exit code."""
        step = STEPS[name]
        assert step["shell"] == "bash"
        script = self.folder / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        output = self.folder / "output"
        output.write_text("", encoding="utf-8")
        environment = {
            "PATH": path or os.environ["PATH"],
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_ACTIONS": "true",
            **{key: self.value(text) for key, text in step.get("env", {}).items()},
        }
        bash = shutil.which("bash")
        assert bash is not None
        command = [bash, "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        self.log = done.stdout + done.stderr
        for line in output.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            self.outputs[key] = value
        return done.returncode

    def install(self) -> None:
        """What the first script leaves behind: a program in the virtual environment; it runs this
        working tree.
        """
        program = self.temp / "swzverify-venv" / "bin" / "swzverify"
        program.parent.mkdir(parents=True)
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m swzverify "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)
