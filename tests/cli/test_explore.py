"""`swzverify explore SPEC`: the page begins with the spec's access, and its claims come out the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from swzverify.apps.commands.explore import opened_spec
from swzverify.apps.explorer.server import serve
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.view import shown_of
from swzverify.errors import SwzError
from swzverify.prover import prove
from swzverify.spec import load_spec
from swzverify.subjects.loop import STAGE

SPEC = """\
swzverify: 1
constants: {BK: 64, R: [16, 8]}
let: {row: warp*R + lane%16}
tiles:
  A: {element: f16, layout: "(64,BK):(BK,1)", swizzle: "Swizzle<2,3,3>"}
  T: {element: f32, layout: "(32,32):(32,1)"}
  ring: {element: bf16, tma: {box: [64, 64], swizzle: 128B}, stages: 3, base: {align: 2048}}
  even: {bits: 12, layout: "(32,32):(32,1)"}
  own: {element: f32, shape: [32, 32], offset: i*32 + j}
accesses:
  read:
    tile: A
    instruction: ldmatrix.x4
    threads: 64
    for: {k: {start: 0, stop: BK, step: 16}}
    coord: [row, k + lane/16*8]
  turned:
    tile: T
    instruction: ld.shared.b32
    block: [32, 8]
    for: {i: {start: 0, stop: 32, step: 8}}
    coord: [threadIdx.x, "max(threadIdx.y + i, i*blockDim.y*0)"]
  cube: {tile: T, instruction: ld.shared.b32, block: [4, 4, 4], coord: [tid_z*4 + tid_y, tid_x]}
  staged: {tile: ring, instruction: ldmatrix.x4, threads: 32, coord: [lane%16, lane/16*8], stage: 1}
  guarded: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0], if: lane < 4}
  listed: {tile: T, instruction: ld.shared.b32, threads: 32, for: {s: [1, 2, 4]}, coord: [lane, s]}
  endless: {tile: T, instruction: ld.shared.b32, threads: 32, for: {s: any}, coord: [lane, s%32]}
  raw: {instruction: ld.shared.b32, threads: 32, address: tid*8}
  small: {tile: even, instruction: ld.shared.b8, threads: 32, coord: [lane, 0]}
  free: {tile: own, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
claims: [conflict_free: read, conflict_free: turned, conflict_free: cube, conflict_free: staged]
"""


@pytest.fixture
def spec(here: Path) -> str:
    (here / "a.swz.yaml").write_text(SPEC, encoding="utf-8")
    return "a.swz.yaml"


@pytest.mark.parametrize("name", ["read", "turned", "cube", "staged"])
def test_the_page_shows_the_access_of_the_spec(spec: str, name: str) -> None:
    state = State.from_query(opened_spec(spec, name).state.to_query())
    shown = shown_of(state, changes=False)
    loaded = load_spec(spec)
    access = loaded.cases[0].accesses[name]
    for point in ({"warp": 0}, {"warp": access.warps - 1}):
        ours, theirs = ({node.name: 0 for node in each.free} | point for each in (shown.access, access))
        theirs |= {STAGE: 0} if STAGE in theirs else {}
        ours, theirs = ({name: at[name] for name in at if name in {n.name for n in each.free}}
                        for at, each in ((ours, shown.access), (theirs, access)))  # fmt: skip
        offsets = [
            [lane.offset_elements for lane in each.lanes_at(at)]
            for each, at in ((shown.access, ours), (access, theirs))
        ]
        assert offsets[0] == offsets[1]
    claim = next(each for each in loaded.claims if each.claim.subjects[0] is access)
    verdict = next(each.verdict for each in shown.claims if each.kind == "conflict_free")
    assert (verdict.outcome, verdict.measure) == (prove(claim.claim).outcome, prove(claim.claim).measure)


def test_what_the_page_does_not_have_is_said(spec: str) -> None:
    assert opened_spec(spec, "read").left_out == ()
    assert opened_spec(spec, "staged").left_out == (
        "stages: the page has one, the spec 3",
        "base: the page has multiples of 1024",
    )


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        (None, "SWZ581", "has 10 accesses; the page has one"),
        ("reed", "SWZ581", "has no access 'reed'"),
        ("guarded", "SWZ597", "has a condition or values of its own"),
        ("listed", "SWZ597", "has the loop s, which is no range"),
        ("endless", "SWZ597", "has the loop s, which is no range"),
        ("raw", "SWZ597", "has an address and no tile"),
        ("small", "SWZ597", "has elements of 12 bits"),
        ("free", "SWZ597", "has a tile whose layout is an expression"),
    ],
)
def test_what_the_page_cannot_show_is_refused(spec: str, name: str | None, code: str, said: str) -> None:
    with pytest.raises(SwzError, match=re.escape(said)) as caught:
        opened_spec(spec, name)
    assert caught.value.code == code


def test_the_link_has_the_state(spec: str, swzverify: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.apps.explorer.server.page_server", _Stopped)
    links: list[str] = []
    query = opened_spec(spec, "read").state.to_query()
    serve("127.0.0.1", 0, links.append, query)
    assert links[0].endswith(f"/?{query}")
    result = swzverify("explore", spec, "--access", "staged", "--port", "0")
    assert "not on the page: stages: the page has one, the spec 3" in result.output
    assert swzverify("explore", "--access", "read").exit_code == 2


class _Stopped:
    """A server that Ctrl-C ends at once."""

    def __init__(self, *_: object) -> None: ...

    def serve_forever(self, **_: object) -> None:
        raise KeyboardInterrupt

    def server_close(self) -> None: ...
