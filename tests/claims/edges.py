"""Subjects at the edges of what claims meet, small enough to look at every point, and claims on
them.

Bases inside a swizzle's span, starts and stages inside an element, elements that are no whole
bytes, bases that two subjects share without being alike, partial warps, loops, assumptions and
stages that lanes choose.
"""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from ruamel.yaml import YAML

from swzverify.claims import Claim
from swzverify.spec.load import parse_spec
from tests.oracle.yaml_values import Spec, Yaml

SPEC = """\
swzverify: 1
target: sm_90
memories: {smem: {bytes: 4096, align: 64}, rom: {bytes: 4096, base: 256}}
tiles:
  torn: {element: f16, layout: "(4,16):(16,1)", swizzle: {bits: 2, base: 4, shift: 3, on: address}, base: {align: 16}}
  even: {element: f16, layout: "(4,16):(16,1)", swizzle: {bits: 2, base: 4, shift: 3, on: address}, base: {align: 512}}
  tail: {element: f16, layout: "(4,16):(16,1)", swizzle: {bits: 2, base: 4, shift: 3, on: address}, base: {align: 128}}
  flat: {element: f16, layout: "(4,16):(16,1)", base: {align: 32}}
  cute: {element: f16, layout: "(4,16):(16,1)", swizzle: "Swizzle<2,3,3>", base: {align: 256}}
  ring:
    element: f32
    layout: "(4,8):(8,1)"
    swizzle: {bits: 2, base: 4, shift: 3, on: address}
    base: {align: 64}
    stages: {count: 3, pitch: 144}
  reel: {element: f32, layout: "(4,8):(8,1)", base: {align: 128}, stages: {count: 3, pitch: 144}}
  crowd: {element: f32, layout: "(4,8):(8,1)", base: {align: 128}, stages: {count: 3, pitch: 120}}
  turn:
    element: f16
    layout: "(4,8):(8,1)"
    swizzle: {bits: 1, base: 4, shift: 2, on: address}
    base: {align: 32}
    stages: {count: 2, pitch: 64}
  stack: {element: f16, layout: "(4,8):(8,1)", base: {in: smem, offset: 32}, stages: 2}
  again: {element: f16, layout: "(4,8):(8,1)", base: {in: smem, offset: 92}, stages: {count: 2, pitch: 128}}
  even_bits: {element: u4, layout: "(4,8):(8,1)", base: {in: smem, offset: 224}}
  same_bits: {element: u4, layout: "(4,8):(8,1)", base: {in: smem, offset: 223}}
  beside: {element: f16, layout: "(4,8):(8,1)", base: {in: smem, offset: 160}}
  across: {element: f16, layout: "(4,8):(8,1)", base: {in: smem, offset: 97}}
  atop:
    element: f16
    layout: "(4,8):(8,1)"
    swizzle: {bits: 1, base: 4, shift: 2, on: address}
    base: {in: smem, offset: 16}
  under: {element: f16, layout: "(4,8):(8,1)", base: {in: smem, offset: 16}}
  pinned: {element: f16, layout: "(4,8):(8,1)", swizzle: {bits: 1, base: 4, shift: 2, on: address}, base: 112}
  inner: {element: f16, layout: "(4,8):(8,1)", base: {in: rom, offset: 32}}
  outer: {element: f16, layout: "(4,8):(8,1)", base: 288}
  after: {element: f16, layout: "(4,8):(8,1)", base: 352}
  halves: {element: u4, layout: "(4,6):(5,1)", base: {align: 16}}
  gaps: {element: u4, layout: "(4,8):(16,2)", base: {align: 16}}
  bytes: {element: u8, layout: "(4,8):(8,1)", base: {align: 32}}
  bent: {element: f16, layout: "(4,16):(16,1)", swizzle: "Swizzle<2,1,3>", base: {align: 256}}
  pin: {element: f16, layout: "1:1", base: {in: smem, offset: 94}, stages: {count: 2, pitch: 64}}
  fine: {element: f32, layout: "(4,8):(8,1)", swizzle: {bits: 1, base: 2, shift: 3, on: address}, base: {align: 32}}
  octets: {element: u8, layout: "(4,8):(8,1)", swizzle: {bits: 1, base: 3, shift: 1, on: address}, base: 16}
  late: {element: u8, layout: "(4,8):(8,1)", base: {in: smem, offset: 1}}
  packs: {element: u4, layout: "(4,16):(16,1)", base: {align: 32}}
  sixes: {bits: 6, layout: "(4,8):(8,1)", base: 5, stages: {count: 2, pitch: 23}}
  thirds: {bits: 24, layout: "(4,4):(4,1)", swizzle: {bits: 1, base: 4, shift: 1, on: address}, base: {align: 16}}
  split: {element: f32, layout: "(4,4):(4,1)", swizzle: {bits: 1, base: 1, shift: 3, on: address}, base: {align: 32}}
  slow: {element: f16, layout: "((2,2),(4,2)):((8,1),(16,2))", swizzle: "Swizzle<1,0,-2>", base: 64}
  short: {element: f16, layout: "(4,16):(16,1)", bytes: 100, base: {align: 64}}
  brief:
    element: f16
    layout: "(4,16):(16,1)"
    swizzle: {bits: 1, base: 4, shift: 1, on: address}
    bytes: 100
    base: {align: 64}
    stages: {count: 2, pitch: 128}
  twos: {bits: 2, layout: "(4,16):(16,1)", base: {align: 32}}
  folds: {element: u4, layout: "(4,16):(16,1)", swizzle: "Swizzle<1,0,1>", base: {align: 32}}
  lone: {element: f32, layout: "(4,8):(8,1)", base: {align: 128}}
  held: {element: f32, layout: "(4,8):(8,1)", base: {align: 128}, stages: {count: 3, pitch: 0}}
accesses:
  lines: {tile: torn, instruction: ld.shared.v4.b32, threads: 32, if: tid < 8, coord: [tid/2, tid%2*8]}
  calm: {tile: even, instruction: ld.shared.v4.b32, threads: 32, if: tid < 8, coord: [tid/2, tid%2*8]}
  likewise: {tile: tail, instruction: ld.shared.v4.b32, threads: 32, if: tid < 8, coord: [tid/2, tid%2*8]}
  shifted: {tile: tail, instruction: ld.shared.b16, threads: 40, coord: [tid/16, tid%16 + 1]}
  chosen: {tile: ring, instruction: ld.shared.b32, threads: 64, for: {i: 3}, stage: i, coord: [tid/16, tid%8]}
  staged: {tile: ring, instruction: ld.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  spooled: {tile: reel, instruction: ld.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  second: {tile: turn, instruction: ld.shared.b32, threads: 32, stage: tid/16, coord: [tid/4%4, tid%4*2]}
  cuted: {tile: cute, instruction: ld.shared.v4.b32, threads: 32, if: tid < 8, coord: [tid/2, tid%2*8]}
  picks:
    tile: cute
    instruction: ld.shared.b16
    threads: 32
    for: {i: {start: 1, stop: 6}}
    assume: ["i != 3", "i != 1", "i > 0"]
    coord: ["i == 2 ? 0 : i - 3 + (i == 3)", tid%16]
  spool: {tile: reel, instruction: ld.shared.b32, threads: 32, for: {i: 3}, stage: i, coord: [tid/8, tid%8]}
  pressed: {tile: crowd, instruction: ld.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  inside: {tile: beside, instruction: ld.shared.b32, threads: 32, if: lane % 2 == 0, coord: [tid/8, tid%8]}
  doubled: {tile: packs, instruction: ld.shared.b16, threads: 32, coord: [tid/8, tid%4*4]}
  crooked: {tile: packs, instruction: ld.shared.b8, threads: 64, coord: [tid/16, tid%16]}
  packed: {tile: packs, instruction: ld.shared.b8, threads: 32, coord: [tid/8, tid%8*2]}
  by_bytes: {tile: bytes, instruction: ld.shared.b8, threads: 32, coord: [tid/8, tid%8]}
  bare: {instruction: ld.shared.b32, threads: 40, address: tid*4, bytes: 160, base: {align: 16}}
  same: {instruction: ld.shared.b32, threads: 40, address: "(tid ^ 8) * 4", bytes: 160, base: {align: 64}}
  stepped:
    instruction: ld.shared.b64
    threads: 64
    for: {i: {start: 2, stop: 11, step: 3}, j: 2}
    assume: ["i != 5"]
    address: tid*8 + i*64 + j*4
    bytes: 1024
  strict:
    instruction: ld.shared.b64
    threads: 64
    for: {i: {start: 2, stop: 11, step: 3}, j: 2}
    assume: ["i != 5", "j == 0"]
    address: tid*8 + i*64 + j*4
    bytes: 1024
  wide: {instruction: ld.shared.v4.b32, threads: 32, address: "(lane ^ (lane >> 3)) * 48", bytes: 2048}
  banks: {instruction: ld.shared.b64, threads: 64, address: warp*8 + lane*136, bytes: 5000, base: 8}
  within: {instruction: ld.shared.b32, threads: 32, address: tid*4, bytes: 128, base: {in: smem, offset: 160}}
  behind: {instruction: ld.shared.b32, threads: 32, address: tid*4 + 4, bytes: 132, base: {in: smem, offset: 156}}
  before: {instruction: ld.shared.b32, threads: 32, address: tid*4, bytes: 132, base: {in: smem, offset: 156}}
  uneven: {instruction: ld.shared.b16, threads: 32, address: "lane*64 + (lane & 2)"}
  halved: {instruction: ld.shared.b16, threads: 64, address: "lane*32 + warp*6 + (lane & 4) / 2", base: {align: 32}}
  bends: {tile: bent, instruction: ld.shared.b16, threads: 32, for: {i: 2}, coord: [tid/16 + i*2, tid%16]}
  loose: {instruction: ld.shared.b8, threads: 32, address: tid, bytes: 32, base: {align: 1}}
  rim: {instruction: ld.shared.b32, threads: 32, address: "lane < 16 ? lane*128 : lane*4 + 60"}
  copies: {instruction: cp.async.16, threads: 32, address: "lane/4*16 + lane%4*512", bytes: 4096, base: {align: 16}}
  endless: {instruction: ld.shared.b32, threads: 32, for: {i: any}, address: tid*4 + i*128, bytes: 256}
  further: {instruction: ld.shared.b32, threads: 32, for: {i: any}, address: tid*4 + i*256, bytes: 256}
  blocky: {instruction: ld.shared.b32, block: [8, 4, 2], address: "tid_x*4 + tid_y*32 + tid_z*128", bytes: 256}
  matrix: {tile: flat, instruction: ldmatrix.x2, threads: 32, coord: [lane%4, lane/4%2*8]}
  clash: {instruction: ld.shared.b32, threads: 40, for: {i: 2}, address: lane*8 + warp*1024 + i*4, bytes: 2048}
  pile: {instruction: ld.shared.b64, threads: 64, address: "warp*4096 + (lane & 3)*8 + (lane >> 2)*256", base: 16}
  heap: {instruction: ld.shared.v4.b32, threads: 32, address: "(lane < 24 ? lane*16 : lane*128)"}
  counts: {instruction: atom.shared.add.u32, threads: 32, if: lane != 5, address: "lane/4*4"}
  never: {instruction: ld.shared.b32, threads: 32, if: tid > 40, address: tid*4, bytes: 128}
  torn_byte: {tile: twos, instruction: ld.shared.b8, threads: 32, coord: [tid/8, tid%8*2 + 1]}
  nudged: {tile: twos, instruction: ld.shared.b8, threads: 32, coord: [tid/8, tid%8*2 + 1 + (tid == 8)*2]}
  evens: {tile: twos, instruction: ld.shared.b8, threads: 32, coord: [tid/8, tid%8*2]}
  eighths: {tile: packs, instruction: ld.shared.b8, threads: 32, coord: [tid/16, tid%16]}
  single: {tile: lone, instruction: ld.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  holding: {tile: held, instruction: ld.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  newest: {tile: reel, instruction: ld.shared.b32, threads: 32, stage: 2, coord: [tid/8, tid%8]}
  linear: {instruction: ld.shared.b32, threads: 32, address: tid*4, base: {align: 128}}
  strewn: {instruction: ld.global.f32, threads: 40, address: "tid*5 % 32 * 4 + warp*96", base: {align: 8}}
  lined:
    instruction: st.global.v4.f32
    threads: 64
    for: {i: 2}
    if: lane != 3
    address: tid*16 + i*1024
    base: {align: 32}
  spread: {instruction: ld.global.b8, threads: 32, address: tid*3, bytes: 94}
maps:
  own: {over: {r: 4, c: 16}, value: ["base + r*32 + c*2"], base: {align: 32}}
  also: {over: {r: 4, c: 16}, value: ["base + (r*16 + c)*2"]}
  swapped: {over: {r: 4, c: 16}, value: ["base + ((r*16 + c) ^ 1)*2"]}
  folded: {over: {r: 4, c: 16}, value: ["(base + (r*16 + c)*2) ^ (((base + (r*16 + c)*2) >> 3) & 48)"]}
  plain: {over: {r: 4, c: 8}, value: ["288 + r*16 + c*2"]}
  nibble: {over: {r: 4, c: 8}, value: ["base + r*8 + c"]}
  whole: {over: {r: 4, c: 16}, value: ["base + r*8 + c/2"]}
  pair: {over: {x: 6, y: 4}, value: ["x % 3 * 2 + y % 2", "x / 3 + y / 2 * 2"], onto: [6, 4]}
  other: {over: {x: 6, y: 4}, value: ["x % 3 * 2 + y % 2", "x / 3 + y / 2 * 2 + (x == 5 && y == 3)"], onto: [6, 4]}
  based: {over: {x: 8}, value: ["x ^ (base / 8 % 8)"], onto: [8], base: {align: 8}}
  placed: {over: {x: 8}, value: ["(x + base) % 8", "0"], onto: [8, 1], base: 3}
  lost: {over: {x: 8}, value: ["(x + base) % 8 - base / 8 % 2"], onto: [8], base: {align: 8}}
  cube: {over: {x: 24}, value: ["x % 2", "x / 2 % 3", "x / 6"], onto: [2, 3, 4]}
  dented: {over: {x: 24}, value: ["x % 2", "x / 2 % 3", "x / 6 - (x == 23)"], onto: [2, 3, 4]}
  raised: {over: {x: 8}, value: ["x + base - 3 + x / 7"], onto: [8], base: 3}
  signs: {over: {x: 4, y: 4}, value: ["x - 2", "y - 1"], onto: [4, 4]}
  level: {over: {x: 4}, value: ["base + x"]}
  paired: {over: {x: 4}, value: ["base / 2 * 2 + x"]}
  merged: {over: {x: 4, y: 4}, value: ["x", "x + y - y % 2"], onto: [4, 4]}
  below: {over: {x: 6}, value: ["x - 2", "x / 6"], onto: [6, 1]}
claims: []
"""
REFUTED = [
    "injective: thirds",
    "injective: halves",
    "injective: split",
    "bijective: torn",
    "bijective: short",
    "contiguous: {tile: thirds, elements: 2}",
    "contiguous: {tile: ring, elements: 2, mode: 0}",
    "contiguous: {tile: torn, elements: 16}",
    "contiguous: {tile: halves, elements: 2}",
    "contiguous: {tile: slow, elements: 2}",
    "contiguous: {tile: tail, elements: 16}",
    "contiguous: {tile: packs, elements: 3}",
    "aligned: stepped",
    "aligned: crooked",
    "in_bounds: endless",
    "in_bounds: crooked",
    "in_bounds: short",
    "in_bounds: lines",
    "in_bounds: stepped",
    "in_bounds: shifted",
    "in_bounds: torn",
    "in_bounds: brief",
    "conflict_free: clash",
    "conflict_free: heap",
    "conflict_free: pile",
    "conflict_free: counts",
    "conflict_free: stepped",
    "conflict_free: uneven",
    "conflict_free: rim",
    "conflict_free: halved",
    "wavefronts: {access: wide, at_most: 3}",
    "wavefronts: {access: counts, at_most: 3}",
    "wavefronts: {access: copies, at_most: 1}",
    "wavefronts: {access: pile, at_most: 3}",
    "wavefronts: {access: copies, at_most: 31}",
    "wavefronts: {access: heap, at_most: 10}",
    "coalesced: strewn",
    "coalesced: spread",
    "coalesced: {access: strewn, at_most: 4}",
    "covers: {access: lines, tile: torn, times: 2}",
    "covers: {access: crooked, tile: packs}",
    "covers: {access: inside, tile: across}",
    "covers: {access: chosen, tile: ring}",
    "covers: {access: within, tile: atop}",
    "covers: {access: banks, tile: pinned}",
    "covers: {access: within, tile: beside, times: 2}",
    "covers: {access: packed, tile: packs, times: 2}",
    "covers: {access: picks, tile: cute}",
    "covers: {access: picks, tile: cute, times: 2}",
    "disjoint: crowd",
    "disjoint: [inner, outer]",
    "disjoint: [beside, across]",
    "disjoint: [torn, even]",
    "disjoint: [across, stack]",
    "disjoint: sixes",
    "disjoint: [sixes, halves]",
    "disjoint: [pinned, stack]",
    "disjoint: [stack, again]",
    "disjoint: [again, stack]",
    "disjoint: [atop, under]",
    "disjoint: [under, atop]",
    "disjoint: [same_bits, beside]",
    "disjoint: [beside, same_bits]",
    "disjoint: [cute, halves]",
    "disjoint: [bent, halves]",
    "disjoint: [stack, pin]",
    "disjoint: [pin, stack]",
    "equivalent: [atop, under]",
    "equivalent: [endless, further]",
    "equivalent: [folded, flat]",
    "equivalent: [stepped, strict]",
    "equivalent: [pinned, outer]",
    "equivalent: [staged, spooled]",
    "equivalent: [also, swapped]",
    "equivalent: [ring, reel]",
    "equivalent: [tail, cute]",
    "equivalent: [pair, other]",
    "equivalent: [nibble, packs]",
    "equivalent: [flat, swapped]",
    "equivalent: [bare, same]",
    "equivalent: [tail, flat]",
    "equivalent: [beside, across]",
    "equivalent: [level, paired]",
    "equivalent: [spooled, staged]",
    "equivalent: [likewise, cuted]",
    "equivalent: [cuted, likewise]",
    "equivalent: [within, before]",
    "equivalent: [before, within]",
    "equivalent: [further, endless]",
    "equivalent: [flat, folded]",
    "equivalent: [swapped, flat]",
    "equivalent: [strict, stepped]",
    "equivalent: [torn_byte, nudged]",
    "equivalent: [nudged, torn_byte]",
    "equivalent: [torn_byte, evens]",
    "equivalent: [torn_byte, eighths]",
    "equivalent: [eighths, by_bytes]",
    "equivalent: [spooled, single]",
    "equivalent: [single, spooled]",
    "equivalent: [newest, spooled]",
    "equivalent: [spooled, linear]",
    "equivalent: [packs, folds]",
    "equivalent: [packs, whole]",
    "equivalent: [whole, folds]",
    "permutation: other",
    "permutation: lost",
    "permutation: merged",
    "permutation: below",
    "permutation: dented",
    "permutation: raised",
    "permutation: signs",
]
PROVED = [
    "injective: torn",
    "injective: octets",
    "injective: fine",
    "injective: bytes",
    "injective: sixes",
    "injective: gaps",
    "injective: ring",
    "injective: slow",
    "injective: pinned",
    "injective: atop",
    "bijective: even",
    "bijective: packs",
    "bijective: cute",
    "bijective: sixes",
    "contiguous: {tile: packs, elements: 16}",
    "contiguous: {tile: ring, elements: 4}",
    "contiguous: {tile: pinned, elements: 8, mode: 1}",
    "contiguous: {tile: torn, elements: 8}",
    "contiguous: {tile: cute, elements: 8}",
    "contiguous: {tile: torn, elements: 1}",
    "contiguous: {tile: packs, elements: 1, mode: 0}",
    "aligned: lines",
    "aligned: staged",
    "aligned: packed",
    "aligned: strict",
    "aligned: uneven",
    "in_bounds: blocky",
    "in_bounds: sixes",
    "in_bounds: tail",
    "in_bounds: inside",
    "in_bounds: stack",
    "in_bounds: halves",
    "in_bounds: bare",
    "in_bounds: calm",
    "in_bounds: beside",
    "in_bounds: turn",
    "in_bounds: even",
    "in_bounds: packed",
    "in_bounds: strict",
    "in_bounds: within",
    "in_bounds: second",
    "in_bounds: loose",
    "in_bounds: picks",
    "conflict_free: wide",
    "conflict_free: strict",
    "conflict_free: blocky",
    "conflict_free: calm",
    "conflict_free: doubled",
    "conflict_free: banks",
    "conflict_free: bare",
    "wavefronts: {access: heap, at_most: 16}",
    "wavefronts: {access: copies, at_most: 32}",
    "wavefronts: {access: banks, at_most: 3}",
    "wavefronts: {access: wide, at_most: 8}",
    "coalesced: lined",
    "coalesced: {access: strewn, at_most: 5}",
    "coalesced: {access: spread, at_most: 4}",
    "coalesced: {access: strewn, at_most: 32}",
    "covers: {access: by_bytes, tile: packs}",
    "covers: {access: packed, tile: bytes}",
    "covers: {access: doubled, tile: packs, times: 2}",
    "covers: {access: packed, tile: packs}",
    "covers: {access: spool, tile: reel}",
    "covers: {access: within, tile: beside}",
    "covers: {access: staged, tile: ring}",
    "covers: {access: lines, tile: torn}",
    "covers: {access: inside, tile: beside}",
    "covers: {access: bare, tile: flat}",
    "covers: {access: second, tile: turn}",
    "covers: {access: cuted, tile: cute}",
    "covers: {access: lines, tile: even}",
    "covers: {access: calm, tile: torn}",
    "covers: {access: bends, tile: bent}",
    "covers: {access: likewise, tile: flat}",
    "disjoint: [outer, after]",
    "disjoint: [stack, beside]",
    "disjoint: [inner, after]",
    "disjoint: reel",
    "disjoint: ring",
    "disjoint: [atop, beside]",
    "disjoint: [beside, atop]",
    "disjoint: [even_bits, beside]",
    "disjoint: [beside, even_bits]",
    "equivalent: [calm, calm]",
    "equivalent: [bytes, nibble]",
    "equivalent: [flat, also]",
    "equivalent: [inner, outer]",
    "equivalent: [own, flat]",
    "equivalent: [torn, even]",
    "equivalent: [strict, strict]",
    "equivalent: [bytes, gaps]",
    "equivalent: [even, cute]",
    "equivalent: [folded, torn]",
    "equivalent: [by_bytes, packed]",
    "equivalent: [outer, plain]",
    "equivalent: [calm, lines]",
    "equivalent: [pair, pair]",
    "equivalent: [also, flat]",
    "equivalent: [flat, own]",
    "equivalent: [nibble, gaps]",
    "equivalent: [gaps, nibble]",
    "equivalent: [cuted, calm]",
    "equivalent: [within, behind]",
    "equivalent: [plain, outer]",
    "equivalent: [picks, picks]",
    "equivalent: [torn_byte, torn_byte]",
    "equivalent: [evens, eighths]",
    "equivalent: [eighths, evens]",
    "equivalent: [holding, single]",
    "equivalent: [single, holding]",
    "equivalent: [linear, holding]",
    "permutation: placed",
    "permutation: pair",
    "permutation: based",
    "permutation: cube",
]
OTHERS = [  # vacuous
    "contiguous: {tile: turn, elements: 16}",
    "aligned: never",
    "disjoint: flat",
    "equivalent: [never, never]",
    "in_bounds: never",
]


