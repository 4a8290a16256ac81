"""The language server, asked by a real client over the standard streams of a process."""

from __future__ import annotations

import runpy
import statistics
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp

from swzverify.apps.cli import main
from tests.editor.conftest import Editor

SPEC = """\
swzverify: 1
constants: {C: 32, P: [0, 1]}
tiles:
  T:
    element: f32
    layout: (32,C):(C,1)
accesses:
  read: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
  write: {tile: T, instruction: st.shared.b32, threads: 32, coord: [0, lane]}
claims:
  - bijective: T
  - conflict_free: read
  - conflict_free: write
"""
READ = 12


def put(text: str, edits: list[lsp.TextEdit]) -> str:
    """The text after whole lines were replaced."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda each: each.range.start.line, reverse=True):
        assert edit.range.start.character == edit.range.end.character == 0
        lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    return "".join(lines)


def test_a_refuted_claim_is_marked_and_goes_when_it_is_mended(editor: Editor) -> None:
    (mark,) = editor.open("a.swz.yaml", SPEC)
    assert (mark.range.start.line, mark.range.start.character) == (READ - 1, 4)
    assert mark.range.end.character == 4 + len("conflict_free")
    assert (mark.severity, mark.code, mark.source) == (lsp.DiagnosticSeverity.Error, "conflict_free", "swzverify")
    assert "32 wavefronts instead of 1" in mark.message
    assert "so too in 1 more case" in mark.message
    assert editor.change("a.swz.yaml", SPEC.replace("(C,1)\n", "(C,1)\n    swizzle: Swizzle<5,0,5>\n")) == []


def test_mistakes_are_marked_at_their_place(editor: Editor) -> None:
    marks = editor.open(
        "wrong.swz.yaml", SPEC.replace("tile: T,", "tile: TT,", 1).replace("element: f32", "element: f3")
    )
    assert [(each.range.start.line + 1, each.code) for each in marks] == [(5, "SWZ105"), (8, "SWZ106")]
    (mark,) = editor.change("wrong.swz.yaml", SPEC.replace("tile: T,", "tile: TT,", 1))
    assert (mark.range.start.line + 1, mark.code) == (8, "SWZ106")
    assert mark.range.end.character - mark.range.start.character == 2
    (broken,) = editor.change("wrong.swz.yaml", "swzverify: 1\ntiles: {A: [\n")
    assert broken.code == "SWZ102"


def test_columns_are_those_of_the_client(editor: Editor) -> None:
    text = SPEC.replace("tile: T, instruction: ld", 'source: "\U0001f600", tile: TT, instruction: ld')
    marks = editor.open("utf16.swz.yaml", text)
    line = text.splitlines()[7]
    place = next(each for each in marks if each.code == "SWZ106").range.start
    units = len(line[: line.index("TT")].encode("utf-16-le")) // 2
    assert (place.line, place.character) == (7, units)


@pytest.mark.parametrize(("name", "sign"), [("k.cu", "// "), ("k.py", "# ")])
def test_contracts_are_judged_too(editor: Editor, name: str, sign: str) -> None:
    source = f"{sign}swz:begin\n" + "".join(f"{sign}{line}\n" for line in SPEC.splitlines()) + f"{sign}swz:end\n"
    (mark,) = editor.open(name, source)
    assert (mark.range.start.line, mark.range.start.character) == (READ, 4 + len(sign))
    assert editor.change(name, "int a;\n" if name == "k.cu" else "a = 1\n") == []
    assert "conflict_free" in {item.label for item in _after(editor, name, source, "  - conf", sign)}


def _after(editor: Editor, name: str, source: str, typed: str, sign: str) -> list[lsp.CompletionItem]:
    lines = source.splitlines()
    lines.insert(READ + 2, sign + typed)
    editor.change(name, "\n".join(lines))
    return editor.complete(name, READ + 3, len(sign + typed) + 1)


def test_hover_tells_what_a_claim_means_and_shows_the_case(editor: Editor) -> None:
    editor.open("hover.swz.yaml", SPEC)
    text = editor.hover("hover.swz.yaml", READ, 8)
    for part in (
        "this access has no bank conflicts",
        "refuted, expected proved",
        "- scope: all 1 warp",
        "32 wavefronts",
    ):
        assert part in text.replace("all warps", "all 1 warp").replace("the warp", "all 1 warp"), part
    assert "```text" in text
    assert "group 0" in text or "ld.shared.b32: 32 wavefronts" in text
    proved = editor.hover("hover.swz.yaml", READ + 1, 20)
    assert "**conflict_free write [P=0]: proved**" in proved
    assert "1 wavefront" in proved
    tile = editor.hover("hover.swz.yaml", 4, 3)
    assert "b0" in tile
    assert "constant `C` = 32" in editor.hover("hover.swz.yaml", 6, 17)
    assert "the type of an element" in editor.hover("hover.swz.yaml", 5, 6)
    assert "group 0" in editor.hover("hover.swz.yaml", 9, 4)
    assert editor.hover("hover.swz.yaml", 1, 40) == ""


def test_completion_from_the_schema_and_the_names(editor: Editor) -> None:
    editor.open("c.swz.yaml", SPEC)

    def typed(line: int, text: str) -> list[str]:
        lines = SPEC.splitlines()
        lines.insert(line - 1, text)
        editor.change("c.swz.yaml", "\n".join(lines) + "\n")
        return [item.label for item in editor.complete("c.swz.yaml", line, len(text) + 1)]

    assert "swizzle" in typed(7, "    sw")
    assert typed(5, "    element: bf") == ["bf16"]
    assert {"tile", "instruction", "coord"} <= set(typed(10, "  other: {"))
    assert "ldmatrix.x4" in typed(10, "  other: {instruction: ldm")
    assert typed(14, "  - conflict_free: re") == ["read"]
    assert {"contiguous", "conflict_free", "covers"} <= set(typed(14, "  - co"))
    assert "C" in typed(10, "  other: {coord: [lane, ")
    assert {"expect", "because"} <= set(typed(14, "    "))
    assert typed(15, "memo") == ["memories"]
    key = next(item for item in editor.complete("c.swz.yaml", 15, 5) if item.label == "memories")
    assert key.insert_text == "memories: "
    assert "shared memory" in (key.detail or "")


def test_definitions_of_tiles_constants_and_of_what_is_read_from_code(editor: Editor) -> None:
    editor.open("d.swz.yaml", SPEC)
    assert editor.definition("d.swz.yaml", 8, 16) == [("d.swz.yaml", 4, 3)]
    assert editor.definition("d.swz.yaml", READ, 22) == [("d.swz.yaml", 8, 3)]
    assert editor.definition("d.swz.yaml", 6, 17) == [("d.swz.yaml", 2, 13)]
    (editor.folder / "gemm.cu").write_text("// rows\nconstexpr int BK = 32;\n", "utf-8")
    spec = "swzverify: 1\nfrom_source: {BK: {file: gemm.cu}}\ntiles: {A: {element: f32, layout: '(8,BK):(BK,1)'}}\n"
    editor.open("s.swz.yaml", spec + "claims: [{bijective: A}]\n")
    assert ("gemm.cu", 2, 1) in editor.definition("s.swz.yaml", 3, 40)


def test_a_cure_and_a_test_are_offered(editor: Editor) -> None:
    editor.open("cure.swz.yaml", SPEC)
    actions = editor.actions("cure.swz.yaml", READ)
    cures = [each for each in actions if each.title.startswith("Apply the cure for conflict_free read [P=0]: T: ")]
    assert [each.title.rpartition(": ")[2] for each in cures] == ["Swizzle<5,0,5> on element offsets"]
    assert cures[0].diagnostics
    assert cures[0].edit is not None
    assert cures[0].edit.changes is not None
    mended = put(SPEC, cures[0].edit.changes[editor.uri("cure.swz.yaml")])
    assert editor.change("cure.swz.yaml", mended) == []
    assert not editor.actions("cure.swz.yaml", READ + 1)
    test = next(each for each in actions if each.title.startswith("Write the counterexample"))
    assert test.edit is not None
    create, edit = test.edit.document_changes or ()
    file = Path(create.uri.removeprefix("file://"))
    (editor.folder / "cure.swz.yaml").write_text(SPEC, "utf-8")
    file.write_text(edit.edits[0].new_text, "utf-8")
    (case,) = [each for name, each in runpy.run_path(str(file)).items() if name.startswith("test_")]
    assert callable(case)
    with pytest.raises(AssertionError, match="No bank conflicts"):
        case()
    (editor.folder / "cure.swz.yaml").write_text(mended, "utf-8")
    case()


TEN = (
    SPEC.replace(", P: [0, 1]", "")
    + "".join(
        f"  - {claim}\n"
        for claim in (
            "injective: T",
            "aligned: read",
            "aligned: write",
            "in_bounds: T",
            "wavefronts: {access: read, at_most: 32}",
        )
    )
    + "  - contiguous: {tile: T, elements: 4}\n  - covers: {access: write, distinct: true}\n"
)
LONGEST_MS = 100
SLOW = 4
"""How many times as long a busy machine may take in an ordinary run of the tests."""


def test_what_is_typed_is_judged_at_once(editor: Editor) -> None:
    editor.open("ten.swz.yaml", TEN)
    times = []
    for width in range(33, 43):
        begins = time.perf_counter()
        marks = editor.change("ten.swz.yaml", TEN.replace("(C,1)", f"({width},1)"))
        times.append(1000 * (time.perf_counter() - begins))
        assert "error" not in "".join(each.message for each in marks)
    print("ms from the change to the marks:", sorted(map(round, times)))
    assert statistics.median(times) < SLOW * LONGEST_MS, times


def test_without_pygls_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "swzverify.apps.editor.server", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pygls"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    result = CliRunner().invoke(main, ["lsp"])
    assert result.exit_code == 2
    assert "pip install 'swzverify[lsp]'" in result.stderr
