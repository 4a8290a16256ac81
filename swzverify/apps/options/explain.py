"""The options of `swzverify explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import Options, argument, group, option
from swzverify.apps.options.shared import LayoutOptions


@dataclass(frozen=True, slots=True)
class ExplainOptions(Options):
    """Explain why an access takes its wavefronts, and what other parameters would do.

    LAYOUT is what CuTe prints, such as 'Sw<3,3,3> o (8,64):(64,1)', or a swizzle alone; FILE is a
    spec. Without --access, --tile and --claim, every access of a spec is explained, and every tile
    without one. The explanation has the costs, the rank of the map from lanes to banks, the lanes that
    collide, each bit of the bank as a formula, the bits and the period of the swizzle, the steps of
    padded rows, and the wavefronts with another B, M or S, or with a pad. It proves nothing.

    \b
    swzverify explain '(32,32):(32,1)' --coord lane,0
    swzverify explain kernel.swz.yaml
    swzverify explain kernel.swz.yaml --access read_A
    swzverify explain kernel.swz.yaml --claim read_A::conflict_free --format json
    """

    without: ClassVar[str] = "no explanation"
    what: str = argument("LAYOUT|FILE")
    access: str | None = option("--access NAME", "An access of the spec.  [default: all]")
    tile: str | None = option("--tile NAME", "A tile of the spec.")
    claim: str | None = option("--claim ID", "A claim of the spec, such as read_A::conflict_free.")
    layout: LayoutOptions = group(LayoutOptions)
    target: str | None = option("--target NAME", "The GPU.  [default: the spec's, else sm_90]")
    form: str | None = option("--format", "[default: by the file's name, else text]", ("text", "latex", "json"))
    output: str | None = option("-o, --output FILE", "Write to a file instead of standard output.")
