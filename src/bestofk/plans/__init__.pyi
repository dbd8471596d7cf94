from .design import Design as Design
from .number_of_splits import number_of_kfold_splits as number_of_kfold_splits
from .plan import Plan as Plan, plan as plan
from .registry import PLANS as PLANS, PlanEntry as PlanEntry
from .split_source import SplitSource as SplitSource
from .splits import Splits as Splits
