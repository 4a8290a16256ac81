"""Asks a GPU where the tensor core reads: `python -m tests.gpu.operands --seeds 1-2000`.

For each seed a random matrix descriptor of a random form of wgmma: type, operand, major-ness, N, swizzle
mode, base offset, start, LBO, SBO. Every element that the device reads must lie where
`operand_addresses` says. Then every register part of every `mma.sync` of the table must be the element that
`fragment_elements` says, and the random loads of the tests of fragments, `ldmatrix` and `.trans` among
them, must come out as proved or refuted. It needs a Hopper GPU and the package `swzverify[gpu]`; or nvcc, with
`--nvcc`.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from swzverify import fragment_elements, operand_addresses
from swzverify.claims import Claim, Verdict
from swzverify.errors import SwzError
from swzverify.gpu.cost_check import CostCheck
from swzverify.gpu.crosscheck import Method, judge_all, plan_all, run_functions
from swzverify.gpu.emit import Emitted, read_answers
from swzverify.gpu.job import Job, whole_source
from swzverify.gpu.launch import DeviceAnswer, Launch
from swzverify.gpu.product_source import constant_bits
from swzverify.gpu.products import DIGIT_BITS, OTHER_BYTES, mma_function, passes, wgmma_function
from swzverify.gpu.source import SIGNATURE
from swzverify.hardware.fragments import MMA_SHAPES, find_mma
from swzverify.hardware.tensor_cores import ELEMENT_BYTES, Major, OperandRole, find_tensor_instruction
from swzverify.layout.tma import parse_tma_mode
from swzverify.prover import prove
from swzverify.subjects import Descriptor
from tests.claims.test_fragment_claims import claim_of, drawn, spec_of
from tests.gpu.specs import H100

SHARED = 192 * 1024
"""Bytes of shared memory that hold numbers of places."""


@dataclass(frozen=True)
class Form:
    """An instruction, its operand and major-ness: one kernel."""

    name: str
    role: str
    major: str


@dataclass(frozen=True)
class Drawn:
    """A random descriptor of a form, with the addresses that it should read."""

    form: Form
    start: int
    fields: Descriptor
    addresses: np.ndarray

    def __str__(self) -> str:
        fields = self.fields
        return (
            f"{self.form.name} {self.form.role} {self.form.major}-major, start {self.start}, LBO {fields.lbo_bytes}, "
            f"SBO {fields.sbo_bytes}, {fields.swizzle}, base offset {fields.base_offset}"
        )


def draw(seed: int) -> Drawn:
    """The descriptor of a seed; what it reads lies in shared memory."""
    rng = random.Random(seed)
    element = rng.choice(list(ELEMENT_BYTES))
    size = ELEMENT_BYTES[element]
    role = rng.choice("AB")
    n = rng.choice([8, 64, 128, 256]) if role == "B" else 64
    form = Form(f"wgmma.m64n{n}k{32 // size}.{element}", role, rng.choice(["K", "MN"]) if size == 2 else "K")
    while True:
        top = rng.choice([256, 1024, 4096, 32768]) // 16
        start, lbo, sbo = rng.randrange(rng.choice([64, 4096])) * 16, rng.randrange(top) * 16, rng.randrange(top) * 16
        mode, offset = rng.choice(["none", "32B", "64B", "128B"]), rng.choice([0, 0, rng.randrange(8)])
        try:
            found = operand_addresses(
                form.name, role, start=start, lbo=lbo, sbo=sbo, swizzle=mode, base_offset=offset, major=form.major
            )
        except SwzError:  # beyond what descriptors name
            continue
        if int(found.max()) + size <= SHARED:
            return Drawn(form, start, Descriptor(lbo, sbo, parse_tma_mode(mode), offset), found)


def wgmma_kernel(name: str, form: Form) -> str:
    """A kernel that reads through the descriptor of each row: the start, and the other bits."""
    row = find_tensor_instruction(form.name)
    role, size, element = OperandRole(form.role), row.element_bytes, row.element
    digit = (1 << DIGIT_BITS[element]) - 1
    return f"""{wgmma_function(f"{name}_reads", row, role, Major(form.major))}
