"""Contracts of every path primitive, and what each one draws."""

from __future__ import annotations

import json
import math
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.interpolate import BSpline, CubicSpline
from scipy.special import ellipe

import manipula as mp
from manipula.algebra import ops
from manipula.algebra.jet import Jet
from manipula.errors import BudgetError, DescriptionError, ShapeError, UnknownNameError
from manipula.motion import paths

DATA = FilePath(__file__).parent.parent / "data"
UNIT = 1e-12  # |dp/ds| − 1: rounding of one Taylor chain
LENGTH = 1e-12  # relative, against adaptive quadrature that is itself good to about 1e-13
CHAIN = 1e-9  # Gauss–Legendre, 160 panels of 16 nodes, on third derivatives that peak sharply (flat ellipse)

POINTS = [(0.9, 0.2), (1.0, 0.5), (0.7, 0.8), (0.4, 0.7), (0.3, 1.0)]
SPACE = [(0, 0, 0), (1, 0, 0.2), (1, 1, 0.3), (0.2, 1.2, 0.8), (-0.3, 0.4, 0.5)]
JOINTS = np.random.default_rng(5).normal(size=(6, 7)).tolist()
SVG = "M10,10 h40 v-20 l10 10 C 70 0 90 40 70 60 s -30 5 -40 -5 Q 10 80 5 60 t -10 -10 A 20 12 30 1 0 -20 20 z"
CSV = "name,x,y\na,0,0\nb,1,0.5\nc,2,-0.3\n# comment\n\nd,3,0\n"

EXAMPLES = {
    "line": {"a": (0.1, 0.2, 0.3), "b": (1.0, -1.0, 0.5)},
    "polyline": {"points": SPACE, "closed": True},
    "rectangle": {"width": 2.0, "height": 1.0, "center": (0, 0, 1), "second": (0, 0, 1)},
    "square": {"side": 1.0, "corner": (2, 2), "first": (-1, 0), "second": (0, -1)},
    "circle": {"center": (1, 2, 3), "radius": 0.4, "normal": (1, 1, 1)},
    "arc": {"start": (0, 0), "via": (1, 1), "end": (2, 0)},
    "ellipse": {"center": (0.1, 0.2), "a": 0.5, "b": 0.05, "normal": (0, 1, 1)},
    "spline": {"points": POINTS},
    "helix": {"center": (0, 0, 0), "radius": 0.3, "pitch": 0.1, "turns": 3.5, "normal": (1, 0, 1)},
    "figure_eight": {"center": (0, 0, 0.5), "width": 0.6, "height": 0.3},
    "bspline": {"points": SPACE},
    "from_csv": {"source": CSV, "columns": ["x", "y"]},
    "from_svg": {"source": SVG, "scale": 0.001},
    "joint": {"points": JOINTS},
    "formula": {"function": ["0.3*cos(u)", "0.2*sin(3*u)", "0.1*u"], "u": [0.0, 4.0]},
    "concatenate": {"paths": [paths.line((0, 0), (1, 0)), paths.arc((1, 0), (1.5, 0.5), (1, 1))]},
    "transform": {"path": paths.spline(POINTS), "pose": [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]},
    "translate": {"path": paths.circle((0, 0), 1), "by": (1, 2, 3)},
    "scale": {"path": paths.ellipse((0, 0), 2, 1), "factor": 0.25, "about": (1, 1)},
    "reverse": {"path": paths.spline(SPACE)},
}
VARIANTS = {
    "polyline, parabolic": ("polyline", {"points": SPACE, "blend": 0.2, "shape": "parabolic"}),
    "polyline, circular": ("polyline", {"points": SPACE, "blend": 0.2, "shape": "circular"}),
    "polyline, quintic, closed": ("polyline", {"points": SPACE, "closed": True, "blend": 0.2}),
    "square, quintic": ("square", {"side": 1.0, "corner": (0, 0), "blend": 0.5}),
    "spline, clamped": ("spline", {"points": POINTS, "ends": "clamped", "tangents": [(1, 0), (0, 1)]}),
    "spline, periodic": ("spline", {"points": SPACE, "ends": "periodic", "spacing": "centripetal"}),
    "spline, not-a-knot": ("spline", {"points": SPACE, "ends": "not-a-knot", "spacing": "uniform"}),
    "bspline, closed": ("bspline", {"points": SPACE, "degree": 4, "closed": True}),
    "joint, polyline": ("joint", {"points": JOINTS, "interpolation": "polyline", "blend": 0.3}),
    "joint, one axis": ("joint", {"points": [[0.0], [1.0]]}),
    "circle, turns": ("circle", {"center": (0, 0), "radius": 1.0, "turns": 2.25}),
}
CASES = {**{name: (name, arguments) for name, arguments in EXAMPLES.items()}, **VARIANTS}


