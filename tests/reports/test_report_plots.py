"""Every plot of the registry on results of every kind: it draws what was recorded, on the axes it is given, without a warning."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from manipula.errors import DescriptionError, ShapeError, UnknownNameError
from manipula.reports.figures import plot, save_figure
from manipula.reports.plots import PLOTS, draw_workspace, drawable
from manipula.reports.plots.base import Plot
from manipula.reports.skeleton import skeleton
from manipula.reports.source import robot_of
from manipula.simulation.result import Result
from report_results import HOSTILE, RESULTS, batch, planar, programmed, renamed, scara, seven

ROUNDOFF = 1e-12  # lengths of about 1 m through a chain of at most 7 joints
QUICK = {"workspace": {"cells": 6}, "manipulability-map": {"cells": 6}}


def given_to(p: Plot) -> list[object]:
    """Two small results that this plot can be drawn from."""
    if p.takes == "several":
        return [[programmed(), programmed(friction=False)]]
    fitting = [f() for f in RESULTS.values() if p.missing(f()) is None]
    assert fitting, f"no sample result shows '{p.name}'"
    return fitting[:: max(1, len(fitting) - 1)][:2]


def own_axes(p: Plot, result: object) -> list[object]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    want = p.panels(result)
    figure = Figure(figsize=(6, 4))
    FigureCanvasAgg(figure)
    kind = {"projection": "3d"} if want.spatial else {}
    return [figure.add_subplot(want.places, 1, i + 1, **kind) for i in range(want.places)]


@pytest.mark.parametrize("name", PLOTS)
def test_plot_draws_on_a_figure_of_its_own_and_on_given_axes(name: str) -> None:
    p = PLOTS[name]
    assert p.name == name
    assert p.summary
    for k, result in enumerate(given_to(p)):
        axes = own_axes(p, result) if k == 0 else None
        given = None if axes is None else axes[0] if len(axes) == 1 else axes
        got = p(result, ax=given, **QUICK.get(name, {}))
        assert given is None or got is given
        drawn = list(np.ravel(np.asarray(got, dtype=object)))
        assert len(drawn) == p.panels(result).places
        for ax in drawn:
            assert ax.has_data()
            assert ax.get_xlabel()
            assert "[" in ax.get_xlabel(), "the unit is part of the label"
            assert ax.get_ylabel()
        drawn[0].figure.canvas.draw()


@pytest.mark.parametrize(
    ("kind", "signal"), [("position", "q"), ("velocity", "qd"), ("acceleration", "qdd"), ("torque", "tau")]
)
def test_lines_are_the_recorded_samples(kind: str, signal: str) -> None:
    result = planar()
    lines = [x for x in plot(result, kind).get_lines() if len(x.get_xdata()) == len(result.t)]
    assert np.array_equal([x.get_ydata() for x in lines], result.arrays[signal].T)
    assert all(np.array_equal(x.get_xdata(), result.t) for x in lines)


def test_joints_of_both_kinds_have_scales_of_their_own() -> None:
    ax = plot(scara(), "position")
    other = next(x for x in ax.figure.axes if x is not ax)
    assert "rad" in ax.get_ylabel()
    assert other.get_ylabel().endswith("[m]")
    assert np.array_equal(other.get_lines()[0].get_ydata(), scara().arrays["q"][:, 3])


def test_a_planar_arm_is_drawn_in_its_plane_and_a_spatial_one_in_space() -> None:
    assert not PLOTS["tip"].panels(planar()).spatial
    assert PLOTS["tip"].panels(seven()).spatial
    ax = plot(planar(), "tip")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")


@pytest.mark.parametrize("make", [planar, scara, seven, programmed])
def test_skeleton_is_rigid_and_ends_at_the_recorded_tip(make) -> None:
    result = make()
    robot = robot_of(result)
    assert robot is not None
    bones = skeleton(robot, result.arrays["q"])
    for a, b, _ in bones.lines:
        length = np.linalg.norm(bones.points[:, a] - bones.points[:, b], axis=-1)
        assert np.ptp(length) < ROUNDOFF
    for a, b, joint in bones.slides:
        moved = np.einsum("sk,sk->s", bones.points[:, b] - bones.points[:, a], bones.axes[:, joint])
        assert np.abs(moved - result.arrays["q"][:, joint]).max() < ROUNDOFF
    assert np.abs(bones.points[:, bones.tip] - result.arrays["tip"]).max() < ROUNDOFF


def test_names_cannot_break_a_figure(tmp_path) -> None:
    for name in (HOSTILE, "_hidden", "$", "名前", "x" * 5000):
        result = renamed(planar(), name)
        ax = plot(result, "position", path=tmp_path / "figure.svg")
        shown = [t.get_text() for t in ax.get_legend().get_texts()]
        assert len(shown) == 3
        assert all(t.strip() for t in shown)
        assert "<img" not in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_samples_after_an_early_end_are_left_out() -> None:
    full = planar()
    arrays = {k: np.array(v, float) for k, v in full.arrays.items()}
    for v in arrays.values():
        v[40:] = np.nan
    broken = Result(full.t, arrays, "limit", "stopped", meta=full.meta)
    for p in drawable(broken):
        p(broken, **QUICK.get(p.name, {}))
    assert {p.name for p in drawable(broken)} == {p.name for p in drawable(full)}


def test_what_cannot_be_drawn_says_why() -> None:
    from matplotlib.figure import Figure

    with pytest.raises(UnknownNameError, match="Did you mean 'joints'"):
        plot(planar(), "jonts")
    with pytest.raises(DescriptionError, match=r"this is a batch; choose one: result.run\(0\)"):
        plot(batch(), "joints")
    with pytest.raises(DescriptionError, match="this is a single run"):
        plot(planar(), "ensemble")
    with pytest.raises(DescriptionError, match="no signal 'residual'"):
        plot(planar(), "residual")
    with pytest.raises(DescriptionError, match="at least two results"):
        plot(planar(), "compare")
    with pytest.raises(DescriptionError, match="same number of joints"):
        plot([planar(), scara()], "compare")
    with pytest.raises(UnknownNameError, match="Did you mean 'tau'"):
        plot([planar(), planar()], "compare", signal="taau")
    with pytest.raises(ShapeError, match="draws on 4 axes, found 1"):
        plot(planar(), "joints", ax=Figure().add_subplot())
    with pytest.raises(UnknownNameError, match="format of figures"):
        plot(planar(), "joints", path="figure.bmp")
    nameless = Result(planar().t, planar().arrays, "finished", "", meta={})
    with pytest.raises(DescriptionError, match="which robot moved"):
        plot(nameless, "tip")


def test_a_figure_has_the_same_bytes_every_time(tmp_path) -> None:
    for suffix in (".svg", ".png", ".pdf"):
        paths = [tmp_path / f"{k}{suffix}" for k in "ab"]
        for path in paths:
            save_figure(plot(planar(), "torque"), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_workspace_map_can_be_drawn_by_itself() -> None:
    from manipula.analysis.workspace import workspace

    found = workspace(robot_of(planar()), cells=8, postures=1)
    ax = draw_workspace(found, quantity="manipulability")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    with pytest.raises(DescriptionError, match="holds no dexterity"):
        draw_workspace(found, quantity="dexterity")


def test_plotting_does_not_touch_pyplot() -> None:
    code = (
        "import sys, numpy as np\n"
        "from manipula.reports.figures import plot\n"
        "from manipula.simulation.result import Result\n"
        "t = np.linspace(0, 1, 5)\n"
        "plot(Result(t, {'q': np.zeros((5, 2)), 'qd': np.zeros((5, 2))}, 'finished', ''), 'joints')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
