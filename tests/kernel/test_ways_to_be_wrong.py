"""Each way in which reading a kernel is known to go wrong, by a small text that shows it."""

from __future__ import annotations

from swzverify.compiled.kernel import KernelAccess, accesses
from swzverify.compiled.kernel.listing import Touch
from swzverify.compiled.ptx import read_module
from swzverify.ir import expr
from swzverify.ir.evaluate import evaluate
from tests.kernel.texts import TOP, found_in, kind, last, own


def at(access: KernelAccess, **values: int) -> int:
    """The address with the base at 0 and all other leaves as given, by the begin of their names."""
    assert access.address is not None
    return evaluate(access.address, _point(access.address, values))


def active(access: KernelAccess, **values: int) -> bool:
    return bool(evaluate(access.who.guard, _point(access.who.guard, values)))


def _point(value: expr.Expr, values: dict[str, int]) -> dict[str, int]:
    point: dict[str, int] = {}
    for node in expr.variables(value):
        key = next((each for each in values if node.name.replace(".", "_").startswith(each)), None)
        if key is None and not node.name.startswith("shared"):
            raise AssertionError(f"no value for {node.name}")
        point[node.name] = 0 if key is None else values[key]
    return point


STORE = "shl.b32 %r50, {0}, 2; add.u32 %r50, %r50, %r3; st.shared.u32 [%r50], %r9;"


def test_a_value_that_is_shared_in_a_trip_is_not_after_a_loop_that_lanes_leave_apart() -> None:
    loop = "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {0}; @%p1 bra L; " + STORE.format("%r4")
    assert own(last("add.u32 %r5, %r1, %r2;" + loop.format("%r5"))) == ["trips"]
    assert own(last(loop.format("%r2"))) == []


def test_a_load_in_a_loop_that_lanes_leave_apart_is_not_shared_after_it() -> None:
    body = "mov.u32 %r4, 0; L: ld.shared.u32 %r5, [s]; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {0}; @%p1 bra L; "
    body += STORE.format("%r5")
    assert own(last("add.u32 %r6, %r1, %r2;" + body.format("%r6"))) == ["opaque", "trips"]
    assert own(last(body.format("%r2"))) == []


def test_a_load_inside_such_a_loop_is_not_shared_either() -> None:
    body = "mov.u32 %r4, 0; L: ld.shared.u32 %r5, [s]; " + STORE.format("%r5")
    body += " add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;"
    assert own(last(body)) == ["opaque"]


def test_a_load_at_an_address_that_loops_move_is_another_one_in_each_trip() -> None:
    body = "mov.u32 %r4, %r3; mov.u32 %r5, 0; L: " + STORE.format("%r5") + " ld.shared.u32 %r5, [%r4];"
    body += " add.u32 %r4, %r4, 4; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L;"
    kinds = [kind(leaf) for leaf in found_in(body)[0].leaves]
    assert "carried" in kinds
    assert "opaque" not in kinds


def test_the_load_of_a_trip_and_of_the_one_before_are_two_values() -> None:
    body = (
        "mov.u32 %r5, 0; mov.u32 %r4, 0; L: mov.u32 %r6, %r5; ld.volatile.shared.u32 %r5, [s]; sub.u32 %r7, %r5, %r6;"
    )
    body += STORE.format("%r7") + " add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L;"
    assert len([leaf for leaf in last(body).leaves if kind(leaf) in ("opaque", "carried")]) == 2


def test_the_largest_block_is_not_its_shape() -> None:
    text = TOP + ".shared .b32 s[64]; .entry k() .maxntid 256, 1, 1 { .reg .b32 %r<9>; mov.u32 %r1, %tid.y;"
    text += " mov.u32 %r2, s; add.u32 %r2, %r2, %r1; st.shared.u8 [%r2], %r1; ret; }"
    module = read_module(text, "k.ptx")
    (found,) = accesses(module, module.functions[0])
    assert [leaf.variable.limit for leaf in found.leaves if leaf.name == "tid.y"] == [1024]


def test_the_required_block_is_its_shape() -> None:
    text = TOP + ".shared .b32 s[64]; .entry k() .reqntid 8, 4, 1 { .reg .b32 %r<9>; mov.u32 %r1, %tid.y;"
    text += " mov.u32 %r2, s; add.u32 %r2, %r2, %r1; st.shared.u8 [%r2], %r1; ret; }"
    module = read_module(text, "k.ptx")
    (found,) = accesses(module, module.functions[0])
    assert [leaf.variable.limit for leaf in found.leaves if leaf.name == "tid.y"] == [4]


