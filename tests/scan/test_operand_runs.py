"""Operands that a run refutes: every product that the package sees twice in a sum, an interpreter sees twice.

The interpreter is that of `tests/ptx_oracle`. What it multiplied is compared here, element by element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, scan_fragments
from swzverify.compiled.trial.launch import Data, Launcher, Plan
from tests.nightly import counts
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.launch import run_products
from tests.ptx_oracle.products import Product
from tests.scan import random_rings, test_random_sums
from tests.scan.chain_programs import PITCH, Step, drawn
from tests.scan.chain_programs import write as chain
from tests.scan.random_rings import Ring
from tests.scan.ring_oracle import Launch, NoEndError, launches
from tests.scan.test_random_rings import AGAIN, RIGHT
from tests.scan.whole import scan_operands

repeats: Any = import_module("swzverify.compiled.trial.repeats")
runs: Any = import_module("swzverify.compiled.scan.operand_runs")
tagged: Any = import_module("swzverify.compiled.trial.tagged")

FIRST_SEED = 31_000_000
PARAMETERS = ("lda", "ldb", "n", "m", "k0")
Lines = frozenset[tuple[int, int]]
"""Pairs of lines whose products have one product of elements in common."""


def twice(planes: Sequence[Sequence[Product]], size: int) -> Lines:
    """The pairs of lines that add the same elements to row 0 and column 0 of one sum; element 0 is none."""
    found = set[tuple[int, int]]()
    pairs: list[set[tuple[int, int]]] = []
    for same in zip(*planes, strict=True):
        a, b = (
            sum(np.asarray(getattr(each, role))[0].astype(np.int64) << 8 * size * at for at, each in enumerate(same))
            for role in "ab"
        )
        own = {(x, y) for x, y in zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True) if x and y}
        before = same[0].before
        while before >= 0:
            if own & pairs[before]:
                found.add((planes[0][before].line, same[0].line))
            before = planes[0][before].before
        pairs.append(own)
    return frozenset(found)


# ---- rings of stages


def seen(ring: Ring, launch: Launch) -> Lines:
    size = launch.matrices[0].size
    total = launch.matrices[1].first + launch.matrices[1].count
    text, threads = random_rings.write(ring), (ring.threads,)
    planes = range(-(-total.bit_length() // (8 * size)))
    return twice([run_products(text, "k", threads, launch.arguments(at))[1].made for at in planes], size)


def refuted(ring: Ring, launch: Launch, without: str = "", begin: str = "") -> dict[int, str]:
    """The lines that a run refutes, and the words; one parameter may not be given, and the kernel may do more first."""
    ptx = random_rings.write(ring).replace("mov.u32 %thread, %tid.x;", f"{begin} mov.u32 %thread, %tid.x;", 1)
    ptx = ptx.replace(".shared", ".const .align 4 .b32 limit;.shared", 1)
    module = read_module(ptx, "k.ptx")
    scan: Any = scan_operands if ring.is_wgmma else scan_fragments
    given = zip(PARAMETERS, launch.params, strict=True)
    values = tuple(f"{name}={value}" for name, value in given if name != without)
    found = scan(module, module.functions[0], None, Given(parameters=values, tensor_maps=ring.maps), None)
    claims = [(each.line, each.claim("delivers")) for each in found]
    assert all(claim.verdict.value == "refuted" for _, claim in claims if claim.engines == runs.ENGINES)
    return {line: claim.reason for line, claim in claims if claim.engines == runs.ENGINES}


def answer(seed: int) -> str:
    """How what runs refute compares with what the interpreter sees."""
    ring = random_rings.drawn(seed) if seed % 2 else test_random_sums.drawn(seed)
    try:
        every = launches(ring)
    except NoEndError:
        return "no end"
    found = Counter[str]()
    for each in every:
        shown, truth = set(refuted(ring, each)), seen(ring, each)
        lines = {line for pair in truth for line in pair}
        if not shown <= lines:
            return f"WRONG refuted: lines {sorted(shown - lines)}"
        found["refuted" if shown else "twice, and left" if truth else "nothing twice"] += 1
    return ", ".join(sorted(found))


@pytest.mark.parametrize("count", counts(1, 300))
def test_what_a_run_refutes_in_rings_the_interpreter_sees(count: int) -> None:
    found = {seed: answer(seed) for seed in range(FIRST_SEED, FIRST_SEED + count)}
    assert not {seed: each for seed, each in found.items() if each.startswith("WRONG")}


@pytest.mark.parametrize("name", AGAIN)
def test_a_tile_that_comes_again_is_refuted_with_its_elements(name: str) -> None:
    check_again(name)


def check_again(name: str) -> None:
    launch = launches(AGAIN[name])[-1]
    found = refuted(AGAIN[name], launch)
    assert found
    assert set(found) == {line for pair in seen(AGAIN[name], launch) for line in pair}
    assert all("from byte a + " in each and "from byte b + " in each for each in found.values())
    assert all(f"n = {launch.params[2]}" in each for each in found.values())


@pytest.mark.parametrize("name", RIGHT)
def test_right_rings_are_not_refuted(name: str) -> None:
    assert not refuted(RIGHT[name], launches(RIGHT[name])[-1])


def test_nothing_is_refuted_by_numbers_that_are_made_up() -> None:
    check_given()


def check_given() -> None:
    ring = AGAIN["one stage"]
    assert not refuted(ring, launches(ring)[-1], without="m")


def check_variables(begin: str) -> None:
    ring = AGAIN["one stage"]
    assert not refuted(ring, launches(ring)[-1], begin=begin)


HOSTS = {"a variable": "ld.const.b32 %r55, [limit];", "its address": "mov.b64 %rd5, limit;"} | {
    "the address of a parameter": "mov.b64 %rd5, lda;",
    "the shape of a cluster": "mov.u32 %r55, %cluster_nctarank;",
    "a barrier of a cluster": "barrier.cluster.arrive; barrier.cluster.wait;",
    "dynamic shared memory": "mov.u32 %r55, %dynamic_smem_size;",
    "the grid": "mov.u32 %r55, %nctaid.x;",
}


@pytest.mark.parametrize("name", HOSTS)
def test_kernels_that_read_what_the_host_chooses_are_not_looked_at(name: str) -> None:
    check_variables(HOSTS[name])


# ---- products without loops


def shown(steps: Sequence[Step], pitch: int = PITCH) -> Lines:
    """What the package sees twice."""
    module = read_module(chain(steps, pitch), "k.ptx")
    function = module.functions[0]
    launch = Launcher(function, (32, 1, 1), 0).launch(Plan((1,), (Data.ZERO,)), 0)
    assert launch is not None
    return frozenset(each.lines for each in repeats.find_repeats(tagged.products_of(module, function, launch, 20_000)))


def interpreted(steps: Sequence[Step], pitch: int = PITCH) -> Lines:
    """What the interpreter sees twice."""
    planes: list[Sequence[Product]] = []
    count = 16 * PITCH // 2
    for plane in range(2):
        numbers = [np.arange(at * count, (at + 1) * count, dtype=np.int64) + 1 for at in range(3)]
        halves = [(each >> 16 * plane & 0xFFFF).astype(np.uint16) for each in numbers]
        buffers = [Buffer(each.nbytes, content=each) for each in halves]
        planes.append(run_products(chain(steps, pitch), "k", (32,), buffers)[1].made)
    return twice(planes, 2)


A0, A1, B0, B1 = ("A", "0", "0"), ("A", "1", "16"), ("B", "0", "0"), ("B", "1", "16")
FIRST: Step = ("mma", "0", "0", "0", "0")
UNUSUAL: dict[str, tuple[Step, ...]] = {
    "one A, two B's, two sums": (A0, B0, ("C", "1", "0"), FIRST, ("mma", "1", "1", "0", "1")),
    "one A, two B's, one sum": (A0, B0, ("C", "1", "0"), FIRST, ("mma", "0", "0", "0", "1")),
    "K in another order": (A1, B1, ("mma", "0", "0", "1", "1"), A0, B0, FIRST),
    "high and low parts": ((A0, A0, B0, FIRST, ("low", "A", "0"), FIRST, A0, ("low", "B", "0"), FIRST)),
    "complex numbers in two planes": (
        *(A0, A1, B0, B1, FIRST, ("mma", "1", "1", "0", "1"), ("mma", "1", "1", "1", "0")),
        *(("negative", "A", "1"), ("mma", "0", "0", "1", "1")),
    ),
    "what is subtracted again": (A0, B0, FIRST, ("negative", "A", "0"), FIRST),
    "a tail of zeros": (A0, B0, FIRST, ("zero", "A", "0"), FIRST, FIRST, ("zero", "B", "0"), FIRST),
    "a tail that overlaps, with zeros in A": (A0, B0, FIRST, ("zero", "A", "0"), FIRST),
    "two sums of parts of K": (A0, B0, A1, B1, FIRST, ("mma", "1", "1", "1", "1")),
    "two tiles of the product": (A0, B0, FIRST, ("clear", "0"), FIRST),
    "scaled between": (A0, B0, FIRST, ("twice", "0"), FIRST),
    "the greater one of it and 0 between": (A0, B0, FIRST, ("relu", "0"), FIRST),
    "two sums that go on from one": ((A0, B0, A1, B1, FIRST, ("mma", "1", "0", "1", "1"), ("mma", "2", "0", "1", "1"))),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_right_kernels_of_unusual_shape_are_not_refuted(name: str) -> None:
    check_unusual(name)


def check_unusual(name: str) -> None:
    assert not shown(UNUSUAL[name])


def check_overlap() -> None:
    """Rows that overlap, as those of the windows of a convolution: an element is in several columns."""
    assert not shown((A0, B0, FIRST, FIRST), pitch=4)


def test_rows_that_overlap_are_not_looked_at() -> None:
    check_overlap()


def test_an_operand_that_is_not_followed_is_in_no_product() -> None:
    """Registers of A that `wgmma` reads have no places."""
    nothing, b = np.full((1, 1), tagged.NO_TAG), np.arange(128).reshape(8, 16)
    products = [tagged.Product(1, 0, tagged.NO_PRODUCT, nothing, b), tagged.Product(2, 0, 0, nothing, b)]
    assert not list(repeats.find_repeats(products))


def check_checked() -> None:
    """A fragment that was computed is no element: the same one, computed twice, is not looked at."""
    assert not shown((A0, ("mixed", "0"), B0, FIRST, FIRST))


def test_a_fragment_that_was_computed_is_not_looked_at() -> None:
    check_checked()


def check_data() -> None:
    assert not shown((A0, B0, FIRST, ("if data",), FIRST))


def test_what_memory_may_change_is_not_looked_at() -> None:
    check_data()


TWICE: dict[str, tuple[Step, ...]] = {
    "at once": (A0, B0, FIRST, FIRST),
    "with others between": (
        *(A0, B0, A1, B1, FIRST, ("mma", "0", "0", "1", "1")),
        *(("move", "1", "0"), A0, ("mma", "1", "1", "0", "0")),
    ),
    "through shared memory": (A0, B0, FIRST, ("store", "0"), A0, B0, FIRST),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_product_that_comes_twice_is_found(name: str) -> None:
    assert shown(TWICE[name])
    assert shown(TWICE[name]) == interpreted(TWICE[name])


def check_chains(seeds: range) -> Counter[str]:
    """What is shown, the interpreter sees, too."""
    found = Counter[str]()
    for seed in seeds:
        own, truth = shown(drawn(seed)), interpreted(drawn(seed))
        assert own <= truth, (seed, own, truth)
        found["shown" if own else "left" if truth else "nothing"] += 1
    return found


@pytest.mark.parametrize("count", counts(3, 600))
def test_what_a_run_shows_in_chains_the_interpreter_sees(count: int) -> None:
    assert check_chains(range(FIRST_SEED, FIRST_SEED + count)) - Counter(["nothing"])


# ---- planted mistakes


def overlapping(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(repeats, "_is_plain", lambda _: True)


def computed_sums(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tagged._Code, "_unmark", lambda *_: None)


def parted_sums(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(repeats, "Counter", lambda _: Counter())


def one_sum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tagged._Code, "_sums", lambda self, *_, **__: len(self.made) - 1)


def unchecked(patch: pytest.MonkeyPatch) -> None:
    """Tags have no bits that check others: the XOR of three tags is the tag of another place."""
    patch.setattr(tagged, "_tags", lambda places: places)


def known_memory(patch: pytest.MonkeyPatch) -> None:
    right = tagged._Tagged.__init__

    def init(self: object, *args: object, is_known: bool) -> None:  # noqa: ARG001
        right(self, *args, is_known=True)

    patch.setattr(tagged._Tagged, "__init__", init)


def made_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runs.Launcher, "made_up", lambda *_: ())


def open_kernels(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runs, "_is_closed", lambda *_: True)


def never_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runs, "find_repeats", lambda _: iter(()))


MISTAKES: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], object]]] = {
    "rows that overlap count": (overlapping, check_overlap),
    "a computed number is a sum": (
        computed_sums,
        lambda: check_unusual("the greater one of it and 0 between"),
    ),
    "two sums from one are one": (parted_sums, lambda: check_unusual("two sums that go on from one")),
    "all products are of one sum": (one_sum, lambda: check_unusual("two tiles of the product")),
    "tags are not checked": (unchecked, check_checked),
    "memory is known": (known_memory, check_data),
    "numbers that are made up count": (made_up, check_given),
    "variables have what PTX says": (open_kernels, lambda: check_variables(HOSTS["a variable"])),
    "nothing comes twice": (never_twice, lambda: check_again("one stage")),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, check = MISTAKES[name]
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