def make(case):
    name, arguments = CASES[case]
    return paths.REGISTRY[name](**arguments)


def inside(path, count=37):
    """Arc lengths that keep away from breaks."""
    s = np.linspace(0, path.length, count + 2)[1:-1] * 0.9973
    return s[np.abs(s[:, None] - path.breaks).min(axis=1) > 3e-4 * path.length]


def test_every_primitive_has_an_example():
    assert set(EXAMPLES) == set(paths.REGISTRY)
    assert set(EXAMPLES) <= set(paths.__all__)


@pytest.mark.parametrize("case", CASES)
def test_speed_along_the_path_is_one(case):
    path = make(case)
    s = np.concatenate([inside(path), path.breaks])
    for side in ("right", "left"):
        assert np.abs(np.linalg.norm(path.tangent(s, side), axis=1) - 1).max() < UNIT


@pytest.mark.parametrize("case", CASES)
def test_derivatives_follow_each_other(case):
    """The integral of each derivative over each smooth piece is the change of the one below."""
    path = make(case)
    x, w = np.polynomial.legendre.leggauss(16)
    for low, high in zip(path.breaks[:-1], path.breaks[1:]):
        edges = np.linspace(low, high, 161)
        half = (edges[1] - edges[0]) / 2
        s = (edges[:-1, None] + half) + half * x
        inner = path.derivatives(s, 3)
        change = path.derivatives(high, 2, "left") - path.derivatives(low, 2)
        for k in range(3):
            integral = half * np.einsum("j,ijd->d", w, inner[k + 1])
            error = np.abs(integral - change[k]).max()
            assert error < CHAIN * (1 + np.abs(inner[k + 1]).max() * (high - low)), k


@pytest.mark.parametrize("case", CASES)
def test_unit_speed_implies_orthogonality(case):
    """p'·p' = 1 differentiated: p'·p'' = 0 and p'·p''' = −p''·p''."""
    path = make(case)
    _, t, n, j = path.derivatives(inside(path), 3)
    size = 1 + np.abs(n).max() ** 2
    assert np.abs(np.sum(t * n, axis=1)).max() < 1e-11 * size
    assert np.abs(np.sum(t * j, axis=1) + np.sum(n * n, axis=1)).max() < 1e-10 * size * (1 + np.abs(j).max())


@pytest.mark.parametrize("case", CASES)
def test_length_against_adaptive_quadrature(case):
    path = make(case)
    total = 0.0
    for curve in path.curves:
        for piece in range(len(curve.breaks) - 1):
            rate = lambda u, c=curve, k=piece: float(
                np.linalg.norm([x.coefficients[1] for x in c.point(Jet.variable(u, 1), k) if isinstance(x, Jet)])
            )
            total += quad(rate, curve.breaks[piece], curve.breaks[piece + 1], epsabs=0, epsrel=1e-13, limit=500)[0]
    assert abs(path.length / total - 1) < LENGTH


@pytest.mark.parametrize("case", CASES)
def test_arc_length_and_its_inverse(case):
    """The length of the part up to s, integrated from the path itself, is s."""
    path = make(case)
    for curve, table in zip(path.curves, path._tables):
        if table is None:
            continue
        s = np.linspace(0, table.total, 101)
        piece = np.clip(np.searchsorted(table.piece_ends, s, side="right") - 1, 0, len(curve.breaks) - 2)
        assert np.abs(table.length(table.parameter(s, piece)) - s).max() < LENGTH * table.total


@pytest.mark.parametrize("case", CASES)
def test_pieces_meet(case):
    path = make(case)
    inner = path.breaks[1:-1]
    left, right = path.derivatives(inner, 0, "left"), path.derivatives(inner, 0, "right")
    assert np.abs(left - right).max(initial=0.0) < 1e-12 * max(1.0, path.length)


