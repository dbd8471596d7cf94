"""Invariants of every registered pairwise test; new entries are covered automatically."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ENTRIES = tuple(PAIRWISE_TESTS.values())
every_test = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
every_test_with_interval = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry.interval],
    ids=lambda entry: entry.name,
)


SUBSETS = {
    "halves": {"runs": 4, "folds": 3, "halvings": 5, "half_folds": 2},  # 12 + 20 losses
    "nested": {"runs": 2, "folds": 4},  # 8 + 24 losses
}


def trailing(entry):
    if entry.covers == ("5x2",):
        return (5, 2)
    if entry.subsets and not entry.pooled:
        return (32,)
    if entry.axes == 2:
        return (4, 3)  # runs differ from folds
    return (40,) if entry.zero_one else (11,)


def arguments(entry):
    given = dict(entry.arguments)
    if entry.needs_sizes:
        given |= {"n_train": 70, "n_test": 13}
    if entry.pooled:
        given |= {"factor": 1.7}
    elif entry.subsets:
        given |= SUBSETS[entry.subsets]
    if entry.random:
        given |= {"random_state": 3}
    if entry.name == "signed-rank-bayes":
        given |= {"samples": 4_000}  # enough for the invariants
    return given


def losses(entry, seed=0, lead=(), shift=0.0):
    rng = np.random.default_rng(seed)
    shape = (*lead, *trailing(entry))
    if entry.zero_one:
        return (rng.random(shape) < 0.3 + shift).astype(float)
    return rng.normal(0.3 + shift, 0.05, shape)


def call(entry, a, b, alternative="two-sided", **more):
    return entry.load()(a, b, alternative=alternative, **arguments(entry), **more)


def one_sided(entry):
    return [word for word in ("greater", "less") if word in entry.sides]


@every_test
def test_a_learner_never_beats_itself(entry):
    a = losses(entry)
    for alternative in entry.sides:
        result = call(entry, a, a.copy(), alternative)
        assert result.pvalue == 1.0
        assert result.statistic == 0.0
        assert result.estimate == 0.0
        assert "cart and nb have the same mean loss" in result.explain(names=("cart", "nb"))


@every_test
def test_rounding_error_is_no_difference(entry):
    if entry.zero_one:
        pytest.skip("zero-one losses carry no rounding error")
    b = np.full(trailing(entry), 0.3)
    for alternative in entry.sides:
        result = call(entry, b * 0 + 0.1 + 0.2, b, alternative)  # 0.30000000000000004
        assert (result.pvalue, result.statistic) == (1.0, 0.0)


@every_test
@pytest.mark.parametrize("seed", range(4))
def test_swapping_swaps(entry, seed):
    a, b = losses(entry, seed, shift=0.03), losses(entry, seed + 50)
    mirror = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    for alternative in entry.sides:
        ab, ba = call(entry, a, b, alternative), call(entry, b, a, mirror[alternative])
        assert ab.pvalue == pytest.approx(ba.pvalue, rel=1e-10)
        assert ab.estimate == pytest.approx(-ba.estimate, rel=1e-10)
        if entry.discrete and not entry.bayesian:
            continue  # counts and rank sums have no sign
        # an F has no sign; its side is that of the means
        flipped = ba.statistic if isinstance(ab.df, tuple) else -ba.statistic
        assert ab.statistic == pytest.approx(flipped, rel=1e-9, abs=1e-12)
        if ab.direction is not None:
            assert np.sign(ab.direction) == -np.sign(ba.direction)
        if entry.bayesian:
            assert (ab.left, ab.rope) == pytest.approx((ba.right, ba.rope), rel=1e-10)


@every_test
@pytest.mark.parametrize("seed", range(4))
def test_sides_fit_together(entry, seed):
    a, b = losses(entry, seed, shift=0.02), losses(entry, seed + 50)
    if not one_sided(entry):
        pytest.skip("two-sided only")
    both = call(entry, a, b).pvalue
    greater, less = (call(entry, a, b, word).pvalue for word in ("greater", "less"))
    if entry.discrete:
        assert greater + less >= 1.0 - 1e-12
    else:
        assert greater + less == pytest.approx(1.0, abs=1e-12)
        assert both == pytest.approx(min(1.0, 2 * min(greater, less)), rel=1e-10)
    assert min(both, greater, less) >= 0.0
    assert max(both, greater, less) <= 1.0


@every_test
def test_the_greater_loss_is_found(entry):
    a, b = losses(entry, 1, shift=0.5), losses(entry, 2)
    if not one_sided(entry):
        assert call(entry, a, b).pvalue < 0.05
        return
    assert call(entry, a, b, "greater").pvalue < 0.15 < 0.8 < call(entry, a, b, "less").pvalue
    assert call(entry, a, b).estimate > 0


@every_test
@pytest.mark.parametrize("seed", range(3))
def test_the_unit_of_the_loss_does_not_matter(entry, seed):
    if entry.zero_one:
        pytest.skip("zero-one losses have no unit")
    # losses in hundredths have ties among their differences
    a, b = (np.round(losses(entry, s, shift=0.01), 2) for s in (seed, seed + 50))
    for alternative in entry.sides:
        plain = call(entry, a, b, alternative)
        other = call(entry, 1000 * a + 7, 1000 * b + 7, alternative)
        assert other.pvalue == pytest.approx(plain.pvalue, rel=1e-8)
        assert other.estimate == pytest.approx(1000 * plain.estimate, rel=1e-8, abs=1e-9)
        if not entry.discrete:
            assert other.statistic == pytest.approx(plain.statistic, rel=1e-8)


@every_test
def test_inputs_are_never_written(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    before = a.copy(), b.copy()
    a.flags.writeable = b.flags.writeable = False
    result = call(entry, a, b)
    result.explain()
    if result.interval_rule is not None or result.standard_error is not None:
        result.confidence_interval(0.9)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@every_test
def test_broadcasting_equals_a_loop(entry):
    a, b = losses(entry, 0, lead=(3, 1)), losses(entry, 1, lead=(2,))
    a[2, 0] = b[1]  # a degenerate pair among others
    for alternative in entry.sides:
        many = call(entry, a, b, alternative)
        assert np.shape(many.pvalue) == (3, 2)
        assert many.explain(names=("cart", "nb"))
        for i in range(3):
            for j in range(2):
                one = call(entry, a[i, 0], b[j], alternative)
                for field in ("statistic", "pvalue", "estimate"):
                    got, want = getattr(many, field)[i, j], getattr(one, field)
                    assert got == pytest.approx(want, rel=1e-12, abs=1e-15), (field, i, j)


@every_test_with_interval
def test_intervals_broadcast_too(entry):
    a, b = losses(entry, 0, lead=(3, 1)), losses(entry, 1, lead=(2,))
    interval = call(entry, a, b).confidence_interval(0.9)
    one = call(entry, a[1, 0], b[1]).confidence_interval(0.9)
    assert interval.low[1, 1] == pytest.approx(one.low, rel=1e-9)
    assert interval.high[1, 1] == pytest.approx(one.high, rel=1e-9)
    assert isinstance(one.low, float)
    assert isinstance(one.high, float)
    assert one.low <= one.high


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


@every_test
def test_scalars_are_python_floats(entry):
    result = call(entry, losses(entry, 0), losses(entry, 1))
    for field in ("statistic", "pvalue", "estimate"):
        assert type(getattr(result, field)) is float


@every_test
def test_refuses_what_is_no_loss(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    broken = a.copy()
    broken.flat[1] = np.nan
    for bad_a, bad_b in (
        (broken, b),
        (b, broken),
        (a[..., :-1], b),
        (np.full_like(a, np.inf), b),
        (0.3, 0.2),
        ("losses", b),
    ):
        with pytest.raises(ArgumentError):
            call(entry, bad_a, bad_b)
    for word in ("bigger", None, "Greater"):
        with pytest.raises(ArgumentError, match="alternative"):
            call(entry, a, b, word)


@every_test
def test_refuses_leading_axes_that_do_not_fit(entry):
    with pytest.raises(ArgumentError, match="broadcast"):
        call(entry, losses(entry, 0, lead=(3,)), losses(entry, 1, lead=(2,)))


@every_test
@pytest.mark.parametrize("seed", range(3))
def test_explanations_name_the_better_learner(entry, seed):
    a, b = losses(entry, seed, shift=0.1), losses(entry, seed + 50)
    for first, second in ((a, b), (b, a)):
        for alternative in entry.sides:
            result = call(entry, first, second, alternative)
            better, worse = ("cart", "nb") if result.estimate < 0 else ("nb", "cart")
            text = result.explain(names=("cart", "nb"))
            assert f"{better} has a smaller mean loss than {worse}" in text
            assert "nan" not in text


@every_test
def test_refuses_a_side_it_does_not_have(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    for word in {"two-sided", "greater", "less"} - set(entry.sides):
        with pytest.raises(ArgumentError, match="alternative"):
            call(entry, a, b, word)


@every_test
def test_the_name_of_the_result_is_the_name_in_the_registry(entry):
    assert call(entry, losses(entry, 0), losses(entry, 1)).test == entry.name


@every_test
def test_takes_df_is_said_rightly(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    if entry.takes_df:
        assert call(entry, a, b, df=3.5).df == 3.5
        for bad in (0, -1, "many", np.nan):
            with pytest.raises(ArgumentError, match="df must be"):
                call(entry, a, b, df=bad)
    else:
        with pytest.raises(TypeError):
            call(entry, a, b, df=3.5)


@every_test
def test_takes_test_share_is_said_rightly(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    if entry.takes_test_share:
        assert call(entry, a, b, test_share=0.5).pvalue > call(entry, a, b, test_share=0.1).pvalue
        for bad in (0, -1, "many", np.nan):
            with pytest.raises(ArgumentError, match="test_share"):
                call(entry, a, b, test_share=bad)
    else:
        with pytest.raises(TypeError):
            call(entry, a, b, test_share=0.5)


@every_test
def test_takes_resolution_is_said_rightly(entry):
    a, b = losses(entry, 0), losses(entry, 1)
    if entry.takes_resolution:
        plain = call(entry, a, b)
        for none in (None, 0, 0.0, 1e-9):  # far below the spread of these losses
            assert call(entry, a, b, resolution=none).pvalue == plain.pvalue
        for bad in (-1, "fine", np.nan, np.inf):
            with pytest.raises(ArgumentError, match="resolution"):
                call(entry, a, b, resolution=bad)
    else:
        with pytest.raises(TypeError):
            call(entry, a, b, resolution=0.1)


every_test_with_resolution = pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.takes_resolution], ids=lambda entry: entry.name
)


@every_test_with_resolution
def test_resolution_keeps_the_invariants(entry):
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
        for unit in (1000.0, 2.0**-400, 2.0**400):
            other = call(entry, unit * a, unit * b, word, resolution=unit * 0.1)
            np.testing.assert_allclose(other.pvalue, result.pvalue, rtol=1e-7)
        # pairs at once are pairs one by one
        for i in (0, 1, 2):
            assert call(entry, a[i], b[i], word, resolution=0.1).pvalue == pytest.approx(
                result.pvalue[i], rel=1e-11
            )
        assert np.isfinite(result.statistic).all()


@every_test_with_resolution
def test_intervals_with_resolution_agree_with_the_pvalue(entry):
    rng = np.random.default_rng(8)
    shape = (400, *trailing(entry))
    a, b = rng.integers(2, 5, shape) / 10, rng.integers(1, 4, shape) / 10
    a[:40] = b[:40] + rng.integers(-2, 3, (40, *(1,) * len(trailing(entry)))) / 10
    result = call(entry, a, b, resolution=0.1)
    low, high = result.confidence_interval(0.9)
    decided = np.abs(result.pvalue - 0.1) > 1e-9
    inside = (low <= 1e-12) & (high >= -1e-12)
    assert (inside == (result.pvalue > 0.1))[decided].all()


@every_test_with_resolution
def test_no_spread_is_no_certainty_where_the_resolution_is_known(entry):
    if entry.axes == 2 and entry.covers != ("5x2",):
        b = np.full((2, 3), 0.1)
    else:
        b = np.full((5, 2) if entry.axes == 2 else 3, 0.1)
    result = call(entry, b + 0.8, b, resolution=0.1)
    assert 1e-300 < result.pvalue < 0.1
    low, high = result.confidence_interval(0.95)
    assert low < 0.8 < high


@every_test
def test_a_constant_difference_is_settled(entry):
    if entry.zero_one:
        pytest.skip("zero-one losses cannot differ by a constant other than 1")
    b = losses(entry, 4)
    result = call(entry, b + 0.1, b)
    assert not np.isnan(result.statistic)
    assert 0.0 <= result.pvalue < 1.0
    assert result.estimate == pytest.approx(0.1)
    if not (entry.discrete or entry.takes_resolution):
        assert result.pvalue == 0.0
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
    assert set(entry.covers) >= {one.situation for one in entry.automatic}
