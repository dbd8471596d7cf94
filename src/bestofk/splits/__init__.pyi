from .design import Design as Design
from .plans import PLANS as PLANS, Plan as Plan, PlanEntry as PlanEntry, plan as plan
from .splits import Splits as Splits
from .user_splits import SplitSource as SplitSource