@pytest.mark.parametrize("case", CASES)
def test_descriptions_make_the_same_path_again(case):
    path = make(case)
    assert path.description is not None
    again = paths.from_description(json.loads(json.dumps(path.description)))
    assert again == path
    assert hash(again) == hash(path)
    s = inside(path)
    np.testing.assert_array_equal(again.position(s), path.position(s))


@pytest.mark.parametrize("case", CASES)
def test_formulas_hold_for_any_scalar(case):
    """The same formula on floats, symbols and Taylor numbers; and the grid form of series agrees with it."""
    u = sympy.Symbol("u")
    for curve in make(case).curves[:3]:
        at = float(0.3 * curve.breaks[0] + 0.7 * curve.breaks[1])
        plain = np.array(curve.point(at, 0), float)
        symbolic = [float(sympy.sympify(c).subs(u, at)) for c in curve.point(u, 0)]
        np.testing.assert_allclose(symbolic, plain, atol=1e-12 * (1 + np.abs(plain).max()))
        jets = [c if isinstance(c, Jet) else Jet((c, 0.0, 0.0), 1) for c in curve.point(Jet.variable(at, 2), 0)]
        grid = curve.series(np.array([at]), np.array([0]), 2)[:, 0]
        expected = np.array([jet.coefficients for jet in jets], float).T
        np.testing.assert_allclose(grid, expected, atol=1e-12 * (1 + np.abs(expected).max()))


def test_shapes_follow_the_argument():
    path = paths.circle((0, 0), 1)
    assert path.position(0.3).shape == (3,)
    assert path.derivatives(np.zeros((2, 5)), 2).shape == (3, 2, 5, 3)
    assert paths.joint(JOINTS).position([0.0, 0.1]).shape == (2, 7)
    assert repr(path).startswith("Path(circle")


def test_line_and_circle_in_closed_form():
    line = paths.line((1, 2), (4, 6))
    assert line.length == 5.0
    np.testing.assert_allclose(line.position(2.5), [2.5, 4.0, 0.0], atol=1e-15)
    circle = paths.circle((1, 0, 2), 0.5)
    assert circle.length == pytest.approx(math.pi, rel=1e-15)
    assert circle.closed
    np.testing.assert_allclose(circle.position(math.pi / 4), [1, 0.5, 2], atol=1e-15)
    np.testing.assert_allclose(circle.curvature([0.1, 2.0]), 2.0, rtol=1e-14)
    turned = paths.circle((1, 0, 2), 0.5, normal=(0, 0, -1))
    np.testing.assert_allclose(turned.position(math.pi / 4), [1, -0.5, 2], atol=1e-15)


def test_ellipse_length_is_the_complete_elliptic_integral():
    for b in (1.0, 0.5, 1e-3):
        path = paths.ellipse((0, 0), 1.0, b)
        assert path.length == pytest.approx(4 * ellipe(1 - b * b), rel=1e-13)


def test_arc_passes_its_points_in_any_plane():
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, b, c = rng.normal(size=(3, 3))
        path = paths.arc(a, b, c)
        np.testing.assert_allclose(path.start, a, atol=1e-12)
        np.testing.assert_allclose(path.end, c, atol=1e-10)
        s = np.linspace(0, path.length, 2001)
        assert np.linalg.norm(path.position(s) - b, axis=1).min() < path.length / 2000
    half = paths.arc((1, 0), (0, 1), (-1, 0))
    assert half.length == pytest.approx(math.pi, rel=1e-15)


def test_spline_is_scipys_on_chord_length_and_passes_its_points():
    reference = json.loads((DATA / "planar4R_spline.json").read_text())
    points = np.array(reference["parameters"]["points"])
    path = paths.spline(points)
    assert path.length == pytest.approx(reference["path_length"], abs=1e-13)
    np.testing.assert_allclose(np.diff(path.breaks), reference["segment_lengths"], atol=1e-12)
    np.testing.assert_allclose(path.position(path.breaks)[:, :2], points, atol=1e-14)
    knots = reference["parameters"]["u_knots"]
    np.testing.assert_allclose(path.curves[0].breaks, knots, rtol=1e-15)
    u = path.parameter(np.linspace(0, path.length, 33))
    expected = CubicSpline(knots, points, bc_type="natural")(u)
    np.testing.assert_allclose(path.position(np.linspace(0, path.length, 33))[:, :2], expected, atol=1e-14)


