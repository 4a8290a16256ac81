"""Whom the page's server answers, and how it ends what takes too long."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from http.client import HTTPConnection

import pytest

from swzverify.apps.explorer import worker as worker_module
from swzverify.apps.explorer.fragments import Answer, Ask, answer
from swzverify.apps.explorer.guard import authorities
from swzverify.apps.explorer.server import listening, serve
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.worker import Worker, Workers
from swzverify.errors import SwzError
from tests.explorer import sleepy
from tests.explorer.serving import served

flask_testing = pytest.importorskip("flask.testing", reason="Flask is in the extra explore")
OURS = {"Host": "127.0.0.1:8765"}
BROWSER = {**OURS, "Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8765"}
OPENED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


class Asked:
    """Answers in this process, and remembers what was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Ask]] = []

    def __call__(self, query: str, what: Ask) -> Answer:
        self.seen.append((query, what))
        return answer(query, what)


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def client(asked: Asked) -> flask_testing.FlaskClient:
    from swzverify.apps.explorer.app import make_app

    return make_app(authorities("127.0.0.1", 8765), asked).test_client()


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765"])
@pytest.mark.parametrize("path", ["/", "/view", "/changes", "/page.css", "/page.js", "/icon.svg"])
def test_the_page_s_own_requests_are_answered(client: flask_testing.FlaskClient, path: str, host: str) -> None:
    response = client.get(path, headers={**BROWSER, "Host": host, "Origin": f"http://{host}"})
    assert response.status_code == 200
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in response.headers


REFUSED = {
    "another name that resolves here": ({"Host": "evil.example:8765"}, 403),
    "another port": ({"Host": "127.0.0.1:80"}, 403),
    "no port": ({"Host": "localhost"}, 403),
    "no host": ({"Host": ""}, 403),
    "a user before the host": ({"Host": "localhost:8765@evil.example"}, 403),
    "another site's origin": ({**OURS, "Origin": "https://evil.example"}, 403),
    "no origin at all": ({**OURS, "Origin": "null"}, 403),
    "another port's origin": ({**OURS, "Origin": "http://127.0.0.1:9999"}, 403),
    "its own name by https": ({**OURS, "Origin": "https://127.0.0.1:8765"}, 403),
    "another site": ({**OURS, "Sec-Fetch-Site": "cross-site"}, 403),
    "another port of this machine": ({**OURS, "Sec-Fetch-Site": "same-site"}, 403),
    "a frame of another site": (
        {**OURS, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        403,
    ),
    "a body of unknown length": ({**OURS, "Transfer-Encoding": "chunked"}, 413),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("path", ["/", "/view", "/changes", "/page.js", "/nothing"])
def test_others_are_refused_and_nothing_is_computed(
    client: flask_testing.FlaskClient, asked: Asked, path: str, name: str
) -> None:
    headers, status = REFUSED[name]
    response = client.get(path, headers=headers)
    assert response.status_code == status
    assert response.get_json()["error"]["code"] == "SWZ595"
    assert response.get_json()["error"]["hint"]
    assert asked.seen == []


@pytest.mark.parametrize("path", ["/", "/view", "/nothing"])
def test_a_body_is_refused(client: flask_testing.FlaskClient, asked: Asked, path: str) -> None:
    response = client.get(path, headers=OURS, data=b"rows=8")
    assert (response.status_code, response.get_json()["error"]["code"], asked.seen) == (413, "SWZ595", [])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "WHATEVER"])
@pytest.mark.parametrize("path", ["/", "/view", "/page.js"])
def test_nothing_but_get(client: flask_testing.FlaskClient, asked: Asked, method: str, path: str) -> None:
    response = client.open(path, method=method, headers=BROWSER)
    assert response.status_code == 405
    assert response.get_json()["error"]["code"] == "SWZ595"
    assert asked.seen == []


