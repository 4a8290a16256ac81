"""Named expressions, `let:`: what they mean, where they may stand, and where a mistake in one is
shown.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from swzverify.certificates.make import describe
from swzverify.prover import prove
from swzverify.spec import SpecError, load_spec
from swzverify.spec.lets import circles
from swzverify.spec.load import Spec, parse_spec
from tests.oracle.brute_force import judge

WITH_LETS = """\
swzverify: 1
constants: {BK: [32, 64], W: 8}
let:
  half: lane/16
  row: warp*16 + lane%16
tiles:
  A: {element: f16, layout: "(64,BK):(BK,1)", swizzle: "Swizzle<3,3,3>", stages: 2}
accesses:
  read:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: BK, step: 16}}
    let: {col: k + half*W, other: 1 - s, s: k/16%2, early: k < BK}
    stage: other
    coord: [row, col]
    assume: [early]
  write:
    instruction: st.shared.b32
    threads: 64
    let: {word: row + 1}
    address: word*4 + half
    if: half == 1 - 1
    bytes: 4096
claims: [standard, {wavefronts: {access: read, at_most: 4}}, {covers: {access: read, times: 1}}]
"""
WRITTEN_OUT = """\
swzverify: 1
constants: {BK: [32, 64], W: 8}
tiles:
  A: {element: f16, layout: "(64,BK):(BK,1)", swizzle: "Swizzle<3,3,3>", stages: 2}
accesses:
  read:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: BK, step: 16}}
    stage: (1 - (k/16%2))
    coord: [(warp*16 + lane%16), (k + (lane/16)*W)]
    assume: [(k < BK)]
  write:
    instruction: st.shared.b32
    threads: 64
    address: ((warp*16 + lane%16) + 1)*4 + (lane/16)
    if: (lane/16) == 1 - 1
    bytes: 4096
