"""The bar on a terminal that says how far a sweep is: cases, rate and time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from swzverify.apps.run.sweep import Progress


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
