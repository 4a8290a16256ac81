"""The parts of `python -m tests.gpu.parted_waits` that need no device."""

from __future__ import annotations

from tests.gpu.parted_waits import are_wrong, executions, program

PAGE = """==PROF== Connected
"Kernel Name","volatile_apart",
"Address","Source","Warp Stall","Instructions Executed"
"0x10","LDS R1, [R2]","0","9"
"0x20","LDS.64 R4, [R4+UR4]","0","16"
"Kernel Name","volatile_apart",
"0x20","LDS.64 R4, [R4+UR4]","0","16"
"Kernel Name","plain_apart",
"0x20","LDS.64 R4, [R4]","0","1"
"0x50","LDS.64 R4, [R4]","0","1"
"""


def test_executions_of_the_load_are_counted_once() -> None:
    assert executions(PAGE) == {"volatile_apart": 16, "plain_apart": 2}


def test_lanes_that_have_to_run_together() -> None:
    counts = {"plain_apart": 2, "volatile_at_one_trip": 3, "volatile_apart": 16, "red_global_apart": 1}
    assert are_wrong(counts) == ["plain_apart", "volatile_at_one_trip"]


def test_each_kernel_is_launched() -> None:
    text = program()
    for name, threads in (("atomic_apart", 32), ("called_at_one_trip", 32), ("real_try_wait_two", 64)):
        assert text.count(f"void {name}(") == text.count(f"{name}<<<1, {threads}>>>") == 1
