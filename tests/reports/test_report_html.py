"""The report: one page, nothing from outside, nothing that a name can break, everything that was recorded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.reports import viewer
from manipula.reports.key_numbers import key_numbers
from manipula.reports.packed import Packer
from manipula.reports.page import data
from manipula.reports.report import CHARTS, report_html, write_report
from manipula.reports.source import typeset
from manipula.reports.tables import WORDS, status_banner
from manipula.simulation.result import STATUSES, Result
from packed_arrays import unpacked
from report_results import HOSTILE, RESULTS, batch, planar, programmed, renamed, scara, seven

LARGEST = 1_500_000  # bytes that a mail takes without a thought
needs_viewer = pytest.mark.skipif(viewer.script() is None, reason=viewer.missing())
LOADING = (
    "src",
    "srcset",
    "href",
    "xlink:href",
    "action",
    "formaction",
    "poster",
    "data",
    "background",
    "ping",
    "manifest",
)


class Page(HTMLParser):
    """Tags, attributes and texts as a browser's parser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {k: v or "" for k, v in attrs}))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, text: str) -> None:
        self.texts.setdefault(self._open[-1] if self._open else "", []).append(text)

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def everything(self) -> str:
        return "".join(t for tag, texts in self.texts.items() if tag not in ("script", "style") for t in texts)

    @property
    def document(self) -> dict:
        def refuse(constant: str) -> float:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.texts["script"][0], parse_constant=refuse)

    @property
    def arrays(self) -> list[np.ndarray]:
        return unpacked(self.document["arrays"], self.texts["script"][1])


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    every = {"planar": CHARTS, "programmed": CHARTS}
    return {
        name: report_html(make(), equations=name == "planar", charts=every.get(name, ("tip", "torque")))
        for name, make in RESULTS.items()
    }


@pytest.fixture(params=["built", "missing"])
def with_and_without(request, monkeypatch) -> bool:
    """The page with its viewer, and the one of an installation that could not build it."""
    if request.param == "built" and viewer.script() is None:
        pytest.skip(viewer.missing())
    if request.param == "missing":
        monkeypatch.setattr(viewer, "script", lambda: None)
    return request.param == "built"


