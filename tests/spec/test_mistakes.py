"""Malformed specs: the code, the line and the column of every mistake. `«` marks the place where
one is expected.
"""

from __future__ import annotations

import pytest

from swzverify.spec import SpecError, parse_spec

HEAD = "swzverify: 1\n"
TILE = "tiles: {A: {element: f16, layout: '(8,64):(64,1)'}}\n"
LANES = HEAD + "accesses:\n  r:\n    instruction: ld.shared.b32\n    threads: 32\n    address: b*4\n    lanes: "
ACCESS = "    tile: A\n    instruction: ldmatrix.x4\n    threads: 32\n"

# id: (expected codes in the order of the marks, text, a part of the first message or hint)
CASES: dict[str, tuple[str, str, str]] = {
    # values of the lanes' own
    "lanes: any": ("SWZ105", LANES + "{b: «any}\n", "does not say how large"),
    "lanes: a name of a thread": ("SWZ105", LANES + "{b: 2, «lane: 4}\n", "a meaning of its own"),
    "lanes: no value": ("SWZ105", LANES + "{b: «0}\n", "at least 1"),
    "lanes: an empty range": ("SWZ105", LANES + "{b: «{start: 4, stop: 4}}\n", "has no value"),
    "lanes: too many bits": ("SWZ105", LANES + "{b: {bits: «33}}\n", "at most 32"),
    "lanes: a loop's name": ("SWZ105", LANES + "{«b: 2}\n    for: {b: 2}\n", "a loop's name"),
    "lanes: beside a loop without a bound": (
        "SWZ206",
        LANES.replace("  r:", "  «r:") + "{b: 2}\n    for: {i: any}\n",
        "not modelled together",
    ),
    "lanes: an assumption on one": ("SWZ301", LANES + "{b: 2}\n    assume: [«b < 1]\n", "unknown name 'b'"),
    # YAML
    "unclosed flow": ("SWZ102", "swzverify: 1\ntiles: {A: [1, 2\n«", "expected ',' or ']'"),
    "tab indentation": ("SWZ102", "swzverify: 1\ntiles:\n«\tA: 1\n", "tab"),
    "colon in a value": ("SWZ102", "swzverify: 1\ntitle: one«: two\n", "put a value that holds ': '"),
    "at sign": ("SWZ102", "swzverify: 1\ntitle: «@x\n", "in quotes"),
    "unclosed quote": ("SWZ102", "swzverify: 1\ntitle: 'x\n«", "line 2, column 8"),
    "wrong indentation": ("SWZ102", "swzverify: 1\ntiles:\n    A: {}\n  «B: {}\n", ""),
    "control character": ("SWZ102", "swzverify: 1\ntitle: a«\x01b\n", "U+0001"),
    "duplicate key": ("SWZ103", "swzverify: 1\ntiles:\n  A: {bits: 8, layout: '8:1', «bits: 16}\n", "line 3, column 7"),
    "duplicate tile": (
        "SWZ103",
        HEAD + "tiles:\n  A: {bits: 8, layout: '8:1'}\n  «A: {bits: 8, layout: '8:1'}\n",
        "is given twice",
    ),
    "duplicate section": ("SWZ103", HEAD + "claims: []\n«claims: []\n", "line 2, column 1"),
    "anchor": ("SWZ108", HEAD + "title: «&x text\n", "anchor '&x'"),
    "alias": ("SWZ108 SWZ108", HEAD + "title: «&x a\nsource: «*x\n", ""),
    "merge key": ("SWZ108", HEAD + "tiles:\n  A: {«<<: 3, bits: 8, layout: '8:1'}\n", "merge key"),
    "tag": ("SWZ108", HEAD + "title: «!!str text\n", "tag"),
    "predicate read as a tag": (
        "SWZ108",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    if: «!tid\n",
        "in quotes",
    ),
    "two documents": ("SWZ108", HEAD + "«---\nswzverify: 1\n", "second document"),
    "directive": ("SWZ108", "«%YAML 1.1\n---\nswzverify: 1\n", "directives"),
    "leading zero": ("SWZ105", HEAD + "constants: {N: «010}\n", "octal"),
    "leading zero in a coordinate": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [tid%8, «07]\n",
        "octal",
    ),
    "huge integer": ("SWZ107", HEAD + "constants: {N: «99999999999}\n", "too large"),
    "astronomic integer": ("SWZ107", HEAD + "constants: {N: «" + "9" * 5000 + "}\n", "5000 digits"),
    "very negative integer": ("SWZ107", HEAD + "constants: {N: «-2147483649}\n", "-2^31"),
    "too deep": ("SWZ107", HEAD + "title: " + "[" * 49 + "«" + "[" * 9 + "]" * 58 + "\n", "50 levels"),
    "too many values": ("SWZ107", HEAD + "title: [" + "1," * 19_995 + " 1, 1]\n", "20000"),
    "a list at the top": ("SWZ105", "«- swzverify: 1\n", "mapping of keys"),
    "a word at the top": ("SWZ105", "«swzverify\n", "single value"),
    "only comments": ("SWZ101", "# swzverify: 1\n", "no YAML"),
    # version
    "no version": ("SWZ109", "«title: x\n", "missing"),
    "misspelt version": ("SWZ109", "«swzverfy: 1\n", ""),
    "later version": ("SWZ109", "swzverify: «2\n", "version 1"),
    "version in quotes": ("SWZ109", "swzverify: «'1'\n", "version 1"),
    # form
    "unknown section": ("SWZ104", HEAD + "«acceses: {}\n", "did you mean 'accesses'?"),
    "unknown tile key": (
        "SWZ104",
        HEAD + "tiles: {A: {«elment: f16, layout: '8:1', bits: 8}}\n",
        "did you mean 'element'?",
    ),
    "unknown access key": (
        "SWZ104",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    «cord: [0, 0]\n",
        "did you mean 'coord'?",
    ),
    "unknown key of a base": ("SWZ104", HEAD + "tiles: {A: {bits: 8, layout: '8:1', base: {«algn: 4}}}\n", "'align'"),
    "unknown key of tma": ("SWZ104", HEAD + "tiles: {A: {bits: 8, tma: {«swizle: 32B, box: [1, 16]}}}\n", "'swizzle'"),
    "unknown key of a loop": (
        "SWZ104",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    for: {i: {«stopp: 3}}\n",
        "did you mean 'stop'?",
    ),
    "torn layout": (
        "SWZ104 SWZ104",
        HEAD + "tiles: {A: {bits: 8, layout: (8,«64):(64,«1)}}\n",
        "a comma ends a value",
    ),
    "missing instruction": (
        "SWZ104",
        HEAD + TILE + "accesses:\n  «r: {tile: A, threads: 32, coord: [0, 0]}\n",
        "instruction",
    ),
    "missing layout": ("SWZ104", HEAD + "tiles: {«A: {bits: 8}}\n", "'layout' is missing"),
    "missing element": ("SWZ104", HEAD + "tiles: {«A: {layout: '8:1'}}\n", "'element' is missing"),
    "missing threads": (
        "SWZ104",
        HEAD + TILE + "accesses: {«r: {tile: A, instruction: ldmatrix.x4, coord: [0, 0]}}\n",
        "'threads' is missing",
    ),
    "missing coord": (
        "SWZ104",
        HEAD + TILE + "accesses: {«r: {tile: A, instruction: ldmatrix.x4, threads: 32}}\n",
        "'coord' is missing",
    ),
    "neither tile nor address": (
        "SWZ104",
        HEAD + "accesses: {«r: {instruction: ldmatrix.x4, threads: 32}}\n",
        "needs `tile` and `coord`, or `address`",
    ),
    "empty tile": ("SWZ105", HEAD + "tiles:\n  «A:\n", "not nothing"),
    "tile that is a list": ("SWZ105", HEAD + "tiles: {A: «[1]}\n", "expected a mapping, not a list"),
    "tiles that are a list": ("SWZ105", HEAD + "tiles: «[A]\n", "expected a mapping of names, not a list"),
    "target that is a number": ("SWZ105", HEAD + "target: «90\n", "expected a text, not the integer 90"),
    "title that is a number": ("SWZ105", HEAD + "title: «1.5\n", "expected a text, not the number 1.5"),
    "constant with a fraction": ("SWZ105", HEAD + "constants: {N: «1.5}\n", "an integer or a list of integers"),
    "constant that is a text": ("SWZ105", HEAD + "constants: {N: «M}\n", "an integer or a list of integers"),
    "empty list of a constant": ("SWZ105", HEAD + "constants: {N: «[]}\n", "at least 1"),
    "boolean size": ("SWZ105", HEAD + "tiles: {A: {bits: «true, layout: '8:1'}}\n", "not true"),
    "coord without a list": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: «tid\n",
        "expected a list, not 'tid'",
    ),
    "null in coord": ("SWZ105", HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [tid, «~]\n", "not nothing"),
    "ternary in a list": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [«tid ? 1 : 2, 0]\n",
        "expected an expression, not a mapping",
    ),
    "name of a tile": ("SWZ105", HEAD + "tiles: {«2x: {bits: 8, layout: '8:1'}}\n", "is not a name"),
    "name of a constant": ("SWZ105", HEAD + "constants: {«B-K: 1}\n", "letters, digits and _"),
    "box of one": ("SWZ105", HEAD + "tiles: {A: {bits: 8, tma: {box: «[16]}}}\n", "at least 2 entries, not 1"),
    "block of four": (
        "SWZ105",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: ldmatrix.x4, coord: [0, 0], block: «[1, 2, 3, 4]}}\n",
        "at most 3",
    ),
    "order of a layout": (
        "SWZ105",
        HEAD + "tiles: {A: {bits: 8, layout: {shape: [8], order: «rows}}}\n",
        "did you mean 'row'?",
    ),
    # names
    "unknown tile": ("SWZ106", HEAD + TILE + "claims: [{injective: «B}]\n", "known: A"),
    "near tile": (
        "SWZ106",
        HEAD + "tiles: {tile_A: {bits: 8, layout: '8:1'}}\nclaims: [{injective: «tileA}]\n",
        "'tile_A'",
    ),
    "access for a tile": (
        "SWZ106",
        HEAD + "accesses: {r: {address: tid*4, instruction: ld.shared.b32, threads: 32}}\nclaims: [{injective: «r}]\n",
        "'r' is an access",
    ),
    "unknown access": ("SWZ106", HEAD + TILE + "claims: [{wavefronts: {access: «r, at_most: 4}}]\n", "has none"),
    "unknown map": ("SWZ106", HEAD + "claims: [{permutation: «m}]\n", "unknown map 'm'"),
    "unknown memory": ("SWZ106", HEAD + "tiles: {A: {bits: 8, layout: '8:1', base: {in: «smem}}}\n", "unknown memory"),
    "unknown tile of an access": (
        "SWZ106",
        HEAD + "accesses: {r: {tile: «A, coord: [0], instruction: ld.shared.b32, threads: 32}}\n",
        "unknown tile 'A'",
    ),
    "ambiguous subject": (
        "SWZ106",
        HEAD
        + "tiles: {x: {bits: 8, layout: '8:1'}}\n"
        + "accesses: {x: {address: tid*4, instruction: ld.shared.b32, threads: 32, bytes: 128}}\n"
        + "claims: [{in_bounds: «x}]\n",
        "{tile: x} or {access: x}",
    ),
    # claims
    "unknown claim": ("SWZ104", HEAD + TILE + "claims:\n  - «injectve: A\n", "did you mean 'injective'?"),
    "two claims in one": ("SWZ104", HEAD + TILE + "claims:\n  - injective: A\n    «bijective: A\n", "one claim"),
    "no claim in an item": ("SWZ104", HEAD + "claims:\n  - «expect: refuted\n", "states no claim"),
    "word for a claim": ("SWZ105", HEAD + "claims: [«standrd]\n", "`standard`"),
    "word for the claims": ("SWZ105", HEAD + "claims: «standrd\n", "standard"),
    "expectation": ("SWZ105", HEAD + TILE + "claims: [{injective: A, expect: «refute}]\n", "did you mean 'refuted'?"),
    "vector without a length": (
        "SWZ104",
        HEAD + TILE + "claims: [{«contiguous: {tile: A}}]\n",
        "'elements' is missing",
    ),
    "mode outside": ("SWZ105", HEAD + TILE + "claims: [{contiguous: {tile: A, elements: 8, mode: «2}}]\n", "at most 1"),
    "one of a pair": ("SWZ105", HEAD + TILE + "claims: [{equivalent: «[A]}]\n", "at least 2"),
    "bounds that are not said": (
        "SWZ105",
        HEAD + "accesses: {r: {address: tid*4, instruction: ld.shared.b32, threads: 32}}\nclaims: [{in_bounds: «r}]\n",
        "bytes: n",
    ),
    "cover of nothing": (
        "SWZ104",
        HEAD
        + "accesses: {r: {address: tid*4, instruction: ld.shared.b32, threads: 32}}\n"
        + "claims: [{covers: «{access: r}}]\n",
        "tile:",
    ),
    # values
    "unknown element": ("SWZ105", HEAD + "tiles: {A: {element: «fp16, layout: '8:1'}}\n", "did you mean 'f16'?"),
    "element and bits": ("SWZ105", HEAD + "tiles: {A: {element: f16, «bits: 16, layout: '8:1'}}\n", "not both"),
    "layout and tma": ("SWZ105", HEAD + "tiles: {A: {bits: 8, tma: {box: [1, 16]}, «layout: '8:1'}}\n", "`tma`"),
    "no stages": ("SWZ105", HEAD + "tiles: {A: {bits: 8, layout: '8:1', stages: «0}}\n", "at least 1"),
    "alignment": ("SWZ105", HEAD + "tiles: {A: {bits: 8, layout: '8:1', base: {align: «24}}}\n", "write 16 or 32"),
    "negative base": ("SWZ105", HEAD + "tiles: {A: {bits: 8, layout: '8:1', base: «-4}}\n", "at least 0"),
    "too many threads": (
        "SWZ105",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: ld.shared.b32, threads: «2048, coord: [0, 0]}}\n",
        "at most 1024",
    ),
    "too large a block": (
        "SWZ105",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: ld.shared.b32, block: «[64, 64], coord: [0, 0]}}\n",
        "4096 threads",
    ),
    "threads and block": (
        "SWZ105",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: ld.shared.b32, threads: 8, «block: [8], coord: [0, 0]}}\n",
        "not both",
    ),
    "tile and address": (
        "SWZ105",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: ld.shared.b32, threads: 8, coord: [0, 0], «address: 0}}\n",
        "not both",
    ),
    "rank of the coordinate": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: «[tid]\n",
        "1 coordinates for tile A, which has 2 modes (8, 64)",
    ),
    "rank of onto": ("SWZ105", HEAD + "maps: {m: {over: {i: 8}, value: [i], onto: «[4, 2]}}\n", "one extent per value"),
    "step of a loop": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    for: {i: {stop: 4, step: «0}}\n",
        "at least 1",
    ),
    "loop named like a constant": (
        "SWZ105",
        HEAD + "constants: {k: 4}\n" + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    for: {«k: 4}\n",
        "constant",
    ),
    "loop named lane": (
        "SWZ105",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    for: {«lane: 4}\n",
        "meaning of its own",
    ),
    "constant named tid": ("SWZ105", HEAD + "constants: {«tid: 4}\n", "meaning of its own"),
    "same value twice": ("SWZ105", HEAD + "constants: {N: «[4, 4]}\n", "same value twice"),
    "too many cases": (
        "SWZ107",
        HEAD
        + "«constants: {N: ["
        + ", ".join(map(str, range(33)))
        + "], M: ["
        + ", ".join(map(str, range(32)))
        + "]}\n",
        "1056 cases",
    ),
    # layouts
    "unclosed layout": ("SWZ200", HEAD + "tiles:\n  A:\n    bits: 8\n    layout: «(8,64:(64,1)\n", "never closed"),
    "shape and stride": (
        "SWZ204",
        HEAD + "tiles:\n  A:\n    bits: 8\n    layout: «(8,64):(64,1,2)\n",
        "nested differently",
    ),
    "unknown name in a layout": (
        "SWZ301",
        HEAD + "constants: {BK: 4}\ntiles:\n  A:\n    bits: 8\n    layout: (8,«BQ):(64,1)\n",
        "unknown name 'BQ'",
    ),
    "zero extent": ("SWZ203", HEAD + "tiles: {A: {bits: 8, layout: '(8,«0):(64,1)'}}\n", "extent is 0"),
    "illegal swizzle": ("SWZ210", HEAD + "tiles: {A: {bits: 8, layout: '8:1', swizzle: '«Swizzle<3,3,1>'}}\n", "|S|"),
    "illegal swizzle of numbers": (
        "SWZ210",
        HEAD + "tiles: {A: {bits: 8, layout: '8:1', swizzle: «{bits: 3, base: 3, shift: 0}}}\n",
        "S = 0",
    ),
    "not a swizzle": (
        "SWZ200",
        HEAD + "tiles: {A: {bits: 8, layout: '8:1', swizzle: '«Swizle<3,3,3>'}}\n",
        "not a swizzle",
    ),
    "two swizzles": (
        "SWZ105",
        HEAD + "tiles:\n  A:\n    bits: 16\n    layout: S<3,3,3> o 0 o (8,64):(64,1)\n    «swizzle: Swizzle<3,3,3>\n",
        "has a swizzle already",
    ),
    "pointer of other elements": (
        "SWZ105",
        HEAD + "tiles:\n  A:\n    bits: 8\n    layout: «Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)\n",
        "16 bits",
    ),
    "wide tma box": (
        "SWZ221",
        HEAD + "tiles: {A: {element: f16, tma: {swizzle: 32B, box: [8, «64]}}}\n",
        "at most 32 bytes",
    ),
    "odd tma box": (
        "SWZ220",
        HEAD + "tiles: {A: {element: f16, tma: {swizzle: 32B, box: [8, «3]}}}\n",
        "multiple of 16",
    ),
    "tma mode": ("SWZ223", HEAD + "tiles: {A: {element: f16, tma: {swizzle: «128b, box: [8, 64]}}}\n", ""),
    "base of a tma box": (
        "SWZ222",
        HEAD + "tiles: {A: {element: f16, tma: {swizzle: 128B, box: [8, 64]}, base: «64}}\n",
        "multiple of 128 bytes",
    ),
    # room
    "tile larger than shared memory": (
        "SWZ110",
        HEAD + "tiles:\n  «A: {element: f32, layout: '(512,512):(512,1)'}\n",
        "232448 bytes of shared memory",
    ),
    "tile larger than an older target's": (
        "SWZ110",
        HEAD + "target: sm_75\ntiles:\n  «A: {element: f32, layout: '(256,128):(128,1)'}\n",
        "65536",
    ),
    "memory larger than shared memory": ("SWZ110", HEAD + "memories: {m: {bytes: «300000}}\n", "232448"),
    "memory larger than shared memory, with a base that has no value": (
        "SWZ110 SWZ304",
        HEAD + "memories: {m: {bytes: «300000, base: 1 << «40}}\n",
        "232448",
    ),
    "tile beyond its memory": (
        "SWZ110",
        HEAD + "memories: {m: {bytes: 4096}}\n"
        "tiles: {A: {element: f16, layout: '(8,64):(64,1)', base: «{in: m, offset: 3584}}}\n",
        "3584 + 1024",
    ),
    # hardware
    "unknown target": ("SWZ402", HEAD + "target: «sm_91\n", "sm_90"),
    "unknown instruction": (
        "SWZ401",
        HEAD + TILE + "accesses: {r: {tile: A, instruction: «ldmatrix.x5, threads: 32, coord: [0, 0]}}\n",
        "write ldmatrix.x1, .x2 or .x4",
    ),
    "instruction that the target lacks": (
        "SWZ403",
        HEAD
        + "target: sm_80\n"
        + TILE
        + "accesses: {r: {tile: A, instruction: «stmatrix.x4, threads: 32, coord: [0, 0]}}\n",
        "sm_90",
    ),
    # expressions
    "broken expression": (
        "SWZ302",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [tid%8, «(tid/8]\n",
        "never closed",
    ),
    "comma in a flow item": (
        "SWZ302 SWZ302",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [min«(tid, 3«), 0]\n",
        "a comma ends an item",
    ),
    "unknown name": (
        "SWZ301",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [lane%8, «lanes/8]\n",
        "did you mean 'lane'?",
    ),
    "unknown name in a predicate": (
        "SWZ301",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    if: tid < «n\n",
        "unknown name 'n'",
    ),
    "unknown name in a map": ("SWZ301", HEAD + "maps: {m: {over: {i: 8}, value: [i + «j]}}\n", "unknown name 'j'"),
    "unknown constant in a size": (
        "SWZ301",
        HEAD + "tiles: {A: {bits: 8, layout: '8:1', stages: 2*«N}}\n",
        "unknown name 'N'",
    ),
    "assignment": (
        "SWZ302",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 0]\n    if: tid «= 3\n",
        "write ==",
    ),
    "division of constants by zero": (
        "SWZ305",
        HEAD + "constants: {N: 0}\ntiles: {A: {bits: 8, layout: '8:1', stages: 8/«N}}\n",
        "divisor",
    ),
    "undefined shift": (
        "SWZ304",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 1 << («tid + 1)]\n",
        "shift",
    ),
    "division by zero": (
        "SWZ305",
        HEAD + TILE + "accesses:\n  r:\n" + ACCESS + "    coord: [0, 8 / «tid]\n",
        "divisor",
    ),
    "address out of range": (
        "SWZ303",
        HEAD + "accesses: {r: {address: «tid << 28, instruction: ld.shared.b32, threads: 32}}\n",
        "",
    ),
}


def unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the places where they stood."""
    places: list[tuple[int, int]] = []
    lines = text.split("\n")
    for row in range(len(lines)):
        while "«" in lines[row]:
            places.append((row + 1, lines[row].index("«") + 1))
            lines[row] = lines[row].replace("«", "", 1)
    return "\n".join(lines), places


@pytest.mark.parametrize(("codes", "text", "part"), CASES.values(), ids=CASES.keys())
def test_mistake(codes: str, text: str, part: str) -> None:
    plain, places = unmarked(text)
    with pytest.raises(SpecError) as caught:
        parse_spec(plain, path="a.yaml")
    problems = caught.value.problems
    shown = str(caught.value)
    assert [problem.code for problem in problems] == codes.split(), shown
    if places:
        assert [(problem.line, problem.column) for problem in problems] == places, shown
    assert part in shown
    lines = plain.split("\n")
    for problem in problems:
        assert problem.file == "a.yaml"
        if problem.line:
            assert problem.source_line == lines[problem.line - 1]
            assert 1 <= problem.column <= len(problem.source_line) + 1
            assert f"a.yaml:{problem.line}:{problem.column}: {problem.code} {problem.message}" in shown
