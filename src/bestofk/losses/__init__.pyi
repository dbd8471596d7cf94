from .example_losses import example_losses as example_losses
from .losses import Losses as Losses
from .read_losses import read_losses as read_losses
