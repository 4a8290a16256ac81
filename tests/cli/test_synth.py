"""`swzverify synth` from the outside: what it prints, writes and returns."""

from __future__ import annotations

import json

import pytest

SPEC = """\
swzverify: 1
target: sm_90
# what the two warps share
tiles:
  A:
    element: f16        # half
    layout: (64,64):(64,1)
accesses:
  write_A: {tile: A, instruction: st.shared.v4.b32, threads: 128, for: {i: 4}, coord: [i*16 + tid/8, tid%8*8]}
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: 64, step: 16}}
    coord: [warp*16 + lane%16, k + lane/16*8]
claims:
  - conflict_free: read_A
  - conflict_free: write_A
"""
IMPOSSIBLE = """\
swzverify: 1
tiles:
  T: {element: f32, layout: "(32,32):(32,1)"}
accesses:
  write: {tile: T, instruction: st.shared.v4.b32, threads: 32, for: {i: 8}, coord: [i*4 + lane/8, lane%8*4]}
  read: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
"""


def test_the_answer_in_words(write, swzverify):
    write({"a.swz.yaml": SPEC})
    result = swzverify("synth", "a.swz.yaml")
    assert result.exit_code == 0
    assert "answer   Swizzle<3,3,3> on element offsets" in result.stdout
    assert "none of the 141 layouts of the family is better" in result.stdout
    assert "two for each" in result.stdout
    assert "composition(Swizzle<3,3,3>{}, Layout<Shape<_64,_64>, Stride<_64,_1>>{})" in result.stdout
    assert "offset = offset ^ ((offset >> 3) & 0x38);" in result.stdout
    assert "+    swizzle: Swizzle<3,3,3>" in result.stdout


def test_the_answer_in_json(write, swzverify):
    write({"a.swz.yaml": SPEC})
    document = json.loads(swzverify("synth", "a.swz.yaml", "--format", "json").stdout)
    assert document["schema"] == "swzverify.synth/1"
    assert document["family"] == "swizzle"
    assert document["answer"]["swizzle"] == [3, 3, 3]
    assert document["answer"]["pad_elements"] == 0
    assert document["excess"] == 0
    assert document["wavefronts"] == {"write_A": 4, "read_A": 4}
    assert document["optimal"] is True
    assert document["unsat_core"] == []
    assert all(claim["verdict"] == "proved" and len(claim["engines"]) >= 2 for claim in document["claims"])
    write({"b.swz.yaml": document["spec"]})
    assert swzverify("prove", "b.swz.yaml").exit_code == 0


@pytest.mark.parametrize("family", ["swizzle", "tma", "pad", "pad+swizzle", "xor"])
def test_what_is_written_is_proved(write, swzverify, here, family):
    write({"a.swz.yaml": SPEC})
    assert swzverify("prove", "a.swz.yaml", "--no-cures").exit_code == 1
    result = swzverify("synth", "a.swz.yaml", "--family", family, "--write")
    assert result.exit_code == 0
    assert "a.swz.yaml: written; now: swzverify prove a.swz.yaml" in result.stderr
    text = (here / "a.swz.yaml").read_text()
    assert "# what the two warps share" in text
    assert "# half" in text
    assert swzverify("prove", "a.swz.yaml").exit_code == 0
    again = swzverify("synth", "a.swz.yaml", "--family", family, "--write")
    if family == "xor":
        assert "SWZ562" in again.stderr  # an expression now
    else:
        assert "as it was: it has this layout already" in again.stderr
        assert (here / "a.swz.yaml").read_text() == text


def test_line_ends_of_windows_stay(write, swzverify, here):
    write({"a.swz.yaml": ""})
    (here / "a.swz.yaml").write_bytes(SPEC.replace("\n", "\r\n").encode())
    assert swzverify("synth", "a.swz.yaml", "--write").exit_code == 0
    data = (here / "a.swz.yaml").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == SPEC.count("\n") + 1


