"""A device made of plain loops: what a launch leaves behind, lane by lane and byte by byte.

It knows the instructions' meaning (PTX ISA) and asks the subjects' scalar definitions for
addresses; it shares no code with what `swzverify.gpu` predicts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.launch import DeviceAnswer, Launch
from swzverify.gpu.map_run import MapRun
from swzverify.gpu.plan import Plan, Run
from swzverify.gpu.product_run import FragmentRun, OperandRun
from swzverify.gpu.tile_run import TileRun
from swzverify.subjects import Operand
from tests.claims.test_fragment_claims import Warp
from tests.hardware.test_fragments import MANUAL

NOWHERE = 2**64 - 1


def answers_of(plan: Plan) -> list[DeviceAnswer]:
    """Every launch of a plan, in order."""
    return [answer for run in plan.runs.values() for answer in answer_run(run)]


def answer_run(run: Run) -> list[DeviceAnswer]:
    return [answer_launch(run, launch) for launch in run.launches]


def answer_launch(run: Run, launch: Launch) -> DeviceAnswer:
    if launch.faults:
        return DeviceAnswer.failed(716, launch)
    match run:
        case AccessRun():
            return _access(run, launch)
        case TileRun():
            return _tile(run, launch)
        case MapRun():
            return _map(run, launch)
        case OperandRun():
            return _operand(run, launch)
        case FragmentRun():
            return _fragment(run, launch)
        case _:
            raise AssertionError(run)


def _byte(token: int, number: int) -> int:
    return token >> (8 * number) & 255


class Memory:
    """The shared memory of a block, once a pass."""

    def __init__(self, launch: Launch, *, offsets: bool) -> None:
        self.window = launch.window
        self.passes = [bytearray(launch.window_bytes) for _ in range(launch.passes)]
        if offsets:
            for number, held in enumerate(self.passes):
                held[:] = bytes(_byte(o, number) for o in range(len(held)))

    def store(self, address: int, tokens: Sequence[int]) -> None:
        for number, held in enumerate(self.passes):
            for i, token in enumerate(tokens):
                held[address - self.window + i] = _byte(token, number)

    def load(self, address: int, count: int) -> list[bytes]:
        at = address - self.window
        return [bytes(held[at : at + count]) for held in self.passes]

    def image(self) -> np.ndarray:
        return np.array([np.frombuffer(bytes(held), dtype=np.uint8) for held in self.passes])


def _access(run: AccessRun, launch: Launch) -> DeviceAnswer:
    access = run.access
    kind = access.instruction.name.split(".")[0]
    width = access.instruction.width_bytes
    memory = Memory(launch, offsets=kind in ("ld", "ldmatrix"))
    names = [node.name for node in access.free if node.name not in ("warp", access.origin.name)]
    places: list[int] = []
    registers: list[list[bytes]] = [[] for _ in range(launch.passes)]
    for number, row in enumerate(launch.rows.tolist()):
        point = dict(zip(names, row, strict=True)) | {access.origin.name: launch.base}
        for warp in range(access.warps):
            records = access.lanes_at({**point, "warp": warp})
            lanes = min(32, access.threads - 32 * warp)
            at = [records[lane].address_bytes for lane in range(lanes)]
            units = 8 // access.unit_bits
            places += [NOWHERE if a is None else a * units for a in at]
            if not launch.touch:
                continue
            index = [number * access.threads + 32 * warp + lane for lane in range(lanes)]
            if kind in ("st", "cp", "stmatrix"):
                for lane in range(lanes):
                    if at[lane] is not None:
                        memory.store(at[lane], [index[lane] * width + b + 1 for b in range(width)])
            elif kind == "atom":
                for lane in range(lanes):
                    if at[lane] is not None:
                        old = int.from_bytes(memory.load(at[lane], 4)[0], "little")
                        memory.passes[0][at[lane] - launch.window : at[lane] - launch.window + 4] = (old + 1).to_bytes(
                            4, "little"
                        )
            elif kind == "ld":
                for lane in range(lanes):
                    words = max(4, width)
                    loaded = [bytes(words)] * launch.passes if at[lane] is None else memory.load(at[lane], width)
                    for each, data in zip(registers, loaded, strict=True):
                        each.append(data.ljust(words, b"\0"))
            else:
                _matrices(access.instruction.name, memory, at, registers)
    values = np.array([np.frombuffer(b"".join(each), dtype=np.uint32) for each in registers])
    if values.size == 0:
        values = np.zeros((launch.passes, launch.values_words), dtype=np.uint32)
    image = memory.image() if launch.image else np.zeros((launch.passes, 0), dtype=np.uint8)
    return DeviceAnswer(0, np.array(places, dtype=np.uint64), values, image)


def _matrices(name: str, memory: Memory, at: list[int | None], registers: list[list[bytes]]) -> None:
    """8x8 matrices of two-byte elements: lane l gets row l // 4, columns 2 (l % 4) and the next, or
    the transposed.
    """
    count = int(name.split(".x")[1][0])
    rows = [memory.load(a, 16) for a in at[: 8 * count] if a is not None]
    for lane in range(32):
        for number, each in enumerate(registers):
            data = b""
            for matrix in range(count):
                for half in range(2):
                    row, column = lane // 4, 2 * (lane % 4) + half
                    if name.endswith(".trans"):
                        row, column = column, row
                    data += rows[8 * matrix + row][number][2 * column : 2 * column + 2]
            each.append(data)


def _tile(run: TileRun, launch: Launch) -> DeviceAnswer:
    tile = run.tile
    memory = Memory(launch, offsets=False)
    width = tile.element_bits // 8
    places: list[int] = []
    for number in range(tile.size * tile.stages):
        rest, coord = number, []
        for extent in tile.extents:
            coord.append(rest % extent)
            rest //= extent
        place = int(tile.position(coord, stage=rest, base=run.base_bytes(launch.base)))
        places.append(place)
        if launch.touch:
            source = number if launch.box is None else coord[0] * launch.box.inner_elements + coord[1]
            memory.store(place // tile.units_per_byte, [source * width + b + 1 for b in range(width)])
    none = np.zeros((launch.passes, 0), dtype=np.uint32)
    image = memory.image() if launch.image else none.astype(np.uint8)
    return DeviceAnswer(0, np.array(places if launch.box is None else [], dtype=np.uint64), none, image)


def _map(run: MapRun, launch: Launch) -> DeviceAnswer:
    values: list[int] = []
    for number in range(run.count):
        rest, point = number, {}
        for name, extent in run.index.over:
            point[name] = rest % extent
            rest //= extent
        if run.place is not None and run.index.uses_base:
            point["base"] = run.place.start_bytes + run.place.unit_bytes * launch.base
        for value, lowered in zip(run.index.at(point), run.index.lower(run.place), strict=True):
            values.append(value % 2**lowered.bits.width)
    none = np.zeros((1, 0), dtype=np.uint32)
    return DeviceAnswer(0, np.array(values, dtype=np.uint64), none, none.astype(np.uint8))


MASKS = {"none": 0, "32B": 1, "64B": 3, "128B": 7}
BITS = {"e4m3": 4, "e5m2": 3}


def read_by_wgmma(operand: Operand, start: int, row: int, k: int) -> int:
    """The byte address of an element, as measured on an H100."""
    fields, size = operand.descriptor, operand.element_bytes
    width = int(str(fields.swizzle).removesuffix("B")) if str(fields.swizzle) != "none" else 16
    plain = str(fields.swizzle) == "none"
    along, across = (k, row) if operand.major == "K" else (row, k)
    far = fields.lbo_bytes
    near = fields.sbo_bytes
    if plain and operand.major == "MN":
        far, near = near, far
    at = start + across % 8 * width + across // 8 * near + along * size % width + along * size // width * far
    if operand.major == "K" and not plain:
        at = start + across % 8 * width + across // 8 * near + along * size
    return at ^ ((at // 128 - fields.base_offset) & MASKS[str(fields.swizzle)]) << 4


def _digits(numbers: np.ndarray, element: str, passes: int) -> np.ndarray:
    bits = BITS.get(element, 8)
    return np.array([numbers.ravel() >> bits * each & (1 << bits) - 1 for each in range(passes)], dtype=np.uint32)


def _operand(run: OperandRun, launch: Launch) -> DeviceAnswer:
    points, operand = run.points, run.points.operand
    names = [loop.name for loop in operand.loops]
    shape = (len(launch.rows), operand.rows, operand.columns)
    wanted, numbers = np.zeros(shape, dtype=np.uint64), np.zeros(shape, dtype=np.int64)
    for number, row in enumerate(launch.rows.tolist()):
        point = {**dict(zip(names, row, strict=True)), points.places[0].name: launch.base}
        env = {**operand.constants, **operand.binding(point)}
        start = points.places[0].at(point) + int(operand.start.at(env))
        base = points.places[1].at(point)
        stage = 0 if operand.stage is None else int(operand.stage.at(env))
        for r, k in np.ndindex(*shape[1:]):
            own = {"MN": r, "K": k}
            coord = [int(at.at(env)) + own[mode] for at, mode in zip(operand.at, operand.modes, strict=True)]
            if points.order is not None:
                along = operand.modes.index("K")
                coord[along] = int(points.order.table[coord[along]])
            wanted[number, r, k] = int(operand.tile.position(coord, stage=stage, base=base))
            found = read_by_wgmma(operand, start, r, k)
            numbers[number, r, k] = (found - launch.window) // operand.element_bytes + 1
    return _numbered(run.element[0], launch, wanted, numbers)


def _numbered(element: str, launch: Launch, wanted: np.ndarray, numbers: np.ndarray) -> DeviceAnswer:
    values = _digits(numbers * launch.touch, element, launch.passes)
    none = np.zeros((launch.passes, 0), dtype=np.uint8)
    return DeviceAnswer(0, wanted.ravel().astype(np.uint64), values, none)


def _fragment(run: FragmentRun, launch: Launch) -> DeviceAnswer:
    """A load, and where the manual's tables have each register part in the product."""
    points, access = run.points, run.points.access
    mma, role, size = points.fragment.mma, points.fragment.role, points.element_bytes
    key = f"m{mma.m}n{mma.n}k{mma.k}" + ("" if size == 2 else " tf32" if size == 4 else " s8")
    place = MANUAL[key, role.value][2]
    words, rows = launch.values_words // len(launch.rows) // access.warps // (mma.rows(role) * mma.k), mma.rows(role)
    numbers = np.zeros((len(launch.rows), access.warps, words, rows, mma.k), dtype=np.int64)
    names = [node.name for node in run.nodes]
    wanted: list[int] = []
    for at, row in enumerate(launch.rows.tolist()):
        for warp in range(access.warps):
            point = {**dict(zip(names, row, strict=True)), access.origin.name: launch.base, "warp": warp}
            wanted += points.sides_at(point)[1].first.ravel().tolist()
            lanes = [(record.address_bytes or 0, 0) for record in access.lanes_at(point)]
            held = Warp(access.instruction.name, lanes, size, lambda first, cell: first + cell * size).registers
            env = {**access.constants, **access.binding(point), "warp": warp}
            for (lane, register, part), address in held.items():
                into = int(points.fragment.register.at({**env, "register": register}))
                r, k = place(lane >> 2, lane % 4, into * (4 // size) + part)
                numbers[at, warp, register, r, k] = (address - launch.window) // size + 1
    return _numbered(mma.element, launch, np.asarray(wanted) // 8, numbers)
