"""The options of the commands that take a layout in place of a spec: what accesses it, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from swzverify.apps.cli.values import Text

_Command = TypeVar("_Command", bound=Callable[..., object])
_OPTIONS = (
    click.option("--element", metavar="TYPE", type=Text("element"), help="The elements of a layout.  [default: f32]"),
    click.option("--coord", metavar="EXPRS", help="Beside a layout: what each lane accesses, such as 'lane,0'."),
    click.option(
        "--instruction",
        metavar="NAME",
        type=Text("instruction"),
        help="What accesses it.  [default: a load of one element]",
    ),
    click.option(
        "--threads", type=click.IntRange(1, 1024), default=32, show_default=True, help="The block of --coord."
    ),
    click.option("--for", "loops", multiple=True, metavar="NAME=STOP", help="A loop of --coord: k=4, or k=0:64:16."),
    click.option(
        "--at", multiple=True, metavar="NAME=N", help="The warp instruction at warp=1, a loop's or a constant's value."
    ),
)


def layout_options(command: _Command) -> _Command:
    """Give a command --element, --coord, --instruction, --threads, --for (`loops`) and --at."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
