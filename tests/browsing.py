"""A real browser for tests of pages: Debian's Chromium through Playwright, and pages that are watched.

`needs_chromium` skips tests where Playwright or Chromium is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

try:
    from playwright import sync_api
except ImportError:
    sync_api = None
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    sync_api is None or CHROMIUM is None,
    reason="no Playwright, or no Chromium on the PATH; Debian has it as chromium",
)


@contextmanager
def chromium() -> Generator[Any]:
    """The browser, until the block ends."""
    # Chromium refuses its sandbox to root, as whom containers run
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield running
        running.close()


class Watched:
    """Pages of a browser: `said` is what consoles and scripts complained of, `requested` the addresses
    that were asked for.
    """

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.said: list[str] = []
        self.requested: list[str] = []
        self._contexts: list[Any] = []

    def opened(self, url: str, size: tuple[int, int], **options: object) -> Any:
        """A page at an address, in a window of so many pixels."""
        width, height = size
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.requested.append(request.url))
        page.goto(url)
        return page

    def close(self) -> None:
        """Close every page; nothing was complained of."""
        for context in self._contexts:
            context.close()
        assert self.said == []
