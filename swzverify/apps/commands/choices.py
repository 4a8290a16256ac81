"""The values that options offer. `--help` shows them, so this module imports nothing slow."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum

from swzverify.compiled.kinds import SCAN_CLAIMS

ALLOWED = ("deleted", "weakened", "broken-base")
"""What `diff` may let be lost."""
FAILURES = ("conflict", "unknown", *(each.failure for each in SCAN_CLAIMS))
"""The verdicts of `scan` that may end it with 1."""
FAMILIES = ("swizzle", "tma", "pad", "pad+swizzle", "xor")
"""The families of `synth`."""
OF_LISTINGS = ("reuse", "order", "registers")
"""The families of `synth` for listings."""
SOLVERS = ("bitwuzla", "cvc5")
"""The solvers of `recheck`."""
VIEWS = ("logical", "physical", "ownership", "groups", "swizzle")
"""The views of `show`."""
PICTURE_FORMATS = ("text", "svg", "html", "latex", "png")
"""What a picture can be drawn as."""
SHELLS = ("bash", "zsh", "fish")
"""The shells that complete the command's words."""

_PICTURES_BY_SUFFIX = {
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
    ".png": "png",
    ".txt": "text",
}


class PageFormat(StrEnum):
    """What `diff` and `theorems` can write."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class RecordFormat(StrEnum):
    """What `crosscheck` can write."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file to write, and what to write it as."""

    form: str
    path: str


def picture_format(file: str | None) -> str:
    """The format of a picture that a file's name says; text for any other name, and for none.

    >>> picture_format("a.svg"), picture_format("a.txt"), picture_format(None)
    ('svg', 'text', 'text')
    """
    return _PICTURES_BY_SUFFIX.get(os.path.splitext(file or "")[1].lower(), "text")
