"""What every page has: the style sheet, the script, and the policy that allows these two alone."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from swzverify.explain.pictures.picture import SHADES, ink


@cache
def palette() -> str:
    """The colours of pages, light and dark, and a class for each shade of pictures, with its ink.

    The page of `explore` has them too.
    """
    shades = "".join(f".s{place}{{background:{shade};color:{ink(place)}}}" for place, shade in enumerate(SHADES))
    return f"{_text('palette.css')}{shades}\n"


@cache
def style() -> str:
    """The style sheet of a report."""
    return palette() + _text("page.css")


@cache
def script() -> str:
    """The script, which filters and marks, and computes nothing."""
    return _text("page.js")


def policy() -> str:
    """The content security policy: this style sheet and this script, and nothing from anywhere.

    >>> [rule.split(" ")[0] for rule in policy().split("; ")]
    ['default-src', 'style-src', 'script-src', 'base-uri', 'form-action']
    """
    allowed = f"style-src '{_hash(style())}'; script-src '{_hash(script())}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return files("swzverify.report.html").joinpath(name).read_text("utf-8")
