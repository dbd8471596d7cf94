from . import power as power
from .battles import BattleDecision as BattleDecision, compare_battles as compare_battles
from .best import Best as Best, sort_by_overrides as sort_by_overrides
from .compare_scores import decide as decide
from .decision import Decision as Decision, Standing as Standing
from .evidence import Evidence as Evidence, Family as Family
from .interval_decision import IntervalDecision as IntervalDecision
from .multitest_order import (
    Step as Step,
    multitest as multitest,
)
from .order_tables import (
    ManyDecisions as ManyDecisions,
    order_many as order_many,
    stack_tables as stack_tables,
)
from .preference import Preference as Preference
from .printed_table import order_printed as order_printed
from .registry import RULES as RULES, Rule as Rule
from .settings import Settings as Settings, StoredTest as StoredTest
from .slices import Slice as Slice, Slices as Slices, order_by as order_by
