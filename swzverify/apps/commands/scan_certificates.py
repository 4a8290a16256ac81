"""The certificates of `swzverify scan --certificates`: their folder, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile


def prepare_certificates(folder: str | None) -> None:
    """Refuse, before minutes of work, a folder that holds anything else.

    Raises:
        CertificateError: SWZ606.
    """
    if folder is not None:
        from swzrecheck.folder import prepare  # noqa: PLC0415 - few runs write certificates

        prepare(folder)


def save_certificates(folder: str | None, found: Sequence[ScannedFile]) -> None:
    """List the certificates, and report on standard error how many there are.

    The report also says why some accesses have none.

    Raises:
        CertificateError: SWZ606.
    """
    if folder is None:
        return
    from swzverify.apps.run.certificates import list_accesses  # noqa: PLC0415 - few runs write certificates

    list_accesses(folder, found)
    every = [(file.name, access) for file in found for access in file.accesses]
    written = sum(bool(access.certificate) for _, access in every)
    free = written + sum(bool(access.no_certificate) for _, access in every)
    for name, access in every:
        if access.no_certificate:
            click.echo(f"{visible(name)}:{access.line}: no certificate: {visible(access.no_certificate)}", err=True)
    again = f"; recheck them: swzverify recheck {visible(folder)}" if written else ""
    click.echo(f"{visible(folder)}: certificates of {written} of {free} free accesses{again}", err=True)
