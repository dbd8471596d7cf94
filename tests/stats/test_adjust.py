"""Corrections for multiple testing against published examples and brute force."""

from functools import partial
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bestofk._base.errors import ArgumentError
from bestofk.stats.adjust import CORRECTIONS, MAX_LEARNERS, adjust, max_true_counts
from bestofk.stats.pairwise import kfold_t

bonferroni, holm, shaffer, bergmann_hommel, hochberg, benjamini_hochberg, benjamini_yekutieli = (
    partial(adjust, method=name) for name in CORRECTIONS if name != "none"
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
def test_stepwise_corrections_are_monotone_and_ignore_order(name, p, seed):
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


@pytest.mark.parametrize("name", STEPWISE)
def test_leading_axes_are_separate_families(name):
    p = np.random.default_rng(3).random((2, 3, 7))
    together = adjust(p, name)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[index], adjust(p[index], name))


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


ELEMENTS = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1e-300, 0.001, 0.01, 0.01, 0.02, 0.05, 0.5, 1.0])
)


def families(K):
    return hnp.arrays(np.float64, comb(K, 2), elements=ELEMENTS)


def groups_of(K, equal):
    """Learners joined by the pairs in `equal`, as a label for each."""
    label = list(range(K))
    for i, j in equal:
        old, new = label[j], label[i]
        label = [new if k == old else k for k in label]
    return label


def full_closure(p, K):
    """The closed test over all 2^m - 1 intersections of hypotheses.

    An intersection says what its transitive hull says; the hull is tested by Bonferroni. The
    adjusted p-value of a hypothesis is the largest p-value of an intersection that holds it.
    """
    pairs = list(combinations(range(K), 2))
    m = len(pairs)
    adjusted = np.zeros(m)
    for subset in range(1, 2**m):
        chosen = [k for k in range(m) if subset >> k & 1]
        label = groups_of(K, [pairs[k] for k in chosen])
        hull = [k for k, (i, j) in enumerate(pairs) if label[i] == label[j]]
        level = min(1.0, len(hull) * min(p[k] for k in hull))
        for k in chosen:
            adjusted[k] = max(adjusted[k], level)
    return adjusted


def divisions(K):
    """All divisions of K learners into groups, as labels."""
    labels = [[0]]
    for _ in range(1, K):
        labels = [[*label, new] for label in labels for new in range(max(label) + 2)]
    return labels


def over_divisions(p, K):
    pairs = list(combinations(range(K), 2))
    adjusted = np.zeros(len(pairs))
    for label in divisions(K):
        true = [k for k, (i, j) in enumerate(pairs) if label[i] == label[j]]
        if true:
            level = min(1.0, len(true) * min(p[k] for k in true))
            adjusted[true] = np.maximum(adjusted[true], level)
    return adjusted


@pytest.mark.parametrize("K", [3, 4])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_bergmann_hommel_is_the_full_closure(K, data):
    p = data.draw(families(K))
    np.testing.assert_allclose(bergmann_hommel(p, pairs=K), full_closure(p, K), rtol=1e-14)


@pytest.mark.parametrize("K", [2, 5, 6])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_bergmann_hommel_over_all_divisions(K, data):
    p = data.draw(families(K))
    np.testing.assert_allclose(bergmann_hommel(p, pairs=K), over_divisions(p, K), rtol=1e-14)


def test_how_many_can_be_true():
    # Shaffer 1986: the recursion S(k) = union over j of {j (j - 1) / 2 + x : x in S(k - j)};
    # Garcia and Herrera 2008 give S(5) = {0, 1, 2, 3, 4, 6, 10}.
    numbers = {0: {0}}
    for K in range(1, 41):
        numbers[K] = {comb(j, 2) + x for j in range(1, K + 1) for x in numbers[K - j]}
    assert numbers[5] == {0, 1, 2, 3, 4, 6, 10}
    for K in range(2, 41):
        m = comb(K, 2)
        largest = [max(s for s in numbers[K] if s <= m - i) for i in range(m)]
        assert max_true_counts(K).tolist() == largest