claims: [standard, {wavefronts: {access: read, at_most: 4}}, {covers: {access: read, times: 1}}]
"""


def access_spec(lines: str, top: str = "") -> str:
    """A spec of one access of 64 threads; `lines` are further keys of it, with a semicolon between
    two.
    """
    keys = "".join(f"    {line.strip()}\n" for line in lines.split(";"))
    head = "swzverify: 1\nconstants: {N: 4}\n" + (f"let: {top}\n" if top else "")
    return f"{head}accesses:\n  a:\n    instruction: ld.shared.b32\n    threads: 64\n{keys}claims: [aligned: a]\n"


def read(text: str) -> Spec:
    return parse_spec(text, path="a.yaml")


def refusal(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        read(text)
    return caught.value


def test_a_spec_with_lets_is_the_spec_with_them_written_out() -> None:
    ours, theirs = read(WITH_LETS), read(WRITTEN_OUT)
    assert [claim.id for claim in ours.claims] == [claim.id for claim in theirs.claims]
    for one, other in zip(ours.claims, theirs.claims, strict=True):
        assert describe(one.claim) == describe(other.claim)
        first, second = prove(one.claim), prove(other.claim)
        assert (first.outcome, first.scope, first.reason, first.measure, first.counterexample) == (
            second.outcome,
            second.scope,
            second.reason,
            second.measure,
            second.counterexample,
        )
        assert one.uses == other.uses
    assert {claim.uses for claim in ours.claims if claim.subject.startswith("read")} == {frozenset({"BK", "W"})}


@pytest.mark.parametrize(
    ("lets", "address", "written"),
    [
        ("{row: tid + 1}", "row*4", "(tid + 1)*4"),
        ("{row: tid + 1}", "2*row", "2*(tid + 1)"),
        ("{row: tid + 1}", "8 - row % 2", "8 - (tid + 1) % 2"),
        ("{row: 'tid < 3 ? 1 : 2'}", "'row ? 4 : 8'", "(tid < 3 ? 1 : 2) ? 4 : 8"),
        ("{row: '-1'}", "4 -row", "4 -(-1)"),
        ("{row: 7}", "row*row", "(7)*(7)"),
        ("{a: b*b, b: tid + 1}", "a*b", "((tid + 1)*(tid + 1))*(tid + 1)"),
        ("{a: tid, aa: 3}", "a + aa + min(aa, a)", "(tid) + (3) + min((3), (tid))"),
        ("{tid_: 5, x: lane}", "tid_ + tid*0 + threadIdx.x + x", "(5) + tid*0 + threadIdx.x + (lane)"),
    ],
)
def test_a_name_is_its_text_in_parentheses(lets: str, address: str, written: str) -> None:
    access = read(access_spec(f"let: {lets}; address: {address}")).cases[0].accesses["a"]
    assert access.address is not None
    assert access.address.text == written


@pytest.mark.parametrize("key", ["let: {N: 1}", "let: {tid: 1}", "let: {base: 1}", "let: {min: 1}", "let: {stage: 1}"])
def test_a_let_has_no_name_that_means_something(key: str) -> None:
    assert [problem.code for problem in refusal(access_spec(f"{key}; address: tid*4")).problems] == ["SWZ105"]
    [problem] = refusal(access_spec("address: tid*4", key.removeprefix("let: "))).problems
    assert (problem.code, problem.line) == ("SWZ105", 3)


TAKEN = "'i' is the name of a loop variable or of a lane's value already"


def test_a_let_may_read_a_value_of_the_lane_and_an_assumption_may_not() -> None:
    with_let = "lanes: {bin: 4}; let: {row: bin*2}; address: row*4 + tid"
    access = read(access_spec(with_let)).cases[0].accesses["a"]
    assert [each.name for each in access.read_unknowns] == ["bin"]
    [problem] = refusal(access_spec(with_let + "; assume: [row > 1]")).problems
    assert problem.code == "SWZ301"


@pytest.mark.parametrize(
    ("top", "lines", "said"),
    [
        ("{row: tid}", "let: {row: lane}; address: row*4", "'row' is the name of a let at the top already"),
        ("{row: tid}", "let: {row: tid}; address: tid*4", "'row' is the name of a let at the top already"),
        ("{i: tid}", "for: {i: 4}; address: tid*4", "'i' is the name of a let at the top already"),
        ("{i: tid}", "lanes: {i: 4}; address: tid*4", "'i' is the name of a let at the top already"),
        ("", "for: {i: 4}; let: {i: 4}; address: tid*4", TAKEN),
        ("", "lanes: {i: 4}; let: {i: 4}; address: tid*4", TAKEN),
    ],
)
def test_a_name_has_one_meaning(top: str, lines: str, said: str) -> None:
    [problem] = refusal(access_spec(lines, top)).problems
    assert (problem.code, problem.message) == ("SWZ105", said)


def test_a_constant_from_the_code_is_a_constant(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("constexpr int row = 4;\nconstexpr int K = 3;\n")
    text = access_spec("let: {row: lane}; address: row*4").replace(
        "constants:", "from_source: {row: {file: k.cu}}\nconstants:"
    )
    (tmp_path / "a.swz.yaml").write_text(text)
    with pytest.raises(SpecError, match="'row' is a constant's name already"):
        load_spec(tmp_path / "a.swz.yaml")
    unused = access_spec("let: {x: K}; address: tid*4").replace(
        "constants:", "from_source: {K: {file: k.cu}}\nconstants:"
    )
    (tmp_path / "a.swz.yaml").write_text(unused)
    with pytest.raises(SpecError, match="SWZ126 'K' is read from the code, and nothing"):
        load_spec(tmp_path / "a.swz.yaml")
    (tmp_path / "a.swz.yaml").write_text(unused.replace("tid*4", "x*4 + tid*4"))
    [claim] = load_spec(tmp_path / "a.swz.yaml").claims
    assert [each.name for each in claim.read] == ["K"]


def test_lets_of_two_accesses_are_two() -> None:
    """A let of one access is nothing in another one, and the same name may stand for something else
    there.
    """
    first = access_spec("let: {x: tid*4}; address: x")
    second = "  b: {instruction: ld.shared.b32, threads: 64, let: {x: tid*2}, address: x}\nclaims: [aligned: b]"
    spec = read(first.replace("claims: [aligned: a]", second))
    assert [str(prove(claim.claim).outcome) for claim in spec.claims] == ["refuted"]
    assert "unknown name 'x'" in str(
        refusal(first.replace("claims: [aligned: a]", second.replace("let: {x: tid*2}, ", "")))
    )


@pytest.mark.parametrize(
    ("top", "lines", "place", "parts"),
    [
        (
            "{row: tid/(lane - 3)}",
            "address: row*4",
            (3, 17),
            ["SWZ305", "'lane - 3'", "in the let 'row', used in `address` (line 8)"],
        ),
        (
            "{row: half, half: lane << lane*2}",
            "if: 1 + row",
            (3, 32),
            ["SWZ304", "in the let 'half', used in 'row', used in `if`"],
        ),
        ("", "let: {x: 1 << 31}; assume: [1, x*x]", (8, 17), ["SWZ303 '(1 << 31) * (1 << 31)' can go"]),
        (
            "",
            "let: {x: lan}; address: x",
            (7, 14),
            ["SWZ301 unknown name 'lan'", "did you mean 'lane'?", "used in `address`"],
        ),
        ("", "let: {row: lane}; address: rows", (8, 14), ["SWZ301 unknown name 'rows'", "did you mean 'row'?"]),
        (
            "",
            "let: {x: lane}; assume: [x]; address: tid*4",
            (7, 14),
            ["unknown name 'lane'", "used in `assume[0]` (line 8)"],
        ),
        (
            "{x: y*2}",
            "let: {y: lane}; address: x",
            (3, 10),
            ["unknown name 'y'", "a let at the top reads only lets at the top"],
        ),
        ("{x: y*2}", "for: {i: 4}; address: x", (3, 10), ["unknown name 'y'", "known names: N, "]),
        ("", "let: {x: (lane, y: 3}; address: x + y", (7, 14), ["SWZ302 '(' is never closed"]),
        ("", 'let: {x: "lane) + (3"}; address: x*2', (7, 19), ["SWZ302 ')' closes no '('"]),
        ("", 'let: {x: "lane // 2"}; address: x', (7, 20), ["SWZ302"]),
        ("", "let: {x: lane - 4}; address: x*4", (8, 14), ["SWZ306", "'(lane - 4)*4' can be -16"]),
        ("", "let: {x: threadIdx.y}; address: x*4", (7, 14), ["SWZ307", "in the let 'x'"]),
    ],
)
def test_a_mistake_is_shown_where_it_is_written(top: str, lines: str, place: tuple[int, int], parts: list[str]) -> None:
    if "address" not in lines:
        lines += "; address: tid*4"
    [problem] = refusal(access_spec(lines, top)).problems
    shown = str(problem)
    for part in parts:
        assert part in shown
    assert (problem.line, problem.column) == place


@pytest.mark.parametrize(
    ("lets", "chain"),
    [
        ("{a: a}", "a -> a"),
        ("{a: b, b: a}", "a -> b -> a"),
        ("{c: a, a: b + tid, b: c*2}", "c -> a -> b -> c"),
    ],
)
def test_a_circle_names_its_chain(lets: str, chain: str) -> None:
    for text in (access_spec(f"let: {lets}; address: a*4"), access_spec("address: a*4", lets)):
        [problem] = refusal(text).problems
        assert problem.code == "SWZ310"
        assert problem.message.endswith(chain)


def test_circles_are_found_whether_they_are_used_or_not() -> None:
    assert refusal(access_spec("let: {a: b, b: a}; address: tid*4")).problems[0].code == "SWZ310"
    assert list(circles({"a": ["b", "c"], "b": ["a"], "c": ["a"]})) == [("a", "b"), ("a", "c")]
    assert list(circles({"a": ["b", "b"], "b": ["c"], "c": []})) == []


def test_a_let_that_nothing_uses_is_read_and_not_judged() -> None:
    assert read(access_spec("let: {x: 1/0, y: nothing}; address: tid*4", "{z: lane/0, w: i}")).claims
    assert refusal(access_spec("let: {x: 1 +}; address: tid*4")).problems[0].code == "SWZ302"


@pytest.mark.parametrize(
    "text",
    [
        access_spec("address: tid*4").replace("claims:", "maps: {m: {over: {x: z}, value: [x]}}\nclaims:"),
        access_spec("address: tid*4").replace("claims:", "maps: {m: {over: {x: 4}, value: [x], onto: [z]}}\nclaims:"),
        access_spec("address: tid*4; bytes: z"),
        access_spec("address: tid*4").replace("threads: 64", "threads: z"),
        access_spec("address: tid*4; for: {i: z}"),
    ],
)
def test_lets_are_for_expressions_and_not_for_numbers(text: str) -> None:
    [problem] = refusal(text.replace("accesses:", "let: {z: 64}\naccesses:")).problems
    assert problem.message == "unknown name 'z'"


MAP_WITH_LETS = """\
swzverify: 1
constants: {G: [8]}
let: {group: i/G}
maps:
  m:
    over: {i: 64}
    let: {inner: i%G, turned: inner ^ group}
    value: [group, turned]
    onto: [8, G]
