"""A planned test by signed ranks: the sums that the units that are left can still give."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bestofk.checks import Floats


def signed_rank_bounds(differences: Floats, planned: int) -> tuple[float, float]:
    """The smallest and the largest sum of positive ranks over `planned` units.

    Ranks among all units are at least those among the units that are done, of either sign, and
    all of them add up to ``planned (planned + 1) / 2``. Units without a difference leave both
    sums open, as they leave their number.

    Examples
    --------
    >>> import numpy as np
    >>> signed_rank_bounds(np.array([0.3, -0.1, 0.2]), 4)
    (5.0, 9.0)
    """
    total = planned * (planned + 1) / 2.0
    if (differences == 0).any():
        return 0.0, total
    ranks = stats.rankdata(np.abs(differences))
    positive = float(ranks[differences > 0].sum())
    negative = float(ranks[differences < 0].sum())
    return positive, total - negative
