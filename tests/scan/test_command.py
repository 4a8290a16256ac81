"""`swzverify scan` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from tests.binaries.fakes import cuobjdump, dump
from tests.kernel.texts import HEAD, TOP
from tests.scan.texts import DATA, SKEWED, strided, text_of


def run(*words: str) -> Result:
    result = CliRunner().invoke(main, ["scan", *words], prog_name="swzverify")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def ptx(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(".loc 1 7 3\n" + strided(8) + SKEWED) + '\n.file 1 "k.cu"\n', encoding="utf-8")
    return str(path)


def test_json_has_the_fields(ptx: str) -> None:
    result = run(ptx, "--block", "64", "--format", "json")
    first, second = json.loads(result.stdout)["accesses"]
    assert result.exit_code == 0
    assert first["kernel"] == "k"
    assert first["source"] == {"file": "k.cu", "line": 7}
    assert first["instruction"] == "ld.shared.u32 %r30, [%r20]"
    assert (first["verdict"], first["ways"], first["wavefronts"], first["minimum"]) == ("conflict", 2, 2, 1)
    assert (first["address"], first["line"]) == ("s + tid.x*8", 7)
    assert (second["verdict"], second["parameters"]) == ("depends", ["n"])


def test_text_has_the_lanes_and_a_summary(ptx: str) -> None:
    lines = run(ptx, "--block", "64,1").stdout.splitlines()
    assert "  k.cu:7 (PTX line 7): ld.shared.u32 %r30, [%r20]" in lines
    assert "    conflict: 2-way, 2 wavefronts (minimum 1)" in lines
    assert sum(line.endswith("  x") for line in lines) >= 2
    assert lines[-1] == "2 accesses: 1 conflict, 1 depends"


def test_the_exit_code(ptx: str, tmp_path: Path) -> None:
    assert run(ptx, "--block", "64", "--fail-on", "conflict").exit_code == 1
    assert run(ptx, "--block", "64", "--fail-on", "unknown").exit_code == 0
    unknown = tmp_path / "unknown.ptx"
    unknown.write_text(text_of("mov.u32 %r4, %tid.y; add.u32 %r1, %r1, %r4; " + strided(4)), encoding="utf-8")
    assert run(str(unknown), "--fail-on", "unknown").exit_code == 1
    other = tmp_path / "free.ptx"
    other.write_text(text_of(strided(4)), encoding="utf-8")
    assert run(str(other), "--block", "64", "--fail-on", "conflict", "--fail-on", "unknown").exit_code == 0


def test_a_file_without_an_access_is_no_success(tmp_path: Path) -> None:
    for name, text in (("none.ptx", text_of("")), ("empty.ptx", TOP)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        for options in ((), ("--fail-on", "conflict", "--fail-on", "unknown")):
            assert run(str(tmp_path / name), *options).exit_code == 5


@pytest.mark.parametrize("block", ["0", "2048", "32,", "a", "1,1,65", "1,2,3,4", "-1", "٣"])
def test_a_block_that_is_none(ptx: str, block: str) -> None:
    result = run(ptx, f"--block={block}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--block" in result.stderr


def test_a_kernel_that_is_not_there(ptx: str) -> None:
    result = run(ptx, "--kernel", "kk")
    assert result.exit_code == 2
    assert "no kernel is called kk; the kernels are: k" in result.stderr or "did you mean 'k'" in result.stderr


def test_a_target_that_is_not_there(ptx: str) -> None:
    result = run(ptx, "--target", "sm_1")
    assert (result.exit_code, "SWZ402" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"no ptx", "SWZ531"), (b"\xff\xfe\x00", "SWZ531"), (b"", "SWZ531")],
)
def test_a_file_that_is_no_ptx(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "bad.ptx"
    path.write_bytes(content)
    result = run(str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert code in result.stderr


def test_a_file_that_is_not_there() -> None:
    result = run("nothing.ptx")
    assert result.exit_code == 2
    assert "nothing.ptx" in result.stderr


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "half.ptx"
    path.write_text(text_of("ld.shared.u32 %r30, [%nothing];"), encoding="utf-8")
    result = run(str(path), "--block", "64", "--format", "json", "--fail-on", "unknown")
    (found,) = json.loads(result.stdout)["accesses"]
    assert (result.exit_code, found["verdict"]) == (1, "unknown")
    assert "%nothing" in found["reason"]


def test_data_are_named_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "data.ptx"
    body = "ld.param.u64 %d4, [q]; mul.wide.u32 %d5, %r1, 4; add.u64 %d1, %d4, %d5; " + DATA
    path.write_text(text_of(body), encoding="utf-8")
    assert "ld@6 (what global memory holds)" in run(str(path), "--block", "64").stdout


# ---- parameters


def test_values_and_conditions_are_listed(ptx: str) -> None:
    result = run(ptx, "--block", "64", "--assume", "n % 2 == 1")
    assert "  given: n % 2 == 1" in result.stdout.splitlines()
    assert "    assumed: n % 2 == 1" in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1] == "2 accesses: 1 free, 1 conflict"
    result = run(ptx, "--block", "64", "--param", "0=33", "--format", "json")
    assert [each["assumptions"] for each in json.loads(result.stdout)["accesses"]] == [["n = 33"], ["n = 33"]]
    assert [each["verdict"] for each in json.loads(result.stdout)["accesses"]] == ["conflict", "free"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--param", "m=1"), "SWZ551", "no kernel has a parameter m"),
        (("--param", "n"), "SWZ551", "NAME=VALUE"),
        (("--assume", "m > 1"), "SWZ551", "no kernel has a parameter m"),
        (("--assume", "n > 1 && n < 1"), "SWZ552", "fulfil"),
        (("--assume", "n >"), "SWZ302", "operand"),
        (("--kernel", "k\x1b[31m"), "SWZ551", "no kernel is called"),
    ],
)
def test_mistakes_in_what_is_given(ptx: str, words: tuple[str, ...], code: str, told: str) -> None:
    result = run(ptx, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert code in result.stderr
    assert told in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_block_that_the_kernel_does_not_allow(tmp_path: Path, jobs: str) -> None:
    file = tmp_path / "k.ptx"
    text = TOP + HEAD + strided(4) + "\nret; }\n"
    file.write_text(text.replace(".param .u64 q)", ".param .u64 q) .maxntid 8, 8"), encoding="utf-8")
    result = run(str(file), "--block", "65", "-j", jobs)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "SWZ555: block (65, 1, 1) has 65 threads; kernel k allows 64 (.maxntid 8, 8, 1)" in result.stderr
    assert run(str(file), "--block", "64", "-j", jobs).exit_code == 0
    assert run(str(file), "--block", "4,16", "-j", jobs).exit_code == 0
    # A required block counts, whatever --block says.
    file.write_text(text.replace(".param .u64 q)", ".param .u64 q) .reqntid 64"), encoding="utf-8")
    assert run(str(file), "--block", "65", "-j", jobs).exit_code == 0


# ---- processes


@pytest.mark.nightly
def test_processes_change_nothing(tmp_path: Path) -> None:
    kernels = "".join(
        HEAD.split("\n", 1)[1].replace("entry k(", f"entry k{number}(") + strided(4 * number) + "\nret; }\n"
        for number in range(1, 5)
    )
    first, second = tmp_path / "a.ptx", tmp_path / "b.ptx"
    first.write_text(TOP + HEAD.split("\n")[0] + "\n" + kernels, encoding="utf-8")
    second.write_text(text_of(strided(8) + SKEWED), encoding="utf-8")
    words = (str(first), str(second), "--block", "64", "--assume", "n % 2 == 1", "--format", "json")
    alone = run(*words, "-j", "1")
    assert len(json.loads(alone.stdout)["accesses"]) == 6
    assert run(*words, "-j", "2").stdout == alone.stdout


# ---- formats


def test_a_kernel_of_bulk_copies_alone_has_accesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of this one but that it is there."""
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(text_of("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r2;"))
    words = ["k.ptx", "--fail-on", "unknown", "--report", "markdown=k.md", "--report", "junit=k.xml"]
    found = run(*words, "--report", "github=k.txt", "--report", "sarif=k.sarif")
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "1 access: 1 bulk")
    for report in ("k.md", "k.xml", "k.txt", "k.sarif"):
        assert "no access" not in Path(report).read_text()
    assert "bulk copies have none on bank conflicts" in Path("k.md").read_text()


