"""`swzverify locality`: which tiles the blocks of a grid need together, wave by wave."""

from __future__ import annotations

from dataclasses import dataclass

import click

from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.locality import LocalityOptions
from swzverify.apps.options.shared import picture_format
from swzverify.apps.run.one_case import named, one_case
from swzverify.errors import SwzError
from swzverify.explain.pictures.views.waves import waves
from swzverify.report.locality import locality_json, render_locality
from swzverify.report.style import TextStyle
from swzverify.search.costs import Locality, locality
from swzverify.spec import load_spec


def locality_command(options: LocalityOptions) -> None:
    """Count the tiles that each wave of blocks needs, and tell or draw them."""
    output = options.output
    check_output(output, [options.spec], "--output")
    if options.picture and options.form not in (None, "text"):
        raise click.UsageError("--picture draws as text; --format has a form of its own")
    form = options.form or ("json" if (output or "").lower().endswith(".json") else picture_format(output))
    _tell(count_locality(options), form, options.picture, output)


def _tell(found: Counted, form: str, picture: bool, output: str | None) -> None:
    if form == "json":
        write_text(locality_json(found.path, found.orders, found.words), output)
    elif form != "text" or picture:
        tell_picture(waves(found.orders, found.words), form, output)
    else:
        style = TextStyle() if output is not None else terminal_style(err=False, verbosity=0)
        write_text(render_locality(found.path, found.orders, found.words, style), output)


@dataclass(frozen=True, slots=True)
class Counted:
    """The orders of one case, in the order in which they are named, and the case in words."""

    path: str
    orders: tuple[Locality, ...]
    words: tuple[str, ...]


def count_locality(wanted: LocalityOptions) -> Counted:
    """Count the orders.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ581 for an unknown name, value or case; those of `locality`.
    """
    path = wanted.spec
    spec = load_spec(path)
    case, words = one_case(spec, wanted.at)
    unknown = sorted(set(wanted.at) - set(case.chosen))
    if unknown:
        known = ", ".join(case.chosen) or "none"
        raise SwzError("SWZ581", f"--at {unknown[0]}: no constant with several values", hint=f"there are: {known}")
    names = list(dict.fromkeys(wanted.maps)) or [name for name, each in case.maps.items() if len(each.value) == 2]
    if not names:
        raise SwzError("SWZ585", f"{path} has no map with a row and a column", hint="value: [row, column]")
    orders = tuple(locality(named(case.maps, name, "map", path), wanted.wave) for name in names)
    return Counted(path, orders, words)
