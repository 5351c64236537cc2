"""What pictures of every panel showed: tabs that are cut, words beside an empty half, a sentence told twice, units that are none of the arm's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio_pages import choose, run

pytest.importorskip("uvicorn", reason="the studio is an extra")

SIZES = {"desktop": (1280, 800), "narrow": (900, 800), "phone": (390, 844)}
SHOWN = "(name) => window.studio.view.state?.page.robots[0]?.name === name"
UNITS = "(name) => document.querySelector(`label[for=${document.querySelector(`[data-path='${name}']`).id}] .unit`).textContent"


@pytest.mark.parametrize("size", SIZES)
def test_tabs_are_never_cut(page, size):
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    cut = page.evaluate("() => { const e = document.getElementById('tabs'); return e.scrollWidth - e.clientWidth; }")
    assert cut <= 0


def test_what_a_kind_of_run_is_has_the_whole_line(page):
    choose(page, "planar-2r")
    page.click("#tab-task")
    page.wait_for_selector("#kind")
    page.select_option("#kind", "kinematic")
    page.wait_for_function("() => document.querySelector('.row.choice .words').textContent.length > 10")
    row = page.locator(".row.choice:has(#kind)")
    words, row = (place.bounding_box()["width"] for place in (row.locator(".words"), row))
    assert words > 0.95 * row


def test_a_limit_that_is_broken_is_told_once(page):
    choose(page, "planar-2r")
    page.evaluate(
        "() => { const s = window.studio.store; s.edit(['q0'], [0.3, 0.4]); s.edit(['duration'], 0.5); s.edit(['limits'], { velocity: [0.2, 50] }); }"
    )
    page.wait_for_timeout(400)
    told = run(page)
    page.wait_for_function("() => window.studio.run.value.feasible === false")
    assert len(page.evaluate("window.studio.run.value.broken")) == 1, told
    page.click("#tab-run")
    assert page.inner_text("#body .verdict").count("joint1") == 1


@pytest.mark.parametrize(
    ("arm", "unit"), [("panda", "rad"), ("scara-khang", "rad; joint4: m")], ids=["all turn", "one slides"]
)
def test_numbers_of_joints_are_in_the_units_of_these_joints(page, arm, unit):
    choose(page, arm)
    page.click("#tab-task")
    page.wait_for_selector("[data-path=q0]")
    assert page.evaluate(UNITS, "q0") == unit


def test_an_arm_with_a_sliding_joint_is_seen_in_space(page):
    choose(page, "scara-khang")
    page.wait_for_function(SHOWN, arg="scara-khang")
    page.get_by_text("Edit as DH table (modified)").click()  # all joints at one height
    page.wait_for_selector("#construction")
    page.wait_for_timeout(1000)
    assert page.evaluate("window.studio.view.stage.flat") is False
    choose(page, "planar-3r")
    page.wait_for_function(SHOWN, arg="planar-3r")
    assert page.evaluate("window.studio.view.stage.flat") is True


def test_a_run_that_is_kept_while_the_next_one_begins_is_compared(page):
    choose(page, "planar-2r")
    page.evaluate("() => window.studio.store.edit(['duration'], 0.3)")
    run(page)
    page.evaluate(
        "() => { document.getElementById('tab-run').click(); document.getElementById('keep').click(); window.studio.store.edit(['q0'], [0.2, 0.1]); }"
    )
    page.wait_for_function("() => window.studio.kept.runs.value.length === 1")
    page.wait_for_function("() => window.studio.compared.value !== null", timeout=20_000)
    assert len(page.evaluate("window.studio.compared.value.names")) == 2


def test_the_gallery_has_every_panel(page):
    """The tabs that the page has, and the panels that docs/studio_gallery.md shows."""
    tabs = page.locator("#tabs [role=tab]").evaluate_all("(all) => all.map((tab) => tab.id.replace('tab-', ''))")
    declared = (Path(__file__).parents[2] / "scripts" / "gallery.py").read_text(encoding="utf-8")
    assert set(tabs) == set(re.findall(r'^    Scene\(.*, "(\w+)"\),$', declared, re.MULTILINE))


def test_a_level_offers_the_parts_that_it_has(page):
    """The recursion gives torques and no matrices: what it has not cannot be chosen, and nobody reads of attributes of Python."""
    choose(page, "planar-2r")
    page.click("#tab-equations")
    page.wait_for_selector(".equations math")
    page.select_option("select[aria-label=Level]", "recursive")
    page.wait_for_function(
        "() => document.querySelector('.equations').textContent.includes('Torques') || document.querySelector('.equations .wrong')"
    )
    assert page.locator(".equations .wrong").count() == 0
    offered = "(all) => all.filter((e) => !e.disabled).map((e) => e.value)"
    assert page.locator("select[aria-label=Part] option").evaluate_all(offered) == ["tau", "pose", "jacobian"]
    page.select_option("select[aria-label=Level]", "compact")
    assert len(page.locator("select[aria-label=Part] option").evaluate_all(offered)) == 10


def test_a_path_that_begins_far_from_the_arm_is_in_the_picture(page):
    """Its points can be seen and dragged back; one that is absurdly far does not make the arm a dot."""
    choose(page, "planar-2r")
    line = "([x, y]) => window.studio.store.edit(['reference'], { path: { kind: 'line', a: [1.2, 0.4], b: [x, y] }, timing: { kind: 'quintic', duration: 1 } })"
    page.wait_for_function(SHOWN, arg="planar-2r")
    page.click("#tab-task")
    before = page.evaluate("window.studio.view.stage.camera.position.length()")
    page.evaluate(line, [3.4, 3.2])
    place = """([x, y]) => { const s = window.studio.view.stage; const v = s.camera.position.clone().set(x, y, 0).project(s.camera);
      return Math.max(Math.abs(v.x), Math.abs(v.y)); }"""
    page.wait_for_function(f"(p) => ({place})(p) < 1", arg=[3.4, 3.2], timeout=15_000)
    assert page.evaluate(place, [1.2, 0.4]) < 1
    page.evaluate(line, [3000.0, 3200.0])
    page.wait_for_timeout(1500)
    assert page.evaluate("window.studio.view.stage.camera.position.length()") < 6 * before


def test_numbers_without_a_value_are_asked_for_where_the_arm_is(page):
    """A file whose lengths are symbols: a field for their values stands in the panel, and the arm appears."""
    arm = "{ format: 1, name: 'open', robot: { name: 'open', planar: { lengths: ['L1', 0.4], masses: [2, 1.5] } }, duration: 1 }"
    choose(page, "panda")
    page.evaluate(f"() => window.studio.open(async () => ({arm}))")
    box = page.locator("#free-numbers textarea")
    box.wait_for()
    assert "panel Robot" in page.inner_text("#free-numbers .wrong")
    box.fill("L1 = 0.5")
    page.wait_for_function(SHOWN, arg="open", timeout=15_000)
    page.wait_for_function("() => document.querySelector('#free-numbers .wrong').textContent === ''", timeout=15_000)
    assert box.is_visible()
    choose(page, "panda")
    assert page.locator("#free-numbers").is_hidden()


def test_an_arm_that_cannot_be_drawn_yet_is_not_the_one_before(page):
    """The joints, the arm and the findings of the last robot say nothing about the next one."""
    choose(page, "panda")
    arm = "{ format: 1, name: 'open', robot: { name: 'open', planar: { lengths: ['L1', 0.4], masses: [2, 1.5] } }, duration: 1 }"
    page.evaluate(f"() => window.studio.open(async () => ({arm}))")
    page.wait_for_selector("#no-arm")
    assert page.locator(".joint input").count() == 0
    assert page.locator(".doctor li").count() == 0
    page.click("#undo")
    page.wait_for_function(SHOWN, arg="panda", timeout=15_000)
    assert page.locator(".joint input").count() == 7


def test_what_a_reader_left_out_is_told(page, tmp_path):
    """An actuator whose control law is not read, a mesh that is not there."""
    (tmp_path / "hand.xml").write_text(
        """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/></body></worldbody>
        <actuator><position joint="j" kp="20"/></actuator></mujoco>"""
    )
    page.set_input_files("#file", tmp_path / "hand.xml")
    page.locator("#notes li", has_text="control law is not read").wait_for()
    choose(page, "panda")
    assert page.locator("#notes").count() == 0  # where it comes from is told already


def test_shapes_are_in_the_picture(page, tmp_path):
    """A box much larger than the distance of the joints."""
    (tmp_path / "palm.xml").write_text(
        """<mujoco><worldbody><body name="palm"><joint name="yaw" axis="0 0 1"/><geom type="box" size=".3 .2 .05" mass="1"/>
        <body name="f" pos=".05 0 0"><joint name="k" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .06 0 0" size=".01" mass=".1"/></body>
        </body></worldbody></mujoco>"""
    )
    page.set_input_files("#file", tmp_path / "palm.xml")
    page.wait_for_function("() => window.studio.view.stage?.hasShapes")
    seen = page.evaluate(
        """() => { const s = window.studio.view.stage, out = []; s.camera.updateMatrixWorld();
        for (const x of [-0.3, 0.3]) for (const y of [-0.2, 0.2]) for (const z of [-0.05, 0.05]) {
          const v = s.camera.position.clone().set(x, y, z).project(s.camera); out.push(Math.max(Math.abs(v.x), Math.abs(v.y))); }
        return Math.max(...out); }"""
    )
    assert seen < 1


def test_a_long_name_stays_in_its_panel(page):
    names = ["x" * 60, "κ" * 40]
    page.evaluate(
        """(names) => window.studio.open(async () => ({ format: 1, name: "long", duration: 1, robot: { name: "long", dh: { convention: "standard",
        rows: names.map((name) => ({ name, joint: "prismatic", a: 0.3, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0] })) } } }))""",
        names,
    )
    page.wait_for_function(
        "() => window.studio.robot.value?.robot.name === 'long' || window.studio.message.value || window.studio.store.problem.value"
    )
    assert page.evaluate("window.studio.store.problem.value") is None
    page.wait_for_selector(".doctor .warning")
    assert (
        page.evaluate("() => { const b = document.getElementById('body'); return b.scrollWidth - b.clientWidth; }") <= 0
    )


def test_the_path_has_the_colours_of_the_scheme(page):
    """Also where it was drawn in the other one."""
    page.evaluate("() => delete document.documentElement.dataset.theme")
    choose(page, "planar-2r")
    page.wait_for_function("() => window.studio.overlay.taken(() => null) && window.studio.view.stage")
    green = """() => { let found = null; window.studio.view.stage.scene.traverse((o) => {
        const c = o.geometry?.attributes?.instanceColorStart; if (c) found = [c.getX(c.count - 1), c.getY(c.count - 1)]; }); return found; }"""
    page.wait_for_function(f"() => ({green})() !== null")
    light = page.evaluate(green)
    page.click("#theme")
    page.wait_for_function(f"(light) => {{ const now = ({green})(); return Math.abs(now[1] - light[1]) > 0.05; }}", arg=light, timeout=10_000)  # fmt: skip
