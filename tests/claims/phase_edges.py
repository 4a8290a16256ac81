"""Small phases at the edges of what orders two accesses, each with the mistake that it is there for."""

from __future__ import annotations

from functools import cache

from swzverify.spec.build import BuiltSpec
from swzverify.spec.load import parse_spec

HEAD = """\
swzverify: 1
target: sm_90
memories: {smem: {bytes: 8192, base: 0}}
tiles:
  one: {element: f32, layout: "(2,32):(32,1)", base: {in: smem}}
  two: {element: f32, layout: "(2,32):(32,1)", base: {in: smem, offset: 256}, stages: 2}
  ring: {element: f32, layout: "(2,32):(32,1)", base: {in: smem, offset: 1024}, stages: 3}
  row: {element: f32, layout: "32:1", base: {in: smem, offset: 2048}}
  mat: {element: f16, layout: "(16,8):(8,1)", base: {in: smem, offset: 3072}}
accesses:
  put: {tile: one, instruction: st.shared.b32, threads: 64, coord: [warp, lane]}
  get: {tile: one, instruction: ld.shared.b32, threads: 64, coord: [warp, lane]}
  get_other_lane: {tile: one, instruction: ld.shared.b32, threads: 64, coord: [warp, lane^1]}
  get_other_warp: {tile: one, instruction: ld.shared.b32, threads: 64, coord: [1-warp, lane]}
  put_first: {tile: one, instruction: st.shared.b32, threads: 64, coord: [warp, lane], if: tid < 32}
  get_second: {tile: one, instruction: ld.shared.b32, threads: 64, coord: [1, lane], if: tid < 32}
  put2: {tile: two, instruction: st.shared.b32, threads: 64, for: {i: any}, coord: [warp, lane], stage: i%2}
  put2_next: {tile: two, instruction: st.shared.b32, threads: 64, for: {i: any}, coord: [warp, lane], stage: (i+1)%2}
  get2: {tile: two, instruction: ld.shared.b32, threads: 64, for: {i: any}, coord: [1-warp, lane], stage: i%2}
  put3: {tile: ring, instruction: st.shared.b32, threads: 64, for: {k: any}, coord: [warp, lane], stage: k%3}
  get3: {tile: ring, instruction: ld.shared.b32, threads: 64, for: {i: any}, coord: [1-warp, lane], stage: i%3}
  copy: {tile: one, instruction: cp.async.ca.4, threads: 64, coord: [warp, lane]}
  copy2: {tile: two, instruction: cp.async.ca.4, threads: 64, for: {k: any}, coord: [warp, lane], stage: k%2}
  copy3: {tile: ring, instruction: cp.async.ca.4, threads: 64, for: {k: any}, coord: [warp, lane], stage: k%3}
  twice: {tile: one, instruction: cp.async.ca.4, threads: 64, for: {j: 2}, coord: [warp, lane]}
  all_one: {tile: row, instruction: st.shared.b32, threads: 64, coord: [lane]}
  add: {tile: row, instruction: atom.shared.add.u32, threads: 64, coord: [lane]}
  peek: {tile: row, instruction: ld.shared.b32, threads: 64, coord: [lane]}
  put_mat: {tile: mat, instruction: st.shared.v4.b32, threads: 64, coord: [lane%16, 0], if: warp == 0 && lane < 16}
  get_mat: {tile: mat, instruction: ldmatrix.x2, threads: 64, coord: [lane%16, 0]}
  sum: {tile: row, instruction: st.shared.b32, threads: 64, for: {i: 4}, coord: [tid], if: tid < (16 >> i)}
  far: {tile: row, instruction: ld.shared.b32, threads: 64, for: {i: 4}, coord: [tid + (16 >> i)], if: tid < (16 >> i)}
  near: {tile: row, instruction: ld.shared.b32, threads: 64, for: {i: 4}, coord: [tid], if: tid < (16 >> i)}
  walk: {instruction: st.shared.b32, threads: 64, for: {i: 8}, address: tid*4 + i*256, base: {in: smem, offset: 4096}}
phases:
"""