@pytest.mark.parametrize("ends", ["natural", "clamped", "periodic", "not-a-knot"])
@pytest.mark.parametrize("spacing", ["chord", "centripetal", "uniform"])
def test_splines_have_continuous_curvature_and_the_right_ends(ends, spacing):
    tangents = [(1, 0, 0), (0, 0, 1)] if ends == "clamped" else None
    path = paths.spline(SPACE, ends=ends, spacing=spacing, tangents=tangents)
    left, right = (path.derivatives(path.breaks[1:-1], 2, side) for side in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=1e-9)
    if ends == "natural":
        np.testing.assert_allclose(path.derivatives([0, path.length], 2)[2], 0, atol=1e-10)
    if ends == "clamped":
        np.testing.assert_allclose(path.tangent([0, path.length]), tangents, atol=1e-12)
    if ends == "periodic":
        assert path.closed
        d = path.derivatives([0, path.length], 2)
        np.testing.assert_allclose(d[:, 0], d[:, 1], atol=1e-9)
    if ends == "not-a-knot":
        assert path.curves[0].coefficients[0, 3] == pytest.approx(path.curves[0].coefficients[1, 3], abs=1e-10)


def test_bspline_is_scipys():
    path = paths.bspline(SPACE, degree=3)
    knots = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2.0])
    u = np.linspace(0, 2, 21)
    expected = BSpline(knots, np.array(SPACE, float), 3)(u)
    found = path.curves[0].series(u, np.clip(u.astype(int), 0, 1), 0)[0]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    closed = paths.bspline(SPACE, closed=True)
    d = closed.derivatives([0, closed.length], 2)
    np.testing.assert_allclose(d[:, 0], d[:, 1], atol=1e-10)


@pytest.mark.parametrize("shape", ["parabolic", "circular", "quintic"])
def test_blends_touch_the_sides_and_round_the_corner(shape):
    path = paths.polyline([(0, 0), (1, 0), (1, 1)], blend=0.3, shape=shape)
    assert len(path.corners()) == 0
    assert path.length < 2.0
    np.testing.assert_allclose(path.position(path.breaks[1:3]), [[0.7, 0, 0], [1, 0.3, 0]], atol=1e-12)
    jump = np.abs(path.derivatives(path.breaks[1:3], 2, "right")[2] - path.derivatives(path.breaks[1:3], 2, "left")[2])
    if shape == "quintic":
        assert jump.max() < 1e-10
    else:
        assert jump.max() > 1
    sharp = paths.polyline([(0, 0), (1, 0), (1, 1)])
    np.testing.assert_allclose(sharp.corners(), [1.0])
    np.testing.assert_allclose(sharp.tangent(1.0), [0, 1, 0])
    np.testing.assert_allclose(sharp.tangent(1.0, "left"), [1, 0, 0])


def test_square_of_the_published_example():
    reference = json.loads((DATA / "arora5_square.json").read_text())
    path = paths.square(1.0, corner=(2, 2), first=(-1, 0), second=(0, -1))
    np.testing.assert_allclose(path.position(path.breaks)[:, :2], reference["corners"], atol=1e-15)
    assert path.closed
    np.testing.assert_array_equal(path.corners(), [1, 2, 3])


def test_svg_shapes():
    # two lines and a half circle; y turned up
    path = paths.from_svg("M0 0H100A50 50 0 0 1 100 100H0Z", scale=0.01)
    assert path.length == pytest.approx(3 + 0.5 * math.pi, rel=1e-13)
    np.testing.assert_allclose(path.position(1 + 0.25 * math.pi), [1.5, -0.5, 0], atol=1e-12)
    # quadratic by its own control points; relative forms draw the same as absolute ones
    absolute = paths.from_svg("M 10 10 C 20 20 40 20 50 10 S 80 0 90 10 Q 100 30 120 10 T 150 10 V 40 L 10 40 Z")
    relative = paths.from_svg("m10,10c10 10 30 10 40 0s30-10 40 0q10 20 30 0t30 0v30l-140 0z")
    s = np.linspace(0, absolute.length, 50)
    assert absolute.length == pytest.approx(relative.length, rel=1e-14)
    np.testing.assert_allclose(absolute.position(s), relative.position(s), atol=1e-10)
    np.testing.assert_allclose(absolute.corners() > 0, True)
    smooth = absolute.breaks[1]
    np.testing.assert_allclose(absolute.tangent(smooth), absolute.tangent(smooth, "left"), atol=1e-12)


