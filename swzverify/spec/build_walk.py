"""From `walk:` of an access to the address that it stands for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from swzverify.ir.c_formula import CFormula
from swzverify.spec.access_models import AccessPart, WalkPart
from swzverify.spec.values import Values
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.walk import walked


def build_walk(
    access: AccessPart, part: WalkPart, values: Values, known: Collection[str], loops: Sequence[AnyLoop]
) -> CFormula | None:
    """The address, as an expression; None after noting what is wrong with the walk."""
    texts = {
        key: None if value is None else values.expression(value, known, "walk", key)
        for key, value in (("start", part.start), ("step", part.step), ("xor", part.xor))
    }
    for key, text in texts.items():
        for name in sorted(text.names & set(access.lanes)) if text is not None else ():
            message = f"`walk.{key}` reads '{name}', which has new values in each iteration: a walk keeps its address"
            values.fail("SWZ105", message, values.at("walk", key), "give `address:`, the address in every iteration")
    loop = _loop(part, values, loops)
    start = texts["start"]
    if not values.sound or loop is None or start is None:
        return None
    open_loop = next((each.name for each in loops if each.is_unbounded), None)
    if open_loop is not None:
        hint = f"give the loop a bound, such as `for: {{{open_loop}: 16}}`"
        values.fail("SWZ206", f"a walk beside the loop '{open_loop}', which has no bound", values.key("walk"), hint)
        return None
    with values.noted(values.key("walk")):
        found = walked(loop, start, step=texts["step"], xor=texts["xor"], constants=values.constants)
        values.made(found.text, values.key("walk"))
        return found
    return None


def _loop(part: WalkPart, values: Values, loops: Sequence[AnyLoop]) -> AnyLoop | None:
    """The loop that the walk goes over."""
    names = ", ".join(each.name for each in loops)
    if part.over is None:
        if len(loops) == 1:
            return loops[0]
        message = f"a walk needs `over`: the access has the loops {names}" if loops else "a walk needs a loop in `for:`"
        values.fail("SWZ105", message, values.key("walk"), "name the loop in which the address moves")
        return None
    found = next((each for each in loops if each.name == part.over), None)
    if found is None:
        hint = f"loops: {names}" if loops else "give the loop in `for:`"
        values.fail("SWZ105", f"the access has no loop '{part.over}'", values.at("walk", "over"), hint)
    return found
