"""Logs as they come from robots: names, units, gaps, disorder; and files that are no logs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.identification import log_tables
from manipula.analysis.identification.log import Log
from manipula.analysis.identification.read_log import read_log
from manipula.errors import BudgetError, DescriptionError

ARM = mp.planar([0.5, 0.4], [3.0, 2.0])
T = np.arange(40) / 100.0
Q = np.column_stack([np.sin(T), np.cos(T)])
ONE, TWO = ARM.joint_names


def csv(tmp_path, names, rows, divider=",", text=None):
    path = tmp_path / "log.csv"
    lines = [divider.join(names), *(divider.join(f"{x!r}" for x in map(float, row)) for row in rows)]
    path.write_text(text if text is not None else "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "names",
    [
        ("t", "q1", "q2"),
        ("time", "q_1", "q_2"),
        ("timestamp", "q0", "q1"),
        ("t", "position[0]", "position[1]"),
        ("t", f"q_{ONE}", f"q_{TWO}"),
        ("Time", "actual_q_0", "actual_q_1"),
        ("t", f"pos.{ONE}", f"pos.{TWO}"),
    ],
)
def test_columns_are_found_by_name(tmp_path, names):
    log = read_log(csv(tmp_path, names, np.column_stack([T, Q])), ARM)
    assert isinstance(log, Log)
    assert np.array_equal(log.q, Q)
    assert log.tau is None
    assert log.notes == ("Not in the log: qd, tau, current.",)
    assert log.rate == pytest.approx(100.0)


def test_columns_can_be_named(tmp_path):
    path = csv(tmp_path, ("clock", "B", "A", "load_1", "load_2"), np.column_stack([T, Q[:, ::-1], Q]))
    log = read_log(path, ARM, columns={"t": "clock", "q": ["A", "B"], "tau": "load_{}"})
    assert np.array_equal(log.q, Q)
    assert np.array_equal(log.tau, Q)
    with pytest.raises(DescriptionError, match="'C'"):
        read_log(path, ARM, columns={"t": "clock", "q": ["A", "C"]})
    with pytest.raises(mp.ShapeError, match="one column per joint"):
        read_log(path, ARM, columns={"t": "clock", "q": ["A"]})
    with pytest.raises(DescriptionError, match="speed"):
        read_log(path, ARM, columns={"speed": "load_{}"})
    with pytest.raises(DescriptionError, match="pattern"):
        read_log(path, ARM, columns={"t": "clock", "q": "A"})


def test_columns_that_are_names_in_another_order_are_not_taken_for_numbers():
    """The joints are called q2 and q1, in this order: does q1 mean the first one, or the one of that name?"""
    joints = [dataclasses.replace(joint, name=name) for joint, name in zip(ARM.joints, ("q2", "q1"))]
    arm = ARM.replace(joints=tuple(joints))
    table = {"t": T, "q1": Q[:, 0], "q2": Q[:, 1]}
    with pytest.raises(DescriptionError, match=r"names or numbers.*columns=\{'q'"):
        read_log(table, arm)
    assert np.array_equal(read_log(table, arm, columns={"q": "{name}"}).q, Q[:, ::-1])
    assert np.array_equal(read_log(table, arm, columns={"q": "q{}"}).q, Q)
    assert np.array_equal(read_log({"t": T, "q_q1": Q[:, 0], "q_q2": Q[:, 1]}, arm).q, Q[:, ::-1])
    from_zero = {"t": T, "q0": Q[:, 0], "q1": Q[:, 1]}
    assert np.array_equal(read_log(from_zero, arm).q, Q)


def test_units_are_converted(tmp_path):
    names = ("t", "q1", "q2", "current1", "current2")
    path = csv(tmp_path, names, np.column_stack([1e3 * T, np.degrees(Q), 1e3 * Q]))
    log = read_log(path, ARM, units={"t": "ms", "q": "deg", "current": "mA"})
    assert log.t == pytest.approx(T)
    assert log.q == pytest.approx(Q)
    assert log.current == pytest.approx(Q)
    with pytest.raises(DescriptionError, match="furlong"):
        read_log(path, ARM, units={"q": "furlong"})
    with pytest.raises(DescriptionError, match="force"):
        read_log(path, ARM, units={"force": "N"})


SCARA = mp.load("scara-khang")  # three joints that turn, one that slides
RNG = np.random.default_rng(2)
MIXED = RNG.uniform(-0.5, 0.5, (40, 4))
SAID = MIXED * [180 / np.pi, 180 / np.pi, 1 / (2 * np.pi), 1e3]


def test_a_unit_belongs_to_a_joint_that_turns_or_to_one_that_slides():
    log = read_log({"t": T, "q": SAID}, SCARA, units={"q": ["deg", "deg", "rev", "mm"]})
    np.testing.assert_allclose(log.q, MIXED, rtol=1e-14)
    for unit, words in (("deg", "'joint4' slides"), ("mm", "'joint1' turns"), (["deg"] * 3, "one per joint")):
        with pytest.raises(mp.ManipulaError, match=words):
            read_log({"t": T, "q": SAID}, SCARA, units={"q": unit})
    with pytest.raises(DescriptionError, match="'tau', and the log has no columns"):
        read_log({"t": T, "q": SAID}, SCARA, units={"tau": "Nm"})


def test_units_behind_the_names_of_columns_are_taken(tmp_path):
    names = ("time [ms]", "q1 [deg]", "q2 (deg)", "q3[rev]", "q4 [mm]")
    path = csv(tmp_path, names, np.column_stack([1e3 * T, SAID]))
    log = read_log(path, SCARA)
    np.testing.assert_allclose(log.q, MIXED, rtol=1e-14)
    np.testing.assert_allclose(log.t, T, atol=1e-15)
    assert read_log(path, SCARA, units={"t": "s"}).duration == pytest.approx(390.0)  # what is said counts
    with pytest.raises(DescriptionError, match="says that column 'q4"):
        read_log(csv(tmp_path, (*names[:-1], "q4 [deg]"), np.column_stack([T, SAID])), SCARA)


@pytest.mark.parametrize(
    "names", [(f"{ONE}.position", f"{TWO}.position"), ("joint_1_pos", "joint_2_pos"), ("j0_pos", "j1_pos")]
)
def test_the_joint_may_stand_before_the_word(names):
    assert np.array_equal(read_log({"t": T, names[0]: Q[:, 0], names[1]: Q[:, 1]}, ARM).q, Q)


def test_what_a_netcdf_file_says_of_its_numbers_counts(tmp_path):
    import xarray as xr

    q, tau = np.degrees(Q), 100.0 * Q
    tau[5, 1] = np.nan
    data = xr.Dataset(
        {"q": (("time", "joint"), q, {"units": "degrees"}), "tau": (("time", "joint"), tau, {"units": "N m"})},
        {"time": 1e3 * T},
    )
    data.time.attrs["units"] = "milliseconds"
    packed = {"tau": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -9999}}
    data.to_netcdf(tmp_path / "log.nc", engine="scipy", encoding=packed)
    log = read_log(tmp_path / "log.nc", ARM)
    kept = np.delete(np.arange(40), 5)
    assert log.t == pytest.approx(T[kept])
    np.testing.assert_allclose(log.q, Q[kept], rtol=1e-14)
    np.testing.assert_allclose(log.tau, 100.0 * Q[kept], atol=0.0051)
    assert any("1 of 40 rows" in note for note in log.notes)
    data.q.attrs["units"] = "furlong"
    data.to_netcdf(tmp_path / "odd.nc", engine="scipy")
    with pytest.raises(DescriptionError, match="furlong"):
        read_log(tmp_path / "odd.nc", ARM)
    assert np.allclose(read_log(tmp_path / "odd.nc", ARM, units={"q": "deg"}).q, Q[kept])


def test_times_may_be_dates(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    when = np.datetime64("2026-01-01T08:00:00") + (1e9 * T).round().astype("timedelta64[ns]")
    parquet.write_table(pa.table({"time": when, "q1": Q[:, 0], "q2": Q[:, 1]}), tmp_path / "log.parquet")
    rows = "\n".join(f"{w}Z,{a!r},{b!r}" for w, (a, b) in zip(np.datetime_as_string(when), Q.tolist()))
    for path in (tmp_path / "log.parquet", csv(tmp_path, (), (), text=f"time,q1,q2\n{rows}\n")):
        assert read_log(path, ARM).t == pytest.approx(T)
        with pytest.raises(DescriptionError, match="holds dates"):
            read_log(path, ARM, units={"t": "ms"})


def test_degrees_taken_for_radians_and_milliseconds_for_seconds_are_told():
    arm = mp.load("ur5e")
    q = np.column_stack([100.0 * Q] * 3)
    assert any("far beyond" in note for note in read_log({"t": T, "q": q}, arm).notes)
    assert not any("far beyond" in note for note in read_log({"t": T, "q": q / 100.0}, arm).notes)
    slow = read_log({"t": 1e6 * T, "q": Q, "tau": Q}, ARM)
    with pytest.raises(DescriptionError, match="in seconds"):
        mp.identify_log(ARM, slow)


def test_semicolons_decimal_commas_comments_and_words(tmp_path):
    rows = "\n".join(f"{t};{a};{b};ok".replace(".", ",") for t, (a, b) in zip(T.tolist(), Q.tolist()))
    path = csv(tmp_path, (), (), text=f"# a robot\n\nt;q1;q2;state\n{rows}\n")
    assert np.array_equal(read_log(path, ARM).q, Q)


def test_rows_are_repaired_and_it_is_said(tmp_path):
    rows = np.column_stack([T, Q])
    rows[[5, 6]] = rows[[6, 5]]
    rows = np.insert(rows, 20, rows[20], axis=0)
    rows[30, 1] = np.nan
    path = csv(tmp_path, ("t", "q1", "q2"), rows)
    log = read_log(path, ARM)
    assert np.all(np.diff(log.t) > 0)
    assert len(log.t) == 39
    assert len([note for note in log.notes if "left out" in note or "sorted" in note]) == 3
    with pytest.raises(DescriptionError, match="repair=True"):
        read_log(path, ARM, repair=False)
    rows[::3, 1] = np.nan
    with pytest.raises(DescriptionError, match="too many"):
        read_log(csv(tmp_path, ("t", "q1", "q2"), rows), ARM)


def test_parquet_npz_and_netcdf_say_the_same(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet
    import xarray as xr

    whole = read_log({"t": T, "q": Q, "tau": 2 * Q}, ARM)
    parquet.write_table(
        pa.table({"t": T, "q1": Q[:, 0], "q2": Q[:, 1], "tau1": 2 * Q[:, 0], "tau2": 2 * Q[:, 1], "who": ["a"] * 40}),
        tmp_path / "log.parquet",
    )
    np.savez(tmp_path / "log.npz", t=T, q=Q, tau=2 * Q, other=np.zeros(3))
    data = xr.Dataset(
        {"q": (("time", "joint"), Q), "tau": (("time", "joint"), 2 * Q)}, {"time": T, "joint": [ONE, TWO]}
    )
    data.to_netcdf(tmp_path / "log.nc", engine="scipy")
    for suffix in ("parquet", "npz", "nc"):
        log = read_log(tmp_path / f"log.{suffix}", ARM)
        assert np.array_equal(log.t, whole.t), suffix
        assert np.array_equal(log.q, whole.q), suffix
        assert np.array_equal(log.tau, whole.tau), suffix


def test_a_stored_run_is_a_log(tmp_path):
    move = mp.joint_move([0.0, 0.0], [0.5, 0.5], velocity=1.0, acceleration=2.0, jerk=20.0)
    run = mp.simulate(mp.Scenario(ARM, kind="inverse_dynamics", reference=move, sample=0.01))
    for suffix in ("nc", "csv", "parquet"):
        run.save(tmp_path / f"run.{suffix}")
        log = read_log(tmp_path / f"run.{suffix}", ARM)
        assert log.q == pytest.approx(run.q)
        assert log.tau == pytest.approx(run.tau)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("1,2,3\n4,5,6\n", "name the columns"),
        ("t,q1\n0,1\n", "missing|No positions"),
        ("t,q1,q2\n0,1\n", "3|columns"),
        ("t,q1,q1\n0,1,2\n", "Two columns"),
        ("t,q1,q2\n0,1,2\n1,2,x\n", "no number"),
        ("t,q1,q2\n0,1,2\n", "at least"),
        ("q1,q2\n0,1\n", "times"),
        ("t,q1,q2\n" + "inf,1,2\n" * 30, "too many|finite"),
        ("t,q1,q2\n\0,1,2\n", "null"),
    ],
)
def test_what_is_no_log_is_refused_with_its_file(tmp_path, text, words):
    with pytest.raises(DescriptionError, match=words) as caught:
        read_log(csv(tmp_path, (), (), text=text), ARM)
    assert "log.csv" in str(caught.value)


@pytest.mark.parametrize("suffix", ["parquet", "nc", "npz", "csv"])
def test_damaged_files_raise_one_kind_of_error(tmp_path, suffix):
    rng = np.random.default_rng(1)
    path = tmp_path / f"log.{suffix}"
    for size in (0, 3, 200):
        for magic in (b"", b"PAR1", b"CDF\x01", b"CDF\x02", b"\x89HDF\r\n", b"PK\x03\x04"):
            path.write_bytes(magic + rng.bytes(size))
            with pytest.raises(DescriptionError):
                read_log(path, ARM)
    with pytest.raises(DescriptionError, match="does not exist"):
        read_log(tmp_path / f"nothing.{suffix}", ARM)
    with pytest.raises(DescriptionError, match="xlsx"):
        read_log(tmp_path / "log.xlsx", ARM)


def test_pickles_are_not_opened(tmp_path):
    np.savez(tmp_path / "log.npz", t=T, q=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DescriptionError):
        read_log(tmp_path / "log.npz", ARM)


def test_budgets_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(log_tables, "MAX_NUMBERS", 100)
    with pytest.raises(BudgetError, match="at most 100"):
        read_log(csv(tmp_path, ("t", "q1", "q2"), np.column_stack([T, Q])), ARM)
    np.savez(tmp_path / "log.npz", t=np.zeros(10**6))
    with pytest.raises(BudgetError, match="Unpacked"):
        read_log(tmp_path / "log.npz", ARM)


def test_a_part_of_a_log(tmp_path):
    log = read_log({"t": T + 100.0, "q": Q}, ARM)
    early, late = log.split(0.5)
    assert len(early.t) + len(late.t) == len(log.t)
    assert early.t[-1] < late.t[0]
    with pytest.raises(DescriptionError, match="samples"):
        log.part(5.0, 6.0)
    with pytest.raises(DescriptionError, match="share"):
        log.split(1.0)


def test_what_is_no_log_is_refused_in_our_words():
    for source in (None, 3, [1, 2]):
        with pytest.raises(DescriptionError, match="the name of a file or columns by name"):
            read_log(source, ARM)
    with pytest.raises(DescriptionError, match="'q' must be numbers"):
        read_log({"t": T, "q": Q + 1j}, ARM)
    with pytest.raises(DescriptionError, match="on the command line --column q="):
        read_log({"t": T, "angle": T}, ARM)


def test_the_joint_whose_column_is_missing_is_the_one_that_is_named():
    robot = mp.planar([0.5, 0.4, 0.3], [3.0, 2.0, 1.0])
    for names, lost in (("q1 q2", 2), ("q1 q3", 1), ("q2 q3", 0), ("q0 q1", 2), ("q0 q2", 1), ("q_1 q_2", 2)):
        with pytest.raises(DescriptionError, match=f"joint '{robot.joint_names[lost]}' is missing"):
            read_log({"t": T} | dict.fromkeys(names.split(), T), robot)


@pytest.mark.parametrize("repair", [True, False])
def test_what_is_refused_was_not_mended(repair):
    for t in (np.where(np.arange(40) % 2, T - 0.015, T), np.repeat(T[:20], 2)):
        with pytest.raises(DescriptionError, match="too many to be mended") as caught:
            read_log({"t": t, "q": Q}, ARM, repair=repair)
        assert "were" not in str(caught.value)


@pytest.mark.parametrize("cell", ["1_0", "٣", "１", "1_0.5"])
def test_numbers_that_only_python_reads_are_no_numbers(tmp_path, cell):
    rows = "".join(f"{0.001 * k:.3f},{cell if k == 7 else 0.1},0.2,3,4\n" for k in range(40))
    (tmp_path / "log.csv").write_text("t,q1,q2,tau1,tau2\n" + rows, encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"log\.csv:9: Column 'q1' holds something that is no number"):
        mp.read_log(tmp_path / "log.csv", mp.load("planar-2r"))


CELLS = (
    "0.1",
    "-1e-3",
    " 2.5 ",
    "",
    "nan",
    "NA",
    "null",
    "1e400",
    "-inf",
    "3",
    "+4.",
    ".5",
    "0.30000000000000004",
    "1e-320",
)
ODD = ("1_0", "x", "٣", "1,5", "0x10", "1e", "--1", "1 2", '"7"')


@pytest.mark.parametrize("divider", [",", ";", "\t"])
@pytest.mark.parametrize("seed", range(12))
def test_all_cells_at_once_are_what_python_reads_one_by_one(tmp_path, divider, seed):
    rng = np.random.default_rng(seed)
    odd = ODD if seed % 3 == 2 else ()
    rows = [[str(rng.choice(CELLS + odd if k > 8 else CELLS[:3])) for _ in range(3)] for k in range(40)]
    text = "\n".join(divider.join(row) for row in [["t", "q1", "q2"], *rows])
    text = text.replace("\n", "\n# a remark\n", 1) + "\n" * (seed % 2)
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")

    def number(cell: str) -> float | None:
        cell = cell.strip().replace(",", "." if divider == ";" else ",").strip('"')
        try:
            return float(
                "nan" if cell in ("", "NA", "null") else "no number" if "_" in cell or not cell.isascii() else cell
            )
        except ValueError:
            return None

    width = {len(divider.join(row).split(divider)) for row in rows}
    expected = [[number(cell) for cell in row] for row in rows]
    if any(v is None for row in expected for v in row) or width != {3}:
        with pytest.raises(DescriptionError):
            log_tables.read_table(tmp_path / "log.csv")
    else:
        found = log_tables.read_table(tmp_path / "log.csv")
        np.testing.assert_array_equal(np.column_stack(list(found.values())), np.array(expected, float))


def test_the_row_of_another_length_is_named(tmp_path):
    for broken, line in (("0.1,1,2\n0.2,1\n0.3,1,2\n", 3), ("0.1,1,2\n0.2,1,2,3\n", 3), ("0.1,1\n0.2,1\n", 2)):
        (tmp_path / "log.csv").write_text("t,q1,q2\n" + broken)
        with pytest.raises(DescriptionError, match=f":{line}"):
            log_tables.read_table(tmp_path / "log.csv")


def test_texts_have_smaller_budgets_than_numbers(tmp_path, monkeypatch):
    path = csv(tmp_path, ("t", "q1", "q2"), np.column_stack([T, Q]))
    monkeypatch.setattr(log_tables, "MAX_CELLS", 100)
    with pytest.raises(BudgetError, match=r"at most 100 numbers.*Parquet"):
        read_log(path, ARM)
    monkeypatch.setattr(log_tables, "MAX_CELLS", 10**6)
    monkeypatch.setattr(log_tables, "MAX_ODD_CELLS", 100)
    assert len(read_log(path, ARM).t) == len(T)
    path.write_text(path.read_text().replace("\n", "\nNA,NA,NA\n", 2))
    with pytest.raises(BudgetError, match="at most 100 cells"):
        read_log(path, ARM)
