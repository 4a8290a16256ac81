"""An option is declared once, in a dataclass: click's command, the defaults and the words follow from it."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import typing
from dataclasses import dataclass
from enum import EnumType
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from swzverify.apps import options
from swzverify.apps.cli import COMMANDS, main, options_of, work_of
from swzverify.apps.options.declare import Options, argument, asked, command, flag, group, option, several
from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.options.shared import Format, PageFormat, ReportFile, Reports
from swzverify.apps.options.values import by_name, named_value
from swzverify.apps.run.scan_check import spelled

APPS = Path(options.__file__).parents[1]
HELP = """\
import sys
from click.testing import CliRunner
from swzverify.apps.cli import COMMANDS, main
for words in ([], *([name] for name in COMMANDS)):
    assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0, words
print(*(name for name in sys.modules if name.startswith("swz")))
print(*({name.partition(".")[0] for name in sys.modules} - {*sys.stdlib_module_names, *before}))
"""


def options_parameters(name: str) -> list[click.Parameter]:
    made = main.get_command(click.Context(main), name)
    assert made is not None
    return made.params


@dataclass(frozen=True, slots=True)
class Sample(Options):
    """Do something."""

    files: tuple[str, ...] = argument("FILE...")
    style: PageFormat = option("--style", "The style.", PageFormat, default=PageFormat.TEXT, writes=True)
    pages: tuple[PageFormat, ...] = several("--page", "A page.", PageFormat)
    at: dict[str, int] = several("--at NAME=N", "A value.", convert=by_name("--at", "such as k=1", named_value))
    reports: Reports = group(Reports)
    cures: bool = flag("-n, --no-cures", "Look for none.", turns=False)
    seen: int = 7


def parsed(kind: type[Options], *words: str) -> Options:
    """What the work of a command gets."""
    got: list[Options] = []
    result = CliRunner().invoke(command("sample", kind, got.append), words)
    assert result.exit_code == 0, result.output
    return got[0]


def test_values_reach_their_fields() -> None:
    words = ["a", "--style", "json", "--page", "markdown", "--at", "k=4", "--at", "m=5", "-n", "b"]
    assert parsed(Sample, *words, "--report", "sarif=x") == Sample(
        ("a", "b"),
        PageFormat.JSON,
        (PageFormat.MARKDOWN,),
        {"k": 4, "m": 5},
        Reports(others=(ReportFile(Format.SARIF, "x"),)),
        cures=False,
    )


def test_what_is_not_given_is_the_default() -> None:
    assert parsed(Sample, "a") == Sample(("a",))
    assert Sample(("a",)) == Sample(("a",), PageFormat.TEXT, (), {}, Reports(Format.TEXT, None, ()), cures=True, seen=7)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_defaults_of_a_command_are_those_of_its_options(name: str) -> None:
    kind = options_of(name)
    shell = ["bash"] if name == "completions" else ["a"]
    needed = [each for each in dataclasses.fields(kind) if each.default is each.default_factory is dataclasses.MISSING]
    given = parsed(kind, *(shell * len(needed)))
    several = {"files", "paths"}
    assert given == kind(**{each.name: tuple(shell) if each.name in several else shell[0] for each in needed})
    assert asked(given) == {}


def test_what_differs_from_the_defaults() -> None:
    given = parsed(Sample, "a", "--at", "k=4", "-n", "--style", "json", "--output", "x")
    assert asked(given) == {"--style": PageFormat.JSON, "--at": {"k": 4}, "--output": "x", "--no-cures": False}
    assert asked(given, writing=False) == {"--at": {"k": 4}, "--no-cures": False}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "--at", "k"], "Invalid value for --at: 'k': such as k=1"),
        (["a", "--at", "k=1", "--at", "k=2"], "Invalid value for --at: 'k' is given twice"),
        (["a", "--report", "x"], "Invalid value for '--report': 'x' is not FORMAT=FILE"),
        (["a", "--page", "html"], "Invalid value for '--page': 'html' is not one of 'text', 'json', 'markdown'."),
        ([], "Missing argument 'FILE...'."),
    ],
)
def test_a_wrong_value_is_an_error_of_the_usage(words: list[str], said: str) -> None:
    result = CliRunner().invoke(command("sample", Sample, lambda _: pytest.fail("it ran")), words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_new_option_is_one_field() -> None:
    @dataclass(frozen=True, slots=True)
    class More(ScanOptions):
        __doc__ = ScanOptions.__doc__
        extra: int = option("-x, --extra N", "Something more.", click.IntRange(min=1), default=3)

    shown = CliRunner().invoke(command("scan", More, lambda _: None), ["--help"]).output
    assert re.search(r"-x, --extra N +Something more\.  \[default: 3; x>=1\]", shown)
    given = parsed(More, "k.ptx", "--extra", "5", "-q")
    assert given == More(("k.ptx",), quiet=True, extra=5)
    assert isinstance(given, More)
    assert spelled(given) == "swzverify scan k.ptx --extra 5"


def test_no_option_is_declared_elsewhere() -> None:
    pattern = re.compile(r"click\.(option|argument|Option|Argument)\b")
    found = {
        path.relative_to(APPS).as_posix() for path in APPS.rglob("*.py") if pattern.search(path.read_text("utf-8"))
    }
    assert found == {"cli.py", "options/declare.py"}
    assert [each.name for each in main.params] == ["version"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_work_takes_the_options(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hints = typing.get_type_hints(work_of(name))
    assert [kind for parameter, kind in hints.items() if parameter != "return"] == [options_of(name)]
    got: list[object] = []
    monkeypatch.setattr(f"swzverify.apps.commands.{name}.{name}_command", got.append)
    words = ["bash"] if name == "completions" else ["a"] * any(each.required for each in options_parameters(name))
    result = CliRunner().invoke(main, [name, *words])
    assert result.exit_code == 0, result.output
    assert [type(each) for each in got] == [options_of(name)]


def test_help_imports_click_and_options_only() -> None:
    code = f"import sys\nbefore = {{name.partition('.')[0] for name in sys.modules}}\n{HELP}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours, others = (set(line.split()) for line in done.stdout.splitlines())
    assert others == {"click", "swzverify"}
    assert {f"swzverify.apps.options.{name}" for name in COMMANDS} <= ours
    assert {name for name in ours if not name.startswith("swzverify.apps.options")} == {
        "swzverify", "swzverify.apps", "swzverify.apps.cli", "swzverify.claims",
        "swzverify.core", "swzverify.core.lazy", "swzverify.core.outside", "swzverify.errors",
        "swzverify.report", "swzverify.report.formats", "swzverify.compiled", "swzverify.compiled.kinds",
    }  # fmt: skip


def test_a_command_imports_its_own_options_only() -> None:
    lines = ("import sys", "from swzverify.apps.cli import main", "try: main(['schema', '--help'])")
    code = "\n".join((*lines, "except SystemExit: print(*sys.modules)"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {name for name in COMMANDS if f"swzverify.apps.options.{name}" in loaded} == {"schema"}


KINDS = {click.IntRange: int, click.FloatRange: float, click.types.BoolParamType: bool}
CONVERTED = {"reports", "loops", "at", "rows", "columns", "heatmap", "weights", "others"}
"""Fields whose values `convert` makes; each has tests of its own."""


def typed_fields(kind: type) -> dict[str, object]:
    """The types of the fields that options fill without `convert`, those of groups included."""
    hints, found = typing.get_type_hints(kind), {}
    for each in dataclasses.fields(kind):
        if "group" in each.metadata:
            found |= typed_fields(each.metadata["group"])
        elif "declared" in each.metadata and each.name not in CONVERTED:
            found[each.name] = hints[each.name]
    return found


def value_of(parameter: click.Parameter, hint: object) -> object:
    """The type of one value, out of `tuple[T, ...]` where there may be several, or `T | None` without a default."""
    if getattr(parameter, "multiple", False) or parameter.nargs == -1:
        assert typing.get_origin(hint) is tuple
        assert typing.get_args(hint)[1] is Ellipsis
        return typing.get_args(hint)[0]
    may_be_none = not parameter.required and not isinstance(parameter.default, str | int | float)
    assert (type(None) in typing.get_args(hint)) is may_be_none
    if not may_be_none:
        return hint
    (found,) = [each for each in typing.get_args(hint) if each is not type(None)]
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_field_has_the_type_that_click_gives(name: str) -> None:
    parameters = {each.name: each for each in options_parameters(name)}
    fields = typed_fields(options_of(name))
    assert len(fields) >= len(parameters) - len(CONVERTED)
    for field, hint in fields.items():
        parameter = parameters[field]
        kind = value_of(parameter, hint)
        if typing.get_origin(kind) is typing.Literal:
            assert typing.get_args(kind) == tuple(parameter.type.choices)
        elif isinstance(kind, EnumType):
            assert [each.value for each in kind] == list(parameter.type.choices)
        else:
            assert kind is next((given for of, given in KINDS.items() if isinstance(parameter.type, of)), str), field
