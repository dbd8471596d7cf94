"""The engine under the tests: blocks, units, rounding error."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
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


def test_messages_name_the_argument_and_the_shape():
    with pytest.raises(
        ArgumentError, match=r"b must have the trailing axes \(runs, folds\) = \(4, 3\); got .*3, 4"
    ):
        paired_losses(np.zeros((4, 3)), np.zeros((3, 4)), axes=2)
    with pytest.raises(ArgumentError, match=r"leading axes that broadcast.*\(2, 5\) and \(3, 5\)"):
        paired_losses(np.zeros((2, 5)), np.zeros((3, 5)), axes=1)
    with pytest.raises(ArgumentError, match=r"b must have the trailing axes \(n,\) = \(5,\)"):
        paired_losses(np.zeros(5), np.zeros(4), axes=1)
    with pytest.raises(ArgumentError, match="the largest is 1e-160: give them in another unit"):
        pairwise.wilcoxon([1e-160, 0.0], [0.0, 0.0])
    with pytest.raises(ArgumentError, match="at least one loss"):
        paired_losses(np.zeros((2, 0)), np.zeros((2, 0)), axes=1)
    with pytest.raises(ArgumentError, match="an array of numbers"):
        pairwise.corrected_repeated_kfold_t([[0.1, 0.2], [0.3]], [[0.1, 0.2], [0.3]])
