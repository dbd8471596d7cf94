from .bayesian import (
    PosteriorResult as PosteriorResult,
    Probabilities as Probabilities,
    correlated_t as correlated_t,
    signed_rank_bayes as signed_rank_bayes,
)
from .calibration import (
    Calibration as Calibration,
    read_calibration as read_calibration,
)
from .clustered import (
    cluster_sign_flip as cluster_sign_flip,
    cluster_t as cluster_t,
)
from .cosine import diebold_mariano as diebold_mariano, ewc_t as ewc_t
from .differences import (
    resolution_of as resolution_of,
    smallest_pvalue as smallest_pvalue,
)
from .entry import PairwiseTest as PairwiseTest
from .five_by_two import five_by_two_f as five_by_two_f, five_by_two_t as five_by_two_t
from .hierarchical import (
    HierarchicalResult as HierarchicalResult,
    hierarchical_bayes as hierarchical_bayes,
)
from .judge_correction import prediction_powered as prediction_powered
from .mcnemar_tests import mcnemar as mcnemar
from .nested_cv import nested_cv_t as nested_cv_t, nested_cv_z as nested_cv_z
from .one_test_set import (
    auc_components as auc_components,
    delong as delong,
    jackknife_components as jackknife_components,
    jackknife_t as jackknife_t,
)
from .paired_tests import (
    paired_t as paired_t,
    sign as sign,
    skew_corrected_t as skew_corrected_t,
)
from .pairs import AllPairs as AllPairs, all_pairs as all_pairs
from .permutation_tests import permutation as permutation
from .registry import (
    CLUSTERED_TESTS as CLUSTERED_TESTS,
    LABELLED_TESTS as LABELLED_TESTS,
    PAIRWISE_TESTS as PAIRWISE_TESTS,
)
from .resampled import (
    bayle_cv_z as bayle_cv_z,
    corrected_repeated_kfold_t as corrected_repeated_kfold_t,
    corrected_resampled_t as corrected_resampled_t,
    kfold_t as kfold_t,
)
from .result import Interval as Interval, PairwiseResult as PairwiseResult
from .signed_ranks import wilcoxon as wilcoxon
from .welch import skew_corrected_welch_t as skew_corrected_welch_t, welch_t as welch_t
