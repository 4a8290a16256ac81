"""What the page copies is what it judged: the spec, the CUDA function, and the CuTe layout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.view import Shown, shown_of

COMPILER = shutil.which("gcc") or shutil.which("cc")
STATES = {
    "rows": State(map="rows", swizzle="offset"),
    "a pad": State(map="columns", pad=8, instruction="ld.shared.b16"),
    "column-major": State(order="column", map="columns", instruction="ld.shared.b16", rows=48, threads=96),
    "addresses": State(swizzle="address", base=4),
    "down": State(swizzle="offset", shift=-3, bits=2),
    "nested": State(order="layout", layout="((8,8),64):((512,64),1)"),
    "three modes": State(
        order="layout", layout="(8,4,16):(64,16,1)", map="own", coord="lane%8, lane/8, k", loops="k=0:16:8"
    ),
    "notation": State(order="layout", layout="Sw<3,3,3> o (64,64):(64,1)"),
    "bytes": State(
        element="u8", instruction="ld.shared.b8", map="own", coord="min(tid, 63), (tid ^ k) % 64", loops="k=2:7:2"
    ),
    "four bits": State(element="f4", instruction="ld.shared.b8", map="columns", threads=256),
    "some lanes": State(map="rows", rows=9, threads=64, instruction="ld.shared.v4.b32"),
}


@pytest.mark.parametrize("name", STATES)
def test_the_copied_spec_has_the_page_s_verdicts(name: str, tmp_path: Path) -> None:
    shown = shown_of(STATES[name])
    file = tmp_path / "copied.swz.yaml"
    file.write_text(shown.spec.text, encoding="utf-8")
    result = CliRunner().invoke(main, ["prove", str(file), "--format", "json"])
    told = {each["kind"]: each for each in json.loads(result.stdout)["claims"]}
    assert {kind: each["verdict"] for kind, each in told.items()} == {
        each.kind: each.verdict.outcome.value for each in shown.claims
    }
    assert {kind: each["engines"] for kind, each in told.items()} == {
        each.kind: [*each.verdict.engines] for each in shown.claims
    }
    assert shown.run is not None
    assert shown.run.costs is not None
    assert told["conflict_free"]["measure"]["wavefronts"] == shown.run.costs.wavefronts


def calls_of(shown: Shown) -> tuple[list[str], list[int]]:
    """Calls of the copied function for every fifth lane, and the addresses of the plain definition."""
    calls: list[str] = []
    wanted: list[int] = []
    loops = [loop.name for loop in shown.access.loops]
    points = [{}]
    for loop, limit in zip(shown.access.loops, shown.access.loop_limits, strict=True):
        points = [{**point, loop.name: index} for point in points for index in range(limit)]
    for point in points:
        for warp in range(shown.access.warps):
            where = {**{node.name: 0 for node in shown.access.free}, **point, "warp": warp}
            values = shown.access.binding(where)
            for lane in shown.access.lanes_at(where):
                if lane.address_bytes is not None:
                    arguments = [values.get("base", 0), 32 * warp + lane.lane, *(values[loop] for loop in loops)]
                    calls.append(f"shared_address({', '.join(map(str, arguments))})")
                    wanted.append(lane.address_bytes)
    return calls[::5], wanted[::5]


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on the PATH")
def test_the_copied_cuda_computes_the_same_addresses(tmp_path: Path) -> None:
    parts: list[str] = []
    runs: list[str] = []
    wanted: list[int] = []
    for index, state in enumerate(STATES.values()):
        shown = shown_of(state)
        calls, addresses = calls_of(shown)
        function = shown.cuda.replace("shared_address", f"f{index}").replace("__device__", "static")
        parts.append(function)
        listed = ", ".join(call.replace("shared_address", f"f{index}") for call in calls)
        runs.append(
            f'{{ unsigned a[] = {{{listed}}}; for (unsigned i = 0; i < {len(calls)}; i++) printf("%u\\n", a[i]); }}'
        )
        wanted += addresses
    code = "\n".join(
        [
            "#include <stdio.h>",
            "static int min(int a, int b) { return a < b ? a : b; }",
            *parts,
            "int main(void) {",
            *runs,
        ]
    )
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(f"{code}\nreturn 0;\n}}\n", encoding="utf-8")
    subprocess.run([str(COMPILER), "-o", str(program), str(source)], check=True)
    found = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split()
    assert [*map(int, found)] == wanted
    assert len(wanted) > 1000


def static(text: str) -> object:
    """`Shape<_8,Shape<_4,Int<12>>>` as a tuple."""
    inner = re.sub(r"Int<(\d+)>", r"\1", text)
    inner = re.sub(r"_(\d+)", r"\1", inner)
    return eval(re.sub(r"(?:Shape|Stride)<", "(", inner).replace(">", ",)"))  # noqa: S307


@pytest.mark.parametrize("name", [name for name in STATES if name != "addresses"])
def test_the_copied_cute_is_the_same_layout(name: str, pycute: Any) -> None:
    shown = shown_of(STATES[name])
    found = re.fullmatch(
        r"(?:composition\(Swizzle<(\d+),(\d+),(-?\d+)>\{\}, )?Layout<(Shape<.*>), (Stride<.*>)>\{\}\)?", shown.cute
    )
    assert found, shown.cute
    layout = pycute.Layout(static(found[4]), static(found[5]))
    swizzle = pycute.Swizzle(*map(int, found.groups()[:3])) if found[1] else None
    for flat in range(0, shown.tile.size, 7):
        coord = pycute.idx2crd(flat, tuple(shown.tile.extents))
        offset = layout(*coord)
        assert int(shown.tile.offset(coord)) == (swizzle(offset) if swizzle else offset)


def test_a_swizzle_of_addresses_belongs_to_cute_s_pointer() -> None:
    text = shown_of(STATES["addresses"]).cute
    assert text == "make_tensor(make_swizzle_ptr(pointer, Swizzle<3,4,3>{}), Layout<Shape<_64,_64>, Stride<_64,_1>>{})"
