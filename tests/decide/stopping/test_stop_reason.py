"""One sentence for all learners that were stopped for the same reason."""

import pytest

from bestofk.decide.stopping.rule import StopReason, stop_sentence

RISK = "but for the risk of 5 %"


@pytest.mark.parametrize(
    ("stopped", "reason", "said"),
    [
        (
            [("nn", 2)],
            StopReason(kind="overridden", exact=True, by="nmc"),
            "nn stopped after run 2: whatever the other 8 runs say, nmc overrides it.",
        ),
        (
            [("nn", 9), ("c4.5", 9)],
            StopReason(kind="overridden", exact=True, by="nmc"),
            "nn and c4.5 stopped after run 9: whatever the other run says, nmc overrides them.",
        ),
        (
            [("nn", 3), ("max", 2)],
            StopReason(kind="preferred", exact=False, by="nmc"),
            "max stopped after run 2 and nn after run 3: at the end of the plan nmc, which is "
            f"preferred to them, is recommended, {RISK}.",
        ),
        (
            [("nn", 3), ("max", 2), ("c4.5", 3)],
            StopReason(kind="passed over", exact=False, by="nmc"),
            "max stopped after run 2, nn and c4.5 after run 3: at the end of the plan they are "
            f"passed over for nmc, {RISK}.",
        ),
        (
            [("nn", 3)],
            StopReason(kind="placed", exact=False, place=2),
            f"nn stopped after run 3: at the end of the plan it ranks 2nd, {RISK}.",
        ),
    ],
)
def test_sentences(stopped, reason, said):
    assert stop_sentence(stopped, reason, planned=10, limit=False, risk="5 %") == said


def test_data_sets_and_endless_runs():
    reason = StopReason(kind="smaller mean", exact=True, by="nn")
    one = stop_sentence([("a", 9)], reason, planned=10, limit=False, risk="", unit="data set")
    assert (
        one == "a stopped after data set 9: whatever the other one says, nn has the smaller mean."
    )
    endless = stop_sentence([("a", 9)], reason, planned=10, limit=True, risk="1 %")
    assert endless == (
        "a stopped after run 9: with endless runs nn has the smaller mean, but for the risk of 1 %."
    )
