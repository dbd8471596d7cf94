from . import estimates as estimates
from .analysis_of_variance import (
    VarianceResult as VarianceResult,
    anova as anova,
    looney as looney,
    repeated_measures_anova as repeated_measures_anova,
)
from .bootstrap import BootstrapAResult as BootstrapAResult, bootstrap_a as bootstrap_a
from .interval_bootstrap import (
    BootstrapBResult as BootstrapBResult,
    bootstrap_b as bootstrap_b,
    interval_convergence as interval_convergence,
)
from .range_tests import (
    NewmanKeulsResult as NewmanKeulsResult,
    RangeWindow as RangeWindow,
    TukeyResult as TukeyResult,
    duncan as duncan,
    newman_keuls as newman_keuls,
    tukey as tukey,
)
from .repeated_kfold import repeated_kfold_t as repeated_kfold_t, resampled_t as resampled_t
