"""`--watch` of `prove` and `scan`: what changed is judged again, until Ctrl-C."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NoReturn, TypeVar

import click

from swzverify.apps.options.declare import asked
from swzverify.apps.options.prove import ProveOptions
from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.options.shared import Format
from swzverify.apps.run.collect import collect_specs
from swzverify.apps.run.watched import Watched, files_of_spec, require_watchfiles, wakes
from swzverify.core.words import counted
from swzverify.errors import SpecError, SwzError
from swzverify.report.escape import visible, visible_lines
from swzverify.report.result import ExitCode, Report
from swzverify.report.words import summary_line

_T = TypeVar("_T")
_ONCE = frozenset(
    {"--output", "--report", "--write-baseline", "--write-test", "--write-spec", "--certificates", "--resume"}
    | {"--fix", "--diff", "--check", "--check-run", "--scheduler"}
)
"""Options whose files one run writes, or that take minutes for each."""
_HEADERS = (".cuh", ".h", ".hpp", ".inl")
"""Files beside a .cu file that it may include."""


def watch_specs(options: ProveOptions, prove: Callable[[ProveOptions], tuple[Report, ExitCode]]) -> NoReturn:
    """Prove all specs, then each spec again that changes or that names a file that does.

    Ctrl-C ends it with the exit code of the newest verdicts on all specs.
    """
    _check(options)
    if "-" in options.paths:
        raise click.UsageError("--watch needs files: save standard input to one")
    options = replace(options, watch=False)
    paths = options.paths or (os.curdir,)
    seen = {file: Watched.of(files_of_spec(file)) for file in collect_specs(paths).files}
    whole = prove(options)[0]
    folders = {os.path.realpath(path) for path in paths if os.path.isdir(path)}
    folders = folders.union(*(each.folders for each in seen.values())) or {os.curdir}
    try:
        _say(f"watching {counted(len(seen), 'spec')}; Ctrl-C ends it")
        for _ in wakes(folders, deep=any(map(os.path.isdir, paths))):
            now = {file: Watched.of(files_of_spec(file)) for file in collect_specs(paths).files}
            touched = [file for file, each in now.items() if seen.get(file) != each]
            gone, seen = seen.keys() - now.keys(), now
            part = (
                _run_or_report(lambda files=tuple(touched): prove(replace(options, paths=files))[0])
                if touched
                else None
            )
            whole = _joined(whole, part or Report(()), {*touched, *gone}, list(now))
            if part is not None:
                _say(f"all {counted(len(now), 'spec')}: {summary_line(whole)}")
    except KeyboardInterrupt:
        pass
    sys.exit(int(whole.exit_code))


def _joined(whole: Report, part: Report, replaced: set[str], order: list[str]) -> Report:
    """The report with the results and the problems of the files that were judged again, in their order."""
    results = [*(each for each in whole.results if each.spec not in replaced), *part.results]
    problems = [*(each for each in whole.problems if each.file not in replaced), *part.problems]
    places = {file: at for at, file in enumerate(order)}
    return Report(tuple(sorted(results, key=lambda each: places.get(each.spec, 0))), tuple(problems))


def watch_kernels(options: ScanOptions, scan: Callable[[ScanOptions], int]) -> NoReturn:
    """Scan all files, then each file again that changes; a .cu file also if a header beside it does.

    Ctrl-C ends it with the largest exit code of the newest scans.
    """
    _check(options)
    options = replace(options, watch=False)
    seen = {file: _watched(file, options) for file in options.files}
    codes = {file: scan(replace(options, files=(file,))) for file in options.files}
    try:
        _say(f"watching {counted(len(seen), 'file')}; Ctrl-C ends it")
        for _ in wakes({folder for each in seen.values() for folder in each.folders}, deep=False):
            for file, before in seen.items():
                now = _watched(file, options)
                if now != before:
                    seen[file] = now
                    code = _run_or_report(lambda file=file: scan(replace(options, files=(file,))))
                    codes[file] = int(ExitCode.ERROR) if code is None else code
    except KeyboardInterrupt:
        pass
    sys.exit(max(codes.values()))


def _watched(file: str, options: ScanOptions) -> Watched:
    """The files that the verdicts on a compiled kernel depend on."""
    folder = os.path.dirname(file)
    names: Iterable[str] = os.listdir(folder or os.curdir) if file.endswith(".cu") else ()
    return Watched.of(
        [file, *options.cubins, *(os.path.join(folder, each) for each in names if each.endswith(_HEADERS))]
    )


def _check(options: ProveOptions | ScanOptions) -> None:
    """Refuse options of one run, and a watch without the package that it needs."""
    require_watchfiles()
    refused = sorted(_ONCE & asked(options).keys())
    if refused:
        raise click.UsageError(f"--watch runs until Ctrl-C: use {', '.join(refused)} in a run without --watch")
    if options.reports.form != Format.TEXT:
        raise click.UsageError("--watch writes text: use --format in a run without --watch")


def _run_or_report(run: Callable[[], _T]) -> _T | None:
    """What a run gives; None, and the reason on standard error, where it could not go on."""
    try:
        return run()
    except click.ClickException as error:
        message = error.format_message()
    except (SwzError, SpecError) as error:
        message = str(error)
    click.echo("\n".join(visible_lines(f"Error: {message}")), err=True)
    return None


def _say(line: str) -> None:
    click.echo(visible(line), err=True)
