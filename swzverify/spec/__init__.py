"""Spec files: YAML to tiles, accesses, maps and claims, with every mistake at its line and column.

`load_spec` is the way in. `source` reads the file into a `tree` of places (`guard` before the YAML
parser, `yaml_tree` with it); `check` holds the tree against the pydantic models (`*_models`, and
`models` for the whole); `build` makes the subjects and claims, case by case, and `build_compiled`
an access of compiled code, by what `scan` knows of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister
from swzverify.errors import Problem, SpecError

if TYPE_CHECKING:
    from swzverify.spec.build import SpecClaim
    from swzverify.spec.load import Spec, load_spec, parse_spec
    from swzverify.spec.schema import json_schema

__all__ = ["Problem", "Spec", "SpecClaim", "SpecError", "json_schema", "load_spec", "parse_spec"]

__getattr__ = importer(
    "swzverify.spec",
    {"Spec": ".load", "SpecClaim": ".build", "load_spec": ".load", "parse_spec": ".load", "json_schema": ".schema"},
)
__dir__ = lister("swzverify.spec", __all__)
