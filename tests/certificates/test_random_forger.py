"""A random forger against the brute-force oracle: whatever is confirmed is true.

One field of a sound certificate is changed at a time, then all that follows from the statement is
made again as far as it can be. The oracle judges the statement, which it reads as a spec, from
docs/semantics.md alone.
"""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from swzrecheck.claim_file import read_claim
from swzrecheck.errors import CertificateError
from swzrecheck.folder import claim_file
from swzrecheck.reader import Reader
from swzrecheck.recheck import Status
from tests.certificates.as_spec import truth
from tests.certificates.conftest import Folder
from tests.certificates.forger import leaves, other_value, remake, replaced
from tests.certificates.test_forged import KINDS
from tests.nightly import counts

pytest.importorskip("bitwuzla")
CONFIRMED = (Status.RECHECKED, Status.NOT_RECHECKED)
"""A goal that is shown once only counts as confirmed here too."""


@pytest.mark.parametrize("forgeries", counts(10, 40))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_confirmed_is_true(folder: Folder, kind: str, forgeries: int) -> None:
    """Deterministic: the same forgeries in every run."""
    rng = random.Random(kind)
    whole = folder.certificate(kind)
    fields = [path for path, _ in leaves(whole["claim"])]
    tally: Counter[str] = Counter()
    for _ in range(forgeries):
        data = json.loads(json.dumps(whole))
        for _ in range(rng.choice([1, 1, 1, 2])):
            path = rng.choice(fields)
            try:
                data["claim"] = replaced(data["claim"], path, other_value(dict(leaves(data["claim"])).get(path), rng))
            except (KeyError, IndexError, TypeError):
                continue  # the first change took the place away
        remake(data, folder)
        status = judged(folder, kind, data)
        if not is_readable(data["claim"]):
            assert status is Status.BROKEN, (data["claim"], status)
            tally["meaningless"] += 1
            continue
        wanted = truth(data["claim"])
        tally[f"{wanted} {status in CONFIRMED}"] += 1
        assert status not in CONFIRMED or wanted in ("proved", "none"), (data["claim"], status)
        assert wanted != "proved" or status in CONFIRMED, (data["claim"], status)
    # Most fields of some statements are those of the instruction's row, and nothing else has a meaning.
    readable = forgeries - tally["meaningless"]
    assert readable > forgeries // 8 - 1, tally
    assert tally["proved True"] + tally["refuted False"] >= min(forgeries // 4, readable * 3 // 4), tally


def is_readable(claim: dict[str, object]) -> bool:
    """Whether a statement has a meaning at all."""
    try:
        read_claim(Reader(json.loads(json.dumps(claim)), "claim"))
    except CertificateError:
        return False
    return True


def judged(folder: Folder, kind: str, data: dict[str, object]) -> Status:
    """The recheck's word on the certificate of a kind with other contents."""
    listed = json.loads((folder.path / "certificates.json").read_text())
    path = folder.file(kind)
    was = path.read_text()
    identity = str(data["id"])
    moved = folder.path / claim_file(identity)
    path.rename(moved)
    moved.write_text(json.dumps(data))
    entry = next(one for one in listed["claims"] if folder.path / one["file"] == path)
    kept = dict(entry)
    entry.update(id=identity, file=claim_file(identity))
    (folder.path / "certificates.json").write_text(json.dumps(listed))
    folder.sign()
    found = next(one for one in folder.listed() if one.id == identity)
    status = folder.rechecked(found, "bitwuzla").status
    moved.rename(path)
    path.write_text(was)
    entry.update(kept)
    (folder.path / "certificates.json").write_text(json.dumps(listed))
    folder.sign()
    return status
