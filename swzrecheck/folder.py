"""A folder of certificates: one file per claim, and scripts and specs by their fingerprints.

    certificates.json      every claim with its file's fingerprint; written last
    claims/NAME.json       a claim's certificate
    formulas/SHA256.smt2   scripts, shared by all claims that ask the same
    specs/SHA256.yaml      the specs' texts; those of kernels are SHA256.ptx

The list is written when a run ends: a folder without it is of a run that did not end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from swzrecheck.errors import CertificateError
from swzrecheck.reader import Reader, read_json

LIST = "certificates.json"
LIST_SCHEMA = "swzverify.certificates/1"
CLAIMS, FORMULAS, SPECS = "claims", "formulas", "specs"
MAX_BYTES = 256 * 1024 * 1024
"""A file larger than this is refused before it is read."""
_OURS = re.compile(
    r"(claims/[A-Za-z0-9._-]+\.json|formulas/[0-9a-f]{64}\.smt2|specs/[0-9a-f]{64}\.(yaml|ptx)|certificates\.json)(\.[0-9]+\.part)?"
)
"""What a run writes, and what an interrupted run leaves."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim in the list: its id, its file below the folder, and that file's fingerprint."""

    id: str
    file: str
    sha256: str


def fingerprint(text: str) -> str:
    """The SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def claim_file(identity: str) -> str:
    """The file of a claim, by its id: readable, and different for different ids.

    >>> claim_file("a b.yaml::A::injective")
    'claims/a_b.yaml__A__injective-6e9e95f51c.json'
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", identity)[-100:].lstrip(".-")
    return f"{CLAIMS}/{plain}-{fingerprint(identity)[:10]}.json"


