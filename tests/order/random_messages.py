"""Random kernels of a few warps that send each other messages, in one block or in a cluster of two.

The arrivals, copies, waits, loads and stores of all warps are drawn in one order, which is a run of the kernel. Several
warps copy to one object, so that much of what comes before in this order does not come before by the barriers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .pipeline_pieces import HEAD
from .random_ranks import Cluster

_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_SIZE = 32
_MEET = {1: "bar.sync 0;", 2: "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"}
Warp = tuple[int, int]
"""The rank of its block, and its number there."""


@dataclass
class _Object:
    """A barrier object, with the rank of its block, the warps that arrive and copy, and what its phase lacks."""

    place: int
    rank: int
    arrive: list[Warp]
    copy: list[Warp]
    phases: int
    phase: int = 0
    lacks: list[tuple[str, Warp]] = field(default_factory=list[tuple[str, Warp]])


class _Messages:
    def __init__(self, seed: int, ranks: int) -> None:
        self.source = source = random.Random(seed)
        self.ranks, self.count = ranks, source.choice((2, 3, 3))
        self.warps = [(rank, warp) for rank in range(ranks) for warp in range(self.count)]
        self.lines: dict[Warp, list[str]] = {each: [] for each in self.warps}
        self.passed: dict[tuple[Warp, int], int] = {}
        self.labels = 0
        self.objects = [self.object(place) for place in range(source.choice((2, 2, 3)))]
        self.words = [source.randrange(ranks) for _ in range(source.choice((1, 2)))]

    def object(self, place: int) -> _Object:
        """An object whose first arriving warp is of its block, and expects the bytes."""
        source, rank = self.source, self.source.randrange(self.ranks)
        first = (rank, source.randrange(self.count))
        others = source.sample([each for each in self.warps if each != first], source.choice((0, 0, 0, 1)))
        copy = source.sample(self.warps, min(len(self.warps), source.choice((0, 1, 2, 2, 3))))
        found = _Object(place, rank, [first, *others], copy, source.choice((1, 1, 2)))
        self.begin(found)
        return found

    def begin(self, each: _Object) -> None:
        """The next phase of an object lacks everything."""
        each.lacks = [("arrive", warp) for warp in each.arrive] + [("copy", warp) for warp in each.copy]
        self.source.shuffle(each.lacks)

    def put(self, warp: Warp, line: str) -> None:
        """A line of lane 0."""
        self.lines[warp].append(f"@%p1 {line}")

    def there(self, warp: Warp, base: str, offset: int, rank: int) -> tuple[str, str]:
        """An address in the block of a rank as a warp has it, and the state space of that."""
        if warp[0] == rank:
            return f"[{base}+{offset}]", "shared"
        self.lines[warp].append(f"add.u32 %r30, {base}, {offset};\nmapa.shared::cluster.u32 %r31, %r30, {rank};")
        return "[%r31]", "shared::cluster"

    def wait(self, warp: Warp, each: _Object) -> None:
        """All lanes of a warp wait for the last phase of an object that is over."""
        self.labels += 1
        label, parity = f"W{self.labels}", (each.phase - 1) & 1
        place = f"[%r5+{8 * each.place}]"
        self.lines[warp].append(
            f"{label}:\nmbarrier.try_wait.parity.shared::cta.b64 %p9, {place}, {parity};\n@!%p9 bra {label};"
        )
        self.passed[warp, each.place] = each.phase

    def advance(self, each: _Object) -> bool:
        """One arrival or copy that the phase of an object lacks; false if its warp cannot know that it has begun."""
        what, warp = each.lacks.pop()
        if self.passed.get((warp, each.place), 0) < each.phase:
            if warp[0] != each.rank:
                each.lacks.append((what, warp))
                return False
            self.wait(warp, each)
        own = f"[%r5+{8 * each.place}]"
        if what == "copy":
            self.copy(warp, each, own)
        elif each.copy and warp == each.arrive[0]:
            self.put(warp, f"mbarrier.arrive.expect_tx.shared::cta.b64 _, {own}, {_SIZE * len(each.copy)};")
        else:
            place, space = self.there(warp, "%r5", 8 * each.place, each.rank)
            how = "shared::cta" if space == "shared" else "release.cluster.shared::cluster"
            self.put(warp, f"mbarrier.arrive.{how}.b64 _, {place};")
        if not each.lacks:
            each.phase += 1
            if each.phase < each.phases:
                self.begin(each)
            near = [warp for warp in self.warps if warp[0] == each.rank]
            for warp in self.source.sample(near, self.source.randint(1, len(near))):
                self.wait(warp, each)
        return True

    def copy(self, warp: Warp, each: _Object, own: str) -> None:
        """The copy of a warp to an object, of another block by a mask."""
        to = f"[%r4+{256 * each.place + _SIZE * each.copy.index(warp)}]"
        if warp[0] == each.rank:
            self.put(warp, f"{_COPY} {to}, [%d1], {_SIZE}, {own};")
        else:
            self.put(warp, f"mov.b16 %h1, {1 << each.rank};")
            self.put(warp, f"{_COPY}.multicast::cluster {to}, [%d1], {_SIZE}, {own}, %h1;")

    def access(self) -> None:
        """A word is stored or loaded, or a word of a copy is loaded."""
        source, warp = self.source, self.source.choice(self.warps)
        copied = [each for each in self.objects if each.copy]
        is_word = not copied or source.random() < 0.6
        if is_word:
            word = source.randrange(len(self.words))
            place, space = self.there(warp, "%r4", 3072 + 4 * word, self.words[word])
        else:
            each = source.choice(copied)
            offset = 256 * each.place + _SIZE * source.randrange(len(each.copy))
            place, space = self.there(warp, "%r4", offset, each.rank)
        is_store = is_word and source.random() < 0.5
        self.put(warp, f"st.{space}.u32 {place}, 7;" if is_store else f"ld.{space}.u32 %r9, {place};")

    def meeting(self) -> None:
        """Two warps of a block meet at a named barrier, or one of them only arrives."""
        rank = self.source.randrange(self.ranks)
        one, two = sorted(self.source.sample(range(self.count), 2))
        number, how = 1 + one + two, self.source.choice(("sync", "sync", "arrive"))
        self.lines[rank, one].append(f"bar.{how} {number}, 64;")
        self.lines[rank, two].append(f"bar.sync {number}, 64;")

    def draw(self) -> None:
        """All that happens, in one order."""
        for _ in range(self.source.randint(8, 16)):
            choice, each = self.source.random(), self.source.choice(self.objects)
            if choice < 0.5:
                for _ in range(self.source.randint(1, 4)):
                    if not each.lacks or not self.advance(each):
                        break
            elif choice < 0.6:
                self.meeting()
            else:
                self.access()
        for each in self.objects:
            while each.lacks and self.advance(each):
                pass


def messages(seed: int) -> Cluster:
    """The random kernel of a seed."""
    ranks = 1 + (seed % 4 == 0)
    drawn = _Messages(seed, ranks)
    drawn.draw()
    body = [f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * each.place}], {len(each.arrive)};" for each in drawn.objects]
    body += [_MEET[ranks], f"mov.u32 %r21, {'%cluster_ctarank' if ranks > 1 else 0};"]
    body.append(f"mad.lo.u32 %r22, %r21, {drawn.count}, %r2;")
    for at, warp in enumerate(drawn.warps):
        body += [f"setp.ne.u32 %p8, %r22, {at};", f"@%p8 bra N{at};", *drawn.lines[warp], "bra END;", f"N{at}:"]
    body += ["END:", *([_MEET[2]] if ranks > 1 else [])]
    head = HEAD.replace(".reg .b64 %d<9>;", ".reg .b64 %d<9>;\n.reg .b16 %h<9>;")
    text = head + "\n".join(body) + "\nret;\n}\n"
    return Cluster(seed, text, (32 * drawn.count, 1, 1), (ranks, 1, 1), frozenset({"messages"}))
