"""Spec texts that several tests use."""

FULL = """\
swzverify: 1
title: everything that a spec can say
source: the project's own grammar
target: sm_90
constants: {BM: 64, BK: [32, 64]}      # a list: every combination is a case of its own
memories: {smem: {bytes: 98304, align: 1024}}

tiles:
  A:
    element: f16                       # or bits: 16
    layout: (BM,BK):(BK,1)
    swizzle: Swizzle<3,3,3>
    base: {align: 1024}
    stages: 2
  B:
    bits: 16
    layout: {shape: [64, 64], order: row, pad: 8}
    base: {in: smem, offset: 16384}
  C:
    element: bf16
    tma: {swizzle: 128B, box: [64, 64]}
  D:
    element: f32
    layout: ((8,4),64):((64,512),1)
    base: 4096
    stages: {count: 2, pitch: 8192}

accesses:
  write_A:
    tile: A
    instruction: st.shared.v4.b32
    threads: 128
    for: {i: 4}
    coord: [i*16 + tid/8, tid%8*(BK/8)]
    if: tid < 128
    assume: [i < 4]
  read_A:
    tile: A
    instruction: ldmatrix.x4
    block: [32, 4]
    for: {k: {start: 0, stop: BK, step: 16}}
    coord:
      - warp*16 + lane%16
      - k + lane/16*8
    stage: 1
  scratch:
    instruction: ld.shared.v4.b32
    threads: 64
    address: ((tid >> 1) & 7) << 4
    bytes: 128
maps:
  grouped:
    over: {bid: 128}
    value: [bid%8 + bid/64*8, bid/8%8]
    onto: [16, 8]

claims:
  - injective: A
  - contiguous: {tile: A, elements: 8}
  - conflict_free: read_A
    expect: refuted
    because: a reason
      on two lines
    source: "a quoted: text"
  - wavefronts: {access: write_A, at_most: 4}
  - covers:
      access: write_A
      times: 1
  - in_bounds: {tile: B}
  - in_bounds: scratch
  - disjoint: [B, C]
  - disjoint: A
  - permutation: grouped
"""

PROSE = """\
# a comment first

swzverify: 1
title: >
  a folded text
  on two lines
source: |-
  a literal text
    with an indented line
tiles:
  'quoted key': {
    a: [1, 2,   # a comment inside
        3],
    b: "x # y"
  }
  list:
  - one
  - - two
    - three
  - k: v
    w: 'it''s'
  -
    - below
  url: http://example.org/#part
  sum: a - b#c d
empty:
"""
