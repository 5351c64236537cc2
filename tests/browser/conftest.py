"""One headless Chromium for all tests of pages: Debian's own, offline; a test fails when the console hears an error or the page asks for anything.

The one that has no windows at all opens a page with half the work.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from manipula.reports import viewer
from studio_pages import ARGUMENTS, PATIENCE_MS, READY

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)


def complains(said) -> bool:
    """Does the console tell of something wrong? That a picture is read back from the graphics is none of it."""
    return said.type in ("error", "warning") and "GPU stall due to ReadPixels" not in said.text


@pytest.fixture(scope="session")
def browser():
    """The browser; skips where there is none, where Playwright is not installed, or where no viewer was built."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed (scripts/install-tools installs it as root)")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if viewer.script() is None:
        pytest.skip(viewer.missing())
    with playwright.sync_playwright() as play:
        running = play.chromium.launch(executable_path=BROWSER, args=list(ARGUMENTS), timeout=PATIENCE_MS)
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
        page.on("console", lambda said: heard.append(said.text) if complains(said) else None)
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


@pytest.fixture(scope="module")
def studio(browser, tmp_path_factory):
    """The address of a studio in an empty folder."""
    pytest.importorskip("uvicorn", reason="the studio is an extra")
    from manipula.studio.app import STATIC

    if not (STATIC / "studio.js").is_file():
        pytest.skip("the page of the studio was not built")
    process = subprocess.Popen(
        [sys.executable, "-m", "manipula", "studio", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path_factory.mktemp("studio"),
    )
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait(30)
    process.stdout.close()


@pytest.fixture
def page(browser, studio):
    """A fresh page; the test fails when its console hears anything or it asks another host."""
    heard: list[str] = []
    context = browser.new_context(
        viewport={"width": 1300, "height": 850}, reduced_motion="reduce", accept_downloads=True
    )
    context.set_default_timeout(PATIENCE_MS)
    shown = context.new_page()
    home = re.match(r"http://[\d.:]+/", studio).group()
    shown.on("console", lambda said: heard.append(said.text) if complains(said) else None)
    shown.on("pageerror", lambda error: heard.append(str(error)))
    own = (home, "data:", "blob:", home.replace("http", "ws"))
    shown.on("request", lambda asked: None if asked.url.startswith(own) else heard.append(asked.url))
    shown.goto(studio)
    shown.wait_for_selector(READY, state="attached")
    yield shown
    context.close()
    assert heard == []
