"""Adjusted p-values against statsmodels and calculations by hand, and their invariants."""

import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bestofk._base.errors import ArgumentError
from bestofk.stats.adjust import (
    CORRECTIONS,
    adjust,
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    hochberg,
    holm,
    none,
)

STATSMODELS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "benjamini-hochberg": "fdr_bh",
    "benjamini-yekutieli": "fdr_by",
}
STEPWISE = [name for name, entry in CORRECTIONS.items() if not entry.needs_all_pairs]
FAMILIES = hnp.arrays(
    np.float64,
    st.integers(1, 12),
    elements=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 0.01, 0.01, 0.05, 0.5, 1.0])),
)


@pytest.mark.parametrize(("ours", "theirs"), STATSMODELS.items())
@settings(max_examples=50, deadline=None)
@given(p=FAMILIES)
def test_equals_statsmodels(ours, theirs, p):
    with np.errstate(all="ignore"):
        expected = multipletests(p, method=theirs)[1]
    np.testing.assert_allclose(adjust(p, ours), expected, rtol=1e-12, atol=1e-320)


def test_holm_is_step_down_not_one_threshold():
    # By hand, m = 4: 0.012 * 4 = 0.048; 0.016 * 3 = 0.048; 0.02 * 2 = 0.04 -> 0.048 (monotone);
    # 0.3. One threshold alpha / m = 0.0125 would reject only the first.
    p = [0.3, 0.012, 0.02, 0.016]
    np.testing.assert_allclose(holm(p), [0.3, 0.048, 0.048, 0.048], rtol=1e-12)
    assert (holm(p) <= 0.05).sum() == 3
    assert (bonferroni(p) <= 0.05).sum() == 1


def test_holm_keeps_all_after_the_first_kept():
    # 0.01 * 3 rejected, 0.03 * 2 = 0.06 kept, so 0.04 * 1 is kept although 0.04 < 0.05.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03]), [0.06, 0.03, 0.06], rtol=1e-12)
    np.testing.assert_allclose(hochberg([0.04, 0.01, 0.03]), [0.04, 0.03, 0.04], rtol=1e-12)


def test_benjamini_hochberg_printed_example():
    # Benjamini and Hochberg 1995, section 3.3: of these 15 the FDR at 0.05 rejects four,
    # Bonferroni three (Hochberg's procedure too).
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
        0.4262, 0.5719, 0.6528, 0.7590, 1.0,
    ]  # fmt: skip
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4
    assert (bonferroni(p) <= 0.05).sum() == 3
    assert (hochberg(p) <= 0.05).sum() == 3


@pytest.mark.parametrize("name", STEPWISE)
@settings(max_examples=40, deadline=None)
@given(p=FAMILIES, seed=st.integers(0, 99))
def test_invariants(name, p, seed):
    before = p.copy()
    adjusted = adjust(p, name)
    assert np.array_equal(p, before)
    assert ((adjusted >= p) & (adjusted <= 1.0)).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    shuffle = np.random.default_rng(seed).permutation(len(p))
    np.testing.assert_array_equal(adjust(p[shuffle], name), adjusted[shuffle])
    if name != "benjamini-yekutieli":  # whose factor for the smallest is m (1 + 1/2 + ... + 1/m)
        assert (adjusted <= bonferroni(p)).all()
    assert (hochberg(p) <= holm(p)).all()


@settings(max_examples=50, deadline=None)
@given(p=FAMILIES)
def test_benjamini_yekutieli_is_benjamini_hochberg_times_the_harmonic_sum(p):
    harmonic = sum(1 / i for i in range(1, len(p) + 1))
    # of at most 12 p-values below 1/40 none reaches 1, where it would be cut
    small = p / 40
    np.testing.assert_allclose(
        benjamini_yekutieli(small), benjamini_hochberg(small) * harmonic, rtol=1e-12, atol=1e-320
    )


@pytest.mark.parametrize("name", STEPWISE)
def test_leading_axes_are_families_of_their_own(name):
    p = np.random.default_rng(3).random((2, 3, 7))
    together = adjust(p, name)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[index], adjust(p[index], name))


def test_one_pvalue_stays():
    for name in STEPWISE:
        assert adjust([0.2], name).tolist() == [0.2]


def test_none_gives_a_copy():
    p = np.array([0.1, 0.2])
    q = none(p)
    q[0] = 0.9
    assert p[0] == 0.1


@pytest.mark.parametrize("bad", [[0.1, np.nan], [0.1, 1.2], [-0.1], "x", 0.5])
def test_refuses(bad):
    for name in CORRECTIONS:
        with pytest.raises(ArgumentError, match="pvalues must"):
            adjust(bad, name, pairs=2)


def test_refuses_an_unknown_correction():
    with pytest.raises(ArgumentError, match="correction must be one of"):
        adjust([0.1], "sidak")


def test_the_published_steps_of_holm_and_hochberg():
    # Demsar 2006, section 3.2.2: C4.5 (average rank 3.143) against C4.5+m+cf (1.964), C4.5+m
    # (2.000) and C4.5+cf (2.893) on 14 data sets, z = 2.416, 2.342, 0.512 with standard error
    # 0.488 and p = 0.016, 0.019, 0.607. Holm and Hochberg reject two at 0.05. Bonferroni and
    # Dunn's critical difference of 1.16 separates only the first (1.179, against 1.143).
    z = (3.143 - np.array([1.964, 2.000, 2.893])) / np.sqrt(4 * 5 / (6 * 14))
    p = 2 * stats.norm.sf(z)
    np.testing.assert_allclose(z, [2.416, 2.342, 0.512], atol=5e-4)
    np.testing.assert_allclose(p, [0.016, 0.019, 0.607], atol=2.5e-3)
    assert (holm(p) <= 0.05).tolist() == [True, True, False]
    assert (hochberg(p) <= 0.05).tolist() == [True, True, False]
    assert (bonferroni(p) <= 0.05).tolist() == [True, False, False]


def test_four_and_a_half_million():
    p = np.random.default_rng(0).random(4_498_500)
    start = time.process_time()
    adjusted = holm(p)
    assert time.process_time() - start < 8.0
    assert adjusted.min() == p.min() * p.size
