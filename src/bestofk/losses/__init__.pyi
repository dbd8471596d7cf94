from .formats.registry import LOSS_FORMATS as LOSS_FORMATS, LossFormat as LossFormat
from .losses import Losses as Losses
from .reading import example_losses as example_losses, read_losses as read_losses
