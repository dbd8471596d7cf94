from .choose_model import choose_model as choose_model
from .items_needed import ItemPlan as ItemPlan, items_needed as items_needed
from .missing_bounds import MissingBounds as MissingBounds, RivalBounds as RivalBounds
from .model_choice import ModelChoice as ModelChoice