def test_svg_arc_flags_choose_the_arc():
    """The four arcs between two points on a circle of radius 5: two small (quarter), two large (three quarters)."""
    lengths = {}
    for large in (0, 1):
        for sweep in (0, 1):
            path = paths.from_svg(f"M5 0A5 5 0 {large}{sweep}0 5", flip_y=False)
            np.testing.assert_allclose(path.start, [5, 0, 0], atol=1e-12)
            np.testing.assert_allclose(path.end, [0, 5, 0], atol=1e-12)
            lengths[large, sweep] = path.length / (5 * math.pi / 2)
    assert lengths == pytest.approx({(0, 0): 1, (0, 1): 1, (1, 0): 3, (1, 1): 3})
    small = paths.from_svg("M0 0A1 1 0 0 1 10 0")  # radius too small: enlarged to the half circle
    assert small.length == pytest.approx(5 * math.pi)


def test_svg_file(tmp_path):
    file = tmp_path / "drawing.svg"
    file.write_text('<svg xmlns="x"><path id="a" d="M0 0L3 4"/><path fill="none" d=\'M0 0L6 8\'/></svg>')
    assert paths.from_svg(str(file)).length == pytest.approx(5, rel=1e-14)
    assert paths.from_svg(str(file), index=1).length == pytest.approx(10, rel=1e-14)
    with pytest.raises(DescriptionError, match="no path 2"):
        paths.from_svg(str(file), index=2)
    with pytest.raises(DescriptionError, match=r"drawing2\.svg"):
        paths.from_svg(str(tmp_path / "drawing2.svg"))


def test_svg_handles_drawn_in_still_have_a_tangent():
    path = paths.from_svg("M0 0C0 0 10 10 20 0")
    assert np.abs(np.linalg.norm(path.tangent([0, 1e-9, path.length / 2, path.length]), axis=1) - 1).max() < UNIT
    assert paths.from_svg("M0 0C0 0 3 4 3 4").length == pytest.approx(5, rel=1e-14)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "draws nothing"),
        ("L 1 1", "must start with M"),
        ("M 0 0 X 1", "not one of the commands"),
        ("M 0 0 L 1", "number is expected"),
        ("M 0 0 L 1e999 0", "too large"),
        ("M 0 0 L 1 1 M 5 5 L 6 6", "one connected stroke"),
        ("M 0 0 A 1 1 0 2 1 3 3", "arc flag"),
        ("M 0 0 Z", "draws nothing"),
        ("__import__('os')", "not one of|must start"),
    ],
)
def test_svg_errors(data, message):
    with pytest.raises(DescriptionError, match=message):
        paths.from_svg(data)


def test_svg_budget():
    with pytest.raises(BudgetError, match="more than"):
        paths.from_svg("M0 0" + "h1v1" * 10_001)


