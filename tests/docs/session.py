"""Runs what a page shows, in one folder a page, in the page's order, and holds what comes out
against what it says.

How a page says what a block is:

- `sh`: commands. Each must end with exit code 0, or with the N of a comment `# exit code N` behind
  it. A `text` block right after them is what the last one prints.
- `console`: commands behind `$ `, each followed by what it prints; `$ echo $?` shows the exit code
  of the one before, which must be 0 without it. A line `...` stands for any number of lines. Times
  are compared as times, not by their value.
- `yaml`, `python` and files of other languages whose first line is a comment with a file's name (or
  that have a mark `<!-- file: NAME -->` above) are written to that file. A command of the page must
  use it; a spec that none uses is proved.
- `yaml` with the key `swzverify`: a spec, proved; every claim must come out as expected. `<!--
  refused: SWZ104 -->` above says that it must be refused with that code, `<!-- fragment -->` that
  it is a part, whose form is checked.
- `python`: executed; what a `print(...)  # text` prints must be that text. Functions `test_...` are
  run by pytest.
- `pycon`: a session of Python, run as a doctest.
- `json`, `toml`, `ini`: parsed. `math`: drawn by the build of the site.
- `<!-- not run here: REASON -->` above a block says why it is not; `test_pages.py` lists all of
  these. Its commands must still exist, with their options.

Where a page's commands speak of `specs`, its folder has them: two files of the library and every
one that the page names; `tests/test_library.py` proves all of it.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from click.testing import CliRunner
from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from swzverify.apps.cli import main
from swzverify.spec.models import SpecPart
from tests.docs.blocks import ROOT, Block
from tests.docs.unrun import PageError, check_command, check_parsed, check_unrun
from tests.inner_pytest import run_inner

COLUMNS = "112"
"""The width of the terminal that the pages show."""

_TIME = re.compile(r" *(?<![\w.])(?:<1 ms|[0-9]+ ms|[0-9]+\.[0-9] s|[0-9]+ min [0-9]+ s)(?![\w.])")
_EXIT = re.compile(r"\s+#\s*exit code (\d+)\s*$")
_LIBRARY = ("specs/transpose/naive_32x32.swz.yaml", "specs/transpose/swizzled_32x32.swz.yaml")
_OUTWARD = re.compile(r"\b(sudo|pip|pipx|uv|apt|apt-get|npm|curl|wget|git clone|git push|pre-commit install)\b")
_SPEC_FILES = re.compile(r"(?:specs|tests)/[\w./-]+\.(?:yaml|json|npz)")


@dataclass
class Session:
    """What the blocks of one page have in common: a folder, the last command's exit code and
    output.
    """

    page: str
    folder: Path
    elsewhere: frozenset[str] = frozenset()
    """Commands that another test runs, for which there is no time here."""
    commands: list[str] = field(default_factory=list)
    files: list[Block] = field(default_factory=list)
    exit_code: int = 0
    output: str = ""
    rewritten: dict[int, str] | None = None
    """Where it is a mapping, consoles are not compared: it gets what each should be, by its line.
    """

    def run(self, blocks: list[Block]) -> None:
        """Run a page's blocks; the working folder is `folder` meanwhile."""
        self._lay_out(blocks)
        before: Block | None = None
        with contextlib.chdir(self.folder):
            for block in blocks:
                try:
                    self._block(block, before)
                except PageError as wrong:
                    raise PageError(f"{self.page}:{block.line}: {wrong}") from None
                before = block
            for block in self.files:
                self._used(block)

    def _lay_out(self, blocks: list[Block]) -> None:
        shells = [block.text for block in blocks if block.language in {"sh", "console"}]
        library = _LIBRARY if any(re.search(r"\bspecs\b", text) for text in shells) else ()
        for text in (" ".join(library), *(block.text for block in blocks)):
            for name in _SPEC_FILES.findall(text):
                if (ROOT / name).is_file():
                    (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, self.folder / name)

    def _block(self, block: Block, before: Block | None) -> None:
        if block.mark("not run here") is not None:
            check_unrun(block)
            return
        if block.file:
            target = self.folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            self.files.append(block)
        match block.language:
            case "sh":
                self._script(block)
            case "console":
                self._console(block)
            case "text":
                self._text(block, before)
            case "yaml":
                self._yaml(block)
            case "python":
                self._python(block)
            case "pycon":
                _doctest(block)
            case "json" | "toml" | "ini":
                check_parsed(block)
            case "math":
                pass
            case "c" | "cpp" | "ptx" | "cuda" | "dockerfile" | "diff" if block.file:
                pass
            case other:
                raise PageError(
                    f"a block of `{other or 'no language'}` that nothing runs; name its file, or say `not run here`"
                )

    def _script(self, block: Block) -> None:
        for line in _joined(block.text.splitlines()):
            command = line.strip()
            if not command or command.startswith("#"):
                continue
            stated = _EXIT.search(command)
            if command in self.elsewhere:
                check_command(command)
                continue
            self._command(re.sub(r"\s+#\s.*$", "", command))
            expected = int(stated[1]) if stated else 0
            if self.exit_code != expected:
                raise PageError(f"`{command}` ended with {self.exit_code}, not {expected}:\n{self.output}")

    def _console(self, block: Block) -> None:
        steps = _steps(block.text)
        if self.rewritten is not None:
            self.rewritten[block.line] = "".join(self._anew(command, shown) for command, shown in steps)
            return
        for (command, shown), following in zip(steps, [*steps[1:], None], strict=True):
            if command == "echo $?":
                if shown != [str(self.exit_code)]:
                    raise PageError(f"the exit code was {self.exit_code}, not {shown}")
                continue
            self._command(command)
            _compare(command, shown, self.output)
            if self.exit_code and (following is None or following[0] != "echo $?"):
                raise PageError(f"`{command}` ended with {self.exit_code}, which the page does not show")

    def _anew(self, command: str, shown: list[str]) -> str:
        """The command and what it prints now; where the page leaves lines out, only times may have
        changed.
        """
        if command == "echo $?":
            return f"$ echo $?\n{self.exit_code}\n"
        self._command(command)
        if "..." in [line.strip() for line in shown]:
            _compare(command, shown, self.output)
            return "\n".join([f"$ {command}", *shown, ""])
        return "\n".join([f"$ {command}", *(line.rstrip() for line in self.output.rstrip().splitlines()), ""])

    def _text(self, block: Block, before: Block | None) -> None:
        if before is None or before.language != "sh" or before.mark("not run here") is not None:
            raise PageError("output of no command; say what it is by `not run here`")
        _compare(self.commands[-1], block.text.splitlines(), self.output)

    def _yaml(self, block: Block) -> None:
        try:
            value = YAML(typ="safe", pure=True).load(block.text)
        except YAMLError as error:
            if block.mark("refused") is None:
                raise PageError(f"no YAML: {error}") from None
            value = {"swzverify": 1}
        if block.mark("fragment") is not None:
            _fragment(value)
        elif not isinstance(value, dict) or ("swzverify" not in value and block.mark("refused") is None):
            if not block.file:
                raise PageError("neither a spec nor a file that a command uses")
        elif not block.file:
            self._spec(block)

    def _spec(self, block: Block) -> None:
        name = f"line_{block.line}.swz.yaml"
        Path(name).write_text(block.text, encoding="utf-8")
        self._command(f"swzverify prove {name}")
        code = block.mark("refused")
        if code and (self.exit_code != 2 or code not in self.output):
            raise PageError(f"was to be refused with {code}; exit code {self.exit_code}:\n{self.output}")
        if not code and self.exit_code:
            raise PageError(f"does not come out as expected:\n{self.output}")

    def _python(self, block: Block) -> None:
        if block.file:
            return
        if re.search(r"^def test_", block.text, re.MULTILINE):
            name = f"test_line_{block.line}.py"
            Path(name).write_text(block.text, encoding="utf-8")
            self._command(f"python -m pytest -q -p no:cacheprovider {name}")
            if self.exit_code:
                raise PageError(f"fails:\n{self.output}")
            return
        _execute(block.text)

    def _used(self, block: Block) -> None:
        name = block.file or ""
        if any(_names(command, name) for command in self.commands):
            return
        if name.endswith(".swz.yaml"):
            self._command(f"swzverify prove {name}")
            if not self.exit_code:
                return
            raise PageError(f"{self.page}:{block.line}: {name} does not come out as expected:\n{self.output}")
        raise PageError(f"{self.page}:{block.line}: no command uses {name}")

    def _command(self, command: str) -> None:
        """Run one line: our own commands and pytest in this process, all others in a shell."""
        if _OUTWARD.search(command):
            raise PageError(f"`{command}` reaches beyond the page's folder; say `not run here`")
        self.commands.append(command)
        words = shlex.split(command)
        if words[0] == "swzverify" and not re.search(r"[|<>;&$]", command):
            result = CliRunner(env={"COLUMNS": COLUMNS}).invoke(main, words[1:], prog_name="swzverify")
            if result.exception and not isinstance(result.exception, SystemExit):
                raise result.exception
            self.exit_code, self.output = result.exit_code, result.output
            return
        # hypothesis's plugin, which no page needs, takes longer to import than all else that a
        # pytest command does
        pytest_options = "-p no:hypothesispytest -p no:cacheprovider"
        pytest_words = words[3:] if words[:3] == ["python", "-m", "pytest"] else words[1:]
        if (words[0] == "pytest" or len(pytest_words) < len(words) - 1) and not re.search(r"[|<>;&$]", command):
            changed = {"COLUMNS": COLUMNS, "NO_COLOR": "1", "PYTEST_ADDOPTS": pytest_options}
            self.exit_code, self.output = run_inner(pytest_words, **changed)
            return
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        done = subprocess.run(
            ["bash", "-c", command],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env={**os.environ, "PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1", "PYTEST_ADDOPTS": pytest_options},
            timeout=120,
        )
        self.exit_code, self.output = done.returncode, done.stdout


