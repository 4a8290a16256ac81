"""Readable names: the words of c++filt, and no name that costs memory, time or the process."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.core.demangle import demangled

NAMES = {
    "_Z1kPf": ("k(float*)", "k"),
    "_Z11batch_gemvsI6__halfEvPKT_S3_Pfi": (
        "void batch_gemvs<__half>(__half const*, __half const*, float*, int)",
        "batch_gemvs<__half>",
    ),
    "_ZN5flash10fwd_kernelINS_6TraitsILi64ELi128ELb0EEELb1ELb0EJifEEEvNS_6ParamsE": (
        "void flash::fwd_kernel<flash::Traits<64, 128, false>, true, false, int, float>(flash::Params)",
        "fwd_kernel<flash::Traits<64, 128, false>, true, false, int, float>",
    ),
    "_ZN5flash10fwd_kernelILj4ELN3foo4ModeE1ELc97ELin3EEEvi": (
        "void flash::fwd_kernel<4u, (foo::Mode)1, (char)97, -3>(int)",
        "fwd_kernel<4u, (foo::Mode)1, (char)97, -3>",
    ),
    "_ZZ1kILi4EEvPfE1y": ("k<4>(float*)::y", "y"),
    "_ZZN2ns1kEfE4smem_0": ("ns::k(float)::smem", "smem"),
    "_ZZZ1kvENKUlvE_clEvE1y": ("k()::{lambda()#1}::operator()() const::y", "y"),
    "_ZN12_GLOBAL__N_14copyEPVKcRA4_fPFviPvES4_": (
        "(anonymous namespace)::copy(char const volatile*, float (&) [4], void (*)(int, void*), void*)",
        "copy",
    ),
    "_Z3runIJifdEEvDpPKT_": (
        "void run<int, float, double>(int const*, float const*, double const*)",
        "run<int, float, double>",
    ),
    "_Z3runIRiEvOT_": ("void run<int&>(int&)", "run<int&>"),
    "_Z3runIiLb1EEvSt17integral_constantIbXT0_EE": (
        "void run<int, true>(std::integral_constant<bool, true>)",
        "run<int, true>",
    ),
    "_ZN1AIiEC1ERKS0_": ("A<int>::A(A<int> const&)", "A"),
    "_ZNK1AIiEltERKS0_": ("A<int>::operator<(A<int> const&) const", "operator<"),
    "_Z3runM1AFivEMS_f": ("run(int (A::*)(), float A::*)", "run"),
    "_ZNSt6vectorIiSaIiEE4sizeEfz": ("std::vector<int, std::allocator<int>>::size(float, ...)", "size"),
    "_Z3runDhDF16bDnDF16_": ("run(half, std::bfloat16_t, decltype(nullptr), _Float16)", "run"),
    "_Z5applyIZ4mainEUlfE_EvT_": (
        "void apply<main::{lambda(float)#1}>(main::{lambda(float)#1})",
        "apply<main::{lambda(float)#1}>",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    found = demangled(name)
    assert (found.whole, found.short) == NAMES[name]


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="there is no c++filt")
def test_cxxfilt_says_the_same() -> None:
    told = subprocess.run(["c++filt", *NAMES], capture_output=True, text=True, check=True).stdout
    while "> >" in told:
        told = told.replace("> >", ">>")
    assert dict(zip(NAMES, told.splitlines(), strict=True)) == {name: demangled(name).whole for name in NAMES}


def test_a_function_as_an_argument_has_its_name_alone() -> None:
    found = demangled("_Z4copyIXadL_ZN2ns4castEPKcPcEEEvS2_")
    assert found.short == "copy<&ns::cast>"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "k",
        "matmul_kernel",
        "_Z",
        "_Zx",
        "_Z1",
        "_Z9k",
        "_Z1kS_",
        "_Z1kT_",
        "_Z1kIXplLi1ELi2EEEvv",
        "_ZTV1A",
        "_Z1kv.x",
    ],
)
def test_other_names_stay_as_they_are(name: str) -> None:
    assert demangled(name) == (name, name)


def number(count: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "S" + (digits[(count - 1) // 36] * (count > 36) + digits[(count - 1) % 36] if count else "") + "_"


def doubled(count: int) -> str:
    """A type that has the one before twice, `count` times: 2^count names when it is written."""
    return "_Z1f1a1bIS_S_E" + "".join(f"S0_I{number(each)}{number(each)}E" for each in range(1, count))


@pytest.mark.parametrize(
    "name",
    [
        doubled(60),
        "_Z1f" + "P" * 10_000 + "i",
        "_Z1f" + "N1aI" * 4_000,
        "_ZN" + "1a" * 9_000 + "E",
        "_Z" + "Z" * 15_000,
        "_Z1fI" + "J" * 15_000,
        "_Z1fIX" + "sp" * 9_000,
        "_Z1fIJ" + "i" * 5_000 + "EEv" + "DpPT_" * 2_000,
        "_Z1fIJiiEEv" + "Dp" * 150 + "T_",
        "_Z1f" + "i" * 30_000,
    ],
)
def test_names_that_would_take_everything(name: str) -> None:
    begin = time.process_time()
    assert len(demangled(name).whole) < 1_000_000
    assert time.process_time() - begin < 2


@given(st.text("_ZNIEJLXSTPRKFADMCUstdli0123kvB", max_size=40))
def test_any_letters(letters: str) -> None:
    assert demangled(f"_Z{letters}").whole
