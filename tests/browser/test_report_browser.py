"""The report in a real browser, from a file: its script runs, says nothing to the console, and the arm is on the screen."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from manipula.reports.report import write_report
from manipula.reports.theme import JOINT_COLOURS
from manipula.robot.appearance import Visual
from report_results import HOSTILE, planar, renamed, seven

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-prefers-reduced-motion",
         "--enable-logging=stderr", "--virtual-time-budget=2000")  # fmt: skip
PATIENCE_S = 300
NEAR = 12.0  # of 255: colours of a drawing against those of the theme
SEEN = 30  # pixels of its own colour that every joint shows at least

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


def opened(page: Path, *options: str) -> tuple[str, list[str]]:
    """The document after its script ran, and what the console heard."""
    folder = page.parent / "profile"
    command = [str(BROWSER), *QUIET, f"--user-data-dir={folder}", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)


@pytest.mark.parametrize("kind", ["planar", "seven", "hostile"])
def test_report_opens_from_a_file(tmp_path, kind: str) -> None:
    result = {"planar": planar, "seven": seven, "hostile": lambda: renamed(planar(), HOSTILE)}[kind]()
    page = write_report(result, tmp_path / "report.html", equations=False, charts=("position", "torque"))
    dom, heard = opened(page, "--dump-dom")
    assert 'data-report="ready"' in dom
    assert heard == []
    assert "<img" not in dom
    readout = re.findall(r'id="value-\d+">([^<]*)<', dom)
    expected = [f"{abs(v) if abs(v) < 5e-4 else v:.3f}".replace("-", "−") for v in result.arrays["q"][0]]
    assert readout == expected
    assert dom.count('class="cursor"') >= 1


def test_every_joint_is_on_the_screen(tmp_path) -> None:
    page = write_report(planar(), tmp_path / "report.html", equations=False, charts=())
    shot = tmp_path / "shot.png"
    _, heard = opened(page, f"--screenshot={shot}", "--window-size=1200,1000")
    assert heard == []
    with Image.open(shot) as image:
        pixels = np.asarray(image.convert("RGB"), float)
    stage = pixels[300:, 40:850]  # left of the readout, below the numbers
    for light, _ in JOINT_COLOURS[:3]:
        colour = np.array([int(light[k : k + 2], 16) for k in (1, 3, 5)], float)
        assert (np.abs(stage - colour).max(axis=-1) < NEAR).sum() > SEEN, light


def test_tables_have_no_gaps_on_a_phone(tmp_path) -> None:
    """Heads whose words were broken letter by letter stood many lines high above their table."""
    page = write_report(seven(), tmp_path / "report.html", equations=False, charts=())
    measured = (
        "document.body.dataset.head=Math.max(...[...document.querySelectorAll('.data th')].map(c=>c.offsetHeight))"
    )
    html = page.read_text(encoding="utf-8").replace("<main", '<main style="width:390px"', 1)
    html = re.sub(r"<meta[^>]*Content-Security-Policy[^>]*>", "", html)
    page.write_text(html.replace("</body>", f"<script>{measured}</script></body>"), encoding="utf-8")
    dom, _ = opened(page, "--dump-dom", "--window-size=500,900")
    assert 0 < int(re.search(r'data-head="(\d+)"', dom).group(1)) < 80


def test_the_shapes_of_a_robot_are_on_the_screen(tmp_path) -> None:
    result = planar()
    green = (0.0, 1.0, 0.0, 1.0)
    shapes = tuple(Visual(i, "sphere", (0.1,), colour=green) for i in range(result.scenario.robot.n))
    dressed = result.scenario.robot.replace(appearance=shapes)
    shown = dataclasses.replace(result, scenario=result.scenario.replace(robot=dressed))
    page = write_report(shown, tmp_path / "report.html", equations=False, charts=())
    shot = tmp_path / "shot.png"
    _, heard = opened(page, f"--screenshot={shot}", "--window-size=1200,1000")
    assert heard == []
    with Image.open(shot) as image:
        red, green_part, blue = np.moveaxis(np.asarray(image.convert("RGB"), float), -1, 0)
    assert np.sum((green_part > 90) & (red < 0.6 * green_part) & (blue < 0.6 * green_part)) > 300
