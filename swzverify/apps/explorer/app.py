"""The page as a Flask app: it checks each request, and passes queries on to the workers."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from flask import Flask, Response, jsonify, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from swzverify.apps.explorer.controls import controls
from swzverify.apps.explorer.fragments import Answer, Ask
from swzverify.apps.explorer.guard import Request, authorities, may_compute, refusal
from swzverify.apps.explorer.page_text import page_text
from swzverify.apps.explorer.state import FieldError, WrongStateError, fields_of
from swzverify.apps.explorer.worker import asked
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.errors import SwzError
from swzverify.report.html.assets import palette

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_IDLE_SECONDS = 15
"""Seconds that a connection may be silent."""
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><path fill="#00224e" d="M0 0h2v2h2v2H2V2H0z"/>'
    '<path fill="#fee838" d="M2 0h2v2H2zM0 2h2v2H0z"/></svg>'
)
"""Banks of a tile of 2 x 2, swizzled."""


class _Quiet(WSGIRequestHandler):
    """Logs no requests, and closes a connection that stays silent."""

    timeout = _IDLE_SECONDS

    def log(self, type: str, message: str, *args: object) -> None:
        """Nothing is logged."""


def server_at(place: socket.socket, ask: Callable[[str, Ask], Answer]) -> BaseWSGIServer:
    """The server of the page at a socket; `ask` answers a query string."""
    host, port = place.getsockname()[:2]
    app = make_app(authorities(host, port), ask)
    server = make_server(host, port, app, threaded=True, request_handler=_Quiet, fd=place.fileno())
    server.daemon_threads = True  # type: ignore[attr-defined]  # of socketserver's threads
    return server


def make_app(known: frozenset[str], ask: Callable[[str, Ask], Answer]) -> Flask:
    """The app: `known` is what `Host` may say, `ask` answers a query string."""
    app = _Guarded(__name__, static_folder=None, template_folder="page")
    app.known = known
    app.url_map.merge_slashes = False  # a path is there or not: nothing is moved
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True

    @app.after_request
    def protect(response: Response) -> Response:  # pyright: ignore[reportUnusedFunction]  # Flask calls it
        response.headers.update(_HEADERS)
        return response

    @app.errorhandler(Exception)
    def fail(error: Exception) -> Response:  # pyright: ignore[reportUnusedFunction]  # likewise
        if isinstance(error, HTTPException):
            what = f"there is no '{request.path[:80]}' here"
            return _problem(SwzError("SWZ595", what, hint="the page is at /"), error.code or 500)
        return _problem(SwzError("SWZ901", fault(error), hint=what_to_send()), 500)

    def page() -> str:
        query = request.query_string.decode("ascii", "replace")
        found = asked(ask, query, "all") if may_compute(_request_of(request.environ)) else None
        fields, errors = _fields(query)
        first = None if found is None else {**found, "parts": {}}
        return render_template("page.html", controls=controls(fields), answer=found, first=first, errors=errors)

    def view() -> Response:
        return jsonify(asked(ask, request.query_string.decode("ascii", "replace"), "view"))

    def changes() -> Response:
        return jsonify(asked(ask, request.query_string.decode("ascii", "replace"), "changes"))

    for path, give in (("/", page), ("/view", view), ("/changes", changes), *_ASSETS):
        app.add_url_rule(path, path, give, methods=["GET"], provide_automatic_options=False)
    return app


class _Guarded(Flask):
    """Refuses requests of others before Flask reads anything of them."""

    known: frozenset[str] = frozenset()

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request. Source: PEP 3333."""
        found = refusal(_request_of(environ), self.known)
        if found is not None:
            return _problem(found.error, found.status)(environ, start_response)
        return super().wsgi_app(environ, start_response)


def _request_of(environ: WSGIEnvironment) -> Request:
    """Names of headers are as WSGI has them: HTTP_SEC_FETCH_SITE."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or (name == "CONTENT_LENGTH" and value)
    }
    return Request(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", ""), headers)


def _problem(error: SwzError, status: int) -> Response:
    told = json.dumps({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    return Response(told, status, {**_HEADERS, "Content-Type": "application/json"})


def _fields(query: str) -> tuple[dict[str, str], list[FieldError]]:
    """The values of the form's fields, not yet checked, and what is wrong with the query string."""
    try:
        return fields_of(query), []
    except WrongStateError as error:
        return {}, [*error.errors]


_ASSETS: tuple[tuple[str, Callable[[], Response]], ...] = (
    ("/page.css", lambda: Response(palette() + page_text("page.css"), mimetype="text/css")),
    ("/page.js", lambda: Response(page_text("explore.js") + page_text("page.js"), mimetype="text/javascript")),
    ("/icon.svg", lambda: Response(_ICON, mimetype="image/svg+xml")),
)
