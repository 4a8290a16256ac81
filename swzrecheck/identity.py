"""Checks that a certificate's id names what it states: path, subjects, case and kind."""

from __future__ import annotations

import re
from itertools import product

from swzrecheck.errors import CertificateError
from swzrecheck.record import Certificate


def check_identity(file: str, certificate: Certificate) -> None:
    """Refuse, by SWZ605, an id of another claim, and constants of another case."""
    claim = certificate.claim
    case = ",".join(f"{name}={value}" for name, value in certificate.case.items())
    # Where one name stands for several subjects, the id says which is meant.
    names = product(*((name, f"{role}:{name}") for role, name in claim.of))
    middles = [",".join(each) + (f"[{case}]" if case else "") for each in names]
    plain = re.sub(r"#[1-9][0-9]*\Z", "", certificate.id)
    if plain not in {f"{certificate.spec}::{middle}::{claim.kind}" for middle in middles}:
        raise CertificateError("SWZ605", f"{file}: the id {certificate.id!r} is not that of its statement")
    for holder in (*claim.accesses.values(), *claim.maps.values()):
        for name, value in holder.constants.items():
            if certificate.case.get(name, value) != value:
                told = certificate.case[name]
                raise CertificateError("SWZ605", f"{file}: {name} is {value} in {holder.name}, {told} in `case`")
