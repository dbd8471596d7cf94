from .bounds import (
    Bounds as Bounds,
    PlannedNested as PlannedNested,
    PlannedT as PlannedT,
    PlannedTest as PlannedTest,
    PlannedUnits as PlannedUnits,
)
from .items import (
    SettledItems as SettledItems,
    settle_items as settle_items,
)
from .races import (
    IntervalVerdict as IntervalVerdict,
    Look as Look,
    Raced as Raced,
    interval_verdict as interval_verdict,
    look as look,
    race as race,
    replay as replay,
)
from .result import (
    Race as Race,
    RacedLearner as RacedLearner,
    StoppedDecision as StoppedDecision,
    StoppedEvidence as StoppedEvidence,
)
from .rule import StopRule as StopRule
