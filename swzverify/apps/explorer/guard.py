"""The server answers only a browser on this machine that shows this very page.

A page of another site can send requests to loopback too: to the address, or to a name of its own
that resolves to 127.0.0.1. `Origin` and `Sec-Fetch-Site` show the first case, `Host` shows the
second.

Source: W3C, Fetch Metadata Request Headers; RFC 9110, 7.2 (Host).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.apps.explorer.state import MOST_QUERY
from swzverify.errors import SwzError

METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Request:
    """What a request says of itself; `headers` have small letters, and only those that were sent."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error, with its HTTP status."""

    status: int
    error: SwzError


def authorities(host: str, port: int) -> frozenset[str]:
    """What `Host` may say of a server on loopback.

    >>> sorted(authorities("127.0.0.1", 8000))
    ['127.0.0.1:8000', 'localhost:8000']
    """
    names = (f"[{host}]" if ":" in host else host, "localhost")
    return frozenset([*(f"{name}:{port}" for name in names), *(names if port == 80 else ())])


def refusal(request: Request, known: frozenset[str]) -> Refusal | None:
    """Why a request is not answered; None for one that is.

    >>> ours = authorities("127.0.0.1", 8000)
    >>> refusal(Request("GET", "/", "", {"host": "localhost:8000"}), ours)
    >>> refusal(Request("GET", "/", "", {"host": "evil.example:8000"}), ours).status
    403
    """
    headers = request.headers
    if request.method not in METHODS:
        return _refused(405, f"the method {request.method[:20]}", "GET")
    host = headers.get("host", "")
    if host.lower() not in known:
        return _refused(403, f"a request to the host '{host[:80]}'", f"the page is at {', '.join(sorted(known))}")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{each}" for each in known}:
        return _refused(403, f"a request of a page of '{origin[:80]}'", "only the page itself may ask")
    if not may_compute(request) and not _opens_the_page(request):
        return _refused(
            403, f"a request of another site (Sec-Fetch-Site: {headers['sec-fetch-site'][:20]})", "open the page"
        )
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        return _refused(413, "a request with a body", "the state is in the address")
    if len(request.query) > MOST_QUERY:
        return _refused(414, f"a query of {len(request.query)} characters", f"at most {MOST_QUERY}")
    return None


def may_compute(request: Request) -> bool:
    """Whether the page itself or a person sent the request.

    A link on another site opens the page, but nothing is computed for it. Programs that are no browsers
    send no such header.
    """
    return request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _opens_the_page(request: Request) -> bool:
    """Whether a browser follows a link to the page, in a window and not in a frame."""
    headers = request.headers
    return (
        request.path == "/"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _refused(status: int, what: str, hint: str) -> Refusal:
    return Refusal(status, SwzError("SWZ595", f"{what} is not answered", hint=hint))
