"""Boxes of tensor maps that are given: the bytes of a copy, against plain products of extents."""

import random
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, scan_function, scan_operands_and_stages
from swzverify.compiled.scan.given import facts_of, unknown_names
from swzverify.errors import SwzError
from tests.scan.test_operands import text
from tests.scan.test_stages import TENSOR, expect, producer, read

arguments: Any = import_module("swzverify.compiled.kernel.arguments")
boxes: Any = import_module("swzverify.compiled.kernel.boxes")
tensor_maps: Any = import_module("swzverify.compiled.scan.tensor_maps")

ARRAYS = ".shared .align 128 .b8 tile[65536]; .shared .align 8 .b64 full[8];"
PARAMS = ".param .align 64 .b8 maps[256], .param .u32 n"
OUT = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
SIZES = {"b8": 1, "e4m3": 1, "f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "f64": 8}
ROWS = {"none": (16, 32, 64, 128, 256), "32B": (32,), "64B": (64,), "128B": (128,)}


def kernel(body: str, offset: int = 64) -> str:
    """A kernel whose tensor map is at a byte of its first parameter."""
    head = f"mov.u32 %r2, full; ld.param.u32 %r20, [n]; mov.u32 %r3, %tid.x; mov.b64 %rd8, maps+{offset};"
    return text(f"{head} cvta.param.u64 %rd9, %rd8; {body} {read((0, 2048))}", ARRAYS, PARAMS)


def balance(box: str, count: int, offset: int = 64, opcode: str = TENSOR) -> tuple[int | None, str]:
    """What the copy brings, and the verdict on the balance."""
    copy = f"{opcode} [%r1], [%rd9, {{%r20, %r20}}], [%r2];"
    module = read_module(kernel(producer(expect(count) + copy), offset), "k.ptx")
    given = Given(tensor_maps=(box,))
    (found,) = scan_operands_and_stages(module, module.functions[0], (128, 1, 1), given, None)[1]
    return found.brings, found.claim.verdict.value


def bounds(box: str, place: int) -> tuple[str, str]:
    """The claims on a copy of a box out of shared memory."""
    body = producer(f"add.u32 %r9, %r1, {place}; {OUT} [%rd9, {{%r20, %r20}}], [%r9];")
    module = read_module(kernel(body), "k.ptx")
    given = Given(tensor_maps=(box,))
    (found,) = [
        each
        for each in scan_function(module, module.functions[0], (128, 1, 1), given=given)
        if each.opcode.startswith("cp")
    ]
    return found.aligned.verdict.value, found.in_bounds.verdict.value


def drawn(seed: int) -> tuple[str, int]:
    """A box, and its bytes."""
    draw = random.Random(seed)
    kind, mode = draw.choice([*SIZES]), draw.choice([*ROWS])
    inner = draw.choice([row for row in ROWS[mode] if row <= 256 * SIZES[kind]])
    extents = [inner // SIZES[kind], *(draw.randrange(1, 5) for _ in range(draw.randrange(3))), draw.randrange(1, 33)]
    swizzle = "" if mode == "none" and draw.random() < 0.5 else f",{mode}"
    return f"maps+64={'x'.join(map(str, extents))}x{kind}{swizzle}", SIZES[kind] * prod(extents)


def check_many(seeds: range = range(12)) -> None:
    for seed in seeds:
        box, size = drawn(seed)
        brings, verdict = balance(box, size)  # operands may read other bytes
        assert (brings, verdict != "refuted") == (size, True), box
        assert balance(box, size + 16) == (size, "refuted"), box
        for place in (65536 - size, 65536 - size + 1):
            is_aligned, is_inside = place % 128 == 0, place + size <= 65536
            assert bounds(box, place) == tuple("proved" if each else "refuted" for each in (is_aligned, is_inside)), box


def test_a_copy_has_the_bytes_of_its_box() -> None:
    check_many()


@pytest.mark.nightly
def test_many_copies_have_the_bytes_of_their_boxes() -> None:
    check_many(range(12, 200))


def check_others() -> None:
    """A map elsewhere in the parameter, and other modes of a copy, are not the box that is given."""
    assert balance("maps+64=16x64xf16", 2048)[0] == 2048
    assert balance("0+64=16x64xf16,32B", 2048)[0] == 2048
    assert balance("maps+128=16x64xf16", 2048)[0] is None
    assert balance("maps+64=16x64xf16", 2048, offset=128)[0] is None
    assert balance("maps=16x64xf16", 2048, offset=0)[0] == 2048
    for mode in ("im2col", "im2col::w", "im2col::w::128", "tile::gather4"):
        assert balance("maps+64=16x64xf16", 2048, opcode=TENSOR.replace("tile", mode))[0] is None


def test_other_maps_are_not_known() -> None:
    check_others()


@pytest.mark.parametrize(
    ("box", "code"),
    [
        ("maps+64=16x64", "SWZ551"),
        ("maps+64=16x64xf16,128b", "SWZ223"),
        ("maps+64=16x64xhalf", "SWZ551"),
        ("maps+32=16x64xf16", "SWZ551"),
        ("maps+64=257x64xb8", "SWZ551"),
        ("maps+64=0x64xf16", "SWZ551"),
        ("maps+64=16x64xf16,64B", "SWZ551"),
        ("maps+64=32x64xf16,32B", "SWZ221"),
        ("maps+64=4x64xf16", "SWZ220"),
        ("maps+64=256x256x256x256xb8", "SWZ551"),
        ("maps+192=16x64xf16", "SWZ551"),
        ("n=16x64xf16", "SWZ551"),
        ("maps+64=16x64xf16,none,x128", "SWZ551"),
        ("maps+64=64xf16,none,16", "SWZ551"),
        ("maps+64=64xf16,none,_", "SWZ551"),
        ("maps+64=16x64xf16,none,128x256", "SWZ551"),
        ("maps+64=16x64xf16,none,24", "SWZ551"),
        ("maps+64=16x64xf16,none,1099511627776", "SWZ551"),
    ],
)
def test_boxes_that_no_map_has_are_refused(box: str, code: str) -> None:
    with pytest.raises(SwzError) as caught:
        balance(box, 2048)
    assert caught.value.code == code


def test_a_map_has_one_box() -> None:
    module = read_module(kernel(""), "k.ptx")
    given = Given(tensor_maps=("maps+64=16x64xf16", "0+64=16x32xf16"))
    with pytest.raises(SwzError, match="has a box already"):
        scan_function(module, module.functions[0], (128, 1, 1), given=given)


def test_the_command_names_the_box_and_refuses_other_names(tmp_path: Any) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel(producer(f"{TENSOR} [%r1], [%rd9, {{%r20, %r20}}], [%r2];")))
    command = ["scan", str(path), "--block", "128", "--tensor-map"]
    shown = CliRunner().invoke(main, [*command, "maps+64=16x64xf16,32B"])
    whole = "given: the tensor map at maps+64 has boxes of 16x64 elements of 2 bytes, and the 32B swizzle"
    assert whole in shown.output
    assert "in bounds: 1 proved" in shown.output
    refused = CliRunner().invoke(main, [*command, "tensor+64=16x64xf16"])
    assert (refused.exit_code, "no kernel has a parameter tensor" in refused.output) == (2, True)


@pytest.mark.parametrize(
    "other", ["maps=8x128xf16", "maps=16x64xbf16,32B", "maps=8x64xb32", "maps=16x64xf16,none,32", "maps=16x128xb8"]
)
def test_maps_that_bring_other_elements_are_other_assumptions(other: str) -> None:
    (function,) = read_module(kernel(""), "k.ptx").functions
    texts = [facts_of(function, Given(tensor_maps=(each,))).applied for each in ("maps=16x64xf16", other)]
    assert texts[0] != texts[1]


def test_an_empty_text_is_refused_for_what_it_is() -> None:
    (function,) = read_module(kernel(""), "k.ptx").functions
    assert unknown_names(Given(tensor_maps=("=16x64xf16",)), [function]) == "'=16x64xf16' names no parameter"


def bits_for_bytes(patch: pytest.MonkeyPatch) -> None:
    right = tensor_maps.size_of_type
    patch.setattr(tensor_maps, "size_of_type", lambda name: 2 * right(name))


def only_two_extents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arguments, "prod", lambda extents: prod(extents[:2]))


def any_map(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(boxes, "map_of", lambda slices, _: next(iter(slices.arguments.boxes), None))


def any_mode(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(boxes, "_OTHER_MODES", ())


@pytest.mark.parametrize(
    ("plant", "check"),
    [(bits_for_bytes, check_many), (only_two_extents, check_many), (any_map, check_others), (any_mode, check_others)],
)
def test_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, SwzError)):
        check()
