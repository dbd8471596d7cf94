from . import (
    adjust as adjust,
    estimates as estimates,
    intervals as intervals,
    multiple as multiple,
    pairwise as pairwise,
)
