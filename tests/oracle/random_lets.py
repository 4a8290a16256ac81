"""Random specs said with `let:`: parts of the expressions of accesses get names.

The spec means the same as before, but for a let that now and then breaks a rule.
"""

from __future__ import annotations

from . import c_expr
from .c_expr import Expr, Literal, Name, Op
from .random_expressions import rewritten, text_of
from .random_parts import Draft
from .yaml_values import Spec, Yaml, as_dict

NAMES = ("row", "col", "r", "x0", "half", "step_", "p", "q", "lanes", "tidy", "T", "A0")
KEYS = ("address", "stage", "if")


def with_lets(draft: Draft, spec: Spec) -> None:
    """Put lets into a spec: some of accesses, some at the top."""
    rng = draft.rng
    top: dict[str, Expr] = {}
    accesses = as_dict(spec.get("accesses"))
    own: dict[str, dict[str, Expr]] = {name: {} for name in accesses}
    every_loop = {loop for access in accesses.values() for loop in as_dict(as_dict(access).get("for"))}
    taken = {*as_dict(spec.get("constants")), *every_loop}
    for name, value in accesses.items():
        access = as_dict(value)
        for holder, key in _expressions(access):
            for _ in range(rng.choice((0, 1, 1, 2))):
                at_top = draft.chance(0.4)
                lets = top if at_top else own[name]
                tree = c_expr.parse(holder[key])  # type: ignore[call-overload,index]  # the key fits its holder
                part = _any_part(draft, tree)
                if at_top and c_expr.names_in(part) & set(own[name]):
                    continue  # a let at the top reads no let of an access
                let = _named(draft, part, lets, {*taken, *top, *own[name]} if not at_top else _all(taken, top, own))
                holder[key] = text_of(_put(draft, tree, part, let), rng)  # type: ignore[call-overload,index]
                if at_top and draft.chance(0.6):
                    _share(draft, accesses, part, let)
    for name, value in accesses.items():
        _nest(draft, own[name], {*taken, *top})
        if "any" not in as_dict(as_dict(value).get("for")).values():
            _dress(draft, own[name])
        _attach(draft, as_dict(value), own[name])
    _nest(draft, top, _all(taken, top, own))
    if top and draft.chance(0.2):
        top["unused"] = c_expr.parse(rng.choice(("1/0", "no_such_name", "tid << 40", "lane")))
    _attach(draft, spec, top)
    if draft.chance(0.02) and accesses:
        _spoil(draft, spec, rng.choice(sorted(accesses)))


def _all(taken: set[str], top: dict[str, Expr], own: dict[str, dict[str, Expr]]) -> set[str]:
    return taken.union(top, *own.values())


def _expressions(access: dict[str, Yaml]) -> list[tuple[dict[str, Yaml] | list[Yaml], str | int]]:
    found: list[tuple[dict[str, Yaml] | list[Yaml], str | int]] = [(access, key) for key in KEYS if key in access]
    for key in ("coord", "assume"):
        items = access.get(key)
        if isinstance(items, list):
            found += [(items, index) for index in range(len(items))]
    return found


def _parts(tree: Expr) -> list[Expr]:
    """Every part of a tree, the whole of it first."""
    if isinstance(tree, Op):
        return [tree, *(part for each in tree.operands for part in _parts(each))]
    return [tree]


def _named(draft: Draft, part: Expr, lets: dict[str, Expr], taken: set[str]) -> str:
    """The let of a part: one that is there already, or a new one."""
    again = [name for name, tree in lets.items() if tree == part]
    if again and draft.chance(0.7):
        return again[0]
    free = [name for name in NAMES if name not in taken]
    name = draft.rng.choice(free) if free else f"v{len(taken)}"
    while name in taken:
        name += "_"
    lets[name] = part
    return name


def _put(draft: Draft, tree: Expr, part: Expr, name: str) -> Expr:
    """The tree with the name for the part, wherever it stands, or now and then only here and there."""
    if tree == part and draft.chance(0.9):
        return Name(name)
    match tree:
        case Op(symbol, operands):
            return Op(symbol, tuple(_put(draft, each, part, name) for each in operands))
        case Name() | Literal():
            return tree


def _nest(draft: Draft, lets: dict[str, Expr], taken: set[str]) -> None:
    """Some parts of lets become lets themselves."""
    for name in list(lets):
        if draft.chance(0.4):
            part = _any_part(draft, lets[name])
            whole = lets[name]
            inner = _named(draft, part, lets, {*taken, *lets})
            if inner != name and name not in c_expr.names_in(lets[inner]):
                lets[name] = _put(draft, whole, part, inner)


def _share(draft: Draft, accesses: dict[str, Yaml], part: Expr, let: str) -> None:
    """A let at the top also for the same part elsewhere."""
    for value in accesses.values():
        for holder, key in _expressions(as_dict(value)):
            tree = c_expr.parse(holder[key])  # type: ignore[call-overload,index]  # the key fits its holder
            changed = _put(draft, tree, part, let)
            if changed != tree:
                holder[key] = text_of(changed, draft.rng)  # type: ignore[call-overload,index]


def _any_part(draft: Draft, tree: Expr) -> Expr:
    """A part of a tree, most often one with an operator."""
    parts = _parts(tree)
    long = [part for part in parts if isinstance(part, Op)]
    return draft.rng.choice(long if long and draft.chance(0.85) else parts)


def _dress(draft: Draft, lets: dict[str, Expr]) -> None:
    """Lets in other words of the same value."""
    for name, tree in list(lets.items()):
        if draft.chance(0.6):
            lets[name] = rewritten(draft.source(()), tree, draft.rng.choice((1, 2, 3)))


def _attach(draft: Draft, holder: dict[str, Yaml], lets: dict[str, Expr]) -> None:
    if lets:
        names = list(lets)
        draft.rng.shuffle(names)
        holder["let"] = {name: _plain(text_of(lets[name], draft.rng)) for name in names}


def _plain(text: str) -> Yaml:
    return int(text) if text.isdigit() and len(text) < 9 and (text == "0" or text[0] != "0") else text


def _spoil(draft: Draft, spec: Spec, access: str) -> None:
    """A let that the page calls an error."""
    rng = draft.rng
    holder = as_dict(as_dict(spec["accesses"])[access])
    loops, constants = list(as_dict(holder.get("for"))), list(as_dict(spec.get("constants")))
    at = rng.choice((spec, holder))
    lets = at["let"] = dict(as_dict(at.get("let")))
    taken = ["tid", "lane", "warp", "tid_x", "base", "stage", *loops, *constants]
    if draft.chance(0.2) and "address" in holder:
        # A let at the top sees no let of an access.
        spec["let"] = {**as_dict(spec.get("let")), "above": "below + 1"}
        holder["let"] = {**as_dict(holder.get("let")), "below": "lane"}
        holder["address"] = f"({holder['address']}) + above*4"
    elif draft.chance(0.5):
        first, second = "c1", rng.choice(("c1", "c2"))
        lets |= {first: f"{second} + 1", second: f"tid*0 + {first}"} if first != second else {first: f"{first}*2"}
    elif draft.chance(0.3):
        spec["let"] = {**as_dict(spec.get("let")), "twice": "tid"}
        holder["let"] = {**as_dict(holder.get("let")), "twice": "tid"}
    else:
        lets[rng.choice(taken)] = rng.choice(("1", "lane/2", 3))
