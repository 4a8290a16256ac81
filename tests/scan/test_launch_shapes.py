"""The shapes of launches: the grid that is given, and the block with which each kernel is judged."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.compiled.kernel.arguments import Arguments
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.special import special
from swzverify.compiled.ptx import Function, read_module
from swzverify.compiled.scan import Blocks, Given, ScannedAccess, judged_block, wanted_kernels
from swzverify.compiled.trial import Launcher, Search
from swzverify.errors import SwzError
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Const, variables
from tests.scan.texts import strided, text_of
from tests.scan.whole import scan_module

STRIDED = "mul.lo.u32 %r5, %r4, %r1; shl.b32 %r5, %r5, 2; add.u32 %r20, %r5, %r3; ld.shared.u32 %r30, [%r20];"
REGISTERS = [
    *(f"%{name}.{axis}" for name in ("ctaid", "nctaid", "clusterid", "nclusterid") for axis in "xyz"),
    *(f"%cluster_{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz"),
    "%cluster_ctarank",
    "%cluster_nctarank",
]


def found(body: str, grid: tuple[int, int, int] | None = None) -> ScannedAccess:
    return scan_module(read_module(text_of(body), "k.ptx"), (64, 1, 1), given=Given(grid=grid))[-1]


# ---- the grid


@pytest.mark.parametrize(
    ("register", "verdict"),
    [
        ("nctaid.x", "depends"),
        ("nctaid.y", "depends"),
        ("ctaid.x", "depends"),
        ("nsmid", "depends"),
        ("smid", "unknown"),
    ],
)
def test_values_of_the_launch_are_its_choice(register: str, verdict: str) -> None:
    """y[gridDim.x * threadIdx.x] is free for one block."""
    assert found(f"mov.u32 %r4, %{register}; {STRIDED}").decision.verdict == verdict


@pytest.mark.parametrize(
    ("body", "grid", "verdict"),
    [
        ("mov.u32 %r4, %nctaid.x;", (1, 9, 9), "free"),
        ("mov.u32 %r4, %nctaid.x;", (32, 1, 1), "conflict"),
        ("mov.u32 %r4, %nctaid.y;", (32, 3, 1), "free"),
        ("mov.u32 %r4, %ctaid.x; add.u32 %r4, %r4, 1;", (1, 1, 1), "free"),
        ("mov.u32 %r4, %ctaid.x; add.u32 %r4, %r4, 1;", (2, 1, 1), "depends"),
        ("mov.u32 %r4, %clusterid.z; add.u32 %r4, %r4, 1;", (4, 4, 1), "free"),
        ("mov.u32 %r4, %nclusterid.x;", (1, 4, 4), "free"),
        ("mov.u32 %r4, %cluster_nctaid.x;", (1, 4, 4), "free"),
        ("mov.u32 %r4, %cluster_nctarank;", (1, 1, 1), "free"),
        ("mov.u32 %r4, %cluster_nctarank;", (1, 2, 1), "depends"),
        ("mov.u32 %r4, %cluster_ctarank; add.u32 %r4, %r4, 1;", (1, 1, 1), "free"),
    ],
)
def test_a_grid_that_is_given(body: str, grid: tuple[int, int, int], verdict: str) -> None:
    access = found(body + STRIDED, grid)
    assert access.decision.verdict == verdict
    assert f"the grid has {','.join(map(str, grid))} blocks" in access.assumptions


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 3, 1), (5, 1, 7), (70_000, 65_535, 2)])
@pytest.mark.parametrize("name", REGISTERS)
def test_a_grid_leaves_out_no_launch(name: str, grid: tuple[int, int, int]) -> None:
    """Whatever a register has in some block of the grid is among the values, and nothing that none has."""
    value = special(name, 32, None, Leaves(), Arguments(grid=grid))
    assert value is not None
    (read,) = variables(value) or (None,)
    most = grid["xyz".index(name[-1])] if name[-2] == "." else grid[0] * grid[1] * grid[2]
    if name.startswith("%cluster_"):
        most = min(most, 16)
    high = most if "ncta" in name or "nclusterid" in name else most - 1
    if name.startswith("%nctaid"):
        assert isinstance(value, Const)
        assert value.value == most
    elif read is None:
        assert high == 0
    else:
        assert evaluate(value, {read.name: read.limit - 1}) == high


def test_a_grid_of_parts_of_clusters() -> None:
    module = read_module(text_of(strided(4)).replace("q)", "q) .reqnctapercluster 2, 1, 1"), "k.ptx")
    assert scan_module(module, (64, 1, 1), given=Given(grid=(4, 3, 1)))[-1].decision.verdict == "free"
    with pytest.raises(SwzError, match=r"SWZ552: a grid of \(3, 4, 1\) blocks does not consist of clusters"):
        scan_module(module, (64, 1, 1), given=Given(grid=(3, 4, 1)))


def test_trials_have_the_grid() -> None:
    module = read_module(text_of("mov.u32 %r4, %nctaid.x;"), "k.ptx")
    search = Search(Launcher(module.functions[0], (32, 1, 1), 0, Arguments(grid=(6, 2, 1))))
    made = list(islice(search, 40))
    assert {launch.grid for launch in made} == {(6, 2, 1)}
    assert len({launch.place for launch in made}) > 1
    assert all(at < most for launch in made for at, most in zip(launch.place, launch.grid, strict=True))
    assert "a grid of 6,2,1 blocks" in made[0].words


def test_a_trial_tells_the_grid_that_the_kernel_reads() -> None:
    """The conflict is one of this grid: in a grid of one block the address is another one."""
    rounded = ".reg .f32 %f<2>; mov.u32 %r4, %nctaid.x; cvt.rn.f32.u32 %f1, %r4; sqrt.rn.f32 %f1, %f1;"
    rounded += " cvt.rni.u32.f32 %r4, %f1; shr.u32 %r4, %r4, 3;"
    decision = found(rounded + STRIDED).decision
    assert (decision.verdict, "a grid of 4096,4,4 blocks" in decision.reason) == ("conflict", True)
    assert found(rounded + STRIDED, (1, 1, 1)).decision.verdict == "unknown"


def test_a_conflict_of_many_blocks_alone_depends() -> None:
    """No formula: the loop halves the grid's blocks until they are few. One block needs no trip."""
    body = "mov.u32 %r4, %nctaid.x; L: setp.le.u32 %p1, %r4, 8; @%p1 bra M; shr.u32 %r4, %r4, 1; bra L; M: "
    decision = found(body + STRIDED).decision
    assert (decision.verdict, decision.ways, decision.parameters) == ("depends", 8, ("nctaid.x",))
    assert decision.reason.startswith(
        "free for a grid of one block; a run with made-up data (trial 0) has this conflict: n = 4, a grid of 4096,4,4"
    )
    assert found(body + STRIDED, (1, 1, 1)).decision.verdict == "free"
    assert found(body.replace("%nctaid.x", "%nctaid.x; add.u32 %r4, %r4, 1") + STRIDED).decision.verdict == "conflict"


