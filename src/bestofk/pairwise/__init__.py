"""Tests of two learners: arrays of losses in, one frozen result out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.pairwise.attainable import fewest_units, smallest_pvalue
    from bestofk.pairwise.bayle import bayle_cv_z
    from bestofk.pairwise.calibrated_df import CalibratedDf
    from bestofk.pairwise.conservative import conservative_z
    from bestofk.pairwise.correlated import correlated_t
    from bestofk.pairwise.disagreement import mcnemar
    from bestofk.pairwise.five_by_two import five_by_two_f, five_by_two_t
    from bestofk.pairwise.half_sampling import half_sampling_t
    from bestofk.pairwise.nested_cv import nested_cv_t, nested_cv_z
    from bestofk.pairwise.paired_t import paired_t
    from bestofk.pairwise.pairs import AllPairs, all_pairs
    from bestofk.pairwise.permuted import permutation
    from bestofk.pairwise.pooled_half_sampling import pooled_half_sampling_t, study_factor
    from bestofk.pairwise.posterior import PosteriorResult, Probabilities
    from bestofk.pairwise.ranks import wilcoxon
    from bestofk.pairwise.registry import PAIRWISE_TESTS, PairwiseTest
    from bestofk.pairwise.repeated_kfold import repeated_kfold_t
    from bestofk.pairwise.resampled import (
        corrected_repeated_kfold_t,
        corrected_resampled_t,
        kfold_t,
        resampled_t,
    )
    from bestofk.pairwise.resolution import resolution_of
    from bestofk.pairwise.result import Interval, PairwiseResult
    from bestofk.pairwise.signed_rank import signed_rank_bayes
    from bestofk.pairwise.signs import sign

_HOMES = {
    "AllPairs": "pairs",
    "CalibratedDf": "calibrated_df",
    "Interval": "result",
    "PAIRWISE_TESTS": "registry",
    "PairwiseResult": "result",
    "PairwiseTest": "registry",
    "PosteriorResult": "posterior",
    "Probabilities": "posterior",
    "all_pairs": "pairs",
    "bayle_cv_z": "bayle",
    "conservative_z": "conservative",
    "correlated_t": "correlated",
    "corrected_repeated_kfold_t": "resampled",
    "corrected_resampled_t": "resampled",
    "fewest_units": "attainable",
    "five_by_two_f": "five_by_two",
    "five_by_two_t": "five_by_two",
    "half_sampling_t": "half_sampling",
    "kfold_t": "resampled",
    "mcnemar": "disagreement",
    "nested_cv_t": "nested_cv",
    "nested_cv_z": "nested_cv",
    "paired_t": "paired_t",
    "permutation": "permuted",
    "pooled_half_sampling_t": "pooled_half_sampling",
    "repeated_kfold_t": "repeated_kfold",
    "resampled_t": "resampled",
    "resolution_of": "resolution",
    "sign": "signs",
    "signed_rank_bayes": "signed_rank",
    "smallest_pvalue": "attainable",
    "study_factor": "pooled_half_sampling",
    "wilcoxon": "ranks",
}

__all__ = [
    "PAIRWISE_TESTS",
    "AllPairs",
    "CalibratedDf",
    "Interval",
    "PairwiseResult",
    "PairwiseTest",
    "PosteriorResult",
    "Probabilities",
    "all_pairs",
    "bayle_cv_z",
    "conservative_z",
    "corrected_repeated_kfold_t",
    "corrected_resampled_t",
    "correlated_t",
    "fewest_units",
    "five_by_two_f",
    "five_by_two_t",
    "half_sampling_t",
    "kfold_t",
    "mcnemar",
    "nested_cv_t",
    "nested_cv_z",
    "paired_t",
    "permutation",
    "pooled_half_sampling_t",
    "repeated_kfold_t",
    "resampled_t",
    "resolution_of",
    "sign",
    "signed_rank_bayes",
    "smallest_pvalue",
    "study_factor",
    "wilcoxon",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
