"""Arrays that a compiled function cannot take or fill are refused, for one state and for batches."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, ShapeError


@pytest.fixture(scope="module")
def model() -> mp.Model:
    return mp.compile(mp.load("planar-2r"))


@pytest.mark.parametrize("batch", [(), (3,)])
def test_results_need_a_writable_array_of_doubles(model: mp.Model, batch: tuple[int, ...]) -> None:
    q = np.zeros((*batch, 2))
    locked = np.zeros((*batch, 2, 2))
    locked.flags.writeable = False
    for out, words in (
        (np.zeros((*batch, 2, 2), np.float32), "array of float64, found float32"),
        (locked, "can be written to"),
        (np.ma.zeros((*batch, 2, 2)), "plain array"),
    ):
        with pytest.raises(ShapeError, match=words):
            model.mass_matrix(q, out=out)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_masked_arguments_are_refused(model: mp.Model, batch: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="'q' is a masked array"):
        model.mass_matrix(np.ma.array(np.zeros((*batch, 2)), mask=True))


def test_threads_are_counted_from_one_for_a_single_state_too(model: mp.Model) -> None:
    with pytest.raises(DescriptionError, match="The number of threads is -1"):
        model.mass_matrix(np.zeros(2), threads=-1)
