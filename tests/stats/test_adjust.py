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
@given(p=FAMILIES)
def test_equals_statsmodels(ours, theirs, p):
    with np.errstate(all="ignore"):
        expected = multipletests(p, method=theirs)[1]
    np.testing.assert_allclose(adjust(p, ours), expected, rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("name", STEPWISE)
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


@pytest.mark.parametrize("K", [3, 4])
@given(data=st.data())
def test_bergmann_hommel_is_the_full_closure(K, data):
    p = data.draw(families(K))
    np.testing.assert_allclose(bergmann_hommel(p, pairs=K), full_closure(p, K), rtol=1e-14)


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
@settings(max_examples=30)
@given(data=st.data())
def test_each_is_at_least_as_powerful_as_the_next(K, data):
    p = data.draw(families(K))
    chain = [p, bergmann_hommel(p, pairs=K), shaffer(p, pairs=K), holm(p), bonferroni(p)]
    for smaller, larger in pairwise(chain):
        assert (smaller <= larger).all()


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
@settings(max_examples=30)
@given(data=st.data(), K=st.integers(2, 6))
def test_a_larger_pvalue_makes_none_smaller(name, data, K):
    p, q = data.draw(families(K)), data.draw(families(K))
    before, after = (adjust(x, name, pairs=K) for x in (p, np.maximum(p, q)))
    assert (before <= after).all()
    assert (before >= p).all()
    assert (after <= 1.0).all()


@pytest.mark.parametrize("name", ["shaffer", "bergmann-hommel"])
@settings(max_examples=30)
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