# Accuracy of C4.5, 1-NN, naive Bayes, Kernel and CN2 on 30 data sets: Garcia and Herrera 2008,
# Table 1, as distributed with the R package scmamp (data.gh.2008).
ACCURACY = np.array([
    (0.219, 0.202, 0.249, 0.165, 0.261), (0.803, 0.750, 0.813, 0.692, 0.798),
    (0.859, 0.814, 0.845, 0.542, 0.816), (0.809, 0.774, 0.673, 0.275, 0.785),
    (0.768, 0.790, 0.727, 0.872, 0.706), (0.759, 0.654, 0.734, 0.703, 0.714),
    (0.693, 0.611, 0.572, 0.689, 0.572), (0.544, 0.531, 0.558, 0.439, 0.541),
    (0.945, 0.954, 0.978, 0.541, 0.858), (0.725, 0.705, 0.739, 0.625, 0.717),
    (0.674, 0.736, 0.721, 0.356, 0.704), (0.801, 0.357, 0.520, 0.309, 0.520),
    (0.785, 0.770, 0.841, 0.659, 0.759), (0.710, 0.402, 0.728, 0.120, 0.674),
    (0.691, 0.827, 0.667, 0.527, 0.638), (0.743, 0.739, 0.830, 0.549, 0.746),
    (0.990, 0.482, 0.941, 0.857, 0.990), (0.867, 0.098, 0.915, 0.986, 0.784),
    (0.821, 0.872, 0.815, 0.885, 0.778), (0.893, 0.824, 0.902, 0.739, 0.885),
    (0.799, 0.655, 0.925, 0.517, 0.755), (0.845, 0.731, 0.693, 0.653, 0.704),
    (0.741, 0.701, 0.591, 0.663, 0.619), (0.799, 0.994, 0.603, 0.269, 0.621),
    (0.949, 0.955, 0.989, 0.770, 0.954), (0.555, 0.505, 0.569, 0.312, 0.556),
    (0.928, 0.928, 0.945, 0.419, 0.897), (0.915, 0.857, 0.860, 0.700, 0.777),
    (0.855, 0.796, 0.857, 0.607, 0.809), (0.906, 0.359, 0.895, 0.641, 0.918),
])  # fmt: skip


def test_friedman_ranks_of_the_published_example():
    # Average ranks and two-sided p-values as printed by scmamp 0.2.55 (rankMatrix and
    # friedmanPost of data.gh.2008) in the pages of its manual.
    ranks = np.mean([stats.rankdata(-row) for row in ACCURACY], axis=0)
    np.testing.assert_allclose(ranks, [2.1, 3.25, 2.2, 4.333333, 3.116667], atol=5e-7)
    i, j = np.triu_indices(5, 1)
    p = 2 * stats.norm.sf(np.abs(ranks[i] - ranks[j]) / np.sqrt(5 * 6 / (6 * 30)))
    printed = [
        0.004848763, 0.8064959, 4.486991e-08, 0.012763008,
        0.01011233, 0.007963489, 0.743971478,
        1.736118e-07, 0.024744672,
        0.002880485,
    ]  # fmt: skip
    np.testing.assert_allclose(p, printed, rtol=1e-6)
    # The steps of Shaffer's procedure by hand: factors 10, 6, 6, 6, 6, 4, 4, 3, 2, 1.
    expected = {
        (0, 3): 4.486991e-07, (2, 3): 6 * 1.736118e-07, (3, 4): 6 * 0.002880485,
        (0, 1): 6 * 0.004848763, (1, 3): 6 * 0.007963489, (1, 2): 6 * 0.007963489,
        (0, 4): 4 * 0.012763008, (2, 4): 3 * 0.024744672, (1, 4): 1.0, (0, 2): 1.0,
    }  # fmt: skip
    adjusted = dict(zip(combinations(range(5), 2), shaffer(p, pairs=5), strict=True))
    assert adjusted == pytest.approx(expected, rel=1e-6)
    # Exhaustive sets by hand. {3=4} lies in {3=4, 0=2} (2 p), with a third group {0=1=2} (4 of
    # them, smallest p that of 3=4), or in sets with 0=3 or 2=3, which are far smaller.
    assert bergmann_hommel(p, pairs=5)[9] == pytest.approx(4 * 0.002880485, rel=1e-6)


