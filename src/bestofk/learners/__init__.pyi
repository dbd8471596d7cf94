from .registry import (
    LEARNERS as LEARNERS,
    Learner as Learner,
    learner as learner,
)
from .specification import (
    learner_factory as learner_factory,
    named_learners as named_learners,
    parse_learner as parse_learner,
)
