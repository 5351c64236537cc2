"""What the verbs of a study are not given as they ask for it is refused before the first run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import manipula as mp

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
BASE = mp.Scenario(ROD, q0=[0.3], duration=0.2, sample=0.1, controller=mp.control.PD(10.0, 1.0, goal=[0.0]))
STUDY = mp.Study(BASE, {"controller.kp": mp.uniform(5.0, 50.0)}, samples=3)


@pytest.mark.parametrize(("name", "value"), [("resume", "no"), ("resume", 0), ("progress", 3), ("progress", lambda: None)])  # fmt: skip
def test_a_sweep(name: str, value: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"engine": "serial", name: value}
    with pytest.raises(mp.DescriptionError) as refused:
        mp.sweep(STUDY, tmp_path / "study", **options)
    assert refused.value.field == name
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("value", [3, "loud", lambda: None])
def test_a_tuning(value: Any) -> None:
    with pytest.raises(mp.DescriptionError) as refused:
        mp.tune(STUDY, "tau_max", evaluations=12, progress=value)
    assert refused.value.field == "progress"
