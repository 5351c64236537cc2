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
from manipula.reports.page import data
from manipula.reports.report import CHARTS, report_html, write_report
from manipula.reports.tables import WORDS
from manipula.simulation.result import STATUSES, Result
from report_results import HOSTILE, RESULTS, batch, planar, programmed, renamed, scara

LARGEST = 3_000_000  # bytes that a mail takes without a thought
MOST_FRAMES = 1000
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
    def samples(self) -> dict:
        def refuse(constant: str) -> float:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.texts["script"][0], parse_constant=refuse)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    every = {"planar": CHARTS, "programmed": CHARTS}
    return {
        name: report_html(make(), equations=name == "planar", charts=every.get(name, ("tip", "torque")))
        for name, make in RESULTS.items()
    }


@pytest.mark.parametrize("name", RESULTS)
def test_nothing_comes_from_outside(pages, name: str) -> None:
    html = pages[name]
    page = Page(html)
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img", "image", "foreignobject")
        for attribute in LOADING:
            assert attributes.get(attribute, "#").startswith("#"), (tag, attributes)
        assert not any(a.startswith("on") for a in attributes), (tag, attributes)
    assert all(found.startswith("#") for found in re.findall(r"url\(['\"]?([^)'\"]*)", html))
    assert "@import" not in html
    assert not re.findall(r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts|import\(", html)
    policy = next(m["content"] for m in page.of("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    script = "".join(page.texts["script"][1:])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page.of("script")) == 2


@pytest.mark.parametrize("name", RESULTS)
def test_page_is_whole_and_small(pages, name: str) -> None:
    html = pages[name]
    assert len(html.encode()) < LARGEST
    page = Page(html)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    wanted = set(re.findall(r"url\(#([^)]+)\)", html)) | {a["href"][1:] for _, a in page.tags if "href" in a}
    assert wanted <= set(ids)
    for title in ("Motion", "Charts", "Robot", "What the doctor says", "Settings"):
        assert any(text.startswith(title) for text in page.texts["h2"])


@pytest.mark.parametrize("name", RESULTS)
def test_player_is_fed_with_the_recorded_motion(pages, name: str) -> None:
    samples = Page(pages[name]).samples
    result = RESULTS[name]()
    run = result.run(0) if result.arrays["q"].ndim == 3 else result
    frames = len(samples["t"])
    assert 2 <= frames <= MOST_FRAMES
    arm = samples["arm"]
    assert len(arm["points"]) == len(arm["axes"]) == len(samples["q"]) == frames
    assert samples["t"][0] == run.t[0]
    assert samples["t"][-1] == pytest.approx(run.t[-1], rel=1e-7)  # eight digits are written
    k = 3 * arm["tip"]
    fine = 1e-5 * arm["size"]  # positions are rounded to a hundred-thousandth of the arm
    assert np.abs(np.array(arm["points"])[-1, k : k + 3] - run.arrays["tip"][-1]).max() <= fine
    assert np.abs(np.array(samples["q"])[-1] - run.arrays["q"][-1]).max() <= 1e-4 * max(
        1.0, np.abs(run.arrays["q"][-1]).max()
    )
    ids = {a["id"] for _, a in Page(pages[name]).tags if "id" in a}
    assert set(samples["charts"]) <= ids
    for panels in samples["charts"].values():
        for panel in panels:
            assert panel["box"][0] < panel["box"][2]
            assert panel["box"][1] < panel["box"][3]
            assert all(len(series["values"]) == frames for series in panel["series"])


def test_planar_arms_are_seen_from_above_and_spatial_ones_in_space(pages) -> None:
    assert Page(pages["planar"]).samples["arm"]["plane"] == [0, 1]
    assert Page(pages["seven"]).samples["arm"]["plane"] is None
    assert Page(pages["planar"]).samples["arm"]["target"] is not None
    assert Page(pages["seven"]).samples["arm"]["target"] is None


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
    robot = mp.planar(lengths=[1.0], masses=[1.0]).replace(name=HOSTILE, notes=(HOSTILE,))
    run = mp.simulate(
        mp.Scenario(robot=robot, q0=[0.1], duration=0.02, step=1e-3, integrator="rk4", name=HOSTILE, verify=False)
    )
    for result in (hostile, run):
        html = report_html(result, charts=("tip", "position", "residual"))
        page = Page(html)
        assert not page.of("img")
        assert len(page.of("script")) == 2
        assert not any(a.startswith("on") for _, attributes in page.tags for a in attributes)
        assert "<img src=x onerror=alert(1)>" in page.everything
        assert "\x07" not in html
        assert page.samples["t"]


def test_data_in_a_script_stays_data() -> None:
    text = data({"a": "</script><!--<script>", "b": [1.5, None]})
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == {"a": "</script><!--<script>", "b": [1.5, None]}
    with pytest.raises(ValueError):
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
        result = Result(planar().t, planar().arrays, status, "the reason & why", meta=planar().meta)
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
        frames = page.samples
        assert frames["arm"] is None if first == 0 else len(frames["t"]) == 30
        assert "NaN" not in page.texts["script"][0]
    bare = Result(full.t, {"q": full.arrays["q"], "qd": full.arrays["qd"]}, "finished", "", meta={})
    assert "does not say which robot moved" in Page(report_html(bare, charts=("position",))).everything


def test_a_batch_has_a_row_a_run_and_one_run_can_be_reported(pages) -> None:
    page = Page(pages["batch"])
    assert "Runs" in page.texts["h2"]
    assert len([t for t in page.texts["b"] if t in STATUSES]) == 30
    one = Page(report_html(batch().run(7), equations=False, charts=("position",)))
    assert "run 7 of a batch" in one.everything
    assert one.samples["q"][0] == pytest.approx(batch().arrays["q"][7, 0], rel=1e-4)


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
    assert page.samples["arm"] is None
    assert "Robot" not in page.texts["h2"]
