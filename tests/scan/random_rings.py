"""Random kernels that multiply what lies in a ring of stages, and mistakes that are planted in them.

How a tile is copied and read is that of `fragment_programs` (mma.sync) and of `fill_programs` (wgmma). The ring around
it is written here: how far copies are ahead of products, how stages turn, what trips copy what, and who copies: the
threads that multiply, or others, with mbarriers between them. Section 9 of docs/semantics.md says what such a kernel
means, and `ring_oracle` what it multiplies in a launch.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tests.scan import fill_programs, fragment_programs
from tests.scan.fragment_programs import Writer

Tiles: TypeAlias = fragment_programs.Program | fill_programs.Program
TURNS = ("rem", "and", "counter", "bytes", "xor", "fixed")
"""How the stage of a trip is found: as a remainder, by low bits, as a counter of stages or of bytes that goes back, by
an XOR of two stages, or as a number in a loop that has a trip for each stage in its text."""


@dataclass(frozen=True)
class Mistakes:
    """What is wrong in a ring, for the operands that each name has: none, `a`, `b` or `ab`.

    Attributes:
        read: The stage that is read is one too far.
        write: The stage that is filled in the loop is one too far.
        shallow: One stage fewer is filled before the loop.
        early: Copies of the loop bring the tile before theirs.
        late: Copies of the loop bring the tile behind theirs.
        once: Copies of the loop are made in its first trip alone.
        still: Copies of the loop bring one tile in all trips.
        turn: Stages that are read turn one stage too early.
        pitch: Reads take stages for half as long as they are.
        begin: Columns of K begin with 0 and not with those of this launch.
        reset: Columns of K go on in the next tile of the product.
    """

    read: str = ""
    write: str = ""
    shallow: str = ""
    early: str = ""
    late: str = ""
    once: str = ""
    still: str = ""
    turn: str = ""
    pitch: str = ""
    begin: str = ""
    reset: str = ""


@dataclass(frozen=True)
class Tile:
    """A k-tile that is copied into a stage of its own and multiplied: a number, and steps for each loop around."""

    number: int
    steps: tuple[int, ...]
    stage: int


@dataclass(frozen=True)
class Times:
    """A loop with so many trips, or with `n` if that is 0; it may start sums anew in each."""

    count: int
    is_anew: bool
    body: tuple[Tile | Times, ...]


@dataclass(frozen=True)
class Ring:
    """A kernel.

    Attributes:
        tiles: How each operand is copied and read; its own number of stages counts for nothing.
        stages: Stages of the ring.
        ahead: Stages that are filled before the loop over k-tiles.
        order: The order of the copies.
        reading: How the stage that is read is found, one of `TURNS`.
        writing: The same for the stage that is filled.
        is_behind: Whether a trip copies behind its products, with a barrier between them, and not before.
        roles: Whether other threads copy, with mbarriers.
        is_joint: Whether a stage has both operands side by side; else each operand has a ring of its own.
        guard: Whether copies behind the last k-tile are left out.
        unrolled: How many k-tiles a trip has in the text.
        peeled: Whether the last trip stands behind the loop.
        outer: Whether a loop over tiles of the product stands around the loop over k-tiles.
        has_begin: Whether a parameter says with which k-tile a launch begins.
        groups: Whether threads wait for all copies but the newest groups.
        parted: Whether a barrier stands between the copies of A and those of B.
        is_anew: Whether `wgmma` starts sums anew by a predicate, and not from zeros.
        plan: Loops and tiles that all threads copy and multiply, in place of a ring.
    """

    tiles: Tiles
    stages: int = 2
    ahead: int = 1
    order: str = "ab"
    reading: str = "rem"
    writing: str = "rem"
    is_behind: bool = True
    roles: bool = False
    is_joint: bool = True
    guard: bool = False
    unrolled: int = 1
    peeled: bool = False
    outer: bool = False
    has_begin: bool = False
    groups: bool = False
    parted: bool = False
    is_anew: bool = False
    plan: tuple[Tile | Times, ...] = ()
    mistakes: Mistakes = field(default_factory=Mistakes)
    name: str = "none"
    """The mistake, if one is planted."""

    @property
    def is_of_turns(self) -> bool:
        """Whether a stage may be read before it is filled anew: section 9 does not say when elements are written."""
        wrong = self.mistakes
        return bool(wrong.read or wrong.write or wrong.pitch or wrong.shallow)

    @property
    def is_wgmma(self) -> bool:
        return isinstance(self.tiles, fill_programs.Program)

    @property
    def consumers(self) -> int:
        return 128 if isinstance(self.tiles, fill_programs.Program) else self.tiles.threads

    @property
    def threads(self) -> int:
        return self.consumers * (2 if self.roles else 1)

    def is_boxed(self, role: str) -> bool:
        """Whether tensor copies bring an operand."""
        side = self.tiles.a if role == "a" else self.tiles.b
        return isinstance(side, fill_programs.Side) and bool(side.box)

    @property
    def maps(self) -> tuple[str, ...]:
        return self.tiles.maps if isinstance(self.tiles, fill_programs.Program) else ()

    def room(self, role: str) -> tuple[int, int]:
        """The bytes from stage to stage, and where the first one begins, less what the pieces add to B."""
        if self.is_joint:
            return self.tiles.stage_bytes, 0
        own = [self.tiles.tile_bytes(side) for side in (self.tiles.a, self.tiles.b)]
        return (own[0], 0) if role == "a" else (own[1], (self.stages - 1) * own[0])


def write(ring: Ring) -> str:
    """The PTX of a kernel."""
    return _Text(ring).whole()


class _Text:
    """Writes one kernel."""

    def __init__(self, ring: Ring) -> None:
        self.ring, self.out = ring, Writer()
        self.labels = 0

    # ---- words

    def put(self, *lines: str) -> None:
        self.out.lines += lines

    def label(self) -> str:
        self.labels += 1
        return f"J{self.labels}"

    def has(self, mistake: str, role: str) -> bool:
        return role in getattr(self.ring.mistakes, mistake)

    def unless(self, condition: str, first: str, second: str, over: str) -> None:
        """Jump to a label if a comparison holds."""
        self.put(f"setp.{condition}.u32 %p9, {first}, {second}; @%p9 bra {over};")

    # ---- stages

    def place(self, role: str, how: str, number: str, counter: str, fixed: int, *, reads: bool) -> str:
        """The bytes from the base to the stage of a k-tile; `counter` is the register that goes on with it."""
        ring = self.ring
        pitch, first = ring.room(role)
        if reads and self.has("pitch", role):
            pitch //= 2
        shift = int(self.has("read" if reads else "write", role))
        if how == "fixed":
            return str((fixed + shift) % ring.stages * pitch + first)
        if how in ("bytes", "xor"):
            stage = self.out.op("div.u32", counter, ring.tiles.stage_bytes)
            if shift == 0 and pitch == ring.tiles.stage_bytes:
                return self.out.op("add.u32", counter, first)
        elif how == "counter":
            stage = counter
        elif how == "and":
            stage = self.out.op("and.b32", number, ring.stages - 1)
        else:
            stages = ring.stages - int(reads and self.has("turn", role) and ring.stages > 1)
            stage = self.out.op("rem.u32", number, stages)
        if shift:
            stage = self.out.op("rem.u32", self.out.op("add.u32", stage, 1), ring.stages)
        return self.out.op("mad.lo.u32", stage, pitch, first)

    def turn(self, how: str, counter: str, *, reads: bool) -> None:
        """Go on to the next stage of the ring."""
        ring, step = self.ring, 1 if how == "counter" else self.ring.tiles.stage_bytes
        if how == "xor":
            self.put(f"xor.b32 {counter}, {counter}, {step};")
        elif how in ("counter", "bytes"):
            is_early = reads and ring.mistakes.turn and ring.stages > 1
            end = (ring.stages - int(bool(is_early))) * step
            self.put(f"add.u32 {counter}, {counter}, {step};")
            self.put(f"setp.eq.u32 %p9, {counter}, {end}; selp.b32 {counter}, 0, {counter}, %p9;")

    def begin(self, how: str, counter: str, first: int) -> None:
        step = self.ring.tiles.stage_bytes if how in ("bytes", "xor") else 1
        self.put(f"mov.u32 {counter}, {first % self.ring.stages * step};")

    # ---- copies and products

    def copy(self, role: str, where: str, number: str) -> None:
        """Copy one operand of a k-tile to `where`."""
        ring, tiles = self.ring, self.ring.tiles
        own = number
        if ring.has_begin and not self.has("begin", role):
            own = self.out.op("add.u32", number, "%k0")
        if isinstance(tiles, fragment_programs.Program):
            fragment_programs.fill(self.out, tiles, where, own, is_loop=False, roles=role)
            return
        self.put(f"mov.u32 %r9, {where}; mov.u32 %r10, {own};")
        lines = fill_programs.fill(tiles, is_loop=False, is_dump=False, roles=role)
        self.put(*(each.replace("mov.u32 %r16, full;", "mov.u32 %r16, %full;") for each in lines if each))

    def fill(self, number: str, counter: str, fixed: int, *, loop: bool) -> None:
        """Copy both operands of a k-tile."""
        ring = self.ring
        for role in ring.order:
            if ring.parted and role == ring.order[1] and not ring.roles:
                self.put("bar.sync 0;")
            how = ring.writing if loop else "fixed"
            own, over = number, self.label()
            if self.has("reset", role):
                own = self.out.op("mad.lo.u32", "%o", "%n", own)
            if loop and self.has("early", role):
                own = self.out.op("sub.u32", own, 1)
            if loop and self.has("late", role):
                own = self.out.op("add.u32", own, 1)
            if loop and self.has("still", role):
                own = str(ring.ahead)
            if loop and self.has("once", role):
                self.unless("ne", "%trip", "0", over)
            if not loop:
                place = str(fixed % ring.stages * ring.room(role)[0] + ring.room(role)[1])
            else:
                place = self.place(role, how, number, counter, fixed, reads=False)
            self.copy(role, place, own)
            self.put(f"{over}:")

    def use(self, number: str, fixed: int) -> None:
        """Multiply a k-tile."""
        ring, tiles = self.ring, self.ring.tiles
        where = [self.place(role, ring.reading, number, "%rs", fixed, reads=True) for role in "ab"]
        if isinstance(tiles, fragment_programs.Program):
            for step in range(tiles.steps):
                a = fragment_programs.loads(self.out, tiles, tiles.a, step, 0, where[0])
                b = [fragment_programs.loads(self.out, tiles, tiles.b, step, at, where[1]) for at in range(tiles.tiles)]
                for tile in range(tiles.tiles):
                    fragment_programs.product(self.out, tiles, [[a], b], step, tile, is_dump=False)
            return
        self.put("wgmma.fence.sync.aligned;")
        sums = ", ".join(f"%f{at}" for at in range(tiles.b.rows // 2))
        for step in range(tiles.steps):
            scale = "1"
            if ring.is_anew and step == 0:
                self.put("setp.ne.u32 %p8, %k, 0;")
                scale = "%p8"
            stages = where[0], where[1]
            self.put(*fill_programs.multiply(tiles, step, sums, is_dump=False, stages=stages, scale=scale))
        self.put("wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;")

    def zero(self) -> None:
        tiles = self.ring.tiles
        if isinstance(tiles, fragment_programs.Program):
            self.put(*(f"mov.b32 %s{at}, 0;" for at in range(4 * tiles.tiles)))
        elif not self.ring.is_anew:
            self.put(*(f"mov.f32 %f{at}, 0f00000000;" for at in range(tiles.b.rows // 2)))

    # ---- the kernel

    def whole(self) -> str:
        ring, tiles = self.ring, self.ring.tiles
        self.put("mov.u32 %thread, %tid.x; mov.u32 %base, tile; mov.u32 %r5, %tid.x; mov.u32 %r4, tile;")
        self.put("mov.u32 %full, full; mov.u32 %empty, empty; mov.u32 %o, 0; mov.u32 %g, 0; mov.u32 %kk, 0;")
        self.put("mov.b64 %w7, %w1; mov.b64 %w8, %w2;")
        (self.planned if ring.plan else self.in_roles if ring.roles else self.together)()
        self.put("ret;\n}")
        size, side = ring.stages * tiles.stage_bytes + 2048, ring.is_wgmma
        return f"""