def _joined(lines: list[str]) -> list[str]:
    """The lines, those that end with a backslash together with what follows."""
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def _steps(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console, each with the lines below it."""
    steps: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:].strip(), []))
        elif line.startswith("> ") and steps and steps[-1][0].endswith("\\") and not steps[-1][1]:
            steps[-1] = (steps[-1][0][:-1] + line[2:].strip(), [])
        elif steps:
            steps[-1][1].append(line)
        else:
            raise PageError("a console begins with `$ ` and a command")
    return steps


def _lines(lines: list[str]) -> list[str]:
    """The lines as they are compared: times alike, no blanks at the ends, none empty at the
    beginning and end.
    """
    text = "\n".join(_TIME.sub(" TIME", line).rstrip() for line in lines)
    return text.strip("\n").splitlines()


def _compare(command: str, shown: list[str], output: str) -> None:
    """Hold what a page shows against what came out, `...` standing for any number of lines."""
    wanted, actual = _lines(shown), _lines(output.splitlines())
    parts: list[list[str]] = [[]]
    for line in wanted:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    at = 0
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        starts = [0] if index == 0 else [len(actual) - len(part)] if last else range(at, len(actual) - len(part) + 1)
        found = next((start for start in starts if start >= at and actual[start : start + len(part)] == part), None)
        if found is None or (last and found + len(part) != len(actual)):
            raise PageError(f"`{command}` does not print\n" + "\n".join(part) + "\n-- it prints\n" + output)
        at = found + len(part)


def _names(command: str, file: str) -> bool:
    """Whether a command's words name the file, a folder that it lies in, or a pattern that it
    matches.
    """
    for word in shlex.split(command)[1:]:
        path = PurePosixPath(word)
        if PurePosixPath(file).is_relative_to(path) or PurePosixPath(file).match(word):
            return True
    return bool(re.search(rf"\b{re.escape(file)}\b", command)) or command.startswith(("pytest", "python -m pytest"))


def _fragment(value: object) -> None:
    """Check the form of a part of a spec: a list is one of claims, a mapping has keys of a spec."""
    whole = {"claims": value} if isinstance(value, list) else value
    if not isinstance(whole, dict):
        raise PageError("a fragment is a list of claims or a mapping")
    try:
        SpecPart.model_validate({"swzverify": 1, **whole})
    except ValidationError as error:
        raise PageError(f"no part of a spec: {error}") from None


def _execute(source: str) -> None:
    """Run statements one by one; what a `print(...)  # text` prints must be that text."""
    lines = source.splitlines()
    namespace: dict[str, object] = {"__name__": "__snippet__"}
    for statement in ast.parse(source).body:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(ast.Module([statement], []), "<snippet>", "exec"), namespace)  # noqa: S102
        comment = re.search(r"\)\s+# (.*)$", lines[(statement.end_lineno or 1) - 1])
        printed = said.getvalue().rstrip("\n")
        if printed and not comment:
            raise PageError(f"prints {printed!r}, which the page does not show")
        if printed and comment and printed != comment[1].strip():
            raise PageError(f"prints {printed!r}, not {comment[1]!r}")


def _doctest(block: Block) -> None:
    """A session of Python, with nothing defined before it."""
    test = doctest.DocTestParser().get_doctest(block.text, {}, "the block", None, 0)
    told = io.StringIO()
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.write)
    if failed or not tried:
        raise PageError(told.getvalue() or "no line of it begins with >>>")
