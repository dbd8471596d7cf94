from .example_losses import example_losses as example_losses
from .formats.registry import LOSS_FORMATS as LOSS_FORMATS, LossFormat as LossFormat
from .losses import Losses as Losses
from .read_losses import read_losses as read_losses
