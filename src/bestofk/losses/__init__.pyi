from .formats.registry import LOSS_FORMATS as LOSS_FORMATS, LossFormat as LossFormat
from .losses import Losses as Losses
from .reading import read_losses as read_losses
