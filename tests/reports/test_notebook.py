"""What a notebook shows: whole, harmless, small, with the verdict first; and never an error."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import manipula as mp
from manipula.reports import notebook, viewer
from manipula.reports.notebook import SHOWN, html_of
from manipula.reports.source import typeset
from report_results import HOSTILE, batch, planar, renamed, seven

needs_viewer = pytest.mark.skipif(viewer.script() is None, reason=viewer.missing())
NAME = HOSTILE.replace("\x07", "")  # of a robot: printable
VOID = {"meta", "br", "img", "circle", "path", "link", "hr"}


class Seen(HTMLParser):
    """Tags and texts; every tag that opens must close in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {k: v or "" for k, v in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def hostile_robot() -> mp.Robot:
    arm = mp.planar([0.5, 0.4], [2.0, 1.0])
    return arm.replace(name=NAME, joints=[replace(j, name=f"{NAME}{i}") for i, j in enumerate(arm.joints)])


VALUES = {
    "robot": lambda: hostile_robot(),
    "free robot": lambda: mp.planar(["l1", "l2"], [1.0, 1.0]).replace(name=NAME),
    "result": lambda: renamed(planar(), HOSTILE),
    "batch": lambda: renamed(batch(), HOSTILE),
    "equations": lambda: mp.equations(hostile_robot()),
    "diagnosis": lambda: mp.doctor(hostile_robot()),
    "limits": lambda: planar().feasibility,
    "ik": lambda: mp.solve_ik(
        mp.load("planar-2r"), mp.compile(mp.load("planar-2r")).position([0.3, 0.5]), all_solutions=True
    ),
    "feasibility": lambda: mp.feasibility(renamed(seven(), HOSTILE)),
}


@pytest.mark.parametrize("name", VALUES)
def test_html_is_whole_and_names_cannot_break_it(name: str) -> None:
    seen = Seen(html_of(VALUES[name]()))
    assert not {tag for tag, _ in seen.tags} & {"script", "img", "link", "style", "object", "embed"}
    for tag, attributes in seen.tags:
        assert not any(key.startswith("on") or key in ("src", "href") for key in attributes), (tag, attributes)
        if tag == "iframe":
            assert "allow-same-origin" not in attributes["sandbox"]
            assert attributes["srcdoc"].endswith("</html>\n")
            assert "<img" not in attributes["srcdoc"].partition("<body>")[2].partition("<script")[0]


def test_every_kind_has_a_repr_that_ipython_finds() -> None:
    assert all(callable(getattr(kind, "_repr_html_", None)) for kind in SHOWN)
    assert mp.doctor(mp.load("panda"))._repr_html_() == html_of(mp.doctor(mp.load("panda")))


@pytest.mark.parametrize("of", [planar, batch, seven])
def test_the_verdict_comes_first(of) -> None:
    result = of()
    words = Seen(html_of(result)).words
    assert words.startswith(f"{result.status}: {typeset(result.reason)}")
    assert typeset(result.feasibility.reason) in words


@needs_viewer
def test_outputs_are_small_and_one_beyond_the_budget_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    panda, a, b = mp.load("panda"), [0, 0, 0, -1.0, 0, 1.0, 0], [0.3, 0.3, 0.3, -1.3, 0.3, 1.3, 0.3]
    move = mp.trajectory(mp.paths.joint([a, b]), mp.timing.quintic(4.0))
    long = mp.simulate(mp.Scenario(panda, move, controller=mp.control.ComputedTorque(100, 20), verify=False))
    assert len(long.t) == 4001
    assert len(html_of(long)) < 1_500_000
    assert len(html_of(panda)) < 1_000_000
    monkeypatch.setattr(notebook, "LARGEST", 1000)
    for value, word in ((long, "Largest torque"), (panda, "panda_joint7")):
        seen = Seen(html_of(value))
        assert "more than a notebook should hold" in seen.words
        assert word in seen.words
        assert not any(tag == "iframe" for tag, _ in seen.tags)


def test_without_a_viewer_the_numbers_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "script", lambda: None)
    assert "Largest torque" in Seen(html_of(planar())).words
    assert "joint1" in Seen(html_of(mp.planar([1.0], [1.0]))).words


def test_a_repr_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError("no picture today")

    for name in ("report_html", "_joints", "PageContent", "_table"):
        monkeypatch.setattr(notebook, name, broken)
    monkeypatch.setattr(viewer, "script", lambda: "x")
    robot = mp.planar([1.0], [1.0])
    assert [v._repr_html_() for v in (planar(), robot, planar().feasibility)].count(None) >= 2
    assert all("\n" not in repr(v) for v in (planar(), robot, planar().feasibility))


