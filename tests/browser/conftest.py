"""One headless Chromium for all tests of pages: Debian's own, offline; a test fails when the console hears an error or the page asks for anything.

The one that has no windows at all opens a page with half the work. Every test has a page of its own; pages share profiles, see below.
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
        running = play.chromium.launch(
            executable_path=BROWSER, args=[*ARGUMENTS, "--process-per-site"], timeout=PATIENCE_MS
        )
        yield running
        running.close()


class Profiles:
    """Contexts of the browser that tests share, by what cannot be changed later.

    A context of its own has a process of its own, and starting that takes more than the work of the page. One page stays behind in each,
    so that the process does (``--process-per-site``).
    """

    def __init__(self, browser) -> None:
        self.browser = browser
        self.made: dict[object, tuple] = {}

    def page(self, kind: object, address: str, **options):
        """A new page in the context of this kind, where nothing is left of the one before; ``address``: something of the same site."""
        if kind not in self.made:
            context = self.browser.new_context(reduced_motion="reduce", accept_downloads=True, **options)
            context.set_default_timeout(PATIENCE_MS)
            self.made[kind] = context, context.new_page()
            self.made[kind][1].goto(address)
        context, keeper = self.made[kind]
        context.clear_cookies()
        keeper.evaluate("localStorage.clear()")
        return context.new_page()

    def close_pages(self) -> None:
        """All but those that stay."""
        for context, keeper in self.made.values():
            for page in context.pages:
                if page is not keeper:
                    page.close()

    def close(self) -> None:
        for context, _ in self.made.values():
            context.close()


@pytest.fixture(scope="module")
def profiles(browser):
    made = Profiles(browser)
    yield made
    made.close()


@pytest.fixture
def opened(profiles, tmp_path):
    """``opened(path, width, height, dark)``: a page from a file, its script at work."""
    heard = []
    blank = tmp_path / "blank.html"
    blank.write_text("<title>stays</title>")

    def show(path: Path, width: int = 1280, height: int = 800, dark: bool = False):
        touch = width < 600
        page = profiles.page(touch, blank.as_uri(), offline=True, has_touch=touch)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.on("console", lambda said: heard.append(said.text) if complains(said) else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda asked: heard.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None)  # fmt: skip
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-report]", state="attached")
        assert page.get_attribute("html", "data-report") == "ready"
        return page

    yield show
    profiles.close_pages()
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
def page(profiles, studio):
    """A fresh page; the test fails when its console hears anything or it asks another host."""
    heard: list[str] = []
    home = re.match(r"http://[\d.:]+/", studio).group()
    shown = profiles.page(home, f"{home}nothing", viewport={"width": 1300, "height": 850})
    shown.on("console", lambda said: heard.append(said.text) if complains(said) else None)
    shown.on("pageerror", lambda error: heard.append(str(error)))
    own = (home, "data:", "blob:", home.replace("http", "ws"))
    shown.on("request", lambda asked: None if asked.url.startswith(own) else heard.append(asked.url))
    shown.goto(studio)
    shown.wait_for_selector(READY, state="attached")
    yield shown
    profiles.close_pages()
    assert heard == []