# scmamp 0.2.55, vignette "Statistical assessment of the differences": p-values of Friedman's
# aligned ranks for the same data, and what adjustShaffer and adjustBergmannHommel make of them.
ALIGNED = [
    0.001174850, 0.3341698, 2.843421e-10, 0.01845167,
    0.022657106, 0.002197407, 0.374277740,
    9.226472e-08, 0.1643229,
    7.793722e-05,
]  # fmt: skip
SHAFFER = [
    0.007049103, 0.6683396, 2.843421e-09, 0.0738066768,
    0.090628422, 0.013184443, 0.6683396134,
    5.535883e-07, 0.4929687992,
    4.676233e-04,
]  # fmt: skip
BERGMANN_HOMMEL = [
    0.007049103, 0.6683396, 2.843421e-09, 0.0553550076,
    0.067971317, 0.008789629, 0.6683396134,
    5.535883e-07, 0.1643229331,
    3.117489e-04,
]  # fmt: skip


def test_as_printed_by_scmamp():
    np.testing.assert_allclose(shaffer(ALIGNED, pairs=5), SHAFFER, rtol=1e-6)
    np.testing.assert_allclose(bergmann_hommel(ALIGNED, pairs=5), BERGMANN_HOMMEL, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3, 4, 5, 7])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_each_is_at_least_as_powerful_as_the_next(K, data):
    p = data.draw(families(K))
    chain = [p, bergmann_hommel(p, pairs=K), shaffer(p, pairs=K), holm(p), bonferroni(p)]
    for smaller, larger in pairwise(chain):
        assert (smaller <= larger).all()


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
@settings(max_examples=30, deadline=None)
@given(data=st.data(), K=st.integers(2, 6))
def test_a_larger_pvalue_makes_none_smaller(name, data, K):
    p, q = data.draw(families(K)), data.draw(families(K))
    before, after = (adjust(x, name, pairs=K) for x in (p, np.maximum(p, q)))
    assert (before <= after).all()
    assert (before >= p).all()
    assert (after <= 1.0).all()


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
@settings(max_examples=30, deadline=None)
@given(data=st.data(), K=st.integers(2, 6), seed=st.integers(0, 99))
def test_corrections_of_all_pairs_ignore_the_order_of_learners(name, data, K, seed):
    p = data.draw(families(K))
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(K, 1))
    adjusted = adjust(p, name, pairs=pairs)
    np.testing.assert_array_equal(adjusted, adjust(p, name, pairs=K))
    new_names = rng.permutation(3 * K)[:K]
    shuffle = rng.permutation(len(p))
    turned = np.where(rng.random(len(p)) < 0.5, pairs.T, pairs.T[::-1]).T
    again = adjust(p[shuffle], name, pairs=new_names[turned][shuffle])
    np.testing.assert_array_equal(again, adjusted[shuffle])


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
def test_leading_axes_of_all_pairs_are_separate_families(name):
    p = np.random.default_rng(3).random((2, 3, 10)) ** 3
    before = p.copy()
    pairs = np.column_stack(np.triu_indices(5, 1))[::-1]
    together = adjust(p, name, pairs=pairs)
    np.testing.assert_array_equal(p, before)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[index], adjust(p[index], name, pairs=pairs))
    assert adjust(np.empty((0, 10)), name, pairs=5).shape == (0, 10)


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
def test_refuses_what_is_not_all_pairs(name):
    against_a_control = [(0, 1), (0, 2), (0, 3)]
    for p, pairs, message in (
        ([0.1, 0.2, 0.3], None, "pairs must be given"),
        ([0.1, 0.2, 0.3], against_a_control, "must be all pairs"),
        ([0.1, 0.2, 0.3], 4, "which is 6 for 4 learners; got 3 p-values"),
        ([0.1], 1, "must be all pairs"),
        ([0.1, 0.2, 0.3], -1, "must be all pairs"),
        ([0.1, 0.2, 0.3], [(0, 1), (1, 0), (1, 2)], "each pair of the 3 learners once"),
        ([0.1, 0.2, 0.3], [(0, 1), (2, 2), (1, 2)], "each pair of the 3 learners once"),
        ([0.1, 0.2, 0.3], [(0, 1), (0, 2)], "shape"),
        ([0.1, 0.2, 0.3], 3.0, "number of learners"),
        ([0.1, 0.2, 0.3], "abc", "number of learners"),
    ):
        with pytest.raises(ArgumentError, match="pairs must") as caught:
            adjust(p, name, pairs=pairs)
        assert message in str(caught.value)


