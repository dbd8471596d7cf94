from . import (
    adjust as adjust,
    estimates as estimates,
    interval_tests as interval_tests,
    intervals as intervals,
    multiple as multiple,
    pairwise as pairwise,
)
