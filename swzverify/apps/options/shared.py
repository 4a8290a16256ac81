"""Options that several commands have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import click

from swzverify.apps.options.declare import POSITIVE, option, several
from swzverify.apps.options.values import OpenChoice, by_name, loop_in, named_value
from swzverify.core.outside import Group
from swzverify.report.formats import WITH_PICTURES, Format, outside_format

_FORMATS = OpenChoice(list(Format), Group.FORMATS, outside_format)

PICTURE_FORMATS = ("text", "svg", "html", "latex", "png")
"""What a picture can be drawn as."""
_PICTURES_BY_SUFFIX = {
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
    ".png": "png",
    ".txt": "text",
    ".json": "json",
}


class PageFormat(StrEnum):
    """What `diff` and `theorems` can write."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file to write, and what to write it as."""

    form: str
    path: str


def picture_format(file: str | None) -> str:
    """The format of a picture that a file's name says; text for any other name, and for none.

    >>> picture_format("a.svg"), picture_format("a.txt"), picture_format(None)
    ('svg', 'text', 'text')
    """
    return _PICTURES_BY_SUFFIX.get(os.path.splitext(file or "")[1].lower(), "text")


def report_files(values: Sequence[str]) -> tuple[ReportFile, ...]:
    """The pairs FORMAT=FILE; a usage error for what is no such pair."""
    return tuple(map(_report_file, values))


def _report_file(value: str) -> ReportFile:
    form, equals, path = value.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{value!r} is not FORMAT=FILE, such as sarif=out.sarif")
    if not _FORMATS.knows(form):
        raise click.BadParameter(f"{form!r} is no format; formats: {', '.join(_FORMATS.names)}")
    return ReportFile(_FORMATS.convert(form, None, None), path)


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the reports of `prove` and `scan` go, and as what."""

    form: str = option("--format", "What to write the report as.", _FORMATS, default=Format.TEXT.value, writes=True)
    output: str | None = option("--output FILE", "Write the report to a file instead of standard output.", writes=True)
    others: tuple[ReportFile, ...] = several(
        "--report FORMAT=FILE",
        "Write the report to this file as well, such as sarif=out.sarif; may be given again.",
        convert=report_files,
        writes=True,
    )

    @property
    def files(self) -> tuple[ReportFile, ...]:
        """The reports that are written to files; the first one is the main one where it is no terminal's."""
        return self.others if self.output is None else (ReportFile(self.form, self.output), *self.others)

    @property
    def shows_pictures(self) -> bool:
        """Whether one of the reports shows pictures, which are drawn while the run goes."""
        return not WITH_PICTURES.isdisjoint({self.form, *(file.form for file in self.others)})


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """What accesses a layout that is given in place of a spec, and where."""

    element: str | None = option("--element TYPE", "The elements of a layout.  [default: f32]")
    coord: str | None = option(
        "--coord EXPRS", "For a layout: the coordinate that each lane accesses, such as 'lane,0'."
    )
    instruction: str | None = option(
        "--instruction NAME", "The instruction that accesses it.  [default: a load of one element]"
    )
    threads: int = option("--threads", "The threads of the block, for --coord.", click.IntRange(1, 1024), default=32)
    loops: Mapping[str, range] = several(
        "--for NAME=STOP",
        "A loop around --coord: k=4, or k=0:64:16.",
        convert=by_name("--for", "such as k=4 or k=0:64:16", loop_in),
    )
    at: Mapping[str, int] = several(
        "--at NAME=N",
        "The warp instruction at these values, such as warp=1, of a loop, or of a constant.",
        convert=by_name("--at", "such as warp=1 or k=16", named_value),
    )


def jobs_option(help: str) -> None:
    """The number of processes."""
    return option("-j, --jobs N", help, POSITIVE, writes=True)
