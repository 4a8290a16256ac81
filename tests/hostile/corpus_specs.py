"""Well-formed YAML that asks for too much: numbers, expressions, layouts, cases, counts, long
echoes.
"""

from __future__ import annotations

from collections.abc import Iterator

HEAD = "swzverify: 1\n"
TILE = "tiles: {A: {bits: 16, layout: '(8,64):(64,1)'}}\n"

INTEGERS: dict[str, str] = {
    "of 25 digits": "1" * 25,
    "of 100000 digits": "9" * 100_000,
    "of 100000 hex digits": "0x" + "f" * 100_000,
    "negative, of 5000 digits": "-" + "9" * 5000,
    "of 33 bits": "4294967296",
    "of 33 bits in hex": "0x100000000",
    "below the least": "-2147483649",
    "of 64 bits": "18446744073709551615",
    "octal of C": "0755",
    "octal of YAML": "0o17",
    "binary": "0b1010",
    "with underscores": "1_000",
    "in sixties": "190:20:30",
    "negative zero padded": "-007",
    "with a plus and a zero": "+08",
    "in capital hex": "0XFF",
    "infinity": ".inf",
    "not a number": ".nan",
    "float": "64.0",
    "float of a huge exponent": "1e999999999",
    "float of many digits": "0." + "3" * 50_000,
    "yes": "yes",
    "true": "true",
    "date": "2001-12-14",
    "fullwidth digits": "\uff16\uff14",
    "arabic digits": "\u0666\u0664",
    "superscript": "6\u2074",
    "in quotes": "'64'",
}
"""Values of a constant, which is a plain integer or nothing."""

EXPRESSIONS: dict[str, str] = {
    "four thousand parentheses": "(" * 4000,
    "parentheses that close": "(" * 101 + "tid" + ")" * 101,
    "parentheses without end": "(" * 90 + "tid",
    "closing only": ")" * 3000,
    "signs": "-" * 1 + " -" * 1500 + "tid",
    "inversions": "~" * 4000 + "tid",
    "negations": "(" + "!" * 4000 + "tid)",
    "long sum": "+".join(["tid"] * 1000),
    "long product": "*".join(["tid"] * 1000),
    "long chain of shifts": "tid" + "<<1" * 1300,
    "long comparison": "tid" + "<1" * 2000,
    "long or": "||".join(["tid"] * 800),
    "long conditional": "tid?1:" * 650 + "0",
    "conditional to the left": "(" * 90 + "tid?1:" * 90 + "0",
    "question marks": "tid" + "?" * 4000,
    "many arguments": "min(" + ",".join(["1"] * 2000) + ")",
    "calls in calls": "min(" * 1000 + "1",
    "no arguments": "min()",
    "4097 characters": "1".ljust(4096) + "+1",
    "a megabyte's fifth": "tid" + "+1" * 100_000,
    "shift of a shift": "1<<31<<31",
    "shift by 32": "tid << 32",
    "shift by a lot": "tid << 4294967295",
    "shift by less than nothing": "tid << -1",
    "shift by the thread": "1 << tid",
    "shift to the right by much": "tid >> 64",
    "square of a square": "tid*tid*tid*tid*tid*tid",
    "product beyond": "4294967295 * 4294967295",
    "power tower": "(1<<31)*(1<<31)*(1<<31)*(1<<31)",
    "difference below": "-2147483648 - 1",
    "division by zero": "tid / 0",
    "remainder of zero": "tid % (tid - tid)",
    "division by the thread": "64 / tid",
    "zero divided behind a condition": "tid ? 64 / tid : 0",
    "literal of 33 bits": "4294967296",
    "literal of 4000 digits": "9" * 4000,
    "literal of 4000 hex digits": "0x" + "f" * 4000,
    "literal of 4000 bits": "0b" + "1" * 4000,
    "octal literal of 4000 digits": "0" + "7" * 4000,
    "literal with separators": "1'000",
    "float literal": "1.5f",
    "float literal of a huge exponent": "1e999999999",
    "hex that swallows a sign": "0xe+1",
    "suffixes": "1ulullulll",
    "python power": "2 ** 1000000000",
    "python call": "__import__('os').system('true')",
    "python attribute": "tid.__class__",
    "python lambda": "(lambda: 1)()",
    "format string": "{tid.__class__}",
    "dunder name": "__builtins__",
    "name of 4000 characters": "a" * 4000,
    "name with dots": "threadIdx" + ".x" * 1000,
    "unknown name": "tidd",
    "name in cyrillic": "t\u0456d",
    "name of the future": "blockIdx.x",
    "array": "smem[tid]",
    "pointer": "*(int*)tid",
    "address of": "(&tid)",
    "cast": "(unsigned long long)tid",
    "template cast": "static_cast<int>(tid)",
    "sizeof": "sizeof(int)",
    "assignment": "tid = 5",
    "increment": "tid++",
    "comma": "tid, tid",
    "statement": "tid; tid",
    "comment": "tid /* x */",
    "line comment": "tid // x",
    "string": '"tid" + 1',
    "character": "'a'",
    "backslash": "tid \\ 2",
    "dollar": "$tid",
    "at sign inside": "tid @ 2",
    "minus of another alphabet": "tid \u2212 1",
    "times of another alphabet": "tid \u00d7 2",
    "no-break space": "tid\u00a0+ 1",
    "negative address": "tid - 1",
    "grown past the range in many steps": "(" * 30 + "tid*i*16000" + "*2/2)" * 30,
    "nothing": "' '",
    "operator only": "'+'",
    "boolean": "true",
    "float value": "1.5",
    "list": "[tid]",
    "map": "{tid: 1}",
    "null": "~",
}
"""Addresses of an access."""

