"""The data of the study come back from their seeds: tables, images and filters."""

import numpy as np
import pytest

from studies.boosting import data, images


def test_generated_table_comes_back_and_grows():
    task, again = data.generated(1_000, 3, 500), data.generated(1_000, 3, 500)
    assert all(np.array_equal(a, b) for a, b in zip(task[1:], again[1:], strict=True))
    longer, other = data.generated(50_500, 3, 500), data.generated(1_000, 4, 500)
    assert np.array_equal(longer.train[:1_000], task.train)
    assert np.array_equal(longer.test, task.test)
    assert not np.array_equal(other.train, task.train)
    assert not np.array_equal(task.train[:500], task.test)
    assert task.train.dtype == np.float32
    assert 0.2 < task.labels.mean() < 0.8


def test_images_come_back_and_test_images_show_other_digits():
    one, labels = images.images(300, 2)
    again, _ = images.images(2_100, 2)
    assert np.array_equal(again[:300], one)
    other, _ = images.images(300, 2, held_out=True)
    assert not np.array_equal(one, other)
    assert set(labels) == {0, 1}


@pytest.mark.slow
def test_filters_on_some_rows_and_by_matrix_products_agree_with_a_plain_sum():

    some, _ = images.images(20, 0)
    filters = images.random_filters(3, np.random.default_rng(0))
    every = images.all_responses(some, filters)
    assert filters.sum(axis=(1, 2)) == pytest.approx(0.0, abs=1e-5)
    for which, weights in enumerate(filters):
        rows = np.array([7, 0, 19])
        found = np.empty(3, dtype=np.float32)
        images.responses(some, rows, weights, found)
        for row, value in zip(rows, found, strict=True):
            places = range(images.PLACES)
            plain = max(
                float((some[row, a : a + images.FILTER, b : b + images.FILTER] * weights).sum())
                for a in places
                for b in places
            )
            assert value == pytest.approx(plain, abs=1e-4)
            assert every[row, which] == pytest.approx(plain, abs=1e-4)
    assert images.all_responses(some, filters, limit=0.0) is None
