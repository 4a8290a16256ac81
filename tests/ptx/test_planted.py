"""Mistakes of reading that would go unseen otherwise: each is planted here, and the test named
beside it finds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from swzverify.compiled.ptx import Label, Register, declaration, instruction, literals, operand_text, read
from swzverify.compiled.ptx import body as body_module
from swzverify.compiled.ptx.body import BodyReader
from swzverify.compiled.ptx.locations import Locations
from swzverify.compiled.ptx.module import Parameter
from swzverify.compiled.ptx.names import Block
from tests.ptx import test_declarations, test_operands, test_scopes, test_statements, test_truth
from tests.ptx.texts import HERE

Patch = pytest.MonkeyPatch
Check = Callable[[], None]


def _wrapped(patch: Patch, owner: Any, name: str, change: Callable[..., Any]) -> None:
    """Put a function in the place of a method; it gets the sound one first."""
    sound = getattr(owner, name)
    patch.setattr(owner, name, lambda *given, **named: change(sound, *given, **named))


def line_behind(patch: Patch) -> None:
    """The line where a statement ends."""

    def wrong(sound: Any, self: BodyReader, found: re.Match[str], operands: str) -> None:
        self.line += found[0].lstrip().count("\n")
        sound(self, found, operands)

    _wrapped(patch, BodyReader, "_instruction", wrong)


def comments_take_their_lines_along(patch: Patch) -> None:
    _wrapped(
        patch, read, "without_comments", lambda _, text, __: re.sub(r"/\*.*?\*/|//[^\n]*\n", " ", text, flags=re.S)
    )


def guard_lost(patch: Patch) -> None:
    patch.setattr(instruction.Instruction, "guard", property(lambda _: None))


def negation_lost(patch: Patch) -> None:
    """`@!p` read as `@p`."""
    patch.setattr(body_module, "_TURNED", 1)


def negation_of_an_operand_lost(patch: Patch) -> None:
    patch.setattr(operand_text, "Negated", lambda operand: operand)


def sign_of_an_offset_lost(patch: Patch) -> None:
    _wrapped(patch, operand_text, "combined", lambda sound, sign, *rest: sound("+" if sign == "-" else sign, *rest))


def offset_lost(patch: Patch) -> None:
    sound = operand_text.Address
    patch.setattr(
        operand_text, "_bracketed", lambda items: sound(items[0] if isinstance(items[0], Register) else None, 0)
    )


def octal_is_decimal(patch: Patch) -> None:
    patch.setattr(literals, "_BASES", (16, 2, 10, 10))


def unsigned_wraps(patch: Patch) -> None:
    """0xFFFFFFFF read as -1."""
    sound = literals.integer
    patch.setattr(operand_text, "integer", lambda text: (sound(text) + 2**31) % 2**32 - 2**31)


def scopes_are_one(patch: Patch) -> None:
    """Every block has the number of the function."""
    _wrapped(patch, Block, "__init__", lambda sound, self, _, *rest: sound(self, 1, *rest))


def outermost_counts(patch: Patch) -> None:
    """A name means the outermost declaration."""

    def wrong(sound: Any, self: Block, name: str, index: int) -> Any:
        if self.parent is not None:
            try:
                return wrong(sound, self.parent, name, index)
            except Exception:  # noqa: BLE001, S110  # not declared further out
                pass
        return sound(self, name, index)

    _wrapped(patch, Block, "resolve", wrong)


def later_declarations_count(patch: Patch) -> None:
    """A declaration holds before its place too."""
    _wrapped(patch, Block, "resolve", lambda sound, self, name, _: sound(self, name, 10**9))


def names_are_kept_too_long(patch: Patch) -> None:
    """What a name meant is remembered although a declaration in the block changes it."""
    patch.setattr(Block, "has_late", property(lambda _: False, lambda *_: None))


def last_of_a_block_lost(patch: Patch) -> None:
    def wrong(sound: Any, self: BodyReader) -> None:
        self.instructions.pop()
        sound(self)

    _wrapped(patch, BodyReader, "_close", wrong)


def last_of_the_body_lost(patch: Patch) -> None:
    def wrong(sound: Any, self: BodyReader, text: str, start: int, end: int, *rest: Any) -> None:
        sound(self, text, start, max(start, text.rfind(";", start, text.rfind(";", start, end)) + 1), *rest)

    _wrapped(patch, BodyReader, "__init__", wrong)


def label_one_early(patch: Patch) -> None:
    def wrong(sound: Any, self: BodyReader) -> None:
        sound(self)
        self.labels = {label: max(0, index - 1) for label, index in self.labels.items()}

    _wrapped(patch, BodyReader, "_statements", wrong)


def labels_of_blocks_are_one(patch: Patch) -> None:
    def wrong(_: Any, self: Block, name: str) -> Label:
        label = self.labels[name] = Label(name, 1)
        return label

    _wrapped(patch, Block, "add_label", wrong)


def loc_one_late(patch: Patch) -> None:
    """A place holds from the second instruction on."""
    behind: list[Any] = [None]

    def wrong(sound: Any, self: Locations, place: tuple[int, int, int]) -> Any:
        behind.append(sound(self, place))
        return behind[-2]

    _wrapped(patch, Locations, "plain", wrong)


def loc_of_an_inlined_call_is_its_caller(patch: Patch) -> None:
    _wrapped(patch, Locations, "inlined", lambda sound, self, *given: sound(self, *given).inlined_at)


def loc_goes_over_to_the_next_function(patch: Patch) -> None:
    last: dict[str, Any] = {}

    def wrong(sound: Any, self: BodyReader) -> Any:
        self.location = last.get("location")
        found = sound(self)
        last["location"] = self.location
        return found

    _wrapped(patch, BodyReader, "read", wrong)


def callers_of_callers_lost(patch: Patch) -> None:
    def wrong(sound: Any, self: Locations, place: Any, label: str, offset: int, caller: Any) -> Any:
        self._latest.pop(caller, None)
        return sound(self, place, label, offset, caller)

    _wrapped(patch, Locations, "inlined", wrong)


def parameters_without_gaps(patch: Patch) -> None:
    def wrong(sound: Any, head: Any, declared: Any, offset: int) -> Parameter:
        found: Parameter = sound(head, declared, 0)
        return Parameter(found.name, found.type, found.align_bytes, found.size_bytes, offset)

    _wrapped(patch, declaration, "_parameter", wrong)


def rest_of_an_array_lost(patch: Patch) -> None:
    """What an initialiser leaves out is not there."""

    def wrong(sound: Any, text: str, shape: Any) -> Any:
        data, size, note = sound(text, shape)
        return (data.rstrip(b"\0") if data else data), size, note

    _wrapped(patch, declaration, "initial_bytes", wrong)


def braces_do_not_count(patch: Patch) -> None:
    """What stands behind a function's last brace is passed over."""
    _wrapped(patch, read._Reader, "_flag_last", lambda *_: None)


