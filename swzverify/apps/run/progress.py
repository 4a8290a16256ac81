"""The line on a terminal that says how far a run is; it is wiped when the run ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

from swzverify.apps.run.run import Progress
from swzverify.core.words import counted
from swzverify.report.escape import visible


class StatusLine:
    """A line at the end of a terminal, which later texts replace."""

    def __init__(self, status: Status, width: int) -> None:
        """`width` is how many columns there are beside the sign that turns."""
        self.width = width
        self._status = status

    def show(self, text: Text) -> None:
        """Replace the line."""
        text.truncate(self.width, overflow="ellipsis")
        self._status.update(text)

    @contextmanager
    def away(self) -> Generator[None]:
        """Wipe the line while something else is written to the terminal."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()


@contextmanager
def status_line(begins: str, *, enabled: bool) -> Generator[StatusLine | None]:
    """Give a line that begins with a word; None, and no line, when it is not enabled.

    The line goes to standard error, and only where that is a terminal that can rewrite a line.
    """
    if not (enabled and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - most runs have no terminal there
    from rich.status import Status  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.is_dumb_terminal or not console.encoding.startswith("utf"):
        yield None
        return
    with Status(Text(begins), console=console) as status:
        yield StatusLine(status, console.width - 2)


@contextmanager
def progress_line(*, enabled: bool) -> Generator[Callable[[Progress], None] | None]:
    """Give what `run_specs` wants as `watch`; None, and no line, when it is not enabled."""
    with status_line("proving", enabled=enabled) as line:
        yield None if line is None else lambda progress: line.show(progress_words(progress, line.width))


def progress_words(progress: Progress, width: int) -> Text:
    """The line, cut to the width.

    >>> progress_words(Progress(specs=9, specs_done=2, claims=30, unexpected=1), 60).plain
    '2 of 9 specs, 30 claims, 1 unexpected'
    """
    from rich.text import Text  # noqa: PLC0415 - see above

    parts = [f"{progress.specs_done} of {counted(progress.specs, 'spec')}", counted(progress.claims, "claim")]
    if progress.unexpected:
        parts.append(f"{progress.unexpected} unexpected")
    line = Text(", ".join(parts))
    if progress.latest:
        line.append(f"  {visible(progress.latest)}", style="dim")
    line.truncate(width, overflow="ellipsis")
    return line
