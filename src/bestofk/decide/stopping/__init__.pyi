from .bounds import Bounds as Bounds, PlannedT as PlannedT
from .items import (
    SettledItems as SettledItems,
    StreamVerdict as StreamVerdict,
    item_stream as item_stream,
    settle_items as settle_items,
)
from .looks import Look as Look, look as look
from .nested import PlannedNested as PlannedNested
from .races import (
    Race as Race,
    Raced as Raced,
    RacedLearner as RacedLearner,
    race as race,
    replay as replay,
)
from .rule import StopRule as StopRule
from .stopped_decision import (
    StoppedDecision as StoppedDecision,
    StoppedEvidence as StoppedEvidence,
    StoppedPair as StoppedPair,
)
from .verdicts import (
    IntervalVerdict as IntervalVerdict,
    interval_verdict as interval_verdict,
)