def test_why_nothing_is_free(write, swzverify):
    write({"a.swz.yaml": IMPOSSIBLE})
    result = swzverify("synth", "a.swz.yaml", "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["unsat_core"] == ["write", "read"]
    assert document["excess"] == 3
    assert document["optimal"] is True
    assert document["proved"] is True
    text = swzverify("synth", "a.swz.yaml").stdout
    assert "no layout of the family frees write and read together" in text
    assert "rank: write needs vectors of 16 bytes whole" in text


def test_all_answers_are_proved(write, swzverify):
    write({"a.swz.yaml": IMPOSSIBLE})
    document = json.loads(swzverify("synth", "a.swz.yaml", "--all", "--format", "json").stdout)
    answers = [answer["swizzle"] for answer in document["answers"]]
    assert answers[0] == document["answer"]["swizzle"]
    assert len(answers) > 1


def test_every_case_of_the_constants_counts(write, swzverify, here):
    spec = SPEC.replace("target: sm_90\n", "target: sm_90\nconstants: {BK: [64, 128]}\n").replace(
        "(64,64):(64,1)", "(64,BK):(BK,1)"
    )
    write({"a.swz.yaml": spec})
    document = json.loads(swzverify("synth", "a.swz.yaml", "--format", "json").stdout)
    assert set(document["wavefronts"]) == {f"{name}_A [BK = {bk}]" for name in ("read", "write") for bk in (64, 128)}
    # Swizzle<3,3,3> serves rows of 64, Swizzle<3,3,4> rows of 128, and none serves both.
    assert document["unsat_core"] == ["read_A [BK = 64]", "read_A [BK = 128]"]
    pad = swzverify("synth", "a.swz.yaml", "--family", "pad", "--write")
    assert "SWZ565" in pad.stderr
    assert (here / "a.swz.yaml").read_text() == spec
    dense = spec.replace("layout: (64,BK):(BK,1)", "layout: {shape: [64, BK]}")
    write({"b.swz.yaml": dense})
    assert swzverify("synth", "b.swz.yaml", "--family", "pad", "--write").exit_code == 0
    assert "layout: {shape: [64, BK], pad: 8}" in (here / "b.swz.yaml").read_text()


def test_limits(write, swzverify):
    write({"a.swz.yaml": SPEC})
    assert swzverify("synth", "a.swz.yaml", "--family", "pad", "--smem-bytes", "9215").exit_code == 0
    few = swzverify("synth", "a.swz.yaml", "--family", "pad", "--smem-bytes", "9000")
    assert few.exit_code == 1  # only the plain layout has room
    assert "SWZ563" in swzverify("synth", "a.swz.yaml", "--smem-bytes", "8000").stderr
    assert "SWZ563" in swzverify("synth", "a.swz.yaml", "--blocks-per-sm", "32").stderr
    staged = json.loads(swzverify("synth", "a.swz.yaml", "--stages", "3", "--format", "json").stdout)
    assert staged["answer"]["bytes"] == 3 * 8192
    assert "    stages: 3\n" in staged["spec"]
    wide = json.loads(swzverify("synth", "a.swz.yaml", "--keep-aligned", "32", "--format", "json").stdout)
    assert wide["excess"] > 0


def test_weights(write, swzverify):
    write({"a.swz.yaml": IMPOSSIBLE})
    document = json.loads(swzverify("synth", "a.swz.yaml", "--weight", "read=3", "--format", "json").stdout)
    assert document["weights"] == {"write": 1, "read": 3}
    assert "read_A=4" in swzverify("synth", "a.swz.yaml", "--weight", "read").stderr
    assert "SWZ561" in swzverify("synth", "a.swz.yaml", "--weight", "reed=2").stderr


def test_which_tile(write, swzverify):
    two = IMPOSSIBLE.replace("accesses:\n", '  U: {element: f32, layout: "(32,32):(32,1)"}\naccesses:\n')
    two += "  other: {tile: U, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}\n"
    write({"a.swz.yaml": two})
    assert "--tile T or --tile U" in swzverify("synth", "a.swz.yaml").stderr
    assert swzverify("synth", "a.swz.yaml", "--tile", "U").exit_code == 0
    assert "no tile 'V'" in swzverify("synth", "a.swz.yaml", "--tile", "V").stderr


def test_a_search_that_errs_is_loud(write, swzverify, monkeypatch):
    import numpy as np

    write({"a.swz.yaml": IMPOSSIBLE})
    monkeypatch.setattr("swzverify.search.synth.pricing.ranks", lambda columns, count: np.full(count, len(columns)))
    result = swzverify("synth", "a.swz.yaml")
    assert result.exit_code == 2
    assert "SWZ567" in result.stderr
    assert "fault of swzverify" in result.stderr


MEMORY = """\
swzverify: 1
memories: {smem: {bytes: 16384}}
tiles:
  A: {element: f16, layout: "(64,64):(64,1)", base: {in: smem, offset: 0}}
  B: {element: f16, layout: "(64,32):(32,1)", base: {in: smem, offset: END}}
accesses:
  read: {tile: A, instruction: ldmatrix.x4, threads: 32, for: {k: 4}, coord: [lane%16, k*16 + lane/16*8]}
claims:
  - disjoint: [A, B]
"""


def test_a_tile_does_not_grow_into_its_neighbour(write, swzverify):
    write({"far.swz.yaml": MEMORY.replace("END", "9216"), "near.swz.yaml": MEMORY.replace("END", "8192")})
    free = swzverify("synth", "far.swz.yaml", "--family", "pad", "--write")
    assert free.exit_code == 0
    assert "pad 8 after every 64 elements" in free.stdout
    assert swzverify("prove", "far.swz.yaml").exit_code == 0
    assert swzverify("synth", "near.swz.yaml", "--family", "pad").exit_code == 1


BYTES = """\
swzverify: 1
tiles:
  A: {element: i8, layout: "(32,128):(128,1)"}
accesses:
  write: {tile: A, instruction: st.shared.b8, threads: 128, for: {i: 32}, coord: [i, tid]}
  read: {tile: A, instruction: ld.shared.b8, threads: 32, coord: [lane, 0]}
"""


def test_bytes_are_aligned_without_an_engine(write, swzverify):
    """Every address is a multiple of 1: no engine is asked, and the answer is proved all the same."""
    write({"a.swz.yaml": BYTES})
    result = swzverify("synth", "a.swz.yaml")
    assert result.exit_code == 0, result.stdout
    assert "two for each; plain arithmetic decides aligned write, aligned read" in " ".join(result.stdout.split())
    assert "not proved" not in result.stdout
    write({"a.swz.yaml": BYTES + "claims: [{aligned: write}, {in_bounds: write}]\n"})
    assert "2 proved, 0 unexpected" in swzverify("prove", "a.swz.yaml").stdout


def test_answers_that_only_z3_knows_are_told(write, swzverify, monkeypatch):
    from swzverify.prover import panel

    write({"a.swz.yaml": SPEC})
    monkeypatch.setattr(panel, "NATIVE", ())
    panel._native.cache_clear()
    panel._by_z3.cache_clear()
    result = swzverify("synth", "a.swz.yaml")
    assert result.exit_code == 3
    assert "not proved  injective A: by one engine alone, z3" in result.stdout


def test_an_answer_that_is_not_proved_is_no_success(write, swzverify, here):
    write(
        {
            "a.swz.yaml": SPEC.replace("(64,64):(64,1)", "(64,64):(66,1)")
            .replace("v4.b32", "b32")
            .replace("tid%8*8", "tid%8*2")
        }
    )
    result = swzverify("synth", "a.swz.yaml", "--rlimit", "1", "--write")
    assert result.exit_code in (2, 3)
    assert "swizzle:" not in (here / "a.swz.yaml").read_text()
