"""`swzverify sweep`: from a spec with `sweep:` to a folder of results, new or continued."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import echo, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.shared import picture_format
from swzverify.apps.options.sweep import SweepOptions
from swzverify.apps.run.version import package_version
from swzverify.core.on_dask import Task, client_at, client_of_slurm, run_on_dask
from swzverify.core.processes import usable_cpus
from swzverify.errors import InternalError, SpecError, SwzError
from swzverify.report.sweep import render_sweep, sweep_json
from swzverify.report.sweep_picture import heatmap_picture
from swzverify.spec.problems import Problems
from swzverify.spec.source import read_text
from swzverify.spec.sweep.arrow import require_pyarrow
from swzverify.spec.sweep.bench import Bench, Question
from swzverify.spec.sweep.chunk import Chunk, chunk_cases, chunks_of, measured
from swzverify.spec.sweep.folder import PARQUET, Folder
from swzverify.spec.sweep.local import run_locally
from swzverify.spec.sweep.summary import Summary, summarize
from swzverify.spec.variants import Variants

MAX_NAME = 255
"""The longest name of a file; longer texts name none."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is: case numbers that are done, of all, and those that were done before."""

    done: int
    total: int
    before: int


@dataclass(frozen=True, slots=True)
class SweepResult:
    """A finished sweep. `measured` counts the case numbers of this run, `seconds` its time."""

    path: str
    folder: str
    manifest: dict[str, Any]
    summary: Summary
    measured: int
    seconds: float


def sweep_command(options: SweepOptions) -> None:
    """Measure the variants of a spec, and tell the table."""
    if options.scheduler is not None and options.slurm is not None:
        raise click.UsageError("--scheduler and --slurm: one of them")
    if options.picture is not None and options.heatmap is None:
        raise click.UsageError("--picture draws a heatmap: name two axes with --heatmap")
    check_output(options.picture, [options.spec], "--picture")
    with progress_bar() as watch:
        result = run_sweep(options, watch)
    _tell(result, options.form)
    if options.picture is not None and result.summary.heatmap is not None:
        picture = heatmap_picture(result.path, result.summary.heatmap)
        tell_picture(picture, picture_format(options.picture), options.picture)


def _tell(result: SweepResult, form: str) -> None:
    if form == "json":
        write_text(sweep_json(result.path, result.folder, result.manifest, result.summary) + "\n", None)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(render_sweep(result.path, result.folder, result.summary, style), style, err=False)
    if result.measured and sys.stderr.isatty():
        rate = result.measured / max(result.seconds, 1e-9)
        words = f"{result.measured} combinations in {result.seconds:.1f} s, {rate:.0f} per second"
        click.echo(words, err=True)


