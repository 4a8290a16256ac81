"""A picture as JSON, schema "swzverify.picture/1": its sentences, panels and cells."""

from __future__ import annotations

from swzverify.explain.pictures import Picture
from swzverify.report.plain import Json, json_text, members

SCHEMA = "swzverify.picture/1"


def render_picture_json(picture: Picture) -> str:
    """The picture as JSON text with a line feed at its end.

    >>> print(render_picture_json(Picture("T", (), ())).splitlines()[2])
      "title": "T",
    """
    scale = picture.scale
    document: dict[str, Json] = {
        "schema": SCHEMA,
        **members(picture, "title", "captions", "marks"),
        "scale": None if scale is None else members(scale, "name", "least", "most"),
        **members(picture, "panels"),
    }
    return json_text(document)
