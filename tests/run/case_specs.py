"""A spec with a mistake for each kind of claim, and the same spec mended."""

BROKEN = """\
swzverify: 1
target: sm_90
tiles:
  overlap: {element: f16, layout: "(8,8):(4,1)"}
  short: {element: f16, layout: "(8,64):(64,1)", bytes: 1000}
  loose: {element: f16, layout: "(8,64):(72,1)", bytes: 1152}
  torn: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,2,3>"}
  ring: {element: f16, layout: "(8,64):(64,1)", stages: {count: 3, pitch: 1008}}
  naive: {element: f32, layout: "(32,32):(32,1)"}
  turned: {element: f32, layout: "(32,32):(1,32)"}
  likewise: {element: f32, layout: "(32,32):(1,32)", base: {align: 1024}}
accesses:
  column: {tile: naive, instruction: ld.shared.b32, threads: 32, for: {i: 32}, coord: [lane, i]}
  past: {tile: naive, instruction: ld.shared.b32, threads: 32, coord: [lane, lane + 1]}
  odd: {instruction: ld.shared.v2.b32, threads: 32, for: {i: {start: 2, stop: 6, step: 2}}, address: tid*8 + i*2}
  even: {instruction: ld.shared.v2.b32, threads: 32, for: {i: {start: 2, stop: 6, step: 2}}, address: tid*8 + i*4}
  half: {tile: naive, instruction: ld.shared.b32, threads: 64, for: {i: 8}, coord: [i*2 + tid/32, lane]}
maps:
  twice: {over: {x: 16}, value: [x/2*2], onto: [16]}
  beyond: {over: {x: 16}, value: [x + 1], onto: [16]}
  few: {over: {x: 15}, value: [x], onto: [16]}
  offsets: {over: {r: 32, c: 32}, value: ["base + 4*(r*32 + (c ^ 1))"]}
  same: {over: {x: 16}, value: [x ^ 1]}
  also: {over: {x: 16}, value: [x + 1]}
claims:
  - injective: overlap
  - bijective: short
  - bijective: loose
  - bijective: overlap
  - in_bounds: short
  - contiguous: {tile: torn, elements: 8}
  - disjoint: ring
  - disjoint: [naive, turned]
  - conflict_free: column
  - wavefronts: {access: column, at_most: 1}
  - in_bounds: past
  - aligned: odd
  - conflict_free: odd
  - covers: {access: half, tile: naive}
  - equivalent: [naive, likewise]
  - equivalent: [naive, offsets]
  - equivalent: [odd, even]
  - equivalent: [same, also]
  - permutation: twice
  - permutation: beyond
  - permutation: few
"""
_MENDED = {
    '"(8,8):(4,1)"': '"(8,8):(8,1)"',
    "bytes: 1000": "bytes: 1024",
    '"(8,64):(72,1)", bytes: 1152': '"(8,72):(72,1)", bytes: 1152',
    "Swizzle<3,2,3>": "Swizzle<3,3,3>",
    "pitch: 1008": "pitch: 1024",
    'naive: {element: f32, layout: "(32,32):(32,1)"': 'naive: {element: f32, layout: "(32,32):(33,1)", base: 0',
    'turned: {element: f32, layout: "(32,32):(1,32)"': 'turned: {element: f32, layout: "(32,32):(33,1)", base: 8192',
    "lane + 1": "lane",
    "i*2}": "i*4}",
    "{i: 8}": "{i: 16}",
    "[x/2*2]": "[x ^ 2]",
    "value: [x + 1], onto": "value: [x ^ 1], onto",
    "{x: 15}": "{x: 16}",
    "r*32 + (c ^ 1)": "r*33 + c",
    "value: [x + 1]}": "value: [x ^ 1]}",
    'likewise: {element: f32, layout: "(32,32):(1,32)", base: {align: 1024}}': (
        'likewise: {element: f32, layout: "(32,32):(33,1)", base: 0}'
    ),
}


def mended() -> str:
    """The spec without its mistakes; the claims stay."""
    text = BROKEN
    for old, new in _MENDED.items():
        assert old in text, old
        text = text.replace(old, new)
    return text
