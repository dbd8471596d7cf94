from . import (
    estimates as estimates,
    evals as evals,
    intervals as intervals,
    lab as lab,
    multiple as multiple,
    ordering as ordering,
    pairwise as pairwise,
    planning as planning,
)
from .corrected_minimum import (
    CorrectedMinimum as CorrectedMinimum,
    corrected_minimum as corrected_minimum,
)
from .data.dataset import DataSet as DataSet
from .data.load import load as load
from .data.read_dataset import read_dataset as read_dataset
from .errors import (
    ArgumentError as ArgumentError,
    BestOfKError as BestOfKError,
    BestOfKWarning as BestOfKWarning,
    DesignError as DesignError,
    MissingExtraError as MissingExtraError,
    RunError as RunError,
    StoreError as StoreError,
    TableError as TableError,
    UnknownNameError as UnknownNameError,
)
from .evals.evals import Evals as Evals
from .evals.read_evals import read_evals as read_evals
from .learners.registry import learner as learner
from .losses.losses import Losses as Losses
from .losses.read_losses import read_losses as read_losses
from .model_choice.choose_model import choose_model as choose_model
from .model_choice.model_choice import ModelChoice as ModelChoice
from .ordering.order import order as order
from .ordering.result import Order as Order
from .planning.plan_size import plan_size as plan_size
from .planning.result import PlanSize as PlanSize
from .plans.design import Design as Design
from .plans.plan import Plan as Plan, plan as plan
from .report.figures.paint import save_figure as save_figure
from .report.figures.registry import figure as figure
from .run.compare import compare as compare
from .run.open_study import open_study as open_study
from .run.study import Study as Study
from .stopping.item_stream import StreamVerdict as StreamVerdict, item_stream as item_stream
from .stopping.settle_items import SettledItems as SettledItems, settle_items as settle_items
from .version import __version__ as __version__
