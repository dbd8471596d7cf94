"""Expected values: published figures of a study of 29 psychiatrists, and plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.pairwise import cluster_sign_flip
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS

# 135 patients of 29 psychiatrists (Petryshen, in Eliasziw and Donner 1991), as in the data set
# psychiatry of the R package clust.bin.pair: pairs that both, only the patient, only the
# psychiatrist or neither answered with yes.
SIZES = [7, 6, 7, 6, 4, 6, 5, 8, 4, 7, 3, 6, 7, 6, 5, 4, 6, 5, 4, 3, 5, 4, 4, 2, 3, 2, 2, 3, 1]
BOTH = [1, 1, 3, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 1, 2, 1, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0]
PATIENT = [0, 1, 1, 1, 0, 3, 3, 3, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0]
DOCTOR = [4, 2, 3, 2, 1, 3, 0, 2, 2, 4, 2, 4, 3, 2, 1, 3, 1, 2, 0, 0, 0, 2, 1, 2, 2, 0, 0, 1, 1]
EVERY = pytest.mark.parametrize("name", ["obuchowski", "durkalski", "yang"])


def psychiatry():
    a, b, who = [], [], []
    for k, (n, both, first, second) in enumerate(
        zip(SIZES, BOTH, PATIENT, DOCTOR, strict=True)
    ):  # fmt: skip
        neither = n - both - first - second
        a += [1] * both + [1] * first + [0] * second + [0] * neither
        b += [1] * both + [0] * first + [1] * second + [0] * neither
        who += [k] * n
    return np.array(a, dtype=float), np.array(b, dtype=float), np.array(who)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        # 7.19 and 7.542: Durkalski et al. 2003; 8.43: Yang et al. 2010
        ("obuchowski", "7.19"),
        ("durkalski", "7.542"),
        ("yang", "8.43"),
    ],
)
def test_published_figures(name, published):
    a, b, who = psychiatry()
    assert len(a) == 135
    found = CLUSTERED_TESTS[name].load()(a, b, clusters=who)
    places = len(published.partition(".")[2])
    assert f"{found.statistic:.{places}f}" == published
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, 1))
    assert found.estimate == pytest.approx((sum(PATIENT) - sum(DOCTOR)) / 135)


def test_the_sign_flip_is_obuchowskis_test_made_exact():
    """Its z^2 is (sum D)^2 / sum D^2: Obuchowski's without (C - 1) / C; p-values are near."""
    a, b, who = psychiatry()
    d = np.array(PATIENT) - np.array(DOCTOR)
    found = CLUSTERED_TESTS["obuchowski"].load()(a, b, clusters=who)
    assert found.statistic * 29 / 28 == pytest.approx(d.sum() ** 2 / (d**2).sum())
    exact = cluster_sign_flip(a, b, clusters=who)
    near = stats.chi2.sf(found.statistic * 29 / 28, 1)
    assert 0.8 * near < exact.pvalue < 1.25 * near


@EVERY
def test_swapping_and_sides(name):
    rng = np.random.default_rng(1)
    test = CLUSTERED_TESTS[name].load()
    a, b = rng.random((2, 30))
    who = rng.integers(0, 9, 30)
    ab, ba = test(a, b, clusters=who), test(b, a, clusters=who)
    assert (ab.pvalue, ab.estimate) == (pytest.approx(ba.pvalue), pytest.approx(-ba.estimate))
    sides = [test(a, b, clusters=who, alternative=word).pvalue for word in ("greater", "less")]
    assert sum(sides) == pytest.approx(1.0)
    assert ab.pvalue == pytest.approx(2 * min(sides))
    assert ab.pvalue == pytest.approx(test(a * 1e-180, b * 1e-180, clusters=who).pvalue)


@EVERY
def test_no_difference_and_one_cluster_say_nothing(name):
    test = CLUSTERED_TESTS[name].load()
    same = test([0.1 + 0.2, 1, 0], [0.3, 1, 0])
    assert (same.statistic, same.pvalue, same.estimate) == (0.0, 1.0, 0.0)
    one = test([1, 1], [0, 0], clusters=[4, 4])
    assert (one.statistic, one.pvalue, one.estimate) == (0.0, 1.0, 1.0)


def test_single_instances_are_mcnemars_statistic():
    """Without clusters sum D^2 counts the disagreements: (n10 - n01)^2 / (n10 + n01)."""
    a, b = np.array([1] * 9 + [0] * 31), np.array([0] * 9 + [1] * 3 + [0] * 28)
    found = CLUSTERED_TESTS["durkalski"].load()(a, b)
    assert found.statistic == pytest.approx(36 / 12)
