"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

import click

from swzverify.cli.terminal import Failure, one_way_out, say

if TYPE_CHECKING:
    from swzverify.report.scan import ScannedFile

MOST_THREADS = 1024
"""Threads of a block. Source: CUDA Programming Guide 13, 5.1.3, table 30."""
_AXES = 3
_MOST_ALONG_Z = 64


class ExitCode(IntEnum):
    """The exit codes of `swzverify scan`."""

    DONE = 0
    FOUND = 1
    NO_ACCESS = 5


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--kernel", metavar="NAME", help="This kernel only, by its name in the PTX; device functions stay.")
@click.option("--block", metavar="X,Y,Z", help="Threads of a block.  [default: what .reqntid says]")
@click.option("--target", default="sm_90", show_default=True, metavar="SM", help="The GPU whose rules count.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How to write what was found.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("conflict", "unknown")),
    multiple=True,
    help="Exit with 1 if there is such a verdict; may be given again. A conflict for some parameters is one too.",
)
def scan(
    *, files: tuple[str, ...], kernel: str | None, block: str | None, target: str, form: str, fail_on: tuple[str, ...]
) -> NoReturn:
    """Find the bank conflicts of compiled kernels, without a spec.

    Each FILE is a .ptx file. Every access to shared memory is listed with a verdict: free,
    conflict, depends (on parameters), or unknown with the reason.

    \b
    Exit codes:
      0  every access was listed
      1  there is a verdict that --fail-on names
      2  an error in a file or in the usage
      5  no access to shared memory found
    """
    with one_way_out():
        shape = _shape(block)
        found = _scan(files, kernel, shape, target)
        say(_text(found, form))
    verdicts = {access.decision.verdict.value for file in found for access in file.accesses}
    bad = {"conflict": {"conflict", "depends"}, "unknown": {"unknown"}}
    failed = any(bad[each] & verdicts for each in fail_on)
    if "unknown" in fail_on and any(file.problems for file in found):
        failed = True
    nothing = not verdicts and not any(file.problems for file in found)
    sys.exit(int(ExitCode.FOUND if failed else ExitCode.NO_ACCESS if nothing else ExitCode.DONE))


def _shape(block: str | None) -> tuple[int, int, int] | None:
    if block is None:
        return None
    words = block.split(",")
    if len(words) > _AXES or not all(
        word.isascii() and word.strip().isdigit() and len(word) <= _AXES + 1 for word in words
    ):
        raise click.UsageError(f"--block is {block!r}; give one to three numbers, such as 32,8")
    x, y, z = (*(int(word) for word in words), 1, 1)[:_AXES]
    if not 1 <= x * y * z <= MOST_THREADS or z > _MOST_ALONG_Z:
        raise click.UsageError(f"--block is {block!r}; a block has 1 to {MOST_THREADS} threads, 64 at most along z")
    return x, y, z


def _scan(
    files: tuple[str, ...], kernel: str | None, shape: tuple[int, int, int] | None, target: str
) -> list[ScannedFile]:
    from swzverify.errors import nearest  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.hardware import find_target  # noqa: PLC0415
    from swzverify.ptx import read_module_file  # noqa: PLC0415
    from swzverify.report.escape import visible  # noqa: PLC0415
    from swzverify.report.scan import ScannedFile  # noqa: PLC0415
    from swzverify.scan import scan_module  # noqa: PLC0415

    find_target(target)
    modules = [(name, read_module_file(name)) for name in files]
    names = [each.name for _, module in modules for each in module.functions if each.is_entry]
    if kernel is not None and kernel not in names:
        hint = nearest(kernel, names) or "there are " + ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise Failure(f"no kernel is called {visible(kernel)}; {visible(hint) if names else 'there are none'}")
    found: list[ScannedFile] = []
    for name, module in modules:
        problems = tuple(f"line {each.line}: {each.message}" for each in module.problems)
        found.append(ScannedFile(name, tuple(scan_module(module, shape, kernel, target)), dict(module.files), problems))
    return found


def _text(found: list[ScannedFile], form: str) -> str:
    from swzverify.report.scan import scan_json, scan_text  # noqa: PLC0415 - see cli/__init__.py

    return scan_json(found) if form == "json" else scan_text(found)
