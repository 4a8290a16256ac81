"""Serves the page to this machine: loopback alone, one worker, nothing kept."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from swzverify.apps.explorer.worker import Workers
from swzverify.errors import SwzError

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

    from swzverify.apps.explorer.fragments import Answer, Ask

HOSTS = ("127.0.0.1", "::1")
"""The addresses that the server may listen at."""


def serve(host: str, port: int, ready: Callable[[str], None], query: str = "") -> None:
    """Serve the page until Ctrl-C; `ready` is told its link, with the query. Port 0 takes a free one.

    Raises:
        SwzError: SWZ593 without Flask, SWZ594 if nothing can listen there.
    """
    workers = Workers()
    with listening(host, port) as place:
        server = page_server(place, workers.ask)
        try:
            workers.ask(query, "view")  # what the page opens with; the process is warm then
            ready(link_of(place) + (f"?{query}" if query else ""))
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            pass  # how it is ended
        finally:
            server.server_close()
            workers.close()


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on loopback.

    Raises:
        SwzError: SWZ594.
    """
    if host not in HOSTS:
        raise SwzError(
            "SWZ594", f"'{host}' is not loopback", hint=f"{' or '.join(HOSTS)}: the page is for this machine"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=64)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        message = f"nothing can listen at port {port} of {host}: {why}"
        raise SwzError("SWZ594", message, hint="--port 0 takes a free port") from error


def link_of(place: socket.socket) -> str:
    """The page's link.

    >>> with listening("127.0.0.1", 0) as place:
    ...     link_of(place).startswith("http://127.0.0.1:")
    True
    """
    host, port = place.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def page_server(place: socket.socket, ask: Callable[[str, Ask], Answer]) -> BaseWSGIServer:
    """The server of the page at a socket; `ask` answers a query string.

    Raises:
        SwzError: SWZ593 without Flask.
    """
    try:
        from swzverify.apps.explorer.app import server_at  # noqa: PLC0415 - an extra has what it needs
    except ImportError as error:
        if error.name not in ("flask", "werkzeug"):
            raise
        hint = "pip install 'swzverify[explore]'; `swzverify show` and `explain` say the same without a page"
        raise SwzError("SWZ593", "the page needs Flask, which is not installed", hint=hint) from error
    return server_at(place, ask)