LAYOUTS: dict[str, str] = {
    "parentheses only": "(" * 4000,
    "pairs of parentheses": "(" * 2000 + ")" * 2000,
    "nested too deep": "(" * 40 + "8" + ")" * 40,
    "nested stride": "8:" + "(" * 40 + "1" + ")" * 40,
    "five thousand characters": "(8" + ",8" * 2500 + ")",
    "three hundred extents": "(" + ",".join(["2"] * 300) + ")",
    "three hundred large extents": "(" + ",".join(["BK"] * 300) + ")",
    "two hundred large extents": "(" + ",".join(["BK"] * 200) + ")",
    "extent of 2^60": "1152921504606846976:1",
    "extent of 4000 digits": "9" * 4000 + ":1",
    "elements beyond any memory": "(1099511627776,1099511627776):(1,1099511627776)",
    "stride beyond": "(8,8):(1,1152921504606846976)",
    "extent of zero": "(8,0):(1,8)",
    "negative extent": "(8,-8):(1,8)",
    "negative stride": "(8,8):(1,-8)",
    "no extent": "():()",
    "comma only": "(,):(,)",
    "colons": "8:1:1:1",
    "colons only": ":" * 3000,
    "shape and stride of other form": "((8,8),8):(8,(8,8))",
    "text": "row major",
    "empty": "''",
    "runtime extent": "(?,8):(8,1)",
    "coordinate stride": "(8,8):(1@0,1@1)",
    "expression bomb as an extent": "(" + "BK*" * 400 + "1,8):(8,1)",
    "division by zero as an extent": "(8/(BK-BK),8):(8,1)",
    "unknown name as an extent": "(BQ,8):(8,1)",
    "composition of many": " o ".join(["Sw<1,2,3>"] * 300) + " o 8:1",
    "swizzle without a layout": "Sw<3,4,3>",
    "swizzle of huge numbers": "Sw<999999999,999999999,999999999> o 8:1",
    "swizzle of more huge numbers": "Sw<" + "9" * 3000 + ",1,1> o 8:1",
    "swizzle with a negative": "Sw<-1,0,0> o 8:1",
    "swizzle that is no bijection": "Sw<3,3,0> o 8:1",
    "swizzle with many numbers": "Sw<" + "1," * 1500 + "1> o 8:1",
    "swizzle without an end": "Sw<3,3,3 o 8:1",
    "pointer of no bits": "Sw<3,4,3> o smem_ptr[0b](unset) o 8:1",
    "pointer of many bits": "Sw<3,4,3> o smem_ptr[" + "9" * 3000 + "b](unset) o 8:1",
    "pointer without an end": "Sw<3,4,3> o smem_ptr[16b](unset o 8:1",
    "offset before a swizzle": "Sw<3,4,3> o 4294967295 o 8:1",
    "script": "<script>alert(1)</script>",
    "look-alike colon": "(8,8)\uff1a(8,1)",
}

