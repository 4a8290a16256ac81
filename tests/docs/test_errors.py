"""The pages of docs/errors/: every example is run, its output is the page's, and codes, pages and index agree.

A page's examples are fenced blocks below a comment that says what they are:

- `<!-- wrong -->`: it must fail with the page's code and no other; the ```text block after it is all it prints.
- `<!-- mended -->`: the same without the mistake, which must go through; a ```text block after it is what it prints.
- `<!-- file: NAME -->`: a file that the commands read.
- `simulated: NAME` after a comma: in a condition that an ordinary machine cannot be brought into; see `SIMULATED`.

A ```yaml block is a spec, proved as `kernel.swz.yaml`; ```sh is lines for a shell, of which `swzverify` runs in this
process and the last one's output counts; ```python is a snippet. A page's blocks share one folder and run in its order.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import swzverify
from swzverify.certificates import solvers
from swzverify.cli import main
from swzverify.error_codes import TITLES
from swzverify.errors import SwzError
from swzverify.gpu import calibrate as gpu_calibrate
from swzverify.gpu import crosscheck as gpu_crosscheck
from swzverify.gpu.calibration import load_calibration
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.launch import Answer
from swzverify.gpu.plan import Plan
from swzverify.gpu.recording import load_recording
from swzverify.run import fault, one, pool
from swzverify.spec import SpecError
from tests.gpu.simulated import answers_of
from tests.gpu.specs import H100, priced
from tests.gpu.test_calibration import honest

PACKAGE = Path(swzverify.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "errors"
CODE = re.compile(r"SWZ[0-9]{3}")
SPEC = "kernel.swz.yaml"

_MARK = re.compile(r"<!-- (?:(wrong|mended)(?:, simulated: (\w+))?|file: (\S+)) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block with what stands in the comment above it; `output` is the text block below it."""

    line: int
    role: str
    language: str
    text: str
    simulated: str = ""
    output: str | None = None


def read_blocks(page: str) -> list[Block]:
    """The blocks of a page; a block that is no example and no output is refused."""
    blocks: list[Block] = []
    lines = page.splitlines()
    at, mark = 0, None
    while at < len(lines):
        line = lines[at]
        if line.startswith("<!--"):
            mark = _MARK.fullmatch(line)
            assert mark, f"line {at + 1}: {line} is none of the marks"
            assert lines[at + 1].startswith("```"), f"line {at + 1}: a mark stands right above its block"
        elif line.startswith("```"):
            end = lines.index("```", at + 1)
            text = "".join(f"{row}\n" for row in lines[at + 1 : end])
            if mark is None:
                assert line == "```text", f"line {at + 1}: a block without a mark"
                assert blocks[-1].output is None, f"line {at + 1}: a second output"
                assert blocks[-1].role in ("wrong", "mended"), f"line {at + 1}: the output of a file"
                before = blocks.pop()
                blocks.append(Block(before.line, before.role, before.language, before.text, before.simulated, text))
            else:
                role = f"file: {mark[3]}" if mark[3] else mark[1]
                blocks.append(Block(at + 1, role, line[3:], text, mark[2] or ""))
            at, mark = end, None
        at += 1
    return blocks


def pages() -> list[Path]:
    return sorted(PAGES.glob("SWZ*.md"))


@cache
def raised() -> dict[str, str]:
    """Every code that the package can raise, with a file that does; comparisons and docstrings raise nothing."""
    found: dict[str, str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.name == "error_codes.py":
            continue
        for text in _texts(ast.parse(file.read_text(encoding="utf-8"))):
            for code in CODE.findall(text):
                found.setdefault(code, str(file.relative_to(PACKAGE.parent)))
    return found


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts of a tree that are neither a docstring nor compared with anything."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.Compare | ast.MatchValue):
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from _texts(child)


def test_the_table_has_what_the_package_raises() -> None:
    untitled = {code: file for code, file in raised().items() if code not in TITLES}
    assert not untitled, f"raised, but not in swzverify/error_codes.py: {untitled}"
    stale = [code for code in TITLES if code not in raised()]
    assert not stale, f"in swzverify/error_codes.py, but raised nowhere: {stale}"
    assert list(TITLES) == sorted(TITLES)


def test_every_code_has_a_page() -> None:
    found = {page.stem for page in pages()}
    missing = {code: file for code, file in raised().items() if code not in found}
    assert not missing, f"raised, but without a page in docs/errors/: {missing}"
    stale = sorted(found - set(raised()))
    assert not stale, f"a page in docs/errors/ for a code that is raised nowhere: {stale}"


def test_the_index_lists_the_titles() -> None:
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \| (.+) \|$", (PAGES / "index.md").read_text("utf-8"), re.M)
    assert listed == [(code, code, title) for code, title in TITLES.items()]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_form(page: Path) -> None:
    """Title, an example of either kind, and the source of the rule."""
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}: {TITLES[page.stem]}\n")
    roles = [block.role for block in read_blocks(text)]
    assert "wrong" in roles
    assert "mended" in roles
    assert re.search(r"^Source: ", text, re.M), "where the rule comes from is missing"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "SWZVERIFY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for load in (load_calibration, load_recording):
        load.cache_clear()  # they remember files by their names, which pages share
    for block in read_blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        if block.role.startswith("file: "):
            file = Path(block.role.removeprefix("file: "))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            continue
        with monkeypatch.context() as condition:
            if block.simulated:
                SIMULATED[block.simulated](condition, tmp_path)
            failed, output = run_block(block)
        if block.role == "wrong":
            assert failed, f"{where}: nothing is wrong with it: {output}"
            assert set(CODE.findall(output)) == {page.stem}, f"{where}: {output}"
            assert block.output is not None, f"{where}: what it prints is missing: {output}"
        else:
            assert not failed, f"{where}: it is not mended: {output}"
            assert not CODE.search(output), f"{where}: {output}"
        if block.output is not None:
            assert output == block.output, where


