"""Values in a real IPython: what it asks them for, what it shows, and bars that move."""

from __future__ import annotations

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import manipula as mp
from manipula.reports.notebook import SHOWN


@pytest.fixture(scope="module")
def shell():
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.history_manager.enabled = False
    made.run_cell("import manipula as mp", silent=True)
    yield made
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


def shown(shell, cell: str) -> dict[str, str]:
    """What the last line of a cell shows, by its forms."""
    with capture_output() as caught:
        done = shell.run_cell(cell)
    assert done.success, done.error_in_exec or done.error_before_exec
    return shell.display_formatter.format(done.result)[0] if done.result is not None else caught.outputs[-1].data


CELLS = {
    "Robot": "mp.load('planar-2r')",
    "Result": "mp.simulate(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.1, sample=0.01))",
    "Equations": "mp.equations(mp.load('planar-2r'))",
    "Diagnosis": "mp.doctor(mp.load('planar-2r'))",
    "LimitVerdict": "mp.simulate(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.1, limits={'velocity': 3.0})).feasibility",
    "Feasibility": "mp.feasibility(mp.simulate(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.1)), {'velocity': 3.0})",
    "IkResult": "mp.solve_ik(mp.load('planar-2r'), [0.5, 0.3, 0.0], q0=[0.3, 0.4], rows=('x', 'y'))",
    "Study": "mp.Study(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.05), vary={'q0[0]': [0.1, 0.2]}, name='starts')",
}


@pytest.mark.parametrize("kind", CELLS)
def test_every_value_shows_itself(shell, kind):
    forms = shown(shell, CELLS[kind])
    assert forms["text/html"].lstrip().startswith("<")
    assert "text/plain" in forms
    assert "object at 0x" not in forms["text/plain"]


def test_results_of_a_study_show_themselves(shell, tmp_path):
    pytest.importorskip("pyarrow", reason="studies are an extra")
    forms = shown(shell, f"mp.sweep({CELLS['Study']}, {str(tmp_path / 'starts')!r})")
    assert "2 of 2 runs made" in forms["text/html"]
    assert "q0[0]" in forms["text/html"]


def test_no_kind_is_forgotten():
    assert {kind.__name__ for kind in SHOWN} == {*CELLS, "StudyResults"}


def test_a_bar_is_one_output_that_ends_full(shell):
    cell = """
with mp.progress_bar() as bar:
    mp.simulate(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.1))
"""
    with capture_output() as caught:
        assert shell.run_cell(cell).success
    last = caught.outputs[-1].data
    assert "<progress" in last["text/html"]
    assert 'value="1.0000"' in last["text/html"]
    assert "done 100 %" in last["text/plain"]


def test_a_bar_of_work_that_failed_is_not_full(shell):
    cell = """
with mp.progress_bar():
    mp.simulate(mp.Scenario(mp.load('planar-2r'), q0=[0.3, 0.2], duration=0.1)).tip[9999]
"""
    with capture_output() as caught:
        assert not shell.run_cell(cell).success
    last = caught.outputs[-1].data
    assert "ended early" in last["text/plain"]
    assert "done" not in last["text/plain"]


def test_a_bar_of_a_study_counts_its_runs(shell, tmp_path):
    pytest.importorskip("pyarrow", reason="studies are an extra")
    with capture_output() as caught:
        made = f"mp.sweep({CELLS['Study']}, {str(tmp_path / 'starts')!r}, progress=mp.progress_bar());"
        assert shell.run_cell(made).success
    assert any("2 of 2 runs" in o.data.get("text/html", "") for o in caught.outputs)


def test_without_a_notebook_or_a_terminal_nothing_is_written(capsys):
    InteractiveShell.clear_instance()
    with mp.progress_bar() as bar:
        mp.simulate(mp.Scenario(mp.load("planar-2r"), q0=[0.3, 0.2], duration=0.05))
    assert bar.words.startswith("done 100 %")
    assert capsys.readouterr() == ("", "")
