"""`swzverify explain`: why an access takes its wavefronts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from swzverify.cli.files import check_output
from swzverify.cli.layout_options import layout_options, loops_of
from swzverify.cli.numbers import named_values
from swzverify.cli.terminal import Failure, echo, one_way_out, terminal_style
from swzverify.cli.values import Text, targets
from swzverify.cli.writing import write_text

if TYPE_CHECKING:
    from swzverify.explanations.statements import Explained
    from swzverify.run.explain import ExplainOptions

_SUFFIXES = {".tex": "latex", ".json": "json", ".txt": "text"}


@click.command()
@click.argument("what", metavar="LAYOUT|FILE")
@click.option("--access", metavar="NAME", help="An access of the spec.  [default: the only one]")
@click.option("--tile", metavar="NAME", help="A tile of the spec.")
@click.option("--claim", metavar="ID", help="A claim of the spec, such as read_A::conflict_free.")
@layout_options
@click.option("--target", metavar="NAME", type=Text(targets), help="The GPU.  [default: the spec's, else sm_90]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "json"]),
    help="[default: by the file's name, else text]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def explain(
    *,
    what: str,
    access: str | None,
    tile: str | None,
    claim: str | None,
    element: str | None,
    coord: str | None,
    instruction: str | None,
    threads: int,
    loops: tuple[str, ...],
    at: tuple[str, ...],
    target: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Explain why an access takes its wavefronts, and what other parameters would do.

    LAYOUT is what CuTe prints, such as 'Sw<3,3,3> o (8,64):(64,1)', or a swizzle alone; FILE is a
    spec. Told are the costs, the rank of the map from lanes to banks, the lanes that collide, each
    bit of the bank as a formula, the bits and the period of the swizzle, the steps of padded rows,
    and the wavefronts with another B, M or S, or with a pad. Nothing is proved.

    \b
    swzverify explain '(32,32):(32,1)' --coord lane,0
    swzverify explain kernel.swz.yaml --access read_A
    swzverify explain kernel.swz.yaml --claim read_A::conflict_free --format json
    """
    if output is not None:
        check_output(output, [what], "--output")
    form = form or _SUFFIXES.get(os.path.splitext(output or "")[1].lower(), "text")
    with one_way_out("no explanation"):
        from swzverify.run.explain import ExplainOptions  # noqa: PLC0415 - `--help` is to be quick

        values = named_values(at, "--at", "such as warp=1 or k=16")
        wanted = ExplainOptions(
            tile,
            access,
            claim,
            element,
            instruction,
            coord,
            threads,
            loops_of(loops),
            values,
            target,
        )
        _tell(_explained(what, wanted), form, output)


def _explained(what: str, wanted: ExplainOptions) -> Explained:
    from swzverify.run.explain import explain as told  # noqa: PLC0415
    from swzverify.spec import SpecError  # noqa: PLC0415

    try:
        return told(what, wanted)
    except SpecError as error:
        raise Failure(str(error)) from error


def _tell(explained: Explained, form: str, output: str | None) -> None:
    """Each renderer is imported where it is used."""
    if form == "json":
        from swzverify.report.explain_json import render_explanations_json  # noqa: PLC0415

        write_text(render_explanations_json(explained), output)
    elif form == "latex":
        from swzverify.report.explain_latex import render_explanations_latex  # noqa: PLC0415

        write_text(render_explanations_latex(explained.explanations), output)
    else:
        _tell_text(explained, output)


def _tell_text(explained: Explained, output: str | None) -> None:
    from swzverify.report.escape import log_lines  # noqa: PLC0415
    from swzverify.report.explain_text import render_explanations_text  # noqa: PLC0415

    if output is not None:
        write_text(log_lines(render_explanations_text(explained)), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(log_lines(render_explanations_text(explained, style.columns)), style, err=False)