def form(name: str) -> Check:
    row = next(each for each in test_operands.FORMS if each[0] == name)
    return lambda: test_operands.test_each_form(row[1], row[2])


def laid_out(name: str) -> Check:
    row = next(each for each in test_statements.LAID_OUT if each[0] == name)
    return lambda: test_statements.test_every_statement_has_its_line(row[1], row[2])


def guard(text: str) -> Check:
    row = next(each for each in test_statements.GUARDS if each[0] == text)
    return lambda: test_statements.test_guards_and_their_negation_stay(*row)


def braces(name: str) -> Check:
    row = next(each for each in test_statements.BRACES if each[0] == name)
    check = test_statements.test_braces_that_do_not_balance_are_the_problem_of_the_function_before
    return lambda: check(row[1], row[2])


def inlined() -> None:
    test_truth.test_inlined_calls_of_rows(read.read_module_file(HERE / "rows.ptx"))


def data() -> None:
    text, found = next(each for each in test_declarations.DATA if each[0].startswith(".const .b8 c[4] = {1"))
    test_declarations.test_initialised_bytes(text, found)


PLANTS: list[tuple[Callable[[Patch], None], Check]] = [
    (line_behind, laid_out("one over lines")),
    (comments_take_their_lines_along, laid_out("behind a comment")),
    (guard_lost, guard("@%p1 ret;")),
    (negation_lost, guard("@!%p1 ret;")),
    (negation_of_an_operand_lost, form("negation")),
    (sign_of_an_offset_lost, form("address plus minus")),
    (offset_lost, form("address plus")),
    (octal_is_decimal, form("octal")),
    (unsigned_wraps, form("all ones stay positive")),
    (scopes_are_one, test_scopes.test_blocks_that_declare_one_name_have_registers_of_their_own),
    (outermost_counts, test_scopes.test_an_inner_range_hides_what_it_has),
    (later_declarations_count, test_scopes.test_an_inner_name_hides_the_outer_one_from_its_declaration_to_its_brace),
    (names_are_kept_too_long, test_scopes.test_an_inner_name_hides_the_outer_one_from_its_declaration_to_its_brace),
    (last_of_a_block_lost, laid_out("last of a block")),
    (last_of_the_body_lost, laid_out("last of the body")),
    (label_one_early, test_statements.test_labels_give_the_index_behind_them),
    (labels_of_blocks_are_one, test_scopes.test_labels_hold_in_the_whole_of_their_block),
    (loc_one_late, test_statements.test_loc_holds_from_its_place_to_the_next_one),
    (loc_of_an_inlined_call_is_its_caller, inlined),
    (loc_goes_over_to_the_next_function, test_statements.test_loc_ends_with_its_function),
    (callers_of_callers_lost, inlined),
    (parameters_without_gaps, test_declarations.test_parameters_are_laid_out_by_alignment),
    (rest_of_an_array_lost, data),
    (braces_do_not_count, braces("closed early")),
]


@pytest.mark.parametrize(("plant", "check"), PLANTS, ids=[plant.__name__ for plant, _ in PLANTS])
def test_a_planted_mistake_is_found(monkeypatch: Patch, plant: Callable[[Patch], None], check: Check) -> None:
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