extern "C" __global__ void {name}({SIGNATURE}) {{
    extern __shared__ uint8_t raw[];
    const uint32_t begin = shared_begin(raw);
    for (uint32_t o = threadIdx.x; o < {SHARED // size}u; o += blockDim.x)
        put_{element}(begin + o * {size}u, (o + 1) >> {DIGIT_BITS[element]}u * pass & {digit}u);
    __syncthreads();
    for (uint32_t row = 0; row < row_count; ++row) {{
        const uint64_t tested = (uint64_t)((begin + (uint32_t)rows[2 * row]) >> 4) | rows[2 * row + 1];
        {name}_reads(tested, begin + {SHARED}u, values + (uint64_t)row * {row.rows(role) * row.k}u);
        __syncthreads();
    }}
}}
"""


def mma_kernel(name: str, mma_name: str, role: str) -> str:
    """A kernel in which each register part holds its own number."""
    mma = find_mma(mma_name)
    bits = 8 * mma.element_bytes
    count, digit = mma.registers(role), (1 << DIGIT_BITS[mma.element]) - 1
    number = f"lane * {count * mma.parts}u + q * {mma.parts}u + p + 1"
    return f"""{mma_function(f"{name}_reads", mma, OperandRole(role))}
extern "C" __global__ void {name}({SIGNATURE}) {{
    extern __shared__ uint8_t raw[];
    const uint32_t begin = shared_begin(raw), lane = threadIdx.x % 32u;
    uint32_t held[{count}];
    for (uint32_t q = 0; q < {count}u; ++q) {{
        for (uint32_t p = 0; p < {mma.parts}u; ++p)
            put_{mma.element}(begin + lane * 4u + p * {bits // 8}u,
                ({number}) >> {DIGIT_BITS[mma.element]}u * pass & {digit}u);
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(held[q]) : "r"(begin + lane * 4u) : "memory");
    }}
    {name}_reads(held, values);
}}
"""


@dataclass(frozen=True)
class Kernels:
    """What runs in one go, as `run_functions` takes it."""

    job: Job


def numbers(answer: DeviceAnswer, element: str) -> np.ndarray:
    """The numbers that all passes tell together."""
    total = np.zeros(answer.values.shape[1], dtype=np.int64)
    for index, digits in enumerate(answer.values.astype(np.int64)):
        total |= digits << DIGIT_BITS[element] * index
    return total


Run = Callable[[Sequence[str], Sequence[Launch]], Sequence[DeviceAnswer]]
"""Runs launches of kernels."""


def check_descriptors(seeds: Iterable[int], run: Run) -> tuple[int, list[str]]:
    """How many elements were compared, and the descriptors that are read otherwise."""
    by_form: dict[Form, list[Drawn]] = {}
    for seed in seeds:
        found = draw(seed)
        by_form.setdefault(found.form, []).append(found)
    launches, kernels = list[Launch](), list[str]()
    for number, (form, each) in enumerate(by_form.items()):
        row = find_tensor_instruction(form.name)
        kernels.append(wgmma_kernel(f"wgmma_{number}", form))
        rows = np.array([[one.start, constant_bits(one.fields)] for one in each], dtype=np.uint64)
        launches.append(
            Launch(
                f"wgmma_{number}", 128, rows, window_bytes=SHARED + OTHER_BYTES, touch=True,
                passes=passes(row.element, SHARED // row.element_bytes),
                values_words=len(each) * row.rows(form.role) * row.k,
            )
        )  # fmt: skip
    answers, count, wrong = run(kernels, launches), 0, list[str]()
    for (form, each), answer in zip(by_form.items(), answers, strict=True):
        row = find_tensor_instruction(form.name)
        if answer.status:
            wrong.append(f"{form}: status {answer.status}")
            continue
        read = (numbers(answer, row.element) - 1).reshape(len(each), -1) * row.element_bytes
        for one, found in zip(each, read, strict=True):
            count += found.size
            if not np.array_equal(found, one.addresses.ravel()):
                wrong.append(f"{one}: {int((found != one.addresses.ravel()).sum())} of {found.size} elements")
    return count, wrong


def check_fragments(run: Run) -> tuple[int, list[str]]:
    """The same of every register part of every fragment of the table."""
    forms = [
        (f"m{m}n{n}k{k}.{element}", role)
        for (m, n, k), types in MMA_SHAPES.items()
        for element in types
        for role in "AB"
    ]
    kernels = [mma_kernel(f"mma_{number}", *form) for number, form in enumerate(forms)]
    launches = tuple(
        Launch(
            f"mma_{number}", 32, window_bytes=1024, touch=True, passes=passes(find_mma(name).element, 512),
            values_words=find_mma(name).rows(role) * find_mma(name).k,
        )
        for number, (name, role) in enumerate(forms)
    )  # fmt: skip
    count, wrong = 0, list[str]()
    for (name, role), answer in zip(forms, run(kernels, launches), strict=True):
        mma, held = find_mma(name), fragment_elements(name, role)
        wanted = np.zeros((mma.rows(role), mma.k), dtype=np.int64)
        wanted[held[..., 0], held[..., 1]] = np.arange(1, held[..., 0].size + 1).reshape(held.shape[:-1])
        count += wanted.size
        if answer.status or not np.array_equal(numbers(answer, mma.element), wanted.ravel()):
            wrong.append(f"{name} {role}: status {answer.status}")
    return count, wrong


def check_loads(seeds: Iterable[int], run: Run) -> tuple[int, list[str]]:
    """How many random loads were run, and those that come out otherwise than they were judged."""
    specs: dict[str, list[tuple[Claim, Verdict]]] = {}
    for seed in seeds:
        claim = claim_of(spec_of(*drawn(seed)))
        specs[str(seed)] = [(claim, prove(claim))]
    plans = plan_all(specs)
    kernels = [each.source for plan in plans.values() for each in plan.runs.values()]
    launches = [launch for plan in plans.values() for launch in plan.job.launches]
    answers = iter(run(kernels, launches))
    split = {name: list(islice(answers, len(plan.job.launches))) for name, plan in plans.items()}
    found = judge_all(specs, plans, H100, split, Method.NONE, lambda _: CostCheck({}))
    results = {name: one for name, (one,) in found.results.items()}
    wrong = [f"load {name}: {one.differences or one.seen.text}" for name, one in results.items() if one.agrees is False]
    return sum(one.agrees is not None for one in results.values()), wrong


def by_driver(folder: Path) -> Run:
    """Runs kernels through NVIDIA's bindings, in a process of its own."""

    def run(kernels: Sequence[str], launches: Sequence[Launch]) -> list[DeviceAnswer]:
        plans: Mapping[str, Kernels] = {"job": Kernels(Job(whole_source(kernels), tuple(launches)))}
        facts, answers = run_functions(plans, folder, sys.executable)  # pyright: ignore[reportArgumentType]
        print(f"on {facts.name}, driver {facts.driver}", flush=True)
        return answers["job"]

    return run


def by_nvcc(folder: Path) -> Run:
    """Runs kernels in a program that nvcc compiles."""

    def run(kernels: Sequence[str], launches: Sequence[Launch]) -> Sequence[DeviceAnswer]:
        emitted = Emitted(tuple(kernels), tuple(launches), {})
        folder.mkdir(exist_ok=True)
        source, program, answers = folder / "p.cu", folder / "p", folder / "answers"
        source.write_text(emitted.source)
        command = ["nvcc", "-w", "-std=c++17", "-arch=sm_90a", "-o", str(program), str(source)]
        subprocess.run(command, check=True)
        subprocess.run([str(program), str(answers)], check=True)
        found = read_answers(answers, emitted)
        print(f"on {found.device.name}, driver {found.device.driver}", flush=True)
        return found.answers

    return run


def main() -> int:
    """Run all of it; 1 if the device reads anything elsewhere."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.operands", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--seeds", default="1-2000", help="the descriptors, such as 1-2000")
    parser.add_argument("--loads", default="0-60", help="the random loads of fragments")
    parser.add_argument("--nvcc", action="store_true", help="compile with nvcc, without NVIDIA's bindings")
    options = parser.parse_args()
    ends = [tuple(map(int, each.split("-"))) for each in (options.seeds, options.loads)]
    seeds, loads = (range(low, high + 1) for low, high in ends)
    with tempfile.TemporaryDirectory() as name:
        run = by_nvcc(Path(name)) if options.nvcc else by_driver(Path(name))
        try:
            results = {
                f"{len(seeds)} descriptors": check_descriptors(seeds, run),
                "all fragments of mma.sync": check_fragments(run),
                f"{len(loads)} loads": check_loads(loads, run),
            }
        except SwzError as error:
            print(error)
            return 2
    for what, (count, wrong) in results.items():
        print(f"{what}: {count} compared, {len(wrong)} different", *wrong[:10], sep="\n  ")
    return int(any(wrong for _, wrong in results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
