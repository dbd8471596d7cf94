"""The engine under the tests: blocks, units, rounding error."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats import repeated_kfold_t
from bestofk.stats import pairwise
from bestofk.stats.pairwise.differences import (
    NUMBERS_PER_BLOCK,
    blocks_of,
    paired_losses,
)


def test_blocks_cover_every_pair_once():
    for shape in ((), (7,), (3, 50_000), (NUMBERS_PER_BLOCK * 2 + 5,), (1, 9), (40_000, 3)):
        seen = np.zeros(shape, dtype=int)
        for block in blocks_of(shape, per_pair=10):
            seen[block] += 1
            assert seen[block].size * 10 <= max(
                NUMBERS_PER_BLOCK, 10 * seen.size // max(shape, default=1)
            )
        assert (seen == 1).all()


@pytest.mark.parametrize("scale", [1e-290, 1e-160, 1e-99, 1e99, 1e160, 1e300])
def test_extreme_units(scale):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 0.05, (5, 2)), rng.normal(0.28, 0.05, (5, 2))
    for function in (
        pairwise.five_by_two_t,
        pairwise.five_by_two_f,
        repeated_kfold_t,
        partial(repeated_kfold_t, variant="folds-averaged-t"),
        pairwise.corrected_repeated_kfold_t,
    ):
        plain, other = function(a, b), function(a * scale, b * scale)
        assert other.statistic == pytest.approx(plain.statistic, rel=1e-9)
        assert other.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
        assert other.estimate / scale == pytest.approx(plain.estimate, rel=1e-9)
        for end, scaled in zip(
            plain.confidence_interval(), other.confidence_interval(), strict=True
        ):
            assert scaled / scale == pytest.approx(end, rel=1e-9)
    a, b = a.ravel(), b.ravel()
    for function, options in (
        (pairwise.sign, {}),
        (pairwise.wilcoxon, {}),
        (pairwise.correlated_t, {"rho": 0.1}),
        (pairwise.signed_rank_bayes, {"random_state": 0, "samples": 100}),
    ):
        rope = {"rope": 0.01} if "rope" in function.__kwdefaults__ else {}
        wide = {"rope": 0.01 * scale} if rope else {}
        plain = function(a, b, **options, **rope)
        other = function(a * scale, b * scale, **options, **wide)
        assert other.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
        assert other.statistic == pytest.approx(plain.statistic, rel=1e-9)
        assert other.estimate / scale == pytest.approx(plain.estimate, rel=1e-9)
        if function is not pairwise.signed_rank_bayes:
            for end, scaled in zip(
                plain.confidence_interval(0.8), other.confidence_interval(0.8), strict=True
            ):
                assert scaled / scale == pytest.approx(end, rel=1e-9)


def test_messages_name_the_argument_and_the_shape():
    with pytest.raises(
        ArgumentError, match=r"b must have the trailing axes \(runs, folds\) = \(4, 3\); got .*3, 4"
    ):
        paired_losses(np.zeros((4, 3)), np.zeros((3, 4)), axes=2)
    with pytest.raises(ArgumentError, match=r"leading axes that broadcast.*\(2, 5\) and \(3, 5\)"):
        paired_losses(np.zeros((2, 5)), np.zeros((3, 5)), axes=1)
    with pytest.raises(ArgumentError, match=r"b must have the trailing axes \(n,\) = \(5,\)"):
        paired_losses(np.zeros(5), np.zeros(4), axes=1)
    with pytest.raises(ArgumentError, match="at least one loss"):
        paired_losses(np.zeros((2, 0)), np.zeros((2, 0)), axes=1)
    with pytest.raises(ArgumentError, match="an array of numbers"):
        pairwise.corrected_repeated_kfold_t([[0.1, 0.2], [0.3]], [[0.1, 0.2], [0.3]])
