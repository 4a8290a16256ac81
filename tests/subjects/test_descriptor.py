"""What a matrix descriptor names: measured descriptors, CUTLASS's canonical layouts, and refusals."""

from __future__ import annotations

import io
import lzma
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swzverify import operand_addresses
from swzverify.errors import SwzError
from swzverify.hardware import find_target
from swzverify.hardware.tensor_cores import Major, find_tensor_instruction, require_tensor
from swzverify.subjects import Descriptor

DATA = Path(__file__).parents[1] / "data" / "h100_wgmma_operands.npz.xz"
MODES = ("none", "128B", "64B", "32B")
"""By their number in a wgmma descriptor."""
NAMES = {"f16": "m64n64k16.f16", "tf32": "m64n64k8.tf32", "u8": "m64n64k32.u8"}


@pytest.fixture(scope="module")
def measured() -> dict[str, np.ndarray[Any, Any]]:
    """The measured offsets: each line of the file holds its first one and then differences."""
    with np.load(io.BytesIO(lzma.decompress(DATA.read_bytes()))) as found:
        return {
            name: array if name.endswith("cfg") else np.cumsum(array, axis=-1, dtype=np.uint16)
            for name, array in found.items()
        }


def _agree(measured: dict[str, np.ndarray[Any, Any]]) -> tuple[int, int]:
    """How many of the measured descriptors come out as measured, and how many there are."""
    same = count = 0
    for (element, name), role in product(NAMES.items(), "AB"):
        seen = measured[f"{element}_{role}"]
        seen = seen if role == "A" else seen.transpose(0, 2, 1)
        for fields, places in zip(measured[f"{element}_{role}_cfg"].tolist(), seen, strict=True):
            start, lbo, sbo, mode, base_offset, transposed = map(int, fields)
            found = operand_addresses(
                f"wgmma.{name}",
                role,
                start=start,
                lbo=lbo,
                sbo=sbo,
                swizzle=MODES[mode],
                base_offset=base_offset,
                major="MN" if transposed else "K",
            )
            assert found.shape == places.shape
            same += int((found == places).all())
            count += 1
    return same, count


def test_every_measured_descriptor_names_the_measured_bytes(measured: dict[str, np.ndarray[Any, Any]]) -> None:
    assert _agree(measured) == (3000, 3000)


def _with_fields_swapped(self: Descriptor, *at: Any) -> Any:
    swapped = Descriptor(self.sbo_bytes, self.lbo_bytes, self.swizzle, self.base_offset)
    return _LINEAR(swapped, *at)


