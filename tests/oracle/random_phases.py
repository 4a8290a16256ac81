"""Random specs with phases: rings of stages that are written and read in some order, with barriers
and waits at random places.
"""

from __future__ import annotations

import random

from .yaml_values import Spec, Yaml

THREADS = (32, 64)
WRITES = ("st.shared.b32", "st.shared.b32", "cp.async.4")
WIDE = {"ld.shared.b32": ("ld.shared.v2.b32", "ld.shared.v4.b32"), "st.shared.b32": ("st.shared.v2.b32",)}
LOOPS: tuple[Yaml, ...] = ("any", "any", "any", 0, 1, 3, 7)


def phase_spec(source: random.Random) -> Spec:
    """A spec with one phase, and claims on it."""
    return _Draw(source).spec()


class _Draw:
    """The choices of one spec."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.threads, self.stages = source.choice(THREADS), source.choice((1, 2, 2, 3, 4))
        self.loop: Yaml = source.choice(LOOPS) if source.random() < 0.95 else None
        self.names = ["T", "U"] if source.random() < 0.2 else ["T"]
        self.is_bare = source.random() < 0.4
        self.shifts: dict[str, int] = {}
        self.copies: set[str] = set()

    def spec(self) -> Spec:
        """The whole of it."""
        source, accesses = self.source, dict[str, Yaml]()
        reads, writes = list[str](), list[str]()
        for number in range(source.choice((2, 2, 3, 3, 4))):
            writes_it = number == 0 or (number > 1 and source.random() < 0.3)
            name = f"{'w' if writes_it else 'r'}{number}"
            (writes if writes_it else reads).append(name)
            accesses[name] = self._access(name, writes=writes_it)
        phase: dict[str, Yaml] = {"steps": self._steps(list(accesses), inside=True)}
        if self.loop is not None:
            phase["for"] = {"i": self.loop}
        if source.random() < 0.3:
            phase["before"] = self._before(writes)
        if source.random() < 0.2:
            phase["after"] = self._steps(source.sample(sorted(accesses), 1), inside=False)
        claims: list[Yaml] = [{"race_free": "P"}]
        stores = [name for name in writes if not self._is_atomic(accesses[name])]
        late = str(phase.get("after"))
        claims += [
            {"reads_what_was_written": self._delivery(read, write)}
            for read in reads
            for write in stores
            if read not in late and write not in late
        ]
        found: Spec = {
            "swzverify": 1,
            "target": "sm_90",
            "accesses": accesses,
            "phases": {"P": phase},
            "claims": claims,
        }
        if not self.is_bare:
            found["tiles"] = {name: self._tile(at) for at, name in enumerate(self.names)}
            if len(self.names) > 1:
                found["memories"] = {"M": {"bytes": 8192, "align": 1024}}
        return found

    def _is_atomic(self, access: Yaml) -> bool:
        return isinstance(access, dict) and str(access["instruction"]).startswith("atom")

    def _delivery(self, read: str, write: str) -> Yaml:
        keys: dict[str, Yaml] = {"read": read, "write": write}
        if self.source.random() < 0.2:
            keys["phase"] = "P"
        if self.source.random() < 0.15:
            keys["lag"] = self.source.randrange(4)
        return keys

    def _tile(self, at: int) -> Yaml:
        source, threads = self.source, self.threads
        layout = f"(8,{threads // 8}):{source.choice(('(1,8)', f'({threads // 8},1)'))}"
        tile: dict[str, Yaml] = {"element": "f32", "layout": layout, "stages": self.stages}
        if source.random() < 0.3:
            tile["swizzle"] = "Swizzle<2,0,3>"
        if len(self.names) > 1:
            # Where the second one begins, the first one ends, or has not yet ended.
            tile["base"] = {"in": "M", "offset": at * 1024 * source.choice((1, 1, 1, 0))}
        return tile

    def _access(self, name: str, *, writes: bool) -> Yaml:
        source, threads, stages = self.source, self.threads, self.stages
        thread = source.choice(("tid", "tid", "(tid ^ 1)", f"({threads - 1} - tid)", f"((tid + 5) % {threads})"))
        instruction = source.choice(WRITES) if writes else "ld.shared.b32"
        if writes and source.random() < 0.1:
            instruction = "atom.shared.add.u32"
        if instruction.startswith("cp.async"):
            self.copies.add(name)
        ahead = source.randrange(stages) if writes else source.choice((0, 0, 0, 1))
        loop = source.choice(("i", "i", "k")) if self.loop is not None else "k"
        if loop == "k":
            # The step says which slice: it is what the stage would have been ahead.
            self.shifts[name], ahead = ahead, 0
        count: Yaml = 12 if self.loop != "any" and source.random() < 0.5 else "any"
        access: dict[str, Yaml] = {"instruction": instruction, "threads": threads, "for": {loop: count}}
        stage = f"({loop} + {ahead}) % {stages}"
        kind = source.random()
        if not self.is_bare:
            access |= {"tile": source.choice(self.names), "coord": [f"{thread} % 8", f"{thread} / 8"], "stage": stage}
        elif not writes and kind < 0.2:
            access["instruction"] = "ldmatrix.x2"
            access["address"] = f"{stage} * {4 * threads} + tid % {threads // 4} * 16"
            return access
        elif instruction in WIDE and kind < 0.4:
            access["instruction"] = source.choice(WIDE[instruction])
            words = int(access["instruction"].split(".v")[1][0])
            access["address"] = f"{stage} * {4 * threads} + tid % {threads // words} * {4 * words}"
            if source.random() < 0.7:
                access["if"] = f"tid < {threads // words}"
            return access
        else:
            access["address"] = f"{stage} * {4 * threads} + {thread} * 4"
        if source.random() < 0.15:
            access["if"] = source.choice((f"tid < {threads // 2}", "tid % 2 == 0", "lane < 24"))
        if source.random() < 0.1 and self.loop != "any":
            access["assume"] = [f"{loop} != {source.randrange(4)}"]
        return access

    def _run(self, name: str, *, inside: bool = True, at: int | None = None) -> Yaml:
        """The step that makes an access."""
        if at is not None:
            return {"access": name, "at": {"k" if name in self.shifts else "i": at}}
        if name not in self.shifts:
            return name
        if self.loop is None:
            return {"access": name, "at": {"k": self.shifts[name]}}
        number = self.shifts[name] if inside else self.source.randrange(2)
        return {"access": name, "at": {"k": f"i + {number}" if number else "i"}}

    def _before(self, writes: list[str]) -> list[Yaml]:
        """What fills the first stages, mostly."""
        source, steps = self.source, list[Yaml]()
        for name in writes:
            for at in range(source.randrange(3)):
                steps.append(self._run(name, at=at) if name in self.shifts or self.loop is not None else name)
                if name in self.copies:
                    steps.append("commit")
        if source.random() < 0.5:
            steps.append("barrier")
        return steps

    def _steps(self, order: list[str], *, inside: bool) -> list[Yaml]:
        """The accesses in some order, with what orders them."""
        source, steps = self.source, list[Yaml]()
        source.shuffle(order)
        has_copy = False
        if inside and source.random() < 0.4:
            # Everything in order: what is wrong then is what was written when.
            for name in order:
                steps.append(self._run(name))
                if name in self.copies:
                    steps += ["commit", {"wait_group": 0}]
                steps.append("barrier")
            return steps
        for name in order:
            steps.append(self._run(name, inside=inside))
            if name in self.copies:
                has_copy = True
                steps.append("commit")
        if has_copy:
            wait: Yaml = "wait_all" if source.random() < 0.1 else {"wait_group": source.choice((0, 0, 1, 1, 2))}
            steps.insert(source.randint(0, len(steps)), wait)
        for _ in range(source.choice((0, 1, 1, 2, 2, 2))):
            place = source.randint(0, len(steps))
            waits = [at + 1 for at, step in enumerate(steps) if step == "wait_all" or "wait_group" in step]  # type: ignore[operator]
            word = "syncwarp" if source.random() < 0.15 else "barrier"
            steps.insert(waits[0] if waits and source.random() < 0.5 else place, word)
        return steps
