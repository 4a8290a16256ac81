"""What tests share: the judgement of a spec with one claim, and a small access."""

from __future__ import annotations

from .brute_force import Judgement, judge
from .yaml_values import Spec, Yaml

# 32 rows of 16 bytes, one of them for each lane.
ROWS: dict[str, Yaml] = {"element": "f16", "layout": "(32,8):(8,1)"}
ONE: dict[str, Yaml] = {
    "tile": "T",
    "instruction": "ld.shared.v4.b32",
    "threads": 32,
    "coord": ["tid", 0],
}


def only(spec: Spec) -> Judgement:
    """The single judgement of a spec with one claim and one case."""
    [judgement] = judge(spec)
    return judgement
