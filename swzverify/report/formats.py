"""The registry of what a report can be written as: a name and a renderer for each format.

Other packages add formats by entry points of the group `swzverify.formats`: a function that takes a
`Report` and the exit code, and returns the text. Nothing slow is imported here: `--help` shows the names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from swzverify.core.outside import Group, load, refuse

if TYPE_CHECKING:
    from swzverify.report.result import Report
    from swzverify.report.rules import Vocabulary
    from swzverify.report.style import TextStyle


class Format(StrEnum):
    """What the report of `prove` and `scan` can be written as."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    MARKDOWN = "markdown"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Writing:
    """What a renderer may need beside the report.

    `words` are the rules and the exit codes, where they are not those of claims; `text` is what the
    log shows, where it is not the report's own text.
    """

    code: int
    style: TextStyle
    version: str
    words: Vocabulary | None = None
    text: str | None = None


Render: TypeAlias = "Callable[[Report, Writing], str]"


def _of(module: str) -> Any:
    """A module of the formats, which is imported at its first use."""
    return import_module(f"swzverify.report.{module}")


_RENDERERS: Mapping[str, Render] = {
    Format.TEXT: lambda report, to: _of("text").render_text(report, replace(to.style, by_file=True)),
    Format.JSON: lambda report, _: _of("json").render_json(report),
    Format.JSONL: lambda report, to: _of("jsonl").render_jsonl(report, to.code),
    Format.JUNIT: lambda report, to: _of("junit").render_junit(report, version=to.version, exit_code=to.code),
    Format.SARIF: lambda report, to: _of("sarif").render_sarif(
        report, version=to.version, exit_code=to.code, vocabulary=to.words
    ),
    Format.GITHUB: lambda report, to: _of("github").render_github(report, to.style, to.code, to.text),
    Format.MARKDOWN: lambda report, to: _of("markdown").render_markdown(report, exit_code=to.code),
    Format.HTML: lambda report, to: _of("html.page").render_html(report, exit_code=to.code, vocabulary=to.words),
}
WITH_PICTURES = frozenset({Format.HTML})
"""The formats that show pictures, which are drawn while the run goes."""


def render(form: str, report: Report, to: Writing) -> str:
    """A report in a format.

    Raises:
        SwzError: SWZ821 if a format of another package fails.
    """
    if form in _RENDERERS:
        return _RENDERERS[form](report, to)
    renderer = outside_format(form)
    try:
        text = renderer(report, int(to.code))
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        raise refuse(Group.FORMATS, form, found, "it returns the report's text, and raises no error") from error
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # the package may return anything
        raise refuse(Group.FORMATS, form, f"it returned {text!r}", "it returns the report's text")
    return text


def outside_format(form: str) -> Callable[[Report, int], str]:
    """The renderer that another package adds.

    Raises:
        SwzError: SWZ821 if it cannot be used.
    """
    found = load(Group.FORMATS, form)
    if not callable(found):
        raise refuse(Group.FORMATS, form, f"it is {found!r}", "it must be a function of a report and an exit code")
    return cast("Callable[[Report, int], str]", found)
