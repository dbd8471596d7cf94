from .design import Design as Design
from .plans import Plan as Plan, plan as plan
from .registry import PLANS as PLANS, PlanEntry as PlanEntry
from .splits import Splits as Splits
from .user_splits import SplitSource as SplitSource
