"""The gallery: which pictures there are of every panel and every page, and how each of them is brought about in Chromium.

One declaration, ``SCENES``. ``scripts/docs-screenshots --only gallery`` makes the pictures and writes docs/studio_gallery.md; tests hold it against the
tabs that the page has and the files that are there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
FOLDER, PAGE = ROOT / "docs" / "images" / "gallery", ROOT / "docs" / "studio_gallery.md"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES = ("light", "dark")
SETTLED = "() => window.studio.run.value?.state === 'done' && !window.studio.view.growing && window.studio.view.state.engine.runs.value[0].t.length > 1"
MOMENT = "(share) => { const { clock } = (window.studio?.view ?? window.manipulaView).state; clock.stay(share * clock.end.value); }"
TOP = "(selector) => { const e = document.querySelector(selector); e.scrollIntoView({ block: 'start' }); }"


@dataclass(frozen=True)
class Scene:
    """One picture in every size and scheme."""

    name: str
    title: str
    words: str
    prepare: Callable[[Any, Path, str], None]  # a page of the browser, a folder, the address of the studio
    panel: str | None = None  # of the studio

    def files(self) -> list[Path]:
        return [FOLDER / self.file(size, scheme) for scheme in SCHEMES for size in SIZES]

    def file(self, size: str, scheme: str) -> str:
        return f"{self.name}-{size}-{scheme}.png"


# ------------------------------------------------------------------------------------------------------------------- steps in the studio


def ready(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-studio=ready]", state="attached")


def begun(page: Any, document: Path | str) -> None:
    """Open a scenario file, or a robot of the catalog."""
    if isinstance(document, Path):
        page.set_input_files("#file", document)
        page.wait_for_function("() => window.studio.store.past.value.length > 0 && window.studio.robot.value")
    else:
        page.evaluate(
            "async (robot) => window.studio.open(async () => ({ format: 1, name: robot, robot, duration: 2 }))",
            document,
        )
        page.wait_for_function(
            "(n) => window.studio.robot.value?.robot.name === n && window.studio.view.showsPosture", arg=document
        )
    page.wait_for_timeout(1500)


def chosen(page: Any, robot: str) -> None:
    """A robot of the catalog with the task and the controller that the studio gives it."""
    tab(page, "robot")
    page.select_option("#catalogue", robot)
    page.wait_for_function(
        "(n) => window.studio.store.get(['robot']) === n && window.studio.robot.value?.robot.name === n", arg=robot
    )


def ran(page: Any) -> None:
    before = page.evaluate("window.studio.run.value?.id ?? ''")
    page.click("#run")
    page.wait_for_function(
        "(old) => window.studio.run.value?.state === 'done' && window.studio.run.value.id !== old && !window.studio.view.growing",
        arg=before,
    )


def tab(page: Any, name: str) -> None:
    """A panel; on a phone its sheet is opened."""
    if page.get_attribute(f"#tab-{name}", "aria-selected") != "true" or not page.locator("#side.open").count():
        page.click(f"#tab-{name}")
    page.wait_for_timeout(500)


def opened(page: Any, address: str, document: Path | str, panel: str, moment: float | None = None) -> None:
    """A fresh studio with that document, after a run where a moment is asked for, on that panel."""
    page.goto("about:blank")
    ready(page, address)
    begun(page, document)
    if moment is not None:
        ran(page)
        page.evaluate(MOMENT, moment)
    tab(page, panel)


# ------------------------------------------------------------------------------------------------------------------------- the studio


def robot(page: Any, folder: Path, address: str) -> None:
    opened(page, address, "iiwa14", "robot")
    page.evaluate("() => [0.5, 0.7, -0.3, -1.3, 0.4, 0.9, 0.2].forEach((q, i) => window.studio.posing.pose(i, q))")
    for layer in ("frames", "masses", "inertia"):
        page.evaluate(
            "(id) => { const box = document.getElementById(id); if (!box.checked) box.click(); }", f"show-{layer}"
        )


def table(page: Any, folder: Path, address: str) -> None:
    opened(page, address, "scara-khang", "robot")
    page.get_by_text("Edit as DH table (modified)").click()
    page.wait_for_selector("#construction")
    page.wait_for_timeout(1500)
    page.evaluate("() => [0.4, 0.9, -0.6, 0.2].forEach((q, i) => window.studio.posing.pose(i, q))")
    page.evaluate(
        "() => { const r = document.getElementById('construction'); r.value = 10; r.dispatchEvent(new Event('input')); }"
    )


def task(page: Any, folder: Path, address: str) -> None:
    opened(page, address, EXAMPLES / "planar4r_spline.toml", "task")
    page.wait_for_function("() => window.studio.path.coloured.value")


def control(page: Any, folder: Path, address: str) -> None:
    opened(page, address, EXAMPLES / "hybrid_wiping.toml", "control", 0.6)


def run(page: Any, folder: Path, address: str) -> None:
    opened(page, address, EXAMPLES / "predictive_within_bounds.toml", "run", 0.2)


def compared(page: Any, folder: Path, address: str) -> None:
    opened(page, address, EXAMPLES / "press_on_wall.toml", "run", 0.03)
    page.click("#keep")
    page.evaluate("() => window.studio.store.edit(['controller', 'kp'], 25)")
    page.wait_for_function("() => window.studio.compared.value !== null")
    page.wait_for_function(SETTLED)
    page.evaluate(MOMENT, 0.03)
    page.evaluate(TOP, ".kept")


def charts(page: Any, folder: Path, address: str) -> None:
    opened(page, address, EXAMPLES / "panda_pose_tracking.toml", "run", 0.45)
    if page.viewport_size["width"] < 800:
        page.click("#tab-run")  # the sheet goes down
    page.evaluate(TOP, "#charts")


def equations(page: Any, folder: Path, address: str) -> None:
    opened(page, address, "planar-2r", "equations")
    page.select_option("select[aria-label=Part]", "tau")
    page.wait_for_function("() => document.querySelectorAll('.equations math').length > 1")


def studies(page: Any, folder: Path, address: str) -> None:
    page.goto("about:blank")
    ready(page, address)
    tab(page, "studies")
    page.wait_for_function("() => window.studio.cloud?.place(3).every(Number.isFinite)")
    page.evaluate("() => window.studio.cloud.choose(70)")
    page.wait_for_function(SETTLED)
    page.evaluate(MOMENT, 0.6)


# -------------------------------------------------------------------------------------------------------------------------- the files


def made(folder: Path, name: str, make: Callable[[Path], object]) -> str:
    """The address of a page that is made once."""
    path = folder / name
    if not path.exists():
        make(path)
    return path.as_uri()


def shown(page: Any, address: str, moment: float) -> None:
    page.goto(address)
    page.wait_for_function("() => window.manipulaView")
    page.evaluate(MOMENT, moment)


def scara(path: Path) -> None:
    command = [sys.executable, "-m", "manipula", "run", str(EXAMPLES / "scara_circle.toml"), "-o", str(path.parent)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def report(page: Any, folder: Path, address: str) -> None:
    shown(page, made(folder / "scara", "report.html", scara), 0.7)


def report_charts(page: Any, folder: Path, address: str) -> None:
    report(page, folder, address)
    page.evaluate(TOP, ".charts")


def two_runs(path: Path) -> None:
    import manipula as mp

    held = mp.Scenario.load(EXAMPLES / "pushed_and_observed.toml")
    told = held.replace(name="only observed", controller=replace(held.controller, compensate=False))
    mp.write_report([mp.simulate(held), mp.simulate(told)], path)


def comparison(page: Any, folder: Path, address: str) -> None:
    shown(page, made(folder, "compare.html", two_runs), 0.45)
    page.evaluate(TOP, "section:has(#motion)")


def moved_panda(path: Path) -> None:
    import manipula as mp

    start, end = [0.1, 0.2, 0.3, -1.2, 0.1, 1.1, 0.2], [0.9, 0.5, -0.4, -1.9, 0.3, 1.9, 0.9]
    move = mp.joint_move(start, end, velocity=2, acceleration=10, jerk=100)
    run = mp.Scenario(
        mp.load("panda").replace(payload=2.0), controller=mp.control.ComputedTorque(kp=100, kv=20),
        reference=move, q0=[0.0, 0.3, *start[2:]], duration=2.0, step=1e-3, integrator="rk4", name="panda, moved",
    )  # fmt: skip
    mp.simulate(run).report(path, live=True)


def live(page: Any, folder: Path, address: str) -> None:
    shown(page, made(folder, "live.html", moved_panda), 0.4)
    page.wait_for_function("() => window.manipula?.agreement !== undefined")
    page.evaluate(
        "async () => { const p = window.manipula.parameters.find((p) => p.path === 'payload.mass'); await window.manipula.set(p.path, 5); }"
    )
    page.evaluate(TOP, ".live")


def notebook_page(path: Path) -> None:
    """What a notebook shows of a robot, of postures, of limits and of equations, one below the other."""
    import manipula as mp
    from manipula.reports.notebook import html_of

    arm, run = mp.load("scara-khang"), mp.simulate(mp.Scenario.load(EXAMPLES / "predictive_within_bounds.toml"))
    shown = {
        'mp.load("planar-3r")': mp.load("planar-3r"),
        "mp.solve_ik(scara, X, all_solutions=True)": mp.solve_ik(arm, mp.compile(arm).pose([0.3, 0.4, 0.2, 0.1]), all_solutions=True),
        "mp.doctor(scara)": mp.doctor(arm),
        'mp.equations(mp.load("planar-2r"))': mp.equations(mp.load("planar-2r")),
        "result.feasibility": run.feasibility,
    }  # fmt: skip
    style = (
        ":root{color-scheme:light dark}pre{opacity:.65;margin:1.4rem 0 .4rem;white-space:pre-wrap}div{overflow-x:auto}"
    )
    style += "body{font:14px/1.4 sans-serif;margin:1rem}"
    cells = "".join(f"<pre>{escape(words)}</pre><div>{html_of(value)}</div>" for words, value in shown.items())
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>notebook</title><style>{style}</style>"
    path.write_text(head + cells, encoding="utf-8")


def notebook(page: Any, folder: Path, address: str) -> None:
    page.goto(made(folder, "notebook.html", notebook_page))
    page.frame_locator("iframe").first.locator("html[data-report=ready]").wait_for(state="attached")


def notebook_tables(page: Any, folder: Path, address: str) -> None:
    notebook(page, folder, address)
    page.evaluate("() => document.querySelectorAll('pre')[1].scrollIntoView()")


SCENES = (
    Scene("robot", "Robot", "An iiwa 14 with its frames, centres of mass and ellipsoids of inertia; joints by slider.", robot, "robot"),
    Scene("table", "Robot as a table", "A SCARA as a DH table, and the frames that its first ten turns and shifts make.", table, "robot"),
    Scene("task", "Task", "A spline for four joints, coloured by how well the arm can move along it.", task, "task"),
    Scene("control", "Control", "A controller of force and position wipes along a wall.", control, "control"),
    Scene("run", "Run", "A UR3e under model predictive control: verdict and limits first, then key numbers.", run, "run"),
    Scene("charts", "Charts", "A Panda moves its hand and turns it: all charts with one cursor.", charts, "run"),
    Scene("compared", "Run, compared", "Two runs over each other, the kept one as a ghost, and what is different.", compared, "run"),
    Scene("equations", "Equations", "The joint torques of two links.", equations, "equations"),
    Scene("studies", "Studies", "240 runs as points; one of them computed again.", studies, "studies"),
    Scene("report", "Report", "A SCARA along a circle: what `make run` ends with.", report),
    Scene("report-charts", "Report, its charts", "The same report further down.", report_charts),
    Scene("comparison", "Report of two runs", "A PUMA that is pushed, with and without taking the push back.", comparison),
    Scene("live", "Live file", "A Panda with another payload, computed in the page.", live),
    Scene("notebook", "Notebook, a robot", "What a notebook shows of a robot: its joints move in turn.", notebook),
    Scene("notebook-tables", "Notebook, tables", "Postures, findings of the doctor, equations, limits.", notebook_tables),
)  # fmt: skip


def page_text() -> str:
    """docs/studio_gallery.md."""
    lines = [
        "# Gallery", "",
        "Every panel of the [studio](studio.md) and every kind of [report](reports.md), light and dark, on a desktop (1280 × 800) and on a phone (390 × 844).",
        "A click on a picture shows it in its own size.", "",
    ]  # fmt: skip
    for scene in SCENES:
        lines += [f"## {scene.title}", "", scene.words, ""]
        for scheme in SCHEMES:
            lines.append('<p class="pictures">')
            for size, share in zip(SIZES, ("74%", "23%")):
                path = f"images/gallery/{scene.file(size, scheme)}"
                lines.append(
                    f'<a href="{path}"><img src="{path}" width="{share}" alt="{scene.title}, {scheme}, on a {size}"></a>'
                )
            lines += ["</p>", ""]
    return "\n".join(lines)