def test_a_break_that_some_lanes_take_parts_them() -> None:
    body = "mov.u32 %r4, 0; L: setp.eq.u32 %p2, %r1, 5; @%p2 bra E; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2;"
    body += " @%p1 bra L; E: " + STORE.format("%r4")
    assert "trips" in own(last(body))


def test_a_shared_break_that_only_some_lanes_come_to_parts_them() -> None:
    body = "mov.u32 %r4, 0; L: setp.eq.u32 %p2, %r1, 5; @%p2 bra S; setp.eq.u32 %p3, %r4, 2; @%p3 bra E;"
    body += " S: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L; E: " + STORE.format("%r4")
    assert "trips" in own(last(body))


def test_lanes_that_go_on_early_are_not_in_one_trip_with_the_others() -> None:
    body = (
        "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; and.b32 %r5, %r4, 1; xor.b32 %r5, %r5, %r1; setp.eq.u32 %p2, %r5, 0;"
    )
    body += " @%p2 bra L; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L; " + STORE.format("%r4")
    assert "trips" in own(last(body))


def test_registers_that_change_places_in_a_loop_are_not_stepped() -> None:
    body = "mov.u32 %r4, 0; mov.u32 %r5, 64; mov.u32 %r7, 0; L: " + STORE.format("%r4")
    body += " mov.u32 %r6, %r4; mov.u32 %r4, %r5; mov.u32 %r5, %r6; add.u32 %r7, %r7, 1;"
    body += " setp.lt.u32 %p1, %r7, %r2; @%p1 bra L;"
    found = last(body)
    assert [kind(leaf) for leaf in found.leaves if leaf.name.startswith("%r")] == ["carried"]
    assert own(found) == []


def test_a_sum_of_32_bits_wraps_before_it_becomes_an_address_of_64() -> None:
    body = "add.u32 %r4, %r1, 0xFFFFFFFF; mul.wide.u32 %d1, %r4, 4; cvt.u64.u32 %d2, %r3; add.u64 %d1, %d1, %d2;"
    body += " cvta.shared.u64 %d3, %d1; shr.u64 %d4, %d1, 34; cvt.u32.u64 %r5, %d4; " + STORE.format("%r5")
    assert at(last(body), tid_x=0) == 0
    wide = body.replace("add.u32 %r4, %r1, 0xFFFFFFFF; mul.wide.u32 %d1, %r4, 4", "mul.wide.s32 %d1, %r1, -4")
    assert at(last(wide), tid_x=1) == (2**30 - 1) * 4


def test_signs_of_comparisons_shifts_and_extensions() -> None:
    body = "sub.u32 %r4, %r1, 2; setp.lt.{0}32 %p1, %r4, 1; selp.u32 %r5, 7, 9, %p1; " + STORE.format("%r5")
    assert (at(last(body.format("s")), tid_x=0), at(last(body.format("u")), tid_x=0)) == (28, 36)
    body = "sub.u32 %r4, %r1, 2; shr.{0}32 %r5, %r4, 31; " + STORE.format("%r5")
    assert (at(last(body.format("s")), tid_x=0), at(last(body.format("u")), tid_x=0)) == (2**32 - 4, 4)
    body = "sub.u32 %r4, %r1, 2; cvt.{0}64.{0}32 %d1, %r4; shr.u64 %d1, %d1, 60; cvt.u32.u64 %r5, %d1; "
    body += STORE.format("%r5")
    assert (at(last(body.format("s")), tid_x=0), at(last(body.format("u")), tid_x=0)) == (60, 0)


def test_a_shift_by_the_width_leaves_nothing() -> None:
    body = "mov.u32 %r4, 32; shr.s32 %r5, -8, %r4; shl.b32 %r6, 1, %r4; add.u32 %r5, %r5, %r6; " + STORE.format("%r5")
    assert at(last(body)) == 2**32 - 4


def test_a_guard_may_be_turned_round() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; {0} st.shared.u32 [%r3], %r9;"
    assert [active(last(body.format("@%p1")), tid_x=lane) for lane in (6, 7)] == [True, False]
    assert [active(last(body.format("@!%p1")), tid_x=lane) for lane in (6, 7)] == [False, True]


