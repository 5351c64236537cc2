"""One headless Chromium for all tests of pages: Debian's own, offline; a test fails when the console hears an error or the page asks for anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from manipula.reports import viewer

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # fmt: skip
PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def browser():
    """The browser; skips where there is none, where Playwright is not installed, or where no viewer was built."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed (scripts/install-tools installs it as root)")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if viewer.script() is None:
        pytest.skip(viewer.missing())
    with playwright.sync_playwright() as play:
        running = play.chromium.launch(executable_path=BROWSER, args=list(QUIET), timeout=PATIENCE_MS)
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """``opened(path, width, height, dark)``: a page from a file, its script at work."""
    contexts, heard = [], []

    def show(path: Path, width: int = 1280, height: int = 800, dark: bool = False):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce",
            offline=True, accept_downloads=True, has_touch=width < 600,
        )  # fmt: skip
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", lambda said: heard.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda asked: heard.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None)  # fmt: skip
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-report]", state="attached")
        assert page.get_attribute("html", "data-report") == "ready"
        return page

    yield show
    for context in contexts:
        context.close()
    assert heard == []