@cache
def claims() -> dict[str, Claim]:
    """The claim of every line."""
    lines = "".join(f"  - {{{text}}}\n" for text in (*REFUTED, *PROVED, *OTHERS))
    found = parse_spec(SPEC.replace("claims: []\n", f"claims:\n{lines}"), path="edges.yaml").claims
    return {text: claim.claim for text, claim in zip((*REFUTED, *PROVED, *OTHERS), found, strict=True)}


@cache
def _sections() -> dict[str, Yaml]:
    return cast("dict[str, Yaml]", YAML(typ="safe", pure=True).load(SPEC))


def alone(text: str) -> Spec:
    """A claim with the subjects that it names, as plain values for the oracle."""
    claim = cast("Yaml", YAML(typ="safe", pure=True).load(f"{{{text}}}"))
    found: Spec = {**_sections(), "claims": [claim]}
    words = set(re.findall(r"\w+", text))
    accesses = cast("dict[str, dict[str, Yaml]]", _sections()["accesses"])
    words |= {str(accesses[word]["tile"]) for word in words & set(accesses) if "tile" in accesses[word]}
    for part in ("tiles", "accesses", "maps"):
        found[part] = {
            name: value for name, value in cast("dict[str, Yaml]", _sections()[part]).items() if name in words
        }
    return found