def prepare(folder: str) -> None:
    """Make the folder ready for a run.

    The folder is new, empty, or has certificates of an earlier run, which are deleted.

    Raises:
        CertificateError: SWZ606 if the folder holds anything else or cannot be written.
    """
    root = Path(folder)
    try:
        foreign = next((name for name in _files(root) if not _OURS.fullmatch(name)), None)
        if foreign is not None:
            message = f"{folder}: {foreign} is no certificate; only a folder of certificates is written to"
            raise CertificateError("SWZ606", message, hint="name a new folder")
        # The list goes first: without it what is left counts for nothing.
        Path(root, LIST).unlink(missing_ok=True)
        for name in list(_files(root)):
            Path(root, name).unlink()
        for part in (CLAIMS, FORMULAS, SPECS):
            Path(root, part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _files(root: Path) -> Iterator[str]:
    """Every file below a folder, as a path from it; a link counts as a file and is not followed."""
    for place, _, names in os.walk(root):
        for name in names:
            yield Path(place, name).relative_to(root).as_posix()


def save(folder: str, name: str, text: str) -> None:
    """Write a file below the folder, in one step, so that no other process sees half of it.

    Raises:
        CertificateError: SWZ606.
    """
    path = Path(folder, name)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    except OSError as error:
        raise _unwritable(str(path), error) from error


def save_shared(folder: str, kind: str, text: str, suffix: str) -> str:
    """Write a text under its fingerprint, once; returns the fingerprint."""
    digest = fingerprint(text)
    name = f"{kind}/{digest}.{suffix}"
    if not Path(folder, name).exists():
        save(folder, name, text)
    return digest


def _unwritable(path: str, error: OSError) -> CertificateError:
    return CertificateError(
        "SWZ606", f"{path}: cannot be written: {error.strerror or error}", hint="name another folder"
    )


def save_list(folder: str, identities: Sequence[str], versions: Mapping[str, str]) -> None:
    """Write the list of a run's certificates, in the order of the claims."""
    entries = [
        {"id": identity, "file": claim_file(identity), "sha256": _digest(Path(folder, claim_file(identity)))}
        for identity in identities
    ]
    data = {"schema": LIST_SCHEMA, "versions": dict(versions), "claims": entries}
    save(folder, LIST, json.dumps({**data, "sha256": _own_digest(data)}, indent=1, ensure_ascii=True) + "\n")


def _own_digest(data: Mapping[str, object]) -> str:
    return fingerprint(json.dumps(data, sort_keys=True))


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise CertificateError("SWZ606", f"{path.as_posix()}: cannot be read: {error.strerror or error}") from error


def load_list(folder: str) -> tuple[Entry, ...]:
    """The claims of a folder, each once.

    Raises:
        CertificateError: SWZ601 for a folder without a list, SWZ602 to SWZ604 for one that is damaged
            or changed, lacks a claim, or has one twice.
    """
    root = Path(folder)
    if not root.is_dir():
        raise CertificateError("SWZ601", f"{folder}: there is no such folder", hint=_HOW)
    if not Path(root, LIST).is_file():
        message = f"{folder}: no {LIST}: this is no folder of certificates, or its run did not end"
        raise CertificateError("SWZ601", message, hint=_HOW)
    name = f"{folder}/{LIST}"
    data = dict(read_json(read_text(folder, LIST), name))
    reader = Reader(data, name)
    if reader.text("schema") != LIST_SCHEMA:
        raise reader.refuse("schema", repr(LIST_SCHEMA))
    if reader.digest("sha256") != _own_digest({key: value for key, value in data.items() if key != "sha256"}):
        raise CertificateError(
            "SWZ603", f"{name}: the list was changed after it was written: its sha256 is another", hint=_HOW
        )
    reader.object("versions")
    entries = [_entry(item, name) for item in reader.readers("claims")]
    reader.done()
    _check_listed(folder, name, entries)
    return tuple(entries)


def _entry(item: Reader, name: str) -> Entry:
    entry = Entry(item.text("id"), item.text("file"), item.digest("sha256"))
    item.done()
    if entry.file != claim_file(entry.id):
        message = f"{name}: {entry.id!r} is listed with the file {entry.file!r}, which is that of another claim"
        raise CertificateError("SWZ603", message, hint=_HOW)
    return entry


def _check_listed(folder: str, name: str, entries: Sequence[Entry]) -> None:
    """Every certificate is listed once, and every one that is listed is there."""
    seen: set[str] = set()
    for entry in entries:
        if entry.file in seen:
            raise CertificateError("SWZ603", f"{name}: {entry.id!r} is listed twice", hint=_HOW)
        seen.add(entry.file)
        if not Path(folder, entry.file).is_file():
            raise CertificateError("SWZ603", f"{folder}/{entry.file} is in the list, but is no file there", hint=_HOW)
    unlisted = sorted(set(_files(Path(folder, CLAIMS))) - {Path(entry.file).name for entry in entries})
    if unlisted:
        raise CertificateError("SWZ603", f"{folder}/{CLAIMS}/{unlisted[0]} is not in the list", hint=_HOW)


_HOW = "swzverify prove PATH --certificates DIR writes one, and so does swzverify scan"


def read_text(folder: str, name: str, sha256: str = "") -> str:
    """The text of a file below the folder. Where a fingerprint is given, it is checked.

    Raises:
        CertificateError: SWZ602 for a file that cannot be read, is too large or not UTF-8; SWZ603 for
            one that is missing, or has another fingerprint.
    """
    path = Path(folder, name)
    shown = f"{folder}/{name}"
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise CertificateError("SWZ602", f"{shown}: no file", hint=_HOW)
        size = found.st_size
        if size > MAX_BYTES:
            raise CertificateError("SWZ602", f"{shown}: larger than {MAX_BYTES >> 20} MiB, which no certificate is")
        data = path.read_bytes()
        text = data.decode()
    except FileNotFoundError:
        raise CertificateError("SWZ603", f"{shown} is named, but is not there", hint=_HOW) from None
    except OSError as error:
        raise CertificateError("SWZ602", f"{shown}: cannot be read: {error.strerror or error}", hint=_HOW) from None
    except UnicodeDecodeError as error:
        raise CertificateError("SWZ602", f"{shown}: byte {error.start} is not UTF-8", hint=_HOW) from None
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        message = f"{shown}: changed after it was written: its sha256 is not {sha256[:16]}..."
        raise CertificateError("SWZ603", message, hint=_HOW)
    return text
