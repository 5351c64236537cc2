"""The studio where things go otherwise than hoped: stopped and started again, reloaded, given files that are none, arms of any size, names of any script."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from studio_pages import PATIENCE_MS, READY, choose, run

pytest.importorskip("uvicorn", reason="the studio is an extra")

DROP = """([name, size, text]) => { const d = new DataTransfer();
  d.items.add(new File([size ? new Uint8Array(size) : text], name)); const about = { dataTransfer: d, bubbles: true, cancelable: true };
  window.dispatchEvent(new DragEvent("dragover", about)); const veiled = !document.getElementById("veil").hidden;
  window.dispatchEvent(new DragEvent("drop", about)); return veiled; }"""
CELL = """() => { const p = window.studio.view.stage.grid.geometry.attributes.position.array;
  return Math.abs(p[0] - p[12]) + Math.abs(p[1] - p[13]); }"""
LONG = {"format": 1, "name": "long", "robot": "panda", "duration": 5400.0, "step": 1e-4, "sample": 0.6, "verify": False, "integrator": "rk4"}  # fmt: skip
NAMES = [
    "ذراع الروبوت الأول",
    "🦾 wrist 🔧",
    "a_joint_whose_name_is_much_longer_than_any_place_in_which_it_could_be_shown_whole",
]


class Studio:
    """A studio on a port that stays the same when it is started again."""

    def __init__(self, folder, *words: str) -> None:
        self.folder, self.words, self.port = folder, words, "0"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "manipula", "studio", *self.words, "--no-browser", "--port", self.port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.address = self.process.stdout.readline().strip()
        self.port = re.match(r"http://127\.0\.0\.1:(\d+)/", self.address).group(1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture
def context(browser):
    made = browser.new_context(viewport={"width": 1024, "height": 700}, reduced_motion="reduce")
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


def opened(context, address: str):
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(READY, state="attached")
    return page


def test_a_studio_that_is_stopped_and_started_again(context, tmp_path):
    (tmp_path / "arm.toml").write_text('format = 1\nname = "mine"\nrobot = "planar-2r"\nduration = 0.5\n', "utf-8")
    studio = Studio(tmp_path, "arm.toml")
    faults: list[str] = []
    try:
        page = opened(context, studio.address)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.evaluate("() => window.studio.store.edit(['duration'], 0.75)")
        page.reload()  # what was edited stays, though the studio was begun with a file
        page.wait_for_selector(READY, state="attached")
        assert page.evaluate("window.studio.store.document.value.duration") == 0.75
        assert opened(context, studio.address).evaluate("window.studio.store.document.value.duration") == 0.5
        page.bring_to_front()
        run(page)
        page.click("#tab-run")
        page.click("#keep")
        page.wait_for_function("() => window.studio.kept.runs.value.length === 1")
        page.evaluate("(d) => { window.studio.replace(d); return window.studio.start(); }", LONG)
        page.wait_for_function("() => window.studio.busy.value.includes('%')")
        studio.stop()
        page.wait_for_selector("#silence:not([hidden])")
        assert "does not answer" in page.inner_text("#silence")
        page.click("#stop")  # nobody hears it
        studio.start()
        page.wait_for_function("() => document.getElementById('silence').textContent.includes('Open the address')")
        opened(context, studio.address).close()  # as the page says: now the browser has the key
        page.wait_for_selector("#silence[hidden]", state="attached")
        page.wait_for_function("() => window.studio.busy.value === '' && window.studio.run.value === null")
        assert page.evaluate("window.studio.kept.runs.value") == []
        assert page.evaluate("window.studio.store.document.value.name") == "long"
        assert "started anew" in page.inner_text(".message")
        page.click("#undo")
        page.wait_for_function("() => window.studio.store.document.value.name === 'mine'")
        assert run(page)["status"] == "finished"
    finally:
        studio.stop()
    assert faults == []


def test_the_studio_has_a_port_of_its_own_where_that_is_free():
    """What a browser keeps (the document) belongs to a port."""
    from manipula.studio.serving import FAVOURITE, usual

    first, second = usual(), usual()
    try:
        ports = [one.getsockname()[1] for one in (first, second)]
    finally:
        first.close()
        second.close()
    assert ports[1] not in (FAVOURITE, ports[0])


def test_files_that_are_none_are_refused_and_words_can_be_dragged(page):
    told = "(word) => window.studio.message.value.includes(word)"
    before = page.evaluate("window.studio.store.document.value")
    for name, size, text, word in (
        ("huge.urdf", 17 * 2**20, "", "16 MB"),
        ("picture.png", 0, "\x89PNG", "suffix"),
        ("empty.toml", 0, "", "empty.toml"),
        ("noise.xml", 2000, "", "noise.xml"),
    ):
        assert page.evaluate(DROP, [name, size, text]) is True
        page.wait_for_function(told, arg=word)
        assert page.locator("#veil").is_hidden()
    assert page.evaluate("window.studio.store.document.value") == before
    veiled = """() => { const d = new DataTransfer(); d.setData("text/plain", "1.5");
        const over = new DragEvent("dragover", { dataTransfer: d, bubbles: true, cancelable: true });
        window.dispatchEvent(over); return [!document.getElementById("veil").hidden, over.defaultPrevented]; }"""
    assert page.evaluate(veiled) == [False, False]  # a word on its way from one box to another


def test_one_file_is_opened_twice(page, tmp_path):
    file = tmp_path / "arm.toml"
    for duration in (0.5, 0.25):
        file.write_text(f'format = 1\nname = "mine"\nrobot = "planar-2r"\nduration = {duration}\n', "utf-8")
        page.set_input_files("#file", file)
        page.wait_for_function("(d) => window.studio.store.document.value.duration === d", arg=duration)
        assert page.evaluate("document.getElementById('file').value") == ""  # the same name is a change again


def test_arms_of_any_size_and_names_of_any_script(page):
    for size in (1e-4, 300.0):
        rows = [
            {"a": size, "mass": 0.1, "joint": "prismatic" if k == 1 else "revolute", "name": n}
            for k, n in enumerate(NAMES)
        ]
        dh = {"convention": "standard", "rows": [{k: v for k, v in row.items() if v != "revolute"} for row in rows]}
        page.evaluate("(d) => window.studio.replace(d)", {"format": 1, "name": NAMES[0], "robot": {"name": NAMES[1], "dh": dh}, "duration": 0.2})  # fmt: skip
        page.wait_for_function(
            "(s) => window.studio.view.showsPosture && Math.abs(window.studio.view.state.page.robots[0].size / s - 3) < 2",
            arg=size,
        )
        cell = page.evaluate(CELL)
        assert 0.02 * size < cell < 2 * size  # lines of the ground are as far apart as the arm is large
        told = page.inner_text("#tip-x").replace("−", "-")
        assert float(told) == pytest.approx(page.evaluate("window.studio.view.stage.tip()[0]"), rel=2e-2)
    shown = page.inner_text(".readout")
    assert all(name[:12] in shown for name in NAMES)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.title().startswith(NAMES[0])


def test_panels_are_chosen_by_arrows(page):
    page.focus("#tab-robot")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-task"
    assert page.get_attribute("#tab-task", "aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "tab-studies"


def test_what_is_no_longer_shown_draws_nothing(page):
    choose(page, "planar-2r")
    page.wait_for_function("() => window.studio.view.showsPosture")
    page.evaluate(
        "() => { window.before = window.studio.view.stage; window.draws = 0; window.before.draw = () => window.draws++; }"
    )
    choose(page, "planar-3r")
    page.wait_for_function("() => window.studio.view.stage !== window.before")
    page.evaluate("() => { window.draws = 0; }")
    for _ in range(2):
        page.click("#theme")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("window.draws") == 0


def test_a_planar_arm_of_any_number_of_links(page):
    page.click("#tab-robot")
    page.click("text=Planar arm")
    page.fill('input[aria-label="number of links"]', "4")
    assert page.input_value('input[aria-label="lengths of the links, m"]') == "0.4, 0.3, 0.3, 0.3"
    page.click("#make-planar")
    page.wait_for_function("() => window.studio.robot.value?.robot.n === 4")
    page.click("summary >> text=Planar arm")
    for wrong in ("many", "0", "65", "2.5", ""):
        page.fill('input[aria-label="number of links"]', wrong)
        page.click("#make-planar")
        assert f"“{wrong}”" in page.inner_text(".message")
    assert page.evaluate("window.studio.robot.value.robot.n") == 4


def test_an_answer_that_comes_after_the_next_question_is_not_shown(page):
    """The equations that are shown are those that the panel names, whichever answer comes last."""
    page.click("#tab-equations")
    page.wait_for_selector(".equations math")
    held = []
    page.route(
        "**/api/equations",
        lambda route: held.append(route) if '"only":"C"' in route.request.post_data else route.continue_(),
    )
    page.select_option("select[aria-label=Part]", "C")
    page.wait_for_function("() => document.querySelector('.equations').textContent === 'Deriving …'")
    page.select_option("select[aria-label=Part]", "V")
    page.wait_for_function("() => document.querySelector('.equations').textContent.includes('Potential')")
    for route in held:
        route.continue_()
    page.wait_for_timeout(1000)
    assert held
    assert "Potential" in page.locator(".equations").inner_text()
    assert "Coriolis" not in page.locator(".equations").inner_text()


def test_of_two_robots_that_are_chosen_quickly_the_last_one_stays(page):
    """Arrow keys in the list ask for one robot after the other; a slow answer to an earlier question is late."""
    held = []
    page.route(
        "**/api/new", lambda route: held.append(route) if "panda" in route.request.post_data else route.continue_()
    )
    page.click("#tab-robot")
    page.select_option("#catalogue", "panda")
    page.select_option("#catalogue", "planar-3r")
    page.wait_for_function("() => window.studio.robot.value?.robot.name === 'planar-3r'")
    assert held
    for route in held:
        route.continue_()
    page.wait_for_timeout(1000)
    assert page.evaluate("window.studio.store.get(['robot'])") == "planar-3r"


def test_what_is_typed_while_a_part_is_filled_in_stays(page):
    held = []
    choose(page, "planar-2r")
    page.click("#tab-control")
    page.route("**/api/choose", lambda route: held.append(route) if not held else route.continue_())
    page.evaluate("() => { const s = [...document.querySelectorAll('#body select')].find((s) => [...s.options].some((o) => o.value === 'pd_gravity'));"
                  " s.value = 'pd_gravity'; s.dispatchEvent(new Event('change', { bubbles: true })); }")  # fmt: skip
    page.wait_for_timeout(200)
    page.evaluate("() => window.studio.store.edit(['duration'], 1.75)")
    held[0].continue_()
    page.wait_for_function("() => window.studio.store.get(['controller', 'law']) === 'pd_gravity'")
    assert page.evaluate("window.studio.store.get(['duration'])") == 1.75
