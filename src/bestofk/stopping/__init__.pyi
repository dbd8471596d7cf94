from .bounds import Bounds as Bounds, PlannedT as PlannedT
from .interval_verdict import (
    IntervalVerdict as IntervalVerdict,
    interval_verdict as interval_verdict,
)
from .item_stream import StreamVerdict as StreamVerdict, item_stream as item_stream
from .look import Look as Look, look as look
from .race import Raced as Raced, race as race
from .race_result import Band as Band, Race as Race, RacedLearner as RacedLearner
from .replay import replay as replay
from .rule import StoppingRule as StoppingRule
from .settle_items import SettledItems as SettledItems, settle_items as settle_items
from .stopped_order import (
    StoppedEvidence as StoppedEvidence,
    StoppedOrder as StoppedOrder,
    StoppedPair as StoppedPair,
)
