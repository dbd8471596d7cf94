from . import papers as papers, plugins as plugins, stats as stats, testing as testing
from ._base.errors import (
    BestOfKError as BestOfKError,
    BestOfKWarning as BestOfKWarning,
    InputError as InputError,
    RunError as RunError,
)
from .data.dataset import DataSet as DataSet
from .data.reading import read_data as read_data
from .decide.battles import compare_battles as compare_battles
from .decide.compare_scores import compare_scores as compare_scores
from .decide.power.sizes import sample_size as sample_size
from .decide.result import Result as Result
from .decide.settings import Settings as Settings
from .decide.stopping.rule import StopRule as StopRule
from .evals.choosing import compare_evals as compare_evals
from .evals.evals import Evals as Evals
from .evals.reading import read_evals as read_evals
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
from .version import __version__ as __version__
