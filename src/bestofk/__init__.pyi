from . import decide as decide, evals as evals, papers as papers
from ._base.errors import (
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
from .data.dataset import DataSet as DataSet
from .data.reading import as_dataset as as_dataset, load as load
from .decide import power as power
from .decide.decision import Decision as Decision
from .decide.order import order as order
from .decide.power.result import PlanSize as PlanSize
from .decide.power.sizes import plan_size as plan_size
from .decide.settings import Settings as Settings
from .decide.stopping.items import (
    SettledItems as SettledItems,
    settle_items as settle_items,
)
from .decide.stopping.rule import StopRule as StopRule
from .evals.choosing import choose_model as choose_model
from .evals.evals import Evals as Evals
from .evals.model_choice import ModelChoice as ModelChoice
from .evals.reading import read_evals as read_evals
from .learners.registry import learner as learner
from .losses.losses import Losses as Losses
from .losses.reading import read_losses as read_losses
from .release.gate import GateResult as GateResult, gate as gate
from .report.diff import Difference as Difference, diff as diff
from .report.figures.output import save_figure as save_figure
from .report.figures.registry import figure as figure
from .run.compare import compare as compare
from .run.estimator import BestOfK as BestOfK
from .run.execution import Execution as Execution
from .run.metrics import metric as metric
from .run.one_test_set import (
    compare_fitted as compare_fitted,
    order_predictions as order_predictions,
)
from .run.open_study import open_study as open_study
from .run.study import Study as Study
from .splits.design import Design as Design
from .splits.plans import Plan as Plan, plan as plan
from .stats import (
    adjust as adjust,
    intervals as intervals,
    multiple as multiple,
    pairwise as pairwise,
)
from .version import __version__ as __version__
