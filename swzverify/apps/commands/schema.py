"""`swzverify schema`: the JSON Schema of spec files, for editors."""

from __future__ import annotations

from swzverify.apps.commands.writing import write_text
from swzverify.spec.schema import schema_text


def schema(*, output: str | None) -> None:
    """Write the JSON Schema of specs."""
    write_text(schema_text(), output)
