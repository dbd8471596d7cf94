from . import (
    adjust as adjust,
    intervals as intervals,
    multiple as multiple,
    pairwise as pairwise,
)
