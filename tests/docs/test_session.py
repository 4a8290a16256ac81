"""The runner of the pages itself: it fails where a page says what is not so, or where nothing runs
a block.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import anchors_of, blocks_of
from tests.docs.rewrite import rewritten
from tests.docs.session import Session
from tests.docs.unrun import PageError, check_command

SPEC = """swzverify: 1
tiles: {A: {element: f32, layout: "(4,4):(4,1)"}}
claims:
  - bijective: A
"""
FALSE = SPEC.replace("bijective: A", "disjoint: A").replace("(4,1)", "(1,1)")


SHOWN = """
```console
$ swzverify prove a.swz.yaml
a.swz.yaml
  ✓ proved  bijective  A  gf2 + z3 + intervals    7 ms
...

1 proved, 0 unexpected in 9 ms
```
"""


def run(page: str, folder: Path) -> None:
    Session("page.md", folder).run(blocks_of(page))


def fence(language: str, text: str, mark: str = "") -> str:
    return f"{mark}\n```{language}\n{text.rstrip()}\n```\n"


@pytest.mark.parametrize(
    "page",
    [
        fence("yaml", SPEC),
        fence("yaml", SPEC.replace("bijective", "bijectiv"), "<!-- refused: SWZ104 -->"),
        fence("yaml", "claims: [", "<!-- refused: SWZ102 -->"),
        fence("yaml", "- bijective: A\n  because: it is", "<!-- fragment -->"),
        fence("yaml", "accesses:\n  a: {instruction: ldmatrix.x4, threads: 32, address: lane}", "<!-- fragment -->"),
        fence("yaml", "# a.swz.yaml\n" + SPEC) + fence("sh", "swzverify prove a.swz.yaml"),
        fence("yaml", "# a.swz.yaml\n" + SPEC),
        fence("yaml", SPEC, "<!-- file: a.swz.yaml -->") + SHOWN,
        fence("yaml", "a: 1", "<!-- not run here: somebody else's -->"),
        fence("sh", "false  # exit code 1\necho one \\\n  two") + fence("text", "one two"),
        fence("console", "$ false\n$ echo $?\n1\n$ echo a; echo b; echo c\n...\nc"),
        fence("python", "print(1 + 1)  # 2\nassert 1 + 1 == 2"),
        fence("python", "def test_it():\n    assert 1 + 1 == 2"),
        fence("json", "{}") + fence("toml", "a = 1") + fence("ini", "[a]\nb = 1"),
        fence("cuda", "// kernel.cu\nint x;") + fence("sh", "cat kernel.cu"),
    ],
)
def test_what_is_so_passes(page: str, tmp_path: Path) -> None:
    run(page, tmp_path)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (fence("", "what is this"), "no language"),
        ("    indented\n", "no language"),
        (fence("haskell", "main"), "haskell"),
        (fence("cuda", "int x;"), "cuda"),
        (fence("cuda", "// kernel.cu\nint x;"), "no command uses kernel.cu"),
        (fence("text", "by itself"), "output of no command"),
        (fence("text", "x", "<!-- not run here -->"), "needs a reason"),
        (fence("yaml", "a: 1"), "neither a spec"),
        (fence("yaml", "a: ["), "no YAML"),
        (fence("yaml", FALSE), "as expected"),
        (fence("yaml", "# a.swz.yaml\n" + FALSE), "as expected"),
        (fence("yaml", SPEC, "<!-- refused: SWZ104 -->"), "was to be refused"),
        (fence("yaml", SPEC.replace("swzverify: 1", "swzverify: 2"), "<!-- refused: SWZ104 -->"), "was to be refused"),
        (fence("yaml", "- bijectiv: A", "<!-- fragment -->"), "no part of a spec"),
        (fence("yaml", "3", "<!-- fragment -->"), "a list of claims"),
        (fence("sh", "false"), "ended with 1, not 0"),
        (fence("sh", "true  # exit code 1"), "ended with 0, not 1"),
        (fence("sh", "echo a") + fence("text", "b"), "does not print"),
        (fence("sh", "pip install swzverify"), "reaches beyond"),
        (fence("console", "$ false"), "which the page does not show"),
        (fence("console", "$ false\n$ echo $?\n2"), "the exit code was 1"),
        (fence("console", "$ echo a; echo b\na"), "does not print"),
        (fence("console", "$ echo a; echo b; echo c\na\n...\nb"), "does not print"),
        (fence("console", "$ echo a; echo b\nb\n...\na"), "does not print"),
        (fence("console", "no command"), "begins with"),
        (fence("python", "print(1 + 1)  # 3"), "not '3'"),
        (fence("python", "print(1 + 1)"), "does not show"),
        (fence("python", "def test_it():\n    assert 1 + 1 == 3"), "fails"),
        (fence("json", "{"), "no json"),
        (fence("toml", "a ="), "no toml"),
        (fence("sh", "swzverify prov x", "<!-- not run here: because -->"), "no command `swzverify prov`"),
        (fence("sh", "swzverify prove --fast x", "<!-- not run here: because -->"), "no option --fast"),
        (fence("haskell", "main", "<!-- not run here: because -->"), "haskell"),
    ],
)
def test_what_is_not_so_fails(page: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(PageError, match=why):
        run(page, tmp_path)


def test_a_snippet_that_breaks_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(fence("python", "1 / 0"), tmp_path)


def test_a_comment_belongs_to_the_block_right_below_it() -> None:
    page = "<!-- not run here: x -->\n\nText.\n\n```sh\nfalse\n```\n\n<!-- a -->\n<!-- b: c -->\n```sh\ntrue\n```\n"
    assert [block.marks for block in blocks_of(page)] == [(), ("a", "b: c")]


def test_times_are_alike_and_other_numbers_are_not(tmp_path: Path) -> None:
    run(fence("console", "$ echo 'x   12 ms'\nx  <1 ms\n$ echo 'in 3.1 s'\nin 1 min 2 s"), tmp_path)
    with pytest.raises(PageError, match="does not print"):
        run(fence("console", "$ echo '12 bytes'\n13 bytes"), tmp_path)


def test_options_of_commands_are_known() -> None:
    check_command("swzverify prove specs --format json -j 2")
    check_command("swzverify --version")
    check_command("grep --what -ever")
    with pytest.raises(PageError, match="no option --verison"):
        check_command("swzverify --verison")


def test_anchors_are_githubs() -> None:
    assert anchors_of("# 5. Claims\n\n## `a_b`: c, d!\n\n## x\n\n## x\n") == {"5-claims", "a_b-c-d", "x", "x-1"}


def test_consoles_are_rewritten() -> None:
    before = "A\n\n```console\n$ echo b\nold\n$ false\n$ echo $?\n0\n$ echo c; echo d\n...\nd\n```\n"
    after = "A\n\n```console\n$ echo b\nb\n$ false\n$ echo $?\n1\n$ echo c; echo d\n...\nd\n```\n"
    assert (
        rewritten("page.md", before + "\n```console\n$ echo e\n```\nZ\n")
        == after + "\n```console\n$ echo e\ne\n```\nZ\n"
    )
    assert rewritten("page.md", after) == after
    with pytest.raises(PageError, match="does not print"):
        rewritten("page.md", "```console\n$ echo a; echo b\n...\nc\n```\n")
