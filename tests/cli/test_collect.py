"""Which files the paths stand for."""

from __future__ import annotations

import os

import pytest

from swzverify.apps.run.collect import collect_specs


@pytest.fixture
def tree(write):
    names = ["b.swz.yaml", "a.swz.yaml", "b/z.swz.yaml", "b/c/y.swz.yaml", "b/notes.yaml", "[x].swz.yaml", "any.txt"]
    write(dict.fromkeys(names, "swzverify: 1\n"))


@pytest.mark.usefixtures("tree")
class TestCollect:
    def test_a_folder_stands_for_every_spec_below_it(self):
        assert collect_specs(["b"]).files == ["b/c/y.swz.yaml", "b/z.swz.yaml"]
        assert collect_specs(["."]).files == [
            "[x].swz.yaml", "a.swz.yaml", "b/c/y.swz.yaml", "b/z.swz.yaml", "b.swz.yaml",
        ]  # fmt: skip

    def test_a_file_may_have_any_name_and_the_order_is_that_of_the_paths(self):
        assert collect_specs(["any.txt", "b.swz.yaml", "a.swz.yaml"]).files == ["any.txt", "b.swz.yaml", "a.swz.yaml"]

    def test_patterns(self):
        assert collect_specs(["*.swz.yaml"]).files == ["[x].swz.yaml", "a.swz.yaml", "b.swz.yaml"]
        assert collect_specs(["**/?.swz.yaml"]).files == [
            "a.swz.yaml", "b/c/y.swz.yaml", "b/z.swz.yaml", "b.swz.yaml",
        ]  # fmt: skip

    def test_a_pattern_may_match_folders(self):
        assert collect_specs(["b*"]).files == ["b/c/y.swz.yaml", "b/z.swz.yaml", "b.swz.yaml"]
        assert collect_specs(["b/**"]).files == ["b/c/y.swz.yaml", "b/z.swz.yaml"]
        assert collect_specs(["b/*.yaml"]).files == ["b/notes.yaml", "b/z.swz.yaml"]

    def test_a_file_with_a_pattern_s_name_is_a_file(self):
        assert collect_specs(["[x].swz.yaml"]).files == ["[x].swz.yaml"]

    def test_each_file_once(self, here):
        (here / "link.swz.yaml").symlink_to("a.swz.yaml")
        assert collect_specs(["a.swz.yaml", "./a.swz.yaml", "*a.swz.yaml"]).files == ["a.swz.yaml"]
        # a link is a spec of its own: in another folder it may speak of other files
        assert collect_specs(["a.swz.yaml", "link.swz.yaml"]).files == ["a.swz.yaml", "link.swz.yaml"]

    def test_paths_are_shown_from_the_current_folder(self, here, monkeypatch):
        monkeypatch.chdir(here / "b")
        assert collect_specs([str(here / "b"), "../a.swz.yaml"]).files == [
            "c/y.swz.yaml",
            "z.swz.yaml",
            "../a.swz.yaml",
        ]

    def test_what_is_missing_is_told_with_the_nearest_name_and_stops_nothing(self):
        collected = collect_specs(["aa.swz.yaml", "a.swz.yaml", "none/*.yaml", "no/b.yaml"])
        assert collected.files == ["a.swz.yaml"]
        assert [(problem.code, problem.file) for problem in collected.problems] == [
            ("SWZ501", "aa.swz.yaml"),
            ("SWZ502", "none/*.yaml"),
            ("SWZ501", "no/b.yaml"),
        ]
        assert collected.problems[0].hint == "did you mean 'a.swz.yaml'?"
        assert "no folder 'no'" in collected.problems[2].hint

    def test_a_folder_that_cannot_be_read_is_told(self, monkeypatch):
        scandir = os.scandir

        def refusing(path):
            if os.path.basename(path) == "c":
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refusing)  # a mode of 0 would not stop root
        collected = collect_specs(["b"])
        assert collected.files == ["b/z.swz.yaml"]
        assert [(problem.code, problem.file) for problem in collected.problems] == [("SWZ503", "b/c")]

    def test_folder_links_do_not_go_round_for_ever(self, here):
        (here / "b" / "loop").symlink_to("..", target_is_directory=True)
        assert collect_specs(["b"]).files == ["b/c/y.swz.yaml", "b/z.swz.yaml"]


def test_an_empty_folder_is_no_problem(here):
    assert here.is_dir()
    collected = collect_specs(["."])
    assert (collected.files, collected.problems) == ([], [])