def test_a_guarded_write_keeps_the_old_value_elsewhere() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; mov.u32 %r4, 5; @!%p1 mov.u32 %r4, 9; " + STORE.format("%r4")
    assert [at(last(body), tid_x=lane) for lane in (6, 7)] == [20, 36]


def test_a_guarded_write_of_a_register_without_a_value_leaves_it_unknown() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; @%p1 mov.u32 %r4, 5; " + STORE.format("%r4")
    assert own(last(body)) == ["opaque"]


def test_lanes_that_left_early_take_no_part() -> None:
    for leave in ("exit", "ret"):
        body = f"setp.ge.u32 %p1, %r1, 7; @%p1 {leave}; st.shared.u32 [%r3], %r9;"
        assert [active(last(body), tid_x=lane) for lane in (6, 7)] == [True, False]


def test_a_guard_that_is_written_again_is_the_old_one_before() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; @%p1 bra A; bra E; A: setp.lt.u32 %p1, %r1, 3; @%p1 st.shared.u32 [%r3], %r9; E:"
    assert [active(last(body), tid_x=lane) for lane in (2, 3, 6, 7)] == [True, False, False, False]


def test_a_counter_that_two_loops_use_is_stepped_by_each() -> None:
    one = "L{0}: add.u32 %r4, %r4, {1}; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L{0}; "
    body = "mov.u32 %r4, 0; " + one.format(1, 3) + one.format(2, 5) + STORE.format("%r4")
    trips = [leaf.variable for leaf in last(body).leaves if kind(leaf) == "trips"]
    assert len(trips) == 2
    address = last(body).address
    assert address is not None
    point = {each.name: count for each, count in zip(trips, (10, 20), strict=True)} | {"shared s": 0}
    assert evaluate(address, point) in {4 * (33 + 105), 4 * (63 + 55)}


def test_each_of_nested_loops_has_its_own_counter() -> None:
    body = "mov.u32 %r4, 0; L1: mov.u32 %r5, 0; L2: mad.lo.u32 %r6, %r4, 100, %r5; " + STORE.format("%r6")
    body += " add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra L2;"
    body += " add.u32 %r4, %r4, 2; setp.lt.u32 %p2, %r4, %r2; @%p2 bra L1;"
    found = last(body)
    assert [kind(leaf) for leaf in found.leaves].count("trips") == 2
    assert len(found.who.loops) == 2
    assert all(loop.is_uniform for loop in found.who.loops)


def test_what_an_inner_loop_adds_is_no_step_of_the_outer_one() -> None:
    body = "mov.u32 %r4, 0; mov.u32 %r7, 0; L1: mov.u32 %r5, 0; " + STORE.format("%r4")
    body += " L2: add.u32 %r4, %r4, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r7; @%p1 bra L2;"
    body += " add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, %r2; @%p2 bra L1;"
    assert "carried" in [kind(leaf) for leaf in last(body).leaves]


def test_the_values_of_a_register_that_a_loop_halves_are_all_told() -> None:
    body = "mov.u32 %r4, 64; L: " + STORE.format("%r4") + " shr.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;"
    access = last(body)
    assert access.address is not None
    (leaf,) = [leaf for leaf in access.leaves if kind(leaf) == "carried"]
    offsets = [evaluate(access.address, {leaf.name: at, "shared s": 0}) for at in leaf.values or ()]
    assert offsets == [4 * value for value in (64, 32, 16, 8, 4, 2, 1)]
    assert [leaf.values for leaf in last(body.replace("64", "%r2")).leaves if kind(leaf) == "carried"] == [None]
    other = body.replace("%r4, %r4, 1", "%r4, %r4, %r2")
    assert [leaf.values for leaf in last(other).leaves if kind(leaf) == "carried"] == [None]


def test_a_step_that_changes_in_the_loop_is_no_step() -> None:
    body = "mov.u32 %r4, 0; mov.u32 %r5, 1; L: " + STORE.format("%r4") + " add.u32 %r4, %r4, %r5; shl.b32 %r5, %r5, 1;"
    body += " setp.lt.u32 %p1, %r4, %r2; @%p1 bra L;"
    assert [kind(leaf) for leaf in last(body).leaves if kind(leaf) != "uniform"] == ["carried"]


