"""What a screen reader hears of the studio: names, values and units of controls, no flood of numbers while the arm moves."""

from __future__ import annotations

import pytest

from studio_pages import choose, run

pytest.importorskip("uvicorn", reason="the studio is an extra")

CONTROLS = {"button", "checkbox", "textbox", "combobox", "slider", "tab", "DisclosureTriangle", "spinbutton", "link"}
NAMED = {
    "dialog",
    "table",
    "tabpanel",
    "tablist",
    "figure",
    "image",
    "columnheader",
    "main",
    "complementary",
    "navigation",
}


def heard(page, roles=None) -> list[dict]:
    """The accessibility tree of Chromium: role, name, value and properties of what is not hidden from it."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    found = []
    for node in nodes:
        if node.get("ignored"):
            continue
        said = {key: (node.get(key) or {}).get("value") for key in ("role", "name", "value")}
        said |= {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        if roles is None or said["role"] in roles:
            found.append(said)
    return found


@pytest.mark.parametrize("panel", ["robot", "task", "control", "run", "equations", "studies"])
def test_everything_has_a_name(page, panel):
    choose(page, "planar-2r")
    run(page)
    page.click(f"#tab-{panel}")
    page.wait_for_timeout(600)
    assert [said for said in heard(page, CONTROLS | NAMED) if not said["name"]] == []
    page.click("#keys")
    (dialog,) = heard(page, {"dialog"})
    assert dialog["name"] == "Keys"


def test_sliders_say_what_is_shown(page):
    """In their unit, not in thousandths of their way. (The tree of the developer tools leaves ``aria-valuetext`` out.)"""
    told = "() => Object.fromEntries([...document.querySelectorAll('input[type=range]')].map((e) => [e.ariaLabel, e.ariaValueText]))"
    choose(page, "scara-khang")
    page.evaluate("() => [0.5, -0.25, 0, 0.2].forEach((q, i) => window.studio.posing.pose(i, q))")
    found = page.evaluate(told)
    assert [found[f"joint{k}"] for k in (1, 2, 3, 4)] == ["28.6°", "−14.3°", "0.0°", "0.200 m"]
    choose(page, "planar-2r")
    run(page)
    page.evaluate("() => { const c = window.studio.view.state.clock; c.stay(0.25 * c.end.value); }")
    assert page.evaluate(told)["Time"] == page.inner_text("#time")
    page.click("#tab-control")
    page.locator("#body select").first.select_option("pd")
    page.wait_for_selector("input.slider[data-path='controller.kp']")
    page.locator("input[type=text][data-path='controller.kp']").fill("64")
    gain = next(value for name, value in page.evaluate(told).items() if name.startswith("controller.kp"))
    assert gain == "64 N·m/rad"


def test_numbers_that_move_are_not_called_out(page):
    """The verdict is; dozens of values at the cursor and the clock are not."""
    choose(page, "panda")
    run(page)
    page.click("#tab-run")
    live = [said for said in heard(page) if said.get("live") in ("polite", "assertive") and said["role"] == "status"]
    assert len(live) < 4
    assert page.get_attribute("#body .verdict", "aria-live") == "polite"


def test_what_is_wrong_is_told_at_its_field(page):
    choose(page, "planar-2r")
    page.click("#tab-task")
    page.locator("input[data-path=duration]").first.fill("-1")
    page.wait_for_function("() => window.studio.store.problem.value !== null")
    page.wait_for_selector(".row.bad")
    wrong = [said for said in heard(page, {"textbox"}) if said.get("invalid") == "true"]
    assert [said["name"].startswith("duration") for said in wrong] == [True]
    page.locator("input[data-path=duration]").first.fill("1")
    page.wait_for_function("() => window.studio.store.problem.value === null")
    assert [said for said in heard(page, {"textbox"}) if said.get("invalid") == "true"] == []


def test_cells_of_the_table_say_what_they_are(page):
    choose(page, "scara-khang")
    page.get_by_text("Edit as DH table (modified)").click()
    page.wait_for_selector("table.dh")
    page.wait_for_timeout(500)
    heads = [said["name"] for said in heard(page, {"columnheader"})]
    assert heads == ["joint", "θ rad", "d m", "a m", "α rad", "m kg"]
    names = {said["name"] for said in heard(page, {"textbox"})}
    assert {"a of joint 2, m", "θ of joint 4, rad", "m of joint 1, kg"} <= names
