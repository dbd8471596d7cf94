from .by_scores import select_by_scores as select_by_scores
from .interval_table import order_intervals as order_intervals
from .procedures.multinomial_selection import (
    MultinomialSelection as MultinomialSelection,
    multinomial_selection as multinomial_selection,
)
from .procedures.roc_hull import RocHull as RocHull, roc_hull as roc_hull
