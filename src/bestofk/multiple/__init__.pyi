from .anova import AnovaResult as AnovaResult, anova as anova
from .bootstrap_a import BootstrapAResult as BootstrapAResult, bootstrap_a as bootstrap_a
from .bootstrap_b import BootstrapBResult as BootstrapBResult, bootstrap_b as bootstrap_b
from .cochran_q import CochranResult as CochranResult, cochran_q as cochran_q
from .compact_letters import CompactLetters as CompactLetters, compact_letters as compact_letters
from .friedman import FriedmanResult as FriedmanResult, friedman as friedman
from .kruskal_wallis import (
    KruskalWallisResult as KruskalWallisResult,
    kruskal_wallis as kruskal_wallis,
)
from .looney import LooneyResult as LooneyResult, looney as looney
from .nemenyi import NemenyiResult as NemenyiResult, nemenyi as nemenyi
from .newman_keuls import (
    NewmanKeulsResult as NewmanKeulsResult,
    RangeWindow as RangeWindow,
    newman_keuls as newman_keuls,
)
from .posthoc import PosthocResult as PosthocResult, posthoc as posthoc
from .registry import MULTIPLE_TESTS as MULTIPLE_TESTS, MultipleTest as MultipleTest
from .repeated_measures_anova import (
    RepeatedMeasuresResult as RepeatedMeasuresResult,
    repeated_measures_anova as repeated_measures_anova,
)
from .tukey import TukeyResult as TukeyResult, tukey as tukey