@contextmanager
def progress_bar() -> Generator[Callable[[Progress], None]]:
    """Give what `run_sweep` wants as `watch`. Only a terminal at standard error shows a bar."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - most runs have no terminal there
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweep", rate="")

        def watch(progress: Progress) -> None:
            spent = bar.tasks[0].elapsed or 0.0
            rate = (progress.done - progress.before) / spent if spent else 0.0
            bar.update(task, completed=progress.done, total=progress.total, rate=f"{rate:.0f} cases per second")

        yield watch


def run_sweep(options: SweepOptions, watch: Callable[[Progress], None]) -> SweepResult:
    """Measure every case that is not there yet, join the chunks, and summarize.

    Raises:
        SpecError: The spec is wrong.
        SwzError: SWZ571 if there is no sweep, SWZ573 if a package is missing, SWZ574 if the folder
            cannot be used or has another sweep, SWZ575 and SWZ576 if processes die or clusters do not
            answer.
    """
    require_pyarrow()
    started = perf_counter()
    question, bench = _question(options)
    output = options.output if options.output is not None else f"{Path(options.spec).name.partition('.')[0]}.sweep"
    folder = Folder(output)
    with folder.locked():
        manifest = folder.manifest()
        if options.restart and manifest is not None:
            folder.clear()
            manifest = None
        asked = _identity(question, bench)
        if manifest is None:
            folder.refuse_other_files()
            cases = chunk_cases(bench)
            manifest = {**asked, "chunk_cases": cases, "finished": False}
            folder.write_spec(question.text)
            folder.write_manifest(manifest)
        _refuse_another(manifest, asked, output)
        measured = 0
        if not manifest["finished"]:
            measured = _work(question, bench, manifest, folder, options, watch)
            chunks = len(chunks_of(len(bench.cases), manifest["chunk_cases"]))
            rows = folder.join(chunks, bench.columns, asked)
            manifest = {**manifest, "finished": True, "cases": rows}
            folder.write_manifest(manifest)
        if not (folder.path / PARQUET).is_file():
            raise SwzError("SWZ574", f"{output} says that it is finished, and has no {PARQUET}", hint="--restart")
        folder.drop_parts()
        axes = {axis.name: axis.values for axis in bench.sweep.axes}
        summary = summarize(folder.path / PARQUET, axes, options.heatmap)
    return SweepResult(options.spec, output, manifest, summary, measured, perf_counter() - started)


def _question(options: SweepOptions) -> tuple[Question, Bench]:
    path = Path(options.spec)
    shown = path.as_posix()
    problems = Problems(shown)
    text = read_text(path, problems)
    problems.raise_any()
    if text is None:
        raise SpecError(problems.found)
    question = Question(text, shown, options.target, options.prove, version=package_version())
    bench = Bench(question)
    return replace(question, spec_sha256=_fingerprint(bench.variants)), bench


def _fingerprint(variants: Variants) -> str:
    """A fingerprint of everything on which the cases depend.

    It covers the text, the code's constants, and the files that the spec or a value of an axis names.
    """
    spec = variants.checked.spec
    digest = hashlib.sha256(variants.text.encode())
    digest.update(json.dumps([[name, value] for name, value in spec.constants.items()]).encode())
    beside = Path(variants.path).parent
    entries = (*spec.accesses.values(), *spec.operands.values())
    named = [each.compiled.file for each in entries if each.compiled is not None]
    if variants.sweep is not None:
        named += [value for axis in variants.sweep.axes for value in axis.values if isinstance(value, str)]
    for name in named:
        if len(name) < MAX_NAME and "\0" not in name and (beside / name).is_file():
            digest.update((beside / name).read_bytes())
    return digest.hexdigest()


def _identity(question: Question, bench: Bench) -> dict[str, Any]:
    """What identifies a sweep: results of another sweep do not go with it."""
    return {
        "spec": question.path,
        "spec_sha256": question.spec_sha256,
        "target": question.target or bench.variants.checked.spec.target,
        "prove": question.prove,
        "axes": {axis.name: list(axis.values) for axis in bench.sweep.axes},
        "combinations": len(bench.cases),
        "versions": {"swzverify": question.version, "python": platform.python_version(), "numpy": np.__version__},
    }


def _refuse_another(manifest: dict[str, Any], asked: dict[str, Any], output: str) -> None:
    for key in ("spec_sha256", "target", "prove", "axes", "combinations"):
        if manifest.get(key) != asked[key]:
            _refuse(output, key.removesuffix("_sha256"))
    if manifest["versions"]["swzverify"] != asked["versions"]["swzverify"]:
        _refuse(output, f"version of swzverify ({manifest['versions']['swzverify']})")


def _refuse(output: str, what: str) -> None:
    raise SwzError(
        "SWZ574",
        f"{output} has the results of a sweep with another {what}",
        hint="choose another --output, or --restart, which throws those results away",
    )


def _work(
    question: Question,
    bench: Bench,
    manifest: dict[str, Any],
    folder: Folder,
    options: SweepOptions,
    watch: Callable[[Progress], None],
) -> int:
    """Measure what is missing; returns how many case numbers that was."""
    total = len(bench.cases)
    there = folder.finished()
    chunks = chunks_of(total, manifest["chunk_cases"])
    left = [chunk for chunk in chunks if chunk.index not in there]
    before = total - sum(chunk.end - chunk.first for chunk in left)
    done = before
    watch(Progress(done, total, before))
    for chunk, data in _measured(question, left, options):
        folder.put(chunk.index, data)
        done += chunk.end - chunk.first
        watch(Progress(done, total, before))
    missing = {chunk.index for chunk in chunks} - folder.finished()
    if missing:
        raise InternalError(f"{len(missing)} chunks of the sweep were not measured, such as number {min(missing)}")
    return total - before


def _measured(
    question: Question, chunks: Sequence[Chunk], options: SweepOptions
) -> Generator[tuple[Chunk, bytes], None, None]:
    if not chunks:
        return
    if options.scheduler is None and options.slurm is None:
        processes = min(options.jobs or usable_cpus(), len(chunks))
        yield from run_locally(question, chunks, processes)
        return
    with ExitStack() as stack:
        if options.scheduler is not None:
            client = stack.enter_context(client_at(options.scheduler))
        else:
            client = stack.enter_context(client_of_slurm(options.slurm or 1))
        yield from run_on_dask(client, chunks, _task(question))


def _task(question: Question) -> Task[Chunk, bytes]:
    """The measurement of chunks on a cluster, keyed by the question as well."""
    of = f"{question.spec_sha256[:16]}-{question.version}-{question.prove}"
    return Task(
        measured,
        (question,),
        lambda chunk: f"{of}-{chunk.first}-{chunk.end}",
        lambda chunk: f"cases {chunk.first} to {chunk.end - 1}",
    )