def test_csv(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text(CSV)
    path = paths.from_csv(str(file), columns=["x", "y"], interpolation="polyline")
    np.testing.assert_allclose(
        path.position(path.breaks), [(0, 0, 0), (1, 0.5, 0), (2, -0.3, 0), (3, 0, 0)], atol=1e-15
    )
    assert paths.from_csv("0;0;1;2\n1;1;1;2\n2;0;1;3\n", space="joint", delimiter=";").dimension == 4
    for text, message in {
        "x,y\n0,0\n1,nan\n": "line 3: 'nan'",
        "x,y\n0,0\n1\n": "line 3: Column 1 is missing",
        "x,y\n": "no points",
        "0,0\n0,0\n": "coincide",
    }.items():
        with pytest.raises(DescriptionError, match=message):
            paths.from_csv(text)
    with pytest.raises(UnknownNameError, match="'X'"):
        paths.from_csv(str(file), columns=["X", "y"])
    with pytest.raises(DescriptionError, match="does not exist"):
        paths.from_csv(str(tmp_path / "absent.csv"))


def test_user_formula_and_curve():
    heart = paths.formula(lambda u: [ops.cos(u), ops.sin(u) + 0.5 * ops.abs(ops.cos(u))], u=[-1.5, 0.0, 1.5])
    assert heart.description is None
    assert heart != paths.formula(lambda u: [u, u], u=[0, 1])
    straight = paths.formula(lambda u: [ops.exp(u), 2 * ops.exp(u)], u=[0, 1])
    assert straight.length == pytest.approx(math.sqrt(5) * (math.e - 1), rel=1e-14)
    np.testing.assert_allclose(straight.derivatives(1.0, 2)[2], 0, atol=1e-12)


def test_transformations():
    path = paths.spline(SPACE)
    s = np.linspace(0, path.length, 21)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [1, 2, 3]
    moved = paths.transform(path, X)
    np.testing.assert_allclose(moved.position(s), path.position(s) @ X[:3, :3].T + X[:3, 3], atol=1e-13)
    large = paths.scale(path, 3.0, about=(1, 0, 0))
    np.testing.assert_allclose(large.position(3 * s), 3 * path.position(s) - [2, 0, 0], atol=1e-12)
    back = paths.reverse(path)
    np.testing.assert_allclose(
        back.derivatives(s, 3)[:, 1:-1],
        (path.derivatives(path.length - s, 3) * np.array([1, -1, 1, -1])[:, None, None])[:, 1:-1],
        atol=1e-9,
    )
    both = paths.concatenate([path, back])
    assert both.closed
    np.testing.assert_allclose(both.position(path.length + s), back.position(s), atol=1e-12)


NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: paths.line((0, 0), (0, 0)), DescriptionError, "coincide"),
        (
            lambda: paths.line((0, 0, NAN), (1, 0)),
            DescriptionError,
            r"'a\[2\]' of path 'line' must be a finite number .m., found nan",
        ),
        (lambda: paths.line((0, 0, 0, 0), (1, 0)), ShapeError, "list of 2 or 3 numbers, found 4"),
        (lambda: paths.line("here", (1, 0)), DescriptionError, "2 or 3 numbers, found 'here'"),
        (lambda: paths.polyline([(0, 0)]), DescriptionError, "at least 2"),
        (lambda: paths.polyline([(0, 0), (1, 1), (1, 1)]), DescriptionError, "Points 1 and 2"),
        (lambda: paths.polyline([0, 1, 2]), ShapeError, "rows of numbers"),
        (lambda: paths.polyline([(0, 0), (1, 0), (0, 0)], blend=0.1), DescriptionError, "turns back"),
        (lambda: paths.polyline([(0, 0), (1, 0), (1, 1)], blend=1.5), DescriptionError, "must keep both cuts"),
        (lambda: paths.polyline([(0, 0), (1, 0), (1, 1)], blend=-1), DescriptionError, "at least 0 .m., found -1"),
        (
            lambda: paths.polyline([(0, 0), (1, 0), (1, 1)], blend=0.1, shape="odd"),
            DescriptionError,
            "is 'odd'; allowed: parabolic",
        ),
        (lambda: paths.circle((0, 0), 0), DescriptionError, "greater than 0"),
        (lambda: paths.circle((0, 0), float("inf")), DescriptionError, "finite"),
        (lambda: paths.circle((0, 0), 1, normal=(0, 0, 0)), DescriptionError, "zero vector"),
        (lambda: paths.circle((0, 0), 1, axis=(0, 0, 2)), DescriptionError, "parallel"),
        (lambda: paths.arc((0, 0), (1, 1), (2, 2)), DescriptionError, "one line"),
        (lambda: paths.arc((0, 0), (0, 0), (2, 2)), DescriptionError, "one line"),
        (lambda: paths.square(1.0), DescriptionError, "either 'corner' or 'center'"),
        (lambda: paths.square(1.0, corner=(0, 0), second=(1, 1)), DescriptionError, "perpendicular"),
        (lambda: paths.spline([(0, 0), (0, 0), (1, 1)]), DescriptionError, "coincide"),
        (lambda: paths.spline(POINTS, ends="loose"), DescriptionError, "allowed: natural"),
        (lambda: paths.spline(POINTS, ends="clamped"), DescriptionError, "needed there"),
        (lambda: paths.spline(POINTS, spacing="odd"), DescriptionError, "allowed: chord"),
        (lambda: paths.bspline(POINTS, degree=9), DescriptionError, "from 1 to 7"),
        (lambda: paths.bspline(POINTS[:3]), DescriptionError, "at least 4"),
        (lambda: paths.concatenate([]), DescriptionError, "no path"),
        (
            lambda: paths.concatenate([paths.line((0, 0), (1, 0)), paths.line((2, 0), (3, 0))]),
            DescriptionError,
            "must meet",
        ),
        (lambda: paths.concatenate([paths.line((0, 0), (1, 0)), paths.joint(JOINTS)]), DescriptionError, "joint-space"),
        (lambda: paths.transform(paths.line((0, 0), (1, 0)), np.ones((4, 4))), DescriptionError, "not a rigid motion"),
        (lambda: paths.formula(["u", "u"], u=[1, 0]), DescriptionError, "increasing"),
        (lambda: paths.formula(lambda u: [0 * u, 0 * u], u=[0, 1]), DescriptionError, "length 0"),
        (lambda: paths.formula(["u"], u=[0, 1]), ShapeError, "2 or 3"),
        (lambda: paths.line((0, 0), (1, 0)).position(1.5), DescriptionError, "outside the path"),
        (lambda: paths.line((0, 0), (1, 0)).position(NAN), DescriptionError, "not finite"),
        (lambda: paths.line((0, 0), (1, 0)).rotation(0.5), DescriptionError, "no orientation"),
        (lambda: paths.from_description({"kind": "circel"}), UnknownNameError, "Did you mean 'circle'"),
        (lambda: paths.from_description({"kind": "circle", "radius": 1}), DescriptionError, "needs 'center'"),
        (lambda: paths.from_description({"kind": "circle", "centre": (0, 0)}), UnknownNameError, "'center'"),
        (lambda: paths.from_description({}), DescriptionError, "'kind'"),
        (lambda: paths.Path([]), DescriptionError, "at least one curve"),
    ],
)
def test_wrong_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def _ends(text: str, **options: Any) -> list[list[float]]:
    path = mp.paths.from_csv(text, interpolation="polyline", **options)
    return np.round([path.position(0.0), path.position(path.length)], 12).tolist()


