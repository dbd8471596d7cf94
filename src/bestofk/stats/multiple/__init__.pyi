from .analysis_of_variance import (
    AnovaResult as AnovaResult,
    RepeatedMeasuresResult as RepeatedMeasuresResult,
    anova as anova,
    repeated_measures_anova as repeated_measures_anova,
)
from .binary_tests import (
    CochranResult as CochranResult,
    LooneyResult as LooneyResult,
    cochran_q as cochran_q,
    looney as looney,
)
from .bootstrap import BootstrapAResult as BootstrapAResult, bootstrap_a as bootstrap_a
from .interval_bootstrap import (
    BootstrapBResult as BootstrapBResult,
    bootstrap_b as bootstrap_b,
    interval_convergence as interval_convergence,
)
from .post_hoc import (
    CompactLetters as CompactLetters,
    NemenyiResult as NemenyiResult,
    PosthocResult as PosthocResult,
    compact_letters as compact_letters,
    nemenyi as nemenyi,
    posthoc as posthoc,
)
from .range_tests import (
    NewmanKeulsResult as NewmanKeulsResult,
    RangeWindow as RangeWindow,
    TukeyResult as TukeyResult,
    duncan as duncan,
    newman_keuls as newman_keuls,
    tukey as tukey,
)
from .rank_tests import (
    FriedmanResult as FriedmanResult,
    KruskalWallisResult as KruskalWallisResult,
    friedman as friedman,
    kruskal_wallis as kruskal_wallis,
)
from .registry import MULTIPLE_TESTS as MULTIPLE_TESTS, MultipleTest as MultipleTest
