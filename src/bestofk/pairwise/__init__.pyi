from .all_pairs import AllPairs as AllPairs, all_pairs as all_pairs
from .bayesian.correlated_t import correlated_t as correlated_t
from .bayesian.posterior import PosteriorResult as PosteriorResult, Probabilities as Probabilities
from .bayesian.signed_rank_bayes import signed_rank_bayes as signed_rank_bayes
from .clustered.cluster_sign_flip import cluster_sign_flip as cluster_sign_flip
from .clustered.durkalski import durkalski as durkalski
from .clustered.obuchowski import obuchowski as obuchowski
from .clustered.registry import CLUSTERED_TESTS as CLUSTERED_TESTS
from .clustered.yang import yang as yang
from .fewest_units import fewest_units as fewest_units
from .published_df import CalibratedDf as CalibratedDf
from .registry import PAIRWISE_TESTS as PAIRWISE_TESTS, PairwiseTest as PairwiseTest
from .resolution import resolution_of as resolution_of
from .result import Interval as Interval, PairwiseResult as PairwiseResult
from .smallest_pvalue import smallest_pvalue as smallest_pvalue
from .splits.bayle_cv_z import bayle_cv_z as bayle_cv_z
from .splits.conservative_z import conservative_z as conservative_z
from .splits.five_by_two import five_by_two_f as five_by_two_f, five_by_two_t as five_by_two_t
from .splits.half_sampling_t import half_sampling_t as half_sampling_t
from .splits.nested_cv import nested_cv_t as nested_cv_t, nested_cv_z as nested_cv_z
from .splits.pooled_half_sampling_t import pooled_half_sampling_t as pooled_half_sampling_t
from .splits.repeated_kfold_t import repeated_kfold_t as repeated_kfold_t
from .splits.resampled_t import (
    corrected_repeated_kfold_t as corrected_repeated_kfold_t,
    corrected_resampled_t as corrected_resampled_t,
    kfold_t as kfold_t,
    resampled_t as resampled_t,
)
from .splits.study_factor import study_factor as study_factor
from .units.mcnemar import mcnemar as mcnemar
from .units.paired_t import paired_t as paired_t
from .units.permutation import permutation as permutation
from .units.sign import sign as sign
from .units.wilcoxon import wilcoxon as wilcoxon
