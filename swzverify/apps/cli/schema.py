"""`swzverify schema`: the JSON Schema of spec files, for editors."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run


@click.command()
@click.option("--output", metavar="FILE", help="Write the schema to a file instead of standard output.")
def schema(**given: object) -> None:
    """Print the JSON Schema (draft 7) of spec files, version 1.

    Editors complete, explain and check a spec by it; docs/editors.md shows how. It accepts every
    spec that `swzverify prove` reads, and some that it refuses: names that are not there, say,
    which a schema cannot know of.

    \b
    Exit codes:
      0  written
      2  the file cannot be written, or an error in the usage
    """
    run("schema", given)
