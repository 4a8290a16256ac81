"""From `listings:` of a spec to the instructions that claims on register banks are about."""

from __future__ import annotations

from pathlib import Path

from swzverify.compiled.binaries.kinds import Kind, kind_of
from swzverify.compiled.sass import ListingError
from swzverify.compiled.sass.instructions import ReadListing, read_instructions, target_of
from swzverify.errors import SwzError
from swzverify.hardware.register_banks import register_banks
from swzverify.spec.beside import UNREADABLE, below
from swzverify.spec.listing_models import ListingPart
from swzverify.spec.names import Names
from swzverify.spec.read_code import ReadCode, named_files
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Listing

NOT_READ = "SWZ554"
MOST_BYTES = 16 << 20
"""The size of a file with a listing."""


def build_listing(name: str, part: ListingPart, values: Values, names: Names, target: str) -> Listing:
    """A listing; `target` is that of the spec.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    if (part.text is None) == (part.file is None):
        key = values.name if part.text is None else values.key("file")
        values.fail("SWZ104", "a listing has `text` or `file`, one of both", key, "text: | and the lines below")
        raise Broken
    where = "text" if part.text is not None else "file"
    text, chip, banks = "", "", 0
    with values.noted(values.at(where)):
        text = part.text if part.text is not None else _of_file(part.file or "", values.problems.file)
    values.require_sound()
    with values.noted(values.at("target" if part.target is not None else where)):
        chip = _target(name, part, text, target)
        banks = register_banks(chip).banks
    values.require_sound()
    with values.noted(values.at(where)):
        found = _read(name, text, banks)
        function = _function(name, part, found)
        if part.file is not None:
            places = named_files(part.file, values.problems.file)
            names.code["listings", name] = ReadCode(f"listing {name}", *places, part.function or "", function)
        return Listing(name, chip, found.functions[function])
    raise Broken


def _of_file(file: str, spec: str) -> str:
    """The text of a listing, or what nvdisasm makes of a cubin."""
    shown, real = below(spec, file)
    hint = "the path is that from the spec's folder"
    try:
        kind, words = kind_of(shown)
        data = Path(real).read_bytes() if Path(real).stat().st_size <= MOST_BYTES else None
    except OSError as error:
        raise SwzError(UNREADABLE, f"{shown}: {error.strerror or error}", hint=hint) from error
    except SwzError as error:
        raise SwzError(UNREADABLE, error.message, hint=hint) from error
    if data is None:
        raise SwzError(UNREADABLE, f"{shown} has more than {MOST_BYTES >> 20} MiB")
    if kind is Kind.BINARY and words != "cubin":
        hint = "`cuobjdump -xelf all` takes the cubins out of it"
        raise SwzError(NOT_READ, f"{shown} is neither a listing nor a cubin: {words}", hint=hint)
    if kind is Kind.BINARY:
        from swzverify.compiled.binaries.machine import listing_of_cubin  # noqa: PLC0415 - few specs have a cubin

        return listing_of_cubin(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SwzError(NOT_READ, f"{shown} is not text in UTF-8") from error


def _target(name: str, part: ListingPart, text: str, target: str) -> str:
    """The target of the code: what the spec says of it, which the listing must not contradict."""
    try:
        named = target_of(text)
    except ListingError as error:
        hint = "`cuobjdump -sass -arch sm_52` prints the code of one target"
        raise SwzError(NOT_READ, f"listing {name}: {error}", hint=hint) from None
    if part.target is not None and named and _number(part.target) != _number(named):
        message = f"listing {name} is for {named}, and the spec says {part.target}"
        raise SwzError("SWZ105", message, hint="leave `target` out, or take the listing of that target")
    return part.target or named or target


def _number(target: str) -> str:
    return target.strip().rstrip("af")


def _read(name: str, text: str, banks: int) -> ReadListing:
    try:
        found = read_instructions(text, banks)
    except ListingError as error:
        hint = "one instruction per line, as maxas, nvdisasm and cuobjdump write them"
        raise SwzError(NOT_READ, f"listing {name}: {error}", hint=hint) from None
    if not found.functions:
        raise SwzError(NOT_READ, f"listing {name} has no instruction")
    return found


def _function(name: str, part: ListingPart, found: ReadListing) -> str:
    """The function that the spec names, or the only one."""
    if part.function is not None and part.function in found.functions:
        return part.function
    names = [each or "code outside of functions" for each in found.functions]
    if part.function is None and len(names) == 1:
        return next(iter(found.functions))
    has = f"no function '{part.function}'" if part.function is not None else f"{len(names)} functions"
    raise SwzError(NOT_READ, f"listing {name} has {has}", hint=f"`function` names one of: {', '.join(names)}")
