"""What a study is: paths, values, random numbers, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.studies.draws import permuted, unit_numbers
from manipula.studies.paths import all_paths, prepared_for, resolved, value_at, with_value
from studies.arms import base


def test_a_grid_counts_its_runs_with_the_last_list_fastest() -> None:
    study = mp.Study(base(), {"controller.kp": [1.0, 2.0], "controller.kv": [3.0, 4.0, 5.0]})
    values = study.values(0, study.runs)
    assert study.runs == 6
    assert values["controller.kp"].tolist() == [1, 1, 1, 2, 2, 2]
    assert values["controller.kv"].tolist() == [3, 4, 5, 3, 4, 5]


def test_lists_in_step() -> None:
    study = mp.Study(base(), {"controller.kp": [1.0, 2.0], "controller.kv": [3.0, 4.0]}, design="list")
    assert study.runs == 2
    assert study.values(1, 2)["controller.kv"].tolist() == [4.0]
    with pytest.raises(DescriptionError, match="one length"):
        mp.Study(base(), {"controller.kp": [1.0, 2.0], "controller.kv": [3.0]}, design="list")


@pytest.mark.parametrize("design", ["random", "latin_hypercube", "sobol"])
def test_the_numbers_of_a_run_depend_on_the_seed_and_its_number_alone(design: str) -> None:
    vary = {"controller.kp": [1.0, 2.0], "payload.mass": mp.uniform(0, 5), "controller.kv": mp.log_uniform(1, 9)}
    study = mp.Study(base(), vary, samples=40, seed=5, design=design)
    whole = study.values(0, 80)
    order = np.random.default_rng(1).permutation(80)
    for path in vary:
        alone = np.array([study.values(int(k), int(k) + 1)[path][0] for k in order])
        assert np.array_equal(alone, np.asarray(whole[path])[order])
    other = study.replace(seed=6).values(0, 80)
    assert not np.array_equal(other["payload.mass"], whole["payload.mass"])


def test_a_latin_hypercube_has_one_sample_in_every_stratum() -> None:
    for m in (1, 2, 3, 17, 64, 1000):
        u = unit_numbers("latin_hypercube", 3, np.arange(m), m, 3)
        for column in u.T:
            assert sorted((column * m).astype(int)) == list(range(m))


def test_the_keyed_permutation_is_one() -> None:
    for size in (1, 2, 5, 31, 256, 999):
        assert sorted(permuted(i, size, (7, size)) for i in range(size)) == list(range(size))


def test_random_draws_follow_their_distribution() -> None:
    from scipy import stats

    vary = {"payload.mass": mp.normal(2.0, 0.5, low=0.0), "controller.kp": mp.triangular(10, 20, 60)}
    values = mp.Study(base(), vary, samples=4000, seed=11).values(0, 4000)
    cut = stats.truncnorm(-4.0, np.inf, 2.0, 0.5)
    assert stats.kstest(values["payload.mass"], cut.cdf).pvalue > 1e-3
    assert stats.kstest(values["controller.kp"], stats.triang(0.2, 10, 50).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("controller.kp", 7.0),
        ("controller.kp[1]", 7.0),
        ("q0[1]", 0.5),
        ("duration", 0.1),
        ("robot.links[1].mass", 3.0),
        ("payload.mass", 2.0),
        ("gravity[1]", -1.6),
        ("reference.timing.duration", 0.5),
        ("noise.position", 1e-4),
        ("tolerance", 1e-5),
    ],
)
def test_a_path_reaches_its_number(path: str, value: float) -> None:
    ready = prepared_for(base(), [path])
    tokens = resolved(ready, path)
    changed = with_value(ready, tokens, value)
    assert value_at(changed, resolved(changed, path)) == value
    assert value_at(ready, tokens) != value


def test_every_path_that_is_listed_leads_somewhere() -> None:
    scenario = base(friction={"joint1": mp.friction.Viscous(damping=0.1)})
    found = list(all_paths(prepared_for(scenario, ["payload.mass"])))
    assert {"controller.kp", "q0[1]", "payload.mass", "friction[0].damping", "reference.timing.duration"} <= set(found)
    ready = prepared_for(scenario, ["payload.mass"])
    for path in found:
        value_at(ready, resolved(ready, path))


def test_a_path_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'controller\.kp'"):
        mp.Study(base(), {"controller.kpp": [1.0]})
    with pytest.raises(UnknownNameError):
        mp.Study(base(), {"robot.links[7].mass": [1.0]})


@pytest.mark.parametrize(
    ("vary", "more", "match"),
    [
        ({"payload.mass": [-1.0]}, {}, "mass"),
        ({"controller.kp": [float("nan")]}, {}, "finite"),
        ({"controller.kp": []}, {}, "empty"),
        ({"controller.kp": 5.0}, {}, "list of values"),
        ({"controller.kp": ["high"]}, {}, "number"),
        ({"payload.mass": mp.uniform(-1, 1)}, {"samples": 3}, "mass"),
        ({"payload.mass": mp.normal(0, 1)}, {"samples": 50}, "low="),
        ({"payload.mass": mp.uniform(0, 1)}, {}, "samples"),
        ({"payload.mass": mp.uniform(0, 1)}, {"samples": 3, "design": "grid"}, "lists only"),
        ({"controller.kp": [1.0]}, {"samples": 3}, "no distribution"),
        ({"controller.kp": [1.0]}, {"keep": ["tau_maxx"]}, "tau_max"),
        ({"duration": [-1.0]}, {}, "duration"),
        ({"controller": ["pdgravity"]}, {}, "pd_gravity"),
        ({"controller": [80.0]}, {}, "whole part"),
        ({"noise.seed": [1.0]}, {}, "own seed"),
        ({"controller.kp": [1.0]}, {"seed": -1}, "seed"),
        ({}, {}, "Nothing varies"),
        ({"integrator": ["rk4", "heun"]}, {}, r"integrator\[1\]: No integrator named 'heun'"),
        ({"kind": ["dynamic", "kinematic"]}, {}, "as a whole is not varied"),
        ({"payload.mass": mp.uniform(0.9, 1.1, relative=True)}, {"samples": 2}, "is 0 in the base"),
        ({"payload.mass": [0.0, 1.0], "robot.payload.mass": [0.0, 2.0]}, {}, "which varies too"),
        ({"q0": [[0.3, 0.2], [0.3, 0.1]], "q0[1]": [0.1, 0.2]}, {}, r"'q0\[1\]' is, or is part of, 'q0'"),
        ({"controller.kp[0]": [1.0, 2.0], "controller.kp": [10.0, 20.0]}, {}, r"'controller\.kp\[0\]' is part of"),
        ({"controller.kp": [1.0, 2.0]}, {"series_runs": 2}, "keep_series"),
        ({"controller.kp": [1.0, 2.0]}, {"keep_series": ["q", "q"]}, "stands once"),
    ],
)
def test_wrong_studies_are_refused(vary: dict, more: dict, match: str) -> None:
    with pytest.raises(DescriptionError, match=match):
        mp.Study(base(), vary, **more)


def test_a_batch_is_no_base() -> None:
    with pytest.raises(DescriptionError, match="batch"):
        mp.Study(base(vary={"controller.kp": [1.0, 2.0]}), {"controller.kv": [1.0]})


def studies() -> list[mp.Study]:
    tables = [{"law": "pd_gravity", "kp": 50.0, "kv": 9.0}, {"law": "computed_torque", "kp": 50.0, "kv": 9.0}]
    return [
        mp.Study(base(), {"controller.kp": [1.0, 2.0], "payload.mass": mp.normal(1, 0.1, 0.0)}, samples=3, seed=4),
        mp.Study(base(), {"controller": tables, "integrator": ["rk4", "midpoint"]}, keep=("tau_max",)),
        mp.Study(base(), {"q0": [[0.1, 0.2], [0.3, 0.4]], "verify": [True, False]}, keep_series=("q",), series_runs=3),
        mp.Study(base(), {"robot.links[0].mass": mp.uniform(0.9, 1.1, relative=True)}, samples=2, design="sobol"),
    ]


@pytest.mark.parametrize("study", studies(), ids=lambda s: next(iter(s.vary)))
def test_a_study_is_written_and_read_back_equal(study: mp.Study, tmp_path: Path) -> None:
    study.save(tmp_path / "study.toml")
    again = mp.Study.load(tmp_path / "study.toml")
    assert again == study
    assert [list(v) for v in again.values(0, 2).values()] == [list(v) for v in study.values(0, 2).values()]


def test_a_base_stands_beside_the_file(tmp_path: Path) -> None:
    base().save(tmp_path / "run.toml")
    text = '[study]\nbase = "run.toml"\n\n[vary]\ncontroller.kp = [1, 2]\npayload.mass = { uniform = [0, 1] }\n'
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(DescriptionError, match="samples"):
        mp.Study.load(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_text(text.replace('toml"', 'toml"\nsamples = 2'))
    study = mp.Study.load(tmp_path / "study.toml")
    assert study.base == base()
    assert list(study.vary) == ["controller.kp", "payload.mass"]
    (tmp_path / "study.toml").write_text(
        text.replace("controller.kp", "controller.kpp").replace("= { uniform = [0, 1] }", "= [1]")
    )
    with pytest.raises(UnknownNameError, match=r"study\.toml"):
        mp.Study.load(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('samples = "4"\n[vary]\n"payload.mass" = { uniform = [0, 2] }', r"s\.toml:3, study\.samples: .*whole number"),
        (
            'samples = 4\n[vary]\npayload.mass = { uniform = [0, 2] }\n"payload.mass" = [1.0]',
            r"vary\.payload\.mass: .*twice",
        ),
        ('design = "list"\n[vary]\n"q0[0]" = [1, 2]\n"q0[1]" = [1]', r"s\.toml:3, study\.design: .*one length"),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_line(lines: str, told: str, tmp_path: Path) -> None:
    base().save(tmp_path / "run.toml")
    (tmp_path / "s.toml").write_text(f'[study]\nbase = "run.toml"\n{lines}\n')
    with pytest.raises(DescriptionError, match=told):
        mp.Study.load(tmp_path / "s.toml")


def test_a_programmed_motion_has_no_reference_to_vary() -> None:
    scenario = mp.ProgramScenario(mp.load("planar-2r"), constraints=["x = 0.3 + 0.05*t"], q0=[0.3, 1.2])
    with pytest.raises(UnknownNameError, match="reference"):
        mp.Study(scenario, vary={"reference": [mp.formula_motion(["0.1*t", "0", "0"], 1.0)]})
