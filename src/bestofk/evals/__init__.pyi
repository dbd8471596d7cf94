from .evals import Evals as Evals
from .example_evals import example_evals as example_evals
from .item_scores import ItemScores as ItemScores
from .read_evals import read_evals as read_evals
from .registry import EVAL_FORMATS as EVAL_FORMATS, EvalFormat as EvalFormat