def test_every_format_has_the_source_line(ptx: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--block", "64", "--fail-on", "conflict", "-q"]
    for form in ("sarif", "junit", "markdown", "github", "jsonl", "html"):
        words += ["--report", f"{form}={form}.out"]
    assert run(ptx, *words).exit_code == 1
    found = json.loads((tmp_path / "sarif.out").read_text())["runs"][0]
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("k.cu", 7)
    assert found["results"][0]["ruleId"] == found["tool"]["driver"]["rules"][0]["id"] == "bank_conflicts"
    assert found["invocations"][0]["exitCodeDescription"] == "there is a verdict that --fail-on names"
    assert "| x | 0 |" in found["results"][0]["message"]["markdown"]
    github = (tmp_path / "github.out").read_text().splitlines()
    assert github[0].startswith("::error title=bank_conflicts k%3A ld.shared.u32 ")
    assert ",file=k.cu,line=7::" in github[0]
    assert not any(line.startswith("::") for line in github[3:])
    assert 'failures="3"' in (tmp_path / "junit.out").read_text()
    assert "k.cu:7" in (tmp_path / "markdown.out").read_text()
    assert "k.cu:7" in (tmp_path / "html.out").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in (tmp_path / "jsonl.out").read_text().splitlines()]
    assert [(line["type"], line["verdict"]) for line in lines[:2]] == [("access", "conflict"), ("access", "depends")]
    none = {"proved": 0, "refuted": 0, "depends": 0, "unknown": 0}
    claims = {"aligned": {**none, "proved": 2}, "in_bounds": {**none, "proved": 1, "depends": 1}}
    counts = {"free": 0, "conflict": 1, "depends": 1, "unknown": 0, "bulk": 0}
    assert (lines[2]["type"], lines[2]["kernel"]) == ("kernel", "k")
    races = lines[3].pop("races")
    assert sum(races.values()) == 1
    more = {"barriers": 0, "operands": 0, "problems": 0, "partial": False}
    assert lines[3:] == [{"type": "summary", **counts, **claims, **more}]