def _with_the_base_offset_added(self: Descriptor, address: Any) -> Any:
    return address ^ (((address // 128 + self.base_offset) & self.line_mask) * 16)


def _with_the_mask_of_128b(self: Descriptor, address: Any) -> Any:
    return address ^ (((address // 128 - self.base_offset) & 7) * 16)


def _with_halved_elements(self: Descriptor, row: Any, k: Any, element_bytes: int, major: Any) -> Any:
    return _LINEAR(self, row, k, element_bytes // 2, major)


def _with_rows_and_k_swapped(self: Descriptor, row: Any, k: Any, element_bytes: int, major: Any) -> Any:
    return _LINEAR(self, row, k, element_bytes, Major.MN if major is Major.K else Major.K)


_LINEAR = Descriptor.linear


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("linear", _with_fields_swapped),
        ("linear", _with_halved_elements),
        ("linear", _with_rows_and_k_swapped),
        ("swizzled", _with_the_base_offset_added),
        ("swizzled", _with_the_mask_of_128b),
    ],
)
def test_the_measured_descriptors_notice_another_rule(
    measured: dict[str, np.ndarray[Any, Any]], monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any
) -> None:
    monkeypatch.setattr(Descriptor, method, wrong)
    assert _agree(measured)[0] < 2900


pycute: Any = pytest.importorskip("pycute", reason="NVIDIA's pycute is missing: CONTRIBUTING.md says how to install it")


def _tile_to_shape(atom: Any, shape: tuple[int, int], order: tuple[int, int]) -> Any:
    """CuTe's `tile_to_shape`: copies of the atom, the first of `order` fastest."""
    counts = [extent // pycute.size(atom[mode]) for mode, extent in enumerate(shape)]
    strides = [0, 0]
    strides[order[0]], strides[order[1]] = 1, counts[order[0]]
    tiled = pycute.logical_product(atom, pycute.Layout(tuple(counts), tuple(strides)))
    return pycute.make_layout(*(pycute.make_layout(tiled[0][mode], tiled[1][mode]) for mode in range(2)))


_SWIZZLES = {"none": (0, 4, 3), "32B": (1, 4, 3), "64B": (2, 4, 3), "128B": (3, 4, 3)}


def _places(layout: Any, mode: str, element_bytes: int, rows: int, columns: int) -> np.ndarray[Any, Any]:
    """Each element's byte by the layout and the atom's swizzle of byte addresses."""
    bits, base, shift = _SWIZZLES[mode]
    linear = np.asarray([[layout((r, k)) for k in range(columns)] for r in range(rows)]) * element_bytes
    return linear ^ ((linear >> shift) & ((1 << bits) - 1) << base)


def _atom(mode: str, major: str, element_bytes: int) -> Any:
    """`Layout_K_SW128_Atom` and its like, in elements. Source: CUTLASS, mma_traits_sm90_gmma.hpp."""
    width = (16 if mode == "none" else int(mode[:-1])) // element_bytes
    return pycute.Layout((8, width), (width, 1)) if major == "K" else pycute.Layout((width, 8), (1, width))


CANONICAL = [
    (family, major, mode, element)
    for family, major, mode, element in product(("wgmma", "tcgen05.mma"), ("K", "MN"), MODES, ("f16", "tf32", "e4m3"))
    if major == "K" or element == "f16" or (family == "tcgen05.mma" and element == "e4m3")
]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["rows first", "K first"])
@pytest.mark.parametrize(("family", "major", "mode", "element"), CANONICAL)
def test_a_canonical_layout_of_cutlass_is_what_its_descriptor_names(
    family: str, major: str, mode: str, element: str, order: tuple[int, int]
) -> None:
    """LBO and SBO come from the layout, K step by K step, as `make_gmma_desc` takes them from its strides."""
    element_bytes = {"f16": 2, "tf32": 4, "e4m3": 1}[element]
    step, rows, columns = 32 // element_bytes, 128, 128 // element_bytes * 2
    instruction = f"{family}.m64n{rows}k{step}.{element}"
    layout = _tile_to_shape(_atom(mode, major, element_bytes), (rows, columns), order)
    expected = _places(layout, mode, element_bytes, rows, columns)
    width = (16 if mode == "none" else int(mode[:-1])) // element_bytes
    next_rows = layout((8 if major == "K" else width, 0)) * element_bytes
    next_k = layout((0, 16 // element_bytes if major == "K" and mode == "none" else 8)) * element_bytes
    if major == "K":
        lbo, sbo = (next_k if mode == "none" else 0), next_rows
    elif mode == "none":
        lbo, sbo = next_k, next_rows
    else:
        lbo, sbo = next_rows, next_k
    for k in range(0, columns, step):
        start = layout((0, k)) * element_bytes
        found = operand_addresses(instruction, "B", start=start, lbo=lbo, sbo=sbo, swizzle=mode, major=major)
        assert (found == expected[:, k : k + step]).all(), (instruction, k)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("wgmma.m64n128k8.f16", "SWZ401"),
        ("wgmma.m128n128k16.f16", "SWZ401"),
        ("wgmma.m64n12k16.f16", "SWZ401"),
        ("wgmma.m64n264k16.f16", "SWZ401"),
        ("wgmma.m64n40k32.s8", "SWZ401"),
        ("wgmma.m64n8k16.f32", "SWZ411"),
        ("wgmma.m64n8k256.b1", "SWZ411"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "SWZ411"),
        ("tcgen05.mma.m256n128k16.f16", "SWZ411"),
        ("tcgen05.mma.m128n8k16.f16", "SWZ401"),
        ("ldmatrix.x4", "SWZ401"),
    ],
)
def test_an_instruction_without_a_rule_is_refused(name: str, code: str) -> None:
    with pytest.raises(SwzError) as error:
        find_tensor_instruction(name)
    assert error.value.code == code


@pytest.mark.parametrize("name", ["wgmma.m64n24k32.u8", "wgmma.m64n256k16.bf16", "tcgen05.mma.m128n16k8.tf32"])
def test_an_instruction_that_exists_is_found(name: str) -> None:
    assert find_tensor_instruction(name).name == name


def test_each_family_has_its_targets() -> None:
    require_tensor(find_target("sm_90a"), find_tensor_instruction("wgmma.m64n8k16.f16"))
    require_tensor(find_target("sm_100a"), find_tensor_instruction("tcgen05.mma.m64n8k16.f16"))
    for target, name in (("sm_100a", "wgmma.m64n8k16.f16"), ("sm_120", "tcgen05.mma.m64n8k16.f16")):
        with pytest.raises(SwzError, match="SWZ403"):
            require_tensor(find_target(target), find_tensor_instruction(name))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"lbo": 8}, "SWZ410"),
        ({"sbo": 1 << 18}, "SWZ410"),
        ({"sbo": -16}, "SWZ410"),
        ({"start": 8}, "SWZ410"),
        ({"start": (1 << 18) - 1024}, "SWZ410"),
        ({"base_offset": 8}, "SWZ410"),
        ({"swizzle": "256B"}, "SWZ223"),
        ({"major": "N"}, "SWZ105"),
        ({"role": "C"}, "SWZ105"),
        ({"instruction": "wgmma.m64n64k8.tf32", "major": "MN"}, "SWZ411"),
        ({"instruction": "tcgen05.mma.m64n64k16.f16", "base_offset": 1}, "SWZ411"),
    ],
)
def test_what_no_descriptor_holds_is_refused(changed: dict[str, Any], code: str) -> None:
    given: dict[str, Any] = {
        "instruction": "wgmma.m64n64k16.f16",
        "role": "A",
        "start": 0,
        "lbo": 16,
        "sbo": 1024,
        "swizzle": "128B",
    }
    stated: dict[str, Any] = {**given, **changed}
    with pytest.raises(SwzError) as error:
        operand_addresses(stated.pop("instruction"), stated.pop("role"), **stated)
    assert error.value.code == code
