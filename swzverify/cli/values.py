"""What may be given for an option, for shells to complete.

The tables lie elsewhere and take a while to import (`hardware/`, `spec/elements`); a test compares
these lists with them.
"""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

TARGETS = (
    *("sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a"),
    *("sm_100", "sm_100a", "sm_100f", "sm_101", "sm_101a", "sm_101f", "sm_103", "sm_103a", "sm_103f"),
    *("sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f"),
)
INSTRUCTIONS = (
    *(
        f"{op}.shared.{kind}"
        for op in ("ld", "st")
        for kind in ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b64")
    ),
    *("ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x1.trans", "ldmatrix.x2.trans", "ldmatrix.x4.trans"),
    *("stmatrix.x1", "stmatrix.x2", "stmatrix.x4", "stmatrix.x1.trans", "stmatrix.x2.trans", "stmatrix.x4.trans"),
    *("cp.async.4", "cp.async.8", "cp.async.16", "cp.async.ca.16", "atom.shared.add.u32"),
)
ELEMENTS = (
    *("f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "f6", "f4"),
    *("i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8", "u4"),
)
SWIZZLES = ("auto", "none", "Swizzle<3,3,3>", "Swizzle<2,3,3>", "Swizzle<1,3,3>", "Swizzle<5,0,5>")
"""Examples: a swizzle has any numbers."""


class Text(StringParamType):
    """A text whose likely values a shell completes; any other one is taken too, and refused where
    it is read.
    """

    def __init__(self, known: tuple[str, ...] = (), kind: str = "plain") -> None:
        """`known` are the values to complete; `kind` is "file" or "dir" where the shell completes
        paths itself.
        """
        self.known = known
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What the shell offers for a beginning."""
        del ctx, param
        if self.kind != "plain":
            return [CompletionItem(incomplete, type=self.kind)]
        return [CompletionItem(value) for value in self.known if value.startswith(incomplete)]


_BY_METAVAR = {"FILE": Text(kind="file"), "PATH": Text(kind="file"), "DIR": Text(kind="dir")}
_BY_OPTION = {"--target": Text(TARGETS), "--instruction": Text(INSTRUCTIONS)}


def complete_values(command: click.Command) -> None:
    """Have the texts of a command completed, by what its help calls them or by the option's name.

    Options with a type of their own, such as a choice, complete by it already.
    """
    for parameter in command.params:
        if parameter.type is not click.STRING:
            continue
        what = (parameter.metavar or "").strip("[].")
        by_name = next((found for name, found in _BY_OPTION.items() if name in parameter.opts), None)
        parameter.type = by_name or _BY_METAVAR.get(what, parameter.type)
