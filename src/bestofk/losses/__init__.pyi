from .formats.registry import LOSS_FORMATS as LOSS_FORMATS, LossFormat as LossFormat
from .losses import Scores as Scores
from .reading import read_scores as read_scores
