"""Addresses that move with a loop: each iteration steps or XORs the kernel's pointer."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.errors import SwzError
from swzverify.ir.c_ast import VALUE_MAX
from swzverify.ir.c_formula import CFormula, exchanged, number_text
from swzverify.ir.c_parse import parse
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.loop import Loop, own_constants

MAX_PRODUCT = 1 << 31
"""What a step times the iterations must stay below to be written as a product: then the product
leaves C's range nowhere where the sums do not.
"""
MAX_WRITTEN = 256
"""Iterations that are written out; more never fit into an expression."""


def walked(
    loop: AnyLoop,
    start: CFormula,
    *,
    step: CFormula | None = None,
    xor: CFormula | None = None,
    constants: Mapping[str, int] | None = None,
) -> CFormula:
    """The address that starts at `start` and becomes `(address ^ xor) + step` after each iteration.

    The result is one expression of the loop's variable. `step` and `xor` may read the variable; they see
    the value of the iteration that ends. Values come in ascending order.

    Raises:
        SwzError: SWZ104 without `step` and `xor`, SWZ105 if `start` reads the variable, SWZ206 for a
            loop without a bound, SWZ302 if the expression becomes too long.

    >>> from swzverify.subjects import Loop
    >>> str(walked(Loop("k", 0, 3), parse("lane*16"), xor=parse("32 + k")))
    '(lane*16) ^ (k > 0 ? 32 + 0 : 0) ^ (k > 1 ? 32 + 1 : 0)'
    >>> str(walked(Loop("k", 0, 64, 16), parse("lane*16"), step=parse("BK*2"), constants={"BK": 64}))
    '(lane*16) + k/16*128'
    """
    if step is None and xor is None:
        raise SwzError("SWZ104", "a walk needs `step` or `xor`", hint="how far the address moves in each iteration")
    if loop.count is None:
        raise SwzError(
            "SWZ206",
            f"a walk over the loop '{loop.name}', which has no bound: not modelled",
            hint=f"give the loop a bound, such as `for: {{{loop.name}: 16}}`",
        )
    if loop.name in start.names:
        raise SwzError(
            "SWZ105",
            f"the walk's start reads '{loop.name}', the loop that it goes over",
            hint="`start` is the address in the first iteration; `step` and `xor` may read the loop",
            text=start.text,
            span=start.span_of(loop.name),
        )
    if xor is None and step is not None and isinstance(loop, Loop) and loop.count > 1:
        product = _product(loop, start, step, own_constants(f"a walk over '{loop.name}'", constants or {}))
        if product is not None:
            return product
    if loop.count > MAX_WRITTEN:
        raise _too_long(loop, f"at most {MAX_WRITTEN} can be")
    text = f"({start.text})"
    for iteration in range(loop.count - 1):
        value = loop.value(iteration)
        if xor is not None:
            text = f"{text} ^ {_after(loop.name, value, xor)}"
        if step is not None:
            whole = text if xor is None else f"({text})"
            text = f"{whole} + {_after(loop.name, value, step)}"
    try:
        return parse(text)
    except SwzError as error:
        raise _too_long(loop, error.message) from None


def _too_long(loop: AnyLoop, why: str) -> SwzError:
    return SwzError(
        "SWZ302",
        f"a walk over {loop.count} iterations of '{loop.name}', written out as one expression: {why}",
        hint="shorten the loop or the texts; a constant `step` without `xor` may go as far as it likes",
    )


def _after(name: str, value: int, formula: CFormula) -> str:
    """What an iteration adds to the iterations behind it."""
    return f"({name} > {number_text(value)} ? {exchanged(formula, {name: number_text(value)})} : 0)"


def _product(loop: Loop, start: CFormula, step: CFormula, constants: Mapping[str, int]) -> CFormula | None:
    """The walk by a constant step as a product; None where the step is not constant."""
    if not step.names <= set(constants) or loop.count is None:
        return None
    length = step.at(constants)
    last = max(0, loop.count - 1)
    if abs(length) * last >= MAX_PRODUCT or loop.value(last) - loop.start > VALUE_MAX:
        return None
    gone = loop.name if loop.start == 0 else f"({loop.name} - {number_text(loop.start)})"
    steps = gone if loop.step == 1 else f"{gone}/{loop.step}"
    return parse(f"({start.text}) + {steps}*{number_text(length)}")