SPECS: dict[str, str] = {
    "cases, a million": "constants: {" + ", ".join(f"c{i}: [1, 2, 3, 4]" for i in range(10)) + "}\n",
    "cases, a number of hundreds of digits": "constants: {" + ", ".join(f"c{i}: [1, 2]" for i in range(250)) + "}\n",
    "cases of many constants": "constants: {"
    + ", ".join(f"c{i}: 1" for i in range(5000))
    + ", "
    + ", ".join(f"d{i}: [1, 2]" for i in range(10))
    + "}\n",
    "cases of a long file": "constants: {a: ["
    + ", ".join(map(str, range(1000)))
    + "]}\nmaps:\n"
    + "".join(f"  m{i}: {{over: {{i: 8}}, value: ['{'+'.join(['i*a'] * 40)}']}}\n" for i in range(20)),
    "cases of one mistake": "constants: {a: ["
    + ", ".join(map(str, range(1000)))
    + f"]}}\nmaps: {{m: {{over: {{i: 8}}, value: ['{'+'.join(['i*a'] * 200)}']}}}}\n",
    "cases with a mistake in one": "constants: {a: [" + ", ".join(map(str, range(1000))) + "]}\n"
    "tiles: {A: {bits: 8, layout: '(8,1000/(a-999)):(1,8)'}}\n",
    "constant values, the same": "constants: {a: [" + ", ".join(["1"] * 5000) + "]}\n",
    "constants in each other": "constants: {a: b, b: a}\n",
    "constant as an expression": "constants: {a: 1<<31<<31}\n",
    "constant named like python's": "constants: {__class__: x}\n",
    "constants of reserved names": "constants: {tid: 1, lane: 2, base: 3, min: 4, threadIdx: 5}\n",
    "tiles, two thousand without layouts": "tiles: {" + ", ".join(f"t{i}: {{bits: 8}}" for i in range(2000)) + "}\n",
    "tiles, two thousand larger than memory": "tiles: {"
    + ", ".join(f"t{i}: {{bits: 1024, layout: '99999:1'}}" for i in range(2000))
    + "}\n",
    "tiles of wrong form": "tiles: {" + ", ".join(f"t{i}: 1" for i in range(5000)) + "}\n",
    "tile named after another's key": "tiles: {layout: {layout: {layout: x}}}\n",
    "claims, thousands of unknown names": "tiles: {"
    + ", ".join(f"tile_number_{i}: {{bits: 8, layout: '8:1'}}" for i in range(1000))
    + "}\nclaims:\n"
    + "".join(f"- injective: tile_numbr_x{i}\n" for i in range(2000)),
    "claims, thousands without a kind": "claims: [" + ", ".join(["{}"] * 9000) + "]\n",
    "claims, thousands of words": "claims: [" + ", ".join(f"w{i}" for i in range(9000)) + "]\n",
    "claims, thousands of numbers": "claims: [" + ", ".join(map(str, range(9000))) + "]\n",
    "claims of lists": "claims: [[[[[[[]]]]]]]\n",
    "claims as a map": "claims: {injective: A}\n",
    "claim about every kind": TILE + "claims:\n- {injective: A, bijective: A, aligned: A, covers: A, permutation: A}\n",
    "claim about names of 90 characters": TILE
    + "claims:\n"
    + "".join(f"- injective: {'x' * 86}{i}\n" for i in range(2000)),
    "claim about a name of 100000 characters": TILE + "claims:\n- injective: " + "x" * 100_000 + "\n",
    "claims of too wide vectors": TILE + "claims: [{contiguous: {tile: A, elements: 0}}]\n",
    "claims of vectors of millions": "tiles: {A: {bits: 8, layout: '(1099511627776,8):(0,0)'}}\n"
    "claims: [{contiguous: {tile: A, elements: 16777216}}]\n",
    "claim of wavefronts below one": TILE + "claims: [{wavefronts: {access: r, at_most: -1}}]\n",
    "expectation of anything": TILE + "claims: [{injective: A, expect: anything}]\n",
    "unknown keys, thousands": "".join(f"key{i}: 1\n" for i in range(9000)),
    "unknown keys of an access": "accesses: {r: {" + ", ".join(f"k{i}: 1" for i in range(4000)) + "}}\n",
    "unknown keys like known ones": "accesses: {r: {" + ", ".join(f"instructio{i}: 1" for i in range(4000)) + "}}\n",
    "loops, a thousand": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, for: {"
    + ", ".join(f"i{i}: 4294967295" for i in range(1000))
    + "}}}\n",
    "loop of every value twice": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: i*j, "
    "for: {i: 4294967295, j: 4294967295}}}\n",
    "loop that goes nowhere": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, "
    "for: {i: {start: 0, stop: 8, step: 0}}}}\n",
    "loop that goes back": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, "
    "for: {i: {start: 8, stop: 0, step: -1}}}}\n",
    "loop of a huge step": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: i, "
    "for: {i: {start: 0, stop: 4294967295, step: 18446744073709551616}}}}\n",
    "loop named like the thread": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, "
    "for: {threadIdx: 4}}}\n",
    "assumptions, two thousand": "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, assume: ["
    + ", ".join(["1 < 2"] * 2000)
    + "]}}\n",
    "coordinates, two thousand": TILE
    + "accesses: {r: {instruction: ld.shared.b32, threads: 32, tile: A, coord: ["
    + ", ".join(["tid"] * 2000)
    + "]}}\n",
    "threads, four thousand million": "accesses: {r: {instruction: ld.shared.b32, threads: 4294967295, address: 0}}\n",
    "threads of none": "accesses: {r: {instruction: ld.shared.b32, threads: 0, address: 0}}\n",
    "block of many": "accesses: {r: {instruction: ld.shared.b32, block: [65536, 65536, 65536], address: 0}}\n",
    "block of a thousand dimensions": "accesses: {r: {instruction: ld.shared.b32, block: ["
    + "1, " * 1000
    + "1], address: 0}}\n",
    "instruction of 100000 characters": "accesses: {r: {instruction: "
    + "ld." * 33_000
    + ", threads: 1, address: 0}}\n",
    "instruction of thousands of parts": "accesses: {r: {instruction: " + ".".join("ldmatrix" * 3000) + "}}\n",
    "target of 100000 characters": "target: " + "sm_" * 33_000 + "\n",
    "element of 100000 characters": "tiles: {A: {element: " + "f16" * 33_000 + ", layout: '8:1'}}\n",
    "element of many bits": "tiles: {A: {bits: 4294967295, layout: '8:1'}}\n",
    "stages, four thousand million": "tiles: {A: {bits: 8, layout: '8:1', stages: 4294967295}}\n",
    "pitch of a stage beyond": "tiles: {A: {bits: 8, layout: '8:1', stages: {count: 4096, pitch: 4294967295}}}\n",
    "dense layout of nine dimensions": "tiles: {A: {bits: 8, layout: {shape: [2, 2, 2, 2, 2, 2, 2, 2, 2]}}}\n",
    "dense layout beyond": "tiles: {A: {bits: 8, layout: {shape: [" + ", ".join(["4294967295"] * 8) + "]}}}\n",
    "dense layout with a huge pad": "tiles: {A: {bits: 8, layout: {shape: [4294967295, 9], pad: 4294967295}}}\n",
    "swizzle of huge numbers as a map": "tiles: {A: {bits: 8, layout: '8:1', "
    "swizzle: {bits: 4294967295, base: 4294967295, shift: 4294967295}}}\n",
    "tma box beyond": "tiles: {A: {element: f16, tma: {swizzle: 128B, box: [4294967295, 4294967295]}}}\n",
    "alignment beyond": "tiles: {A: {bits: 8, layout: '8:1', base: {align: 2147483648}}}\n",
    "alignment that is no power": "tiles: {A: {bits: 8, layout: '8:1', base: {align: 4294967295}}}\n",
    "base below": "tiles: {A: {bits: 8, layout: '8:1', base: -1}}\n",
    "base in a memory in a memory": "memories: {m: {bytes: 64, base: {in: m}}}\n",
    "memory larger than any": "memories: {m: {bytes: 4294967295}}\n",
    "map of a thousand variables": "maps: {m: {over: {"
    + ", ".join(f"i{i}: 4294967295" for i in range(1000))
    + "}, value: [i0]}}\n",
    "map of a thousand values": "maps: {m: {over: {i: 8}, value: [" + ", ".join(["i"] * 1000) + "]}}\n",
    "map that overflows": "maps: {m: {over: {i: 4294967295, j: 4294967295}, value: [i*j]}}\n",
    "map over nothing": "maps: {m: {over: {}, value: []}}\n",
    "echo of a terminal command": TILE + "claims: [{injective: '\\x1b[31m$(reboot)`reboot`'}]\n",
    "echo of a github command": "::add-mask::a: x\n",
    "echo of a github command in a value": TILE + "claims:\n- injective: >-\n    ::error file=a,line=1::x\n",
    "echo of an old github command": '"##[error]x": y\n',
    "echo of an azure command": "'##vso[task.setvariable variable=x]y': z\n",
    "echo of html": "<img src=x onerror=alert(1)>: x\n",
    "echo of markdown": "'[x](http://example.org)': y\n",
    "echo of markup": "'[red]x[/red]': y\n",
    "echo of a format": "'%s%n{0}{self}': y\n",
    "echo of a line of 200000 characters": "titl: " + "x" * 200_000 + "\n",
    "echo of a hundred long lines": "".join(f"k{i}: {'x' * 2000}\n" for i in range(120)),
    "echo of one long line a hundred times": "tiles: {"
    + ", ".join(f"t{i}: {{bits: 8, layot: '{'x' * 900}'}}" for i in range(200))
    + "}\n",
    "echo of a thousand known names": "constants: {"
    + ", ".join(f"{'c' * 90}{i}: 1" for i in range(250))
    + "}\ntiles: {"
    + ", ".join(f"t{i}: {{bits: 8, layout: '(zq,8)'}}" for i in range(200))
    + "}\n",
}


def spec_files() -> Iterator[tuple[str, str]]:
    """Every file of this module."""
    for name, text in INTEGERS.items():
        yield f"integer {name}", f"{HEAD}constants: {{BK: {text}}}\n"
    for name, text in EXPRESSIONS.items():
        address = text if text[:1] in "'[{~" or text in ("true", "1.5") else f">-\n      {text}"
        yield (
            f"expression, {name}",
            f"{HEAD}accesses:\n  r:\n    instruction: ld.shared.b32\n    threads: 1024\n    for: {{i: 256}}\n"
            f"    address: {address}\n",
        )
    for name, text in LAYOUTS.items():
        layout = text if text == "''" else f"'{text}'"
        yield (
            f"layout, {name}",
            f"{HEAD}constants: {{BK: 4294967295}}\ntiles:\n  A:\n    bits: 8\n    layout: {layout}\n",
        )
    for name, text in SPECS.items():
        yield name, HEAD + text
