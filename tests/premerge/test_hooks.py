"""The hooks for pre-commit: a manifest that pre-commit takes, and entries that do what they say
with file names.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from swzverify.apps.run.collect import SUFFIX
from swzverify.spec.sources.languages import SOURCE_SUFFIXES

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS = {hook["id"]: hook for hook in YAML(typ="safe").load(MANIFEST.read_text(encoding="utf-8"))}

GOOD = """\
swzverify: 1
tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
claims: [{bijective: A}]
"""
BAD = GOOD.replace("bijective: A", "contiguous: {tile: A, elements: 16}")


def run_hook(name: str, folder: Path, *files: str, args: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a hook as pre-commit does: the entry's words, the arguments, then the names of the files
    that match.
    """
    hook = HOOKS[name]
    program, *words = shlex.split(hook["entry"])
    assert program == "swzverify"
    chosen = (
        [file for file in files if re.search(hook.get("files", ""), file)] if hook.get("pass_filenames", True) else []
    )
    command = [sys.executable, "-m", "swzverify", *words, *(hook.get("args", []) if args is None else args), *chosen]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120)


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


def test_pre_commit_takes_the_manifest(tmp_path):
    command = [sys.executable, "-m", "pre_commit", "validate-manifest"]
    run = subprocess.run([*command, str(MANIFEST)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(MANIFEST.read_text(encoding="utf-8").replace("entry:", "entri:"), encoding="utf-8")
    assert subprocess.run([*command, str(wrong)], capture_output=True, check=False).returncode == 1


def test_the_patterns_are_the_names_that_swzverify_knows():
    specs, sources = HOOKS["swzverify"]["files"], HOOKS["swzverify-sources"]["files"]
    assert re.search(specs, f"specs/a{SUFFIX}")
    assert not re.search(specs, "specs/a.yaml")
    for suffix in SOURCE_SUFFIXES:
        assert re.search(sources, f"src/a{suffix}"), suffix
        assert re.search(sources, f"src/a{suffix.upper()}"), suffix
    named = re.search(r"\(([a-z|]+)\)", sources)
    assert named is not None
    assert {f".{suffix}" for suffix in named[1].split("|")} == set(SOURCE_SUFFIXES)


@pytest.mark.parametrize("name", ["swzverify", "swzverify-all"])
def test_specs_pass_and_fail(tmp_path, name):
    write(tmp_path, good__swz__yaml=GOOD)
    done = run_hook(name, tmp_path, "good.swz.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    write(tmp_path, bad__swz__yaml=BAD)
    done = run_hook(name, tmp_path, "good.swz.yaml", "bad.swz.yaml")
    assert done.returncode == 1
    assert "bad.swz.yaml:3" in done.stdout
    assert "good.swz.yaml" not in done.stdout


def test_everything_is_proved_whatever_the_commit_has(tmp_path):
    write(tmp_path, bad__swz__yaml=BAD, kernel__cu="int x;\n")
    assert run_hook("swzverify-all", tmp_path, "kernel.cu").returncode == 1
    assert HOOKS["swzverify-all"]["always_run"] is True


def test_a_source_without_a_contract_passes_and_one_with_a_false_one_fails(tmp_path):
    write(tmp_path, plain__cu="__global__ void f() {}\n", tool__py="x = 1\n")
    done = run_hook("swzverify-sources", tmp_path, "plain.cu", "tool.py")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    for text, code in ((GOOD, 0), (BAD, 1), (GOOD.replace("bijective", "bijektive"), 2)):
        block = "".join(f"// {line}\n" for line in ["swz:begin", *text.splitlines(), "swz:end"])
        write(tmp_path, kernel__cu=f"int x;\n{block}")
        done = run_hook("swzverify-sources", tmp_path, "plain.cu", "kernel.cu")
        assert done.returncode == code, done.stdout + done.stderr


def test_the_hook_for_specs_does_not_let_an_empty_one_pass(tmp_path):
    write(tmp_path, empty__swz__yaml=GOOD.replace("[{bijective: A}]", "[]"))
    assert run_hook("swzverify", tmp_path, "empty.swz.yaml").returncode in {2, 5}


@pytest.mark.parametrize("name", ["--output=x.swz.yaml", "--allow-no-claims.swz.yaml", "-h.swz.yaml"])
def test_no_file_is_an_option_by_its_name(tmp_path, name):
    (tmp_path / name).write_text(BAD, encoding="utf-8")
    done = run_hook("swzverify", tmp_path, name)
    assert done.returncode == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_options_go_before_the_dashes(tmp_path):
    write(tmp_path, good__swz__yaml=GOOD)
    assert run_hook("swzverify", tmp_path, "good.swz.yaml", args=["--select", "covers", "--"]).returncode == 5