# ---- claims

FOUR = "ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];"


def claims_of(tmp_path: Path, body: str, *words: str, outside: str = "") -> Result:
    path = tmp_path / "claims.ptx"
    path.write_text(text_of(body, outside), encoding="utf-8")
    return run(str(path), "--block", "64", *words)


@pytest.mark.parametrize(
    ("body", "word"), [(strided(8, FOUR), "misaligned"), (strided(132), "out-of-bounds"), (SKEWED, "out-of-bounds")]
)
def test_broken_claims_fail_where_they_are_named(tmp_path: Path, body: str, word: str) -> None:
    for name in ("misaligned", "out-of-bounds"):
        assert claims_of(tmp_path, body, "--fail-on", name).exit_code == int(name == word)
    assert claims_of(tmp_path, body).exit_code == 0


def test_a_claim_that_is_not_proved_has_a_line(tmp_path: Path) -> None:
    lines = claims_of(tmp_path, strided(132)).stdout.splitlines()
    words = "lane 31 of warp 1 touches bytes 8316 to 8319 of s, which has 8192 bytes"
    assert f"    not in bounds: {words}" in lines
    assert lines[-4:-2] == ["aligned: 1 proved", "in bounds: 1 refuted"]
    assert words in claims_of(tmp_path, strided(132), "--quiet").stdout
    assert not any("bounds" in line for line in claims_of(tmp_path, strided(4)).stdout.splitlines()[:-4])


def test_the_size_of_dynamic_memory_is_given(tmp_path: Path) -> None:
    body = strided(4).replace("%r3", "%r4").join(("mov.u32 %r4, z; ", ""))
    outside = ".extern .shared .align 16 .b8 z[];\n"
    for words, verdict in (
        ((), "unknown"),
        (("--smem", "256"), "proved"),
        (("--smem", "1K"), "proved"),
        (("--smem", "255"), "refuted"),
    ):
        found = json.loads(claims_of(tmp_path, body, "--format", "json", *words, outside=outside).stdout)
        claim = found["accesses"][0]["in_bounds"]
        assert claim["verdict"] == verdict
    assert claim["witness"]["lanes"] == [{"lane": 31, "warp": 1, "thread": [63, 0, 0], "at": 252}]
    for words in (("--smem", "-1"), ("--smem", "300K"), ("--smem-align", "3"), ("--smem-align", "4096")):
        assert run("none.ptx", *words).exit_code == 2


def test_known_claims_do_not_fail_again(tmp_path: Path) -> None:
    path = str(tmp_path / "known.json")
    claims_of(tmp_path, strided(132), "--write-baseline", path)
    assert claims_of(tmp_path, strided(132), "--baseline", path).exit_code == 0
    assert claims_of(tmp_path, strided(132) + strided(136), "--baseline", path).exit_code == 1


def test_without_a_source_line_the_line_of_the_ptx_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(text_of("\n" + strided(8)), encoding="utf-8")
    assert ",file=k.ptx,line=7::" in run("k.ptx", "--block", "64", "--format", "github").stdout


def test_an_inlined_header_is_no_place_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = ".loc 1 7 3\n.loc 2 99 1, function_name $f, inlined_at 1 7 3\n" + strided(8)
    files = f'\n.file 1 "{tmp_path}/src/k.cu"\n.file 2 "/usr/include/tile.h"\n'
    Path("k.ptx").write_text(text_of(body) + files, encoding="utf-8")
    result = run("k.ptx", "--block", "64", "--format", "github")
    assert ",file=src/k.cu,line=7::" in result.stdout
    assert "  src/k.cu:7 -> tile.h:99 (PTX line " in result.stdout