# ---- the block


def kernels(*directives: str) -> list[Function]:
    text = ".version 8.3 .target sm_90 .address_size 64"
    text += "".join(f" .entry k{number}() {words} {{ ret; }}" for number, words in enumerate(directives))
    return [*read_module(text, "k.ptx").functions]


def blocks(every: tuple[int, int, int] | None = None, **named: tuple[int, int, int]) -> Blocks:
    """`k_` stands for the glob `k*`."""
    of = [(name.replace("_", "*"), shape) for name, shape in named.items()]
    return Blocks(every, tuple((wanted_kernels(name, ["k0", "k1"]), shape) for name, shape in of))


@pytest.mark.parametrize(
    ("directive", "given", "shape", "is_assumed"),
    [
        ("", blocks(), None, False),
        ("", blocks((32, 8, 1)), (32, 8, 1), False),
        ("", blocks((32, 8, 1), k0=(64, 1, 1)), (64, 1, 1), False),
        ("", blocks((32, 8, 1), k1=(64, 1, 1)), (32, 8, 1), False),
        ("", blocks(k_=(64, 1, 1), k0=(32, 1, 1)), (32, 1, 1), False),
        ("", blocks(k0=(32, 1, 1), k_=(64, 1, 1)), (64, 1, 1), False),
        (".maxntid 384", blocks(), (384, 1, 1), True),
        (".maxntid 16, 8", blocks(), (16, 8, 1), True),
        (".maxntid 1, 1, 128", blocks(), None, False),
        (".maxntid 384", blocks((96, 4, 1)), (96, 4, 1), False),
        (".maxntid 384", blocks(k0=(96, 4, 1)), (96, 4, 1), False),
        (".maxntid 384", blocks(k_=(96, 5, 1)), (384, 1, 1), True),
        (".maxntid 384", blocks((64, 1, 1), k_=(96, 5, 1)), (64, 1, 1), False),
        (".reqntid 128", blocks(), (128, 1, 1), False),
        (".reqntid 128", blocks((64, 1, 1)), (128, 1, 1), False),
        (".reqntid 128", blocks(k_=(64, 1, 1)), (128, 1, 1), False),
        (".reqntid 128", blocks(k0=(128, 1, 1)), (128, 1, 1), False),
        (".reqntid 128 .maxntid 256", blocks(), (128, 1, 1), False),
    ],
)
def test_which_block_is_judged(
    directive: str, given: Blocks, shape: tuple[int, int, int] | None, is_assumed: bool
) -> None:
    judged = judged_block(kernels(directive)[0], given)
    assert (judged.shape, bool(judged.assumed)) == (shape, is_assumed)


