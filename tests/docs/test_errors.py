"""The pages of docs/errors/: every example is run, its output is the page's, and codes, pages and
index agree.

A page's examples are fenced blocks below a comment that says what they are:

- `<!-- wrong -->`: it must fail with the page's code and no other; the ```text block after it is
  all it prints.
- `<!-- mended -->`: the same without the mistake, which must go through; a ```text block after it
  is what it prints.
- `<!-- file: NAME -->`: a file that the commands read.
- `simulated: NAME` after a comma: in a condition that an ordinary machine cannot be brought into;
  see `conditions.py`.

A ```yaml block is a spec, proved as `kernel.swz.yaml`; ```sh is lines for a shell, of which
`swzverify` and `python -m pytest` run in this process, pytest with this package's plugin alone; the
last one's output counts, and all others must succeed, but for those that end with `||
true`. ```python is a snippet. A page's blocks share one folder and run in its order; git there has
no settings but a committer.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import swzverify
from swzrecheck.errors import CertificateError
from swzverify.apps.cli import main
from swzverify.core.error_codes import TITLES
from swzverify.errors import SwzError
from swzverify.gpu.calibration import load_calibration
from swzverify.gpu.recording import load_recording
from swzverify.spec import SpecError
from tests.docs.conditions import SIMULATED, plain_conditions
from tests.inner_pytest import run_inner

PACKAGE = Path(swzverify.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "errors"
CODE = re.compile(r"SWZ[0-9]{3}")
SPEC = "kernel.swz.yaml"
PYTEST = "python -m pytest "

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
    """Every code that the package can raise, with a file that does; comparisons and docstrings
    raise nothing.
    """
    found: dict[str, str] = {}
    for file in sorted([*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "swzrecheck").rglob("*.py")]):
        if file.name == "error_codes.py":
            continue
        source = file.read_text(encoding="utf-8")
        for text in _texts(ast.parse(source)) if CODE.search(source) else ():
            for code in CODE.findall(text):
                found.setdefault(code, str(file.relative_to(PACKAGE.parent)))
    return found


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts of a tree that are neither a docstring nor compared with anything."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        if not isinstance(each, ast.Compare | ast.MatchValue):
            left += [
                child
                for child in ast.iter_child_nodes(each)
                if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
            ]


def test_the_table_has_what_the_package_raises() -> None:
    untitled = {code: file for code, file in raised().items() if code not in TITLES}
    assert not untitled, f"raised, but not in swzverify/core/error_codes.py: {untitled}"
    stale = [code for code in TITLES if code not in raised()]
    assert not stale, f"in swzverify/core/error_codes.py, but raised nowhere: {stale}"
    assert list(TITLES) == sorted(TITLES)


def test_every_code_has_a_page() -> None:
    found = {page.stem for page in pages()}
    missing = {code: file for code, file in raised().items() if code not in found}
    assert not missing, f"raised, but without a page in docs/errors/: {missing}"
    stale = sorted(found - set(raised()))
    assert not stale, f"a page in docs/errors/ for a code that is raised nowhere: {stale}"


def test_the_index_and_the_titles_of_pages_are_what_is_generated() -> None:
    written = dict(runpy.run_path(str(PAGES / "generate.py"))["written"]())
    assert {*written} == {*pages(), PAGES / "index.md"}
    stale = [path.name for path, text in written.items() if path.read_text("utf-8") != text]
    assert not stale, "write them again: python docs/errors/generate.py"
    assert (PAGES / "index.md").read_text("utf-8").count("| [SWZ") == len(TITLES)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_form(page: Path) -> None:
    """An example of either kind, and the source of the rule."""
    text = page.read_text(encoding="utf-8")
    roles = [block.role for block in read_blocks(text)]
    assert "wrong" in roles
    assert "mended" in roles
    assert re.search(r"^Source: ", text, re.M), "where the rule comes from is missing"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain_conditions(monkeypatch, tmp_path)
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
        command = line.removesuffix(" || true")
        if command.startswith("swzverify "):
            failed, output = run_command(shlex.split(command, comments=True)[1:])
        elif command.startswith(PYTEST):
            failed, output = run_pytest(shlex.split(command.removeprefix(PYTEST), comments=True))
        else:
            path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
            words = ["sh", "-c", command]
            done = subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
            failed, output = done.returncode != 0, done.stdout + done.stderr
        failed = failed and command == line
    return failed, output


def run_pytest(arguments: list[str]) -> tuple[bool, str]:
    """Run pytest in the folder, as if this package were the only plugin; every time that it prints
    is 0.01s.
    """
    unset = dict.fromkeys(name for name in os.environ if name.startswith("PYTEST_"))
    environment = {**unset, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    code, shown = run_inner(["-p", "swzverify.pytest_plugin", "-p", "no:cacheprovider", *arguments], **environment)
    output = re.sub(r"\bin [0-9.]+s\b", "in 0.01s", shown)
    return code != 0, _plain(output.strip("\n"))


def run_python(text: str) -> tuple[bool, str]:
    """Run a snippet; what it prints, or what the error that it ends with says."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(text, "<snippet>", "exec"), {"__name__": "snippet"})  # noqa: S102 - the page's own
    except (SwzError, SpecError, CertificateError, ModuleNotFoundError) as error:
        return True, f"{error}\n"
    return False, out.getvalue()


def _plain(output: str) -> str:
    """The output without the working folder in its paths, and without blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in output.replace(f"{Path.cwd()}/", "").splitlines())
