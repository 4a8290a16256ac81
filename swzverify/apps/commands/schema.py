"""`swzverify schema`: the JSON Schema of spec files, for editors."""

from __future__ import annotations

from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.schema import SchemaOptions
from swzverify.spec.schema import schema_text


def schema_command(options: SchemaOptions) -> None:
    """Write the JSON Schema of specs."""
    write_text(schema_text(), options.output)