@pytest.mark.parametrize(
    ("directive", "given", "told"),
    [
        (
            ".maxntid 384",
            blocks((96, 5, 1)),
            "block (96, 5, 1) has 480 threads; kernel k0 allows 384 (.maxntid 384, 1, 1)",
        ),
        (".maxntid 384", blocks(k0=(96, 5, 1)), "block (96, 5, 1) has 480 threads; kernel k0 allows 384"),
        (
            ".reqntid 128",
            blocks(k0=(64, 1, 1)),
            "(64, 1, 1): kernel k0 runs with blocks of (128, 1, 1)",
        ),
        (".reqntid 128", blocks(k0=(32, 4, 1)), "(.reqntid) only"),
    ],
)
def test_blocks_that_the_kernel_does_not_allow(directive: str, given: Blocks, told: str) -> None:
    with pytest.raises(SwzError) as failure:
        judged_block(kernels(directive)[0], given)
    assert failure.value.code == "SWZ555"
    assert told in failure.value.message


# ---- on the command line


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["scan", *words])


@pytest.fixture
def two(tmp_path: Path) -> str:
    """gemm<8> with at most 64 threads, and gemm<16>."""
    whole = text_of(strided(8))
    second = whole[whole.index(".entry") :].replace("entry k(", "entry _Z4gemmILi16EEvi(")
    first = whole.replace("entry k(", "entry _Z4gemmILi8EEvi(").replace("[n]", "[_Z4gemmILi8EEvi_param_0]")
    first = first.replace(".param .u32 n,", ".param .u32 _Z4gemmILi8EEvi_param_0,").replace("q)", "q) .maxntid 64")
    file = tmp_path / "two.ptx"
    file.write_text(f"{first}\n{second}", encoding="utf-8")
    return str(file)


def test_the_default_block_is_told(two: str) -> None:
    text = run(two, "--no-suggest").stdout
    assert (
        "kernel gemm<8>\n  assuming blocks of 64,1,1 threads, from .maxntid; give --block for other launches\n" in text
    )
    line = "blocks of one dimension, N,1,1"
    assert f"kernel gemm<16>\n  assuming {line}; give --block for other launches\n  1 access: 1 conflict\n" in text
    rows = json.loads(run(two, "--format", "json").stdout)["accesses"]
    assert [(each["verdict"], each["block"]) for each in rows] == [("conflict", [64, 1, 1]), ("conflict", None)]
    assumed = "blocks of 64,1,1 threads, from .maxntid"
    assert [each["assumptions"] for each in rows] == [[assumed], [line, "N is 32 or more"]]
    assert rows[0]["in_bounds"]["assumptions"] == [assumed]
    sarif = json.loads(run(two, "--format", "sarif").stdout)
    assert f"assumed {assumed}" in json.dumps(sarif)
    assert f"assumed {line}" in json.dumps(sarif)