.version 8.4
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[{size}];
.shared .align 8 .b64 full[8];
.shared .align 8 .b64 empty[8];
.entry k(.param .u64 a, .param .u64 b, .param .u32 lda, .param .u32 ldb, .param .u32 n, .param .u32 m, .param .u32 k0{
            ", .param .align 64 .b8 amap[128], .param .align 64 .b8 bmap[128]" if side else ""
        })
.reqntid {ring.threads}
{{
.reg .pred %p<12>; .reg .b32 %v<{self.out.count + 1}>; .reg .b64 %w<9>; .reg .b32 %r<60>; .reg .b64 %rd<10>;
.reg .f32 %f<40>; .reg .b32 %thread, %base, %trip, %lda, %ldb, %n, %m, %k0, %o, %k, %kk, %g, %rs, %ws, %full, %empty;
.reg .b32 %s<{8 if side else 4 * getattr(tiles, "tiles", 0)}>; .reg .b32 %last, %phase, %bar;
ld.param.u64 %w1, [a]; ld.param.u64 %w2, [b]; ld.param.u32 %lda, [lda]; ld.param.u32 %ldb, [ldb];
ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; ld.param.u32 %k0, [k0];
mov.b64 %rd1, %w1; mov.b64 %rd2, %w2; mov.u32 %r1, %lda; mov.u32 %r2, %ldb;
""" + "\n".join(self.out.lines)

    def planned(self) -> None:
        """Loops and tiles as the plan has them."""
        self.zero()
        pending: list[tuple[Tile | Times | str, tuple[str, ...]]] = [(each, ()) for each in reversed(self.ring.plan)]
        while pending:
            step, around = pending.pop()
            if isinstance(step, str):
                self.put(step)
            elif isinstance(step, Tile):
                number = str(step.number)
                for trips, by in zip(around, step.steps, strict=True):
                    number = self.out.op("mad.lo.u32", trips, by, number)
                for role in "ab":
                    pitch, first = self.ring.room(role)
                    self.copy(role, str(step.stage * pitch + first), number)
                self.put("cp.async.commit_group;", "cp.async.wait_all;", "bar.sync 0;")
                if self.ring.is_wgmma:
                    self.put("fence.proxy.async.shared::cta;")
                self.use(number, step.stage)
                self.put("bar.sync 0;")
            else:
                trips, head = self.out.op("mov.b32", "0"), self.label()
                self.put(f"{head}:")
                if step.is_anew:
                    self.zero()
                end = f"setp.lt.u32 %p7, {trips}, {step.count or '%n'}; @%p7 bra {head};"
                pending.append((f"add.u32 {trips}, {trips}, 1; {end}", ()))
                pending += [(each, (*around, trips)) for each in reversed(step.body)]

    def together(self) -> None:
        """All threads copy and multiply."""
        ring = self.ring
        if ring.outer:
            self.put("O:")
        self.zero()
        self.put("mov.u32 %trip, 0; mov.u32 %k, 0;")
        self.begin(ring.reading, "%rs", 0)
        self.begin(ring.writing, "%ws", ring.ahead)
        for stage in range(ring.ahead):
            for role in ring.order:
                if self.has("shallow", role) and stage == ring.ahead - 1:
                    continue
                own = str(stage)
                if self.has("reset", role):
                    own = self.out.op("mad.lo.u32", "%o", "%n", stage)
                place = str(stage % ring.stages * ring.room(role)[0] + ring.room(role)[1])
                self.copy(role, place, own)
            self.put("cp.async.commit_group;")
        self.put(f"sub.u32 %last, %n, {ring.unrolled if ring.peeled else 0};")
        if ring.peeled:
            self.unless("eq", "%last", "0", "T")
        self.put("L:")
        self.trips(copies=True)
        self.put("setp.lt.u32 %p7, %trip, %last; @%p7 bra L;")
        if ring.peeled:
            self.put("T:")
            self.trips(copies=False)
        if ring.outer:
            self.put("bar.sync 0; add.u32 %o, %o, 1; setp.lt.u32 %p7, %o, %m; @%p7 bra O;")

    def trips(self, *, copies: bool) -> None:
        """The k-tiles of a trip; copies for the next trip are left out behind the loop."""
        ring = self.ring
        for at in range(ring.unrolled):
            after = self.out.op("add.u32", "%trip", ring.ahead)
            is_made = copies or at + ring.ahead < ring.unrolled
            if ring.ahead == 0:
                self.guarded(after, at)
            self.put(f"cp.async.wait_group {max(0, ring.ahead - 1)};" if ring.groups else "cp.async.wait_all;")
            self.put("bar.sync 0;")
            if ring.is_wgmma:
                self.put("fence.proxy.async.shared::cta;")
            if ring.ahead and not ring.is_behind and is_made:
                self.guarded(after, at + ring.ahead)
            self.use("%trip", at)
            if ring.is_behind or ring.stages == 1:
                self.put("bar.sync 0;")
            if ring.ahead and ring.is_behind and is_made:
                self.guarded(after, at + ring.ahead)
            self.turn(ring.reading, "%rs", reads=True)
            self.turn(ring.writing, "%ws", reads=False)
            self.put("add.u32 %trip, %trip, 1; add.u32 %k, %k, 1;")

    def guarded(self, number: str, fixed: int) -> None:
        """The copies of a trip, unless they are behind the last k-tile; the group has none then."""
        over = self.label()
        if self.ring.guard:
            self.unless("ge", number, "%n", over)
        self.fill(number, "%ws", fixed, loop=True)
        self.put(f"{over}:", "cp.async.commit_group;")

    # ---- with a role for copies

    def in_roles(self) -> None:
        """Some threads copy, and others multiply."""
        ring = self.ring
        boxed = [role for role in "ab" if ring.is_boxed(role)]
        by_threads = ring.consumers if len(boxed) < 2 else 0
        for stage in range(ring.stages):
            self.put(
                f"setp.eq.u32 %p6, %r5, 0; @%p6 mbarrier.init.shared::cta.b64 [%full+{8 * stage}], "
                f"{by_threads + int(bool(boxed))};"
            )
            self.put(f"@%p6 mbarrier.init.shared::cta.b64 [%empty+{8 * stage}], {ring.consumers};")
        self.put("bar.sync 0;", f"setp.ge.u32 %p6, %r5, {ring.consumers}; @%p6 bra FILL;")
        self.nest("USE", self.consume)
        self.put("bra DONE;", "FILL:")
        self.put(f"sub.u32 %r5, %r5, {ring.consumers}; sub.u32 %thread, %thread, {ring.consumers};")
        if not by_threads:
            self.put("setp.ne.u32 %p6, %r5, 0; @%p6 bra DONE;")
        self.nest("COPY", self.produce)
        self.put("DONE:")

    def nest(self, name: str, body: object) -> None:
        """The loops of a role."""
        ring = self.ring
        assert callable(body)
        counter, how = ("%rs", ring.reading) if name == "USE" else ("%ws", ring.writing)
        self.begin(how, counter, 0)
        self.put("mov.u32 %phase, 0; mov.u32 %g, 0; mov.u32 %o, 0;", f"{name}O:" if ring.outer else "")
        if name == "USE":
            self.zero()
        self.put("mov.u32 %trip, 0; mov.u32 %k, 0;")
        self.put(f"{name}:")
        for at in range(ring.unrolled):
            self.stage_of(name)
            body(at)
            self.turn(how, counter, reads=name == "USE")
            self.put("add.u32 %trip, %trip, 1; add.u32 %k, %k, 1; add.u32 %g, %g, 1;")
        self.put(f"setp.lt.u32 %p7, %trip, %n; @%p7 bra {name};")
        if ring.outer:
            self.put(f"add.u32 %o, %o, 1; setp.lt.u32 %p7, %o, %m; @%p7 bra {name}O;")

    def stage_of(self, name: str) -> None:
        """The barrier objects of a stage, and the parity of its phase."""
        ring = self.ring
        stage = self.out.op("rem.u32", "%g", ring.stages)
        around = self.out.op("and.b32", self.out.op("div.u32", "%g", ring.stages), 1)
        parity = around if name == "USE" else self.out.op("xor.b32", around, 1)
        own, other = ("full", "empty") if name == "USE" else ("empty", "full")
        waits = self.out.op("mad.lo.u32", stage, 8, f"%{own}")
        self.put(f"mad.lo.u32 %bar, {stage}, 8, %{other};")
        head = self.label()
        self.put(f"{head}: mbarrier.try_wait.parity.shared::cta.b64 %p7, [{waits}], {parity}; @!%p7 bra {head};")

    def consume(self, fixed: int) -> None:
        self.use("%g", fixed)
        self.put("mbarrier.arrive.shared::cta.b64 _, [%bar];")

    def produce(self, fixed: int) -> None:
        ring = self.ring
        boxed = [role for role in "ab" if ring.is_boxed(role)]
        if boxed:
            sides = [ring.tiles.a if role == "a" else ring.tiles.b for role in boxed]
            count = 0
            for side in sides:
                assert isinstance(side, fill_programs.Side)
                assert isinstance(ring.tiles, fill_programs.Program)
                count += ring.tiles.line_bytes(side) * ring.tiles.lines(side)
            self.put("setp.eq.u32 %p6, %r5, 0;")
            self.put(f"@%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {count};")
        self.put("mov.u32 %r16, %bar;")
        for role in ring.order:
            own, over = "%trip", self.label()
            if self.has("reset", role):
                own = "%g"
            if self.has("late", role):
                own = self.out.op("add.u32", own, 1)
            if self.has("still", role):
                own = "0"
            if self.has("once", role):
                self.unless("ne", "%g", "0", over)
            place = self.place(role, ring.writing, "%g", "%ws", fixed, reads=False)
            before = len(self.out.lines)
            self.copy(role, place, own)
            self.out.lines[before:] = [each.replace("%r16, %full", "%r16, %bar") for each in self.out.lines[before:]]
            self.put(f"{over}:")
        if len(boxed) < 2:
            if any(not side.stored for side in (ring.tiles.a, ring.tiles.b)):
                self.put("cp.async.wait_all;")
            self.put("fence.proxy.async.shared::cta;" if ring.is_wgmma else "")
            self.put("mbarrier.arrive.shared::cta.b64 _, [%bar];")


def right(draw: random.Random) -> Ring:
    """A kernel without a mistake."""
    roles = draw.random() < 0.4
    stages = draw.choice([1, 2, 2, 3, 3, 4, 5])
    unrolled = draw.choice([1, 1, 1, stages])
    if draw.random() < 0.5:
        most = 2 if unrolled > 1 or draw.random() < 0.6 else 4
        tiles = fragment_programs.right(draw)
        while tiles.steps * tiles.tiles > most:
            tiles = fragment_programs.right(draw)
        tiles = replace(tiles, ahead=False, tail="", parted=False, modulo=False)
    else:
        tiles = fill_programs.right(draw)
        if roles and draw.random() < 0.7:
            tiles = fill_programs.by_tensor_copies(tiles, draw)
    is_behind = draw.random() < 0.5
    ahead = 0 if roles else draw.randrange(stages + 1 if is_behind else stages)
    turns = [each for each in TURNS if each != "fixed"]
    turns = [each for each in turns if stages & (stages - 1) == 0 or each != "and"]
    turns = [each for each in turns if stages == 2 or each != "xor"]
    if unrolled == stages and not roles:
        turns = [*turns, "fixed", "fixed"]
    peeled = draw.random() < 0.25 and not roles
    return Ring(
        tiles,
        stages,
        ahead,
        draw.choice(["ab", "ab", "ba"]),
        draw.choice(turns),
        draw.choice(turns),
        is_behind,
        roles,
        draw.random() < 0.7,
        draw.random() < 0.5,
        unrolled,
        peeled,
        draw.random() < 0.3,
        draw.random() < 0.3,
        draw.random() < 0.5 and not peeled,
        draw.random() < 0.15,
        draw.random() < 0.3,
    )


NAMES = ("read", "write", "shallow", "early", "late", "once", "still", "turn", "pitch", "begin", "reset")


def planted(ring: Ring, draw: random.Random) -> Ring:
    """The kernel with a mistake of the ring, or of how an operand is copied or read; it may change nothing."""
    if draw.random() < 0.4:
        tiles = ring.tiles
        if isinstance(tiles, fragment_programs.Program):
            own = ("mask", "read mask", "trans", "swapped", "order", "shift", "step", "both steps", "advance")
            name = draw.choice(own)
            return replace(ring, tiles=fragment_programs.planted(tiles, name, draw), name=name)
        name = draw.choice([each for each in fill_programs.MISTAKES if each not in ("none", "late")])
        return replace(ring, tiles=fill_programs.planted(tiles, name, draw), name=name)
    names = [each for each in NAMES if each != "shallow" or ring.ahead]
    names = [each for each in names if each != "early" or ring.ahead]
    names = [each for each in names if each != "begin" or ring.has_begin]
    names = [each for each in names if each != "reset" or ring.outer]
    name, roles = draw.choice(names), draw.choice(["a", "b", "ab"])
    return replace(ring, mistakes=replace(Mistakes(), **{name: roles}), name=f"{name} of {roles}")


def drawn(seed: int) -> Ring:
    """The kernel of a seed: one in three is right."""
    draw = random.Random(seed)
    ring = right(draw)
    return ring if draw.random() < 0.35 else planted(ring, draw)
