"""Adjusted p-values for a family of tests.

Every function takes p-values whose last axis is the family and broadcasts over the leading
axes. An adjusted p-value is the smallest level for the whole family at which that hypothesis
is rejected, so that ``adjusted <= alpha`` is the verdict.

==============  ==================================================================
``stepwise``    corrections of any family: they see the p-values and nothing else
``all_pairs``   corrections of all pairs of K learners: equality of a and b and of b
                and c is equality of a and c, so that fewer hypotheses can be true
``registry``    what each of them promises, and `adjust`, which finds one by name
==============  ==================================================================
"""

from __future__ import annotations

from bestofk.adjust.all_pairs import MOST_LEARNERS, bergmann_hommel, shaffer
from bestofk.adjust.registry import CORRECTIONS, Correction, adjust
from bestofk.adjust.stepwise import (
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    hochberg,
    holm,
    none,
)

__all__ = [
    "CORRECTIONS",
    "MOST_LEARNERS",
    "Correction",
    "adjust",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bergmann_hommel",
    "bonferroni",
    "hochberg",
    "holm",
    "none",
    "shaffer",
]
