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
from .data.reading import read_data as read_data
from .decide import power as power
from .decide.compare_scores import compare_scores as compare_scores
from .decide.decision import Decision as Decision
from .decide.power.result import SampleSize as SampleSize
from .decide.power.sizes import sample_size as sample_size
from .decide.result import Result as Result
from .decide.settings import Settings as Settings
from .decide.stopping.items import (
    SettledItems as SettledItems,
    settle_items as settle_items,
)
from .decide.stopping.rule import StopRule as StopRule
from .evals.choosing import compare_evals as compare_evals
from .evals.evals import Evals as Evals
from .evals.model_choice import ModelChoice as ModelChoice
from .evals.reading import read_evals as read_evals
from .learners.registry import learner as learner
from .losses.losses import Scores as Scores
from .losses.reading import read_scores as read_scores
from .release.gate import GateResult as GateResult, gate as gate
from .run.compare import compare as compare
from .run.engine import Execution as Execution
from .run.estimator import BestOfK as BestOfK
from .run.metrics import metric as metric
from .run.one_test_set import (
    compare_fitted as compare_fitted,
    compare_predictions as compare_predictions,
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
