"""The report in a real browser, from a file, as a reader uses it: the arm is on the screen and follows the charts, charts zoom, pin and give their numbers."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import manipula as mp
from manipula.reports.report import write_report
from manipula.reports.theme import JOINT_COLOURS
from manipula.robot.appearance import Visual
from report_results import HOSTILE, batch, planar, programmed, renamed, scara, seven

SEEN = 150  # pixels in the hue of every joint at least


def picture_of(element) -> np.ndarray:
    element.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    with Image.open(io.BytesIO(element.screenshot())) as image:
        return np.asarray(image.convert("RGB"), float)


def in_hue_of(pixels: np.ndarray, colour: str) -> int:
    """Pixels whose colour, whatever its brightness, points the same way from grey."""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], float)
    away = pixels - pixels.mean(axis=-1, keepdims=True)
    wanted = wanted - wanted.mean()
    length = np.linalg.norm(away, axis=-1)
    along = away @ wanted / (np.linalg.norm(wanted) * np.maximum(length, 1e-9))
    return int(((along > 0.97) & (length > 25)).sum())


def shown_value(text: str) -> float:
    return float(text.replace("−", "-").split()[0])


def hover(page, chart: str, share: float):
    """Put the pointer over a chart, at a share of its width; gives its place."""
    over = page.locator(f"#{chart} .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
    return box


@pytest.fixture
def report(tmp_path):
    def made(result, **options):
        return write_report(result, tmp_path / "report.html", **{"equations": False, **options})

    return made


@pytest.mark.parametrize("kind", ["planar", "scara", "seven", "programmed", "batch", "hostile"])
def test_report_opens_from_a_file(opened, report, kind: str) -> None:
    results = {"planar": planar, "scara": scara, "seven": seven, "programmed": programmed, "batch": batch}
    result = renamed(planar(), HOSTILE) if kind == "hostile" else results[kind]()
    some = {} if kind == "planar" else {"charts": ("torque", "energy", "residual")}
    page = opened(report(result, **some))
    first = result.arrays["q"][0] if result.arrays["q"].ndim == 2 else result.arrays["q"][0, 0]
    told = [page.text_content(f"#value-{i}") for i in range(len(first))]
    assert told == [f"{abs(v) if abs(v) < 5e-4 else v:.3f}".replace("-", "−") for v in first]
    assert page.locator("img").count() == 0
    for figure in page.locator("figure.chart").all():
        figure.scroll_into_view_if_needed()
        figure.locator("canvas").wait_for()
        colours = {tuple(c) for c in picture_of(figure.locator(".plot")).reshape(-1, 3)}
        assert len(colours) > 20, figure.get_attribute("id")


@pytest.mark.parametrize("dark", [False, True])
def test_every_joint_is_on_the_screen(opened, report, dark: bool) -> None:
    page = opened(report(planar(), charts=()), dark=dark)
    pixels = picture_of(page.locator("#stage"))
    for pair in JOINT_COLOURS[:3]:
        assert in_hue_of(pixels, pair[dark]) > SEEN, pair


def test_the_shapes_of_a_robot_are_on_the_screen(opened, report) -> None:
    result = planar()
    magenta = (1.0, 0.0, 1.0, 1.0)
    shapes = tuple(Visual(i, "sphere", (0.1,), colour=magenta) for i in range(result.scenario.robot.n))
    dressed = result.scenario.robot.replace(appearance=shapes)
    page = opened(report(dataclasses.replace(result, scenario=result.scenario.replace(robot=dressed)), charts=()))
    assert in_hue_of(picture_of(page.locator("#stage")), "#ff00ff") > 1000
    page.uncheck("#show-shapes")
    assert in_hue_of(picture_of(page.locator("#stage")), "#ff00ff") < 100


def test_frames_axes_masses_and_inertias_can_be_shown(opened, report) -> None:
    page = opened(report(seven(), charts=()))
    before = picture_of(page.locator("#stage"))
    for name in ("frames", "axes", "masses", "inertia"):
        page.check(f"#show-{name}")
        now = picture_of(page.locator("#stage"))
        assert (np.abs(now - before).max(axis=-1) > 20).sum() > 100, name
        page.uncheck(f"#show-{name}")


def test_the_arm_follows_the_pointer_over_a_chart(opened, report) -> None:
    result = planar()
    page = opened(report(result, charts=("position", "torque")))
    before = picture_of(page.locator("#stage"))
    hover(page, "chart-torque", 0.75)
    t = shown_value(page.text_content("#time"))
    assert t == pytest.approx(0.75 * result.t[-1], abs=0.01)
    for i in range(3):
        wanted = np.interp(t, result.t, result.arrays["q"][:, i])
        assert shown_value(page.text_content(f"#value-{i}")) == pytest.approx(wanted, abs=2e-3)
    legend = page.locator("#chart-torque .legend output").first.text_content()
    assert shown_value(legend) == pytest.approx(np.interp(t, result.t, result.arrays["tau"][:, 0]), rel=1e-2)
    page.mouse.move(5, 5)
    assert shown_value(page.text_content("#time")) == 0.0
    box = hover(page, "chart-torque", 0.5)
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 20)
    page.mouse.move(5, 5)
    assert shown_value(page.text_content("#time")) == pytest.approx(0.5 * result.t[-1], abs=0.01)
    after = picture_of(page.locator("#stage"))
    assert (np.abs(after - before).max(axis=-1) > 20).sum() > 300


def test_charts_zoom_together_and_show_everything_again(opened, report) -> None:
    page = opened(report(planar(), charts=("position", "torque")))
    window = "() => window.manipulaView.state.window.value"
    box = hover(page, "chart-position", 0.2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"] + 5, steps=4)
    page.mouse.up()
    low, high = page.evaluate(window)
    assert low == pytest.approx(0.2, abs=0.02)
    assert high == pytest.approx(0.6, abs=0.02)
    scales = "() => window.manipulaView.charts.map((c) => [c.plot.scales.x.min, c.plot.scales.x.max])"
    assert page.evaluate(scales) == [[low, high]] * 2
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    moved = page.evaluate(window)
    assert moved[1] - moved[0] == pytest.approx(high - low)
    assert moved[0] > low
    page.locator("#chart-position .reset").click()
    assert page.evaluate(window) is None


def test_a_plain_wheel_scrolls_the_page(opened, report) -> None:
    page = opened(report(planar(), charts=("position", "torque")))
    hover(page, "chart-position", 0.5)
    before = page.evaluate("() => scrollY")
    page.mouse.wheel(0, -200)
    page.wait_for_function("(old) => scrollY < old", arg=before)
    assert page.evaluate("() => window.manipulaView.state.window.value") is None


def test_pins_show_values_and_their_difference(opened, report) -> None:
    result = planar()
    page = opened(report(result, charts=("position",)))
    for share in (0.25, 0.75):
        box = hover(page, "chart-position", share)
        page.mouse.click(box["x"] + share * box["width"], box["y"] + 30)
        page.locator("#chart-position .pinner").click()
    pins = page.evaluate("() => window.manipulaView.state.pins.value")
    assert len(pins) == 2
    told = page.locator("#chart-position .legend small").first.text_content()
    a, b, difference = (shown_value(x) for x in re.findall(r"[ABΔ] (\S+)", told))
    q = [np.interp(t, result.t, result.arrays["q"][:, 0]) for t in pins]
    assert a == pytest.approx(q[0], rel=1e-3)
    assert b == pytest.approx(q[1], rel=1e-3)
    assert difference == pytest.approx(q[1] - q[0], rel=1e-3)
    page.locator("#chart-position .pinner").click()
    assert page.evaluate("() => window.manipulaView.state.pins.value") == []


def test_curves_are_hidden_from_the_legend_in_every_chart(opened, report) -> None:
    page = opened(report(planar(), charts=("position", "torque")))
    page.locator("#chart-position .legend button").first.click()
    assert page.locator("#chart-torque .legend button").first.get_attribute("aria-pressed") == "false"
    shown = "() => window.manipulaView.charts.map((c) => c.plot.series.slice(1).map((s) => s.show))"
    assert page.evaluate(shown) == [[False, True, True]] * 2


def test_numbers_and_pictures_can_be_taken_along(opened, report) -> None:
    result = planar()
    page = opened(report(result, charts=("torque",)))
    found = {}
    for k, kind in ((0, "csv"), (2, "png"), (3, "svg")):
        page.locator("#chart-torque summary").click()
        with page.expect_download() as waiting:
            page.locator("#chart-torque .menu button").nth(k).click()
        assert waiting.value.suggested_filename == f"torque.{kind}"
        found[kind] = waiting.value.path().read_bytes()
    head, *rows = found["csv"].decode().splitlines()
    assert head.split(",")[:2] == ["t [s]", "tau joint1 [N·m]"]
    numbers = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.array_equal(numbers[:, 0], result.t)
    np.testing.assert_allclose(numbers[:, 1:], result.arrays["tau"], rtol=1e-6, atol=1e-6)
    assert found["png"].startswith(b"\x89PNG")
    assert found["svg"].startswith(b"<svg")
    assert found["svg"].count(b"<path clip-path") == 3


def test_playback_moves_the_arm(opened, report) -> None:
    page = opened(report(planar(), charts=()))
    page.select_option("#speed", "5")
    page.click("#play")
    page.wait_for_selector('#play[aria-label="Pause"]')
    page.locator("#time", has_text=re.compile("^[^0].*|^0.[1-9].*")).wait_for()
    page.click("#play")
    page.wait_for_selector('#play[aria-label="Play"]')
    assert shown_value(page.text_content("#time")) > 0.05


def test_two_scales_have_their_zeros_at_one_height(opened, report) -> None:
    page = opened(report(scara(), charts=("position",)))
    hover(page, "chart-position", 0.5)
    first, second = page.evaluate("() => ['y', 'y2'].map((k) => window.manipulaView.charts[0].plot.valToPos(0, k))")
    assert first == pytest.approx(second, abs=0.01)


def test_rounding_is_no_signal(opened, report) -> None:
    result = planar()
    rng = np.random.default_rng(1)
    arrays = {**result.arrays, "qd": rng.normal(size=result.arrays["qd"].shape) * 1e-17}
    page = opened(report(dataclasses.replace(result, arrays=arrays), charts=("velocity",)))
    hover(page, "chart-velocity", 0.5)
    low, high = page.evaluate("() => { const s = window.manipulaView.charts[0].plot.scales.y; return [s.min, s.max]; }")
    assert high - low > 1e-3


def test_runs_are_compared_with_a_ghost(opened, report) -> None:
    page = opened(report([programmed(), programmed(friction=False)], charts=("position",)))
    page.evaluate("() => window.manipulaView.state.clock.stay(0.4)")
    with_ghost = picture_of(page.locator("#stage"))
    page.uncheck("#show-ghost")
    alone = picture_of(page.locator("#stage"))
    assert (np.abs(with_ghost - alone).max(axis=-1) > 6).sum() > 100
    assert page.locator("#chart-position .legend button").count() == 8


@pytest.mark.parametrize("kind", ["seven", "scara"])
def test_a_phone_shows_everything_without_scrolling_sideways(opened, report, kind: str) -> None:
    page = opened(report({"seven": seven, "scara": scara}[kind]()), width=390, height=844)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    names = page.locator(".readout tr:not(.group) td:first-child span, .readout tr.group td")
    assert min(names.evaluate_all("(all) => all.map((e) => e.offsetWidth)")) > 10  # joints have their names
    heads = page.evaluate("() => Math.max(...[...document.querySelectorAll('.data th')].map((c) => c.offsetHeight))")
    assert 0 < heads < 80
    for figure in page.locator("figure.chart").all()[:4]:
        figure.scroll_into_view_if_needed()
        box = figure.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_light_and_dark_are_the_readers_choice(opened, report) -> None:
    page = opened(report(planar(), charts=("position",)))
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#theme")
    assert page.evaluate(paper) != light
    page.click("#theme")
    assert page.evaluate(paper) == light


def test_two_runs_stand_beside_each_other_on_a_phone(opened, tmp_path):
    """Their key numbers need no sideways scroll."""
    held = planar()
    pair = [
        dataclasses.replace(held, meta={**held.meta, "name": name}) for name in ("pushed and observed", "only observed")
    ]
    page = opened(write_report(pair, tmp_path / "two.html"), 390, 844)
    cut = page.locator(".scroll").evaluate_all("(all) => all.slice(0, 2).map((e) => e.scrollWidth - e.clientWidth)")
    assert max(cut) <= 0


def test_names_in_legends_are_not_broken_by_long_values(opened, tmp_path):
    """Numbers with a power of ten and the unit of an acceleration leave the names of joints whole."""
    held = mp.Scenario.load(Path(__file__).parents[2] / "examples" / "pushed_and_observed.toml").replace(verify=False)
    page = opened(write_report(mp.simulate(held), tmp_path / "small.html"), 1100, 1000)
    page.evaluate("() => document.getElementById('chart-acceleration').scrollIntoView()")
    page.evaluate("() => { const { clock } = window.manipulaView.state; clock.stay(0.4 * clock.end.value); }")
    page.wait_for_function(
        "() => document.querySelector('#chart-acceleration .legend').textContent.includes('·10')", timeout=20_000
    )
    lines = page.locator("#chart-acceleration .legend button span").evaluate_all(
        "(all) => all.map((e) => Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight)))"
    )
    assert set(lines) == {1}


def test_every_run_of_a_batch_has_one_entry_for_each_joint(opened, tmp_path):
    """Many curves have no list of all of them; a joint is still named, and hidden by a click."""
    made = mp.simulate(
        mp.Scenario(
            mp.load("planar-3r"), q0=np.linspace([0.1] * 3, [0.4] * 3, 16), duration=0.2, sample=0.02, verify=False
        )
    )
    page = opened(write_report(made, tmp_path / "batch.html"))
    page.locator("#chart-ensemble .plot").scroll_into_view_if_needed()
    legend = page.locator("#chart-ensemble .legend button")
    legend.first.wait_for()
    assert legend.evaluate_all("(all) => all.map((e) => e.innerText)") == ["joint1", "joint2", "joint3"]
    legend.nth(1).click()
    page.wait_for_function(
        "() => document.querySelectorAll('#chart-ensemble .legend button')[1].ariaPressed === 'false'"
    )


def test_contacts_and_bristles_are_named_with_their_units(opened, tmp_path):
    """A wall and an end stop have two units, hence two scales; a bristle belongs to its joint."""
    wall = mp.contact.PlaneContact(stiffness=2e5, point=[1.62, 0, 0], normal=[-1, 0, 0], radius=0.02)
    stop = mp.contact.EndStop(stiffness=500, low=[-1.5, -2.5])
    pressed = mp.Scenario(mp.load("planar-2r"), q0=[0.9, -1.2], contacts=(wall, stop), duration=0.2, sample=0.01, verify=False,
                          friction=[None, mp.friction.LuGre(1000.0, 1.0, 0.01, 0.1, 0.15, 0.1, load=8.0)])  # fmt: skip
    mp.simulate(pressed).save(tmp_path / "run.nc")
    page = opened(write_report(mp.load_result(tmp_path / "run.nc"), tmp_path / "wall.html"))

    def words(chart: str, what: str) -> list[str]:
        page.locator(f"#chart-{chart}").scroll_into_view_if_needed()
        page.locator(f"#chart-{chart} .legend button").first.wait_for()
        return page.locator(f"#chart-{chart} {what}").all_inner_texts()

    assert words("contact", ".legend span") == ["plane", "end stop"]
    assert [u for u in words("contact", ".units span") if u] == ["F [N]", "F [N·m]"]
    assert [u for u in words("contact-2", ".units span") if u] == ["δ [m]", "δ [rad]"]
    assert words("bristles", ".legend span") == ["joint2"]


def test_a_joint_that_stands_still_is_one_line(opened, tmp_path):
    """Its reference is recorded in 4 bytes, its position in 8: 0.1 and 0.10000000149 are no two curves."""
    held = mp.Scenario(
        mp.load("planar-2r"), mp.formula_motion(["0.1", "0.1"], 0.5, space="joint"), mp.control.ComputedTorque(kp=100, kv=20), q0=[0.1, 0.1], sample=0.05
    )  # fmt: skip
    page = opened(write_report(mp.simulate(held), tmp_path / "held.html"))
    low, high = page.evaluate(
        "() => { const s = window.manipulaView.charts.find((c) => c.spec.id === 'chart-position').plot.scales.y; return [s.min, s.max]; }"
    )
    assert high - low > 0.01


def test_a_run_of_one_sample_has_points(opened, tmp_path):
    """A run that ends at its start: numbers without lines, around a moment."""
    arm = mp.from_urdf(
        '<robot name="light"><link name="base"/><link name="a"/><joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint></robot>'
    )
    ended = mp.simulate(mp.Scenario(arm, q0=[0.3], duration=1.0))
    assert ended.status == "singular"
    page = opened(write_report(ended, tmp_path / "one.html"))
    low, high, points = page.evaluate(
        """() => { const { plot } = window.manipulaView.charts.find((c) => c.spec.id === 'chart-position');
        return [plot.scales.x.min, plot.scales.x.max, plot.series[1].points.show(plot, 1, 0, 0)]; }"""
    )
    assert low < 0 < high
    assert points
    assert "1/κ = 0)" in page.inner_text("main .status")


def test_long_names_do_not_widen_a_phone(opened, tmp_path):
    """What the doctor says of them stands in several lines; a table of runs needs no sideways scroll on a desktop."""
    links = [
        {"name": name, "joint": "prismatic", "a": 0.3, "mass": 1.0, "inertia": [0.01] * 3 + [0.0] * 3}
        for name in ("x" * 60, "κ" * 45)
    ]  # fmt: skip
    made = mp.simulate(
        mp.Scenario(mp.from_dh(links, "standard"), q0=[[0.1, 0.2], [0.2, 0.1]], duration=0.1, sample=0.02, verify=False)
    )
    page = opened(write_report(made, tmp_path / "long.html"), 390, 844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    batch = mp.Scenario(mp.load("planar-2r"), q0=[[0.1, 0.2], [0.2, 0.1]], duration=0.1, sample=0.02, verify=False)
    page = opened(write_report(mp.simulate(batch), tmp_path / "two.html"))
    assert page.locator(".runs .scroll").evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0