def test_a_mode_that_all_lanes_share_keeps_values_shared() -> None:
    body = "setp.eq.u32 %p1, %r2, 1; @%p1 bra A; ld.shared.u32 %r4, [s]; bra E; A: ld.shared.u32 %r4, [s+4]; E: "
    body += STORE.format("%r4")
    assert own(last(body)) == []
    assert own(last(body.replace("%p1, %r2, 1", "%p1, %r1, 1"))) == []


def test_a_join_of_lanes_that_came_apart_is_a_choice_by_lane() -> None:
    body = "setp.eq.u32 %p1, %r1, 1; @%p1 bra A; mov.u32 %r4, 3; bra E; A: mov.u32 %r4, 5; E: " + STORE.format("%r4")
    assert [at(last(body), tid_x=lane) for lane in (0, 1)] == [12, 20]


def test_a_table_of_branches() -> None:
    body = "and.b32 %r5, %r1, 3; mov.u32 %r4, 9; T: .branchtargets A, B, A, C; brx.idx %r5, T;"
    body += " A: mov.u32 %r4, 1; bra E; B: mov.u32 %r4, 2; bra E; C: ; E: ".replace(" ;", " mov.u32 %r6, 0;")
    body += STORE.format("%r4")
    assert [at(last(body), tid_x=lane) for lane in range(4)] == [4, 8, 4, 36]


def test_a_load_that_two_sides_come_to_apart_is_not_shared() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; @%p1 bra A; setp.eq.u32 %p2, %r1, 9; @%p2 bra E; mov.u32 %r9, 1; bra M;"
    body += " A: setp.eq.u32 %p3, %r1, 2; @%p3 bra E; M: ld.shared.u32 %r4, [s]; " + STORE.format("%r4") + " E:"
    assert own(last(body)) == ["opaque"]


def test_a_load_behind_one_of_two_exits_of_a_loop_is_made_at_different_times() -> None:
    body = "mov.u32 %r5, 0; L: setp.eq.u32 %p1, %r5, {0}; @%p1 bra X; add.u32 %r5, %r5, 1;"
    body += " setp.lt.u32 %p2, %r5, %r2; @%p2 bra L; mov.u32 %r9, 1; bra Z; X: ld.shared.u32 %r4, [s];"
    body += STORE.format("%r4") + " Z: mov.u32 %r9, 2;"
    assert "opaque" in own(last(body.format("%r1")))
    assert own(last(body.format("7"))) == []


def test_votes_are_shared_only_if_they_name_all_lanes() -> None:
    body = "setp.lt.u32 %p1, %r1, 7; vote.sync.ballot.b32 %r4, %p1, {0}; " + STORE.format("%r4")
    assert own(last(body.format("-1"))) == []
    assert own(last(body.format("0xFFFF"))) == ["opaque"]
    assert own(last(body.format("%r1"))) == ["opaque"]


def test_a_shuffle_is_shared_only_from_one_lane_to_all() -> None:
    body = "ld.global.u32 %r5, [%d1]; shfl.sync.{0}.b32 %r4, %r5, {1}, {2}, -1; " + STORE.format("%r4")
    assert own(last(body.format("idx", "0", "31"))) == []
    assert own(last(body.format("idx", "0", "0x1807"))) == ["opaque"]
    assert own(last(body.format("idx", "%r1", "31"))) == ["opaque"]
    assert own(last(body.format("bfly", "1", "31"))) == ["opaque"]


def test_local_memory_and_memory_of_unknown_space_are_of_each_lane() -> None:
    assert own(last("ld.local.u32 %r4, [%d1]; " + STORE.format("%r4"))) == ["opaque"]
    assert own(last("ld.param.u64 %d1, [q]; ld.u32 %r4, [%d1]; " + STORE.format("%r4"))) == ["opaque"]
    assert own(last("ld.param.u64 %d1, [q]; ld.global.u32 %r4, [%d1]; " + STORE.format("%r4"))) == []


def test_a_generic_address_from_the_shared_window_is_shared() -> None:
    body = "mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, s; cvta.shared.u64 %d3, %d2; add.u64 %d3, %d3, %d1;"
    found = last(body + "ld.u32 %r4, [%d3+4];")
    assert (found.touch is Touch.GENERIC, found.reason, found.cost.row and found.cost.row.name, at(found, tid_x=3)) == (
        True, "", "ld.shared.b32", 28,
    )  # fmt: skip


def test_a_generic_address_that_may_be_elsewhere_says_so() -> None:
    found = last("ld.param.u64 %d1, [q]; st.u32 [%d1], %r9;")
    assert "another space" in found.reason