@pytest.mark.parametrize("value", [lambda: mp.load("panda"), planar, batch, lambda: mp.doctor(mp.load("panda")), lambda: mp.equations(mp.load("panda")),
                                   lambda: planar().feasibility, lambda: mp.feasibility(seven()), lambda: mp.compile(mp.load("panda")),
                                   lambda: planar().scenario, lambda: planar().scenario.reference])  # fmt: skip
def test_texts_are_one_short_line(value) -> None:
    text = repr(value())
    assert "\n" not in text
    assert len(text) < 400


def test_the_view_of_a_robot_keeps_within_its_limits() -> None:
    robot = mp.load("panda")
    q = notebook._swinging(robot).arrays["q"]
    for i, joint in enumerate(robot.joints):
        assert joint.limits.lower - 1e-12 <= q[:, i].min() < q[:, i].max() <= joint.limits.upper + 1e-12
    assert (np.count_nonzero(np.abs(q - q[-1]) > 1e-12, axis=1) <= 1).all()


def test_long_equations_say_what_to_do() -> None:
    assert "too long" in Seen(html_of(mp.equations(mp.load("panda")))).words
    assert "<math" in html_of(mp.equations(mp.load("planar-2r"), "lumped"))


@pytest.mark.parametrize(("kernel", "own", "shown"), [(True, False, 1), (False, False, 0), (True, True, 0)])
def test_a_plot_shows_its_figure_in_a_notebook_only(
    monkeypatch: pytest.MonkeyPatch, kernel: bool, own: bool, shown: int
) -> None:
    seen: list[dict] = []
    fake = types.SimpleNamespace(
        version_info=(9, 0),
        get_ipython=lambda: types.SimpleNamespace(**({"kernel": None} if kernel else {})),
        display=types.SimpleNamespace(display=lambda data, raw: seen.append(data)),
    )
    monkeypatch.setitem(sys.modules, "IPython", fake)  # pyright: ignore[reportArgumentType]
    from matplotlib.figure import Figure

    mp.plot(planar(), "tip", ax=Figure().subplots() if own else None)
    assert len(seen) == shown
    assert all(data["image/png"].startswith(b"\x89PNG") for data in seen)


def test_postures_are_in_the_units_of_the_joints() -> None:
    """Of one answer, of all, of a batch, by a closed form and by iterations, and through an arm that carries the frame."""
    scara, turning = mp.load("scara-khang"), mp.load("panda")
    X = np.asarray(mp.compile(scara).pose([0.3, 0.4, 0.2, 0.1]))
    answers = [
        mp.solve_ik(scara, X), mp.solve_ik(scara, X), mp.solve_ik(scara, X, all_solutions=True), mp.solve_ik(scara, np.stack([X, X])),
        mp.solve_ik(scara, X, method="newton_raphson"), mp.solve_ik(scara, X, prefer="middle"), mp.solve_ik(scara, np.stack([X, X]), prefer="middle"),
    ]  # fmt: skip
    for found in answers:
        assert found.units == ("rad", "rad", "rad", "m")
        assert "q4 [m]" in found._repr_html_()
        assert "0.0·10" not in found._repr_html_()  # an error of nothing is 0
        assert "rad or m" not in found._repr_html_()
    assert mp.solve_ik(turning, [0.4, 0.1, 0.5]).units == ("rad",) * 7


def test_postures_are_listed_with_their_errors() -> None:
    arm = mp.compile(mp.load("planar-2r"))
    words = Seen(html_of(mp.solve_ik(arm, arm.position([0.3, 0.5]), all_solutions=True))).words
    assert words.startswith("solved")
    assert "0.3" in words
    targets = arm.position(np.array([[0.3, 0.5], [0.1, 0.2], [0.2, 0.9]]))
    assert Seen(html_of(mp.solve_ik(arm, targets))).words.startswith("3 targets: 3 solved")
    many = Seen(html_of(mp.solve_ik(arm, arm.position(np.tile([0.3, 0.5], (300, 1))))))
    assert "… and 100 more." in many.words
    assert Seen(html_of(mp.solve_ik(arm, [9.0, 0.0, 0.0]))).words.startswith("unreachable: ")


def test_equations_have_the_heads_of_an_output_and_letters_that_can_be_read() -> None:
    made = html_of(mp.equations(mp.load("planar-2r")))
    heads = [tag for tag, _ in Seen(made).tags if tag in ("h1", "h2", "h3", "h4")]
    assert heads == ["h3", "h4", "h4"]
    assert all("font-size:1.2em" in given.get("style", "") for tag, given in Seen(made).tags if tag == "math")
