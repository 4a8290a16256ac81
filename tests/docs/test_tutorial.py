"""examples/tutorial/ has the files of the tutorial's pages and no others.

`python -m tests.docs.tutorial` writes them.
"""

from __future__ import annotations

from tests.docs.tutorial import FOLDER, PAGES, tutorial_files


def test_the_folder_has_the_files_of_the_pages() -> None:
    there = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.glob("*/*")}
    assert there == tutorial_files()


def test_no_two_pages_use_one_file_name() -> None:
    """Who follows the pages in one folder keeps the file of each."""
    names = [name.rpartition("/")[2] for name in tutorial_files()]
    assert sorted(set(names)) == sorted(names)


def test_every_page_has_files_and_the_readme_names_the_page() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for page in PAGES:
        assert any(name.startswith(f"{page}/") for name in tutorial_files())
        assert f"docs/tutorial/{page}.md" in readme
