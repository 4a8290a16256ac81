"""Random kernels that a GPU can launch: those of `tests.kernel.programs`, with more forms of access.

The entry is `k<seed>`, with the parameters `n`, `wide` and `data`, a buffer of `DATA_BYTES` bytes. Three quarters of
the kernels have volatile loads and stores: ptxas joins none of these and drops none.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tests.kernel.programs import HEAD, KERNEL, WORDS, Writer

DATA_BYTES = 1 << 16
SHAPES = ((32, 1, 1), (64, 1, 1), (16, 4, 1), (48, 1, 1), (8, 5, 1), (32, 2, 1), (128, 1, 1), (4, 4, 4))
PLAIN = {"u8": 1, "u16": 2, "u32": 4, "b64": 8, "v2.u32": 8, "v4.u32": 16, "v2.b64": 16}
STEPS = (1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33)
ATOMICS = ("add.u32", "max.s32", "exch.b32", "and.b32", "xor.b32", "inc.u32")
COPIES = ("ca.shared.global [{to}], [{source}], 4", "ca.shared.global [{to}], [{source}], 8",
          "ca.shared.global [{to}], [{source}], 16", "cg.shared.global [{to}], [{source}], 16")  # fmt: skip
_GUARDED_RESULT = re.compile(r"^@(!?%p\d+) ld\.param\.b32 (%r\d+), \[e\];$", re.MULTILINE)
_ACCESS = re.compile(r"\b(ld|st)\.shared\.")


@dataclass
class AllForms(Writer):
    """Writes accesses of every width, atomics, matrices and copies."""

    def access(self) -> None:
        kind = self.source.random()
        if kind < 0.35:
            super().access()
        elif kind < 0.85:
            self.plain()
        elif kind < 0.93:
            operation = self.source.choice(ATOMICS)
            self.put(f"atom.shared.{operation} {self.fresh()}, [{self.place(self.any())}], {self.value()};")
        else:
            self.copy()

    def plain(self) -> None:
        """A load or a store of any width; its result often changes no address."""
        form = self.source.choice(list(PLAIN))
        width = PLAIN[form]
        count, of = (int(form[1]), form[3:]) if form[0] == "v" else (1, form)
        place = self.strided(width)
        guard = f"@{self.predicate()} " if self.source.random() < 0.2 else ""
        if self.source.random() < 0.5:
            held = [self.as_wide(self.any()) if of == "b64" else self.any() for _ in range(count)]
            self.put(f"{guard}st.shared.{form} [{place}], {self.listed(held)};")
        else:
            held = [self.wide() if of == "b64" else self.fresh() for _ in range(count)]
            self.put(f"{guard}ld.shared.{form} {self.listed(held)}, [{place}];")

    def strided(self, width: int) -> str:
        """An address that is a multiple of the width: a hash of a register, or a multiple of the thread's number."""
        if self.source.random() < 0.5:
            register = self.any()
        else:
            register, self.used = f"%r{self.used + 1}", self.used + 1
            thread, step = self.source.choice(("%r0", "%r0", "%r1", "%r6")), self.source.choice(STEPS)
            self.put(f"mul.lo.u32 {register}, {thread}, {step};")
            self.put(f"{self.source.choice(('add.u32', 'xor.b32'))} {register}, {register}, {self.any()};")
        offset, part = self.fresh(), self.fresh()
        self.put(f"shr.u32 {part}, {register}, 13;")
        self.put(f"xor.b32 {offset}, {register}, {part};")
        self.put(f"and.b32 {offset}, {offset}, {4 * WORDS // width - 1};")
        self.put(f"mad.lo.u32 {offset}, {offset}, {width}, %r99;")
        return offset

    def as_wide(self, register: str) -> str:
        found = self.wide()
        self.put(f"cvt.u64.u32 {found}, {register};")
        return found

    def listed(self, held: list[str]) -> str:
        return held[0] if len(held) == 1 else "{" + ", ".join(held) + "}"

    def copy(self) -> None:
        """A copy from a buffer: of the thread's own bytes, or from a hash of a register."""
        form = self.source.choice(COPIES)
        width = int(form.rsplit(" ", 1)[1])
        to, offset, wide = self.strided(width), self.fresh(), self.wide()
        own = self.source.random() < 0.7
        self.put(f"mad.lo.u32 {offset}, %r1, 4, %r0;" if own else f"mov.u32 {offset}, {self.any()};")
        self.put(f"and.b32 {offset}, {offset}, {DATA_BYTES // width - 1};")
        self.put(f"mul.wide.u32 {wide}, {offset}, {width};")
        self.put(f"add.u64 {wide}, {wide}, %d1;")
        self.put(f"cp.async.{form.format(to=to, source=wide)};")

    def matrices(self) -> None:
        """Loads or stores of matrices, which all lanes make."""
        count = self.source.choice((1, 2, 4))
        store, trans = self.source.random() < 0.3, self.source.choice(("", ".trans"))
        held = "{" + ", ".join(self.any() if store else self.fresh() for _ in range(count)) + "}"
        place = self.strided(16)
        form = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
        self.put(f"stmatrix.{form} [{place}], {held};" if store else f"ldmatrix.{form} {held}, [{place}];")


def shape_of(seed: int) -> tuple[int, int, int]:
    """The block of a kernel."""
    return SHAPES[seed % len(SHAPES)]


def text_of(seed: int) -> str:
    """The kernel of a seed as a PTX file."""
    writer = AllForms(random.Random(seed))
    threads = shape_of(seed)[0] * shape_of(seed)[1] * shape_of(seed)[2]
    for _ in range(2):
        writer.operation()
    if threads % 32 == 0 and writer.source.random() < 0.5:
        writer.matrices()
    for _ in range(3):
        for _ in range(3):
            writer.operation()
        writer.access()
        writer.body(writer.source.choice((0, 1, 1, 2)))
    writer.access()
    entry = KERNEL.replace("entry k(", f"entry k{seed}(").replace("wide)", "wide, .param .u64 data)")
    entry += "ld.param.u64 %d1, [data];\ncvta.to.global.u64 %d1, %d1;\n"
    # ptxas takes no guard before a load of a result.
    text = HEAD + "".join(writer.functions) + entry + "\n".join(writer.lines) + "\ncp.async.wait_all;\nret;\n}\n"
    text = _GUARDED_RESULT.sub(r"ld.param.b32 %r9990, [e];\n@\1 mov.b32 \2, %r9990;", text)
    return _ACCESS.sub(r"\1.volatile.shared.", text) if seed % 4 else text
