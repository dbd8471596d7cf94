from .by_scores import select_by_scores as select_by_scores
from .interval_table import order_intervals as order_intervals
from .procedures.anova_choice import (
    anova_choice as anova_choice,
    newman_keuls_choice as newman_keuls_choice,
)
from .procedures.most_wins import most_wins as most_wins
from .procedures.multinomial_selection import (
    MultinomialSelection as MultinomialSelection,
    multinomial_selection as multinomial_selection,
)
from .procedures.roc_hull import RocHull as RocHull, roc_hull as roc_hull
from .procedures.test_first import test_first as test_first
