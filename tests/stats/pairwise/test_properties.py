"""Properties that all pairwise tests and their intervals share."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, PAIRWISE_TESTS
from bestofk.testing import check_pairwise_test
from bestofk.testing.plugin_checks import losses_of, options_of

ENTRIES = tuple(PAIRWISE_TESTS.values())


def discrete(entry):
    """Return whether the statistic has atoms: one-sided p-values add up to more than 1."""
    drawn = entry.bayesian and entry.takes("random_state")
    return entry.smallest_pvalue is not None or drawn


every_test = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
every_test_of_any_loss = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if not entry.zero_one],
    ids=lambda entry: entry.name,
)
every_test_with_interval = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry.interval],
    ids=lambda entry: entry.name,
)


FEWER = {"signed-rank-bayes": {"samples": 4_000}, "hierarchical-bayes": {"samples": 300}}
"""Draws of tests that draw; enough for these properties."""


def trailing(entry):
    return losses_of(entry, 0).shape


def losses(entry, seed=0, lead=(), shift=0.0):
    return losses_of(entry, seed, shift=shift, lead=lead)


def arguments(entry):
    return options_of(entry) | FEWER.get(entry.name, {})


def call(entry, a, b, alternative="two-sided", **more):
    return entry.load()(a, b, alternative=alternative, **(arguments(entry) | more))


def one_sided(entry):
    return [word for word in ("greater", "less") if word in entry.sides]


@pytest.mark.filterwarnings("ignore:hierarchical-bayes")  # few draws
@every_test
def test_every_entry_passes_the_checks_for_plugins(entry):
    check_pairwise_test(entry.name, **FEWER.get(entry.name, {}))


@every_test_with_interval
def test_intervals_broadcast_too(entry):
    a, b = losses(entry, 0, lead=(3, 1)), losses(entry, 1, lead=(2,))
    interval = call(entry, a, b).confidence_interval(0.9)
    single = call(entry, a[1, 0], b[1]).confidence_interval(0.9)
    assert interval.low[1, 1] == pytest.approx(single.low, rel=1e-9)
    assert interval.high[1, 1] == pytest.approx(single.high, rel=1e-9)
    assert isinstance(single.low, float)
    assert isinstance(single.high, float)
    assert single.low <= single.high


@every_test_with_interval
def test_intervals_follow_the_alternative_and_the_level(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    wide, narrow = (call(entry, a, b).confidence_interval(level) for level in (0.9, 0.6))
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    for alternative in one_sided(entry):
        low, high = call(entry, a, b, alternative).confidence_interval(0.8)
        assert (high == np.inf) == (alternative == "greater")
        assert (low == -np.inf) == (alternative == "less")
    for level in (0, 1, 95, "high"):
        with pytest.raises(ArgumentError, match="level must be"):
            call(entry, a, b).confidence_interval(level)


def every_test_that_takes(argument):
    entries = [entry for entry in ENTRIES if entry.takes(argument)]
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


@every_test_that_takes("df")
def test_degrees_of_freedom(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    assert call(entry, a, b, df=3.5).df == 3.5
    for bad in (0, -1, "many", np.nan):
        with pytest.raises(ArgumentError, match="df must be"):
            call(entry, a, b, df=bad)


@every_test_that_takes("test_share")
def test_shares_of_test_rows(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    assert call(entry, a, b, test_share=0.5).pvalue > call(entry, a, b, test_share=0.1).pvalue
    for bad in (0, -1, "many", np.nan):
        with pytest.raises(ArgumentError, match="test_share"):
            call(entry, a, b, test_share=bad)


every_test_with_resolution = every_test_that_takes("resolution")


@every_test_with_resolution
def test_resolution_below_the_spread_changes_nothing(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    plain = call(entry, a, b)
    for none in (None, 0, 0.0, 1e-9):  # far below the spread of these losses
        # numpy adds the same numbers in another order if they start elsewhere in memory
        pvalue = call(entry, a, b, resolution=none).pvalue
        assert pvalue == pytest.approx(plain.pvalue, rel=1e-14)
    for bad in (-1, "fine", np.nan, np.inf):
        with pytest.raises(ArgumentError, match="resolution"):
            call(entry, a, b, resolution=bad)


@every_test_with_resolution
def test_resolution_keeps_the_laws(entry):
    rng = np.random.default_rng(8)
    mirror = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    shape = (60, *trailing(entry))
    a, b = (rng.integers(2, 5, shape) / 10 for _ in range(2))
    a[0] = b[0]
    a[1] = b[1] + 0.1
    for word in entry.sides:
        result = call(entry, a, b, word, resolution=0.1)
        # a learner never beats itself
        assert (result.pvalue[0], result.statistic[0]) == (1.0, 0.0)
        # swapping swaps
        swapped = call(entry, b, a, mirror[word], resolution=0.1)
        np.testing.assert_allclose(swapped.pvalue, result.pvalue, rtol=1e-9)
        # the unit of the loss does not matter, nor does a huge one
        for unit in (1000.0, 2.0**-90, 2.0**90):
            other = call(entry, unit * a, unit * b, word, resolution=unit * 0.1)
            np.testing.assert_allclose(other.pvalue, result.pvalue, rtol=1e-7)
        # pairs at once are pairs one by one
        for i in (0, 1, 2):
            assert call(entry, a[i], b[i], word, resolution=0.1).pvalue == pytest.approx(
                result.pvalue[i], rel=1e-11
            )
        assert np.isfinite(result.statistic).all()


CLUSTERS = np.repeat(np.arange(8), 3)


def agreeing_cases():
    """Yield entries with the arguments of which their p-values and intervals depend."""
    for entry in (*ENTRIES, *CLUSTERED_TESTS.values()):
        if not entry.interval or entry.bayesian:
            continue
        yield entry, {"clusters": CLUSTERS} if entry.name in CLUSTERED_TESTS else {}
        if entry.takes("resolution"):
            yield entry, {"resolution": 0.1}
        if entry.widened:
            yield entry, {"allowance": 15.0} if entry.name == "ewc-t" else {"widened": 1.3}
        if entry.name == "mcnemar":
            yield from ((entry, {"exact": exact}) for exact in (False, True))
        if entry.name == "wilcoxon":
            yield from ((entry, {"zeros": zeros}) for zeros in ("pratt", "split"))


def paired_samples(shape, *, zero_one):
    """Yield losses of many pairs: smooth, skewed, coarse, tied, and without any spread."""
    rng = np.random.default_rng(5)
    if zero_one:
        for rate in (0.05, 0.3, 0.5):
            yield rng.random(shape) < rate + 0.15, rng.random(shape) < rate
        return
    shift = rng.normal(size=(shape[0], *(1,) * (len(shape) - 1)))
    yield rng.normal(size=shape) + shift, rng.normal(size=shape)
    yield rng.lognormal(size=shape) + shift - 1.6, np.zeros(shape)
    yield rng.integers(2, 6, shape) / 10, rng.integers(1, 5, shape) / 10
    yield (
        np.where(rng.random(shape) < 0.7, 0.2, rng.integers(0, 4, shape) / 10),
        np.full(shape, 0.2),
    )
    base = rng.random(shape)
    yield base + np.where(shift > 0, 0.1, -0.1), base
    one_differs = base.copy()
    one_differs[..., 0] += rng.normal(size=shape[:-1])
    yield one_differs, base


@pytest.mark.parametrize(
    ("entry", "more"),
    [pytest.param(*case, id=f"{case[0].name} {list(case[1])}") for case in agreeing_cases()],
)
def test_interval_excludes_zero_exactly_if_the_pvalue_rejects(entry, more):
    """A verdict by the p-value and one by the interval must never contradict each other."""
    clustered = entry.name in CLUSTERED_TESTS
    fixed = entry.axes > 1 or entry.nested or clustered
    least = max(entry.at_least_units, 2)
    # each interval of the permutation test is a search
    pairs = 3 if entry.name == "permutation" else 60
    sizes = (least, 5, 20) if entry.name == "permutation" else (least, 5, 8, 20, 120)
    for n in (None,) if fixed else sizes:
        shape = CLUSTERS.shape if clustered else trailing(entry) if fixed else (n,)
        options = {} if clustered else arguments(entry)
        for a, b in paired_samples((pairs, *shape), zero_one=entry.zero_one):
            for alternative in entry.sides:
                result = entry.load()(a, b, alternative=alternative, **(options | more))
                p = np.asarray(result.pvalue)
                for level in (0.8, 0.95, 0.9958):
                    low, high = (np.asarray(end) for end in result.confidence_interval(level))
                    assert (low <= high).all()
                    outside, rejected = (low > 0) | (high < 0), p <= 1 - level
                    # rounding decides if p is 1 - level
                    assert ((outside == rejected) | (np.abs(p - 1 + level) < 1e-9)).all()


@every_test_with_resolution
def test_resolution_gives_constant_differences_a_pvalue_above_zero(entry):
    if entry.axes == 2 and entry.covers != ("5x2",):
        b = np.full((2, 3), 0.1)
    else:
        b = np.full((5, 2) if entry.axes == 2 else 3, 0.1)
    result = call(entry, b + 0.8, b, resolution=0.1)
    assert 1e-300 < result.pvalue < 0.1
    low, high = result.confidence_interval(0.95)
    assert low < 0.8 < high


@every_test_of_any_loss
def test_a_constant_difference_is_settled(entry):
    b = losses(entry, 4)
    result = call(entry, b + 0.1, b)
    assert not np.isnan(result.statistic)
    assert 0.0 <= result.pvalue < 1.0
    assert result.estimate == pytest.approx(0.1)
    # rows of one test set that all agree count as in the sign test
    of_rows = entry.covers[0].startswith("test-set-")
    if not (discrete(entry) or entry.takes("resolution") or of_rows):
        # eleven equal differences in order of time show only that their signs agree
        assert result.pvalue == (2 / 2**11 if entry.covers == ("time",) else 0.0)
        assert result.statistic == np.inf


@every_test
def test_registry_entry_is_complete(entry):
    assert entry.covers
    assert entry.summary
    assert entry.paper
    assert entry.load().__doc__.strip()
    assert set(entry.sides) <= {"two-sided", "greater", "less"}
    assert entry.assumptions
    assert entry.called
    assert entry.citations
    assert set(entry.covers) >= set(entry.automatic)
