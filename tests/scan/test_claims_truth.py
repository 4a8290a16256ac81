"""The scan's claims against launches of whole kernels, in the folder that SWZVERIFY_PTX_TRUTH names:
what is proved holds of each execution, and nothing that runs is refuted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.compiled.ptx import read_module_file
from swzverify.compiled.scan import ScannedAccess
from tests.ptx_oracle.launch import parsed
from tests.ptx_oracle.layout import Layout
from tests.ptx_oracle.spaces import Arena
from tests.ptx_oracle.test_truth import FOLDER, MISSING, kernels, launches, results
from tests.scan.test_claims_programs import misaligned, places
from tests.scan.whole import scan_module


def arrays(path: Path, mangled: str, smem: int) -> dict[str, tuple[int, int]]:
    """Begin and bytes of each shared array of a kernel, as the interpreter lays them out."""
    module = parsed(path.read_text(encoding="utf-8"))
    function = module.function(mangled)
    assert function is not None
    layout = Layout(module, function, smem, Arena(lenient=True))
    symbols = [*module.scope.symbols.values(), *(each for found in layout.functions for each in found.symbols)]
    shared = [each for each in symbols if each.space == "shared" and id(each) in layout.at]
    return {each.name: (layout.at[id(each)], smem if each.extern else each.size) for each in shared}


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
@pytest.mark.parametrize("mangled", kernels())
def test_what_is_proved_holds_of_each_launch(mangled: str) -> None:
    kernel = launches()[mangled]
    path = FOLDER / "ptx" / f"{kernel['file']}.ptx"
    known: dict[tuple[int, ...], dict[int, ScannedAccess]] = {}
    for one in kernel["launches"]:
        key = (*one["block"], one["smem"])
        if key not in known:
            scanned = scan_module(read_module_file(path), tuple(one["block"]), mangled, smem=one["smem"])
            known[key] = {each.line: each for each in scanned}
        found = known[key]
        held = arrays(path, mangled, one["smem"])
        for line, access in results(mangled)[one["id"]].by_line().items():
            said = found[line]
            if said.aligned.verdict == "proved":
                assert not misaligned(access), line
            begin, size = held.get(said.address.split(" ")[0], (0, 1 << 24))
            if said.in_bounds.verdict == "proved":
                assert all(begin <= at <= begin + size - access.bytes for at in places(access)), line
            for claim in (said.aligned, said.in_bounds):
                assert claim.verdict != "refuted" or not access.executed, line
                assert "two engines" not in claim.reason
