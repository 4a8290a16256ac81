"""Every statement of the explanations of the library, by brute force."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.explain.explanations import explain_access, explain_tile
from swzverify.spec import load_spec
from tests.explanations.judge import Judge, check
from tests.nightly import share

SPECS = Path(__file__).parents[2] / "specs"
FILES = sorted(path.relative_to(SPECS).as_posix() for path in SPECS.rglob("*.swz.yaml"))


@pytest.mark.parametrize("name", share(FILES, 4))
def test_what_is_said_of_the_library_is_so(name: str) -> None:
    case = load_spec(SPECS / name).cases[-1]
    for access in case.accesses.values():
        if access.instruction.is_global:  # of banks there is nothing to say
            with pytest.raises(SwzError, match="has no banks"):
                explain_access(access)
            continue
        if access.source is not None:  # its cost is that of pairs of a source and a destination
            with pytest.raises(SwzError, match="depends on where it reads"):
                explain_access(access)
            continue
        check(Judge(access, None), explain_access(access))
    for tile in case.tiles.values():
        check(Judge(None, tile), explain_tile(tile))
