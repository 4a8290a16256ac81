"""Files of reports and of known failures: what is checked before the work, and how they are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import click

from swzverify.apps.commands.terminal import FILE_WIDTH, Failure, echo, terminal_style
from swzverify.apps.options.shared import ReportFile
from swzverify.apps.run.baseline import accept_known, known_failures, load_baseline, save_baseline
from swzverify.report.result import Report
from swzverify.report.style import TextStyle


def check_output(output: str | None, specs: Sequence[str], option: str) -> None:
    """Refuse, before minutes of work, a file to write that cannot be or that is one of those to read."""
    if output is None:
        return
    folder = os.path.dirname(output) or os.curdir
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {folder!r}", param_hint=option)
    if os.path.isdir(output):
        raise click.BadParameter(f"{output!r} is a folder", param_hint=option)
    if os.path.realpath(output) in map(os.path.realpath, specs):
        raise click.BadParameter(f"{output!r} is one of the files to read", param_hint=option)


def check_ours(option: str, named: Mapping[str, str], specs: Sequence[str], is_ours: Callable[[str], bool]) -> None:
    """Refuse, before minutes of work, the file of an option that cannot or must not be written.

    It must not be written if it is not ours or has another use. `named` are the files that options name,
    by the option.
    """
    path = named.get(option)
    if path is None:
        return
    check_output(path, specs, option)
    for other, file in named.items():
        if other != option and os.path.realpath(file) == os.path.realpath(path):
            raise click.BadParameter(f"{path!r} is the file of {other} too", param_hint=option)
    if os.path.lexists(path) and not is_ours(path):
        message = f"{path!r} exists, and was not written by {option}; name another file, or delete it"
        raise click.BadParameter(message, param_hint=option)


def output_style(output: str | None, verbosity: int) -> TextStyle:
    """How to write a report to a file, or to standard output where there is none."""
    return TextStyle(FILE_WIDTH, verbosity=verbosity) if output else terminal_style(err=False, verbosity=verbosity)


def tell_report(text: str, output: str | None, style: TextStyle, what: str = "report") -> None:
    """Write what a command found to a file, or to standard output where there is none.

    Raises:
        SwzError: SWZ504.
    """
    if output is None:
        echo(text, style, err=False)
    else:
        write_report(text, output, what)


def write_report(text: str, output: str, what: str = "report", mode: Literal["w", "a"] = "w") -> None:
    """Write what a command found to a file, or behind what is there with the mode `a`.

    Ends the command with SWZ504 where it cannot be written.
    """
    try:
        with open(output, mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"SWZ504 cannot write the {what} {output!r}: {error.strerror}") from error


def write_each(files: Sequence[ReportFile], rendered: Callable[[ReportFile], str]) -> None:
    """Write every report, and tell at the end which could not be written; a fault of ours first."""
    failures: list[Failure] = []
    faults: list[Exception] = []
    for file in files:
        try:
            write_report(rendered(file), file.path)
        except Failure as failure:
            failures.append(failure)
        except Exception as error:  # noqa: BLE001 - it is raised again when the others are written
            faults.append(error)
    if faults:
        raise faults[0]
    if failures:
        raise Failure("\n".join(failure.message for failure in failures))


def prepare_known(named: Mapping[str, str], specs: Sequence[str]) -> Callable[[Report], Report]:
    """Read the known failures and check the file to write; the result accepts them. `named` as above."""
    write, output = named.get("--write-baseline"), named.get("--output")
    check_output(write, specs, "--write-baseline")
    if output is not None and write is not None and os.path.realpath(output) == os.path.realpath(write):
        raise click.BadParameter(f"{output!r} is the report's file too", param_hint="--write-baseline")
    if "--baseline" not in named:
        return lambda report: report
    known = load_baseline(named["--baseline"])
    return lambda report: accept_known(report, known)


def save_known(path: str | None, report: Report) -> None:
    """Write down what fails, known or new, where there is a file for it."""
    if path is not None:
        save_baseline(path, known_failures(report))
