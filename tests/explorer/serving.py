"""The page of `explore`, served from this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from swzverify.apps.explorer.server import link_of, listening, page_server


@contextmanager
def served(asked: Callable[..., Any]) -> Generator[str]:
    """The link to the page, until the block ends."""
    with listening("127.0.0.1", 0) as place:
        server = page_server(place, asked)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield link_of(place)
        server.shutdown()
        thread.join()
        server.server_close()