def test_coordinates_that_a_warp_shares_are_found_by_looking_at_every_warp() -> None:
    body = "mov.u32 %r5, %tid.y; add.u32 %r5, %r5, %r2; mov.u32 %r4, 0; L:"
    body += " add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r5; @%p1 bra L; "
    body += STORE.format("%r4")
    assert own(last(body, (32, 4, 1))) == []
    assert own(last(body, (64, 4, 1))) == []
    assert own(last(body, (16, 4, 1))) == ["trips"]
    assert own(last(body, None)) == ["trips"]


def test_division_by_what_may_be_zero_may_give_anything() -> None:
    assert own(last("div.u32 %r4, 64, %r1; " + STORE.format("%r4"))) == ["opaque"]
    assert own(last("div.u32 %r4, %r1, 3; " + STORE.format("%r4"))) == []


def test_an_unknown_opcode_may_write_every_register_it_names() -> None:
    body = "mov.u32 %r4, 1; mov.u32 %r5, 2; strange.op.b32 %r6, %r4, %r5; add.u32 %r7, %r4, %r5; " + STORE.format("%r7")
    assert own(last(body)) == ["opaque", "opaque"]


def test_a_carry_is_not_made_up() -> None:
    body = "add.cc.u32 %r4, %r1, -1; addc.u32 %r5, %r1, 0; " + STORE.format("%r5")
    assert own(last(body)) == ["opaque"]


def test_a_loop_with_two_entries_is_not_followed() -> None:
    body = "setp.eq.u32 %p1, %r1, 1; @%p1 bra B; A: add.u32 %r9, %r9, 1; B: add.u32 %r9, %r9, 2; "
    body += STORE.format("%r9") + " setp.lt.u32 %p2, %r9, %r2; @%p2 bra A;"
    found = last(body)
    assert found.address is None
    assert "several places" in found.reason


def test_a_barrier_that_reduces_writes_its_result() -> None:
    body = "mov.u32 %r4, 1; setp.eq.u32 %p1, %r1, 1; barrier.red.popc.u32 %r4, 0, %p1; " + STORE.format("%r4")
    assert own(last(body)) == ["opaque"]
    assert own(last(body.replace("barrier.red", "bar.red"))) == ["opaque"]


def test_parts_of_a_register_begin_with_the_low_bits() -> None:
    body = "mov.b64 %d1, {%r1, 5}; mov.b64 {%r4, %r5}, %d1; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r5;"
    assert at(last(body + STORE.format("%r4")), tid_x=3) == 4 * (3 * 16 + 5)
    body = "mov.b32 {%h1, %h2}, 0x00070002; cvt.u32.u16 %r4, %h1; " + STORE.format("%r4")
    assert at(last(body)) == 8


def test_parameters_of_similar_names_are_two() -> None:
    text = (
        TOP + ".shared .b32 s[64]; .entry k(.param .u32 n, .param .u32 k_n) { .reg .b32 %r<9>; ld.param.u32 %r1, [n];"
    )
    text += " ld.param.u32 %r2, [k_n]; sub.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r2; ret; }"
    module = read_module(text, "k.ptx")
    (found,) = accesses(module, module.functions[0], (32, 1, 1))
    assert len(found.leaves) == 2


def test_bytes_of_a_struct_parameter() -> None:
    text = TOP + ".shared .b32 s[64]; .entry k(.param .align 8 .b8 v[16]) { .reg .b32 %r<9>; .reg .b64 %d<3>;"
    text += " mov.b64 %d1, v; ld.param.v2.u32 {%r1, %r2}, [%d1+4]; ld.param.u32 %r3, [v+8]; sub.u32 %r3, %r3, %r2;"
    text += " add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r2; ret; }"
    module = read_module(text, "k.ptx")
    (found,) = accesses(module, module.functions[0], (32, 1, 1))
    assert [leaf.name for leaf in found.leaves] == ["v+4:4"]


def test_a_result_of_a_call_is_unknown() -> None:
    outside = ".extern .func (.param .b32 back) f(.param .b32 a);\n"
    body = (
        "{ .param .b32 one; .param .b32 two; st.param.b32 [one], %r2; call (two), f, (one); ld.param.b32 %r4, [two]; }"
    )
    found = found_in(body + STORE.format("%r4"), outside=outside)
    assert own(found[-1]) == ["opaque"]
    assert "called function" in found[0].reason
