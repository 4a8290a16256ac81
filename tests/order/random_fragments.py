"""The fragments of random kernels: each is race free as it is written, unless it slips."""

from __future__ import annotations

from .random_pieces import BAR, WARP, Pieces

REGION = 2048
"""Bytes of shared memory that a fragment has for itself."""


class RaceWriter(Pieces):
    """Writes one kernel, fragment by fragment."""

    def exchange(self) -> None:
        self.store(self.at("%r0"))
        self.sync()
        self.load(self.at(self.other()))

    def exchange_in_warp(self) -> None:
        self.store(self.at("%r0"))
        self.sync(WARP)
        self.load(self.at(self.op(f"xor.b32 %r0, {32 if self.slip('another warp') else 1}")))

    def own_words(self) -> None:
        """Paths of all kinds, on which each thread touches its own words."""
        self.body(2)

    def access(self) -> None:
        """What stands on such paths."""
        index = self.op("add.u32 %r0, 1") if self.slip("a word of the next thread") else "%r0"
        guard = self.test(f"lt.u32 %r5, {self.source.randrange(40)}") if self.source.random() < 0.2 else ""
        if self.source.random() < 0.6:
            self.store(self.at(index), guard=guard)
        else:
            self.load(self.at(index), guard)

    def arms(self) -> None:
        """Both arms of a branch of threads touch memory."""
        over, end = self.label(), self.label()
        self.put(f"@{self.condition()} bra {over};")
        self.store(self.at("%r0"))
        self.put(f"bra {end};")
        self.put(f"{over}:")
        self.store(self.at("0" if self.slip("arms meet") else "%r0"), "5")
        self.put(f"{end}:")
        self.sync()
        self.load(self.at(self.other()))

    def barrier_in_arm(self) -> None:
        end = self.label()
        self.put(f"@{self.uniform()} bra {end};")
        self.exchange()
        self.sync()
        self.put(f"{end}:")

    def barriers_in_both_arms(self) -> None:
        over, end = self.label(), self.label()
        self.put(f"@{self.uniform()} bra {over};")
        self.store(self.at("%r0"))
        self.sync(BAR)
        self.put(f"bra {end};")
        self.put(f"{over}:")
        self.store(self.at("%r0"), "3")
        self.sync(BAR)
        self.put(f"{end}:")
        self.load(self.at(self.other()))

    def barriers_in_loop(self) -> None:
        own, other = self.at("%r0"), self.at(self.other())

        def body(count: str) -> None:
            self.store(own, count)
            self.sync()
            self.load(other)
            self.sync()

        self.loop_of(self.trips(), body)

    def xor_buffer(self) -> None:
        own, other = (self.op(f"shl.b32 {index}, 2") for index in ("%r0", self.other()))
        flip = 0 if self.slip("one buffer") else 1024

        def body(count: str) -> None:
            self.store(f"{self.op(f'add.u32 {own}, %r9')}+{self.region}", count)
            self.sync()
            self.load(f"{self.op(f'add.u32 {other}, %r9')}+{self.region}")
            for place in (own, other):
                self.put(f"xor.b32 {place}, {place}, {flip};")

        self.loop_of(self.trips(), body)

    def swapped_pointers(self) -> None:
        offsets = [
            self.op(f"add.u32 %r9, {self.region + shift}") for shift in (0, 0 if self.slip("one array") else 1024)
        ]
        mine, theirs = (self.op(f"shl.b32 {index}, 2") for index in ("%r0", self.other()))

        def body(count: str) -> None:
            self.store(self.op(f"add.u32 {offsets[0]}, {mine}"), count)
            self.sync()
            self.load(self.op(f"add.u32 {offsets[0]}, {theirs}"))
            kept = self.op(f"mov.u32 {offsets[0]}")
            self.put(f"mov.u32 {offsets[0]}, {offsets[1]};")
            self.put(f"mov.u32 {offsets[1]}, {kept};")

        self.loop_of(self.trips(), body)

    def ring(self) -> None:
        """Buffers by i % n, with one barrier."""
        stages, other = self.source.choice((2, 3)), self.other()
        behind = self.slip("a stage too far")

        def body(count: str) -> None:
            ahead = self.op(f"add.u32 {count}, {stages - 1}") if behind else count
            first = self.op(f"mad.lo.u32 {self.modulo(ahead, stages)}, 128, %r0")
            self.store(self.at(first), count)
            self.sync()
            self.load(self.at(self.op(f"mad.lo.u32 {self.modulo(count, stages)}, 128, {other}")))

        self.loop_of(self.trips(), body)

    def copies(self) -> None:
        """A ring of cp.async."""
        stages, other, trips = self.source.choice((2, 3)), self.other(), self.source.choice(("4", "5", "%r6"))

        def copy(number: str, guard: str = "") -> None:
            place = self.at(self.op(f"mad.lo.u32 {self.modulo(number, stages)}, 128, %r0"))
            self.put(f"{guard}cp.async.ca.shared.global [{place}], [%d4], 4;")

        for number in range(stages - 1):
            copy(self.op(f"mov.u32 {number}"))
            self.sync("cp.async.commit_group;")

        def body(count: str) -> None:
            self.sync(f"cp.async.wait_group {stages - 2};")
            self.sync()
            self.load(self.at(self.op(f"mad.lo.u32 {self.modulo(count, stages)}, 128, {other}")))
            ahead = self.op(f"add.u32 {count}, {stages - 1}")
            copy(ahead, f"@{self.test(f'lt.u32 {ahead}, {trips}')} ")
            self.sync("cp.async.commit_group;")

        self.loop_of(trips, body)
        self.sync("cp.async.wait_all;")

    def copy_once(self) -> None:
        self.put(f"cp.async.ca.shared.global [{self.at('%r0')}], [%d4], 4;")
        self.sync("cp.async.commit_group;")
        self.sync("cp.async.wait_group 0;")
        if self.source.random() < 0.3:
            self.load(self.at("%r0"))
            return
        self.sync()
        self.load(self.at(self.other()))

    def histogram(self) -> None:
        data = self.op("and.b32 %r0, 15")
        if self.source.random() < 0.4:
            self.put(f"ld.global.u32 {data}, [%d4];")
            self.put(f"and.b32 {data}, {data}, 15;")
        self.store(self.at("%r0"), "0", self.test("lt.u32 %r0, 16"))
        self.sync()
        if self.slip("a plain addition"):
            place = self.at(data)
            self.store(place, self.op(f"add.u32 {self.load(place)}, 1"))
        elif self.source.random() < 0.5:
            self.put(f"red.shared.add.u32 [{self.at(data)}], 1;")
        else:
            self.put(f"atom.shared.add.u32 {self.fresh()}, [{self.at(data)}], %r0;")
        self.sync()
        self.load(self.at(data))

    def warp_tree(self) -> None:
        """A sum within each warp, with barriers of the warp."""
        own, step = self.at("%r0"), self.op("mov.u32 16")
        self.store(own)
        self.sync(WARP)
        head = self.label()
        self.put(f"{head}:")
        value = self.load(self.at(self.op(f"add.u32 %r0, {step}")), self.test(f"lt.u32 %r5, {step}"))
        self.sync(WARP)
        self.store(own, value, self.test(f"lt.u32 %r5, {step}"))
        self.sync(WARP)
        self.put(f"shr.u32 {step}, {step}, 1;")
        self.put(f"@{self.test(f'ne.u32 {step}, 0')} bra {head};")

    def block_tree(self) -> None:
        """A sum within the block, by halves or by neighbours."""
        own = self.at("%r0")
        self.store(own)
        self.sync()
        halves = self.source.random() < 0.5
        step, head = self.op(f"mov.u32 {32 if halves else 1}"), self.label()
        self.put(f"{head}:")
        if halves:
            guard = self.test(f"lt.u32 %r0, {step}")
        else:
            mask = self.op(f"add.u32 {self.op(f'shl.b32 {step}, 1')}, -1")
            guard = self.test(f"eq.u32 {self.op(f'and.b32 %r0, {mask}')}, 0")
        value = self.load(self.at(self.op(f"add.u32 %r0, {step}")), guard)
        self.store(own, value, guard)
        self.sync()
        self.put(f"{'shr.u32' if halves else 'shl.b32'} {step}, {step}, 1;")
        self.put(f"@{self.test(f'ne.u32 {step}, 0' if halves else f'lt.u32 {step}, 64')} bra {head};")

    def shuffled_address(self) -> None:
        """A value that is one in a warp and not in the block is in the address."""
        if self.slip("a shuffle for the block"):
            moved = self.op("sub.u32 0, %r0")
        else:
            moved = self.source.choice(("%r7", "%r0", "%r2"))
        first = self.op(f"shfl.sync.idx.b32 {moved}, 0, 31, -1")
        index = self.op(f"add.u32 %r0, {first}")
        self.store(self.at(index))
        if self.source.random() < 0.5:
            self.load(self.at(index))

    def voted_address(self) -> None:
        vote = self.op(f"vote.sync.ballot.b32 {self.test('lt.u32 %r0, 40')}, -1")
        index = self.op(f"mad.lo.u32 {self.op(f'popc.b32 {vote}')}, {self.source.choice((0, 1, 4))}, %r0")
        self.store(self.at(index))
        if self.source.random() < 0.5:
            self.sync()
            self.load(self.at(self.other()))

    def two_loops(self) -> None:
        """The first loop carries an offset that the second one uses."""
        offset = self.op("mov.u32 0")
        step = self.op("shl.b32 %r0, 2") if self.slip("an offset of threads") else "128"
        self.loop_of(self.source.choice(("2", "3", "%r6")), lambda _: self.put(f"add.u32 {offset}, {offset}, {step};"))
        own, other = self.op("shl.b32 %r0, 2"), self.op(f"shl.b32 {self.other()}, 2")

        def body(count: str) -> None:
            shift = self.op(f"and.b32 {offset}, 1023")
            base = self.op(f"add.u32 {shift}, %r9")
            self.store(f"{self.op(f'add.u32 {base}, {own}')}+{self.region}", count)
            self.sync()
            self.load(f"{self.op(f'add.u32 {base}, {other}')}+{self.region}")
            self.sync()
            self.put(f"add.u32 {offset}, {offset}, {step};")

        self.loop_of(self.trips(), body)

    def nested_loops(self) -> None:
        """A barrier in the inner loop alone; if it slips, the warps make other trips, as many in all."""
        outer, inner = "2", "2"
        if self.slip("trips that add up"):
            second = self.op("min.u32 %r7, 1")
            outer, inner = self.op(f"add.u32 {second}, 1"), self.op(f"sub.u32 2, {second}")
        own, other = self.at("%r0"), self.other()

        def body(number: str) -> None:
            def innermost(count: str) -> None:
                self.store(own, count)
                self.sync(BAR)
                self.load(self.at(self.op(f"mad.lo.u32 {number}, 128, {other}")))
                self.sync(BAR)

            self.loop_of(inner, innermost)

        self.loop_of(outer, body)

    def flag(self) -> None:
        """A word in shared memory decides for the block."""
        word, own, end = self.at("400"), self.at("%r0"), self.label()
        self.store(word, self.source.choice(("%r2", "%r6")), self.test("eq.u32 %r0, 0"))
        self.sync()
        flag = self.load(word)
        if self.source.random() < 0.5:
            self.put(f"@{self.test(f'gt.u32 {flag}, 2')} bra {end};")
            self.store(own)
            self.sync()
            self.load(self.at(self.other()))
            self.put(f"{end}:")
            return
        other = self.at(self.other())

        def body(count: str) -> None:
            self.store(own, count)
            self.sync()
            self.load(other)
            self.sync()

        self.loop_of(self.op(f"min.u32 {flag}, 4"), body)

    def by_parameter(self) -> None:
        """The parameter is a stride or a distance."""
        if self.source.random() < 0.5:
            index = self.op(f"and.b32 {self.op('mul.lo.u32 %r0, %r2')}, 63")
            self.store(self.at(index))
            return
        self.store(self.at("%r0"))
        self.load(self.at(self.op("add.u32 %r0, %r2")))

    def one_value(self) -> None:
        self.store(self.at("0"), "%r0" if self.slip("several values") else "7")

    def bytes_of_words(self) -> None:
        self.put(f"st.shared.u8 [{self.at('%r0', 1)}], %r0;")
        self.sync()
        self.load(self.at(self.op("shr.u32 %r0, 2")))

    def matrix(self) -> None:
        self.store(self.at("%r0"))
        self.sync()
        row = self.at(self.op("and.b32 %r0, 7"), 16)
        self.put(f"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{{self.fresh()}}}, [{row}];")

    def early_return(self) -> None:
        if self.source.random() < 0.5:
            self.store(self.at("%r0"))
        self.put(f"@{self.test(f'ge.u32 %r0, {self.source.choice((20, 32, 48))}')} ret;")

    def write(self) -> None:
        """Fragments, with a barrier where one goes on in the memory of the one before."""
        names = [name for name in FRAGMENTS for _ in range(FRAGMENTS[name])]
        for number in range(self.source.randint(1, 3)):
            name = self.source.choice(names)
            if number:
                if self.source.random() < 0.3:
                    self.constructs.add("memory used again")
                    self.sync(BAR)
                else:
                    self.region += REGION
            self.constructs.add(name)
            getattr(self, name)()


FRAGMENTS = {
    "exchange": 2,
    "exchange_in_warp": 2,
    "own_words": 1,
    "arms": 2,
    "barrier_in_arm": 2,
    "barriers_in_both_arms": 1,
    "barriers_in_loop": 2,
    "xor_buffer": 2,
    "swapped_pointers": 2,
    "ring": 3,
    "copies": 3,
    "copy_once": 1,
    "histogram": 2,
    "warp_tree": 2,
    "block_tree": 2,
    "shuffled_address": 2,
    "voted_address": 1,
    "two_loops": 2,
    "nested_loops": 2,
    "flag": 2,
    "by_parameter": 2,
    "one_value": 1,
    "bytes_of_words": 1,
    "matrix": 1,
    "early_return": 1,
}
"""The fragments, and how often each one is drawn."""