def test_a_hostile_name_is_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "::error title=x::y\n::warning::.ptx"
    Path(name.replace("/", "")).write_text(text_of(strided(8)), encoding="utf-8")
    lines = run(name, "--block", "64", "--format", "github").stdout.splitlines()
    assert [line for line in lines if line.lstrip().startswith("::")] == lines[:1]
    assert lines[0].startswith("::error title=bank_conflicts")


def test_nothing_found_is_said_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "none.ptx"
    path.write_text(text_of(""), encoding="utf-8")
    for form in ("junit", "markdown", "github", "sarif"):
        result = run(str(path), "--format", form)
        assert (result.exit_code, "no access to shared memory found" in result.stdout) == (5, True)


def test_a_report_over_an_input_is_refused(ptx: str) -> None:
    before = Path(ptx).read_text()
    for words in (("--output", ptx), ("--report", f"sarif={ptx}"), ("--write-baseline", ptx)):
        assert run(ptx, *words).exit_code == 2
    assert Path(ptx).read_text() == before


# ---- known findings


def known(tmp_path: Path, *words: str) -> str:
    path = str(tmp_path / "known.json")
    run(*words, "--write-baseline", path)
    return path


def test_only_new_findings_fail(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(strided(8) + SKEWED), encoding="utf-8")
    words = (str(path), "--block", "64")
    file = known(tmp_path, *words)
    result = run(*words, "--baseline", file)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "2 accesses: 1 conflict, 1 depends; 2 known")
    # Lines and registers that move are no news.
    moved = text_of("\n\n\n" + strided(8).replace("%r20", "%r21") + SKEWED)
    path.write_text(moved, encoding="utf-8")
    assert run(*words, "--baseline", file).exit_code == 0
    # One more of the same is.
    path.write_text(text_of(strided(8) + SKEWED + strided(8)), encoding="utf-8")
    assert run(*words, "--baseline", file).exit_code == 1
    assert run(*words, "--baseline", file, "--fail-on", "unknown").exit_code == 0


@pytest.mark.parametrize(
    "worse",
    [
        text_of(strided(16)),  # another address
        text_of(strided(8, "st.shared.u32 [%r20], %r1;")),
        text_of("setp.gt.u32 %p1, %r2, 3; @%p1 bra OUT; " + SKEWED + " OUT:"),
    ],
)
def test_a_worse_one_is_new(tmp_path: Path, worse: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(strided(8)), encoding="utf-8")
    file = known(tmp_path, str(path), "--block", "64")
    path.write_text(worse, encoding="utf-8")
    assert run(str(path), "--block", "64", "--baseline", file).exit_code == 1


def test_another_block_or_condition_is_another_finding(tmp_path: Path) -> None:
    """What was accepted for one launch says nothing of another one."""
    path = tmp_path / "k.ptx"
    path.write_text(text_of(SKEWED), encoding="utf-8")
    file = known(tmp_path, str(path), "--block", "64", "--assume", "n % 4 == 2")
    assert run(str(path), "--block", "64", "--assume", "n % 4 == 2", "--baseline", file).exit_code == 0
    assert run(str(path), "--block", "64", "--baseline", file).exit_code == 1
    assert run(str(path), "--block", "32", "--assume", "n % 4 == 2", "--baseline", file).exit_code == 1
    assert run(str(path), "--baseline", file).exit_code == 1  # unknown now


def test_a_fixed_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(strided(8)), encoding="utf-8")
    file = known(tmp_path, str(path), "--block", "64")
    path.write_text(text_of(strided(4)), encoding="utf-8")
    result = run(str(path), "--block", "64", "--baseline", file)
    assert result.exit_code == 0
    assert "known, and not in this scan: " in result.stdout


# ---- binaries


def test_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(b"\x7fELF\x02\x01" + bytes(58))
    old, new = (text_of(strided(factor)).replace("sm_90", target) for factor, target in ((4, "sm_80"), (8, "sm_90")))
    cuobjdump(monkeypatch, tmp_path, dump(("sm_80", old), ("sm_90", new)))
    result = run(str(path), "--block", "64")
    assert f"{path} (PTX 2 of 2, of sm_90): kernel k" in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1] == "1 access: 1 conflict"
    assert run(str(path), "--block", "64", "--target", "sm_89").stdout.splitlines()[-1] == "1 access: 1 free"
    assert "SWZ541" in run(str(path), "--target", "sm_75").stderr
