"""The options of `swzverify explore`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import click

from swzverify.apps.options.declare import Options, argument, flag, option
from swzverify.apps.options.values import Text


@dataclass(frozen=True, slots=True)
class ExploreOptions(Options):
    """Serve a page on which a layout and an access to it are changed in a browser.

    The page begins with an access of SPEC, where a spec is given. Shape, element, swizzle, pad,
    instruction, thread map and target can be changed; verdict, wavefronts, pictures and explanation
    follow. The page keeps its state in its link, and copies it as a spec, as CuTe C++ and as CUDA. It
    is served to this machine alone, until Ctrl-C. It needs Flask, which comes with the extra
    `explore`.

    \b
    swzverify explore
    swzverify explore kernel.swz.yaml --access read_A
    swzverify explore --port 0 --open
    """

    without: ClassVar[str] = "no page"
    spec: str | None = argument("[SPEC]", Text("file"), default=None)
    access: str | None = option("--access NAME", "The access of the spec.  [default: the only one]")
    port: int = option("--port N", "The port; 0: a free one.", click.IntRange(0, 65535), default=8765)
    host: str = option("--host", "The loopback address.", ("127.0.0.1", "::1"), default="127.0.0.1")
    opens: bool = flag("--open", "Open the page in the browser.")