def check_nothing_from_outside(html: str) -> None:
    page = Page(html)
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "image", "foreignobject")
        for attribute in LOADING:
            inside = attributes.get(attribute, "#")
            assert inside.startswith("#") or (tag == "img" and inside.startswith("data:")), (tag, attribute)
        assert not any(a.startswith("on") for a in attributes), (tag, attributes)
    own = ("#", "data:font/woff")
    assert all(found.startswith(own) for found in re.findall(r"url\(['\"]?([^)'\"]*)", "".join(page.texts["style"])))
    assert "@import" not in html
    script = "".join(page.texts.get("script", [])[2:])
    assert not re.findall(r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts|import\(", script)
    assert not re.findall(r"\beval\(|new Function", script)
    policy = next(m["content"] for m in page.of("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    modules = [s for s in page.of("script") if s.get("type") == "module"]
    if modules:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in policy
        assert len(page.of("script")) == 3
    else:
        assert "script-src 'none'" in policy
        assert page.of("script") == []


@needs_viewer
@pytest.mark.parametrize("name", RESULTS)
def test_nothing_comes_from_outside(pages, name: str) -> None:
    check_nothing_from_outside(pages[name])


def test_a_page_without_viewer_shows_still_pictures_and_says_why(monkeypatch) -> None:
    monkeypatch.setattr(viewer, "script", lambda: None)
    html = report_html(planar(), equations=False, charts=("position", "tip"))
    check_nothing_from_outside(html)
    page = Page(html)
    assert len(page.of("img")) == 2
    assert "The viewer is not part of this installation" in page.everything
    assert "Largest torque" in page.everything


@needs_viewer
@pytest.mark.parametrize("name", RESULTS)
def test_page_is_whole_and_small(pages, name: str) -> None:
    html = pages[name]
    assert len(html.encode()) < LARGEST
    page = Page(html)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for title in ("Motion", "Charts", "Robot", "What the doctor says", "Settings"):
        assert any(text.startswith(title) for text in page.texts["h2"])


@needs_viewer
@pytest.mark.parametrize("name", RESULTS)
def test_viewer_is_fed_with_the_recorded_motion(pages, name: str) -> None:
    page = Page(pages[name])
    shown, arrays = page.document, page.arrays
    result = RESULTS[name]()
    run = result.run(0) if result.arrays["q"].ndim == 3 else result
    told = shown["runs"][0]
    t, q = arrays[told["t"]][:, 0], arrays[told["q"]]
    assert np.array_equal(t, run.t)  # every digit
    assert np.array_equal(q, run.arrays["q"])
    ids = {a["id"] for _, a in page.tags if "id" in a}
    assert {chart["id"] for chart in shown["charts"]} <= ids
    for chart in shown["charts"]:
        for curve in chart["curves"]:
            values = arrays[curve["y"][0]][:, curve["y"][1]]
            times = arrays[curve["t"]][:, 0] if "t" in curve else arrays[shown["runs"][curve["run"]]["t"]][:, 0]
            assert len(values) == len(times), chart["id"]
            assert "[" not in curve["name"]
        assert all("unit" in axis for axis in chart["axes"])


@needs_viewer
@pytest.mark.parametrize(("kind", "signal"), [("position", "q"), ("torque", "tau"), ("velocity", "qd")])
def test_curves_are_the_recorded_samples(pages, kind: str, signal: str) -> None:
    page = Page(pages["planar"])
    arrays = page.arrays
    (chart,) = (c for c in page.document["charts"] if c["kind"] == kind)
    curves = [c for c in chart["curves"] if c.get("role") != "target"]
    drawn = np.stack([arrays[c["y"][0]][:, c["y"][1]] for c in curves], axis=1)
    wanted = planar().arrays[signal]
    assert np.abs(drawn - wanted).max() <= 1e-7 * np.abs(wanted).max()


def test_numbers_come_back_as_they_were_packed() -> None:
    rng = np.random.default_rng(3)
    given = [(rng.normal(size=(50, 3)), "f8"), (rng.normal(size=40).astype(np.float32), "f4"), (np.arange(12).reshape(4, 3), "u2"),
             (np.array([1e300, np.nan, -2.0]), "f4"), (np.zeros((0, 2)), "f8")]  # fmt: skip
    packer = Packer()
    for values, kind in given:
        packer.add(values, kind)
    back = unpacked(packer.arrays, packer.text())
    for (values, kind), found in zip(given, back):
        wanted = np.where(np.abs(values) < 1e38, values, np.nan) if kind == "f4" else values
        assert np.array_equal(found.reshape(np.shape(values)), wanted, equal_nan=True)
    assert packer.add([1.0], key="same") == packer.add([2.0], key="same")


@needs_viewer
def test_planar_arms_are_seen_from_above_and_spatial_ones_in_space(pages) -> None:
    planar_page, seven_page = Page(pages["planar"]).document, Page(pages["seven"]).document
    assert planar_page["robots"][0]["plane"] == [0, 1]
    assert seven_page["robots"][0]["plane"] is None
    assert planar_page["runs"][0]["path"] is not None
    assert seven_page["runs"][0]["path"] is None


def test_short_equations_are_written_as_mathml(pages) -> None:
    page = Page(pages["planar"])
    assert page.of("math")
    assert "Equations of motion" in page.texts["h2"]
    assert not Page(pages["seven"]).of("math")


def test_no_name_becomes_markup() -> None:
    hostile = renamed(programmed(), HOSTILE)
    said = dict.fromkeys(("friction", "drives"), (HOSTILE,) * 4)
    carried = {"constraints": (HOSTILE, HOSTILE), "equations": (HOSTILE, HOSTILE), "settings": {HOSTILE: HOSTILE}, "acting": said,
               "versions": {HOSTILE: HOSTILE}, "robot_digest": HOSTILE}  # fmt: skip
    hostile = replace(hostile, meta={**hostile.meta, **carried})
    robot = mp.planar(lengths=[1.0], masses=[1.0]).replace(name=HOSTILE.replace("\x07", ""), notes=(HOSTILE,))
    run = mp.simulate(
        mp.Scenario(robot=robot, q0=[0.1], duration=0.02, step=1e-3, integrator="rk4", name=HOSTILE, verify=False)
    )
    for result in (hostile, run):
        html = report_html(result, charts=("tip", "position", "residual"))
        page = Page(html)
        assert all(a["src"].startswith("data:") for a in page.of("img"))
        assert len([s for s in page.of("script") if s.get("type") == "module"]) <= 1
        assert not any(a.startswith("on") for _, attributes in page.tags for a in attributes)
        assert "<img src=x onerror=alert(1)>" in page.everything
        assert "\x07" not in html
        assert viewer.script() is None or page.document["runs"]


def test_data_in_a_script_stays_data() -> None:
    text = data({"a": "</script><!--<script>", "b": [1.5, None]})
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == {"a": "</script><!--<script>", "b": [1.5, None]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        data([float("nan")])


@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_a_stored_result_gives_the_same_report(tmp_path, suffix: str) -> None:
    for name, result in (("planar", planar()), ("batch", batch())):
        path = tmp_path / f"{name}{suffix}"
        result.save(path)
        assert report_html(mp.load_result(path), equations=False, charts=()) == report_html(
            result, equations=False, charts=()
        )


def test_the_same_result_gives_the_same_bytes() -> None:
    assert report_html(scara(), charts=("torque",)) == report_html(scara(), charts=("torque",))


def test_every_status_has_words_and_a_colour() -> None:
    assert set(WORDS) == set(STATUSES)
    for status in STATUSES:
        result = Result(
            planar().t,
            planar().arrays,
            status,
            "the reason & why",
            meta=planar().meta,
            trusted_until=float(planar().t[-1]),
        )
        page = Page(report_html(result, equations=False, charts=()))
        assert "the reason & why" in page.everything
        assert any(a.get("class") == f"status {WORDS[status][0]}" for a in page.of("div"))


def test_results_with_holes_are_reported() -> None:
    full = planar()
    late, never = ({k: np.array(v, float) for k, v in full.arrays.items()} for _ in range(2))
    for arrays, first in ((late, 30), (never, 0)):
        for v in arrays.values():
            v[first:] = np.nan
        page = Page(
            report_html(
                Result(full.t, arrays, "diverged", "ran away", meta=full.meta),
                equations=False,
                charts=("tip", "torque"),
            )
        )
        if viewer.script() is None or first == 0:
            assert page.of("script") == []
            continue
        shown = page.document
        assert page.document["arrays"][shown["runs"][0]["t"]]["rows"] == 30
        assert "NaN" not in page.texts["script"][0]
    bare = Result(full.t, {"q": full.arrays["q"], "qd": full.arrays["qd"]}, "finished", "", meta={})
    assert "does not say which robot moved" in Page(report_html(bare, charts=("position",))).everything


def test_a_batch_has_a_row_a_run_and_one_run_can_be_reported(pages) -> None:
    page = Page(pages["batch"])
    assert "Runs" in page.texts["h2"]
    assert len([t for t in page.texts["b"] if t in STATUSES]) == 30
    one = Page(report_html(batch().run(7), equations=False, charts=("position",)))
    assert "run 7 of a batch" in one.everything
    if viewer.script() is not None:
        assert np.array_equal(one.arrays[one.document["runs"][0]["q"]], batch().arrays["q"][7])


def test_several_runs_are_compared(with_and_without) -> None:
    first, second = programmed(), programmed(friction=False)
    page = Page(report_html([first, second], equations=False, charts=("position", "torque")))
    titles = page.texts["h2"]
    assert {"Key numbers", "How far apart", "What was set differently"} <= set(titles)
    gap = np.abs(first.arrays["q"] - second.arrays["q"])[:, 0].max()
    assert any(t.startswith(f"{gap:.4g} at") for t in page.texts["td"])
    if with_and_without:
        shown = page.document
        assert len(shown["runs"]) == 2
        assert len(shown["robots"]) == 1
        (position,) = (c for c in shown["charts"] if c["kind"] == "position")
        assert [c["run"] for c in position["curves"]] == [0] * 4 + [1] * 4
    alone = Page(report_html([first], equations=False, charts=("position",)))
    assert "Key numbers" not in alone.texts["h2"]


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], "at most"),
        ([planar(), scara()], "same number of joints"),
        ([batch(), batch()], "this is a batch"),
        ([planar(), "run.nc"], "found str"),
        ("run.nc", "found str"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        report_html(results)


def test_an_unknown_kind_of_chart_is_refused() -> None:
    with pytest.raises(DescriptionError, match="torque"):
        report_html(planar(), charts=("torqe",))


def test_a_kind_that_the_viewer_does_not_draw_is_a_picture() -> None:
    page = Page(report_html(planar(), equations=False, charts=("joints", "position")))
    assert any(a["id"] == "chart-position" for a in page.of("figure"))
    assert any(a.get("src", "").startswith("data:image/svg+xml") for a in page.of("img"))


def test_files_appear_whole_or_not_at_all(tmp_path, monkeypatch) -> None:
    target = tmp_path / "report.html"
    write_report(planar(), target, equations=False, charts=())
    before = target.read_bytes()
    assert before.startswith(b"<!doctype html>")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(DescriptionError, match="disk"):
        write_report(scara(), target, equations=False, charts=())
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(DescriptionError, match="is written as"):
        write_report(planar(), tmp_path / "report.pdf")
    with pytest.raises(DescriptionError, match="does not exist"):
        planar().report(tmp_path / "nowhere" / "report.html")


def test_a_stored_robot_is_never_the_name_of_a_file(tmp_path) -> None:
    secret = tmp_path / "arm.toml"
    mp.save(mp.planar(lengths=[1.0, 1.0, 1.0], masses=[1.0, 1.0, 1.0]), secret)
    meta = {**planar().meta, "robot_toml": str(secret)}
    page = Page(report_html(Result(planar().t, planar().arrays, "finished", "", meta=meta), charts=()))
    assert viewer.script() is None or page.document["robots"] == []
    assert "Robot" not in page.texts["h2"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("error about 2.2e-11.", "error about 2.2·10⁻¹¹."),
        ("reaches -1.05 rad/s at t = 0.3 s", "reaches −1.05 rad/s at t = 0.3 s"),
        ("1e+06 steps of joint-1, version 3.12.1, 0x1e-3", "1·10⁶ steps of joint-1, version 3.12.1, 0x1e-3"),
    ],
)
def test_numbers_in_sentences_are_typeset(words: str, shown: str) -> None:
    assert typeset(words) == shown
    assert typeset(shown) == shown


def test_settings_are_written_like_other_numbers_and_formulas_as_they_can_be_copied() -> None:
    from dataclasses import replace

    from manipula.reports.tables import settings

    result = seven()
    result = replace(result, meta={**result.meta, "settings": {"q0": "0, -1.5, 2e-07", "force": "-2*sin(t) - 1e-3"}})
    page = settings(result)
    assert "0, −1.5, 2·10⁻⁷" in page
    assert "-2*sin(t) - 1e-3" in page
    assert "limits of velocity [rad/s]" in page
    assert "limits of torque [N·m]" in page


def test_an_error_in_the_last_digits_is_no_key_number() -> None:
    result = planar()
    error = np.asarray(result.arrays["error"])
    for size, shown in ((1e-16, "0"), (1e-11, "")):
        found = {
            row[0]: row
            for row in key_numbers(replace(result, arrays={**result.arrays, "error": np.full_like(error, size)}))
        }
        assert ("Tracking error" in found) == bool(shown)
        if shown:
            assert found["Tracking error"][1] == shown
            assert "to rounding" in found["Tracking error"][3]


def test_a_speed_in_the_last_digits_is_none() -> None:
    """Of a SCARA whose last joint falls the others stand still, but for rounding."""
    result = scara()
    qd = np.array(result.qd) * np.array([1e-16, 1e-16, 1e-16, 1.0])
    rows = {row[0]: row for row in key_numbers(replace(result, arrays={**result.arrays, "qd": qd}))}
    assert rows["Largest velocity, turning"][1:] == ("0", "rad/s", "to rounding")
    assert "joint4" in rows["Largest velocity, sliding"][3]


def test_a_moment_in_a_card_is_not_broken_between_number_and_unit() -> None:
    from manipula.reports.key_numbers import grid, unbroken

    assert unbroken("panda_joint7, t = 0.102 s") == "panda_joint7, t&nbsp;=&nbsp;0.102&nbsp;s"
    assert "t&nbsp;=&nbsp;0.102&nbsp;s" in grid([("Largest velocity", "11.5", "rad/s", "panda_joint7, t = 0.102 s")])


@pytest.mark.parametrize("verify", [True, False])
def test_inverse_dynamics_is_verified_where_its_friction_remembers_something(verify: bool) -> None:
    """The bristles are integrated; without a repetition nobody knows how exactly."""
    move = mp.joint_move([0.0, 0.5], [0.2, 0.4], velocity=1.0, acceleration=2.0, jerk=20.0)
    dry = mp.friction.Dahl(stiffness=100.0, level=1.0)
    for friction, known in ((dry, verify), (None, True)):
        run = mp.Scenario(mp.load("planar-2r"), move, kind="inverse_dynamics", friction=friction, verify=verify)
        assert ("was not checked" in status_banner(mp.simulate(run))) is not known
