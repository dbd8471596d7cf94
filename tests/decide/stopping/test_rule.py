"""One sentence for all learners that were stopped for the same reason."""

import pytest

from bestofk.decide.stopping.rule import StopReason, stop_sentence

SURE = "with a probability of at least 95 %"


@pytest.mark.parametrize(
    ("stopped", "reason", "sentence"),
    [
        (
            [("nn", 2)],
            StopReason(kind="overridden", exact=True, by="nmc"),
            "nn stopped after run 2: nmc overrides it, and the other 8 runs cannot change that.",
        ),
        (
            [("nn", 9), ("c4.5", 9)],
            StopReason(kind="overridden", exact=True, by="nmc"),
            "nn and c4.5 stopped after run 9: nmc overrides them, and the other run cannot change "
            "that.",
        ),
        (
            [("nn", 3), ("max", 2)],
            StopReason(kind="preferred", exact=False, by="nmc"),
            "max stopped after run 2 and nn after run 3: at the end of the plan nmc, which is "
            f"preferred to them, is recommended {SURE}.",
        ),
        (
            [("nn", 3), ("max", 2), ("c4.5", 3)],
            StopReason(kind="overridden", exact=False, by="nmc"),
            "max stopped after run 2, nn and c4.5 after run 3: at the end of the plan nmc "
            f"overrides them {SURE}.",
        ),
        (
            [("nn", 3)],
            StopReason(kind="placed", exact=False, place=2),
            f"nn stopped after run 3: at the end of the plan it ranks 2nd {SURE}.",
        ),
    ],
)
def test_sentences(stopped, reason, sentence):
    assert stop_sentence(stopped, reason, planned=10, confidence="95 %") == sentence


def test_data_sets():
    reason = StopReason(kind="smaller mean", exact=True, by="nn")
    on_data_sets = stop_sentence([("a", 9)], reason, planned=10, confidence="", unit="data set")
    assert on_data_sets == (
        "a stopped after data set 9: nn has the smaller mean, and the other data set cannot change "
        "that."
    )
