"""The pieces that random kernels are made of: barriers, loads and stores, conditions, loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.kernel.path_programs import Writer

BAR, WARP = "bar.sync 0;", "bar.warp.sync -1;"
BARRIERS = (BAR, BAR, BAR, "barrier.sync 0;", "bar.sync 1;", "bar.red.popc.u32 %r99, 0, %p1;")


@dataclass
class Pieces(Writer):
    """Writes pieces of a kernel; `slips` is the chance that a fragment does something wrong."""

    slips: float = 0.0
    region: int = 0
    syncs: list[int] = field(default_factory=list)
    """Lines that order accesses."""
    constructs: set[str] = field(default_factory=set)

    def slip(self, what: str) -> bool:
        """Whether to do something wrong here."""
        found = self.source.random() < self.slips
        if found:
            self.constructs.add(f"slip: {what}")
        return found

    def sync(self, text: str = "") -> None:
        """A line that orders accesses; a barrier of the block if none is given."""
        self.syncs.append(len(self.lines))
        self.put(text or self.source.choice(BARRIERS))

    def op(self, text: str) -> str:
        """A new register for `text`, which begins with the opcode."""
        into, (opcode, _, operands) = self.fresh(), text.partition(" ")
        self.put(f"{opcode} {into}, {operands};")
        return into

    def test(self, text: str) -> str:
        """A new predicate for the comparison `text`."""
        into, (relation, _, operands) = self.predicate(), text.partition(" ")
        self.put(f"setp.{relation} {into}, {operands};")
        return into

    def at(self, index: str, scale: int = 4) -> str:
        """The address of an element of the fragment's region."""
        place = self.op(f"mad.lo.u32 {index}, {scale}, %r9")
        return self.op(f"add.u32 {place}, {self.region}") if self.source.random() < 0.3 else f"{place}+{self.region}"

    def other(self) -> str:
        """The number of another thread's word."""
        match self.source.randrange(5):
            case 0:
                return self.op("xor.b32 %r0, 32")
            case 1:
                return self.op("add.u32 %r0, 1")
            case 2:
                last = self.op("sub.u32 %r8, %r0")
                return self.op(f"sub.u32 {last}, 1")
            case 3:
                return self.op("and.b32 %r0, 7")
            case _:
                return self.op("xor.b32 %r0, 1")

    def store(self, place: str, value: str = "%r0", guard: str = "") -> None:
        self.access_of(place, value, guard, "st")

    def load(self, place: str, guard: str = "") -> str:
        into = self.fresh()
        self.access_of(place, into, guard, "ld")
        return into

    def access_of(self, place: str, value: str, guard: str, opcode: str) -> None:
        """A load or a store, sometimes by a generic address."""
        guard = f"@{guard} " if guard else ""
        register, _, offset = place.partition("+")
        space = ".shared"
        if self.source.random() < 0.08:
            self.constructs.add("generic address")
            wide = f"%d{20 + self.source.randrange(60)}"
            self.put(f"cvt.u64.u32 {wide}, {register};")
            self.put(f"cvta.shared.u64 {wide}, {wide};")
            space, place = "", f"{wide}+{offset or 0}"
        form = f"[{place}], {value}" if opcode == "st" else f"{value}, [{place}]"
        self.put(f"{guard}{opcode}{space}.u32 {form};")

    def uniform(self) -> str:
        """A condition that is one for the block, unless it slips."""
        if self.slip("a condition of threads"):
            return self.test(f"lt.u32 {self.source.choice(('%r0', '%r5', '%r7'))}, {self.source.choice((1, 16, 20))}")
        return self.test(self.source.choice(("gt.u32 %r2, 1", "eq.u32 %r1, 0", "ne.u32 %r6, 3", "lt.u32 %r2, 1000")))

    def trips(self) -> str:
        """A number of trips that is one for the block, unless it slips."""
        if self.slip("trips of threads"):
            return self.op(f"and.b32 {self.source.choice(('%r0', '%r7'))}, 3")
        return self.source.choice(("2", "3", "4", "%r6", self.op("min.u32 %r2, 5")))

    def loop_of(self, trips: str, body: Callable[[str], None], begin: str = "0") -> str:
        """A counted loop; gives the counter."""
        count, head, end = self.op(f"mov.u32 {begin}"), self.label(), self.label()
        if self.source.random() < 0.5:
            self.put(f"{head}:")
            self.put(f"@{self.test(f'ge.u32 {count}, {trips}')} bra {end};")
            body(count)
            self.put(f"add.u32 {count}, {count}, 1;")
            self.put(f"bra {head};")
        else:
            self.put(f"{head}:")
            body(count)
            self.put(f"add.u32 {count}, {count}, 1;")
            self.put(f"@{self.test(f'lt.u32 {count}, {trips}')} bra {head};")
        self.put(f"{end}:")
        return count

    def modulo(self, value: str, stages: int) -> str:
        """The remainder, as compilers write it or as it is."""
        if stages == 3 and self.source.random() < 0.5:
            high = self.op(f"mul.hi.u32 {value}, -1431655765")
            third = self.op(f"shr.u32 {high}, 1")
            return self.op(f"sub.u32 {value}, {self.op(f'mul.lo.u32 {third}, 3')}")
        return self.op(f"rem.u32 {value}, {stages}")
