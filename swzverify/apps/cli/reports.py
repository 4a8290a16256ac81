"""The options of `swzverify prove` and `swzverify scan` on where reports go, and as what."""

from __future__ import annotations

import click

from swzverify.apps.commands.choices import ReportFile
from swzverify.apps.commands.open_choice import OpenChoice
from swzverify.core.outside import Group
from swzverify.report.formats import Format, outside_format

_FORMATS = OpenChoice(list(Format), Group.FORMATS, outside_format)


def _report_files(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[ReportFile, ...]:
    """The pairs FORMAT=FILE; a usage error for what is no such pair."""
    return tuple(map(_report_file, values))


def _report_file(value: str) -> ReportFile:
    form, equals, path = value.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{value!r} is not FORMAT=FILE, such as sarif=out.sarif")
    if not _FORMATS.knows(form):
        raise click.BadParameter(f"{form!r} is no format; formats: {', '.join(_FORMATS.names)}")
    return ReportFile(_FORMATS.convert(form, None, None), path)


format_option = click.option(
    "--format",
    "form",
    type=_FORMATS,
    default=Format.TEXT.value,
    show_default=True,
    help="What to write the report as.",
)
output_option = click.option("--output", metavar="FILE", help="Write the report to a file instead of standard output.")
report_option = click.option(
    "--report",
    "reports",
    callback=_report_files,
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write the report to this file as well, such as sarif=out.sarif; may be given again.",
)