def test_blocks_by_name(two: str) -> None:
    def shapes(*words: str) -> list[object]:
        result = run(two, "--format", "json", *words)
        assert result.exit_code == 0, result.stderr
        return [each["block"] for each in json.loads(result.stdout)["accesses"]]

    assert shapes("--block", "gemm<8>=32", "--block", "gemm<16>=8,8") == [[32, 1, 1], [8, 8, 1]]
    assert shapes("--block", "_Z4gemmILi16EEvi=96") == [[64, 1, 1], [96, 1, 1]]
    assert shapes("--block", "gemm<1=96", "--block", "16") == [[16, 1, 1], [96, 1, 1]]
    assert shapes("--block", "void gemm<16>( int )=96", "--block", "16") == [[16, 1, 1], [96, 1, 1]]
    # 96 threads are more than the first kernel allows: a glob does not mean it.
    assert shapes("--block", "gemm*=96") == [[64, 1, 1], [96, 1, 1]]
    assert shapes("--block", "gemm*=96", "--block", "*=48") == [[48, 1, 1], [48, 1, 1]]
    assert shapes("--kernel", "gemm<16>", "--block", "gemm*=96") == [[96, 1, 1]]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--block", "gemm<8>=96"), "SWZ555", "kernel gemm<8> allows 64"),
        (("--block", "96"), "SWZ555", "--block KERNEL=X,Y,Z"),
        (("--block", "gemm=32"), "SWZ551", "'gemm' may mean 2 kernels: gemm<8>, gemm<16>"),
        (("--kernel", "gemm"), "SWZ551", "may mean 2 kernels"),
        (("--block", "gem<8>=32"), "SWZ551", "did you mean 'gemm<8>'?"),
        (("--block", "soft*=32"), "SWZ551", "no kernel is called soft*"),
        (("--block", "=32"), "", "--block is '=32'"),
        (("--block", "gemm<8>=32,"), "", "--block is"),
        (("--grid", "0"), "", "--grid is '0'"),
        (("--grid", "1,65536"), "", "65535 along y and z"),
        (("--grid", "x"), "", "--grid is 'x'"),
        (("--kernel", "gemm<16>", "--param", "_Z4gemmILi8=1"), "SWZ551", "no kernel has a parameter"),
    ],
)
def test_mistakes(two: str, words: tuple[str, ...], code: str, told: str) -> None:
    result = run(two, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert code in result.stderr
    assert told in result.stderr


def test_parameters_by_short_names(two: str) -> None:
    for word in ("param_0", "_Z4gemmILi8EEvi_param_0", "0", "_Z4gemm"):
        text = run(two, "--kernel", "gemm<8>", "--param", f"{word}=5").stdout
        assert "  given: param_0 = 5\n" in text, word
    assert "given: param_0 % 2 == 1" in run(two, "--kernel", "gemm<8>", "--assume", "_Z4gemm % 2 == 1").stdout


def test_a_number_is_a_place(tmp_path: Path) -> None:
    """Also where a parameter is called as the kernel with another number."""
    file = tmp_path / "k.ptx"
    text = text_of(strided(4)).replace(".param .u64 q", ".param .u32 k_0").replace(".param .u32 n", ".param .u32 k_1")
    file.write_text(text.replace("[n]", "[k_1]"), encoding="utf-8")
    assert "given: k_0 = 5" in run(str(file), "--param", "1=5").stdout


def test_a_beginning_means_no_other_kernels_parameter(two: str) -> None:
    """`n` is a parameter of one kernel: the condition says nothing of the other one's `n_rows`."""
    file = Path(two)
    text = file.read_text(encoding="utf-8").replace("_Z4gemmILi8EEvi_param_0", "n_rows")
    file.write_text(text, encoding="utf-8")
    rows = json.loads(run(two, "--param", "n=5", "--block", "32", "--format", "json").stdout)["accesses"]
    assert [each["assumptions"] for each in rows] == [[], ["n = 5"]]


def test_json_has_both_names(two: str) -> None:
    rows = json.loads(run(two, "--format", "json").stdout)["accesses"]
    assert [(each["kernel"], each["demangled"]) for each in rows] == [
        ("_Z4gemmILi8EEvi", "void gemm<8>(int)"),
        ("_Z4gemmILi16EEvi", "void gemm<16>(int)"),
    ]