def test_many_learners():
    p = np.random.default_rng(0).random(comb(MAX_LEARNERS, 2)) ** 2
    few = bergmann_hommel(p, pairs=MAX_LEARNERS)
    assert (few <= shaffer(p, pairs=MAX_LEARNERS)).all()
    with pytest.raises(ArgumentError, match="'shaffer' and 'holm' work for any number"):
        bergmann_hommel(np.ones(comb(MAX_LEARNERS + 1, 2)), pairs=MAX_LEARNERS + 1)
    many = np.random.default_rng(1).random(comb(1000, 2))
    max_true_counts.cache_clear()
    adjusted = shaffer(many, pairs=1000)
    assert adjusted.min() == many.min() * many.size
    assert (adjusted <= holm(many)).all()


TABLES, K, DATA_SETS, ALPHA = 1500, 5, 12, 0.05
FAMILY_WISE = [
    name for name, entry in CORRECTIONS.items() if entry.guarantee.startswith("the chance")
]
MEANS = {
    "all equal": (0, 0, 0, 0, 0),
    "one apart, far": (0, 0, 0, 0, 3),
    "two groups, far": (0, 0, 0, 3, 3),
    "two groups, near": (0, 0, 0, 0.7, 0.7),
    "three groups": (0, 0, 1, 1, 3),
    "steps, tiny": (0, 0.01, 0.02, 0.03, 0.04),
    "near twins": (0, 0.01, 1, 1.01, 3),
}


@pytest.fixture(scope="module", params=MEANS)
def tables(request):
    """P-values of all pairs, and where a claim would be wrong."""
    mu = np.array(MEANS[request.param], dtype=float)
    rng = np.random.default_rng(list(MEANS).index(request.param))
    losses = mu[:, None] + rng.normal(size=(TABLES, K, DATA_SETS))
    i, j = np.triu_indices(K, 1)
    result = kfold_t(losses[:, i], losses[:, j])
    return result.pvalue, np.sign(result.estimate) != np.sign(mu[i] - mu[j]), request.param


@pytest.mark.parametrize("name", FAMILY_WISE)
def test_any_wrong_claim(tables, name):
    p, wrong, scenario = tables
    claims = adjust(p, name, pairs=K) <= ALPHA
    errors = int((claims & wrong).any(axis=1).sum())
    # no evidence at 1 in 10,000 against a rate of at most alpha
    assert stats.binom.sf(errors - 1, TABLES, ALPHA) > 1e-4
    if scenario == "all equal":
        assert stats.binom.cdf(errors, TABLES, 0.03) > 1e-4


@pytest.mark.parametrize("share", [0.0, 0.001, 0.4, 0.9, 1.0])
def test_holm_of_large_families_by_its_definition(share):
    rng = np.random.default_rng(3)
    m = 12_000
    p = np.where(rng.random(m) < share, rng.random(m) * 3 / m, rng.random(m))
    p[:5] = p[5]
    order = np.argsort(p, kind="stable")
    expected = np.empty(m)
    expected[order] = np.minimum(np.maximum.accumulate((m - np.arange(m)) * p[order]), 1.0)
    np.testing.assert_array_equal(holm(p), expected)
    np.testing.assert_array_equal(holm(p[np.newaxis]), expected[np.newaxis])
    assert holm([]).shape == (0,)