def test_the_columns_of_a_file_are_what_their_names_say() -> None:
    ahead = [[1.0, 0.0, 0.0], [3.0, 2.0, 0.0]]
    for text in (
        "x,y\n1,0\n3,2\n",
        "y,x\n0,1\n2,3\n",
        "Y,X\n0,1\n2,3\n",
        "y [m],x [m]\n0,1\n2,3\n",
        "1,0\n3,2\n",
        "a,b\n1,0\n3,2\n",
    ):
        assert _ends(text) == ahead, text
    assert _ends("z,x,y\n5,1,0\n6,3,2\n") == [[1.0, 0.0, 5.0], [3.0, 2.0, 6.0]]
    assert _ends("q2,q1,q10\n0,1,9\n2,3,8\n", space="joint") == [[1.0, 0.0, 9.0], [3.0, 2.0, 8.0]]
    assert _ends("elbow,shoulder\n0,1\n2,3\n", space="joint") == [[0.0, 1.0], [2.0, 3.0]]
    assert _ends("t,y,x\n7,0,1\n8,2,3\n", columns=["x", "y"]) == ahead
    assert _ends("t,y,x\n7,0,1\n8,2,3\n", columns=[2, 1]) == ahead


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("t,x,y\n0,0,0\n1,1,1\n", "'t' holds them"),
        ("x,y,Time\n0,0,0\n1,1,1\n", "'Time' holds them"),
        ("time [s],x,y\n0,0,0\n1,1,1\n", "'time \\[s\\]' holds them"),
        ("x [mm],y [mm]\n0,0\n1,1\n", "'x \\[mm\\]' is in another unit"),
        ("x_mm,y_mm\n0,0\n1,1\n", "'x_mm' is in another unit"),
        ("x,z\n0,0\n1,1\n", "x, y or x, y, z, in any order, once each; found x, z"),
        ("x,x\n0,0\n1,1\n", "once each"),
        ("x,y,w\n0,0,0\n1,1,1\n", "once each; found x, y, w"),
    ],
)
def test_columns_that_are_no_coordinates_are_refused(text: str, told: str) -> None:
    with pytest.raises(mp.DescriptionError, match=told):
        mp.paths.from_csv(text)


@pytest.mark.parametrize(
    "text", ["t,q1,q2\n0,0,0\n1,1,1\n", "q1 (deg),q2 (deg)\n0,0\n1,1\n", "q1,q1\n0,0\n1,1\n", "q1,x\n0,0\n1,1\n"]
)
def test_nor_are_they_joints(text: str) -> None:
    with pytest.raises(mp.DescriptionError, match=r"columns"):
        mp.paths.from_csv(text, space="joint")