claims: [permutation: m]
"""


def test_a_map_with_lets_is_the_map_with_them_written_out() -> None:
    plain = MAP_WITH_LETS.replace("let: {group: i/G}\n", "").replace(
        "    let: {inner: i%G, turned: inner ^ group}\n", ""
    )
    plain = plain.replace("[group, turned]", "[(i/G), ((i%G) ^ (i/G))]")
    [ours], [theirs] = read(MAP_WITH_LETS).claims, read(plain).claims
    assert describe(ours.claim) == describe(theirs.claim)
    assert (ours.uses, str(prove(ours.claim).outcome)) == (theirs.uses, "proved")
    [broken] = read(MAP_WITH_LETS.replace("inner: i%G", "inner: i%4")).claims
    assert str(prove(broken.claim).outcome) == "refuted"
    for text in (MAP_WITH_LETS, plain, MAP_WITH_LETS.replace("inner: i%G", "inner: i%4")):
        [judged] = judge(yaml.safe_load(text))
        assert judged.verdict == str(prove(read(text).claims[0].claim).outcome)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("inner: i%G,", "i: 4, inner: i%G,", TAKEN),
        ("inner: i%G,", "group: 4, inner: i%G,", "'group' is the name of a let at the top already"),
        ("over: {i: 64}", "over: {i: 64, group: 2}", "'group' is the name of a let at the top already"),
        ("inner: i%G,", "inner: i%H,", "unknown name 'H'"),
        ("inner: i%G,", "inner: turned,", "the let 'inner' stands for itself: inner -> turned -> inner"),
    ],
)
def test_a_mistake_in_a_let_of_a_map(old: str, new: str, said: str) -> None:
    assert said in [problem.message for problem in refusal(MAP_WITH_LETS.replace(old, new)).problems]


def test_what_grows_too_long_is_refused_where_it_is_used() -> None:
    doubling = ", ".join(f"v{n + 1}: v{n} + v{n}" for n in range(40))
    [problem] = refusal(access_spec(f"let: {{v0: tid, {doubling}}}; address: v3*4 + v40")).problems
    assert "with its lets written out" in problem.message
    deep = ", ".join(f"v{n + 1}: v{n}" for n in range(120))
    [problem] = refusal(access_spec(f"let: {{v0: tid, {deep}}}; address: 4*v110")).problems
    assert "more than 100 parentheses" in problem.message
    assert (problem.source_line.strip(), problem.caret_length) == ("address: 4*v110", 6)
    many = ", ".join(f"v{n}: 1" for n in range(257))
    assert refusal(access_spec(f"let: {{{many}}}; address: tid*4")).problems[0].code == "SWZ107"


def test_an_open_loop_ends_where_a_let_leaves_the_range() -> None:
    with_let = read(access_spec("for: {k: any}; let: {far: k*1000000}; address: tid*4; if: far >= 0"))
    without = read(access_spec("for: {k: any}; address: tid*4; if: (k*1000000) >= 0"))
    limits = [spec.cases[0].accesses["a"].loop_limits for spec in (with_let, without)]
    assert limits[0] == limits[1] == (4295,)
    unused = read(access_spec("for: {k: any}; let: {far: k*1000000}; address: tid*4"))
    assert unused.cases[0].accesses["a"].loop_limits == (1 << 32,)


def test_blocks_of_a_contract_share_the_top(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "// swz:begin\n// swzverify: 1\n// let: {row: tid/8}\n// swz:end\n"
        "/* swz:begin\n let: {col: row*8}\n"
        " accesses: {a: {instruction: ld.shared.b32, threads: 64, address: col*4}}\n"
        " claims: [aligned: a]\n swz:end */\n"
    )
    [claim] = load_spec(tmp_path / "k.cu").claims
    assert claim.claim.subjects[0].address.text == "((tid/8)*8)*4"  # type: ignore[union-attr]  # an access
