"""`swzverify diff`: revisions, folders, files, the working tree; exit codes, options, formats,
hostile names.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from swzverify.apps.diff.result import Status
from swzverify.claims.verdict import Measure, Outcome, Verdict, WarpMeasure
from tests.judging import by_verdict

GOOD = """\
swzverify: 1
target: sm_90
tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
accesses:
  read:
    tile: A
    instruction: ld.shared.b32
    threads: 64
    coord: [tid/32, tid%32*2]
claims:
  - bijective: A
  - conflict_free: read
"""
FEWER = GOOD.replace("threads: 64", "threads: 32")
SHORTER = GOOD.replace("  - bijective: A\n", "")
BAD = GOOD.replace("[tid/32, tid%32*2]", "[tid%8, tid/8%4*16]")
BROKEN = GOOD.replace("bijective: A", "bijektive: A")
ID = "k/a.swz.yaml::read::conflict_free"


def told(result, code):
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def statuses(document):
    return {claim["id"]: claim["status"] for claim in document["claims"] if claim["status"] != "unchanged"}


class TestSides:
    def test_a_revision_and_the_working_tree(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        assert swzverify("diff", "HEAD").exit_code == 0
        repository.put({"k/a.swz.yaml": FEWER})
        result = swzverify("diff", "main", "--no-prove")
        assert result.exit_code == 1
        assert ID in result.stdout
        assert "threads: 64 threads -> 32 threads (tid = 32 is left out)" in result.stdout
        assert result.stdout.splitlines()[-1].startswith("1 weakened, 1 unchanged, nothing proved, in")

    def test_two_revisions_of_every_kind(self, repository, swzverify):
        first = repository.commit({"k/a.swz.yaml": GOOD})
        repository.git("tag", "v1.2")
        repository.git("tag", "--annotate", "--message", "x", "v1.2a")
        repository.commit({"k/a.swz.yaml": SHORTER})
        for base in (first, first[:10], "HEAD~1", "v1.2", "v1.2a", "git:v1.2", "main~1"):
            document = told(swzverify("diff", base, "HEAD", "--no-prove", "--format", "json"), 1)
            assert statuses(document) == {"k/a.swz.yaml::A::bijective": "deleted"}
            assert document["base"]["commit"] == first
        assert swzverify("diff", "HEAD", "v1.2", "--no-prove").exit_code == 0

    def test_the_users_tree_index_and_folder_stay_as_they_are(self, repository, swzverify, tmp_path, monkeypatch):
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
        repository.commit({"k/a.swz.yaml": GOOD, "b.txt": "one"})
        repository.commit({"k/a.swz.yaml": FEWER})
        repository.put({"b.txt": "two", "new.txt": "x"})
        repository.git("add", "b.txt")
        before = repository.git("status", "--porcelain=v2", "--branch"), os.getcwd()
        swzverify("diff", "HEAD~1", "HEAD")
        swzverify("diff", "HEAD~1")
        assert (repository.git("status", "--porcelain=v2", "--branch"), os.getcwd()) == before
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_untracked_files_count_and_ignored_ones_do_not(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD, ".gitignore": "build/\n"})
        repository.put({"new.swz.yaml": GOOD, "build/b.swz.yaml": GOOD})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 0)
        assert set(statuses(document).values()) == {"added"}
        assert {claim["id"].split("::")[0] for claim in document["claims"]} == {"k/a.swz.yaml", "new.swz.yaml"}

    def test_a_file_deleted_from_the_working_tree(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD, "b.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": None})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)
        assert set(statuses(document)) == {"k/a.swz.yaml::A::bijective", ID}

    def test_a_file_that_moved_is_renamed_and_one_that_is_emptied_is_not(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": None, "new.swz.yaml": GOOD})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 0)
        assert set(statuses(document).values()) == {"renamed"}
        repository.put({"k/a.swz.yaml": GOOD[: GOOD.index("claims")] + "claims: [injective: A]\n"})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)
        assert statuses(document)["k/a.swz.yaml::A::bijective"] == "deleted"

    @pytest.mark.parametrize("link", [False, True])
    def test_what_a_mark_of_an_environment_hides_is_deleted(self, repository, swzverify, link):
        repository.commit({"src/k.cu": KERNEL, "a.swz.yaml": GOOD})
        if link:
            (repository.folder / "src/pyvenv.cfg").symlink_to("/nowhere")
        else:
            repository.put({"src/pyvenv.cfg": ""})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {"src/k.cu::A::bijective": "deleted"}
        repository.commit()
        document = told(swzverify("diff", "HEAD~1", "HEAD", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {"src/k.cu::A::bijective": "deleted"}
        assert swzverify("diff", "HEAD", "--no-prove").exit_code == 0

    def test_from_a_folder_below_ids_are_those_of_the_root(self, repository, swzverify, monkeypatch):
        repository.commit({"k/a.swz.yaml": GOOD, "j/b.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER, "j/b.swz.yaml": FEWER})
        monkeypatch.chdir("k")
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)
        assert set(statuses(document)) == {ID, "j/b.swz.yaml::read::conflict_free"}
        for narrowed in (["--path", "."], ["--path", "a.swz.yaml"], ["--path", "../k"]):
            document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json", *narrowed), 1)
            assert set(statuses(document)) == {ID}

    def test_a_revision_beside_a_path_is_narrowed_to_it(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD, "j/b.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER, "j/b.swz.yaml": FEWER})
        document = told(swzverify("diff", "HEAD", "k", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {ID: "weakened"}
        document = told(swzverify("diff", "k/a.swz.yaml", "HEAD", "--no-prove", "--format", "json"), 0)
        assert statuses(document) == {ID: "strengthened"}

    def test_paths_of_revisions(self, repository, swzverify):
        repository.commit({"old/a.swz.yaml": GOOD, "new/a.swz.yaml": FEWER, "x.spec": GOOD})
        document = told(swzverify("diff", "HEAD:old", "HEAD:new", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {"a.swz.yaml::read::conflict_free": "weakened"}
        document = told(swzverify("diff", "HEAD:x.spec", "new/a.swz.yaml", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {"new/a.swz.yaml::read::conflict_free": "weakened"}
        assert swzverify("diff", "HEAD:old", "old", "--no-prove").exit_code == 0

    def test_folders_and_files_need_no_git(self, here, swzverify, monkeypatch):
        for name, text in {"old/s/a.swz.yaml": GOOD, "new/s/a.swz.yaml": FEWER}.items():
            Path(name).parent.mkdir(parents=True)
            Path(name).write_text(text)
        monkeypatch.setenv("PATH", "")
        document = told(swzverify("diff", "old", "new", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {"s/a.swz.yaml::read::conflict_free": "weakened"}
        result = swzverify("diff", "old/s/a.swz.yaml", "./new/s/a.swz.yaml", "--no-prove", "--format", "json")
        assert statuses(told(result, 1)) == {"new/s/a.swz.yaml::read::conflict_free": "weakened"}
        assert swzverify("diff", str(here / "old"), "old", "--no-prove").exit_code == 0

    def test_the_commit_where_histories_part(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.git("switch", "--quiet", "--create", "topic")
        repository.commit({"b.txt": "work"})
        repository.git("switch", "--quiet", "main")
        repository.commit({"later.swz.yaml": GOOD})
        repository.git("switch", "--quiet", "topic")
        assert swzverify("diff", "main", "--no-prove").exit_code == 1
        assert swzverify("diff", "main", "--merge-base", "--no-prove").exit_code == 0
        assert swzverify("diff", "main", "topic", "--merge-base", "--no-prove").exit_code == 0

    def test_a_bare_repository_has_revisions_only(self, repository, swzverify, tmp_path, monkeypatch):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.commit({"k/a.swz.yaml": FEWER})
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
        monkeypatch.chdir(tmp_path / "bare")
        document = told(swzverify("diff", "main~1", "main", "--no-prove", "--format", "json"), 1)
        assert statuses(document) == {ID: "weakened"}
        result = swzverify("diff", "main")
        assert (result.exit_code, "SWZ514" in result.stderr) == (2, True)


KERNEL = """\
constexpr int BK = 64;
constexpr int kThreads = 64;
/* swz:begin
swzverify: 1
from_source: {BK: BK}
tiles:
  A: {element: f16, layout: "(64,BK):(BK,1)", swizzle: "Swizzle<3,3,3>"}
claims:
  - bijective: A
swz:end */
"""
READS = """\
swzverify: 1
from_source: {T: {file: ../src/k.cu, name: kThreads}}
accesses:
  s: {instruction: ld.shared.b32, threads: T, address: tid*4}
