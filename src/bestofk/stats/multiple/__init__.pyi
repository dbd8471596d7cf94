from .binary_tests import (
    CochranResult as CochranResult,
    cochran_q as cochran_q,
)
from .post_hoc import (
    NemenyiResult as NemenyiResult,
    nemenyi as nemenyi,
)
from .rank_tests import (
    FriedmanResult as FriedmanResult,
    KruskalWallisResult as KruskalWallisResult,
    friedman as friedman,
    kruskal_wallis as kruskal_wallis,
)
from .registry import MULTIPLE_TESTS as MULTIPLE_TESTS, MultipleTest as MultipleTest
