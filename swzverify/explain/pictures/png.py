"""Pictures as PNG: the SVG, rastered by resvg, which the extra `png` brings."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from swzverify.errors import SwzError
from swzverify.explain.pictures.picture import Picture
from swzverify.explain.pictures.svg import render_svg

ZOOM = 2
"""Pixels per pixel of the SVG, for screens that have more of them."""


def render_png(picture: Picture) -> bytes:
    """The picture in its light colours.

    Raises:
        SwzError: SWZ582 if resvg is not installed.
    """
    raster = _raster()
    return bytes(raster(svg_string=render_svg(picture, dark=False), zoom=ZOOM, sans_serif_family="DejaVu Sans"))


def _raster() -> Callable[..., bytes]:
    try:
        module = import_module("resvg_py")
    except ImportError as error:
        raise SwzError(
            "SWZ582",
            "PNG needs resvg, which is not installed",
            hint="pip install 'swzverify[png]', or --format svg, which needs nothing",
        ) from error
    return cast("Callable[..., bytes]", module.svg_to_bytes)