def test_a_link_of_another_site_opens_the_page_and_has_nothing_computed(
    client: flask_testing.FlaskClient, asked: Asked
) -> None:
    response = client.get("/?rows=32", headers={**OURS, **OPENED, "Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 200
    assert 'value="32"' in response.text
    assert asked.seen == []
    for path in ("/view", "/changes", "/page.js"):
        assert client.get(path, headers={**OURS, **OPENED, "Sec-Fetch-Site": "cross-site"}).status_code == 403
    typed = client.get("/?rows=32", headers={**OURS, **OPENED, "Sec-Fetch-Site": "none"})
    assert asked.seen == [("rows=32", "all")]
    assert "refuted" in typed.text


def test_what_is_not_there_and_what_is_too_long(client: flask_testing.FlaskClient, asked: Asked) -> None:
    for path in ("/nothing", "/../pyproject.toml", "/page.html", "/static/page.js", "/view/", "/view//", "/view/x"):
        response = client.get(path, headers=BROWSER)
        assert response.status_code == 404
        assert response.get_json()["error"]["code"] == "SWZ595"
    assert client.get("/view?" + "a" * 4097, headers=BROWSER).status_code == 414
    assert asked.seen == []


def test_a_wrong_state_is_an_answer_with_its_errors(client: flask_testing.FlaskClient) -> None:
    response = client.get("/view?rows=0&raws=3", headers=BROWSER)
    assert response.status_code == 200
    assert {each["field"] for each in response.get_json()["errors"]} == {"rows", ""}
    page = client.get("/?rows=0", headers=BROWSER)
    assert page.status_code == 200
    assert 'value="0"' in page.text
    assert "SWZ596: rows is 0" in page.text


HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "</script>", "' onfocus='x")


class Page(HTMLParser):
    """The elements of a page with their attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["rows", "element", "coord", "layout", "at", "loops", "no_field"])
def test_a_link_s_texts_are_never_markup(client: flask_testing.FlaskClient, name: str, text: str) -> None:
    plain = Page(client.get("/?rows=0", headers=BROWSER).text).seen
    state = {"map": "own", "order": "layout", "layout": "(64,64):(64,1)", name: text}
    response = client.get("/", query_string=state, headers=BROWSER)
    assert response.status_code == 200
    found = Page(response.text).seen
    added = {"option"} if name == "element" else set()  # the value that is not in the list
    assert {tag for tag, _ in found} == {tag for tag, _ in plain}
    assert [tag for tag, _ in found if tag not in added] == [tag for tag, _ in plain if tag not in added]
    assert {key for _, attributes in found for key in attributes} == {key for _, each in plain for key in each}
    if name != "no_field":
        assert text in [each.get("value") for _, each in found]
    told = client.get("/view", query_string=state, headers=BROWSER).get_json()
    assert told["errors"]


def test_a_fault_of_ours_is_no_traceback() -> None:
    from swzverify.apps.explorer.app import make_app

    def broken(query: str, what: Ask) -> Answer:
        raise RuntimeError(f"{query} {what}")

    client = make_app(authorities("127.0.0.1", 8765), broken).test_client()
    response = client.get("/view?rows=8", headers=BROWSER)
    assert response.status_code == 500
    assert response.get_json()["error"]["code"] == "SWZ901"
    assert "Traceback" not in response.text
    assert response.headers["Content-Security-Policy"]


def test_names_of_each_loopback() -> None:
    assert authorities("::1", 81) == {"[::1]:81", "localhost:81"}
    assert authorities("127.0.0.1", 80) == {"127.0.0.1:80", "127.0.0.1", "localhost:80", "localhost"}


@pytest.fixture
def link(asked: Asked) -> Iterator[str]:
    with served(asked) as found:
        yield found


def test_over_a_socket(link: str, asked: Asked) -> None:
    with urllib.request.urlopen(f"{link}view?rows=32") as response:  # noqa: S310 - loopback
        assert json.load(response)["query"] == "rows=32"
    host, port = link.removeprefix("http://").rstrip("/").split(":")
    for sent, status in ((f"evil.example:{port}", 403), (f"localhost:{port}", 200)):
        connection = HTTPConnection(host, int(port))
        connection.request("GET", "/view", headers={"Host": sent})
        assert connection.getresponse().status == status
        connection.close()
    odd = ("", f"Host: localhost:{port}.evil.example", "Host: [::1", "Host: a@localhost", f"Host: localhost:{port}, a")
    for header in odd:
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(f"GET /view HTTP/1.0\r\n{header}{chr(13) + chr(10) if header else ''}\r\n".encode())
            with raw.makefile("rb") as answered:
                said = answered.read()
        assert b" 403 " in said.split(b"\r\n")[0]
        assert b"SWZ595" in said
        assert b"Traceback" not in said
    assert [query for query, _ in asked.seen] == ["rows=32", ""]


def test_only_loopback_and_only_a_free_port() -> None:
    for host in ("0.0.0.0", "", "example.org", "127.0.0.2"):  # noqa: S104 - refused
        with pytest.raises(SwzError, match=r"SWZ594.*is not loopback"):
            listening(host, 0)
    with listening("127.0.0.1", 0) as place:
        assert place.getsockname()[0] == "127.0.0.1"
        with pytest.raises(SwzError, match=r"SWZ594.*nothing can listen at port"):
            listening("127.0.0.1", place.getsockname()[1])
        with pytest.raises(SwzError, match="SWZ594"):
            serve("127.0.0.1", place.getsockname()[1], print)


def test_what_takes_too_long_is_ended_and_the_next_question_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "serve", sleepy.serve)
    worker = Worker(seconds=30)
    try:
        first = worker.ask("a", "view")["errors"][0]["message"]
        assert worker.ask("b", "view")["errors"][0]["message"] == first
        worker.seconds = 0.2
        with pytest.raises(SwzError, match=r"SWZ598: this state takes more than 0\.2 seconds"):
            worker.ask("hang", "view")
        worker.seconds = 30
        second = worker.ask("c", "view")["errors"][0]["message"]
        assert second != first
        with pytest.raises(ProcessLookupError):
            os.kill(int(first), 0)
        with pytest.raises(SwzError, match="SWZ598: the process that computes died with exit code 7"):
            worker.ask("die", "view")
        assert worker.ask("d", "view")["errors"][0]["message"] not in (first, second)
    finally:
        worker.close()
    worker.close()


def test_what_takes_long_never_waits_in_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "serve", sleepy.serve)
    workers = Workers(seconds=30)
    try:
        slow = workers.ask("a", "changes")["errors"][0]["message"]
        assert workers.ask("a", "view")["errors"][0]["message"] != slow
        busy = Worker(seconds=0.1)
        with busy._turn, pytest.raises(SwzError, match="SWZ598: other requests take all the time"):
            busy.ask("a", "view")
    finally:
        workers.close()


@pytest.mark.nightly
def test_the_worker_s_answers_are_those_of_this_process() -> None:
    workers = Workers()
    try:
        for state in (State(), State(swizzle="offset", view="physical"), State(map="own", coord="(")):
            for what in ("view", "changes", "all"):
                assert workers.ask(state.to_query(), what) == answer(state.to_query(), what)
    finally:
        workers.close()


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="signals of POSIX")
def test_the_command_prints_the_link_and_ends_with_ctrl_c() -> None:
    command = [sys.executable, "-m", "swzverify", "explore", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        link = line.split(" ")[0]
        assert link.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(link) as response:  # noqa: S310 - loopback
            page = response.read().decode()
        assert "refuted: at most 32 wavefronts" in page
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (0, "", "")
