"""Makes the screenshot of docs/explore.md: `python docs/pictures/explore.py`.

It needs the extras `explore` and `dev`, and Chromium. Fonts differ from machine to machine, so no
test compares the file.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from swzverify.apps.explorer.fragments import answer
from swzverify.apps.explorer.server import link_of, listening, page_server

FILE = Path(__file__).with_name("explore.png")
QUERY = "rows=32&swizzle=offset&bits=2"


def main() -> None:
    """Serve the page, open it, point at a lane, and keep what is seen."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with listening("127.0.0.1", 0) as place, sync_playwright() as playwright:
        server = page_server(place, answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 1180, "height": 640}, color_scheme="light")
        page.goto(f"{link_of(place)}?{QUERY}")
        page.wait_for_selector("a.try")
        page.locator("#groups td[data-say]").nth(1).hover()
        page.screenshot(path=FILE)
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
