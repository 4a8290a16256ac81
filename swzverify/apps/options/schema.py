"""The options of `swzverify schema`."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.options.declare import Options, option


@dataclass(frozen=True, slots=True)
class SchemaOptions(Options):
    """Print the JSON Schema (draft 7) of spec files, version 1.

    Editors use it to complete, explain and check a spec; docs/editors.md shows how. It accepts every
    spec that `swzverify prove` reads, and some that `prove` refuses: a schema cannot check, for
    example, that a name exists.

    \b
    Exit codes:
      0  written
      2  the file cannot be written, or an error in the usage
    """

    output: str | None = option("--output FILE", "Write the schema to a file instead of standard output.")
