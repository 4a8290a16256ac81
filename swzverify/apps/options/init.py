"""The options of `swzverify init`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, option


@dataclass(frozen=True, slots=True)
class InitOptions(Options):
    """Write a commented spec to start from: a tile, what writes and reads it, and what is claimed.

    FILE is tile.swz.yaml by default; - is standard output. Every claim is proved first: a claim that
    fails is written as `expect: refuted`, with the reason. `--swizzle auto` takes a swizzle for which a
    theorem says that columns have no bank conflicts (docs/theorems.md, universal-mended).

    \b
    Exit codes:
      0  written
      2  not written: an error in the options, or the file exists
    """

    without: ClassVar[str] = "nothing written"
    file: str = argument("[FILE]", default="tile.swz.yaml")
    element: str = option("--element TYPE", "Type of an element.", default="f16")
    tile: str = option("--tile RxC", "Rows and elements of a row.", default="64x64")
    instruction: str = option(
        "--instruction NAME", "The instruction that reads or writes the tile, by its PTX name.", default="ldmatrix.x4"
    )
    swizzle: str | None = option(
        "--swizzle WHICH", "auto, none, or Swizzle<B,M,S> on element offsets.  [default: auto]"
    )
    pad: int | None = option("--pad N", "Pad each row by N elements instead.", POSITIVE)
    target: str = option("--target NAME", "The GPU.", default="sm_90")
    threads: int | None = option("--threads N", "Threads of the block.  [default: 128, or fewer]", POSITIVE)
    stages: int = option("--stages N", "Copies of the tile.", POSITIVE, default=1)
    force: bool = flag("--force", "Replace a file that exists.")
