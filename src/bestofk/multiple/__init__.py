"""Tests of K learners at once: a table of losses in, one frozen result out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.multiple.block_ranks import FriedmanResult, friedman
    from bestofk.multiple.blocks import RepeatedMeasuresResult, repeated_measures_anova
    from bestofk.multiple.contingency import (
        CochranResult,
        LooneyResult,
        cochran_q,
        looney,
    )
    from bestofk.multiple.critical_difference import NemenyiResult, nemenyi
    from bestofk.multiple.every_pair import PosthocResult, posthoc
    from bestofk.multiple.honest_range import TukeyResult, tukey
    from bestofk.multiple.interval_bootstrap import BootstrapBResult, bootstrap_b
    from bestofk.multiple.letter_display import CompactLetters, compact_letters
    from bestofk.multiple.one_way import AnovaResult, anova
    from bestofk.multiple.rank_sums import KruskalWallisResult, kruskal_wallis
    from bestofk.multiple.registry import MULTIPLE_TESTS, MultipleTest
    from bestofk.multiple.scalar_bootstrap import BootstrapAResult, bootstrap_a
    from bestofk.multiple.stepwise_range import NewmanKeulsResult, RangeWindow, newman_keuls

_HOMES = {
    "AnovaResult": "one_way",
    "BootstrapAResult": "scalar_bootstrap",
    "BootstrapBResult": "interval_bootstrap",
    "CochranResult": "contingency",
    "CompactLetters": "letter_display",
    "FriedmanResult": "block_ranks",
    "KruskalWallisResult": "rank_sums",
    "LooneyResult": "contingency",
    "MULTIPLE_TESTS": "registry",
    "MultipleTest": "registry",
    "NemenyiResult": "critical_difference",
    "NewmanKeulsResult": "stepwise_range",
    "PosthocResult": "every_pair",
    "RangeWindow": "stepwise_range",
    "RepeatedMeasuresResult": "blocks",
    "TukeyResult": "honest_range",
    "anova": "one_way",
    "bootstrap_a": "scalar_bootstrap",
    "bootstrap_b": "interval_bootstrap",
    "cochran_q": "contingency",
    "compact_letters": "letter_display",
    "friedman": "block_ranks",
    "kruskal_wallis": "rank_sums",
    "looney": "contingency",
    "nemenyi": "critical_difference",
    "newman_keuls": "stepwise_range",
    "posthoc": "every_pair",
    "repeated_measures_anova": "blocks",
    "tukey": "honest_range",
}

__all__ = [
    "MULTIPLE_TESTS",
    "AnovaResult",
    "BootstrapAResult",
    "BootstrapBResult",
    "CochranResult",
    "CompactLetters",
    "FriedmanResult",
    "KruskalWallisResult",
    "LooneyResult",
    "MultipleTest",
    "NemenyiResult",
    "NewmanKeulsResult",
    "PosthocResult",
    "RangeWindow",
    "RepeatedMeasuresResult",
    "TukeyResult",
    "anova",
    "bootstrap_a",
    "bootstrap_b",
    "cochran_q",
    "compact_letters",
    "friedman",
    "kruskal_wallis",
    "looney",
    "nemenyi",
    "newman_keuls",
    "posthoc",
    "repeated_measures_anova",
    "tukey",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
