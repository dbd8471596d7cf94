from .bounds import Bounds as Bounds, PlannedT as PlannedT
from .interval_verdict import (
    IntervalVerdict as IntervalVerdict,
    interval_verdict as interval_verdict,
)
from .look import Look as Look, StoppingRule as StoppingRule, look as look
from .replay import Raced as Raced, race as race, replay as replay