PHASES: dict[str, tuple[str, bool]] = {
    # name: (the phase, whether it is free of races)
    "own_data": ("for: {i: any}, steps: [put, get]", True),
    "one_barrier": ("for: {i: any}, steps: [put, barrier, get_other_warp]", False),
    "two_barriers": ("for: {i: any}, steps: [put, barrier, get_other_warp, barrier]", True),
    "once": ("steps: [put, barrier, get_other_warp]", True),
    "once_of_a_loop": ("for: {i: 1}, steps: [put, barrier, get_other_warp]", True),
    "twice_of_a_loop": ("for: {i: 2}, steps: [put, barrier, get_other_warp]", False),
    "lanes": ("for: {i: any}, steps: [put, get_other_lane]", False),
    "lanes_synced": ("for: {i: any}, steps: [put, syncwarp, get_other_lane, syncwarp]", True),
    "lanes_synced_once": ("for: {i: any}, steps: [put, syncwarp, get_other_lane]", False),
    "warps_synced": ("for: {i: any}, steps: [put, syncwarp, get_other_warp, syncwarp]", False),
    "guarded": ("for: {i: any}, steps: [put_first, get_second]", True),
    "double": ("for: {i: any}, steps: [put2, barrier, get2]", True),
    "double_early": ("for: {i: any}, steps: [get2, put2_next, barrier]", True),
    "double_none": ("for: {i: any}, steps: [get2, put2_next]", False),
    "double_late": ("for: {i: any}, steps: [put2_next, barrier, get2]", False),
    "ring_write": ("for: {i: any}, steps: [{access: put3, at: {k: i + 1}}, barrier, get3]", True),
    "ring_write_far": ("for: {i: any}, steps: [{access: put3, at: {k: i + 2}}, barrier, get3]", False),
    "ring_far_early": ("for: {i: any}, steps: [get3, {access: put3, at: {k: i + 2}}, barrier]", True),
    "ring_same": ("for: {i: any}, steps: [get3, {access: put3, at: {k: i + 3}}, barrier]", False),
    "copies": (
        "for: {i: any}, before: [{access: copy3, at: {k: 0}}, commit, {access: copy3, at: {k: 1}}, commit],"
        " steps: [{wait_group: 1}, barrier, get3, {access: copy3, at: {k: i + 2}}, commit]",
        True,
    ),
    "copies_off_by_one": (
        "for: {i: any}, before: [{access: copy3, at: {k: 0}}, commit, {access: copy3, at: {k: 1}}, commit],"
        " steps: [{wait_group: 2}, barrier, get3, {access: copy3, at: {k: i + 2}}, commit]",
        False,
    ),
    "copies_without_commit": (
        "for: {i: any}, steps: [{access: copy3, at: {k: i + 2}}, {wait_group: 0}, barrier, get3, barrier]",
        False,
    ),
    "copies_wait_all": (
        "for: {i: any}, steps: [{access: copy3, at: {k: i + 2}}, wait_all, barrier, get3, barrier]",
        True,
    ),
    "barrier_before_wait": (
        "for: {i: any}, steps: [copy, commit, barrier, {wait_group: 0}, get_other_warp, barrier]",
        False,
    ),
    "own_copy": ("for: {i: any}, steps: [copy, commit, get, {wait_group: 0}]", False),
    "own_copy_waited": ("for: {i: any}, steps: [copy, commit, {wait_group: 0}, get]", True),
    "copy_twice": ("steps: [twice, commit, {wait_group: 0}, barrier]", False),
    "copy_again": ("for: {i: any}, steps: [copy, commit]", False),
    "copy_never": ("for: {i: any}, steps: [copy, barrier]", False),
    "all_write_one": ("steps: [all_one]", False),
    "atomics": ("for: {i: any}, steps: [add]", True),
    "atomic_and_plain": ("for: {i: any}, steps: [add, peek]", False),
    "atomic_ordered": ("for: {i: any}, steps: [add, barrier, peek, barrier]", True),
    "matrix": ("for: {i: any}, steps: [put_mat, syncwarp, get_mat, barrier]", False),
    "matrix_ordered": ("for: {i: any}, steps: [put_mat, barrier, get_mat, barrier]", True),
    "reduction": ("for: {i: 4}, steps: [far, near, sum, barrier]", True),
    "reduction_without": ("for: {i: 4}, steps: [far, near, sum]", False),
    "after_ordered": ("for: {i: any}, steps: [get2, put2_next, barrier], after: [get2]", True),
    "after_races": ("for: {i: any}, steps: [put2, barrier, get2], after: [put2]", True),
    "after_overwrites": ("for: {i: any}, steps: [put2_next, barrier], after: [put2, get_other_warp]", True),
    "after_the_read": (
        "for: {i: any}, steps: [put, barrier, get_other_warp, barrier], after: [put, get_other_warp]",
        False,
    ),
    "after_of_four": ("for: {i: 4}, steps: [get2, put2_next, barrier, get2], after: [put2]", False),
    "before_races": ("for: {i: any}, before: [put], steps: [get_other_warp, barrier]", False),
    "before_ordered": ("for: {i: any}, before: [put, barrier], steps: [get_other_warp, barrier]", True),
    "before_unwaited": ("for: {i: any}, before: [copy, commit, barrier], steps: [get_other_warp, barrier]", False),
    "before_and_after": ("for: {i: any}, before: [put], steps: [barrier], after: [get_other_warp]", False),
    "before_and_after_of_two": ("for: {i: 2}, before: [put], steps: [barrier], after: [get_other_warp]", True),
    "walk": ("for: {i: 8}, steps: [walk]", True),
    "late_wait": (
        "for: {i: any}, steps: [{access: copy2, at: {k: i}}, commit, barrier], after: [{wait_group: 0}, barrier, get2]",
        False,
    ),
}  # fmt: skip

READS: dict[str, tuple[str, str, bool]] = {
    # name of a phase: (read, write, whether it reads what was written)
    "two_barriers": ("get_other_warp", "put", True),
    "once": ("get_other_warp", "put", True),
    "one_barrier": ("get_other_warp", "put", False),
    "double": ("get2", "put2", True),
    "double_early": ("get2", "put2_next", True),
    "double_none": ("get2", "put2_next", False),
    "ring_write": ("get3", "put3", True),
    "ring_far_early": ("get3", "put3", True),
    "copies": ("get3", "copy3", True),
    "copies_off_by_one": ("get3", "copy3", False),
    "copies_wait_all": ("get3", "copy3", True),
    "own_copy_waited": ("get", "copy", True),
    "before_ordered": ("get_other_warp", "put", True),
    "matrix_ordered": ("get_mat", "put_mat", True),
    "guarded": ("get_second", "put_first", False),
}


@cache
def edge_spec() -> BuiltSpec:
    """The spec of every edge, each with its claims."""
    phases = "".join(f"  {name}: {{{text}}}\n" for name, (text, _) in PHASES.items())
    claims = "".join(f"  - race_free: {name}\n" for name in PHASES)
    claims += "".join(
        f"  - reads_what_was_written: {{phase: {name}, read: {read}, write: {write}}}\n"
        for name, (read, write, _) in READS.items()
    )
    return parse_spec(HEAD + phases + "claims:\n" + claims)