claims: [{conflict_free: s}]
"""


class TestSources:
    def test_each_side_reads_its_own_constants(self, repository, swzverify):
        repository.commit({"src/k.cu": KERNEL, "specs/a.swz.yaml": READS, "src/plain.h": "int x;"})
        repository.put({"src/k.cu": KERNEL.replace("= 64", "= 32")})
        lost = {"src/k.cu::A::bijective": "weakened", "specs/a.swz.yaml::s::conflict_free": "weakened"}
        assert statuses(told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)) == lost
        repository.commit()
        assert statuses(told(swzverify("diff", "HEAD~1", "HEAD", "--no-prove", "--format", "json"), 1)) == lost
        found = told(swzverify("diff", "HEAD~1:specs", "HEAD:specs", "--no-prove", "--format", "json"), 1)
        assert statuses(found) == {"a.swz.yaml::s::conflict_free": "weakened"}
        found = told(swzverify("diff", "HEAD~1:src/k.cu", "src/k.cu", "--no-prove", "--format", "json"), 1)
        assert statuses(found) == {"src/k.cu::A::bijective": "weakened"}

    def test_a_contract_that_is_no_longer_marked_is_deleted(self, repository, swzverify):
        repository.commit({"src/k.cu": KERNEL})
        repository.put({"src/k.cu": KERNEL.replace("swz:begin", "begin").replace("swz:end", "end")})
        found = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 1)
        assert statuses(found) == {"src/k.cu::A::bijective": "deleted"}

    def test_nothing_is_read_from_beyond_the_revision(self, repository, swzverify, tmp_path):
        (tmp_path / "k.cu").write_text(KERNEL)
        repository.commit({"specs/a.swz.yaml": READS.replace("../src/k.cu", "../../k.cu")})
        assert told(swzverify("diff", "HEAD", "HEAD", "--no-prove", "--format", "json"), 2)["problems"]


class TestNoSuchSide:
    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (["nowhere"], "SWZ516"),
            (["--", "-x"], "SWZ516"),
            (["--", "--output=/tmp/x"], "SWZ516"),
            (["git:--all"], "SWZ516"),
            (["git:-n1"], "SWZ516"),
            (["git:"], "SWZ516"),
            (["main..main"], "SWZ516"),
            (["main main"], "SWZ516"),
            (["main:no/such"], "SWZ516"),
            (["main:../x"], "SWZ516"),
            (["main", "k", "--path", "k"], "SWZ516"),
            (["main", "--path", "nothing"], "SWZ516"),
            (["main", "--path", "../out"], "SWZ516"),
            (["main:k", "--path", "k", "main"], "SWZ516"),
            (["k"], "SWZ516"),
            (["k", "k/a.swz.yaml"], "SWZ516"),
            (["main:k/a.swz.yaml", "main:k"], "SWZ516"),
            (["k", "k", "--merge-base"], "SWZ516"),
            (["main", "--allow-claim", "k/a.swz.yaml::red::conflict_free"], "SWZ518"),
        ],
    )
    def test_it_is_told_with_a_next_step(self, repository, swzverify, arguments, code):
        repository.commit({"k/a.swz.yaml": GOOD})
        result = swzverify("diff", "--no-prove", *arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith(f"Error: {code}: ")
        assert len(result.stderr.splitlines()) >= 2

    def test_a_name_that_is_both_is_refused(self, repository, swzverify):
        repository.commit({"main/a.swz.yaml": GOOD})
        result = swzverify("diff", "main", "HEAD", "--no-prove")
        assert (result.exit_code, "SWZ516" in result.stderr) == (2, True)
        assert "git:main" in result.stderr
        assert "./main" in result.stderr
        repository.put({"main/a.swz.yaml": FEWER})
        assert swzverify("diff", "git:main", "--no-prove").exit_code == 1
        document = told(swzverify("diff", "./main", "HEAD:main", "--no-prove", "--format", "json"), 0)
        assert document["base"]["what"] == "a folder"

    @pytest.mark.usefixtures("here")
    def test_no_repository(self, swzverify):
        Path("a.swz.yaml").write_text(GOOD)
        for arguments in (["main"], ["a.swz.yaml", "main"], ["git:main", "a.swz.yaml"]):
            result = swzverify("diff", *arguments)
            assert (result.exit_code, result.stderr.startswith("Error: SWZ514: ")) == (2, True), result.stderr

    def test_no_git(self, here, swzverify, monkeypatch):
        monkeypatch.setenv("PATH", str(here))
        result = swzverify("diff", "main")
        assert (result.exit_code, result.stderr.startswith("Error: SWZ515: ")) == (2, True), result.stderr

    def test_a_shallow_clone_is_thought_of(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        assert "fetch-depth: 0" in swzverify("diff", "origin/main").stderr

    def test_usage(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        for arguments in (
            [],
            ["main", "main", "main"],
            ["main", "--allow", "all"],
            ["main", "-j", "0"],
            ["-v", "-q", "main"],
        ):
            assert swzverify("diff", *arguments).exit_code == 2
        assert swzverify("diff", "main", "--target", "sm_1").stderr.startswith("Error: SWZ402")
        assert swzverify("diff", "main", "--output", "no/such/file").exit_code == 2

    def test_no_claim_is_no_success(self, repository, swzverify):
        repository.commit({"a.txt": "x"})
        assert swzverify("diff", "HEAD").exit_code == 5


class TestBrokenSpecs:
    def test_of_head(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD, "b.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": BROKEN})
        result = swzverify("diff", "HEAD", "--no-prove", "--allow", "deleted", "--allow", "broken-base")
        assert result.exit_code == 2
        assert result.stderr.startswith("head:\nk/a.swz.yaml:")
        assert "Not compared:" in result.stdout
        assert "deleted" not in result.stdout

    def test_of_base(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": BROKEN, "b.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": GOOD})
        document = told(swzverify("diff", "HEAD", "--no-prove", "--format", "json"), 2)
        assert statuses(document) == {"k/a.swz.yaml::A::bijective": "not compared", ID: "not compared"}
        assert [problem["side"] for problem in document["problems"]] == ["base"]
        assert swzverify("diff", "HEAD", "--no-prove", "--allow", "broken-base").exit_code == 0
        repository.put({"b.swz.yaml": FEWER})
        assert swzverify("diff", "HEAD", "--no-prove", "--allow", "broken-base").exit_code == 1


class TestAllowing:
    def test_by_kind(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER.replace("  - bijective: A\n", "")})
        run = lambda *allow: swzverify("diff", "HEAD", "--no-prove", *allow).exit_code  # noqa: E731
        assert run() == 1
        assert run("--allow", "deleted") == 1
        assert run("--allow", "weakened") == 1
        assert run("--allow", "deleted", "--allow", "weakened") == 0

    def test_by_claim(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER.replace("  - bijective: A\n", "")})
        ids = ["--allow-claim", ID, "--allow-claim", "k/a.swz.yaml::A::bijective"]
        assert swzverify("diff", "HEAD", "--no-prove", *ids[:2]).exit_code == 1
        document = told(swzverify("diff", "HEAD", "--no-prove", *ids, "--format", "json"), 0)
        assert [claim["allowed"] for claim in document["claims"]] == [True, True]
        assert "2 of them allowed" in swzverify("diff", "HEAD", "--no-prove", *ids).stdout


class TestVerdicts:
    def test_a_verdict_that_is_no_longer_as_expected(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": BAD})
        document = told(swzverify("diff", "HEAD", "--format", "json", "--allow", "weakened", "--allow", "deleted"), 1)
        (claim,) = [each for each in document["claims"] if each["id"] == ID]
        assert (claim["status"], claim["regressed"]) == ("changed", True)
        assert (claim["base"]["verdict"], claim["head"]["verdict"]) == ("proved", "refuted")
        assert claim["base"]["wavefronts"] < claim["head"]["wavefronts"]
        assert swzverify("diff", "HEAD", "--no-prove").exit_code == 0
        text = swzverify("diff", "HEAD").stdout
        assert "proved -> refuted, expected proved" in text
        assert "1 verdict no longer as expected" in text
        # and the other way round it is better, and fine
        repository.commit()
        repository.put({"k/a.swz.yaml": GOOD})
        result = swzverify("diff", "HEAD")
        assert result.exit_code == 0
        assert "refuted -> proved" in result.stdout
        assert ", better" in result.stdout

    def test_one_that_never_was_is_not_blamed_on_head(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": BAD})
        assert swzverify("diff", "HEAD").exit_code == 0

    def test_what_is_unchanged_is_proved_once(self, repository, swzverify, monkeypatch):
        repository.commit({f"{tile}.swz.yaml": GOOD.replace("A", tile) for tile in "ABC"})
        repository.put({"B.swz.yaml": FEWER.replace("A", "B")})
        seen = []

        def prove(claim, **_):
            seen.append(claim.kind)
            return Verdict(Outcome.PROVED, "", measure=Measure.of_one(WarpMeasure(1, 1, {})))

        monkeypatch.setattr("swzverify.apps.run.one.judge", by_verdict(prove))
        document = told(swzverify("diff", "HEAD", "--format", "json", "--rlimit", "7", "-j", "1"), 1)
        assert len(seen) == 6 + 2
        assert all(claim["base"]["verdict"] == "proved" for claim in document["claims"])

    def test_a_fault_on_either_side_is_an_error(self, repository, swzverify, monkeypatch):
        repository.commit({"k/a.swz.yaml": GOOD})
        answer = Verdict(Outcome.ERROR, "", reason="a fault")
        monkeypatch.setattr("swzverify.apps.run.one.judge", by_verdict(lambda *_, **__: answer))
        assert swzverify("diff", "HEAD").exit_code == 2


class TestFormats:
    def test_json_is_complete_and_ascii(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER})
        text = swzverify("diff", "HEAD", "--format", "json").stdout
        assert text.isascii()
        document = json.loads(text)
        assert document["schema"] == "swzverify.diff/1"
        assert set(document["summary"]) == {each.value for each in Status} | {
            "regressed",
            "failing",
            "exit_code",
            "proved",
        }
        assert document["summary"]["exit_code"] == 1
        (claim,) = [each for each in document["claims"] if each["failing"]]
        assert claim["changes"] == [
            {
                "aspect": "domain", "direction": "weaker", "what": "threads",
                "before": "64 threads", "after": "32 threads", "note": "tid = 32 is left out",
            }
        ]  # fmt: skip
        assert claim["base"] == {
            "id": ID, "line": 12, "expected": "proved", "verdict": "proved", "ok": True, "wavefronts": 1,
            "bank_conflicts": 0,
        }  # fmt: skip

    def test_markdown(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER})
        lines = swzverify("diff", "HEAD", "--format", "markdown", "--no-prove").stdout.splitlines()
        assert lines[0] == "### swzverify diff: Claims were lost"
        assert (
            f"| :x: | weakened | ` {ID} ` | threads\\: 64 threads \\-\\> 32 threads \\(tid \\= 32 is left out\\) |"
            in lines
        )

    @pytest.mark.usefixtures("here")
    def test_a_long_table_is_cut_after_what_fails(self, swzverify):
        many = "".join(f"  - wavefronts: {{access: read, at_most: {4 + index}}}\n" for index in range(300))
        Path("old.swz.yaml").write_text(GOOD)
        Path("new.swz.yaml").write_text(SHORTER + many)
        text = swzverify("diff", "old.swz.yaml", "new.swz.yaml", "--no-prove", "--format", "markdown").stdout
        assert text.count("\n| :") == 200
        assert "\n| :x: | deleted |" in text
        assert "101 more are not shown." in text

    def test_an_output_file(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        result = swzverify("diff", "HEAD", "--no-prove", "--format", "json", "--output", "out.json")
        assert (result.exit_code, result.stdout) == (0, "")
        assert json.loads(Path("out.json").read_text())["summary"]["unchanged"] == 2

    def test_quiet_and_verbose(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        repository.put({"k/a.swz.yaml": FEWER.replace("bijective", "injective")})
        quiet = swzverify("diff", "HEAD", "--no-prove", "-q").stdout
        assert "Deleted:" in quiet
        assert "Added:" not in quiet
        repository.put({"k/a.swz.yaml": GOOD})
        assert "Unchanged:" in swzverify("diff", "HEAD", "--no-prove", "-v").stdout

    def test_the_format_never_changes_the_code(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        for text, code in ((FEWER, 1), (BROKEN, 2), (GOOD, 0)):
            repository.put({"k/a.swz.yaml": text})
            for form in ("text", "json", "markdown"):
                assert swzverify("diff", "HEAD", "--no-prove", "--format", form).exit_code == code


class TestHostileNames:
    NAMES = (
        "-rf.swz.yaml", "a b.swz.yaml", "a'b\"c.swz.yaml", "$(touch pwned).swz.yaml", "`touch pwned`.swz.yaml",
        "a;touch pwned;.swz.yaml", "*.swz.yaml", "[a].swz.yaml", "\u6f22\u5b57.swz.yaml", "x|y.swz.yaml",
        "::error::x.swz.yaml", "a\nb.swz.yaml", "a\tb.swz.yaml", "\u202etxt.swz.yaml", ":(top)x.swz.yaml",
        "@me.swz.yaml",
        "<script>.swz.yaml", "a\x1b[31m.swz.yaml", "HEAD.swz.yaml", "a\\b.swz.yaml",
    )  # fmt: skip

    @pytest.mark.parametrize("form", ["text", "json", "markdown"])
    def test_names_of_files_are_names_and_nothing_else(self, repository, swzverify, form):
        repository.commit({f"k/{name}": GOOD for name in self.NAMES})
        repository.put({f"k/{name}": FEWER for name in self.NAMES})
        result = swzverify("diff", "HEAD", "--no-prove", "--format", form)
        assert result.exit_code == 1, result.output
        assert not list(repository.folder.rglob("pwned"))
        for character in "\x1b\u202e\t":
            assert character not in result.stdout
        assert not any(line.lstrip().startswith("::") for line in result.stdout.splitlines())
        assert "<script>" not in result.stdout or form != "markdown" or "` k/<script>" in result.stdout
        if form == "json":
            document = json.loads(result.stdout)
            assert set(statuses(document)) == {f"k/{name}::read::conflict_free" for name in self.NAMES}

    def test_a_name_that_is_no_text(self, repository, swzverify):
        name = os.fsdecode(b"k/\xff.swz.yaml")
        repository.commit({name: GOOD})
        repository.put({name: FEWER})
        for form in ("text", "json", "markdown"):
            result = swzverify("diff", "HEAD", "--no-prove", "--format", form)
            assert result.exit_code == 1, result.output

    def test_paths_are_no_patterns(self, repository, swzverify):
        repository.commit({"k/*.swz.yaml": GOOD, "k/a.swz.yaml": GOOD})
        repository.put({"k/*.swz.yaml": FEWER, "k/a.swz.yaml": FEWER})
        document = told(swzverify("diff", "HEAD", "k/*.swz.yaml", "--no-prove", "--format", "json"), 1)
        assert set(statuses(document)) == {"k/*.swz.yaml::read::conflict_free"}
        document = told(swzverify("diff", "HEAD:k/*.swz.yaml", "k/*.swz.yaml", "--no-prove", "--format", "json"), 1)
        assert set(statuses(document)) == {"k/*.swz.yaml::read::conflict_free"}

    def test_branches_with_such_names(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        for name in ("feature/$(touch-pwned)", "a;b", "it's", "k|l", "\u6f22"):
            repository.git("branch", name)
            assert swzverify("diff", name, "--no-prove").exit_code == 0
            assert swzverify("diff", f"git:{name}", f"{name}:k", "--no-prove").exit_code in (0, 1)

    def test_links_do_not_lead_out(self, repository, swzverify, tmp_path):
        secret = tmp_path / "secret.swz.yaml"
        secret.write_text("a secret line\n")
        repository.commit({"k/a.swz.yaml": GOOD})
        (repository.folder / "l.swz.yaml").symlink_to(secret)
        result = swzverify("diff", "HEAD", "--no-prove")
        assert result.exit_code == 2
        assert "SWZ519" in result.stderr
        assert "secret line" not in result.output
        repository.commit()
        result = swzverify("diff", "HEAD", "HEAD", "--no-prove")
        assert result.exit_code == 2
        assert "secret line" not in result.output

    def test_links_within_are_followed_on_both_sides(self, repository, swzverify):
        repository.put({"k/a.swz.yaml": GOOD})
        (repository.folder / "l.swz.yaml").symlink_to("k/a.swz.yaml")
        repository.commit()
        assert swzverify("diff", "HEAD", "--no-prove").exit_code == 0
        document = told(swzverify("diff", "HEAD", "HEAD", "--no-prove", "--format", "json"), 0)
        assert {claim["id"].split("::")[0] for claim in document["claims"]} == {"k/a.swz.yaml", "l.swz.yaml"}

    def test_a_tree_whose_paths_lead_out(self, repository, swzverify, tmp_path, monkeypatch):
        """No git command makes such a tree; a server could send one."""
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
        repository.commit({"k/a.swz.yaml": GOOD})
        blob = repository.git("rev-parse", "HEAD:k/a.swz.yaml")
        entry = b"100644 evil.swz.yaml\0" + bytes.fromhex(blob)
        inner = self._tree(repository, entry)
        outer = self._tree(repository, b"40000 ..\0" + bytes.fromhex(inner))
        commit = repository.git("commit-tree", "-m", "x", outer)
        result = swzverify("diff", "HEAD", commit, "--no-prove")
        assert result.exit_code == 2, result.output
        assert "SWZ519" in result.stderr
        assert not list(tmp_path.rglob("evil.swz.yaml"))

    @staticmethod
    def _tree(repository, content):
        command = ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
        done = subprocess.run(command, input=content, cwd=repository.folder, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def test_no_hook_watcher_or_pager_of_the_repository_runs(self, repository, swzverify):
        repository.commit({"k/a.swz.yaml": GOOD})
        script = repository.folder / "evil"
        script.write_text(f"#!/bin/sh\ntouch {repository.folder}/pwned\n")
        script.chmod(0o755)
        for key in ("core.fsmonitor", "core.pager", "core.editor", "pager.ls-tree"):
            repository.git("config", key, str(script))
        assert swzverify("diff", "HEAD", "--no-prove").exit_code == 0
        assert not (repository.folder / "pwned").exists()