def run_block(block: Block) -> tuple[bool, str]:
    """Whether a block fails, and what it prints; of a command with messages of errors, those alone."""
    match block.language:
        case "yaml":
            Path(SPEC).write_text(block.text, encoding="utf-8")
            return run_command(["prove", SPEC])
        case "sh":
            return run_shell(block.text)
        case "python":
            return run_python(block.text)
        case other:
            raise AssertionError(f"no way to run {other!r}")


def run_command(arguments: list[str]) -> tuple[bool, str]:
    """Run swzverify in this process."""
    result = CliRunner().invoke(main, arguments, prog_name="swzverify")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code != 0, _plain(result.stderr or result.stdout)


def run_shell(text: str) -> tuple[bool, str]:
    """Run lines as a shell would; the last one may fail."""
    failed, output = False, ""
    for line in text.splitlines():
        assert not failed, f"before {line!r}: {output}"
        if line.startswith("swzverify "):
            failed, output = run_command(shlex.split(line, comments=True)[1:])
        else:
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
            failed, output = done.returncode != 0, done.stdout + done.stderr
    return failed, output


def run_python(text: str) -> tuple[bool, str]:
    """Run a snippet; what it prints, or what the error that it ends with says."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(text, "<snippet>", "exec"), {"__name__": "snippet"})  # noqa: S102 - the page's own
    except (SwzError, SpecError) as error:
        return True, f"{error}\n"
    return False, out.getvalue()


def _plain(output: str) -> str:
    """The output without the working folder in its paths, and without blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in output.replace(f"{Path.cwd()}/", "").splitlines())


def _a_gpu(condition: pytest.MonkeyPatch, _: Path) -> None:
    """A device of plain loops, which agrees."""

    def functions(plans: dict[str, Plan], *_: object) -> tuple[DeviceFacts, dict[str, list[Answer]]]:
        return H100, {name: answers_of(plan) for name, plan in plans.items()}

    condition.setattr(gpu_crosscheck, "run_functions", functions)
    condition.setattr(gpu_crosscheck, "measure", lambda wanted, *_: priced(wanted))
    condition.setattr(gpu_calibrate, "calibrate", lambda *_: honest())


def _counters_of(body: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """The same device, its costs taken by a profiler that does what the lines of shell say; none without them."""

    def simulate(condition: pytest.MonkeyPatch, folder: Path) -> None:
        measure = gpu_crosscheck.measure
        _a_gpu(condition, folder)
        condition.setattr(gpu_crosscheck, "measure", measure)
        programs = folder / "programs"
        programs.mkdir()
        condition.setenv("PATH", str(programs))
        if body:
            (programs / "ncu").write_text(f"#!/bin/sh\n{body}\n")
            (programs / "ncu").chmod(0o755)

    return simulate


def _worker_of(body: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """A program in place of the Python that talks to the device; it finds the folder of the job as `$4`."""

    def simulate(condition: pytest.MonkeyPatch, folder: Path) -> None:
        program = folder / "python"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        work = gpu_crosscheck.work
        condition.setattr(gpu_crosscheck, "work", lambda at, arguments, _: work(at, arguments, str(program)))

    return simulate


def _no_proofs(condition: pytest.MonkeyPatch, folder: Path) -> None:
    condition.setattr(swzverify, "__file__", str(folder / "site-packages" / "swzverify" / "__init__.py"))


def _no_solver(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setattr(solvers, "find_spec", lambda _: None)
    condition.setattr(solvers, "shutil", SimpleNamespace(which=lambda _: None))


def _a_fault(condition: pytest.MonkeyPatch, _: Path) -> None:
    """An exception from a line that no edit moves, reported with versions that no upgrade changes."""
    names: dict[str, Callable[..., None]] = {}
    exec(compile("\n" * 119 + "def load_spec(*_, **__): raise KeyError('stage')", "build.py", "exec"), names)  # noqa: S102
    condition.setattr(one, "load_spec", names["load_spec"])
    condition.setattr(fault, "versions", lambda: "swzverify 0.1.0, z3-solver 5.0.0, Python 3.12.3")


def _a_killed_process(condition: pytest.MonkeyPatch, _: Path) -> None:
    def killed(*_: object, **__: object) -> tuple[object, object]:
        ours, theirs = Pipe()
        theirs.close()
        return SimpleNamespace(exitcode=-9, join=lambda: None, terminate=lambda: None), ours

    condition.setattr(pool, "start", killed)


SIMULATED: dict[str, Callable[[pytest.MonkeyPatch, Path], None]] = {
    "a_gpu": _a_gpu,
    "no_gpu": _worker_of('printf "no NVIDIA driver: libcuda.so.1 was not found" > "$4/refused"; exit 3'),
    "lost_device": _worker_of("kill -9 $$"),
    "no_profiler": _counters_of(""),
    "counters_denied": _counters_of("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1"),
    "profiler_fails": _counters_of("echo '==ERROR== The application returned an error code (9).' >&2; exit 9"),
    "no_proofs": _no_proofs,
    "no_solver": _no_solver,
    "a_fault": _a_fault,
    "a_killed_process": _a_killed_process,
}
"""What the pages' conditions stand for; no GPU and no profiler is asked, whether the machine has them or not."""
