"""Files that others read without knowing us: xarray with labels and units, pandas without options."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import manipula as mp
from manipula import control
from manipula.simulation.stored.store import FORMATS, load_result

UNIT = re.compile(r"(rad|m|s|N|W|J)( s-[12])?( m)?|1")


@cache
def scara() -> mp.Result:
    """Three joints that turn and one that slides."""
    return mp.simulate(
        mp.Scenario(
            robot=mp.load("scara-khang"), controller=control.PDGravity(30.0, 5.0, goal=[0.3, -0.2, 0.1, 0.05]),
            q0=[0.1, 0.2, 0.0, 0.0], duration=0.03, sample=0.01,
        )
    )  # fmt: skip


@cache
def tracking() -> mp.Result:
    """Three joints that follow a line of the tip: target and error are those of the tip, not of the joints."""
    arm = mp.load("planar-3r")
    path = mp.paths.line([0.9, 0.4, 0.0], [0.8, 0.5, 0.0])
    q0 = mp.solve_ik(arm, [0.9, 0.4, 0.0], rows=("x", "y")).q
    reference = mp.trajectory(path, mp.timing.cycloid(0.05))
    return mp.simulate(mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=q0, duration=0.05, sample=0.01))


@cache
def programmed() -> mp.Result:
    return mp.programmed_motion(mp.load("planar-2r"), ["x - 1.2"]).run([0.3, 1.2], duration=0.02, step=1e-3)


def opened(result: mp.Result, folder: Path) -> xr.Dataset:
    result.save(folder / "run.nc")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.load_dataset(folder / "run.nc")


def test_joints_have_their_names(tmp_path: Path) -> None:
    data, result = opened(scara(), tmp_path), scara()
    for k, name in enumerate(result.joint_names):
        assert np.array_equal(data["q"].sel(joint=name).values, result.q[:, k])
    assert np.array_equal(data["tip"].sel(axis="z").values, result.tip[:, 2])
    assert np.array_equal(data["q"].sel(time=0.02, method="nearest").values, result.q[2])
    assert data["pose"].dims == ("time", "row", "column")
    assert data.attrs["Conventions"].startswith("CF-1.")


@pytest.mark.parametrize("made", [scara, tracking, programmed])
def test_dimensions_have_names_and_units_are_legal(made: object, tmp_path: Path) -> None:
    result = made()  # type: ignore[operator]
    data = opened(result, tmp_path)
    assert not [d for d in data.dims if re.search(r"_\d|axis\d", str(d))]
    for name in result.signals:
        unit = data[name].attrs.get("units")
        assert unit is None or UNIT.fullmatch(unit), (name, unit)
    assert data["time"].attrs["units"] == "s"
    assert data["energy"].attrs["units"] == "J"
    assert set(data.data_vars) == set(result.signals)


def test_units_of_joints_that_turn_and_slide(tmp_path: Path) -> None:
    data = opened(scara(), tmp_path)
    assert list(data["position_unit"].values) == ["rad", "rad", "rad", "m"]
    assert list(data["velocity_unit"].values) == ["rad s-1"] * 3 + ["m s-1"]
    assert list(data["effort_unit"].values) == ["N m"] * 3 + ["N"]
    assert list(data["joint_kind"].values) == ["revolute"] * 3 + ["prismatic"]
    assert "units" not in data["q"].attrs  # it has no single one
    plain = opened(tracking(), tmp_path)
    assert plain["q"].attrs["units"] == "rad"
    assert plain["qdd"].attrs["units"] == "rad s-2"


def test_a_reference_of_the_tip_is_in_metres_and_axes(tmp_path: Path) -> None:
    data = opened(tracking(), tmp_path)
    assert data["error"].dims == data["target"].dims == ("time", "axis")
    assert data["error"].attrs["units"] == "m"


@pytest.mark.parametrize("made", [scara, tracking, programmed])
def test_the_view_in_memory_is_that_of_the_file(made: object, tmp_path: Path) -> None:
    result = made()  # type: ignore[operator]
    view, data = result.to_xarray(), opened(result, tmp_path)
    assert set(view.variables) == set(data.variables)
    assert set(view.coords) == set(data.coords)
    for name in view.variables:
        assert view[name].dims == data[name].dims
        assert view[name].attrs == data[name].attrs
        assert view[name].values.tolist() == data[name].values.tolist() or np.isnan(view[name].values).any()
    assert view.attrs == data.attrs


def test_batches_have_a_dimension_for_runs(tmp_path: Path) -> None:
    batch = mp.simulate(scara().scenario.replace(q0=[[0.1, 0.2, 0.0, 0.0], [0.2, 0.2, 0.0, 0.0]]))
    data = opened(batch, tmp_path)
    assert data["q"].dims == ("run", "time", "joint")
    assert data["pose"].dims == ("run", "time", "row", "column")
    assert load_result(tmp_path / "run.nc") == batch


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_pandas_needs_no_options(suffix: str, tmp_path: Path) -> None:
    """Every bit is there; pandas 2 reads the numbers of a CSV file quickly, with errors of 1e-12."""
    result = scara()
    result.save(tmp_path / f"run{suffix}")
    table = pd.read_csv(tmp_path / "run.csv") if suffix == ".csv" else pd.read_parquet(tmp_path / "run.parquet")
    exact = pd.read_csv(tmp_path / "run.csv", dtype=str) if suffix == ".csv" else table
    assert len(table) == len(result.t)
    joints = {f"q_{name}": result.q[:, k] for k, name in enumerate(result.joint_names)}
    for name, values in {"t": result.t, **joints, "tip_y": result.tip[:, 1], "pose_34": result.pose[:, 2, 3]}.items():
        assert np.array_equal(exact[name].astype(float), values)
        assert np.allclose(table[name], values, rtol=1e-11, atol=1e-15)
    numbers = table.drop(columns="manipula", errors="ignore")
    assert {str(kind) for kind in numbers.dtypes} == {"float64"}
    if suffix == ".csv":
        assert table["manipula"].isna().sum() == len(table) - 1


def test_names_that_csv_finds_difficult(tmp_path: Path) -> None:
    names = ("a,b", 'say "c"', " d ", "é", "e\nf")
    result = mp.Result(
        np.arange(2.0), {"q": np.arange(10.0).reshape(2, 5)}, "finished", "", meta={"joint_names": names}
    )
    result.save(tmp_path / "run.csv")
    table = pd.read_csv(tmp_path / "run.csv")
    assert list(table.columns) == ["t", "q_a,b", 'q_say "c"', "q_ d ", "q_é", "q_e\\nf", "manipula"]
    assert load_result(tmp_path / "run.csv") == result


def test_columns_whose_names_would_collide(tmp_path: Path) -> None:
    arrays = {"q": np.zeros((2, 1)), "q_d": np.ones(2)}
    result = mp.Result(np.arange(2.0), arrays, "finished", "", meta={"joint_names": ("d",)})
    result.save(tmp_path / "run.csv")
    assert len(set(pd.read_csv(tmp_path / "run.csv").columns)) == 4
    assert load_result(tmp_path / "run.csv") == result


def test_heavy_libraries_are_fetched_when_they_are_needed(tmp_path: Path) -> None:
    """Storing and reading .nc, .npz and .csv needs neither pandas nor xarray."""
    code = (
        "import sys, numpy as np, manipula as mp\n"
        "r = mp.Result(np.arange(2.0), {'q': np.zeros((2, 1))}, 'finished', '')\n"
        "for s in ('nc', 'npz', 'csv'):\n"
        f"    r.save({str(tmp_path / 'run.')!r} + s)\n"
        f"    assert mp.load_result({str(tmp_path / 'run.')!r} + s) == r\n"
        "print([m for m in ('pandas', 'xarray', 'pyarrow', 'scipy.io', 'mcap') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_units_are_in_the_fields_of_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    scara().save(tmp_path / "run.parquet")
    schema = pq.read_schema(tmp_path / "run.parquet")
    found = {field.name: (field.metadata or {}).get(b"units", b"").decode() for field in schema}
    assert found["q_joint1"] == "rad"
    assert found["q_joint4"] == "m"
    assert found["tau_joint4"] == "N"
    assert found["kinetic"] == "J"
    assert found["t"] == "s"


def test_formats_are_covered() -> None:
    assert set(FORMATS) == {".nc", ".npz", ".csv", ".parquet", ".mcap"}
